import CSQLite
import Glibc

/// Ends the running statement of a connection from another thread; the statement fails with `interrupted`.
///
/// `@unchecked Sendable`: the handle is read and forgotten only under the lock, and its connection forgets it here
/// before it closes, so `sqlite3_interrupt`, which SQLite allows from any thread, never meets a closed connection.
@safe package final class Interrupter: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var handle: OpaquePointer?

    init(borrowing handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
        unsafe lock = .allocate(capacity: 1)
        unsafe lock.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(lock, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(lock)
        unsafe lock.deallocate()
    }

    /// Ends what runs now; does nothing when nothing runs or the connection is closed.
    package func interrupt() {
        unsafe pthread_mutex_lock(lock)
        if let handle = unsafe handle { unsafe sqlite3_interrupt(handle) }
        unsafe pthread_mutex_unlock(lock)
    }

    /// Lets go of the handle; called by the connection before it closes.
    func forget() {
        unsafe pthread_mutex_lock(lock)
        unsafe handle = nil
        unsafe pthread_mutex_unlock(lock)
    }
}
