import Glibc
import LectureFormats
package import LectureModel
import LectureSQLite

/// A copy of the store made with `store backup`.
package struct BackupCopy: Hashable, Sendable {
    /// The file.
    package let path: String
    /// When it was made.
    package let made: Timestamp

    /// Creates a value.
    package init(path: String, made: Timestamp) { (self.path, self.made) = (path, made) }
}

// Erasing a learner: the rows, traces elsewhere, the bytes that deleting leaves in the file, and the copies of the
// store.

extension SQLiteOutbox {
    /// Deletes everything about a learner. ``scrub()`` removes what remains in the bytes of the file.
    package func erase(user: String, isForced: Bool) throws -> ErasedReports {
        try atomically {
            var erased = ErasedReports()
            let inFlightBatches: [InFlightBatchID] = try connection.query(
                """
                SELECT DISTINCT report.flight_id FROM lms_lane
                CROSS JOIN report INDEXED BY report_session ON report.lane_id = lms_lane.id
                WHERE lms_lane.client_user_id = ? AND report.flight_id IS NOT NULL
                """, user
            ) { $0.id(0) }
            guard inFlightBatches.isEmpty || isForced else { throw LectureError(.reportsUnderWay) }
            for inFlightBatch in inFlightBatches { try dissolve(inFlightBatch) }
            erased.inFlightBatches = inFlightBatches.count
            erased.sessions =
                try connection.first("SELECT count(DISTINCT session) FROM lms_lane WHERE client_user_id = ?", user) {
                    $0.int(0)
                } ?? 0
            let counts = try connection.query(
                """
                SELECT report.state, count(*) FROM lms_lane
                CROSS JOIN report INDEXED BY report_session ON report.lane_id = lms_lane.id
                WHERE lms_lane.client_user_id = ? GROUP BY report.state
                """, user
            ) { (try $0.enumeration(0, ReportState.self), $0.int(1)) }
            erased.reports = Dictionary(uniqueKeysWithValues: counts)
            let deleted = try connection.execute(
                "DELETE FROM report WHERE lane_id IN (SELECT id FROM lms_lane WHERE client_user_id = ?)", user)
            try connection.execute("DELETE FROM lms_lane WHERE client_user_id = ?", user)
            try connection.execute("UPDATE lms_account SET erased = erased + ?", deleted)
            try forgetAnswers(naming: user)
            return erased
        }
    }

    /// Empties servers' answers about others that name the learner.
    private func forgetAnswers(naming user: String) throws {
        let name = LearnerName(user)
        for (table, column) in [
            ("report", "answer_text"), ("lms_target", "trouble_text"), ("lms_flight", "trouble_text"),
        ] {
            let naming = try connection.query("SELECT id, \(column) FROM \(table) WHERE \(column) <> ''") { row in
                name.isIn(row.text(1)) ? row.int64(0) : nil
            }
            for row in naming.compactMap(\.self) {
                try connection.execute("UPDATE \(table) SET \(column) = '' WHERE id = ?", row)
            }
        }
    }

    /// Rewrites the whole database, without deleted data, and empties the log.
    ///
    /// Deleted rows stay readable in free pages and in the gaps of others; SQLite's `secure_delete` would not reach the
    /// gaps that a split page leaves. Takes time and space in proportion to the database; may be repeated.
    ///
    /// - Returns: false when a reader or another program blocks the log, so that deleted bytes may still be in it.
    /// - Throws: ``LectureError``: a full disk, for example.
    package func scrub() throws -> Bool { try Self.scrub(connection) }

    private static func scrub(_ connection: Connection) throws -> Bool {
        do { try connection.execute("VACUUM") } catch let error as LectureError where error.code == .storeBusy {
            return false
        }
        let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") { $0.bool(0) }
        return isBusy == false
    }

    // MARK: Copies of the store

    /// Records where a copy of this store was put.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - made: when it was made.
    /// - Throws: ``LectureError``.
    package func recordBackup(_ path: String, made: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO backup_copy(path, made_ms) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET made_ms = excluded.made_ms
            """, path, made)
    }

    /// Where copies of this store were put, ordered by path.
    package func backups() throws -> [BackupCopy] {
        try connection.query("SELECT path, made_ms FROM backup_copy ORDER BY path") { row in
            BackupCopy(path: row.text(0), made: row.timestamp(1))
        }
    }

    /// Deletes the record of a copy; an unknown one is ignored.
    package func forgetBackup(_ path: String) throws {
        try connection.execute("DELETE FROM backup_copy WHERE path = ?", path)
    }

    /// Deletes everything about a learner in a copy of a store, and rewrites the copy. Requests in it have no owner and
    /// are dissolved.
    ///
    /// - Parameters:
    ///   - path: a file that `store backup` made, of this program's schema or an older one; it is not migrated.
    ///   - user: the learner, byte by byte.
    /// - Returns: what was deleted, and where else the copy names the learner.
    /// - Throws: ``LectureError``: `openStore` when there is no such file, `storeForeign`, `storeNewer`,
    ///   `storeDamaged`, `storeReadOnly`, and `storeBusy` when another program has it open, so that deleted bytes may
    ///   remain.
    package static func erase(inBackup path: String, user: String) throws -> (erased: ErasedReports, traces: [String]) {
        let cut = path.lastIndex(of: "/")
        let parent = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard let directory = try StoreLocation(directory: parent).resolved() else {
            throw LectureError(.openStore, detail: path, cause: StoreLocation.reason(ENOENT))
        }
        let file = "\(directory)/\(cut.map { String(path[path.index(after: $0)...]) } ?? path)"
        guard unsafe access(file, F_OK) == 0 else {
            throw LectureError(.openStore, detail: path, cause: StoreLocation.reason(errno))
        }
        guard case .usable = try StoreDatabase.migrator.inspect(path: file) else {
            throw LectureError(.storeForeign, detail: path)
        }
        let index = SQLiteDownloadIndex(connection: try Connection(path: file, access: .readWrite))
        guard !index.connection.isReadOnly else { throw LectureError(.storeReadOnly, detail: path) }
        try index.connection.requireDurability()
        try StoreDatabase.migrator.requireUsable(index.connection)
        var erased = ErasedReports()
        let outbox = SQLiteOutbox(index: index)
        if try index.connection.hasTable("report") { erased = try outbox.erase(user: user, isForced: true) }
        guard try outbox.scrub() else { throw LectureError(.storeBusy, detail: path) }
        return (erased, try LearnerTraces(connection: index.connection).places(of: user))
    }
}

/// The forms of a learner's id in a text: as is, in JSON, in a URL or in a form. Not as part of a longer word, since an
/// id may be as short as one digit.
struct LearnerName {
    private let spellings: [[UInt8]]

    init(_ user: String) {
        var spellings: Set<[UInt8]> = []
        if !user.isEmpty {
            spellings.insert(Array(user.utf8))
            spellings.insert(Array(JSONValue.string(user).text.utf8.dropFirst().dropLast()))
            for escaped in [Self.escaped(user, spaceAs: "%20"), Self.escaped(user, spaceAs: "+")] {
                spellings.insert(Array(escaped.utf8))
                spellings.insert(Array(escaped.lowercased().utf8))
            }
        }
        self.spellings = Array(spellings)
    }

    /// Whether a text names the learner.
    func isIn(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return spellings.contains { Self.find($0, in: bytes) }
    }

    private static func find(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = needle.first, bytes.count >= needle.count else { return false }
        for start in 0...(bytes.count - needle.count) where bytes[start] == first {
            let end = start + needle.count
            guard bytes[start..<end].elementsEqual(needle) else { continue }
            let isBegin = start == 0 || !isWord(bytes[start - 1]) || !isWord(first)
            let isEnd = end == bytes.count || !isWord(bytes[end]) || !isWord(needle[needle.count - 1])
            if isBegin, isEnd { return true }
        }
        return false
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...:
            true
        default: false
        }
    }

    private static func escaped(_ text: String, spaceAs space: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 0x20: escaped += space
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }
}

/// Every location outside the tables of reports where a learner is named.
struct LearnerTraces {
    let connection: Connection

    /// The texts that may name a learner: the name of the location, how to find its key, and the columns.
    private static let places: [(name: String, table: String, from: String, columns: [String])] = [
        (
            "licence of", "licence", "SELECT content_key, %@ FROM licence",
            ["client_user_id", "user_values", "callback_url", "error_detail"]
        ),
        (
            "content", "content", "SELECT key, %@ FROM content",
            [
                "source_url", "descriptor", "headers", "mirrors", "title", "folder", "description_url", "synopsis",
                "error_detail",
            ]
        ),
        (
            "address of", "url_lease",
            """
            SELECT content.key, %@ FROM url_lease JOIN resource ON resource.id = url_lease.resource_id
            JOIN version ON version.id = resource.version_id JOIN content ON content.id = version.content_id
            """, ["url_lease.url"]
        ),
        (
            "attempt of", "attempt", "SELECT content.key, %@ FROM attempt JOIN content ON content.id = content_id",
            ["detail"]
        ),
        ("file of", "output", "SELECT content.key, %@ FROM output JOIN content ON content.id = content_id", ["path"]),
        ("file of", "output_file", "SELECT content_key, %@ FROM output_file", ["path"]),
    ]

    /// Where a learner is named, for example `licence of KEY`; each location once.
    func places(of user: String) throws -> [String] {
        let name = LearnerName(user)
        var found: [String] = []
        for place in Self.places where try connection.hasTable(place.table) {
            let columns = place.columns.map { "coalesce(\($0), '')" }.joined(separator: ", ")
            let sql = place.from.split(separator: "%@", omittingEmptySubsequences: false).joined(separator: columns)
            let naming = try connection.query(sql) { row -> String? in
                for column in 1..<row.columnCount where name.isIn(row.text(column)) { return row.text(0) }
                return nil
            }
            for key in naming.compactMap(\.self) where !found.contains("\(place.name) \(key)") {
                found.append("\(place.name) \(key)")
            }
        }
        return found
    }
}

extension Connection {
    /// Whether a database has a table: an older one may not.
    func hasTable(_ name: String) throws -> Bool {
        try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) { _ in true } == true
    }
}
