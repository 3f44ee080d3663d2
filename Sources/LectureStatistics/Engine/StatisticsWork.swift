import LectureModel

/// A request of this engine that has no end yet.
struct FlightWork {
    /// Where it is.
    enum Phase {
        /// Goes out as soon as its own wait and its target allow it.
        case ready
        /// Goes out at once: an answer of the target sent it elsewhere.
        case following
        /// On its way.
        case running(TransferID, TargetPace.Ticket, begun: BootInstant)
    }

    let id: FlightID
    let target: TargetID
    var batch: Bisection<OutboxID>
    /// What goes out.
    var piece: SealedPiece
    /// The size of the body before it was encoded.
    var rawBytes: Int
    /// Those of its reports that had been tried before they came into it; nil when nobody knows.
    let known: Set<OutboxID>?
    /// What its reports say; nil when nobody listens, or did not when it was made.
    var said: SaidReports?
    /// How often the piece was sent.
    var tries = 0
    /// How often it was answered with a status that allows a bounded number of tries.
    var boundedTries = 0
    /// How often in a row it came to nothing since this engine has it.
    var failures = 0
    /// Until when it waits by itself.
    var wait: PersistedWait?
    var phase = Phase.ready
    /// Where a redirect sent it.
    var url: String?
    var redirects = 0

    /// A request that was stored.
    init(_ stored: StoredFlight) {
        (id, target, piece) = (stored.id, stored.target, stored.piece)
        known = nil
        (tries, boundedTries, wait) = (stored.tries, stored.boundedTries, stored.wait)
        batch = Bisection(stored.piece.reports)
        rawBytes = max(stored.piece.body.count, stored.piece.query.utf8.count)
    }

    /// A new one.
    init(_ id: FlightID, _ target: TargetID, _ batch: Bisection<OutboxID>, _ made: MadePiece) {
        (self.id, self.target, self.batch) = (id, target, batch)
        (piece, rawBytes, known, said) = (made.piece, made.rawBytes, made.tried, made.said)
    }

    /// Another piece takes the place of the last one.
    mutating func take(_ made: MadePiece) {
        (piece, rawBytes, said, phase) = (made.piece, made.rawBytes, made.said, .ready)
        (tries, boundedTries, failures, wait) = (0, 0, 0, nil)
        (url, redirects) = (nil, 0)
    }

    var isRunning: Bool { if case .running = phase { true } else { false } }
}

/// A piece and what it was made from.
struct MadePiece {
    var piece: SealedPiece
    var rawBytes: Int
    /// Those of its reports that were tried already.
    var tried: Set<OutboxID>
    /// What its reports say; nil when nobody listens.
    var said: SaidReports?
}

/// What the reports of a request say, for those who listen to exchanges.
struct SaidReports {
    let ids: [String]
    let texts: [String]

    init(_ records: [ReportRecord]) {
        ids = records.map(\.id)
        texts = records.map { MacroFiller($0).fill("{JSON_DATA}").value }
    }
}

/// A target that an order is about.
struct TargetWork {
    let id: TargetID
    let address: ReportRecord.Target
    let settings: TargetSettings
    var limits: BatchLimits
    var pace: TargetPace
    /// As it is stored.
    var stored: TargetCondition
    var bytesLimit: Int?
    var lastTrouble: SendAnswer?
    /// `Content-Encoding` of what is sealed from now on.
    var encoding: String
    /// Answers in a row that were no success, those of one burst counted once; and when the last one came.
    var failures = 0
    var failedAt: BootInstant?
    /// What stands in the way.
    var obstacle: LectureError?
    /// Reports that are pending or leased.
    var open: Int
    /// Nothing can be begun; then when the next request that nobody has is due.
    var isDry = false
    var dueAfter: Duration?

    init(_ entry: TargetEntry, _ settings: TargetSettings) {
        (id, address, self.settings, stored) = (entry.id, entry.address, settings, entry.condition)
        (bytesLimit, lastTrouble, open) = (entry.condition.bytesLimit, entry.condition.lastTrouble, entry.open)
        limits = settings.limits
        if let bytesLimit { limits.bytes = min(limits.bytes, bytesLimit) }
        encoding = settings.encoding
        pace = TargetPace(
            limits: settings.pace, failures: stored.failures, wait: stored.wait, suspension: stored.suspension)
    }

    /// As it is to be stored.
    var condition: TargetCondition {
        var condition = TargetCondition()
        (condition.failures, condition.wait, condition.suspension) = (pace.failures, pace.wait, pace.suspension)
        (condition.bytesLimit, condition.lastTrouble) = (bytesLimit, lastTrouble)
        return condition
    }

    /// Whether the target has asked to wait for longer than until now.
    func isAskedToWait(at now: Timestamp) -> Bool {
        lastTrouble?.reason == .busy && (pace.wait?.remaining(at: now) ?? .zero) > .zero
    }

    /// Somebody asks to send.
    mutating func resume(at now: Timestamp) {
        pace.resume(liftingWait: !isAskedToWait(at: now))
        (failures, failedAt, obstacle) = (0, nil, nil)
    }

    /// It answered as it should, or refused what was sent and not who sends.
    mutating func succeeded() { (failures, failedAt, obstacle) = (0, nil, nil) }

    /// Its requests were all given up; their ends are not told.
    mutating func forgetRequests() {
        pace = TargetPace(
            limits: settings.pace, failures: pace.failures, wait: pace.wait, suspension: pace.suspension)
        isDry = false
    }

    /// Whether an order has done with it until somebody sees to it, or for longer than the order waits.
    func isGivenUp(by order: SendOrder, at now: Timestamp) -> Bool {
        pace.suspension != nil || failures >= max(1, order.attempts)
            || (pace.wait?.remaining(at: now) ?? .zero) > order.longestWait
    }
}

/// An order of this process.
struct OrderWork {
    let order: SendOrder
    let targets: Set<TargetID>
    var summary = SendSummary()
    var told = SendSummary()
    var toldAt: BootInstant
}
