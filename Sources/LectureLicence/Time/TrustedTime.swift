package import LectureModel

/// What is known about the time.
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

    /// Whether the end of a right may depend on it.
    package var isTrusted: Bool {
        switch self {
        case .known: true
        case .doubtful: false
        }
    }
}
