import Dispatch
package import LectureModel
import LectureStore

/// For the interfaces of the library that are not asynchronous.
extension LectureManager {
    /// Runs a query or a request on the manager's queue and waits for it. Must not be called on that queue.
    ///
    /// - Parameter body: short, since every other call waits for it.
    /// - Returns: what the body returns.
    package nonisolated func wait<Result: Sendable>(
        _ body: @Sendable (isolated LectureManager) throws -> Result
    ) rethrows -> Result {
        try core.wait { try assumeIsolated { try body($0) } }
    }

    /// As ``events``, without ``LectureEvent/reportExchange(_:)``: for callers that send many reports and show only
    /// totals.
    package nonisolated var eventsWithoutExchanges: AsyncStream<LectureEvent> { hub.stream(hearsCostly: false) }

    /// Delivers every event at once, on the manager's queue, in the order of the commits.
    ///
    /// - Parameter receiver: gets the manager as well, since it runs on its queue; returns soon.
    package nonisolated func observe(_ receiver: @escaping @Sendable (isolated LectureManager, LectureEvent) -> Void) {
        hub.observe { [weak self] event in self?.assumeIsolated { receiver($0, event) } }
    }

    /// What was written up to now without an event: by other processes, and by calls.
    ///
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func writesWithoutEvents() throws -> WritesWithoutEvents {
        WritesWithoutEvents(
            others: try index.dataVersion(), calls: index.changeCount - (core.state.host?.changesInSteps ?? 0))
    }

    /// A text that an interface of the library keeps in the store.
    ///
    /// - Parameter name: its name, with the interface's own prefix.
    /// - Returns: nil when there is none.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func note(_ name: String) throws -> String? { try index.settings.value(of: name) }

    /// Stores a text, or deletes it.
    ///
    /// - Parameters:
    ///   - name: its name, with the interface's own prefix.
    ///   - text: nil deletes it.
    /// - Throws: ``LectureError`` when the store cannot be written.
    package func setNote(_ name: String, _ text: String?) throws {
        try index.transaction { try $0.index.settings.set(name, text) }
    }

    /// The device that this store's licences are bound to.
    ///
    /// - Throws: ``LectureError`` with `configuration` when no location for the key is configured.
    package func deviceHome() throws -> DeviceHome { try configuration.deviceHome() }
}

/// Identifies what was written to a store without an event. As long as it is the same, what was read from the store is
/// true, apart from what events have reported since.
package struct WritesWithoutEvents: Hashable, Sendable {
    /// The version of the data, which each commit of another process changes.
    let others: Int64
    /// How many rows were changed outside the steps of the loop.
    let calls: Int64
}
