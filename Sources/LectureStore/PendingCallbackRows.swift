package import LectureModel
import LectureSQLite

/// Callbacks still to be sent to servers. Table `debt`.
///
/// Confined to the owner of the store's writer, like its connection.
package struct PendingCallbackRows: PendingCallbackQueue {
    let connection: Connection

    /// Records a pending callback; an existing one is unchanged.
    package func add(_ key: ContentKey, kind: Int, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO debt(content_key, kind, created_ms) VALUES (?, ?, ?)
            ON CONFLICT (content_key, kind) DO NOTHING
            """, key, kind, now)
    }

    /// Claims pending callbacks that are due and not claimed by a live owner: those never tried, then those whose wait
    /// is over, then those whose wait a clock that was set back would lengthen.
    package func claim(owner: OwnerID, limit: Int, now: Timestamp) throws -> [PendingCallback] {
        try connection.atomically {
            var found: [PendingCallback] = []
            for condition in Waiting.conditions where found.count < limit {
                let select = Self.dueCallbacks(condition)
                found += try connection.query(
                    select.sql, values: (select.takesNow ? [now.sqliteValue] : []) + [(limit - found.count).sqliteValue]
                ) { LicenceRows.pendingCallback($0) }
            }
            return try found.filter { callback in
                try connection.execute(ClaimStatements.takeCallback, owner, callback.id) == 1
            }
        }
    }

    static func dueCallbacks(_ condition: Waiting) -> (sql: String, takesNow: Bool) {
        (
            """
            SELECT \(LicenceRows.callbackColumns) FROM debt INDEXED BY debt_next_attempt
            WHERE \(Claim.callback.isDue(condition)) ORDER BY next_attempt_ms, \(condition.tie) LIMIT ?
            """, condition.takesNow
        )
    }

    /// Deletes a callback that was sent.
    package func settle(_ id: PendingCallbackID) throws {
        try connection.execute("DELETE FROM debt WHERE id = ?", id)
    }

    /// Releases a callback that could not be sent.
    package func postpone(
        _ id: PendingCallbackID, attempts: Int, until: Timestamp?, now: Timestamp, error: LectureError
    ) throws {
        try connection.execute(
            """
            UPDATE debt SET \(Claim.callback.freed), attempts = ?, next_attempt_ms = ?, wait_set_ms = ?, error_code = ?,
                error_detail = ? WHERE id = ?
            """, attempts, until, until == nil ? nil : now, error.code.number, error.detail, id)
    }

    /// When the next unclaimed callback is due; the epoch for one that was never tried.
    package func nextDue() throws -> Timestamp? {
        try connection.first(
            """
            SELECT coalesce(next_attempt_ms, 0) FROM debt INDEXED BY debt_next_attempt
            WHERE \(Claim.callback.isFree) ORDER BY next_attempt_ms LIMIT 1
            """
        ) { $0.timestamp(0) }
    }
}
