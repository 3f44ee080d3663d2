import Glibc
import LectureModel

/// Something that happens once, awaited by tasks and by threads.
///
/// `@unchecked Sendable`: semaphores are thread-safe, and this one keeps its address from `init` to `deinit`.
@safe final class Signal: @unchecked Sendable {
    private struct State {
        var isRaised = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Raises the signal; again does nothing more.
    func raise() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isRaised = true
            return state.waiters
        }
        unsafe sem_post(semaphore)
        for waiter in waiters { waiter.resume() }
    }

    /// Waits in a task.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isRaised = state.withLock { state in
                if !state.isRaised { state.waiters.append(continuation) }
                return state.isRaised
            }
            if isRaised { continuation.resume() }
        }
    }

    /// Waits in a thread.
    func waitBlocking() {
        while unsafe sem_wait(semaphore) != 0 {}
        // For the next waiter.
        unsafe sem_post(semaphore)
    }
}
