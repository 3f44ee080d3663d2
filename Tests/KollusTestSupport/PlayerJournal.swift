import LectureModel

/// The calls of a player's delegates as an application sees them, in order; a test waits for entries instead of
/// sleeping.
package final class PlayerJournal: Sendable {
    private struct Waiter {
        let passes: @Sendable ([String]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var entries: [String] = []
        var waiters: [Waiter] = []
    }

    private let state = Guarded(State())

    /// An empty journal.
    package init() {}

    /// Everything so far.
    package var entries: [String] { state.withLock { $0.entries } }

    /// Adds an entry.
    package func record(_ entry: String) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let ready = state.waiters.filter { $0.passes(state.entries) }
            state.waiters.removeAll { $0.passes(state.entries) }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns once there is an entry; a suite's time limit ends the wait.
    package func until(_ entry: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.entries.contains(entry) { return true }
                state.waiters.append(Waiter(passes: { $0.contains(entry) }, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
