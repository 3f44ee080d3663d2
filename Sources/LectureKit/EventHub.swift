import LectureModel

/// Delivers every event to every listener, in order and without loss; a listener's unread events wait in its stream.
package final class EventHub<Event: Sendable>: Sendable {
    private struct Listener {
        var continuation: AsyncStream<Event>.Continuation
        var hearsCostly: Bool
    }

    private struct Observer {
        var receiver: @Sendable (Event) -> Void
        var hearsCostly: Bool
    }

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        var observers: [Observer] = []
        var isFinished = false
    }

    private let state = Guarded(State())

    /// Creates a hub without listeners.
    package init() {}

    /// A stream of what is sent from now on.
    ///
    /// - Parameter hearsCostly: whether it also gets events that are costly to determine.
    /// - Returns: a stream of its own.
    package func stream(hearsCostly: Bool = true) -> AsyncStream<Event> {
        AsyncStream { continuation in
            let id = state.withLock { state -> Int? in
                if state.isFinished { return nil }
                state.next += 1
                state.listeners[state.next] = Listener(continuation: continuation, hearsCostly: hearsCostly)
                return state.next
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners[id] = nil }
            }
        }
    }

    /// Whether there are listeners; without them events need not be determined.
    package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty } }

    /// Whether any listener gets events that are costly to determine.
    package var hasCostlyListeners: Bool {
        state.withLock { state in
            state.observers.contains(where: \.hearsCostly) || state.listeners.values.contains(where: \.hearsCostly)
        }
    }

    /// Delivers every event at once, on the thread that sends it.
    ///
    /// - Parameters:
    ///   - hearsCostly: whether it also gets events that are costly to determine.
    ///   - receiver: returns soon.
    package func observe(hearsCostly: Bool = true, _ receiver: @escaping @Sendable (Event) -> Void) {
        let observer = Observer(receiver: receiver, hearsCostly: hearsCostly)
        state.withLock { if !$0.isFinished { $0.observers.append(observer) } }
    }

    /// Sends an event.
    ///
    /// - Parameters:
    ///   - event: what has become true.
    ///   - isCostly: whether only listeners that want costly events get it.
    package func send(_ event: Event, isCostly: Bool = false) {
        let (listeners, observers) = state.withLock { (Array($0.listeners.values), $0.observers) }
        for listener in listeners where listener.hearsCostly || !isCostly { listener.continuation.yield(event) }
        for observer in observers where observer.hearsCostly || !isCostly { observer.receiver(event) }
    }

    /// Ends every stream; later events are dropped.
    package func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { (state.listeners, state.observers) = ([:], []) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
