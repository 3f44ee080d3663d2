package import LectureFormats
package import LectureModel

/// Paces one kind of traffic: an ``OriginPacer`` for each origin, and bounds for each host and in all.
///
/// What a host has to bear are connections. An origin that takes many requests on one of them gets more at once, and
/// those are not counted for its host.
package struct TrafficPacer: Hashable, Sendable {
    /// A request that runs.
    private struct Running: Hashable {
        let origin: Origin
        let isStream: Bool
    }

    /// The rules for each origin, and the bounds. Lower bounds end nothing that runs.
    package var rules: OriginPacer.Rules {
        didSet { for origin in Array(pacers.keys) { updateRules(of: origin) } }
    }
    private var pacers: [Origin: OriginPacer] = [:]
    private var running: [TransferID: Running] = [:]
    /// Connections.
    private var runningByHost: [String: Int] = [:]
    /// Origins that have answered over a connection which carries streams.
    private var multiplexed: Set<Origin> = []
    /// Origins that are far, and answer at once.
    private var far: Set<Origin> = []

    /// Creates a pacer without any known origins.
    ///
    /// - Parameter rules: those of the traffic.
    package init(_ rules: OriginPacer.Rules) { self.rules = rules }

    // MARK: Questions

    /// What is known of an origin.
    ///
    /// - Parameter origin: the origin.
    /// - Returns: the pacer of a new one when nothing is.
    package subscript(origin: Origin) -> OriginPacer { pacers[origin] ?? OriginPacer(rules(of: origin)) }

    private func rules(of origin: Origin) -> OriginPacer.Rules {
        var rules = rules
        if far.contains(origin) { rules.window = rules.window.reaching(far: rules.far) }
        if multiplexed.contains(origin) { rules.window = rules.window.carrying(streams: rules.streams) }
        return rules
    }

    private mutating func updateRules(of origin: Origin) {
        let rules = rules(of: origin)
        pacers[origin]?.rules = rules
    }

    private mutating func change(_ origin: Origin, _ body: (inout OriginPacer) -> Void) {
        let rules = rules(of: origin)
        body(&pacers[origin, default: OriginPacer(rules)])
    }

    /// Whether a request shares a connection with others.
    ///
    /// - Parameters:
    ///   - carrier: how it travels.
    ///   - origin: where to.
    /// - Returns: false for a stream of an origin that has not shown yet that it carries several.
    package func isStream(_ carrier: OriginPacer.Carrier, of origin: Origin) -> Bool {
        carrier == .stream && multiplexed.contains(origin)
    }

    /// How many requests run in all.
    package var runningCount: Int { running.count }

    /// Whether a request may start.
    ///
    /// - Parameters:
    ///   - origin: where to.
    ///   - carrier: how it would travel.
    ///   - boot: the boot clock.
    ///   - others: what the other kinds of traffic do.
    /// - Returns: yes, or what it must wait for.
    package func admission(
        _ origin: Origin, by carrier: OriginPacer.Carrier = .connection, at boot: BootInstant,
        besides others: OriginBudgets = OriginBudgets()
    ) -> OriginPacer.Admission {
        let admission = self[origin].admission(at: boot, besides: others[origin])
        switch admission {
        case .waiting, .broken: return admission
        case .yes, .later, .busy: break
        }
        if running.count >= rules.total { return .busy(.total) }
        if isStream(carrier, of: origin) { return admission }
        let perHost = far.contains(origin) ? max(rules.perHost, rules.far) : rules.perHost
        return runningByHost[origin.host, default: 0] >= perHost ? .busy(.host) : admission
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
    ///   - carrier: how it travels.
    ///   - boot: the boot clock.
    package mutating func started(
        _ id: TransferID, at origin: Origin, by carrier: OriginPacer.Carrier = .connection, boot: BootInstant
    ) {
        change(origin) { $0.started(id, at: boot) }
        let isStream = isStream(carrier, of: origin)
        running[id] = Running(origin: origin, isStream: isStream)
        if !isStream { runningByHost[origin.host, default: 0] += 1 }
    }

    /// An origin has answered. One that carries streams says itself how many it takes, which the transport respects
    /// (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113 section 6.5.2). So it gets as many as there may be at once, unless it
    /// was overloaded before.
    ///
    /// - Parameters:
    ///   - origin: which one.
    ///   - carriesStreams: whether over a connection that carries streams. It applies to the requests that start next.
    package mutating func answered(_ origin: Origin, carriesStreams: Bool) {
        guard multiplexed.contains(origin) != carriesStreams else { return }
        if carriesStreams { multiplexed.insert(origin) } else { multiplexed.remove(origin) }
        updateRules(of: origin)
        if carriesStreams { pacers[origin]?.widen() }
    }

    /// An origin is far, or not. One that is, and answers at once, gets more requests than others: each costs it as
    /// little as one of a near client, and waits for the way there and back. It begins with as many as others have at
    /// the most, and finds its number as they do.
    ///
    /// - Parameters:
    ///   - origin: which one.
    ///   - isFar: whether it is far, and answers at once. It applies to the requests that start next.
    package mutating func located(_ origin: Origin, isFar: Bool) {
        guard far.contains(origin) != isFar else { return }
        if isFar { far.insert(origin) } else { far.remove(origin) }
        updateRules(of: origin)
        if isFar { pacers[origin]?.widen(to: rules.window.maximum) }
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
        guard let request = running.removeValue(forKey: id) else { return }
        let origin = request.origin
        if !request.isStream {
            let onHost = runningByHost[origin.host, default: 1] - 1
            runningByHost[origin.host] = onHost > 0 ? onHost : nil
        }
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
        change(origin) { $0.respect(share, at: boot) }
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
        change(origin) { pacer in
            pacer.wait(for: delay, at: boot)
            pacer.recordWaits(now: now, boot: boot)
        }
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
        change(origin) { $0.restore(limit: limit, wait: wait, now: now, boot: boot) }
    }
}
