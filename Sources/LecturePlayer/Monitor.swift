import Glibc

/// A value behind a lock, and a condition that threads wait for.
///
/// `@unchecked Sendable`: the value is only used while the lock is held.
@safe final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Lends the value while the lock is held; short, never blocking.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Changes the value and wakes the threads that wait.
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        withLock { value in
            defer { unsafe pthread_cond_broadcast(condition) }
            return body(&value)
        }
    }

    /// Waits until there is a result. Not on a thread of Swift's pool.
    func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) { return result }
            // proof: libmpv's thread asks for bytes by a function that has to wait for them.
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
