/// Limits concurrency: two cores are soon overloaded.
package actor Turnstile {
    /// One for the whole process.
    package static let shared = Turnstile(24)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Makes a turnstile.
    ///
    /// - Parameter width: how many may be inside at once.
    package init(_ width: Int) { free = width }

    /// Waits for a slot, runs the body, and releases the slot.
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
