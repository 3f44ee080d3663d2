package import LectureModel
import LectureSQLite

// Table debt: callbacks still to be sent to servers.

extension SQLiteLicenceLedger {
    /// Records a pending callback; an existing one is unchanged.
    package func addPendingCallback(_ key: ContentKey, kind: Int, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO debt(content_key, kind, created_ms) VALUES (?, ?, ?)
            ON CONFLICT (content_key, kind) DO NOTHING
            """, key, kind, now)
    }

    /// Claims pending callbacks that are due and not claimed by a live owner: those never tried, then those whose wait
    /// is over, then those whose wait a clock that was set back would lengthen.
    package func claimCallbacks(owner: OwnerID, limit: Int, now: Timestamp) throws -> [PendingCallback] {
        try connection.atomically {
            var found: [PendingCallback] = []
            for condition in Waiting.conditions where found.count < limit {
                let select = Self.dueCallbacks(condition)
                found += try connection.query(
                    select.sql, values: (select.takesNow ? [now.sqliteValue] : []) + [(limit - found.count).sqliteValue]
                ) { LicenceRows.pendingCallback($0) }
            }
            for callback in found {
                try connection.execute("UPDATE debt SET owner_id = ? WHERE id = ?", owner, callback.id)
            }
            return found
        }
    }

    static func dueCallbacks(_ condition: Waiting) -> (sql: String, takesNow: Bool) {
        (
            """
            SELECT \(LicenceRows.callbackColumns) FROM debt INDEXED BY debt_next_attempt
            WHERE owner_id IS NULL AND \(condition.sql) ORDER BY next_attempt_ms, \(condition.tie) LIMIT ?
            """, condition.takesNow
        )
    }

    /// Deletes a callback that was sent.
    package func settleCallback(_ id: PendingCallbackID) throws {
        try connection.execute("DELETE FROM debt WHERE id = ?", id)
    }

    /// Releases a callback that could not be sent.
    package func postponeCallback(
        _ id: PendingCallbackID, attempts: Int, until: Timestamp?, now: Timestamp, error: LectureError
    ) throws {
        try connection.execute(
            """
            UPDATE debt SET owner_id = NULL, attempts = ?, next_attempt_ms = ?, wait_set_ms = ?, error_code = ?,
                error_detail = ? WHERE id = ?
            """, attempts, until, until == nil ? nil : now, error.code.number, error.detail, id)
    }

    /// When the next unclaimed callback is due; the epoch for one that was never tried.
    package func nextCallback() throws -> Timestamp? {
        try connection.first(
            """
            SELECT coalesce(next_attempt_ms, 0) FROM debt INDEXED BY debt_next_attempt
            WHERE owner_id IS NULL ORDER BY next_attempt_ms LIMIT 1
            """
        ) { $0.timestamp(0) }
    }
}

/// What may be tried now in a queue, in three queries that each have an index: an OR of them, as in
/// ``RetryWait/isOver(_:of:)``, would scan everything.
enum Waiting {
    /// Never tried.
    case fresh
    /// Tried, and the wait is over.
    case over
    /// The clock was set back by more than the length of the wait.
    case setBack

    static let conditions: [Self] = [.fresh, .over, .setBack]

    /// The condition, with the wall clock as its only parameter where needed.
    var sql: String {
        switch self {
        case .fresh: "next_attempt_ms IS NULL"
        case .over: "next_attempt_ms IS NOT NULL AND next_attempt_ms <= ?1"
        case .setBack: "next_attempt_ms > ?1 AND wait_set_ms - ?1 > next_attempt_ms - wait_set_ms"
        }
    }

    /// Whether ``sql`` has the wall clock as its parameter.
    var takesNow: Bool { self != .fresh }

    /// The tie-breaker of the order, as in the index.
    var tie: String { self == .fresh ? "wait_set_ms, id" : "wait_set_ms" }
}
