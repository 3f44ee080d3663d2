package import LectureModel

/// Steps that could not be committed, in a row: the next attempt is due after 2, 4, 8 … up to 60 seconds.
package struct FailedSteps: Sendable, Equatable {
    /// After this many failed steps in a row nothing should wait for the store.
    package static let patience = 3
    private var count = 0
    /// When the next attempt is due; nil without a failure, or when it was made.
    package private(set) var retry: BootInstant?

    /// No step has failed.
    package init() {}

    /// Whether it happens repeatedly, so that no caller should wait for a commit.
    package var isRepeated: Bool { count >= Self.patience }

    /// Whether the last step has failed.
    package var isFailing: Bool { count > 0 }

    /// An attempt begins.
    package mutating func began() { retry = nil }

    /// A step was committed, or the next one is to be made at once.
    package mutating func reset() { (count, retry) = (0, nil) }

    /// A step could not be committed.
    ///
    /// - Parameter boot: the boot clock.
    /// - Returns: when the next attempt is due.
    @discardableResult
    package mutating func failed(at boot: BootInstant) -> BootInstant {
        count += 1
        let until = boot + .seconds(min(60, 1 << min(count, 6)))
        retry = until
        return until
    }
}
