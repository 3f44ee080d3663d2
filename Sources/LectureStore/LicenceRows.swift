import LectureModel
import LectureSQLite

/// Reads licences, on the writer's connection or a reader's.
///
/// A licence is retired when its lecture is gone: its row keeps its usage, but no list and no batch includes it.
struct LicenceRows {
    let connection: Connection
    /// Checks the codes of the rows; nil trusts every row.
    let codes: LedgerCodes?

    /// A licence by its key, a retired one too.
    func entry(_ key: ContentKey) throws -> LicenceEntry? {
        try connection.first("SELECT \(LicenceColumns.list) FROM licence WHERE content_key = ?", key) {
            try LicenceColumns.entry($0, codes)
        }
    }

    static let byKey = "WHERE licence.content_key > ? AND licence.content_id IS NOT NULL ORDER BY licence.content_key"
    static let byDeadline = """
        WHERE licence.content_id IS NOT NULL AND licence.deadline_ms < ? \
        ORDER BY licence.deadline_ms, licence.content_id
        """
    static let withDeadline = """
        WHERE licence.content_id IS NOT NULL AND licence.deadline_ms IS NOT NULL \
        ORDER BY licence.deadline_ms, licence.content_id
        """

    /// After a deadline and the lecture that has it; with NULL for a removed lecture, after the deadline.
    static let afterDeadline = """
        WHERE licence.content_id IS NOT NULL AND licence.deadline_ms < ? \
        AND (licence.deadline_ms, licence.content_id) > (?, ?) \
        ORDER BY licence.deadline_ms, licence.content_id
        """

    /// Licences by content key, the next after one.
    func entries(after key: ContentKey?, limit: Int) throws -> [LicenceEntry] {
        try connection.query(
            "SELECT \(LicenceColumns.list) FROM licence \(Self.byKey) LIMIT ?", key?.text ?? "", max(0, limit)
        ) { try LicenceColumns.entry($0, codes) }
    }

    /// Licences with a deadline, the earliest first.
    func entries(deadlineBefore before: Timestamp?, limit: Int) throws -> [LicenceEntry] {
        let select = "SELECT \(LicenceColumns.list) FROM licence"
        let bound = before.map { [$0.sqliteValue] } ?? []
        return try connection.query(
            "\(select) \(before == nil ? Self.withDeadline : Self.byDeadline) LIMIT ?",
            values: bound + [max(0, limit).sqliteValue]
        ) { try LicenceColumns.entry($0, codes) }
    }

    /// Licences whose end was seen to have passed, but is later than a moment.
    func entriesSeenExpired(endingAfter time: Timestamp) throws -> [LicenceEntry] {
        try connection.query(
            "SELECT \(LicenceColumns.list) FROM licence WHERE was_seen_expired = 1 AND expires_ms > ?", time
        ) { try LicenceColumns.entry($0, codes) }
    }

    /// How many have a deadline before a moment; nil counts all licences, with a deadline or without.
    func count(deadlineBefore before: Timestamp?) throws -> Int {
        let condition = before == nil ? "" : " AND deadline_ms < ?"
        return try connection.first(
            "SELECT count(*) FROM licence INDEXED BY licence_deadline WHERE content_id IS NOT NULL\(condition)",
            values: before.map { [$0.sqliteValue] } ?? []
        ) { $0.int(0) } ?? 0
    }

    /// The latest requests about a licence, latest first.
    func attempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt] {
        try connection.query(
            """
            SELECT at_ms, duration_ms, kind, status, outcome, error_code, detail FROM licence_attempt
            WHERE licence_id = (SELECT id FROM licence WHERE content_key = ?) ORDER BY id DESC LIMIT ?
            """, key, max(0, limit)
        ) { row in
            LicenceAttempt(
                at: row.timestamp(0), duration: .milliseconds(row.int64(1)), kind: row.int(2),
                status: row.optionalInt(3), outcome: row.text(4),
                error: row.optionalInt(5).map { LectureError(.stored($0), detail: row.text(6)) })
        }
    }

    // MARK: Pending callbacks

    static let callbackColumns =
        "id, content_key, kind, created_ms, attempts, next_attempt_ms, error_code, error_detail"

    static func pendingCallback(_ row: borrowing Row) -> PendingCallback {
        PendingCallback(
            id: row.id(0), key: ContentKey(stored: row.text(1)), kind: row.int(2), created: row.timestamp(3),
            attempts: row.int(4), nextAttempt: row.optionalTimestamp(5),
            error: row.optionalInt(6).map { LectureError(.stored($0), detail: row.text(7)) })
    }

    /// Pending callbacks, the oldest first.
    func pendingCallbacks(limit: Int) throws -> [PendingCallback] {
        try connection.query("SELECT \(Self.callbackColumns) FROM debt ORDER BY id LIMIT ?", max(0, limit)) {
            Self.pendingCallback($0)
        }
    }

    // MARK: Candidates

    /// The parts of a selection: conditions over `licence` that each have an index for their order, the most urgent
    /// licences first. Every part requires a licence granted by a server, whose lecture exists and was not ordered
    /// removed. For new grants it must also be untrusted.
    static func parts(
        _ selection: RenewalSelection, _ kind: RenewalKind = .renewal, now: Timestamp
    ) -> [(condition: String, values: [SQLiteValue])] {
        let fits = "licence.content_id IS NOT NULL AND licence.callback_url <> '' AND licence.form IS NOT NULL"
        let unbelieved = kind == .regrant ? " AND licence.suspicion <> \(LicenceSuspicion.noneStored)" : ""
        let alive = "\(fits) AND licence.is_deleted = 0\(unbelieved)"
        let order = "ORDER BY licence.deadline_ms, licence.content_id"
        switch selection {
        case .expired: return [("\(alive) AND licence.deadline_ms <= ? \(order)", [now.sqliteValue])]
        case .within(let time): return [("\(alive) AND licence.deadline_ms <= ? \(order)", [(now + time).sqliteValue])]
        case .all:
            return [
                ("\(alive) AND licence.deadline_ms IS NOT NULL \(order)", []),
                ("\(alive) AND licence.deadline_ms IS NULL ORDER BY licence.content_id", []),
            ]
        case .keys(let keys):
            return Set(keys).sorted().map { ("\(alive) AND licence.content_key = ?", [$0.sqliteValue]) }
        }
    }

    /// The licences of a selection, the earliest deadline first and those without one last.
    func candidates(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> [RenewalCandidate] {
        let found = try Self.parts(selection, kind, now: now).flatMap { part in
            try connection.query(
                """
                SELECT content_key, callback_url, deadline_ms, next_attempt_ms FROM licence WHERE \(part.condition)
                """, values: part.values
            ) { row in
                RenewalCandidate(
                    key: ContentKey(stored: row.text(0)), callbackURL: row.text(1), deadline: row.optionalTimestamp(2),
                    notBefore: row.optionalTimestamp(3))
            }
        }
        guard case .keys = selection else { return found }
        let never = Timestamp(milliseconds: .max)
        return found.sorted { ($0.deadline ?? never, $0.key) < ($1.deadline ?? never, $1.key) }
    }
}
