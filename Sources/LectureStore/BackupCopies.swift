import Glibc
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

    /// Opens a store that is not migrated for it; nil for one that is older than the table, which has nothing of any
    /// learner.
    ///
    /// - Parameter location: where the store lies.
    /// - Throws: ``LectureError``: `storeReadOnly`, and as ``StoreDatabase/openReader(_:)``.
    package init?(ofOlder location: StoreLocation) throws {
        let path = try StoreDatabase.openReader(location).path
        let connection = try Connection(path: path, access: .readWrite)
        guard !connection.isReadOnly else { throw LectureError(.storeReadOnly, detail: path) }
        try connection.requireDurability()
        guard try connection.hasTable("backup_copy") else { return nil }
        self.init(connection: connection)
    }

    /// Deletes a copy of a store; one that does not exist is ignored.
    ///
    /// - Parameter path: the copy.
    /// - Throws: ``LectureError``: `storeForeign` for another file, `createFile` when it cannot be deleted.
    package static func delete(_ path: String) throws {
        if unsafe access(path, F_OK) != 0 && errno == ENOENT { return }
        guard case .usable = try StoreDatabase.migrator.inspect(path: path) else {
            throw LectureError(.storeForeign, detail: path)
        }
        for suffix in ["-wal", "-shm", "-journal", ""] where unsafe unlink(path + suffix) != 0 && errno != ENOENT {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(errno))
        }
    }

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
