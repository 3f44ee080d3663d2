/// An immutable snapshot of one lecture in the store at one moment.
public struct Content: Sendable, Hashable {
    /// The identity.
    public var key: ContentKey
    /// The requested URL.
    public var sourceURL: String
    /// The title, or the last part of the URL.
    public var title: String
    /// The course it belongs to; empty when unknown.
    public var course: String
    /// The teacher; empty when unknown.
    public var teacher: String
    /// The virtual folder, `a/b/c`; empty at top level.
    public var folder: String
    /// What a learner sees it as.
    public var type: ContentType
    /// The download state.
    public var state: ItemState
    /// Why it is stopped; nil unless ``state`` is stopped.
    public var stopReason: StopReason?
    /// The last failure; nil without one.
    public var error: LectureError?
    /// −100 (last) … 100 (first).
    public var priority: Int
    /// The position in the queue among those of the same priority.
    public var position: Int64
    /// Bytes of all its resources; nil until known.
    public var totalBytes: Int64?
    /// Verified bytes that are durable on disk.
    public var committedBytes: Int64
    /// Chunks of all its resources; 0 until known.
    public var totalChunks: Int
    /// Verified chunks that are durable on disk.
    public var committedChunks: Int
    /// Attempts since the last progress.
    public var attempts: Int
    /// When it is tried again; nil when no attempt is planned.
    public var nextAttempt: Timestamp?
    /// The SHA-256 of the media, 32 bytes; nil when never computed.
    public var sha256: [UInt8]?
    /// Playing time; nil when unknown.
    public var duration: Duration?
    /// When it was registered.
    public var added: Timestamp
    /// When it became complete; nil until then.
    public var completed: Timestamp?
    /// Whether a complete version of it is in the store. It may be older than what was requested last; see
    /// ``isOutdated``.
    public var isPlayable: Bool
    /// Whether the version in the store is not the requested one: a request or its source named another, which is not
    /// complete yet.
    public var isOutdated: Bool

    /// Creates a snapshot of a lecture.
    package init(key: ContentKey, sourceURL: String, title: String, state: ItemState, added: Timestamp) {
        self.key = key
        self.sourceURL = sourceURL
        self.title = title
        course = ""
        teacher = ""
        folder = ""
        type = .downloading
        self.state = state
        priority = 0
        position = 0
        committedBytes = 0
        totalChunks = 0
        committedChunks = 0
        attempts = 0
        isPlayable = false
        isOutdated = false
        self.added = added
    }
}

/// Which lectures a list shows.
public struct ContentFilter: Sendable, Hashable {
    /// Only these states. All pass when neither states nor ``conditions`` are given.
    public var states: Set<ItemState> = []
    /// Also those for which one of these is true, whatever their state.
    public var conditions: Set<ContentCondition> = []
    /// Only this type.
    public var type: ContentType?
    /// Only this course.
    public var course: String?
    /// Only this folder.
    public var folder: String?
    /// Only those whose title has this text; the case of the letters A to Z is ignored.
    public var search: String?
    /// Only those completed at or after this time.
    public var completedSince: Timestamp?
    /// Only those completed before this time.
    public var completedBefore: Timestamp?
    /// Only those whose licence ends or has to be checked before this time.
    public var expiresBefore: Timestamp?

    /// A filter that matches everything.
    public init() {}
}

/// A condition of a lecture besides its state.
public enum ContentCondition: String, Sendable, CaseIterable {
    /// It plays an older version than requested.
    case outdated
    /// Its file is missing or damaged, and not repaired yet.
    case damaged
}

/// The order of a list. Equal elements are in the order of registration.
public enum ContentSort: String, Sendable, CaseIterable {
    /// As registered.
    case added
    /// By title, letter case ignored.
    case title
    /// Latest completed first, unfinished ones last.
    case downloaded
    /// Largest first, unknown sizes last.
    case size
    /// Highest priority first, then queue position.
    case priority
    /// The licence that ends or has to be checked first, lectures without such a day last.
    case expiry
    /// Lectures in folders first, by folder and title; those at the top level last, by title.
    case folder
}

/// One page of a list.
public struct ContentPage: Sendable, Hashable {
    /// How many to skip.
    public var offset: Int
    /// The maximum number.
    public var limit: Int

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - offset: how many to skip.
    ///   - limit: the maximum number.
    public init(offset: Int = 0, limit: Int = .max) {
        self.offset = offset
        self.limit = limit
    }
}

/// One request to a server, kept for `why`.
public struct Attempt: Sendable, Hashable {
    /// When it started.
    public var at: Timestamp
    /// How long it took.
    public var duration: Duration
    /// Scheme, host and port, without path and query.
    public var origin: String
    /// The HTTP status; nil without one.
    public var status: Int?
    /// libcurl's result code; 0 when the transfer itself went well.
    public var curlCode: Int
    /// Bytes of body received.
    public var bytes: Int64
    /// The first requested byte.
    public var rangeFirst: Int64
    /// How many bytes were requested; nil for an open range.
    public var rangeCount: Int64?
    /// What was decided: `continued`, `retry`, `wait`, `renew`, `redirect`, `restart`, `failed`, `done`, `split` …
    public var decision: String
    /// Why, as a short sentence without user data.
    public var detail: String

    /// Creates a record of an attempt.
    package init(at: Timestamp, origin: String, decision: String) {
        self.at = at
        self.origin = origin
        self.decision = decision
        duration = .zero
        curlCode = 0
        bytes = 0
        rangeFirst = 0
        detail = ""
    }
}

/// The number of lectures in each state, and their bytes.
public struct StoreStatus: Sendable, Hashable {
    /// Lectures by state.
    public var counts: [ItemState: Int] = [:]
    /// Verified bytes that are durable.
    public var committedBytes: Int64 = 0
    /// Bytes of all lectures whose size is known.
    public var totalBytes: Int64 = 0

    /// An empty store.
    package init() {}
}

extension Content {
    /// Whole percent of what is durable and verified, 0…100, rounded down; nil while it is not known. The bytes of an
    /// adaptive lecture are known at its end: until then it is the share of its chunks, at most 99.
    public var committedPercent: Int? {
        Self.percent(state, type, bytes: committedBytes, of: totalBytes, chunks: committedChunks, ofChunks: totalChunks)
    }

    static func percent(
        _ state: ItemState, _ type: ContentType, bytes: Int64, of total: Int64?, chunks: Int, ofChunks totalChunks: Int
    ) -> Int? {
        if state == .completed { return 100 }
        if let total {
            guard total > 0 else { return 100 }
            let part = min(max(0, bytes), total).magnitude.multipliedFullWidth(by: 100)
            return Int(total.magnitude.dividingFullWidth(part).quotient)
        }
        guard type == .adaptiveDownload, totalChunks > 0 else { return nil }
        return min(99, max(0, chunks) * 100 / totalChunks)
    }
}
