package import LectureModel
import LectureSQLite

/// The licences for lists and queries. Lists leave out retired ones: those whose lectures are gone.
extension SQLiteContentQueries {
    /// A licence, a retired one too.
    package func licence(_ key: ContentKey) throws -> LicenceEntry? { try licenceRows().entry(key) }

    /// Licences in the order of their keys.
    ///
    /// - Parameters:
    ///   - key: the last one of the page before; nil for the first page.
    ///   - limit: the maximum number.
    /// - Returns: the licences with their lectures.
    /// - Throws: ``LectureError``.
    package func licences(after key: ContentKey?, limit: Int) throws -> [ListedLicence] {
        try licensed(LicenceRows.byKey, [(key?.text ?? "").sqliteValue, max(0, limit).sqliteValue])
    }

    /// Licences with a deadline, the earliest first. Continues where the previous page ended instead of skipping rows:
    /// a hundred pages would scan the first one a hundred times.
    ///
    /// - Parameters:
    ///   - before: only those whose deadline is before this moment; nil for all.
    ///   - last: the last one of the page before, with its deadline there; nil for the first page.
    ///   - limit: the maximum number.
    /// - Returns: the licences with their lectures.
    /// - Throws: ``LectureError``.
    package func licences(
        deadlineBefore before: Timestamp?, after last: (deadline: Timestamp, key: ContentKey)?, limit: Int
    ) throws -> [ListedLicence] {
        let bound = before ?? Timestamp(milliseconds: .max)
        let row = try last.flatMap { last in
            try connection.first("SELECT id FROM content WHERE key = ?", last.key) { $0.int64(0) }
        }
        let place = last?.deadline ?? Timestamp(milliseconds: .min)
        return try licensed(
            LicenceRows.afterDeadline,
            [bound.sqliteValue, place.sqliteValue, row.sqliteValue, max(0, limit).sqliteValue])
    }

    /// How many licences have a deadline before this moment; nil counts those without one too.
    package func licenceCount(deadlineBefore before: Timestamp?) throws -> Int {
        try licenceRows().count(deadlineBefore: before)
    }

    /// The latest requests about a licence, latest first.
    package func licenceAttempts(_ key: ContentKey, limit: Int) throws -> [LicenceAttempt] {
        try licenceRows().attempts(key, limit: limit)
    }

    /// Callbacks still to be sent to servers, the oldest first.
    package func pendingCallbacks(limit: Int) throws -> [PendingCallback] {
        try licenceRows().pendingCallbacks(limit: limit)
    }

    /// The candidates of a selection, without asking a server: licences with a callback, of existing lectures; for new
    /// grants only untrusted ones.
    package func candidates(
        _ selection: RenewalSelection, _ kind: RenewalKind, now: Timestamp
    ) throws -> [RenewalCandidate] {
        try consistently { try licenceRows().candidates(selection, kind, now: now) }
    }

    func licensed(_ clause: String, _ values: [SQLiteValue]) throws -> [ListedLicence] {
        let rows = try licenceRows()
        return try connection.query(Self.licensedSQL(clause), values: values) { row in
            ListedLicence(
                entry: try LicenceColumns.entry(row, rows.codes), title: row.text(LicenceColumns.count),
                state: try row.enumeration(LicenceColumns.count + 1, ItemState.self))
        }
    }

    /// A page of licences with their lectures; CROSS JOIN keeps SQLite from starting with the lectures.
    static func licensedSQL(_ clause: String) -> String {
        """
        SELECT \(LicenceColumns.list), content.title, content.state
        FROM licence CROSS JOIN content ON content.id = licence.content_id \(clause) LIMIT ?
        """
    }

    /// Reads licences on this connection.
    func licenceRows() throws -> LicenceRows {
        if let rows = knownLicenceRows { return rows }
        var codes: LedgerCodes?
        if let authenticator {
            let uuid = try connection.first("SELECT uuid FROM store_identity") { $0.text(0) }
            guard let uuid else { throw LectureError(.storeDamaged, cause: "the store has no identity") }
            codes = LedgerCodes(authenticator, store: uuid)
        }
        let rows = LicenceRows(connection: connection, codes: codes)
        knownLicenceRows = rows
        return rows
    }
}
