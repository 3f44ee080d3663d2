package import LectureFormats
import LectureModel

/// Limits the rate and concurrency of requests to licence servers; shared by everything in a process. Pure: time and
/// randomness are parameters.
///
/// Per origin:
///
/// | what | starts | grows | shrinks |
/// | --- | --- | --- | --- |
/// | requests a second | 20 | by 10 a second while answers are good | half at 429 and 503 |
/// | requests at once | 8 | by one a whole window of good answers | half at a time-out |
///
/// Failures of requests that started before a halving are echoes of it and halve nothing again. `Retry-After` blocks
/// the origin. Five failures in a row open the breaker:
///
///     closed ──(five failures in a row)──▶ open ──(backoff is over)──▶ half-open: one request
///       ▲                                   ▲                              │
///       └──────(a good answer)──────────────┼──────────────────────────────┤
///                                           └────────(a failure)───────────┘
///
/// Requests are spaced (GCRA). A late caller may catch up by a twentieth of a second less one request, so that in no
/// second more than 1.05 times ``Limits/maximumRate`` start.
package struct CallbackPace: Sendable {
    /// Bounds, per origin unless stated otherwise.
    package struct Limits: Hashable, Sendable {
        /// Requests a second at first.
        package var initialRate = 20.0
        /// Requests a second at the most, at least 1.
        package var maximumRate = 100.0
        /// Requests a second at the least.
        package var minimumRate = 0.5
        /// By how many requests a second the rate grows in a second of good answers.
        package var growth = 10.0
        /// Requests at once at first.
        package var initialConcurrency = 8
        /// Requests at once at the most.
        package var maximumConcurrency = 32
        /// Requests at once to all origins.
        package var total = 64
        /// Failures in a row that open the breaker.
        package var failuresToOpen = 5

        /// The defaults.
        package init() {}
    }

    /// What the end of an exchange says about its origin.
    package enum Outcome: Hashable, Sendable {
        /// With a usable answer.
        case good
        /// The origin is overloaded: 429, 503.
        case overloaded
        /// It did not answer in time.
        case timedOut
        /// Any other failure.
        case failed
        /// This side cancelled it.
        case cancelled
    }

    /// Whether a request may start.
    package enum Admission: Hashable, Sendable {
        /// Yes.
        case yes
        /// The rate allows it from then on.
        case notBefore(BootInstant)
        /// As many as are allowed are running; ask again when one ends.
        case busy
        /// The origin asked to wait until then.
        case held(until: BootInstant)
        /// The breaker is open until then.
        case open(until: BootInstant)
    }

    private struct State {
        var rate: Double
        var concurrency: Int
        var running = 0
        /// When the next request would be due if none were late.
        var due: BootInstant?
        var successes = 0
        var failures = 0
        var openUntil: BootInstant?
        var isProbing = false
        var openings = 0
        var heldUntil: BootInstant?
        var halvedAt: BootInstant?
        var narrowedAt: BootInstant?
    }

    /// The bounds; lowering them ends nothing that runs.
    package var limits: Limits
    private var states: [Origin: State] = [:]
    private var running = 0
    private let reopening = Backoff(base: .seconds(1))

    /// Makes a pace without any known origins.
    ///
    /// - Parameter limits: the bounds.
    package init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: Questions

    /// Whether a request may start.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - now: the boot clock.
    /// - Returns: yes, or what it must wait for.
    package func mayStart(_ origin: Origin, at now: BootInstant) -> Admission {
        let state = state(of: origin)
        if let until = state.heldUntil, until > now { return .held(until: until) }
        if let until = state.openUntil {
            if until > now { return .open(until: until) }
            if state.isProbing { return .busy }
        }
        if running >= limits.total || state.running >= min(state.concurrency, limits.maximumConcurrency) {
            return .busy
        }
        let rate = rate(of: state)
        let slack = Duration.nanoseconds(Int64(max(0, 0.05 - 1 / rate) * 1e9))
        guard let due = state.due, due + (.zero - slack) > now else { return .yes }
        return .notBefore(due + (.zero - slack))
    }

    /// How often in a row the breaker has opened without a good answer between.
    package func openings(_ origin: Origin) -> Int { states[origin]?.openings ?? 0 }

    /// The current maximum of requests a second to the origin.
    package func rate(_ origin: Origin) -> Double { rate(of: state(of: origin)) }

    /// The current maximum of requests at once to the origin.
    package func concurrency(_ origin: Origin) -> Int { min(state(of: origin).concurrency, limits.maximumConcurrency) }

    // MARK: What happens

    /// A request started.
    package mutating func started(_ origin: Origin, at now: BootInstant) {
        var state = state(of: origin)
        state.running += 1
        running += 1
        if state.openUntil != nil { state.isProbing = true }
        let interval = Duration.nanoseconds(Int64((1e9 / rate(of: state)).rounded(.up)))
        state.due = max(state.due ?? now, now) + interval
        states[origin] = state
    }

    /// A request has ended.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - started: when it started.
    ///   - outcome: how it ended.
    ///   - now: the boot clock.
    ///   - random: a uniformly random number.
    package mutating func ended(
        _ origin: Origin, started: BootInstant, _ outcome: Outcome, at now: BootInstant, random: UInt64
    ) {
        guard var state = states[origin], state.running > 0 else { return }
        state.running -= 1
        running -= 1
        let isProbe = state.isProbing && state.openUntil.map { started >= $0 } ?? false
        if isProbe { state.isProbing = false }
        switch outcome {
        case .good: grow(&state)
        case .cancelled: break
        case .overloaded:
            if state.halvedAt.map({ started >= $0 }) ?? true {
                (state.rate, state.halvedAt) = (max(limits.minimumRate, rate(of: state) / 2), now)
            }
        case .timedOut:
            if state.narrowedAt.map({ started >= $0 }) ?? true {
                (state.concurrency, state.narrowedAt) = (max(1, state.concurrency / 2), now)
                state.successes = 0
            }
        case .failed: break
        }
        if outcome != .good, outcome != .cancelled { fail(&state, isProbe: isProbe, at: now, random: random) }
        states[origin] = state
    }

    /// Records that the origin asked to wait; the longest wait applies.
    package mutating func held(_ origin: Origin, until: BootInstant) {
        var state = state(of: origin)
        state.heldUntil = max(state.heldUntil ?? until, until)
        states[origin] = state
    }

    /// Resets the counts of circuit-breaker openings for a new run; `Retry-After` deadlines stay.
    package mutating func resetBreakers() {
        for origin in Array(states.keys) { states[origin]?.openings = 0 }
    }

    /// Forgets all running requests; their ends will not be reported.
    package mutating func forget() {
        for origin in Array(states.keys) {
            states[origin]?.running = 0
            states[origin]?.isProbing = false
        }
        running = 0
    }

    // MARK: Parts

    private func state(of origin: Origin) -> State {
        states[origin]
            ?? State(rate: min(limits.initialRate, limits.maximumRate), concurrency: limits.initialConcurrency)
    }

    private func rate(of state: State) -> Double { max(limits.minimumRate, min(state.rate, limits.maximumRate)) }

    private func grow(_ state: inout State) {
        (state.failures, state.openings) = (0, 0)
        (state.openUntil, state.isProbing) = (nil, false)
        state.rate = min(limits.maximumRate, rate(of: state) + limits.growth / rate(of: state))
        state.successes += 1
        guard state.successes >= state.concurrency else { return }
        state.successes = 0
        state.concurrency = min(state.concurrency + 1, limits.maximumConcurrency)
    }

    private func fail(_ state: inout State, isProbe: Bool, at now: BootInstant, random: UInt64) {
        state.failures += 1
        guard isProbe || state.openUntil == nil && state.failures >= limits.failuresToOpen else { return }
        state.openings += 1
        // At least half of the longest wait: a probe right after a failure shows nothing new.
        let ceiling = reopening.ceiling(failures: state.openings)
        let jitter = Duration.nanoseconds(
            Int64(UInt64(max(0, ceiling.nanosecondCount / 2)).multipliedFullWidth(by: random).high))
        state.openUntil = now + ceiling / 2 + jitter
        state.isProbing = false
    }
}
