import CSystem
import Glibc
import LectureModel

/// The directory `media` of a store, held open, so that a store that is moved or replaced while the program runs stays
/// the same store.
final class MediaDirectory: Sendable {
    /// The path of the store as given; for messages only.
    let root: String
    /// `<root>/media`.
    let descriptor: Descriptor
    /// Syncs buckets, and the directories of outputs.
    let syncs: DirectorySyncs
    /// Where outputs cannot share blocks with media.
    let unshared = UnsharedBlocks()
    /// Which directories of outputs were found outside the store.
    let outside = OutsideDirectories()
    /// Buckets whose entry in `media` is known to be durable.
    private let durableBuckets = Monitor<Set<String>>([])

    /// Opens the directory, creating it and the store's own directory if missing. New directories have the mode 0700,
    /// or that of a shared store.
    ///
    /// - Parameters:
    ///   - root: the path of the store.
    ///   - syncs: syncs directories.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createDirectory``, ``LectureError/Code/storeReadOnly`` or
    ///   ``LectureError/Code/storageFull``.
    init(root: String, syncs: DirectorySyncs = DirectorySyncs()) throws(LectureError) {
        (self.root, self.syncs) = (root, syncs)
        let store = try StoreRoot.open(root)
        do {
            try Self.make(MediaPath.mediaDirectory, in: store)
            descriptor = try store.open(MediaPath.mediaDirectory, O_RDONLY | O_DIRECTORY)
        } catch {
            throw FileIntent.makeDirectory.error(error, "\(root)/\(MediaPath.mediaDirectory)")
        }
    }

    /// Creates a directory durably, if it is missing.
    private static func make(_ name: String, in parent: Descriptor) throws(SystemError) {
        // Checked first: on a read-only file system `mkdirat` returns EROFS even for an existing directory.
        if try parent.status(of: name) != nil { return }
        try parent.makeDirectory(name)
        try parent.sync()
    }

    /// Opens a bucket.
    ///
    /// - Parameters:
    ///   - path: a path in the bucket.
    ///   - creating: whether a missing bucket is created, durably.
    /// - Returns: the bucket, or nil when it is missing and not to be created.
    /// - Throws: ``SystemError``.
    func bucket(of path: MediaPath, creating: Bool) throws(SystemError) -> Descriptor? {
        if creating, !durableBuckets.read({ $0.contains(path.bucket) }) {
            try Self.make(path.bucket, in: descriptor)
            // Also for an existing bucket: its creator may have died before it synced the entry.
            try descriptor.sync()
            durableBuckets.change { _ = $0.insert(path.bucket) }
        }
        do {
            return try descriptor.open(path.bucket, O_RDONLY | O_DIRECTORY)
        } catch {
            if error.number == ENOENT, !creating { return nil }
            throw error
        }
    }

    /// The store's directory and this one, which may be a mount of its own: below them no output is placed.
    ///
    /// - Returns: the status of both.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func places() throws(LectureError) -> [stat] {
        var store = stat()
        try systemCall(.read, root) { unsafe stat(root, &store) }
        do {
            return [store, try descriptor.status()]
        } catch {
            throw FileIntent.read.error(error, root)
        }
    }

    /// Waits for the lock to reserve space: one file at a time, across all programs that use the store.
    ///
    /// - Returns: the lock, released when the object goes, at the latest when the process ends.
    /// - Throws: ``LectureError`` with ``LectureError/Code/writeFile``.
    func reservationTurn() throws(LectureError) -> Descriptor {
        do {
            // Opened again, since `flock` applies to an open file description and not to a process.
            let turn = try descriptor.open(".", O_RDONLY | O_DIRECTORY)
            try systemCall { flock(turn.number, LOCK_EX) }
            return turn
        } catch {
            throw FileIntent.write.error(error, root)
        }
    }

    /// How many bytes an unprivileged user may still write to the file system.
    ///
    /// - Returns: the free bytes; the largest number where the file system does not count them.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func freeBytes() throws(LectureError) -> UInt64 { try diskBytes()?.free ?? .max }

    /// How many bytes an unprivileged user may still write to the file system, and how many it has.
    ///
    /// - Returns: both; nil where the file system does not count them.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func diskBytes() throws(LectureError) -> (free: UInt64, size: UInt64)? {
        var status = statvfs()
        try systemCall(.read, root) { unsafe fstatvfs(descriptor.number, &status) }
        // Some file systems in memory or in user space have no blocks; that is not a full disk.
        if status.f_blocks == 0 { return nil }
        func bytes(_ blocks: UInt) -> UInt64 {
            let (bytes, overflow) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflow ? .max : bytes
        }
        return (bytes(status.f_bavail), bytes(status.f_blocks))
    }
}

/// The directory of a store.
enum StoreRoot {
    /// Opens the directory, creating it and its parents if missing, each with the mode 0700.
    ///
    /// - Parameter path: absolute, or relative to the working directory. Symbolic links are followed: the user may put
    ///   a store wherever a link leads.
    /// - Returns: the open directory.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createDirectory``, ``LectureError/Code/storeReadOnly``,
    ///   ``LectureError/Code/storageFull``, or ``LectureError/Code/parameter`` for an empty path or one with a NUL.
    static func open(_ path: String) throws(LectureError) -> Descriptor {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw LectureError(.parameter, detail: "store directory") }
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        do {
            return Descriptor(takingOwnership: try systemCall { unsafe Glibc.open(path, flags) })
        } catch {
            if error.number != ENOENT { throw FileIntent.makeDirectory.error(error, path) }
        }
        try make(path)
        return Descriptor(takingOwnership: try systemCall(.makeDirectory, path) { unsafe Glibc.open(path, flags) })
    }

    private static func make(_ path: String) throws(LectureError) {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for component in path.split(separator: "/") {
            prefix += prefix.isEmpty || prefix == "/" ? component : "/" + component
            do {
                try systemCall { unsafe mkdir(prefix, 0o700) }
            } catch {
                // A read-only or foreign parent that exists is not an error; what matters is the last component, and
                // opening that reports it.
                let exists = unsafe access(prefix, F_OK) == 0
                if !exists { throw FileIntent.makeDirectory.error(error, prefix) }
            }
        }
    }
}
