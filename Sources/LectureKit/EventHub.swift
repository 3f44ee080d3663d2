import LectureModel

/// Gives every event to every listener, in order and without loss; a listener's unread events wait in its stream.
final class EventHub: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<LectureEvent>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Guarded(State())

    func stream() -> AsyncStream<LectureEvent> {
        AsyncStream { continuation in
            let id = state.withLock { state -> Int? in
                if state.isFinished { return nil }
                state.next += 1
                state.listeners[state.next] = continuation
                return state.next
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners[id] = nil }
            }
        }
    }

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    func send(_ event: LectureEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(event) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
