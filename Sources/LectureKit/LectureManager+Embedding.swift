import Dispatch
package import LectureModel

/// For the faces of the library that are not asynchronous.
extension LectureManager {
    /// Runs a question or a wish on the manager's queue and waits for it. Not to be called on that queue.
    ///
    /// - Parameter body: short, since every other call waits for it.
    /// - Returns: what the body returns.
    package nonisolated func wait<Result: Sendable>(
        _ body: @Sendable (isolated LectureManager) throws -> Result
    ) rethrows -> Result {
        try executor.queue.sync { try assumeIsolated { try body($0) } }
    }

    /// As ``events``, without ``LectureEvent/reportExchange(_:)``: for who sends many reports and shows only sums.
    package nonisolated var eventsWithoutExchanges: AsyncStream<LectureEvent> { hub.stream(hearsCostly: false) }

    /// Has every event told at once, on the manager's queue, in the order of the commits.
    ///
    /// - Parameter receiver: gets the manager as well, since it is on its queue; returns soon.
    package nonisolated func observe(_ receiver: @escaping @Sendable (isolated LectureManager, LectureEvent) -> Void) {
        hub.observe { [weak self] event in self?.assumeIsolated { receiver($0, event) } }
    }

    /// Whether a content was last asked to be fetched, by whichever process.
    ///
    /// - Parameter key: the content.
    /// - Returns: false when it is not known.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func isWanted(_ key: ContentKey) throws -> Bool { try index.item(key)?.desire == .fetch }

    /// A text that a face of the library keeps in the store.
    ///
    /// - Parameter name: its name, with the face's own beginning.
    /// - Returns: nil when there is none.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func note(_ name: String) throws -> String? { try index.setting(name) }

    /// Keeps a text, or forgets it.
    ///
    /// - Parameters:
    ///   - name: its name, with the face's own beginning.
    ///   - text: nil forgets it.
    /// - Throws: ``LectureError`` when the store cannot be written.
    package func setNote(_ name: String, _ text: String?) throws {
        try index.transaction { try index.setSetting(name, text) }
    }

    /// The device that this store's licences are bound to.
    ///
    /// - Throws: ``LectureError`` with `configuration` when nothing names a place for the key.
    package func deviceHome() throws -> DeviceHome { try configuration.deviceHome() }
}
