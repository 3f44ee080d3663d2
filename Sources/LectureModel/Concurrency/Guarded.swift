import Glibc

/// A value behind a lock. The only lock of this package: a `pthread_mutex_t`, since `Synchronization.Mutex` causes
/// false reports of ThreadSanitizer on Linux.
///
/// `@unchecked Sendable`: the value is only reachable inside ``withLock(_:)``, which holds the mutex; the mutex has an
/// address of its own that never changes and is destroyed with the last reference.
@safe package final class Guarded<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Puts a value behind a lock.
    ///
    /// - Parameter value: the first value.
    package init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        _ = unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Lends the value while the lock is held. Must not be nested for one lock.
    ///
    /// - Parameter body: reads and changes the value; short, never blocking.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}
