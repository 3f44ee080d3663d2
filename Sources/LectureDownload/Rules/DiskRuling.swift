package import LectureModel

/// What follows when a part file cannot be written or read.
package enum DiskRuling: Sendable, Equatable {
    /// It is closed, since the item is ending: transfers may be waiting for it.
    case close
    /// Waiting would not help: the item fails.
    case failItem(LectureError)
    /// The part file is gone: its chunks are fetched again, nothing else is lost.
    case fetchAgain
    /// The item is stopped for this long.
    case stop(LectureError, Duration)
}

/// A failure of a part file, as values: all that decides what follows from it.
package struct DiskFailure: Sendable, Equatable {
    /// How long an item rests after a failure of the disk.
    private static let pause = Duration.seconds(30)

    /// What failed.
    package var error: LectureError
    /// Whether the item is ending.
    package var isEnding = false
    /// Whether the file has committed chunks.
    package var hasCommitted = false

    /// Describes a failure.
    package init(_ error: LectureError) { self.error = error }

    /// What follows.
    package var ruling: DiskRuling {
        if isEnding { return .close }
        // Not transient: waiting for disk space would not help.
        if error.code == .bug || error.code == .cryptography { return .failItem(error) }
        if error.code == .damaged, hasCommitted { return .fetchAgain }
        return .stop(error, Self.pause)
    }
}

/// What follows when the digest of a whole file is not the one it must have.
package enum WrongWholeRuling: Sendable, Equatable {
    /// The file fails alone.
    case failResource
    /// These URLs are not used again, and the version is fetched again.
    case fetchWithout([URLLeaseID])
    /// The version is fetched again.
    case fetchAgain
    /// The item fails.
    case failItem
}

/// A file whose digest is wrong, as values: all that decides what follows from it. With several servers it is unknown
/// which one sent the wrong bytes: the next attempt uses only the first. A single server that was wrong is not used
/// again, unless parallel ranges may have come from several servers behind its address.
package struct WrongWhole: Sendable, Equatable {
    /// Whether the lecture is complete without the file.
    package var isOptional = false
    /// The URLs that are not used again; nil when no other would be left.
    package var suspects: [URLLeaseID]?
    /// Whether a version was discarded before.
    package var wasRestarted = false
    /// Whether fetching it again may give other bytes.
    package var mayBeBetterNextTime = false

    /// Describes the only file of a server that has nothing else.
    package init() {}

    /// What follows.
    package var ruling: WrongWholeRuling {
        if isOptional { return .failResource }
        if let suspects { return .fetchWithout(suspects) }
        return wasRestarted || !mayBeBetterNextTime ? .failItem : .fetchAgain
    }
}
