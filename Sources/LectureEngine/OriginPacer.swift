package import LectureFormats
package import LectureModel

/// Decides when the next request to one origin may start: how many run at once, how many start a second, and what
/// follows from failures and from `Retry-After`. One value for all kinds of traffic; they differ in their ``Rules``.
///
///     healthy ──── failures in a row ────▶ broken ──── its wait is over: one request ────▶ probing
///      │ ▲ ▲                                 ▲                                              │  │
///      └─┘ │                                 └────────── it fails: a longer wait ───────────┘  │
///     its pace grows with answers,                                                             │
///     and is halved at an overload (``OriginPace``)                                            │
///          └──────────────────────────── it is answered ───────────────────────────────────────┘
///
///     each of them ──── Retry-After ────▶ waiting ──── the server's wait is over ────▶ the same as before
///
/// Requests of one burst fail together, but only the first of their failures is news. So requests are numbered, and a
/// halving, like an opening of the breaker, remembers the last number before it: a failure of a request up to that
/// number halves nothing again, and neither a failure nor an answer of such a request decides a probe.
///
/// Time is the boot clock. A wait has a second form for the store (``storedWait``), because only the wall clock
/// survives a restart; see `RetryWait`. There is no clock and no randomness: the same calls give the same value.
package struct OriginPacer: Hashable, Sendable {
    /// What a request has to wait for.
    package enum Bound: Hashable, Sendable {
        /// The origin has as many requests as it may have now.
        case origin
        /// Its host has.
        case host
        /// All origins together have.
        case total
        /// All kinds of traffic together have as many at this origin as they may; see ``OriginBudgets``.
        case budget
    }

    /// Whether a request may start.
    package enum Admission: Hashable, Sendable {
        /// Yes.
        case yes
        /// The rate allows it after this time.
        case later(Duration)
        /// The server asked to wait for this time.
        case waiting(Duration)
        /// The breaker is open for this time.
        case broken(Duration)
        /// When a running request ends.
        case busy(Bound)
    }

    private struct Wait: Hashable {
        var until: BootInstant
        var stored: RetryWait?

        func left(at boot: BootInstant) -> Duration { max(until - boot, .zero) }

        /// Gives it the form for the store, and starts that again when the wall clock was set back.
        mutating func record(_ now: Timestamp, _ boot: BootInstant) {
            if let stored, stored.setAt <= now { return }
            stored = RetryWait(setAt: now, delay: left(at: boot))
        }
    }

    /// An open breaker, and what was known when it opened.
    private struct Break: Hashable {
        /// How often in a row it has opened.
        var openings: Int
        var wait: Wait?
        /// The last request before it opened.
        var last: UInt64
        /// How many of the running requests started after that.
        var probes = 0
        /// Since when other kinds of traffic should respect it; nil if it does not concern them.
        var since: BootInstant?
    }

    private enum Health: Hashable {
        case healthy(failures: Int)
        case broken(Break)
    }

    /// What differs between kinds of traffic. Lower bounds end nothing that runs.
    package var rules: Rules
    /// The requests that run, with their numbers.
    private var running: [TransferID: UInt64] = [:]
    /// The number of the newest request.
    private var last: UInt64 = 0
    /// How many run at once and start a second.
    private var pace: OriginPace
    /// When the next request would start if all were evenly spaced.
    private var due: BootInstant?
    private var health = Health.healthy(failures: 0)
    private var asked: Wait?
    /// Bursts of overload, and the last request before the end of the newest one.
    private var (overloads, lastOverload) = (0, UInt64(0))
    /// Overloads of other kinds of traffic that are known here.
    private var othersOverloads = 0
    /// When the origin served something last.
    package private(set) var servedAt: BootInstant?

    /// Creates the pacer of an unknown origin.
    ///
    /// - Parameter rules: those of its traffic.
    package init(_ rules: Rules) { (self.rules, pace) = (rules, OriginPace(rules)) }

    // MARK: Questions

    /// Whether a request may start.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - others: what the other kinds of traffic do at the origin.
    /// - Returns: yes, or what it must wait for.
    package func admission(at boot: BootInstant, besides others: OriginShare = OriginShare()) -> Admission {
        let waiting = max(asked?.left(at: boot) ?? .zero, others.waitLeft(at: boot))
        if waiting > .zero { return .waiting(waiting) }
        let broken = max(breakLeft(at: boot), others.breakLeft(at: boot, servedAt: servedAt))
        if broken > .zero { return .broken(broken) }
        if case .broken(let pause) = health {
            let others = rules.breaker?.probesAlone == true ? running.count : pause.probes
            if others > 0 { return .busy(.origin) }
        }
        if running.count >= limit { return .busy(.origin) }
        if !running.isEmpty, running.count + others.running >= budget { return .busy(.budget) }
        guard let due, let spacing else { return .yes }
        let left = (due - boot) - spacing.slack
        return left > .zero ? .later(left) : .yes
    }

    /// How many requests may run at once now; at least 1.
    package var limit: Int { pace.limit(rules) }

    /// How many requests run.
    package var runningCount: Int { running.count }

    /// How many requests may start a second now; infinite when that is not limited.
    package var rate: Double { pace.rate(rules) }

    /// How often in a row the breaker has opened.
    package var openings: Int { if case .broken(let pause) = health { pause.openings } else { 0 } }

    /// How long nothing may start, because the server asked for it or because the breaker is open.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - others: what the other kinds of traffic have met at the origin.
    /// - Returns: zero when something may.
    package func waitLeft(at boot: BootInstant, besides others: OriginShare = OriginShare()) -> Duration {
        let own = longestWait?.left(at: boot) ?? .zero
        return max(own, others.left(at: boot, servedAt: servedAt))
    }

    /// What the other kinds of traffic need to know.
    package var share: OriginShare {
        var share = OriginShare()
        (share.running, share.overloads, share.waitUntil) = (running.count, overloads, asked?.until)
        if case .broken(let pause) = health, let since = pause.since, let wait = pause.wait {
            (share.brokenUntil, share.brokenSince) = (min(wait.until, since + OriginBudgets.longestBreak), since)
        }
        return share
    }

    /// The same as it is stored; nil when there was no reason to wait, or when ``recordWaits(now:boot:)`` has not been
    /// called since.
    package var storedWait: RetryWait? { longestWait?.stored }

    // MARK: Requests

    /// A request starts.
    ///
    /// - Parameters:
    ///   - id: its number on the transport.
    ///   - boot: the boot clock.
    package mutating func started(_ id: TransferID, at boot: BootInstant) {
        last += 1
        running[id] = last
        if case .broken(var pause) = health {
            pause.probes += 1
            health = .broken(pause)
        }
        guard let spacing else { return }
        due = min(max(due ?? boot, boot) + spacing.interval, boot + spacing.interval + spacing.slack)
    }

    /// A request ended. Unknown ones are ignored.
    ///
    /// - Parameters:
    ///   - id: as in ``started(_:at:)``.
    ///   - outcome: what that says about the origin.
    ///   - boot: the boot clock.
    ///   - random: a uniformly random number.
    package mutating func ended(_ id: TransferID, _ outcome: Outcome, at boot: BootInstant, random: UInt64) {
        guard let number = running.removeValue(forKey: id) else { return }
        if case .broken(var pause) = health, number > pause.last {
            pause.probes -= 1
            health = .broken(pause)
        }
        switch outcome {
        case .served: succeeded(number, at: boot)
        case .neutral: break
        case .overloaded, .timedOut, .failed, .unusable:
            if outcome == .overloaded, number > lastOverload { (overloads, lastOverload) = (overloads + 1, last) }
            pace.halve(number, outcome, last: last, rules, at: boot)
            fail(number, outcome, at: boot, random: random)
        }
    }

    /// An overload that another kind of traffic has met halves here, too: once, and only if something was started here
    /// since the last halving.
    ///
    /// - Parameters:
    ///   - others: what the other kinds of traffic have met at the origin.
    ///   - boot: the boot clock.
    package mutating func respect(_ others: OriginShare, at boot: BootInstant) {
        if others.overloads > othersOverloads { pace.halve(last, .overloaded, last: last, rules, at: boot) }
        othersOverloads = others.overloads
    }

    /// So many requests may run at once, as far as the rules allow it, unless an overload has shown how many the origin
    /// can serve.
    ///
    /// - Parameter count: how many at least.
    package mutating func widen(to count: Int = .max) { pace.widen(to: count, rules) }

    /// Forgets all running requests; their ends will not be reported.
    package mutating func forgetRunning() {
        running = [:]
        guard case .broken(var pause) = health else { return }
        pause.probes = 0
        health = .broken(pause)
    }

    // MARK: Waits

    /// The server asked to wait; the longest wait applies.
    ///
    /// - Parameters:
    ///   - delay: how long.
    ///   - boot: the boot clock.
    package mutating func wait(for delay: Duration, at boot: BootInstant) {
        guard delay > asked?.left(at: boot) ?? .zero else { return }
        asked = Wait(until: boot + min(delay, RetryAfter.maximum))
    }

    /// Ends all waits. Requests then start one at a time until one is answered, if the breaker was open.
    package mutating func endWaits() {
        asked = nil
        guard case .broken(var pause) = health else { return }
        pause.wait = nil
        health = .broken(pause)
    }

    /// Resets how often the breaker has opened; waits stay.
    package mutating func resetBreaker() {
        guard case .broken(var pause) = health else { return }
        pause.openings = 0
        health = .broken(pause)
    }

    /// Gives new waits the form for the store, and adjusts what depends on a clock that was set back: the stored wait
    /// starts again, so that a restart does not lengthen it.
    ///
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    package mutating func recordWaits(now: Timestamp, boot: BootInstant) {
        asked?.record(now, boot)
        if case .broken(var pause) = health {
            pause.wait?.record(now, boot)
            health = .broken(pause)
        }
        guard let spacing else { return }
        due = due.map { min($0, boot + spacing.interval + spacing.slack) }
    }

    /// Restores what was stored.
    ///
    /// - Parameters:
    ///   - limit: how many requests may run at once; nil for the initial number.
    ///   - openings: how often in a row the breaker had opened.
    ///   - wait: the stored wait; cut to what a server may ask for.
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    package mutating func restore(
        limit: Int? = nil, openings: Int = 0, wait: RetryWait?, now: Timestamp, boot: BootInstant
    ) {
        if let limit { pace.restore(limit: limit) }
        let left = wait.map {
            let wait = $0.normalized(at: now)
            return Wait(until: boot + min(wait.remaining(at: now), RetryAfter.maximum), stored: wait)
        }
        if openings > 0 {
            health = .broken(Break(openings: openings, wait: left, last: last))
        } else if let left, left.until > (asked?.until ?? boot) {
            asked = left
        }
    }

    // MARK: Parts

    /// The time between two requests, and how much earlier than that one may start.
    private var spacing: (interval: Duration, slack: Duration)? {
        guard let burst = rules.rate?.burst, rate.isFinite else { return nil }
        let interval = Duration.nanoseconds(Int64((1e9 / rate).rounded(.up)))
        switch burst {
        case .requests(let count): return (interval, interval * (count - 1))
        case .seconds(let seconds): return (interval, .nanoseconds(Int64(max(0, seconds - 1 / rate) * 1e9)))
        }
    }

    private var longestWait: Wait? {
        guard case .broken(let pause) = health, let wait = pause.wait else { return asked }
        guard let asked, asked.until > wait.until else { return wait }
        return asked
    }

    /// Requests of all kinds at once: not fewer than the rules allow this kind, so that settings keep their meaning.
    private var budget: Int { max(OriginBudgets.total, rules.window.maximum) }

    private func breakLeft(at boot: BootInstant) -> Duration {
        guard case .broken(let pause) = health else { return .zero }
        return pause.wait?.left(at: boot) ?? .zero
    }

    private mutating func succeeded(_ number: UInt64, at boot: BootInstant) {
        servedAt = boot
        pace.served(rules, at: boot)
        if case .broken(let pause) = health, number <= pause.last { return }
        health = .healthy(failures: 0)
        if asked?.left(at: boot) == .zero { asked = nil }
    }

    private mutating func fail(_ number: UInt64, _ outcome: Outcome, at boot: BootInstant, random: UInt64) {
        guard let breaker = rules.breaker else { return }
        let openings: Int
        switch health {
        case .healthy(let failures):
            health = .healthy(failures: failures + 1)
            guard failures + 1 >= breaker.failures else { return }
            openings = 1
        case .broken(let pause):
            guard number > pause.last else { return }
            openings = pause.openings + 1
        }
        let delay = breaker.delay(openings: openings, random: random)
        var pause = Break(openings: openings, wait: Wait(until: boot + delay), last: last)
        pause.since = outcome.isMissingAnswer ? boot : nil
        health = .broken(pause)
    }
}
