import Glibc
import LectureFiles
public import LectureModel
import LectureStore

/// Facts about a store's database.
public struct StoreFacts: Sendable, Hashable {
    /// The database file.
    public let path: String
    /// The store's UUID, assigned at its creation.
    public let uuid: String
    /// When the store was created.
    public let created: Timestamp
    /// The applied migrations, oldest first.
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

/// Maintenance of a store's database. None of it needs a ``LectureManager``, and all of it may run while others use the
/// store.
public enum StoreTools {
    /// Whether there is a store; nothing is opened or created.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: whether its database exists; also true when the directory cannot be read, so that opening it reports
    ///   why.
    public static func exists(_ directory: String) -> Bool {
        let location = StoreLocation(directory: directory)
        do { return try location.resolved() != nil && StoreDatabase.isThere(location) } catch { return true }
    }

    /// Inspects a store without changing it.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: the facts.
    /// - Throws: ``LectureError``: `openStore` when there is none, `storeForeign`, `storeNewer`, `storeDamaged`.
    public static func facts(of directory: String) throws(LectureError) -> StoreFacts {
        try LectureError.only {
            StoreFacts(try StoreMaintenance.info(StoreLocation(directory: directory)))
        }
    }

    /// Checks pages, indices, references, the rules between tables, and whether the files of complete lectures exist
    /// with their full length. Files are not read: that is ``LectureManager/Contents/verify(_:options:)``.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: one sentence per finding, without user data; none when the store is sound.
    /// - Throws: ``LectureError`` when the store cannot be read at all.
    public static func check(_ directory: String) throws(LectureError) -> [String] {
        try LectureError.only {
            let location = StoreLocation(directory: directory)
            let findings = try StoreMaintenance.check(location)
            // Paths in rows of an older schema, or in rows that break a rule, cannot be trusted.
            guard findings.isEmpty, try StoreMaintenance.info(location).pending.isEmpty else { return findings }
            return try fileFindings(location)
        }
    }

    private static func fileFindings(_ location: StoreLocation) throws -> [String] {
        guard let root = try location.resolved() else { return [] }
        let queries = try SQLiteContentQueries(opening: location)
        var findings: [String] = []
        var last: ResourceID?
        while true {
            let page = try queries.finalizedFiles(after: last, limit: 1000)
            guard let end = page.last else { return findings }
            last = end.id
            for (_, file) in page {
                var status = stat()
                guard unsafe lstat("\(root)/\(file.path)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                    findings.append("\(file.path) is missing")
                    continue
                }
                guard let due = file.fileBytes, UInt64(status.st_size) < due else { continue }
                findings.append("\(file.path) is too short: it has \(status.st_size) of \(due) bytes")
            }
        }
    }

    /// The media files that are older than the store's database: those of a database that was lost or moved away. They
    /// belong to no lecture, and only ``LectureManager/Contents/deleteKept(_:)`` deletes them.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: the files, in the order in which the lost database created them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public static func keptFiles(in directory: String) throws(LectureError) -> [KeptFile] {
        try LectureError.only {
            try StoreMaintenance.keptFiles(StoreLocation(directory: directory))
        }
    }

    /// How many files ``keptFiles(in:)`` finds, and their size in bytes.
    ///
    /// - Parameter directory: the directory of the store.
    /// - Returns: number and bytes.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public static func keptMedia(in directory: String) throws(LectureError) -> (count: Int, bytes: Int64) {
        let files = try keptFiles(in: directory)
        return (files.count, files.reduce(0) { $0 + $1.bytes })
    }

    /// Makes a consistent copy while others use the store. It appears whole or not at all and never replaces a file.
    /// The store records where it is, so that erasing a learner covers it.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - path: the file to make.
    /// - Returns: whether the store records it; false for a store that cannot be written.
    /// - Throws: ``LectureError``: `createFile` when the file exists already or cannot be created.
    @discardableResult
    public static func backup(_ directory: String, to path: String) throws(LectureError) -> Bool {
        try LectureError.only {
            let location = StoreLocation(directory: directory)
            let now = SystemClock().now()
            let copies: BackupCopies
            do {
                guard let found = try Self.copies(of: location, now: now) else {
                    try StoreMaintenance.backup(location, to: path)
                    return true
                }
                copies = found
            } catch let error as LectureError where error.code == .storeReadOnly {
                try StoreMaintenance.backup(location, to: path)
                return false
            }
            let place = try StoreTools.place(path)
            let wasKnown = try copies.all().contains { $0.path == place }
            // Before the copy exists: a kill between the two must not leave an unrecorded one.
            if !wasKnown { try copies.record(place, made: now) }
            do {
                try StoreMaintenance.backup(location, to: path)
            } catch {
                if !wasKnown { try? copies.forget(place) }
                throw error
            }
            return true
        }
    }

    /// Deletes a copy that ``backup(_:to:)`` made, and its record; one that is gone already has only a record.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - path: the copy.
    /// - Throws: ``LectureError``: `storeForeign` for a file that is not a copy of a store, `createFile` when it cannot
    ///   be deleted, a store's code.
    public static func deleteCopy(_ directory: String, at path: String) throws(LectureError) {
        try LectureError.only {
            let place = try place(path)
            let copies = try copies(of: StoreLocation(directory: directory), now: SystemClock().now())
            try BackupCopies.delete(place)
            try copies?.forget(place)
        }
    }

    /// The records of copies. A store of an older version has them too, unless it is older than the reports: it is not
    /// migrated for that.
    private static func copies(of location: StoreLocation, now: Timestamp) throws -> BackupCopies? {
        if try StoreMaintenance.info(location).pending.isEmpty {
            return BackupCopies(index: try SQLiteDownloadIndex(opening: location, now: now))
        }
        return try BackupCopies(ofOlder: location)
    }

    /// The path of a file without links among its directories, so that one file has one name.
    static func place(_ path: String) throws -> String {
        let whole = try AbsolutePath.resolve(path)
        guard let cut = whole.lastIndex(of: "/"),
            let parent = try StoreLocation(directory: cut == whole.startIndex ? "/" : String(whole[..<cut])).resolved()
        else { return whole }
        return "\(parent == "/" ? "" : parent)\(whole[cut...])"
    }

    /// Brings a store to this program's schema; creates it when there is none.
    ///
    /// - Parameters:
    ///   - directory: the directory of the store.
    ///   - now: the wall clock, for the records.
    /// - Returns: the migrations that were applied.
    /// - Throws: ``LectureError``: `storeForeign`, `storeNewer`, `storeDamaged`, `storeReadOnly`, `migrationChanged`.
    public static func migrate(_ directory: String, now: Timestamp) throws(LectureError) -> [String] {
        try LectureError.only {
            try StoreMaintenance.migrate(StoreLocation(directory: directory), now: now)
        }
    }
}
