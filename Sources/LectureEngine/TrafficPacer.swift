package import LectureFormats
package import LectureModel

/// Paces one kind of traffic: an ``OriginPacer`` for each origin, and bounds for each host and in all.
package struct TrafficPacer: Hashable, Sendable {
    /// The rules for each origin, and the bounds. Lower bounds end nothing that runs.
    package var rules: OriginPacer.Rules {
        didSet { for origin in Array(pacers.keys) { pacers[origin]?.rules = rules } }
    }
    private var pacers: [Origin: OriginPacer] = [:]
    private var running: [TransferID: Origin] = [:]
    private var runningByHost: [String: Int] = [:]

    /// Creates a pacer without any known origins.
    ///
    /// - Parameter rules: those of the traffic.
    package init(_ rules: OriginPacer.Rules) { self.rules = rules }

    // MARK: Questions

    /// What is known of an origin.
    ///
    /// - Parameter origin: the origin.
    /// - Returns: the pacer of a new one when nothing is.
    package subscript(origin: Origin) -> OriginPacer { pacers[origin] ?? OriginPacer(rules) }

    /// How many requests run in all.
    package var runningCount: Int { running.count }

    /// Whether a request may start.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - boot: the boot clock.
    ///   - others: what the other kinds of traffic do.
    /// - Returns: yes, or what it must wait for.
    package func admission(
        _ origin: Origin, at boot: BootInstant, besides others: OriginBudgets = OriginBudgets()
    ) -> OriginPacer.Admission {
        let admission = self[origin].admission(at: boot, besides: others[origin])
        switch admission {
        case .waiting, .broken: return admission
        case .yes, .later, .busy: break
        }
        if running.count >= rules.total { return .busy(.total) }
        return runningByHost[origin.host, default: 0] >= rules.perHost ? .busy(.host) : admission
    }

    /// What the other kinds of traffic need to know.
    package var budgets: OriginBudgets {
        OriginBudgets(pacers.map { ($0.key, $0.value) })
    }

    // MARK: Requests

    /// A request starts.
    ///
    /// - Parameters:
    ///   - id: its number on the transport.
    ///   - origin: where to.
    ///   - boot: the boot clock.
    package mutating func started(_ id: TransferID, at origin: Origin, boot: BootInstant) {
        pacers[origin, default: OriginPacer(rules)].started(id, at: boot)
        running[id] = origin
        runningByHost[origin.host, default: 0] += 1
    }

    /// A request ended. Unknown ones are ignored.
    ///
    /// - Parameters:
    ///   - id: as in ``started(_:at:boot:)``.
    ///   - outcome: what that says about the origin.
    ///   - boot: the boot clock.
    ///   - random: a uniformly random number.
    package mutating func ended(_ id: TransferID, _ outcome: OriginPacer.Outcome, at boot: BootInstant, random: UInt64)
    {
        guard let origin = running.removeValue(forKey: id) else { return }
        let onHost = runningByHost[origin.host, default: 1] - 1
        runningByHost[origin.host] = onHost > 0 ? onHost : nil
        pacers[origin]?.ended(id, outcome, at: boot, random: random)
    }

    /// An overload that other kinds of traffic have met halves here, too; see ``OriginPacer/respect(_:at:)``.
    ///
    /// - Parameters:
    ///   - others: what they do.
    ///   - origin: where a request is about to start.
    ///   - boot: the boot clock.
    package mutating func respect(_ others: OriginBudgets, at origin: Origin, boot: BootInstant) {
        let share = others[origin]
        // An overload of before its first request here is not news later.
        guard share.overloads > 0 || pacers[origin] != nil else { return }
        pacers[origin, default: OriginPacer(rules)].respect(share, at: boot)
    }

    /// Forgets all running requests; their ends will not be reported.
    package mutating func forgetRunning() {
        (running, runningByHost) = ([:], [:])
        for origin in Array(pacers.keys) { pacers[origin]?.forgetRunning() }
    }

    // MARK: Waits

    /// A server asked to wait; the longest wait applies.
    ///
    /// - Parameters:
    ///   - origin: which one.
    ///   - delay: how long.
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    package mutating func wait(_ origin: Origin, for delay: Duration, now: Timestamp, boot: BootInstant) {
        pacers[origin, default: OriginPacer(rules)].wait(for: delay, at: boot)
        pacers[origin]?.recordWaits(now: now, boot: boot)
    }

    /// Resets how often breakers have opened; waits stay.
    package mutating func resetBreakers() {
        for origin in Array(pacers.keys) { pacers[origin]?.resetBreaker() }
    }

    /// Restores what was stored about an origin.
    ///
    /// - Parameters:
    ///   - origin: which one.
    ///   - limit: how many requests it may have at once.
    ///   - wait: the stored wait; cut to what a server may ask for.
    ///   - now: the wall clock.
    ///   - boot: the boot clock.
    package mutating func restore(
        _ origin: Origin, limit: Int, wait: RetryWait?, now: Timestamp, boot: BootInstant
    ) {
        pacers[origin, default: OriginPacer(rules)].restore(limit: limit, wait: wait, now: now, boot: boot)
    }
}
