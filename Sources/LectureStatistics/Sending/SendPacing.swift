package import LectureEngine
package import LectureFormats
package import LectureModel

extension OriginPacer.Rules {
    /// The pace of requests to a target: four at once and ten a second. It waits after the first failure; until a
    /// request is answered again, requests are then sent one at a time.
    package static let reports = Self(
        window: .fixed(4), rate: .fixed(10, burst: 4),
        breaker: OriginPacer.Breaker(
            failures: 1, backoff: Backoff(base: .milliseconds(500), cap: .seconds(900)), isHalfFixed: false,
            probesAlone: true))
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
