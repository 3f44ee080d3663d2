import CSystem
import Glibc
package import LectureModel

/// Determines which owners of the store are alive: each holds a lock on its own byte of `<root>/owners.lock`.
///
/// The locks are open-file-description locks (`F_OFD_SETLK`), so the kernel releases them when the process ends in any
/// way, another thread closing the same file does not, and two stores opened in one process exclude each other. The
/// file is empty and is never deleted: a lock on a deleted file protects nothing.
package final class OwnerLocks: Sendable {
    /// The file's name in the store.
    package static let fileName = "owners.lock"

    private let file: Descriptor
    private let held = Monitor<Set<Int64>>([])

    /// Opens the file; creates it, and the store's directory, if they are missing.
    ///
    /// - Parameter root: the path of the store.
    /// - Throws: ``LectureError`` with ``LectureError/Code/createFile``, ``LectureError/Code/createDirectory``,
    ///   ``LectureError/Code/storeReadOnly`` or ``LectureError/Code/storageFull``.
    package init(root: String) throws(LectureError) {
        let store = try StoreRoot.open(root)
        do {
            file = try Self.open(in: store)
        } catch {
            throw FileIntent.makeFile.error(error, "\(root)/\(Self.fileName)")
        }
    }

    /// A store that cannot be written has owners only if it is writable elsewhere; without the file it has none.
    private static func open(in store: Descriptor) throws(SystemError) -> Descriptor {
        do {
            return try store.open(fileName, O_RDWR | O_CREAT)
        } catch {
            guard [EROFS, ENOSPC, EDQUOT].contains(error.number) else { throw error }
            if let file = try? store.open(fileName, O_RDONLY) { return file }
            return try store.open(".", O_RDONLY | O_DIRECTORY)
        }
    }

    /// Locks an owner's byte until ``release(_:)``, the end of this object, or death.
    ///
    /// - Parameter owner: a row that belongs to this process.
    /// - Throws: ``LectureError`` with ``LectureError/Code/storeBusy`` when another process holds it, or
    ///   ``LectureError/Code/storeUnsafe`` when the file system has no locks.
    package func hold(_ owner: OwnerID) throws(LectureError) {
        let status = csystem_lock_byte(file.number, off_t(owner.value))
        switch status {
        case 0: held.change { _ = $0.insert(owner.value) }
        case EAGAIN, EACCES: throw LectureError(.storeBusy, detail: "owner \(owner.value)")
        default:
            throw LectureError(.storeUnsafe, detail: Self.fileName, cause: SystemError(number: status).text)
        }
    }

    /// Whether the owner's process is alive. When in doubt it is: leases of live processes are never taken.
    ///
    /// - Parameter owner: a row of any process.
    /// - Returns: whether its byte is locked, here or elsewhere.
    package func isAlive(_ owner: OwnerID) -> Bool {
        // The kernel does not report one's own locks as conflicts.
        if held.read({ $0.contains(owner.value) }) { return true }
        return csystem_byte_is_locked(file.number, off_t(owner.value)) != 0
    }

    /// Releases an owner's byte. An owner that is not held here is left alone.
    ///
    /// - Parameter owner: a row that belongs to this process.
    package func release(_ owner: OwnerID) {
        guard held.change({ $0.remove(owner.value) }) != nil else { return }
        // It cannot fail for a lock that is held; if it did, the kernel would release it with the file.
        _ = csystem_unlock_byte(file.number, off_t(owner.value))
    }
}
