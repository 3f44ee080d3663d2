import LectureEngine
import LectureFormats
import LectureModel

/// A request of this engine that is not settled yet.
struct InFlightBatchWork {
    /// The phases of a request.
    enum Phase {
        /// Sent as soon as its own wait and its target allow it.
        case ready
        /// Sent at once: an answer of the target redirected it.
        case following
        /// Running.
        case running(TransferID, started: BootInstant)
    }

    let id: InFlightBatchID
    let target: TargetID
    var bisection: Bisection<OutboxID>
    /// The request to send.
    var frozen: FrozenRequest
    /// The size of the body before it was encoded.
    var rawBytes: Int
    /// Those of its reports that had been tried before they became part of it; nil when unknown.
    let known: Set<OutboxID>?
    /// The texts of its reports; nil when there is no listener, or was none when it was made.
    var said: SaidReports?
    /// How often the request was sent.
    var tries = 0
    /// How often it was answered with a status that allows a bounded number of tries.
    var boundedTries = 0
    /// How often in a row it failed since this engine claimed it.
    var failures = 0
    /// Its own wait.
    var wait: RetryWait?
    var phase = Phase.ready
    /// Where a redirect sent it.
    var url: String?
    var redirects = 0

    /// A request that was stored.
    init(_ stored: StoredInFlightBatch) {
        (id, target, frozen) = (stored.id, stored.target, stored.frozen)
        known = nil
        (tries, boundedTries, wait) = (stored.tries, stored.boundedTries, stored.wait)
        bisection = Bisection(stored.frozen.reports)
        rawBytes = max(stored.frozen.body.count, stored.frozen.query.utf8.count)
    }

    /// A new one.
    init(_ id: InFlightBatchID, _ target: TargetID, _ bisection: Bisection<OutboxID>, _ made: MadeRequest) {
        (self.id, self.target, self.bisection) = (id, target, bisection)
        (frozen, rawBytes, known, said) = (made.frozen, made.rawBytes, made.tried, made.said)
    }

    /// Replaces the last request with another.
    mutating func take(_ made: MadeRequest) {
        (frozen, rawBytes, said, phase) = (made.frozen, made.rawBytes, made.said, .ready)
        (tries, boundedTries, failures, wait) = (0, 0, 0, nil)
        (url, redirects) = (nil, 0)
    }

    var isRunning: Bool { if case .running = phase { true } else { false } }
}

/// A request and its sources.
struct MadeRequest {
    var frozen: FrozenRequest
    var rawBytes: Int
    /// Those of its reports that were tried already.
    var tried: Set<OutboxID>
    /// The texts of its reports; nil when there is no listener.
    var said: SaidReports?
}

/// The texts of a request's reports, for listeners to exchanges.
struct SaidReports {
    let ids: [String]
    let texts: [String]

    init(_ records: [ReportRecord]) {
        ids = records.map(\.id)
        texts = records.map { MacroFiller($0).fill("{JSON_DATA}").value }
    }
}

/// A target of an order.
struct TargetWork {
    let id: TargetID
    let address: ReportRecord.Target
    let settings: TargetSettings
    var limits: BatchLimits
    /// Where its requests go, as far as other kinds of traffic are concerned; nil when its URL is unusable.
    let origin: Origin?
    /// When the next request may start.
    var pacer: OriginPacer
    /// Why nothing is sent to it until an operator has resolved the cause; nil when something is.
    var suspension: SuspendReason?
    /// The stored condition.
    var stored: TargetCondition
    var bytesLimit: Int?
    var lastFailure: SendAnswer?
    /// `Content-Encoding` of requests that are frozen from now on.
    var encoding: String
    /// Unsuccessful answers in a row.
    var streak = FailureStreak()
    /// Reports that are pending or leased.
    var open: Int
    /// Set when nothing can be started.
    var idle: Idle?

    /// Nothing can be started; when the next unclaimed request is due, if there is one.
    struct Idle {
        let dueAfter: Duration?
    }

    init(_ entry: TargetEntry, _ settings: TargetSettings, now: Timestamp, boot: BootInstant) {
        (id, address, self.settings, stored) = (entry.id, entry.address, settings, entry.condition)
        (bytesLimit, lastFailure, open) = (entry.condition.bytesLimit, entry.condition.lastFailure, entry.open)
        origin = try? Origin(url: address.url)
        limits = settings.limits
        if let bytesLimit { limits.bytes = min(limits.bytes, bytesLimit) }
        encoding = settings.encoding
        (suspension, pacer) = (stored.suspension, OriginPacer(settings.pace))
        pacer.restore(openings: stored.failures, wait: stored.wait, now: now, boot: boot)
    }

    /// The condition to store.
    var condition: TargetCondition {
        var condition = TargetCondition()
        (condition.failures, condition.wait, condition.suspension) = (pacer.openings, pacer.storedWait, suspension)
        (condition.bytesLimit, condition.lastFailure) = (bytesLimit, lastFailure)
        return condition
    }

    /// What other kinds of traffic do there.
    func others(in budgets: OriginBudgets) -> OriginShare { origin.map { budgets[$0] } ?? OriginShare() }

    /// Whether a request may start; nil while the target is suspended.
    func admission(at boot: BootInstant, besides others: OriginShare = OriginShare()) -> OriginPacer.Admission? {
        suspension == nil ? pacer.admission(at: boot, besides: others) : nil
    }

    /// Whether the target has asked to wait for longer than until now.
    func isAskedToWait(at boot: BootInstant) -> Bool {
        lastFailure?.reason == .busy && pacer.waitLeft(at: boot) > .zero
    }

    /// An order begins. For an operator who asks to send, what suspended the target is resolved.
    mutating func resume(_ resumption: SendResumption, at boot: BootInstant) {
        if resumption == .everything { suspension = nil }
        if resumption != .nothing, !isAskedToWait(at: boot) { pacer.endWaits() }
        streak = FailureStreak()
    }

    /// It answered as expected, or refused the reports but not the sender.
    mutating func succeeded() { streak = FailureStreak() }

    /// Its requests were all cancelled; their ends will not be reported.
    mutating func forgetRequests() {
        pacer.forgetRunning()
        idle = nil
    }

    /// Lowers the size limit, so that bodies as large as the refused one are not made again.
    mutating func lowerLimit(refused inFlightBatch: InFlightBatchWork) {
        guard inFlightBatch.frozen.reports.count > 1 else { return }
        limits = limits.lowered(refused: inFlightBatch.rawBytes)
        bytesLimit = max(1, limits.bytes)
    }

    /// Whether an order abandons it: until an operator resolves the cause, or for longer than the order waits.
    func isAbandoned(by order: SendOrder, at boot: BootInstant, besides others: OriginShare) -> Bool {
        suspension != nil || streak.count >= max(1, order.attempts)
            || pacer.waitLeft(at: boot, besides: others) > order.longestWait
    }
}

/// Unsuccessful answers of a target in a row. A burst counts once: failures of requests that started before the last
/// counted one was known.
struct FailureStreak {
    /// How many.
    private(set) var count = 0
    /// The newest error; nil without one.
    private(set) var error: LectureError?
    private var countedAt: BootInstant?

    /// A request failed.
    mutating func failed(_ error: LectureError, started: BootInstant, at boot: BootInstant) {
        self.error = error
        if let countedAt, started < countedAt { return }
        (count, countedAt) = (count + 1, boot)
    }
}

/// An order of this process.
struct OrderWork {
    let order: SendOrder
    let targets: Set<TargetID>
    /// Its progress, and its result at the end; the obstacles only then.
    var result = ReportSendResult()
    /// The progress that was published last.
    var published = ReportSendResult()
    var publishedAt: BootInstant
}
