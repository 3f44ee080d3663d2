package import LectureModel

/// When the next request to a target may start.
///
/// ```
///             good answer                        401 403 407
///   open ◄─────────────────── probing     any ─────────────────► suspended
///    │                          ▲  │                                 │ resume
///    │ of the target: no answer │  │ again                           ▼
///    └──────► waiting ──────────┘  └──► waiting, longer            what it was before
///              the wait is over
/// ```
///
/// A backlog is sent at a bounded rate: no more than ``Limits/burst`` requests at once and one each ``Limits/interval``
/// after that. While the target is known to fail, one request at a time is sent.
///
/// The rate is measured with the boot clock; when that is smaller than it was (another boot), a wait is at most
/// ``Limits/burst`` intervals. The wait after a failure survives a restart and so is measured with the wall clock;
/// setting the wall clock back never makes it longer than intended (``RetryWait``).
package struct TargetPace: Hashable, Sendable {
    /// Limits on the requests to a target.
    package struct Limits: Hashable, Sendable {
        /// The time between two requests when there is a backlog.
        package var interval: Duration
        /// How many requests may start at once after an idle time.
        package var burst: Int
        /// How many requests may run at once.
        package var concurrency: Int
        /// The waits after failures.
        package var backoff: Backoff

        /// Limits.
        ///
        /// - Parameters:
        ///   - interval: the time between two requests.
        ///   - burst: how many may start at once, at least 1.
        ///   - concurrency: how many may run at once, at least 1.
        ///   - backoff: the waits after failures.
        package init(
            interval: Duration = .milliseconds(100), burst: Int = 4, concurrency: Int = 4,
            backoff: Backoff = Backoff(base: .milliseconds(500), cap: .seconds(900))
        ) {
            (self.interval, self.burst, self.concurrency) = (max(interval, .zero), max(1, burst), max(1, concurrency))
            self.backoff = backoff
        }
    }

    /// Whether a request may start.
    package enum Permission: Hashable, Sendable {
        /// Yes.
        case yes
        /// After this time.
        case after(Duration)
        /// When a running one has ended.
        case busy
        /// When an operator has resolved the cause.
        case suspended(SuspendReason)
    }

    /// A running request.
    package struct Ticket: Hashable, Sendable {
        /// How many waits had been set when it started.
        fileprivate let era: Int
    }

    /// The limits.
    package let limits: Limits
    /// Failures of the target in a row, those of one burst counted once.
    package private(set) var failures: Int
    /// The wait after the last failure, to be stored; nil when it did not fail.
    package private(set) var wait: RetryWait?
    /// Why nothing is sent to it, nil when something is.
    package private(set) var suspension: SuspendReason?
    /// How many requests are running.
    package private(set) var running = 0
    /// When the next request would start if all were an interval apart.
    private var scheduled: BootInstant?
    private var era = 0

    /// Makes the pace of a new or a stored target.
    ///
    /// - Parameters:
    ///   - limits: the limits.
    ///   - failures: failures in a row.
    ///   - wait: the wait after the last of them.
    ///   - suspension: why nothing is sent to it.
    package init(
        limits: Limits = Limits(), failures: Int = 0, wait: RetryWait? = nil, suspension: SuspendReason? = nil
    ) {
        (self.limits, self.failures, self.wait, self.suspension) = (limits, max(0, failures), wait, suspension)
    }

    /// Whether a request may start.
    ///
    /// - Parameters:
    ///   - wall: the wall clock. When it was set back the wait starts again with it, and must be stored again.
    ///   - boot: the boot clock.
    /// - Returns: whether it may, or after how long to call again.
    package mutating func permission(wall: Timestamp, boot: BootInstant) -> Permission {
        if let suspension { return .suspended(suspension) }
        wait = wait?.normalized(at: wall)
        if running >= (failures > 0 ? 1 : limits.concurrency) { return .busy }
        scheduled = scheduled.map { min($0, latest(boot)) }
        let left = max(wait?.remaining(at: wall) ?? .zero, rateWait(boot))
        return left > .zero ? .after(left) : .yes
    }

    /// A request starts.
    ///
    /// - Parameter boot: the boot clock.
    /// - Returns: what ``ended(_:_:wall:random:)`` needs.
    package mutating func started(boot: BootInstant) -> Ticket {
        running += 1
        scheduled = min(max(scheduled ?? boot, boot) + limits.interval, latest(boot))
        return Ticket(era: era)
    }

    /// A request ended.
    ///
    /// - Parameters:
    ///   - ticket: from ``started(boot:)``.
    ///   - verdict: on its answer; nil when it was cancelled before there was one.
    ///   - wall: the wall clock.
    ///   - random: a uniformly random number.
    package mutating func ended(_ ticket: Ticket, _ verdict: SendVerdict?, wall: Timestamp, random: UInt64) {
        running -= 1
        let isOfThisEra = ticket.era == era
        switch verdict {
        case .keep(let reason, let asked) where reason.isOfTarget:
            if isOfThisEra {
                failures += 1
                era += 1
            }
            lengthen(max(asked ?? .zero, limits.backoff.delay(failures: failures, random: random)), wall)
        case .keep, nil: break
        case .suspend(let reason): suspension = reason
        case .delivered, .follow, .split, .bisect, .dead:
            // An answer to a request from before the failure says nothing about the time after it.
            if isOfThisEra { (failures, wait) = (0, nil) }
        }
    }

    /// An operator resolved the cause: the credentials or the address were changed, or an operator asks to send. A wait
    /// that the server asked for stays.
    ///
    /// - Parameter liftsWait: whether to end the wait as well, since it is our own and not the server's.
    package mutating func resume(liftingWait liftsWait: Bool = false) {
        suspension = nil
        if liftsWait { wait = nil }
    }

    /// Sets a wait, but never shortens one that a server asked for.
    private mutating func lengthen(_ delay: Duration, _ wall: Timestamp) {
        if let wait, wait.remaining(at: wall) >= delay { return }
        wait = RetryWait(setAt: wall, delay: delay)
    }

    private func rateWait(_ boot: BootInstant) -> Duration {
        guard let scheduled else { return .zero }
        return max((scheduled - boot) - limits.interval * (limits.burst - 1), .zero)
    }

    /// As far as a burst can plan ahead. A later moment is left over from the boot clock of an earlier boot.
    private func latest(_ boot: BootInstant) -> BootInstant { boot + limits.interval * limits.burst }
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
