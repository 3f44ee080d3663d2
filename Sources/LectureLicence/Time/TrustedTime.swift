package import LectureModel

/// What can be said about the time.
package enum TrustedTime: Hashable, Sendable {
    /// It is this time.
    case known(Timestamp)
    /// It is no earlier than this, and more is not known, because of this doubt.
    case doubtful(noEarlierThan: Timestamp?, ClockDoubt)

    /// The earliest time it can be.
    package var noEarlierThan: Timestamp? {
        switch self {
        case .known(let time): time
        case .doubtful(let time, _): time
        }
    }

    /// Whether a right that ends may rest on it.
    package var isTrusted: Bool {
        switch self {
        case .known: true
        case .doubtful: false
        }
    }
}

/// Why a clock is not believed. Stored, so the raw values are frozen.
package enum ClockDoubt: Int, Sendable, CaseIterable {
    /// The wall clock stands before a time that was already trusted.
    case setBack = 1
    /// The wall clock was ahead and came back.
    case forwardThenBack = 2
    /// The wall clock stands before this program was written: a board without a battery, not yet told the time.
    case neverSet = 3
    /// The store is an older copy than the one this device last wrote.
    case storeRolledBack = 4
    /// The store was written by another device.
    case storeCopied = 5
    /// A row of the time ledger was changed.
    case ledgerForged = 6
}
