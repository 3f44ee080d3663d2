package import LectureModel

/// The numbers of a process's exchanges. All that use one transport share one of these, so that no two exchanges have
/// the same number. A number is never used again, even if the step that took it fails.
package final class TransferNumbers: Sendable {
    private let last = Guarded<UInt64>(0)

    /// Creates numbers from 1.
    package init() {}

    /// The next number. From any thread.
    package func next() -> TransferID {
        last.withLock { last in
            last += 1
            return TransferID(last)
        }
    }
}
