import CSQLite
import Glibc
import LectureModel

/// SQLite's own file system, except that the index of the log (`-shm`) is really allocated before it is used.
///
/// SQLite extends that file by one byte in each 4 KiB and maps it. Where blocks are smaller, or the file was made with
/// holes, a full disk shows only when memory is written: the kernel ends the program (SIGBUS). Here each mapped part is
/// populated first (`MADV_POPULATE_WRITE`, Linux 5.14): a page without a block is an error (SQLITE_FULL) and not a
/// signal. Older kernels do as before.
enum AllocatedIndex {
    /// The name under which SQLite knows it; nil where it could not be registered, for SQLite's default.
    static let name: String? = Registration.shared == nil ? nil : Registration.name
}

/// What is registered with SQLite; made once and never freed.
///
/// `@unchecked Sendable`: `system` and `own` are constant after `init`, and SQLite only reads what they point to; the
/// methods are behind a lock.
@safe private final class Registration: @unchecked Sendable {
    static let name = "lecturekit"
    /// Nil when SQLite has no file system of the name "unix", or cannot take another.
    static let shared = Registration()

    /// SQLite's file system for Unix.
    let system: UnsafeMutablePointer<sqlite3_vfs>
    private let own: UnsafeMutablePointer<sqlite3_vfs>
    /// The methods of a file with locks, and the same with ours in place of one. One pair: on Linux all such files have
    /// the same.
    private let methods = Guarded<Methods?>(nil)

    /// `@unchecked Sendable`: both point to constant memory that is never freed.
    @safe private struct Methods: @unchecked Sendable {
        let original: UnsafePointer<sqlite3_io_methods>
        let changed: UnsafePointer<sqlite3_io_methods>
    }

    private init?() {
        guard let system = unsafe sqlite3_vfs_find("unix"), let name = unsafe strdup(Self.name) else { return nil }
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        unsafe own.initialize(to: system.pointee)
        unsafe own.pointee.zName = UnsafePointer(name)
        unsafe own.pointee.pNext = nil
        unsafe own.pointee.xOpen = openWithAllocatedIndex
        unsafe (self.system, self.own) = (system, own)
        guard unsafe sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
    }

    /// Puts our method in place of SQLite's, for files that have an index.
    func change(_ file: UnsafeMutablePointer<sqlite3_file>) {
        guard let original = unsafe file.pointee.pMethods, unsafe original.pointee.xShmMap != nil else { return }
        methods.withLock { methods in
            if methods == nil {
                let changed = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
                unsafe changed.initialize(to: original.pointee)
                unsafe changed.pointee.xShmMap = mapAllocatedIndex
                methods = unsafe Methods(original: original, changed: UnsafePointer(changed))
            }
            guard let methods, unsafe methods.original == original else { return }
            unsafe file.pointee.pMethods = methods.changed
        }
    }

    /// SQLite's own method.
    var map: ShmMap? {
        unsafe methods.withLock { methods in unsafe methods?.original.pointee.xShmMap }
    }
}

private typealias ShmMap =
    @convention(c) (
        UnsafeMutablePointer<sqlite3_file>?, Int32, Int32, Int32, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32

/// `xOpen`: opens as SQLite does.
private func openWithAllocatedIndex(
    _: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: Int32, _ granted: UnsafeMutablePointer<Int32>?
) -> Int32 {
    guard let registration = Registration.shared, let file = unsafe file,
        let open = unsafe registration.system.pointee.xOpen
    else { return SQLITE_CANTOPEN }
    let result = unsafe open(registration.system, name, file, flags, granted)
    if result == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0 { unsafe registration.change(file) }
    return result
}

/// `xShmMap`: maps a part of the index as SQLite does, and makes sure that all of it has blocks.
private func mapAllocatedIndex(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ part: Int32, _ bytes: Int32, _ extends: Int32,
    _ place: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
    guard let map = unsafe Registration.shared?.map else { return SQLITE_IOERR }
    let result = unsafe map(file, part, bytes, extends, place)
    guard result == SQLITE_OK, let place = unsafe place, let memory = unsafe place.pointee else { return result }
    // MADV_POPULATE_WRITE, which older headers lack. EFAULT is its word for "this would be SIGBUS"; other errors say
    // that the kernel or the mapping does not allow it.
    if unsafe madvise(memory, Int(bytes), 23) != 0, errno == EFAULT {
        unsafe place.pointee = nil
        return SQLITE_FULL
    }
    return SQLITE_OK
}
