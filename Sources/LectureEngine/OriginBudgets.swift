package import LectureFormats

/// What one kind of traffic does at an origin, and what it has met there: all that concerns the other kinds.
package struct OriginShare: Hashable, Sendable {
    /// How many requests run.
    package var running = 0
    /// Until when the server asked to wait.
    package var waitUntil: BootInstant?
    /// Until when a breaker is open because the origin did not answer, and since when.
    package var brokenUntil: BootInstant?
    /// Since when that breaker is open.
    package var brokenSince: BootInstant?
    /// How often the origin was overloaded, a burst counted once.
    package var overloads = 0

    /// Nothing runs, and nothing was met.
    package init() {}

    /// Both together.
    static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.running += right.running
        sum.overloads += right.overloads
        sum.waitUntil = [left.waitUntil, right.waitUntil].compactMap(\.self).max()
        sum.brokenUntil = [left.brokenUntil, right.brokenUntil].compactMap(\.self).max()
        sum.brokenSince = [left.brokenSince, right.brokenSince].compactMap(\.self).max()
        return sum
    }

    /// How long nothing may start because of what was met.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - servedAt: when the origin served this kind of traffic last; nil for never.
    /// - Returns: zero when something may.
    package func left(at boot: BootInstant, servedAt: BootInstant?) -> Duration {
        max(waitLeft(at: boot), breakLeft(at: boot, servedAt: servedAt))
    }

    func waitLeft(at boot: BootInstant) -> Duration { max((waitUntil ?? boot) - boot, .zero) }

    /// How long the breaker of another kind is open.
    ///
    /// - Parameters:
    ///   - boot: the boot clock.
    ///   - servedAt: when the origin served this kind of traffic last. After the breaker has opened that shows that it
    ///     works again.
    /// - Returns: zero when it is not, or no longer of concern.
    func breakLeft(at boot: BootInstant, servedAt: BootInstant?) -> Duration {
        guard let brokenUntil, let brokenSince, servedAt.map({ $0 <= brokenSince }) ?? true else { return .zero }
        return max(brokenUntil - boot, .zero)
    }
}

/// The budget of each origin (scheme, host, port) that all kinds of traffic of a process share: what the others do at
/// an origin counts against ``total``, and what they have met there is respected.
///
/// It is no state of its own but derived from the pacers of the other machines in each step. So it cannot differ from
/// them, whatever fails and is rolled back.
package struct OriginBudgets: Hashable, Sendable {
    /// Requests at once to one origin, of all kinds together. More than the kinds use by default; settings may allow
    /// one kind more. A kind that has none running may always start one, so that long transfers keep no licence and no
    /// report waiting.
    package static let total = 64
    /// How long a breaker of another kind is respected: each kind tries by itself after that.
    package static let longestBreak = Duration.seconds(60)

    private var shares: [Origin: OriginShare] = [:]

    /// Nothing runs, and nothing was met.
    package init() {}

    /// The budgets of one kind of traffic.
    ///
    /// - Parameter pacers: each with where its requests go; nil when that concerns no other kind.
    package init(_ pacers: [(origin: Origin?, pacer: OriginPacer)]) {
        for case (let origin?, let pacer) in pacers { add(pacer.share, at: origin) }
    }

    /// The share of an origin.
    package subscript(origin: Origin) -> OriginShare { shares[origin] ?? OriginShare() }

    /// Adds what one kind does at an origin.
    ///
    /// - Parameters:
    ///   - share: what it does.
    ///   - origin: where.
    package mutating func add(_ share: OriginShare, at origin: Origin) {
        guard share != OriginShare() else { return }
        shares[origin] = self[origin] + share
    }

    /// Adds what another kind does.
    ///
    /// - Parameter others: what it does everywhere.
    package mutating func add(_ others: Self) {
        if shares.isEmpty {
            shares = others.shares
            return
        }
        // Sums and maxima: the order does not matter.
        for (origin, share) in others.shares { add(share, at: origin) }
    }
}
