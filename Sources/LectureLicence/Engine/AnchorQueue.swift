import LectureModel

/// The newest anchor that is to be stored outside the store. One is stored at a time; only the newest matters.
///
///     idle ──(add)──▶ due ──(take)──▶ storing ──(stored)──▶ idle, or due
///                      ▲                 │
///                      └─(5 s)─ failed ◀─┘
///
/// A process that is killed before it is stored leaves a store that is ahead of its anchor, which is not suspicious.
struct AnchorQueue: Sendable {
    private static let pause = Duration.seconds(5)

    private var due: LedgerAnchor?
    private var isStoring = false
    private var failedAt: BootInstant?

    /// Whether a stop need not wait: everything is stored, or cannot be.
    var isSettled: Bool { failedAt != nil || due == nil && !isStoring }
    /// Whether an anchor is being stored.
    var isBusy: Bool { isStoring }

    /// A row was appended.
    mutating func add(_ anchor: LedgerAnchor) {
        if let due, due.revision > anchor.revision { return }
        due = anchor
    }

    /// An anchor was stored, or could not be.
    mutating func stored(_ error: LectureError?, at now: BootInstant) {
        isStoring = false
        if error != nil { failedAt = now }
    }

    /// Takes the anchor to store.
    ///
    /// - Parameters:
    ///   - now: the boot clock.
    ///   - wait: called with the moment of the next attempt, where the last one has failed.
    /// - Returns: nil when there is none, or it has to wait.
    mutating func take(at now: BootInstant, orWait wait: (BootInstant) -> Void) -> LedgerAnchor? {
        if let failed = failedAt {
            let again = failed + Self.pause
            if due != nil, now < again {
                wait(again)
                return nil
            }
            failedAt = nil
        }
        guard let anchor = due, !isStoring else { return nil }
        (due, isStoring) = (nil, true)
        return anchor
    }
}
