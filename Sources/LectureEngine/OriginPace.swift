import LectureModel

/// How many requests to an origin run at once and how many start a second, of an ``OriginPacer``. As in the congestion
/// control of RFC 5681 there are two phases, for each of the two numbers:
///
///     searching ──── first failure: half of what was in use ────▶ steady ──┐ grows by a fixed step;
///      at once: one more with every answer, so that it doubles     ▲       │ half at a failure
///      a second: any number up to the user's limit                 └───────┘
///
/// Which of them a failure halves is in the ``OriginPacer/Rules``. An origin that refuses nothing is asked as fast as
/// it answers, and one that refuses is found out within a few answers: what is in use then is its limit. Windows that
/// are not ``OriginPacer/Window/doublesAtFirst``, and rates that begin with a number, are steady from the beginning.
struct OriginPace: Hashable {
    /// The rate grows to what it was before the last halving in this many seconds, unless its rules say faster.
    static let recovery = 8.0

    private var window: Int
    /// Answers since the window grew or was halved.
    private var answers = 0
    /// Infinite until the first halving when the rules say so.
    private var perSecond: Double
    /// By how many requests a second the rate grows in a second of good answers.
    private var growth: Double
    /// The last requests before the window and the rate were halved; 0 for never.
    private var (lastOfWindow, lastOfRate) = (UInt64(0), UInt64(0))
    private var meter = ServedMeter()
    /// Whether a failure of an earlier run has shown what the origin can do.
    private var isRestored = false

    init(_ rules: OriginPacer.Rules) {
        (window, perSecond) = (rules.window.initial, rules.rate?.initial ?? .infinity)
        growth = rules.rate?.growth ?? 0
    }

    /// How many requests may run at once; at least 1.
    func limit(_ rules: OriginPacer.Rules) -> Int { min(window, rules.window.maximum) }

    /// How many requests may start a second; infinite for any number.
    func rate(_ rules: OriginPacer.Rules) -> Double {
        guard let rate = rules.rate else { return .infinity }
        return max(rate.minimum, min(perSecond, rate.maximum))
    }

    /// A window that was found in an earlier run. It is steady: it is stored when the origin asks to wait.
    mutating func restore(limit: Int) { (window, isRestored) = (max(1, limit), true) }

    /// The window gets at least this many requests, as far as its maximum permits, unless it was found already.
    mutating func widen(to count: Int, _ rules: OriginPacer.Rules) {
        if lastOfWindow == 0, !isRestored { window = max(window, min(count, rules.window.maximum)) }
    }

    /// The origin has served a request.
    mutating func served(_ rules: OriginPacer.Rules, at boot: BootInstant) {
        if perSecond.isInfinite {
            meter.served(at: boot)
        } else if let rate = rules.rate {
            perSecond = min(rate.maximum, self.rate(rules) + growth / self.rate(rules))
        }
        answers += 1
        let isSearching = rules.window.doublesAtFirst && lastOfWindow == 0 && !isRestored
        guard isSearching || answers >= limit(rules) else { return }
        (answers, window) = (0, min(limit(rules) + 1, rules.window.maximum))
    }

    /// A request has failed.
    ///
    /// - Parameters:
    ///   - number: of the request.
    ///   - outcome: decides what is halved.
    ///   - last: the newest request: failures of those up to it are no news after a halving.
    ///   - rules: those of the traffic.
    ///   - boot: the boot clock.
    mutating func halve(
        _ number: UInt64, _ outcome: OriginPacer.Outcome, last: UInt64, _ rules: OriginPacer.Rules, at boot: BootInstant
    ) {
        if rules.window.halvedBy.contains(outcome), number > lastOfWindow {
            (window, answers, lastOfWindow) = (max(1, limit(rules) / 2), 0, last)
        }
        guard let rate = rules.rate, rate.halvedBy.contains(outcome), number > lastOfRate else { return }
        // A limit that is far above what the origin serves would have to be halved again and again.
        let used = perSecond.isInfinite ? min(self.rate(rules), meter.perSecond(at: boot)) : self.rate(rules)
        (perSecond, lastOfRate) = (max(rate.minimum, used / 2), last)
        growth = max(rate.growth, perSecond / Self.recovery)
    }
}

/// How many requests an origin has served in the last second, from the counts of that second and the one before.
struct ServedMeter: Hashable {
    private static let second = Duration.seconds(1)

    /// When the current second began.
    private var since: BootInstant?
    private var (count, before) = (0, 0)

    /// One more.
    mutating func served(at boot: BootInstant) {
        let begin = since ?? boot
        switch boot - begin {
        case ..<Self.second: count += 1
        case ..<(Self.second * 2): (since, before, count) = (begin + Self.second, count, 1)
        default: (since, before, count) = (boot, 0, 1)
        }
        since = since ?? boot
    }

    /// The number, as if those of the second before had been evenly spaced.
    func perSecond(at boot: BootInstant) -> Double {
        guard let since else { return 0 }
        let passed = (boot - since) / Self.second
        switch passed {
        case ..<1: return Double(count) + Double(before) * (1 - passed)
        case ..<2: return Double(count) * (2 - passed)
        default: return 0
        }
    }
}
