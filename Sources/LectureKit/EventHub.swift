import LectureModel

/// Gives every event to every listener, in order and without loss; a listener's unread events wait in its stream.
final class EventHub: Sendable {
    private struct Listener {
        var continuation: AsyncStream<LectureEvent>.Continuation
        var hearsReports: Bool
    }

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        var observers: [@Sendable (LectureEvent) -> Void] = []
        var isFinished = false
    }

    private let state = Guarded(State())

    /// Makes a stream of its own.
    ///
    /// - Parameter hearsReports: whether it is told ``LectureEvent/reportExchange(_:)``, which costs something.
    /// - Returns: the stream.
    func stream(hearsReports: Bool = true) -> AsyncStream<LectureEvent> {
        AsyncStream { continuation in
            let id = state.withLock { state -> Int? in
                if state.isFinished { return nil }
                state.next += 1
                state.listeners[state.next] = Listener(continuation: continuation, hearsReports: hearsReports)
                return state.next
            }
            guard let id else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.listeners[id] = nil }
            }
        }
    }

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty || !$0.observers.isEmpty } }

    /// Whether anybody is told ``LectureEvent/reportExchange(_:)``.
    var hasReportListeners: Bool {
        state.withLock { state in !state.observers.isEmpty || state.listeners.values.contains(where: \.hearsReports) }
    }

    /// Has every event told at once, on the thread that sends it.
    func observe(_ receiver: @escaping @Sendable (LectureEvent) -> Void) {
        state.withLock { if !$0.isFinished { $0.observers.append(receiver) } }
    }

    func send(_ event: LectureEvent) {
        let (listeners, observers) = state.withLock { (Array($0.listeners.values), $0.observers) }
        let isOfReports = if case .reportExchange = event { true } else { false }
        for listener in listeners where listener.hearsReports || !isOfReports { listener.continuation.yield(event) }
        for observer in observers { observer(event) }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { (state.listeners, state.observers) = ([:], []) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.continuation.finish() }
    }
}
