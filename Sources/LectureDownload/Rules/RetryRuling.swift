package import LectureFormats
package import LectureModel

/// What follows from an attempt that failed in a way that may be temporary.
package enum RetryRuling: Sendable, Equatable {
    /// Other transfers of the file still run: one connection fewer, and none is opened for a moment.
    case useFewer(pause: Duration)
    /// The same is tried again after a pause.
    case wait(Duration)
    /// The item goes back to the queue, since the pause is long.
    case postpone(LectureError, Duration)
    /// There were too many; the file fails alone.
    case failResource(LectureError)
    /// There were too many; the network is out of reach, and the item is stopped for this long.
    case stopForNetwork(LectureError, Duration)
    /// There were too many; the item fails.
    case failItem(LectureError)

    /// The word for the attempt's row.
    package var decision: Decision {
        switch self {
        case .useFewer, .wait, .postpone: .retry
        case .failResource, .stopForNetwork, .failItem: .failed
        }
    }
}

/// An attempt without progress, as values: all that decides what follows from it.
package struct FailedAttempt: Sendable, Equatable {
    /// How long an item rests when the network is out of reach.
    private static let networkPause = Duration.seconds(60)

    /// Why it failed.
    package var error: LectureError
    /// How many failed in a row, with this one.
    package var failures: Int
    /// Whether it is one of a file without which the lecture is complete.
    package var isOptional = false
    /// Whether other transfers of the same file run.
    package var othersRun = false
    /// How many may fail in a row.
    package var limit: Int
    /// A longer wait frees the item's job slot.
    package var longestHeldWait: Duration

    /// Describes an attempt.
    ///
    /// - Parameters:
    ///   - error: why it failed.
    ///   - failures: how many failed in a row, with this one.
    ///   - settings: the limits.
    package init(_ error: LectureError, failures: Int, settings: DownloadSettings) {
        self.error = error
        self.failures = failures
        limit = settings.maxAttempts
        longestHeldWait = settings.longestHeldWait
    }

    /// What follows.
    ///
    /// - Parameter random: 64 random bits, for a pause.
    /// - Returns: the ruling.
    package func ruling(random: () -> UInt64) -> RetryRuling {
        if othersRun { return .useFewer(pause: Backoff().delay(failures: 1, random: random())) }
        if failures >= limit {
            if isOptional { return .failResource(error) }
            return error.isNetworkFailure ? .stopForNetwork(error, Self.networkPause) : .failItem(error)
        }
        let delay = Backoff().delay(failures: failures, random: random())
        return delay > longestHeldWait ? .postpone(error, delay) : .wait(delay)
    }
}

/// What follows from a server's request to wait.
package enum WaitRuling: Sendable, Equatable {
    /// Another server is used meanwhile.
    case turnToMirror
    /// The next transfer waits this long.
    case hold(Duration)
    /// The item is stopped for this long.
    case stop(LectureError, Duration)
    /// The file fails alone.
    case failResource(LectureError)
    /// There were too many; the item fails.
    case failItem(LectureError)

    /// The word for the attempt's row.
    package var decision: Decision {
        switch self {
        case .turnToMirror: .mirror
        case .hold, .stop: .wait
        case .failResource, .failItem: .failed
        }
    }
}

/// A server's request to wait, as values: all that decides what follows from it.
package struct RequestedWait: Sendable, Equatable {
    /// The time the server named; nil when it named none.
    package var wait: RetryAfter?
    /// The HTTP status.
    package var status: Int
    /// The server's name, for errors.
    package var host: String
    /// How many attempts failed in a row, with this one.
    package var failures: Int
    /// Whether a gateway's loader was asked to wait, and no file.
    package var isLoader = false
    /// Whether a file was, without which the lecture is complete.
    package var isOptional = false
    /// Whether another server can be used instead.
    package var hasMirror = false
    /// Whether other transfers of the item run.
    package var othersRun = false
    /// How many attempts may fail in a row. A server that asks to wait may do so twice as often.
    package var limit: Int
    /// A longer wait frees the item's job slot.
    package var longestHeldWait: Duration

    /// Describes a wait.
    ///
    /// - Parameters:
    ///   - wait: the time the server named.
    ///   - status: the HTTP status.
    ///   - host: the server's name.
    ///   - failures: how many attempts failed in a row, with this one.
    ///   - settings: the limits.
    package init(_ wait: RetryAfter?, status: Int, host: String, failures: Int, settings: DownloadSettings) {
        self.wait = wait
        self.status = status
        self.host = host
        self.failures = failures
        limit = settings.maxAttempts
        longestHeldWait = settings.longestHeldWait
    }

    /// What follows.
    ///
    /// - Parameter random: 64 random bits, for the pause.
    /// - Returns: the ruling.
    package func ruling(random: () -> UInt64) -> WaitRuling {
        let backoff = Backoff().delay(failures: failures, random: random())
        // A repeated wait of zero is not obeyed literally.
        let delay = max(wait?.delay ?? .zero, backoff)
        let isLong = delay > longestHeldWait
        if isLong, hasMirror { return .turnToMirror }
        let error = LectureError(.status(status), detail: host)
        if isOptional, isLong || failures > limit { return .failResource(error) }
        if failures > limit * 2 { return .failItem(error) }
        if isLong, !othersRun { return .stop(LectureError(.serverWait, detail: host), delay) }
        // With others running, the item is stopped when the last has ended and the server still asks to wait.
        return .hold(isLoader ? delay : min(delay, longestHeldWait))
    }
}

/// What follows when the version being built has wrong bytes.
package enum RestartRuling: Sendable, Equatable {
    /// It happened too often: the item fails.
    case failItem(LectureError)
    /// The gateway is asked, which may describe other bytes.
    case askGateway
    /// The same files are fetched again.
    case fetchAgain

    /// The word for the attempt's row.
    package var decision: Decision {
        switch self {
        case .failItem: .failed
        case .askGateway, .fetchAgain: .restart
        }
    }
}

/// A version that is discarded, as values: all that decides what follows from it.
package struct DiscardedVersion: Sendable, Equatable {
    /// How many are discarded in one claim.
    private static let limit = 3

    /// Why it is discarded.
    package var error: LectureError
    /// How many were, with this one.
    package var count: Int
    /// Whether its source is a gateway.
    package var isGateway: Bool
    /// Whether one of its URLs served other bytes than the rest: the gateway would only name it again.
    package var urlsDisagree: Bool

    /// Describes a version.
    package init(because error: LectureError, count: Int, isGateway: Bool, urlsDisagree: Bool) {
        self.error = error
        self.count = count
        self.isGateway = isGateway
        self.urlsDisagree = urlsDisagree
    }

    /// What follows.
    package var ruling: RestartRuling {
        if count > Self.limit { return .failItem(error) }
        return isGateway && !urlsDisagree ? .askGateway : .fetchAgain
    }
}
