package import LectureModel

extension OriginPacer {
    /// What the end of a request says about its origin.
    package enum Outcome: Hashable, Sendable {
        /// The origin served it.
        case served
        /// The origin is overloaded: 429, 503, a refused connection.
        case overloaded
        /// It did not answer in time.
        case timedOut
        /// It could not be reached, or did not answer in full.
        case failed
        /// It answered, but not with what was asked for: that says nothing about requests of another kind.
        case unusable
        /// Nothing: cancelled by this side, or a failure that has other reasons.
        case neutral

        /// Whether there was no answer, so that requests of other kinds would have failed, too.
        var isMissingAnswer: Bool { self == .timedOut || self == .failed }
    }

    /// What differs between kinds of traffic.
    package struct Rules: Hashable, Sendable {
        /// Requests at once to one origin.
        package var window: Window
        /// Requests a second to one origin; nil for any number.
        package var rate: Rate?
        /// When failures end all requests for a while; nil for never.
        package var breaker: Breaker?
        /// Requests at once to all origins of one host, at least 1.
        package var perHost: Int
        /// Requests at once to all origins, at least 1.
        package var total: Int
        /// Requests at once to an origin that carries them as streams of one connection; not fewer than the window's
        /// maximum.
        package var streams = 0
        /// Requests at once to an origin that is far, and to its host; see ``TrafficPacer/located(_:isFar:)``. Nothing
        /// changes where this is not more than the window's maximum, and ``perHost``.
        package var far = 0

        /// Creates rules.
        ///
        /// - Parameters:
        ///   - window: requests at once to one origin.
        ///   - rate: requests a second to one origin; nil for any number.
        ///   - breaker: when failures end all requests for a while; nil for never.
        ///   - perHost: requests at once to all origins of one host.
        ///   - total: requests at once to all origins.
        package init(
            window: Window, rate: Rate? = nil, breaker: Breaker? = nil, perHost: Int = .max, total: Int = .max
        ) {
            (self.window, self.rate, self.breaker) = (window, rate, breaker)
            (self.perHost, self.total) = (max(1, perHost), max(1, total))
        }
    }

    /// How a request travels.
    package enum Carrier: Hashable, Sendable {
        /// On a connection of its own.
        case connection
        /// As a stream of a connection, if the origin takes several on one (RFC 9113 section 5).
        case stream
    }

    /// How many requests run at once: one more after a whole window of answers, half after an overload; see
    /// ``OriginPace``.
    package struct Window: Hashable, Sendable {
        /// At first.
        package var initial: Int
        /// At the most.
        package var maximum: Int
        /// What halves it.
        package var halvedBy: Set<Outcome>
        /// Whether it grows with every answer until it is halved for the first time.
        package var doublesAtFirst = false

        /// Creates a window.
        ///
        /// - Parameters:
        ///   - initial: requests at once at first, at least 1.
        ///   - maximum: requests at once at the most, at least 1.
        ///   - halvedBy: what halves it.
        package init(initial: Int, maximum: Int, halvedBy: Set<Outcome>) {
            (self.initial, self.maximum, self.halvedBy) = (max(1, initial), max(1, maximum), halvedBy)
        }

        /// The same for an origin that carries requests as streams.
        func carrying(streams: Int) -> Self {
            var window = self
            window.maximum = max(maximum, streams)
            return window
        }

        /// The same for an origin that is far.
        func reaching(far: Int) -> Self {
            var window = self
            window.maximum = max(maximum, far)
            return window
        }

        /// A window that never changes.
        ///
        /// - Parameter count: requests at once.
        /// - Returns: the window.
        package static func fixed(_ count: Int) -> Self { Self(initial: count, maximum: count, halvedBy: []) }
    }

    /// How many requests start a second: they are spaced evenly (GCRA), and late ones may catch up.
    package struct Rate: Hashable, Sendable {
        /// How far late requests may catch up.
        package enum Burst: Hashable, Sendable {
            /// This number of requests may start together.
            case requests(Int)
            /// What the rate gives in this many seconds, less one request: in no second more than the rate and this
            /// share of it start.
            case seconds(Double)
        }

        /// Requests a second at first. Infinite for any number, as far as the maximum permits it, until a failure shows
        /// what the origin serves: the rate is then half of what it has served in the second before.
        package var initial: Double
        /// Requests a second at the least.
        package var minimum: Double
        /// Requests a second at the most; infinite for any number.
        package var maximum: Double
        /// By how many requests a second the rate grows in a second of good answers; more after a high rate was halved.
        package var growth: Double
        /// How far late requests may catch up.
        package var burst: Burst
        /// What halves it.
        package var halvedBy: Set<Outcome>

        /// Creates a rate.
        ///
        /// - Parameters:
        ///   - initial: requests a second at first; infinite for any number.
        ///   - minimum: requests a second at the least; more than 0.
        ///   - maximum: requests a second at the most; infinite for any number.
        ///   - growth: by how many requests a second it grows in a second of good answers.
        ///   - burst: how far late requests may catch up.
        ///   - halvedBy: what halves it.
        package init(
            initial: Double, minimum: Double, maximum: Double, growth: Double, burst: Burst, halvedBy: Set<Outcome>
        ) {
            (self.initial, self.minimum, self.maximum, self.growth) = (initial, minimum, maximum, growth)
            (self.burst, self.halvedBy) = (burst, halvedBy)
        }

        /// A rate that never changes.
        ///
        /// - Parameters:
        ///   - rate: requests a second; more than 0.
        ///   - burst: how many may start together, at least 1.
        /// - Returns: the rate.
        package static func fixed(_ rate: Double, burst: Int) -> Self {
            Self(initial: rate, minimum: rate, maximum: rate, growth: 0, burst: .requests(max(1, burst)), halvedBy: [])
        }
    }

    /// When failures end all requests, and for how long.
    package struct Breaker: Hashable, Sendable {
        /// Failures in a row that open it.
        package var failures: Int
        /// How long it stays open, by how often in a row it has opened.
        package var backoff: Backoff
        /// Whether half of that is fixed and only the other half random: a probe right after a failure shows nothing.
        package var isHalfFixed: Bool
        /// Whether a probe waits for the requests that still run, so that only one runs at a time.
        package var probesAlone: Bool

        /// Creates a breaker.
        ///
        /// - Parameters:
        ///   - failures: failures in a row that open it, at least 1.
        ///   - backoff: how long it stays open.
        ///   - isHalfFixed: whether half of that is fixed.
        ///   - probesAlone: whether a probe waits for the requests that still run.
        package init(failures: Int, backoff: Backoff, isHalfFixed: Bool, probesAlone: Bool) {
            (self.failures, self.backoff) = (max(1, failures), backoff)
            (self.isHalfFixed, self.probesAlone) = (isHalfFixed, probesAlone)
        }

        func delay(openings: Int, random: UInt64) -> Duration {
            guard isHalfFixed else { return backoff.delay(failures: openings, random: random) }
            let half = backoff.ceiling(failures: openings) / 2
            return half + Backoff(base: half, cap: half).delay(failures: 1, random: random)
        }
    }
}
