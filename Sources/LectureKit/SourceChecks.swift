import LectureDownload
import LectureModel

/// A complete lecture that is to be compared with what is requested now.
struct CheckRequest: Sendable {
    let content: ContentID
    let key: ContentKey
    /// What is requested, with normalised URLs.
    let request: DownloadRequest
    let source: RequestSource
}

/// What became of a check.
enum CheckVerdict: Sendable, Hashable {
    /// The lecture is what is requested.
    case same
    /// It is not, or its source has a newer version.
    case other
}

/// Which lectures are being checked, which were, and which servers did not answer. A value: what is asked and when is
/// the manager's business.
struct SourceChecks {
    /// Checks at once. Each is one small exchange, or one file that is read.
    static let limit = 4
    /// So many failures in a row, and a server is not asked again in this manager's life: of a thousand lectures on a
    /// server that is down each would wait for its own time-out.
    static let patience = 3

    /// Contents for which the server is to be asked once it is known which lecture their link means.
    var headIsWanted: Set<ContentID> = []
    /// Work that has begun, by its number.
    var tasks: [Int: Task<Void, Never>] = [:]
    private var waiting: [CheckRequest] = []
    private var running = 0
    private var pending: Set<ContentID> = []
    private var asked: Set<ContentID> = []
    private var failures: [Origin: (count: Int, last: LectureError)] = [:]
    private var nextNumber = 0

    /// Whether anything waits or runs.
    var isBusy: Bool { running > 0 || !waiting.isEmpty }

    /// What became of a check that was to be added.
    enum Addition {
        /// It is going to run.
        case added
        /// The same lecture is being checked already; that check reports.
        case pending
        /// The lecture's source was asked before, and that answer stands.
        case answered
    }

    /// Adds a check, unless the lecture's source is being asked or was asked before.
    ///
    /// - Parameter check: the check.
    /// - Returns: what became of it.
    mutating func add(_ check: CheckRequest) -> Addition {
        guard !pending.contains(check.content) else { return .pending }
        guard check.request.sha256 != nil || asked.insert(check.content).inserted else { return .answered }
        pending.insert(check.content)
        waiting.append(check)
        return .added
    }

    /// A lecture's source may be asked once more.
    mutating func forget(_ content: ContentID) { asked.remove(content) }

    /// Takes the next check, when there is room for one more at once.
    mutating func next() -> (number: Int, check: CheckRequest)? {
        guard running < Self.limit, !waiting.isEmpty else { return nil }
        running += 1
        nextNumber += 1
        return (nextNumber, waiting.removeFirst())
    }

    /// A check has ended.
    mutating func ended(_ number: Int, _ content: ContentID) {
        running -= 1
        tasks[number] = nil
        pending.remove(content)
    }

    /// Everything that has not begun is dropped.
    mutating func dropWaiting() {
        pending.subtract(waiting.map(\.content))
        waiting = []
    }

    /// Why a server is not asked again; nil when it may be.
    func refusal(of origin: Origin) -> LectureError? {
        failures[origin].flatMap { $0.count >= Self.patience ? $0.last : nil }
    }

    /// A server has answered, or not.
    mutating func answered(_ origin: Origin, _ error: LectureError?) {
        guard let error, Self.isAboutServer(error.code) else {
            failures[origin] = nil
            return
        }
        failures[origin] = ((failures[origin]?.count ?? 0) + 1, error)
    }

    /// Whether a failure says something of the server and not of one file.
    private static func isAboutServer(_ code: LectureError.Code) -> Bool {
        (8001...8099).contains(-code.number) || [.status(429), .status(503)].contains(code)
    }

    // MARK: Comparing

    /// Compares what a source says of its media with the version that is there.
    ///
    /// - Parameters:
    ///   - plan: what the head of the answer says.
    ///   - media: the version's media.
    ///   - isOwnSource: whether the version came from this source. For another one only a proof counts: a digest, or a
    ///     strong validator that both have.
    /// - Returns: what the two say together.
    static func compare(_ plan: BodyPlan, with media: ResourceRecord, isOwnSource: Bool) -> CheckVerdict {
        if let announced = plan.digest, let known = media.sha256 { return announced == known ? .same : .other }
        if let total = plan.total, total != media.total { return .other }
        let known = Validator(etag: media.entityTag, lastModified: media.lastModified, total: media.total)
        switch known.agrees(with: plan.validator) {
        case .same: return .same
        case .different: return .other
        case .unknown: return isOwnSource ? .same : .other
        }
    }

    /// Compares what a gateway describes with the version that is there.
    ///
    /// - Returns: nil where the description does not say enough, and the media's server has to be asked.
    static func compare(_ wish: ResourceWish, with media: ResourceRecord) -> CheckVerdict? {
        if let size = wish.expectedBytes, size != media.total { return .other }
        if let digest = wish.expectedSHA256, let known = media.sha256 { return digest == known ? .same : .other }
        return nil
    }
}
