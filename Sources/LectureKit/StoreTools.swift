public import LectureModel
import LectureStore

/// What is known about a store's database.
public struct StoreFacts: Sendable, Hashable {
    /// The database file.
    public let path: String
    /// The store's own name, made when it was.
    public let uuid: String
    /// When the store was made.
    public let created: Timestamp
    /// The migrations it came up through, oldest first.
    public let applied: [String]
    /// The migrations this program would still apply.
    public let pending: [String]
    /// The size of the database file in bytes.
    public let databaseBytes: Int64
    /// The size of the write-ahead log in bytes.
    public let logBytes: Int64
    /// The SQLite library in use.
    public let libraryVersion: String

    init(_ info: StoreInfo) {
        path = info.path
        uuid = info.uuid
        created = info.created
        applied = info.appliedIdentifiers
        pending = info.pending
        databaseBytes = info.databaseBytes
        logBytes = info.logBytes
        libraryVersion = info.libraryVersion
    }
}

/// What looks after a store's database. None of it needs a ``LectureManager``, and each may run while others use the
/// store.
public enum StoreTools {
    /// Looks at a store without changing it.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: what there is to tell.
    /// - Throws: ``LectureError``: `openStore` when there is none, `storeForeign`, `storeNewer`, `storeDamaged`.
    public static func facts(_ directory: String) throws -> StoreFacts {
        StoreFacts(try StoreMaintenance.info(StoreLocation(directory: directory)))
    }

    /// Checks pages, indices, references and the rules between tables.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: one sentence a finding, without user data; none when the store is sound.
    /// - Throws: ``LectureError`` when the store cannot be read at all.
    public static func check(_ directory: String) throws -> [String] {
        try StoreMaintenance.check(StoreLocation(directory: directory))
    }

    /// Makes a consistent copy while others use the store. It appears whole or not at all and never replaces a file.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - path: the file to make.
    /// - Throws: ``LectureError``: `createFile` when the file is there already or cannot be made.
    public static func backup(_ directory: String, to path: String) throws {
        try StoreMaintenance.backup(StoreLocation(directory: directory), to: path)
    }

    /// Brings a store to this program's schema; makes it when there is none.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - now: the wall clock, for the records.
    /// - Returns: the migrations that were applied.
    /// - Throws: ``LectureError``: `storeForeign`, `storeNewer`, `storeDamaged`, `storeReadOnly`, `migrationChanged`.
    public static func migrate(_ directory: String, now: Timestamp) throws -> [String] {
        try StoreMaintenance.migrate(StoreLocation(directory: directory), now: now)
    }
}
