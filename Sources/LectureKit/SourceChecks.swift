import LectureDownload
import LectureFormats
import LectureModel

/// A complete lecture that is to be compared with what is requested now.
struct CheckRequest: Sendable {
    let content: ContentID
    let key: ContentKey
    /// What is requested, with normalised URLs.
    let request: DownloadRequest
    let source: RequestSource
}

/// The outcome of a lecture's check, or why there is none.
typealias RefreshResult = Result<RefreshOutcome, LectureError>

/// The result of a check.
enum CheckVerdict: Sendable, Hashable {
    /// The lecture is what is requested.
    case same
    /// It is not, or its source has a newer version.
    case other
}

/// Which lectures are being checked, which were, and which servers did not answer. A value: the manager decides what is
/// asked and when.
struct SourceChecks {
    /// Concurrent checks. Each is one small exchange, or one file to read.
    static let limit = 4
    /// After this many failures in a row a server is not asked again by this manager: each of a thousand lectures on a
    /// server that is down would wait for its own timeout.
    static let patience = 3

    /// Lectures whose server is to be asked once their link is resolved.
    var headIsWanted: Set<ContentID> = []
    /// Running work, by number.
    var tasks: [Int: Task<Void, Never>] = [:]
    /// Callers that wait for the outcome of a lecture's check.
    private var waiters: [ContentID: [Waiter<RefreshResult>]] = [:]
    private var waiting: [CheckRequest] = []
    private var running = 0
    private var pending: Set<ContentID> = []
    private var asked: Set<ContentID> = []
    private var failures: [Origin: (count: Int, last: LectureError)] = [:]
    private var nextNumber = 0

    /// Whether anything waits or runs.
    var isBusy: Bool { running > 0 || !waiting.isEmpty }

    /// The result of adding a check.
    enum Addition {
        /// It will run.
        case added
        /// The same lecture is being checked already; that check reports.
        case pending
        /// The lecture's source was asked before, and that answer is still valid.
        case answered
    }

    /// Adds a check, unless the lecture's source is being asked or was asked before.
    ///
    /// - Parameter check: the check.
    /// - Returns: the result.
    mutating func add(_ check: CheckRequest) -> Addition {
        guard !pending.contains(check.content) else { return .pending }
        guard check.request.sha256 != nil || asked.insert(check.content).inserted else { return .answered }
        pending.insert(check.content)
        waiting.append(check)
        return .added
    }

    /// A lecture's source may be asked once more.
    mutating func forget(_ content: ContentID) { asked.remove(content) }

    /// Takes the next check, when another may run.
    mutating func next() -> (number: Int, check: CheckRequest)? {
        guard running < Self.limit, !waiting.isEmpty else { return nil }
        running += 1
        nextNumber += 1
        return (nextNumber, waiting.removeFirst())
    }

    /// A caller waits for the outcome of a lecture's next check.
    ///
    /// - Parameter content: the lecture.
    /// - Returns: what the caller waits for.
    mutating func wait(for content: ContentID) -> Waiter<RefreshResult> {
        let waiter = Waiter<RefreshResult>()
        waiters[content, default: []].append(waiter)
        return waiter
    }

    /// A check has ended, or was not needed.
    mutating func ended(_ content: ContentID, _ result: RefreshResult) {
        for waiter in waiters.removeValue(forKey: content) ?? [] { waiter.answer(result) }
    }

    /// A running check has ended.
    mutating func ended(_ number: Int, _ content: ContentID, _ result: RefreshResult) {
        running -= 1
        tasks[number] = nil
        pending.remove(content)
        ended(content, result)
    }

    /// Drops everything that has not started.
    mutating func dropWaiting() {
        let dropped = waiting.map(\.content)
        waiting = []
        pending.subtract(dropped)
        for content in dropped { ended(content, .failure(LectureError(.closing))) }
    }

    /// Why a server is not asked again; nil when it may be.
    func refusal(of origin: Origin) -> LectureError? {
        failures[origin].flatMap { $0.count >= Self.patience ? $0.last : nil }
    }

    /// Records whether a server has answered.
    mutating func answered(_ origin: Origin, _ error: LectureError?) {
        guard let error, Self.isAboutServer(error.code) else {
            failures[origin] = nil
            return
        }
        failures[origin] = ((failures[origin]?.count ?? 0) + 1, error)
    }

    /// Whether a failure concerns the server and not one file.
    private static func isAboutServer(_ code: LectureError.Code) -> Bool {
        (8001...8099).contains(-code.number) || [.status(429), .status(503)].contains(code)
    }

    // MARK: Comparing

    /// Compares what a source says about its media with the stored version.
    ///
    /// - Parameters:
    ///   - plan: the head of the answer.
    ///   - media: the version's media.
    ///   - isOwnSource: whether the version came from this source. For another one only proof counts: a digest, or a
    ///     strong validator that both have.
    /// - Returns: the verdict.
    static func compare(_ plan: BodyPlan, with media: ResourceRecord, isOwnSource: Bool) -> CheckVerdict {
        if let announced = plan.digest, let known = media.sha256 { return announced == known ? .same : .other }
        if let total = plan.total, total != media.total { return .other }
        switch media.validator.agrees(with: plan.validator) {
        case .same: return .same
        case .different: return .other
        case .unknown: return isOwnSource ? .same : .other
        }
    }
}
