package import LectureModel
import LectureSQLite

// Table debt: what a server must still be told.

extension SQLiteLicenceLedger {
    /// Notes a debt; one that is there already stays as it is.
    package func addDebt(_ key: ContentKey, kind: Int, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO debt(content_key, kind, created_ms) VALUES (?, ?, ?)
            ON CONFLICT (content_key, kind) DO NOTHING
            """, key, kind, now)
    }

    /// Debts, the oldest first.
    package func debts(limit: Int) throws -> [LicenceDebt] { try rows.debts(limit: limit) }

    /// Takes debts that are due and that no living owner has: those that were never tried, then those that wait no
    /// longer, then those whose wait a clock that was set back would lengthen.
    package func claimDebts(owner: OwnerID, limit: Int, now: Timestamp) throws -> [LicenceDebt] {
        try atomically {
            var found: [LicenceDebt] = []
            for condition in Waiting.conditions where found.count < limit {
                let select = Self.dueDebts(condition)
                found += try connection.query(
                    select.sql, values: (select.takesNow ? [now.sqliteValue] : []) + [(limit - found.count).sqliteValue]
                ) { LicenceRows.debt($0) }
            }
            for debt in found { try connection.execute("UPDATE debt SET owner_id = ? WHERE id = ?", owner, debt.id) }
            return found
        }
    }

    static func dueDebts(_ condition: Waiting) -> (sql: String, takesNow: Bool) {
        (
            """
            SELECT \(LicenceRows.debtColumns) FROM debt INDEXED BY debt_next_attempt
            WHERE owner_id IS NULL AND \(condition.sql) ORDER BY next_attempt_ms, \(condition.tie) LIMIT ?
            """, condition.takesNow
        )
    }

    /// A debt is paid.
    package func settleDebt(_ id: DebtID) throws { try connection.execute("DELETE FROM debt WHERE id = ?", id) }

    /// A debt could not be paid; it is given back.
    package func postponeDebt(
        _ id: DebtID, attempts: Int, until: Timestamp?, now: Timestamp, error: LectureError
    ) throws {
        try connection.execute(
            """
            UPDATE debt SET owner_id = NULL, attempts = ?, next_attempt_ms = ?, wait_set_ms = ?, error_code = ?,
                error_detail = ? WHERE id = ?
            """, attempts, until, until == nil ? nil : now, error.code.number, error.detail, id)
    }

    /// When the next debt that nobody has is due; the epoch for one that was never tried.
    package func nextDebt() throws -> Timestamp? {
        try connection.first(
            """
            SELECT coalesce(next_attempt_ms, 0) FROM debt INDEXED BY debt_next_attempt
            WHERE owner_id IS NULL ORDER BY next_attempt_ms LIMIT 1
            """
        ) { $0.timestamp(0) }
    }
}

/// What of a queue may be tried now, in three questions that each have an index: an OR between them would walk all.
enum Waiting {
    /// Never tried.
    case fresh
    /// Tried, and the wait is over.
    case over
    /// Waits for longer than was decided, since the clock was set back: such a wait counts as over, since otherwise a
    /// wrong clock could hold it for years.
    case setBack

    static let conditions: [Self] = [.fresh, .over, .setBack]

    /// The condition, with the wall clock as its one parameter where it takes it.
    var sql: String {
        switch self {
        case .fresh: "next_attempt_ms IS NULL"
        case .over: "next_attempt_ms IS NOT NULL AND next_attempt_ms <= ?1"
        case .setBack: "next_attempt_ms > ?1 AND wait_set_ms - ?1 > next_attempt_ms - wait_set_ms"
        }
    }

    /// Whether ``sql`` has the wall clock as its parameter.
    var takesNow: Bool { self != .fresh }

    /// What orders equal ones, as the index has it.
    var tie: String { self == .fresh ? "wait_set_ms, id" : "wait_set_ms" }
}
