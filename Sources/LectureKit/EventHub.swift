import LectureModel

/// Gives every event to every listener, in order and without loss; a listener's unread events wait in its stream.
package final class EventHub<Event: Sendable>: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var observers: [@Sendable (Event) -> Void] = []
        var isFinished = false
    }

    private let state = Guarded(State())

    /// Without listeners.
    package init() {}

    /// A stream of what is sent from now on.
    package func stream() -> AsyncStream<Event> {
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

    /// Whether anybody listens, so that what nobody hears need not be read.
    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty } }

    /// Has every event told at once, on the thread that sends it.
    ///
    /// - Parameter receiver: returns soon.
    package func observe(_ receiver: @escaping @Sendable (Event) -> Void) {
        state.withLock { if !$0.isFinished { $0.observers.append(receiver) } }
    }

    /// Tells an event.
    package func send(_ event: Event) {
        let (listeners, observers) = state.withLock { (Array($0.listeners.values), $0.observers) }
        for listener in listeners { listener.yield(event) }
        for observer in observers { observer(event) }
    }

    /// Ends every stream; what is sent later is heard by nobody.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { (state.listeners, state.observers) = ([:], []) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }
}
