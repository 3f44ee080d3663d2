package import LectureModel
import LectureSQLite

/// What can be asked about licences without the device's key: whether there is anything to open the ledger for.
extension SQLiteDownloadIndex {
    /// Whether any licence, or any key of a sealed file, is stored.
    ///
    /// - Returns: false for a store that has never met either.
    /// - Throws: ``LectureError``.
    package func hasLicences() throws -> Bool {
        try connection.first(
            "SELECT EXISTS (SELECT 1 FROM licence) OR EXISTS (SELECT 1 FROM time_ledger)"
        ) { $0.int(0) == 1 } ?? false
    }

    /// Whether a licence, or the place it comes from, is stored for a content.
    ///
    /// - Parameter key: the content.
    /// - Returns: whether there is a row.
    /// - Throws: ``LectureError``.
    package func hasLicence(_ key: ContentKey) throws -> Bool {
        try connection.first("SELECT 1 FROM licence WHERE content_key = ?", key) { _ in true } ?? false
    }

    /// Whether a content has a key for sealed files.
    ///
    /// - Parameter content: the content.
    /// - Returns: whether there is one.
    /// - Throws: ``LectureError``.
    package func hasContentKey(_ content: ContentID) throws -> Bool {
        try connection.first("SELECT 1 FROM content_key WHERE content_id = ?", content) { _ in true } ?? false
    }

    /// What a content's key is for; nil without one.
    ///
    /// - Parameter content: the content.
    /// - Returns: the purpose.
    /// - Throws: ``LectureError``.
    package func sealPurpose(_ content: ContentID) throws -> SealPurpose? {
        try connection.first("SELECT purpose FROM content_key WHERE content_id = ?", content) {
            try $0.enumeration(0, SealPurpose.self)
        }
    }
}

extension SQLiteLicenceLedger {
    /// Lets every debt be due at once, for a person who asks for it.
    package func hastenDebts() throws {
        try connection.execute("UPDATE debt SET next_attempt_ms = NULL, wait_set_ms = NULL")
    }
}

extension SQLiteContentQueries {
    /// The newest row of the time ledger; nil when there is none.
    ///
    /// - Returns: the row as it stands, not held against its code.
    /// - Throws: ``LectureError``.
    package func newestTime() throws -> TimeRow? { try connection.newestTime()?.row }
}
