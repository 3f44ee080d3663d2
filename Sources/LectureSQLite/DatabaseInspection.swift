import Glibc
import LectureModel

/// What a path holds, determined without changing a byte there and without leaving a file beside it.
package enum DatabaseInspection: Sendable, Hashable {
    /// Nothing.
    case absent
    /// An empty file.
    case empty
    /// A database this program may use.
    case usable(SchemaState)
}

extension Migrator {
    /// Inspects the file at a path before anything opens it for writing.
    ///
    /// A plain read-only connection to a WAL database creates `-wal` and `-shm` files and leaves them. So the header is
    /// read as bytes first, and the rest through an immutable connection, unless files beside the database show that it
    /// is in use or was not closed: then they exist already and an ordinary read-only connection adds nothing.
    ///
    /// - Parameter path: the database; its directory without symbolic links.
    /// - Returns: what the path holds.
    /// - Throws: ``LectureError``: `storeForeign`, `storeNewer`, `migrationChanged`, `storeDamaged`, `openStore`.
    package func inspect(path: String) throws -> DatabaseInspection {
        guard let looked = try OpenDatabases.unlessOpen(path, { try DatabaseHeader(path: path) }) else {
            // A connection of this process has it open; the file was inspected before that.
            let connection = try Connection(path: path, access: .readOnly)
            try connection.requireReaderSafety()
            return .usable(try connection.transaction(.read) { try requireUsable(connection) })
        }
        guard let header = looked else { return .absent }
        guard !header.isEmpty else { return .empty }
        guard header.hasMagic else {
            throw LectureError(.storeForeign, detail: path, cause: "it is not an SQLite database")
        }
        let isOpenElsewhere = Self.exists("\(path)-wal") || Self.exists("\(path)-journal")
        if !isOpenElsewhere, header.isCut {
            throw LectureError(header.applicationID == applicationID ? .storeDamaged : .storeForeign, detail: path)
        }
        do {
            let connection = try Connection(path: path, access: isOpenElsewhere ? .readOnly : .immutable)
            try connection.requireReaderSafety()
            return .usable(try connection.transaction(.read) { try requireUsable(connection) })
        } catch let error as LectureError where error.code == .storeDamaged && header.applicationID != applicationID {
            throw LectureError(.storeForeign, detail: path, cause: error.cause)
        } catch let error as LectureError where error.detail.isEmpty {
            throw LectureError(error.code, detail: path, cause: error.cause)
        }
    }

    /// Whether the header alone shows that ``inspect(path:)`` would find a database with exactly this program's schema.
    ///
    /// To read the table of migrations SQLite parses the whole schema, about 2 ms for each connection. Where this is
    /// true, only the connection that is opened next has to, by ``requireUsable(_:)``.
    ///
    /// - Parameter path: the database; its directory without symbolic links.
    /// - Returns: false whenever more than the header is needed to know.
    /// - Throws: ``LectureError``: `storeForeign`, `openStore`.
    package func isUsableByHeader(path: String) throws -> Bool {
        guard let looked = try OpenDatabases.unlessOpen(path, { try DatabaseHeader(path: path) }) else {
            // A connection of this process has it open; the file was inspected before that.
            return true
        }
        // What lies beside a database may hold a newer header.
        guard let header = looked, header.hasMagic, !Self.exists("\(path)-wal"), !Self.exists("\(path)-journal") else {
            return false
        }
        return header.applicationID == applicationID && header.userVersion == migrations.count && !header.isCut
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }
}

/// The first 100 bytes of a database file (https://www.sqlite.org/fileformat.html, section 1.3).
struct DatabaseHeader {
    private let bytes: [UInt8]
    private let fileBytes: Int64

    /// Reads the header; fails with nil when there is no file.
    ///
    /// - Parameter path: the database.
    /// - Throws: ``LectureError``: `storeForeign` for anything but a plain file, else `openStore`.
    init?(path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if code == ENOENT { return nil }
            let reason = unsafe String(cString: strerror(code))
            throw LectureError(code == ELOOP ? .storeForeign : .openStore, detail: path, cause: reason)
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw LectureError(.storeForeign, detail: path, cause: "it is not a plain file")
        }
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw LectureError(.openStore, detail: path, cause: "it cannot be read") }
        bytes = Array(buffer.prefix(count))
        fileBytes = Int64(status.st_size)
    }

    /// Whether the file has no bytes.
    var isEmpty: Bool { fileBytes == 0 }
    /// Whether it starts with the SQLite 3 magic.
    var hasMagic: Bool { bytes.count == 100 && bytes.starts(with: Array("SQLite format 3\0".utf8)) }
    /// The application the file belongs to.
    var applicationID: Int32 { Int32(bitPattern: number(at: 68)) }

    /// How many migrations were applied.
    var userVersion: Int { Int(number(at: 60)) }

    /// Whether the file is shorter than its own page count. The count is valid only if the change counter matches the
    /// version it was written for.
    var isCut: Bool {
        guard number(at: 24) == number(at: 92) else { return false }
        let stored = UInt32(bytes[16]) << 8 | UInt32(bytes[17])
        let pageBytes = stored == 1 ? 65_536 : Int64(stored)
        return Int64(number(at: 28)) * pageBytes > fileBytes
    }

    private func number(at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
