import Glibc
import LectureModel

/// Where a store is: one directory that belongs to one user.
package struct StoreLocation: Sendable, Hashable {
    /// The directory as given.
    package let directory: String

    /// Creates the value; nothing is touched.
    ///
    /// - Parameter directory: a path, absolute or relative to the working directory; need not exist.
    package init(directory: String) { self.directory = directory }

    /// The database's file name.
    package static let databaseName = "lecturekit.db"

    /// The directory without symbolic links, since SQLite refuses them in every part of a path.
    ///
    /// - Returns: an absolute path; nil when there is no such directory.
    /// - Throws: ``LectureError`` with the code `openStore` when it cannot be accessed or is not a directory.
    package func resolved() throws -> String? {
        guard let resolved = unsafe realpath(directory, nil) else {
            let code = errno
            if code == ENOENT { return nil }
            throw LectureError(.openStore, detail: directory, cause: Self.reason(code))
        }
        defer { unsafe free(resolved) }
        var status = stat()
        guard unsafe stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw LectureError(.openStore, detail: directory, cause: "it is not a directory")
        }
        return unsafe String(cString: resolved)
    }

    /// Creates the directory (0700) and missing parents, durably.
    ///
    /// - Returns: the directory without symbolic links.
    /// - Throws: ``LectureError``: `createDirectory`, or `storeReadOnly` on a read-only file system.
    package func make() throws -> String {
        if let resolved = try resolved() { return resolved }
        try Self.makeDirectory(directory)
        guard let resolved = try resolved() else {
            throw LectureError(.createDirectory, detail: directory, cause: Self.reason(ENOENT))
        }
        return resolved
    }

    private static func makeDirectory(_ path: String) throws {
        if unsafe mkdir(path, 0o700) == 0 { return try syncDirectory(parent(of: path)) }
        switch errno {
        case EEXIST: return
        case ENOENT where parent(of: path) != path:
            try makeDirectory(parent(of: path))
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path, errno) }
            try syncDirectory(parent(of: path))
        case let code: throw failure(path, code)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> LectureError {
        LectureError(code == EROFS ? .storeReadOnly : .createDirectory, detail: path, cause: reason(code))
    }

    static func parent(of path: String) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard !parts.isEmpty else { return path }
        parts.removeLast()
        let joined = parts.joined(separator: "/")
        if path.hasPrefix("/") { return "/" + joined }
        return joined.isEmpty ? "." : joined
    }

    /// Makes the name of a directory, and of any parents created for it, durable: their creator may have died before it
    /// synced them. A power cut would take a whole store with such a name.
    ///
    /// - Parameter path: absolute, without symbolic links.
    /// - Throws: ``LectureError`` with the code `writeFile`.
    static func syncNames(upTo path: String) throws {
        var child = path
        while child != "/" {
            let above = parent(of: child)
            var (inner, outer) = (stat(), stat())
            // A directory of another user, or a separate disk, was not created for a store.
            guard unsafe stat(child, &inner) == 0 && stat(above, &outer) == 0, inner.st_uid == geteuid(),
                inner.st_dev == outer.st_dev, unsafe access(above, R_OK | W_OK) == 0
            else { return }
            try syncDirectory(above)
            child = above
        }
    }

    /// Makes names in a directory durable.
    static func syncDirectory(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LectureError(.writeFile, detail: path, cause: reason(errno)) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw LectureError(.writeFile, detail: path, cause: reason(errno)) }
    }

    /// The system's sentence for an error number.
    static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

/// The lock under which a store is inspected, created and migrated: one process at a time, others wait.
///
/// It is on the directory itself (`flock(2)`), so that it leaves no file behind, and the kernel releases it when the
/// process ends in any way.
enum OpeningLock {
    /// Waits for the lock, runs `body` under it and releases it.
    ///
    /// - Parameters:
    ///   - directory: the store's directory.
    ///   - body: runs alone.
    /// - Returns: what `body` returns.
    /// - Throws: ``LectureError``: `openStore`, or `storeUnsafe` when the file system has no locks; and what `body`
    ///   throws.
    static func holding<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
        let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LectureError(.openStore, detail: directory, cause: StoreLocation.reason(errno))
        }
        // Closing releases the lock.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw LectureError(.storeUnsafe, detail: directory, cause: StoreLocation.reason(errno))
            }
        }
        return try body()
    }
}
