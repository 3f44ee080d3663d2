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

/// The records of where copies of this store are, so that a learner can be erased there too. Table backup_copy.
///
/// Confined to the owner of the store's writer, like its connection.
package struct BackupCopies {
    let connection: Connection

    /// Shares the connection of the store's writer.
    ///
    /// - Parameter index: the writer.
    package init(index: SQLiteDownloadIndex) { self.init(connection: index.connection) }

    init(connection: Connection) { self.connection = connection }

    /// Records where a copy of this store was put.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - made: when it was made.
    /// - Throws: ``LectureError``.
    package func record(_ path: String, made: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO backup_copy(path, made_ms) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET made_ms = excluded.made_ms
            """, path, made)
    }

    /// All records, ordered by path.
    package func all() throws -> [BackupCopy] {
        try connection.query("SELECT path, made_ms FROM backup_copy ORDER BY path") { row in
            BackupCopy(path: row.text(0), made: row.timestamp(1))
        }
    }

    /// Deletes the record of a copy; an unknown one is ignored.
    package func forget(_ path: String) throws {
        try connection.execute("DELETE FROM backup_copy WHERE path = ?", path)
    }
}
