package import LectureModel
import LectureSQLite

/// Queries about licences that need no device key: whether there is anything to open the ledger for.
extension SQLiteDownloadIndex {
    /// Whether any licence, or any key of a sealed file, is stored.
    ///
    /// - Returns: false for a store that never had either.
    /// - Throws: ``LectureError``.
    package func hasLicences() throws -> Bool {
        try connection.first(
            "SELECT EXISTS (SELECT 1 FROM licence) OR EXISTS (SELECT 1 FROM time_ledger)"
        ) { $0.int(0) == 1 } ?? false
    }

    /// Whether anything in the store can only be used with the key of the device that wrote it.
    ///
    /// - Returns: true for licences, their times, and keys of sealed files.
    /// - Throws: ``LectureError``.
    package func knowsDevice() throws -> Bool {
        try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM licence) OR EXISTS (SELECT 1 FROM time_ledger)
                OR EXISTS (SELECT 1 FROM content_key)
            """
        ) { $0.int(0) == 1 } ?? false
    }

    /// Whether a licence, or its source, is stored for a lecture.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: whether there is a row.
    /// - Throws: ``LectureError``.
    package func hasLicence(_ key: ContentKey) throws -> Bool {
        try connection.first("SELECT 1 FROM licence WHERE content_key = ?", key) { _ in true } ?? false
    }

    /// Whether a lecture has a key for sealed files.
    ///
    /// - Parameter content: the lecture.
    /// - Returns: whether there is one.
    /// - Throws: ``LectureError``.
    package func hasContentKey(_ content: ContentID) throws -> Bool {
        try connection.first("SELECT 1 FROM content_key WHERE content_id = ?", content) { _ in true } ?? false
    }

    /// The purpose of a lecture's key; nil without one.
    ///
    /// - Parameter content: the lecture.
    /// - Returns: the purpose.
    /// - Throws: ``LectureError``.
    package func sealPurpose(_ content: ContentID) throws -> SealPurpose? {
        try connection.first("SELECT purpose FROM content_key WHERE content_id = ?", content) {
            try $0.enumeration(0, SealPurpose.self)
        }
    }
}

extension SQLiteLicenceLedger {
    /// Makes every pending callback due at once, on a user's request.
    package func hastenCallbacks() throws {
        try connection.execute("UPDATE debt SET next_attempt_ms = NULL, wait_set_ms = NULL")
    }
}

extension SQLiteContentQueries {
    /// The newest row of the time ledger; nil when there is none.
    ///
    /// - Returns: the row as stored, not checked against its code.
    /// - Throws: ``LectureError``.
    package func newestTime() throws -> TimeRow? { try connection.newestTime()?.row }
}
