package import LectureFormats
import LectureModel

/// How many transfers may run against each origin, host and in all; shared by all items of a process.
///
/// The limit of an origin starts at 4 and moves like a congestion window: one more after a whole window of successes,
/// half after a 429, a 503 or a refused connection. A burst that fails together halves it only once: failures of
/// transfers that were running at the time of the halving are counted as echoes of it.
package struct OriginGovernor: Sendable {
    /// How many transfers an origin may have at first.
    package static let initialLimit = 4
    /// How long the result of a trial of one more connection is remembered.
    package static let trialMemory = Duration.seconds(600)

    /// Upper bounds, each at least 1.
    package struct Limits: Hashable, Sendable {
        /// For an unknown origin; the limit moves from there.
        package var initial: Int
        /// For one origin (scheme, host, port).
        package var perOrigin: Int
        /// For all origins of one host.
        package var perHost: Int
        /// For everything.
        package var total: Int

        /// Makes bounds.
        ///
        /// - Parameters:
        ///   - initial: for an unknown origin.
        ///   - perOrigin: for one origin.
        ///   - perHost: for all origins of one host.
        ///   - total: for everything.
        package init(
            initial: Int = OriginGovernor.initialLimit, perOrigin: Int = 16, perHost: Int = 16, total: Int = 64
        ) {
            self.initial = max(1, initial)
            self.perOrigin = max(1, perOrigin)
            self.perHost = max(1, perHost)
            self.total = max(1, total)
        }
    }

    /// What the end of a transfer says about its origin.
    package enum Outcome: Hashable, Sendable {
        /// The origin served it.
        case served
        /// The origin is overloaded: 429, 503, a refused connection.
        case overloaded
        /// Anything else, which says nothing about the load: cancelled, 404, a bad body.
        case other
    }

    /// Whether a transfer may start.
    package enum Admission: Hashable, Sendable {
        /// Yes.
        case yes
        /// The origin asked to wait until then.
        case waiting(until: BootInstant)
        /// The origin has reached its current limit.
        case originBusy
        /// The host has reached its limit.
        case hostBusy
        /// The total limit is reached.
        case totalBusy
    }

    /// What is stored about an origin across restarts.
    package struct Stored: Hashable, Sendable {
        /// The origin.
        package let origin: Origin
        /// Its limit.
        package let limit: Int
        /// Until when it asked to wait, by the wall clock.
        package let waitUntil: Timestamp?

        /// Makes a row.
        ///
        /// - Parameters:
        ///   - origin: the origin.
        ///   - limit: its limit.
        ///   - waitUntil: until when it asked to wait, by the wall clock.
        package init(origin: Origin, limit: Int, waitUntil: Timestamp?) {
            self.origin = origin
            self.limit = limit
            self.waitUntil = waitUntil
        }
    }

    private struct State {
        var limit: Int
        var running = 0
        var successes = 0
        var echoes = 0
        var waitUntil: BootInstant?
        var trial: (outcome: RangeTrial.Outcome, at: BootInstant)?
        var http2Failed = false
    }

    /// The upper bounds; lowering them stops nothing that runs.
    package var limits: Limits
    private var states: [Origin: State] = [:]
    private var runningByHost: [String: Int] = [:]
    /// How many transfers run in all.
    package private(set) var running = 0

    /// Makes a governor without any known origins.
    ///
    /// - Parameter limits: the upper bounds.
    package init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: Admission

    /// Whether one more transfer may start now.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - now: the boot clock.
    /// - Returns: yes, or what it must wait for.
    package func mayStart(_ origin: Origin, at now: BootInstant) -> Admission {
        let state = states[origin]
        if let until = state?.waitUntil, until > now { return .waiting(until: until) }
        if running >= limits.total { return .totalBusy }
        if runningByHost[origin.host, default: 0] >= limits.perHost { return .hostBusy }
        return state?.running ?? 0 >= limit(of: origin) ? .originBusy : .yes
    }

    /// How many transfers the origin may have now.
    ///
    /// - Parameter origin: the origin.
    /// - Returns: at least 1.
    package func limit(of origin: Origin) -> Int {
        min(states[origin]?.limit ?? limits.initial, limits.perOrigin)
    }

    /// A transfer started.
    ///
    /// - Parameter origin: where to.
    package mutating func started(_ origin: Origin) {
        states[origin, default: State(limit: limits.initial)].running += 1
        runningByHost[origin.host, default: 0] += 1
        running += 1
    }

    /// A transfer ended.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - outcome: how.
    package mutating func ended(_ origin: Origin, _ outcome: Outcome) {
        guard var state = states[origin], state.running > 0 else { return }
        state.running -= 1
        running -= 1
        let onHost = runningByHost[origin.host, default: 1] - 1
        runningByHost[origin.host] = onHost > 0 ? onHost : nil
        let isEcho = state.echoes > 0
        state.echoes = max(0, state.echoes - 1)
        switch outcome {
        case .served: grow(&state)
        case .overloaded where !isEcho: shrink(&state)
        case .overloaded, .other: break
        }
        states[origin] = state
    }

    /// Records that the origin asked to wait; the longest wait applies.
    ///
    /// - Parameters:
    ///   - origin: which origin.
    ///   - until: until when.
    package mutating func held(_ origin: Origin, until: BootInstant) {
        let earlier = states[origin]?.waitUntil ?? until
        states[origin, default: State(limit: limits.initial)].waitUntil = max(earlier, until)
    }

    // MARK: What was learned

    /// A trial of one more connection ended.
    ///
    /// - Parameters:
    ///   - outcome: its result.
    ///   - origin: where.
    ///   - now: the boot clock.
    package mutating func remember(_ outcome: RangeTrial.Outcome, for origin: Origin, at now: BootInstant) {
        states[origin, default: State(limit: limits.initial)].trial = (outcome, now)
    }

    /// The result of the last trial at this origin.
    ///
    /// - Parameters:
    ///   - origin: where.
    ///   - now: the boot clock.
    /// - Returns: nil when there was none within the last ten minutes: networks change.
    package func trial(of origin: Origin, at now: BootInstant) -> RangeTrial.Outcome? {
        guard let trial = states[origin]?.trial, now - trial.at < Self.trialMemory else { return nil }
        return trial.outcome
    }

    /// HTTP/2 failed at this origin; from now on requests use HTTP/1.1.
    ///
    /// - Parameter origin: where.
    package mutating func http2Failed(at origin: Origin) {
        states[origin, default: State(limit: limits.initial)].http2Failed = true
    }

    /// Whether HTTP/2 is used at this origin.
    ///
    /// - Parameter origin: where.
    /// - Returns: false once it failed there.
    package func usesHTTP2(_ origin: Origin) -> Bool { states[origin]?.http2Failed != true }

    // MARK: Storage

    /// What is worth storing: origins with a wait or a limit other than the initial one.
    ///
    /// - Parameters:
    ///   - now: the boot clock.
    ///   - wall: the wall clock at the same moment.
    /// - Returns: the rows, ordered by origin.
    package func stored(at now: BootInstant, wall: Timestamp) -> [Stored] {
        states.compactMap { origin, state in
            let wait = state.waitUntil.flatMap { $0 > now ? wall + ($0 - now) : nil }
            guard wait != nil || state.limit != limits.initial else { return nil }
            return Stored(origin: origin, limit: state.limit, waitUntil: wait)
        }.sorted { $0.origin.text < $1.origin.text }
    }

    /// Restores a stored row.
    ///
    /// - Parameters:
    ///   - row: the row.
    ///   - now: the boot clock.
    ///   - wall: the wall clock at the same moment. A wait longer than any server may ask for was stored under another
    ///     clock and is cut to that maximum.
    package mutating func restore(_ row: Stored, at now: BootInstant, wall: Timestamp) {
        states[row.origin, default: State(limit: limits.initial)].limit = max(1, row.limit)
        guard let waitUntil = row.waitUntil, waitUntil > wall else { return }
        held(row.origin, until: now + min(waitUntil - wall, RetryAfter.maximum))
    }

    // MARK: The window

    private func grow(_ state: inout State) {
        state.successes += 1
        guard state.successes >= state.limit else { return }
        state.successes = 0
        state.limit = min(state.limit + 1, limits.perOrigin)
    }

    private func shrink(_ state: inout State) {
        state.limit = max(1, min(state.limit, limits.perOrigin) / 2)
        state.successes = 0
        state.echoes = state.running
    }
}
