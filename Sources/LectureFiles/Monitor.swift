import Glibc

/// A value behind a lock, with a condition to wait on.
///
/// Over `pthread_mutex_t`, because ThreadSanitizer does not understand `Synchronization.Mutex` on Linux and because the
/// latter has no condition. `@unchecked Sendable`: the value is touched only with the mutex held.
@safe package final class Monitor<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var value: Value

    /// Creates an unlocked monitor.
    ///
    /// - Parameter value: the first value.
    package init(_ value: Value) {
        self.value = value
        // The C library keeps the addresses, so both live on the heap and never move.
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Reads or changes the value and wakes all waiters.
    ///
    /// - Parameter body: short, and calls nothing that takes this lock.
    /// - Returns: what `body` returns.
    package func change<Answer>(_ body: (inout Value) -> Answer) -> Answer {
        // Woken after the lock is free, which they take first. The caller keeps the object alive.
        defer { unsafe pthread_cond_broadcast(condition) }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }

    /// Reads the value without waking waiters.
    ///
    /// - Parameter body: short, and calls nothing that takes this lock.
    /// - Returns: what `body` returns.
    package func read<Answer>(_ body: (Value) -> Answer) -> Answer {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(value)
    }

    /// Blocks the thread until `body` returns a value. On the cooperative pool only where what ends the wait needs none
    /// of the pool's threads.
    ///
    /// - Parameter body: short; called once at first and again after every change; nil means wait.
    /// - Returns: what `body` returns.
    package func wait<Answer>(for body: (inout Value) -> Answer?) -> Answer {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let answer = body(&value) { return answer }
            // proof: the transport's thread waits here for memory, a thread of a file for the sync of its directory,
            // what makes a bundle for the thread that writes it; each change wakes all of them.
            unsafe pthread_cond_wait(condition, mutex)
        }
    }
}
