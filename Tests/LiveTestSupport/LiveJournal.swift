import LectureModel

/// What a test has seen, in order; a test waits for a line.
public final class LiveJournal: Sendable {
    private struct State {
        var lines: [String] = []
        var waiters: [(line: String, count: Int, waiter: Waiter<Void>)] = []
    }

    private let state = Guarded(State())

    /// Creates an empty journal.
    public init() {}

    /// What was seen.
    public var lines: [String] { state.withLock { $0.lines } }

    /// Adds a line.
    public func record(_ line: String) {
        let ready = state.withLock { state -> [Waiter<Void>] in
            state.lines.append(line)
            let count = state.lines.count { $0 == line }
            defer { state.waiters.removeAll { $0.line == line && $0.count <= count } }
            return state.waiters.filter { $0.line == line && $0.count <= count }.map(\.waiter)
        }
        for waiter in ready { waiter.answer(()) }
    }

    /// Waits until a line was seen.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - count: how often.
    /// - Throws: when the test was cancelled.
    public func wait(for line: String, count: Int = 1) async throws {
        let waiter = Waiter<Void>()
        state.withLock { state in
            if state.lines.count(where: { $0 == line }) >= count {
                waiter.answer(())
            } else {
                state.waiters.append((line, count, waiter))
            }
        }
        try await waiter.value()
    }
}
