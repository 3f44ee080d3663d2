import Dispatch

/// Something that a test needs and does not get.
package struct Missing: Error, CustomStringConvertible {
    /// What it is.
    package let description: String

    /// Creates an error.
    ///
    /// - Parameter description: what it is.
    package init(_ description: String) { self.description = description }
}

/// Waits for what real threads, servers and encoders do. What is waited for is always a condition, never a time; the
/// limit only ends a test that would wait for ever.
package enum Conditions {
    /// Looks fifty times a second, which leaves the processor to the encoders.
    ///
    /// - Parameters:
    ///   - what: the condition, for the error.
    ///   - limit: when the test has failed.
    ///   - isMet: whether it is met.
    /// - Throws: ``Missing``.
    package static func wait(
        for what: String, within limit: Duration = .seconds(20), until isMet: () throws -> Bool
    ) async throws {
        let (looks, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { continuation.yield() }
        timer.schedule(deadline: .now(), repeating: .milliseconds(20))
        timer.resume()
        defer { timer.cancel() }
        let start = ContinuousClock.now
        for await _ in looks {
            if try isMet() { return }
            if ContinuousClock.now - start > limit { break }
        }
        throw Missing("in \(limit) there was no \(what)")
    }
}

extension AsyncSequence where Failure == Never, Element: Sendable {
    /// The first element that fits; nil at the end.
    ///
    /// - Parameter isRight: whether it fits.
    /// - Returns: the element.
    package func firstElement(where isRight: (Element) -> Bool = { _ in true }) async -> Element? {
        for await element in self where isRight(element) { return element }
        return nil
    }
}
