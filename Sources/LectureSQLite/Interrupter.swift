import CSQLite
import Glibc

/// Interrupts the running statement of a connection from another thread; it fails with `interrupted`.
///
/// `@unchecked Sendable`: the handle is read and cleared only under the lock, and its connection clears it here before
/// it closes, so `sqlite3_interrupt`, which SQLite allows from any thread, never sees a closed connection.
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

    /// Interrupts the running statement; does nothing when none runs or the connection is closed.
    package func interrupt() {
        unsafe pthread_mutex_lock(lock)
        if let handle = unsafe handle { unsafe sqlite3_interrupt(handle) }
        unsafe pthread_mutex_unlock(lock)
    }

    /// Clears the handle; called by the connection before it closes.
    func forget() {
        unsafe pthread_mutex_lock(lock)
        unsafe handle = nil
        unsafe pthread_mutex_unlock(lock)
    }
}
