import LectureModel

/// Takes the events of an engine from any thread, and wakes the engine once per batch.
package final class Inbox<Event: Sendable>: Sendable {
    private let events = Guarded<[Event]>([])
    private let wake: @Sendable () -> Void

    /// Creates an inbox.
    ///
    /// - Parameter wake: called for the first event of a batch, on the posting thread; makes the engine's executor run
    ///   a step soon.
    package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Queues an event.
    package func post(_ event: Event) {
        let isFirst = events.withLock { events in
            events.append(event)
            return events.count == 1
        }
        if isFirst { wake() }
    }

    /// Makes the engine run a step soon, without an event.
    func setNeedsStep() { wake() }

    /// Whether no event waits.
    package var isEmpty: Bool { events.withLock { $0.isEmpty } }

    /// How many events wait.
    package var count: Int { events.withLock { $0.count } }

    /// Removes and returns all events, in their order.
    package func take() -> [Event] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Puts events back before all others, without waking the engine: a later step handles them again.
    func putBack(_ taken: [Event]) { events.withLock { $0.insert(contentsOf: taken, at: 0) } }
}
