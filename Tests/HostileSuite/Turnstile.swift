/// Lets only some pass at once: two cores are soon crowded.
package actor Turnstile {
    /// One for the whole process.
    package static let shared = Turnstile(6)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A turnstile.
    ///
    /// - Parameter width: how many may be inside at once.
    package init(_ width: Int) { free = width }

    /// Waits for a place, does something, and gives the place back.
    ///
    /// - Parameter body: what to do.
    /// - Returns: its result.
    /// - Throws: what it throws.
    package nonisolated func pass<Result: Sendable>(_ body: @Sendable () async throws -> Result) async rethrows
        -> Result
    {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
