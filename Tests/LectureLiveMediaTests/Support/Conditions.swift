import Dispatch

/// Something that a test needs and does not get.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// Waits for what real threads, servers and encoders do. What is waited for is always a condition, never a time; the
/// limit only ends a test that would wait for ever.
enum Conditions {
    /// Looks fifty times a second, which leaves the processor to the encoders.
    static func wait(
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
        throw Missing(description: "in \(limit) there was no \(what)")
    }
}

extension AsyncSequence where Failure == Never, Element: Sendable {
    /// The first element that fits; nil at the end.
    func firstElement(where isRight: (Element) -> Bool = { _ in true }) async -> Element? {
        for await element in self where isRight(element) { return element }
        return nil
    }
}
