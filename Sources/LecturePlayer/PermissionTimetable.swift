import LectureKit

/// When the servers of a stream are asked while it plays, and when its permission is over. A value without a clock and
/// without a server: it is given the time and what was answered.
///
/// ```
///            first picture
///  permitted ──▶ check ── period ──▶ check ── period ──▶ check ✗ ── period, 30 s at most ──▶ check
///      │           refused, or ended: over                  a failure takes nothing away
///      ├──────▶ register ── 30 s ──▶ register ✗ ── 30 s ──▶ ✗ ── 30 s ──▶ ✗ the third in a row: over
///      └──────────────────────────────────────────────────────────▶ end of the permission: over
/// ```
///
/// Of each kind one request is under way at most. A failed check never ends a play: only the end that was permitted
/// does, and an answer that says so. The periods are the server's (see ``PlayPermission``).
struct PermissionTimetable: Sendable, Hashable {
    /// What is asked.
    enum Request: Sendable, Hashable, CaseIterable {
        /// Whether it may still be played (kind 3).
        case check
        /// Whether the learner plays elsewhere.
        case register
    }

    /// What to do now.
    enum Action: Sendable, Hashable {
        case ask(Request)
        /// The permission is over.
        case end(LectureError.Code)
    }

    /// When one kind of request is due.
    private struct Line: Sendable, Hashable {
        /// From the start of one request to the next.
        let period: Duration
        /// When the next one is due; nil while one is under way.
        var next: Duration?
        /// Failures in a row.
        var failures = 0
    }

    /// How long the longest wait after a failed check is.
    static let longestWait = Duration.seconds(30)
    /// How many failed registrations in a row end a play.
    static let failedRegistrations = 3

    private var lines: [Request: Line] = [:]
    /// When the permission ends; nil for never.
    private let end: Duration?

    /// Starts with a permission that was just given. The first check is due at once: the player asks for it when the
    /// first picture is there.
    ///
    /// - Parameters:
    ///   - permission: the permission. Its play was registered with it.
    ///   - now: a monotonic clock that also runs while the machine is suspended.
    init(_ permission: PlayPermission, at now: Duration) {
        end = permission.timeLeft.map { now + $0 }
        if let period = permission.checkPeriod { lines[.check] = Line(period: period, next: now) }
        if let period = permission.duplicatePeriod { lines[.register] = Line(period: period, next: now + period) }
    }

    /// What is due.
    ///
    /// - Parameter now: the clock.
    /// - Returns: what to do. A request counts as sent, until ``answered(_:_:at:)``.
    mutating func due(at now: Duration) -> [Action] {
        if let end, end <= now { return [.end(.playPermissionExpired)] }
        var actions: [Action] = []
        for request in Request.allCases {
            guard let next = lines[request]?.next, next <= now else { continue }
            lines[request]?.next = nil
            actions.append(.ask(request))
        }
        return actions
    }

    /// A request was answered, or not.
    ///
    /// - Parameters:
    ///   - request: which.
    ///   - error: how it failed; nil when it is permitted.
    ///   - now: the clock.
    /// - Returns: whether the play is over, with this error.
    mutating func answered(_ request: Request, _ error: LectureError?, at now: Duration) -> Bool {
        guard var line = lines[request] else { return false }
        defer { lines[request] = line }
        switch error?.code {
        case nil: (line.failures, line.next) = (0, now + line.period)
        case .playPermissionRefused, .playPermissionExpired, .duplicatePlay: return true
        default:
            line.failures += 1
            line.next = now + min(line.period, Self.longestWait)
            return request == .register && line.failures >= Self.failedRegistrations
        }
        return false
    }
}
