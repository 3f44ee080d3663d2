import Glibc
import LectureModel

/// A file of the store that only holds space, so that a full disk can still be cleared: removing needs rows, and rows
/// need space.
///
/// ```
///   (missing) ──a writer opens or closes the store, and there is space─▶ drawn
///       ▲                                                                 │
///       └──on a full disk: the store is opened, or lectures are removed───┘
/// ```
package enum SpaceReserve {
    /// The file's name in the store.
    package static let fileName = "space.reserve"
    /// Its length in bytes.
    package static let bytes: UInt64 = 1 << 20
    /// It is drawn only where at least this much is free.
    private static let needed: UInt64 = bytes + bytes / 2
    /// A removal may need this much.
    private static let scarce: UInt64 = 1 << 20

    /// Creates the file, if it is missing and there is space. Failing is no error: the store works without it.
    ///
    /// - Parameter directory: the store's, without symbolic links.
    static func draw(in directory: String) {
        let path = "\(directory)/\(fileName)"
        var facts = stat()
        // One that is shorter was left by a program that died here.
        if unsafe lstat(path, &facts) == 0, facts.st_size >= off_t(bytes) { return }
        guard let free = freeBytes(in: directory), free >= needed else { return }
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        if StoreOwner.isShared(directory) { _ = fchmod(file, SharedPermissions.file) }
        // Really allocated: where the file system cannot, this function writes.
        if posix_fallocate(file, 0, off_t(bytes)) != 0 { unsafe unlink(path) }
    }

    /// Deletes the file.
    ///
    /// - Parameter directory: the store's, without symbolic links.
    /// - Returns: whether there is more space now.
    static func release(in directory: String) -> Bool { unsafe unlink("\(directory)/\(fileName)") == 0 }

    /// Deletes the file where there is too little space to remove lectures.
    ///
    /// - Parameter location: where the store is.
    package static func freeSpaceToRemove(_ location: StoreLocation) {
        guard let directory = try? location.resolved(), let free = freeBytes(in: directory), free < scarce else {
            return
        }
        _ = release(in: directory)
    }

    /// Creates the file again, if there is space.
    ///
    /// - Parameter location: where the store is.
    package static func draw(_ location: StoreLocation) {
        if let directory = try? location.resolved(), StoreDatabase.isThere(location) { draw(in: directory) }
    }

    private static func freeBytes(in directory: String) -> UInt64? {
        var facts = statvfs()
        guard unsafe statvfs(directory, &facts) == 0 else { return nil }
        return UInt64(facts.f_bavail) * UInt64(facts.f_frsize)
    }
}
