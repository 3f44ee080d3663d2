package import LectureEngine
package import LectureFormats
package import LectureModel

extension OriginPacer.Rules {
    /// The pace of requests to a target.
    ///
    /// | what | at first | until the first failure | a failure | then |
    /// | --- | --- | --- | --- | --- |
    /// | requests at once | 2 | one more with every answer, to 16 | half | one more a window of answers |
    /// | requests a second | any number | any number | half of what was served | 10 or an eighth more a second |
    ///
    /// A failure is a target that is busy or does not answer. It waits after the first one; until a request is answered
    /// again, requests are then sent one at a time.
    package static let reports = Self(
        window: .reports(maximum: 16), rate: .reports(),
        breaker: OriginPacer.Breaker(
            failures: 1, backoff: Backoff(base: .milliseconds(500), cap: .seconds(900)), isHalfFixed: false,
            probesAlone: true))
}

extension OriginPacer.Window {
    /// Requests at once to a target.
    ///
    /// - Parameter maximum: as many as the user wants at the most.
    /// - Returns: a window that begins with two.
    package static func reports(maximum: Int) -> Self {
        var window = Self(initial: min(2, maximum), maximum: maximum, halvedBy: [.overloaded, .failed])
        window.doublesAtFirst = true
        return window
    }
}

extension OriginPacer.Rate {
    /// How many may start together where the user has set a rate.
    private static let burst = 4

    /// Requests a second to a target.
    ///
    /// - Parameter cap: as many as the user wants at the most; nil for any number.
    /// - Returns: a rate that the target's failures decide. A burst of a tenth of a second lets timers be a few
    ///   milliseconds late.
    package static func reports(cap: Int? = nil) -> Self {
        let cap = cap.map { max(1, $0) }
        return Self(
            initial: .infinity, minimum: 1, maximum: cap.map(Double.init) ?? .infinity, growth: 10,
            burst: cap.map { .requests(max(1, min(Self.burst, $0), $0 / 10)) } ?? .seconds(0.1),
            halvedBy: [.overloaded, .failed])
    }
}

extension SendVerdict {
    /// What it says about the target. An answer about one batch does not delay the others.
    package var pacingOutcome: OriginPacer.Outcome {
        switch self {
        case .keep(.busy, _): .overloaded
        case .keep(.unreachable, _), .keep(.noAnswer, _): .failed
        case .keep(let reason, _): reason.isOfTarget ? .unusable : .neutral
        case .suspend: .neutral
        case .delivered, .follow, .split, .bisect, .dead: .served
        }
    }
}

extension OriginPacer {
    /// A request to a target ended.
    ///
    /// - Parameters:
    ///   - id: as in ``started(_:at:)``.
    ///   - verdict: on its answer; nil when it was cancelled before there was one.
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    ///   - random: a uniformly random number.
    package mutating func ended(
        _ id: TransferID, _ verdict: SendVerdict?, now: Timestamp, boot: BootInstant, random: UInt64
    ) {
        ended(id, verdict?.pacingOutcome ?? .neutral, at: boot, random: random)
        if case .keep(let reason, let asked?) = verdict, reason.isOfTarget { wait(for: asked, at: boot) }
        recordWaits(now: now, boot: boot)
    }
}

extension RetryWait {
    /// The wait of one batch after an answer that says nothing about its target.
    ///
    /// - Parameters:
    ///   - asked: what the server asks for.
    ///   - tries: how often the batch was sent, from 1.
    ///   - backoff: the waits after failures.
    ///   - now: the wall clock.
    ///   - random: a uniformly random number.
    package init(asked: Duration?, tries: Int, backoff: Backoff, now: Timestamp, random: UInt64) {
        self.init(setAt: now, delay: max(asked ?? .zero, backoff.delay(failures: tries, random: random)))
    }
}
