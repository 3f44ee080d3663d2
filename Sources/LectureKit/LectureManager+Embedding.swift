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

    /// Has every event told at once, on the manager's queue, in the order of the commits.
    ///
    /// - Parameter receiver: returns soon.
    package nonisolated func observe(_ receiver: @escaping @Sendable (LectureEvent) -> Void) { hub.observe(receiver) }
}
