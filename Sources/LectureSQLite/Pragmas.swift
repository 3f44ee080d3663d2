import LectureModel

extension Connection {
    /// Sets what durability and safety need, and reads each back, because SQLite and some file systems silently keep
    /// another value (a network file system, for example, may refuse WAL).
    ///
    /// - Throws: ``LectureError`` with the code `storeUnsafe` when a value did not take.
    package func requireDurability() throws {
        try require("journal_mode", "WAL", reads: "wal")
        try require("synchronous", "FULL", reads: "2")
        try require("foreign_keys", "ON", reads: "1")
        try require("trusted_schema", "OFF", reads: "0")
        try require("secure_delete", "ON", reads: "1")
    }

    /// Fits the log and the page cache to the size of the database. What is changed at random places of a large one
    /// fills the log in a few commits; a longer log has each page once, and each checkpoint waits for the disk.
    ///
    /// The log has 1,000 to 4,000 pages, a sixteenth of the database between them; the cache 2 to 8 MiB.
    ///
    /// - Throws: ``LectureError``.
    package func fitToSize() throws {
        let fit = Self.fit(pages: try pragmaNumber("page_count"))
        try execute("PRAGMA wal_autocheckpoint = \(fit.log)")
        try execute("PRAGMA cache_size = -\(fit.kibibytes)")
    }

    /// What fits a database.
    ///
    /// - Parameter pages: how many pages it has.
    /// - Returns: the pages that the log may have before a checkpoint, and the KiB of the page cache.
    package static func fit(pages: Int64) -> (log: Int64, kibibytes: Int64) {
        (min(4000, max(1000, pages / 16)), min(8192, max(2000, pages / 16)))
    }

    /// Sets what a reader needs.
    ///
    /// - Throws: ``LectureError`` with the code `storeUnsafe` when a value did not take.
    package func requireReaderSafety() throws {
        try require("query_only", "ON", reads: "1")
        try require("trusted_schema", "OFF", reads: "0")
    }

    /// Sets a pragma and reads it back.
    ///
    /// - Parameters:
    ///   - name: of the pragma.
    ///   - value: what it is set to.
    ///   - expected: how it reads then.
    /// - Throws: ``LectureError`` with the code `storeUnsafe` when it reads otherwise.
    package func require(_ name: String, _ value: String, reads expected: String) throws {
        try execute("PRAGMA \(name) = \(value)")
        let actual = try pragma(name)
        guard actual == expected else {
            throw LectureError(.storeUnsafe, detail: path, cause: "\(name) is \(actual), not \(expected)")
        }
    }

    /// Reads a pragma that answers one value.
    ///
    /// - Parameter name: of the pragma.
    /// - Returns: its value as text; empty when it answers none.
    /// - Throws: ``LectureError``.
    package func pragma(_ name: String) throws -> String {
        try first("PRAGMA \(name)") { $0.text(0) } ?? ""
    }

    /// Reads a pragma that answers one number.
    ///
    /// - Parameter name: of the pragma.
    /// - Returns: its value; 0 when it answers none.
    /// - Throws: ``LectureError``.
    package func pragmaNumber(_ name: String) throws -> Int64 {
        try first("PRAGMA \(name)") { $0.int64(0) } ?? 0
    }

    /// Changes when another connection, of this or of another process, has committed.
    ///
    /// - Returns: a number that means something only in comparison with an earlier one of the same connection.
    /// - Throws: ``LectureError``.
    package func dataVersion() throws -> Int64 { try pragmaNumber("data_version") }

    /// What SQLite finds wrong in the whole file: pages, indices, and rules of the schema.
    ///
    /// - Returns: up to 100 findings; none when the file is sound.
    /// - Throws: ``LectureError``.
    package func integrityFindings() throws -> [String] {
        try query("PRAGMA integrity_check(100)") { $0.text(0) }.filter { $0 != "ok" }
    }

    /// Rows whose parent is missing.
    ///
    /// - Returns: one sentence a row, naming tables only; none when all is well.
    /// - Throws: ``LectureError``.
    package func foreignKeyFindings() throws -> [String] {
        try query("PRAGMA foreign_key_check") { row in
            "row \(row.int64(1)) of \(row.text(0)) refers to a missing row of \(row.text(2))"
        }
    }

    /// The plan SQLite makes for a statement, one line a step.
    ///
    /// - Parameters:
    ///   - sql: the statement.
    ///   - values: for its parameters.
    /// - Returns: the lines of EXPLAIN QUERY PLAN.
    /// - Throws: ``LectureError``.
    package func plan(_ sql: String, values: [SQLiteValue] = []) throws -> [String] {
        try query("EXPLAIN QUERY PLAN \(sql)", values: values) { $0.text(3) }
    }
}
