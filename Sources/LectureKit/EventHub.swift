import LectureModel

/// Gives every event to every listener, in order and without loss; a listener's unread events wait in its stream.
final class EventHub: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<LectureEvent>.Continuation] = [:]
        var observers: [@Sendable (LectureEvent) -> Void] = []
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

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty } }

    /// Has every event told at once, on the thread that sends it.
    func observe(_ receiver: @escaping @Sendable (LectureEvent) -> Void) {
        state.withLock { if !$0.isFinished { $0.observers.append(receiver) } }
    }

    func send(_ event: LectureEvent) {
        let (listeners, observers) = state.withLock { (Array($0.listeners.values), $0.observers) }
        for listener in listeners { listener.yield(event) }
        for observer in observers { observer(event) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { (state.listeners, state.observers) = ([:], []) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
