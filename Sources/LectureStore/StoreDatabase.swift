import Glibc
package import LectureModel
package import LectureSQLite
import SchemaMigrations

/// Opens the store's database: inspected first, created whole or not at all, migrated to this program's schema.
package enum StoreDatabase {
    /// The migrator with every migration of this program.
    package static var migrator: Migrator {
        Migrator(
            applicationID: MigrationCatalogue.applicationID,
            migrations: MigrationCatalogue.entries.map { entry in
                Migration(
                    identifier: entry.identifier, sha256: entry.sha256, sql: String(decoding: entry.sql, as: UTF8.self))
            }, schema: MigrationCatalogue.schema)
    }

    /// Opens the writer's connection; creates the store when there is none and migrates an older one.
    ///
    /// A new database is created under another name, closed, synced and renamed, so that a kill at any moment leaves
    /// either no store or a whole one.
    ///
    /// - Parameters:
    ///   - location: where the store is.
    ///   - now: the wall clock, for the records.
    ///   - spendsReserve: whether a full disk may be opened with the space of ``SpaceReserve``.
    /// - Returns: a connection with durability set and read back, and the migrations applied by this call.
    /// - Throws: ``LectureError``: `storeOwner`, `storeExposed`, `storeForeign`, `storeNewer`, `storeDamaged`,
    ///   `storeReadOnly`, `migrationChanged`, `storeUnsafe`, `createDirectory`, `openStore`; a refused file is
    ///   unchanged.
    package static func openWriter(
        _ location: StoreLocation, now: Timestamp, spendsReserve: Bool = true
    ) throws -> (connection: Connection, applied: [String]) {
        let directory = try location.make()
        try StoreOwner.require(directory)
        let opened: (connection: Connection, applied: [String])
        do {
            opened = try openWriter(in: directory, now: now)
        } catch let error as LectureError where error.code == .storageFull {
            guard spendsReserve, SpaceReserve.release(in: directory) else { throw error }
            opened = try openWriter(in: directory, now: now)
        }
        SpaceReserve.draw(in: directory)
        return opened
    }

    /// Opens the writer's connection, or on a full disk and on a read-only medium one that can only read.
    ///
    /// - Parameters:
    ///   - location: where the store is.
    ///   - now: the wall clock, for the records.
    ///   - spendsReserve: as for ``openWriter(_:now:spendsReserve:)``.
    /// - Returns: a connection, and the migrations applied by this call. One that cannot write has
    ///   ``Connection/whyReadOnly``.
    /// - Throws: ``LectureError`` as ``openWriter(_:now:spendsReserve:)``.
    package static func openAsPossible(
        _ location: StoreLocation, now: Timestamp, spendsReserve: Bool
    ) throws -> (connection: Connection, applied: [String]) {
        do {
            return try openWriter(location, now: now, spendsReserve: spendsReserve)
        } catch let error as LectureError where mayReadAlone(location, error) {
            guard let alone = readAlone(location) else { throw error }
            alone.whyReadOnly = error
            return (alone, [])
        }
    }

    /// Whether an error means that files beside the database cannot be created, though it may be read without them.
    private static func mayReadAlone(_ location: StoreLocation, _ error: LectureError) -> Bool {
        if error.code == .storageFull { return true }
        guard error.code == .storeReadOnly || error.code == .openStore else { return false }
        // A read-only medium, and not a file of another user.
        return unsafe access(location.directory, W_OK) != 0 && errno == EROFS
    }

    /// Opens a database whose log has nothing that is not in it, without locks and without files beside it. On a
    /// read-only medium no program writes it, and on a full disk hardly any. A reader that is disturbed all the same
    /// reports damage at worst: it stores nothing.
    private static func readAlone(_ location: StoreLocation) -> Connection? {
        guard let path = try? existingPath(location) else { return nil }
        for suffix in ["-wal", "-journal"] {
            var facts = stat()
            if unsafe lstat("\(path)\(suffix)", &facts) == 0, facts.st_size > 0 { return nil }
        }
        guard let connection = try? Connection(path: path, access: .immutable),
            (try? connection.requireReaderSafety()) != nil,
            let state = try? migrator.requireUsable(connection), state.pending.isEmpty
        else { return nil }
        return connection
    }

    private static func openWriter(
        in directory: String, now: Timestamp
    ) throws -> (connection: Connection, applied: [String]) {
        let path = "\(directory)/\(StoreLocation.databaseName)"
        return try OpeningLock.holding(directory) {
            var applied: [String] = []
            let isThere = try isUsable(path)
            try requireWritable(directory)
            if isThere {
                try requireWritable(path)
            } else {
                applied = try make(path: path, directory: directory, now: now)
            }
            return try naming(path) {
                let connection = try Connection(path: path, access: .readWrite)
                guard !connection.isReadOnly else { throw LectureError(.storeReadOnly, detail: path) }
                try connection.requireDurability()
                applied += try migrator.migrate(connection, now: now)
                return (connection, applied)
            }
        }
    }

    /// Whether there is a database that this program may use; false when there is none yet.
    private static func isUsable(_ path: String) throws -> Bool {
        if try migrator.isUsableByHeader(path: path) { return true }
        if case .usable = try migrator.inspect(path: path) { return true }
        return false
    }

    /// Adds the database to an error that does not say what it is about.
    private static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as LectureError where error.detail.isEmpty {
            throw LectureError(error.code, detail: path, cause: error.cause)
        }
    }

    /// Opens a reader's connection to an existing store with this program's schema.
    ///
    /// - Parameter location: where the store is.
    /// - Returns: a connection that cannot write.
    /// - Throws: ``LectureError``: `openStore` when there is no store, and as ``openWriter(_:now:)``.
    package static func openReader(_ location: StoreLocation) throws -> Connection {
        do {
            return try openReaderBesideWriters(location)
        } catch let error as LectureError where mayReadAlone(location, error) {
            guard let alone = readAlone(location) else { throw error }
            return alone
        }
    }

    private static func openReaderBesideWriters(_ location: StoreLocation) throws -> Connection {
        let path = try existingPath(location)
        if let directory = try location.resolved() { try StoreOwner.require(directory) }
        // Refusals come before a reader's files appear beside the database, and with their own error codes.
        guard try isUsable(path) else { throw LectureError(.storeForeign, detail: path, cause: "it is empty") }
        return try naming(path) {
            let connection = try Connection(path: path, access: .readOnly)
            try connection.requireReaderSafety()
            try migrator.requireUsable(connection)
            return connection
        }
    }

    /// Whether there is a database.
    ///
    /// - Parameter location: where the store is.
    /// - Returns: false when it is known that there is none.
    package static func isThere(_ location: StoreLocation) -> Bool {
        var facts = stat()
        return unsafe lstat("\(location.directory)/\(StoreLocation.databaseName)", &facts) == 0 || errno != ENOENT
    }

    /// The database of a store that must exist.
    ///
    /// - Parameter location: where the store is.
    /// - Returns: the path without symbolic links.
    /// - Throws: ``LectureError`` with the code `openStore` when it does not exist.
    package static func existingPath(_ location: StoreLocation) throws -> String {
        guard let directory = try location.resolved() else {
            throw LectureError(.openStore, detail: location.directory, cause: "there is no store")
        }
        let path = "\(directory)/\(StoreLocation.databaseName)"
        guard unsafe access(path, F_OK) == 0 else {
            throw LectureError(.openStore, detail: location.directory, cause: "there is no store")
        }
        return path
    }

    private static func make(path: String, directory: String, now: Timestamp) throws -> [String] {
        let draft = "\(path).new"
        // Under the opening lock a draft can only be left by a killed process.
        for suffix in ["", "-wal", "-shm", "-journal"] { unsafe unlink("\(draft)\(suffix)") }
        try makeFile(draft)
        var applied: [String] = []
        do {
            let connection = try Connection(path: draft, access: .readWrite)
            try connection.requireDurability()
            applied = try migrator.create(connection, now: now)
            try writeIdentity(connection, now: now)
            try keepMedia(connection, in: directory)
            // Moves everything into the file that is renamed; closing then removes the empty log.
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try syncFile(draft)
        try StoreLocation.syncNames(upTo: directory)
        guard unsafe rename(draft, path) == 0 else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(errno))
        }
        try StoreLocation.syncDirectory(directory)
        return applied
    }

    private static func writeIdentity(_ connection: Connection, now: Timestamp) throws {
        // The system generator is getrandom(2): good enough for the key of the proofs.
        var generator = SystemRandomNumberGenerator()
        let key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        // A random UUID: RFC 9562, section 5.4.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0\(text)" : text
        }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
        try connection.execute(
            "INSERT INTO store_identity(id, uuid, created_ms, proof_key) VALUES (1, ?, ?, ?)",
            groups.joined(separator: "-"), now.milliseconds, key)
    }

    /// Creates an empty file that only its owner may read, in a shared directory also the group.
    static func makeFile(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(errno))
        }
        defer { close(descriptor) }
        // SQLite gives its log and its index the permissions of the database.
        guard StoreOwner.isShared(StoreLocation.parent(of: path)) else { return }
        guard fchmod(descriptor, SharedPermissions.file) == 0 else {
            throw LectureError(.createFile, detail: path, cause: StoreLocation.reason(errno))
        }
    }

    /// Makes a file's bytes durable.
    static func syncFile(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LectureError(.writeFile, detail: path, cause: StoreLocation.reason(errno))
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw LectureError(.writeFile, detail: path, cause: StoreLocation.reason(errno))
        }
    }

    private static func requireWritable(_ path: String) throws {
        guard unsafe access(path, W_OK) == 0 else {
            throw LectureError(.storeReadOnly, detail: path, cause: StoreLocation.reason(errno))
        }
    }
}
