/// A content as the engine works on it.
package struct ItemRecord: Sendable {
    /// The row.
    package var id: ContentID
    /// What everybody may see of it.
    package var content: Content
    /// What was last asked for it.
    package var desire: Desire
    /// Whether the source is a gateway link that answers a descriptor, or has answered one.
    package var isGateway: Bool
    /// Whether the source has told what it is.
    package var isLoaded: Bool
    /// Request headers for the source's own origin.
    package var headers: [String: String]
    /// Other URLs of the same bytes, as wished for.
    package var mirrors: [String]
    /// The SHA-256 the media must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size the media must have; nil when unknown.
    package var expectedBytes: Int64?
    /// When the waiting time was set; with `content.nextAttempt` it survives a clock that is set back.
    package var waitSet: Timestamp?
    /// The fencing number it was leased under, or the last one.
    package var fence: Int64
    /// The playable version, when there is one.
    package var currentVersion: VersionID?
    /// Whether chunks of that version are damaged and it is still the one that is wanted, so that only those are to be
    /// downloaded again.
    package var needsRepair: Bool

    /// Makes a record.
    package init(id: ContentID, content: Content, desire: Desire, fence: Int64) {
        self.id = id
        self.content = content
        self.desire = desire
        self.fence = fence
        isGateway = false
        isLoaded = false
        needsRepair = false
        headers = [:]
        mirrors = []
    }

    /// The right to change this content.
    package var lease: ContentLease { ContentLease(content: id, fence: fence) }

    /// The one resource of a content whose URL is the media itself.
    package var directWish: ResourceWish {
        var wish = ResourceWish(role: .media, name: "", urls: [content.sourceURL] + mirrors)
        wish.expectedSHA256 = expectedSHA256
        wish.expectedBytes = expectedBytes.flatMap { UInt64(exactly: $0) }
        return wish
    }
}

/// The state of an item as it is to be stored. Cross-field rules: a stop reason exactly with `stopped`; an error with
/// `failed`.
package struct ItemStatus: Sendable, Hashable {
    /// Where the item is on its way.
    package var state: ItemState
    /// Why it is stopped.
    package var stopReason: StopReason?
    /// What went wrong last; nil when nothing did.
    package var error: LectureError?
    /// Attempts since bytes were last gained.
    package var attempts: Int
    /// When it is tried again; nil when no attempt is planned.
    package var nextAttempt: Timestamp?
    /// When the waiting time was set.
    package var waitSet: Timestamp?

    /// Makes a status.
    package init(
        _ state: ItemState, stopReason: StopReason? = nil, error: LectureError? = nil, attempts: Int = 0,
        nextAttempt: Timestamp? = nil, waitSet: Timestamp? = nil
    ) {
        self.state = state
        self.stopReason = stopReason
        self.error = error
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.waitSet = waitSet
    }
}

/// A resource of a version.
package struct ResourceRecord: Sendable {
    /// How far a resource is. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// Known, nothing planned.
        case absent = 0
        /// Its length and its place on the disk are fixed.
        case planned = 1
        /// All chunks are proven.
        case proven = 2
        /// It stands under its final name.
        case placed = 3
        /// It cannot be had; only for resources that are not required.
        case failed = 4
    }

    /// The row.
    package var id: ResourceID
    /// The version it belongs to.
    package var version: VersionID
    /// The content it belongs to.
    package var content: ContentID
    /// What it is to the content.
    package var role: ResourceRole
    /// A name for people, for example a subtitle's.
    package var name: String
    /// How far it is.
    package var state: State
    /// Relative to the store; empty until planned.
    package var path: String
    /// The length in bytes; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk in bytes; never changes under proven chunks. With ``seal`` the first one is shorter.
    package var chunkBytes: UInt64
    /// Whether its files are sealed, and how they were left.
    package var seal: SealState
    /// Chunks that are durable with their proof.
    package var provenChunks: Int
    /// The bytes of these chunks.
    package var provenBytes: UInt64
    /// The stored validator: the strong entity tag, the `Last-Modified` text.
    package var entityTag: String?
    /// The `Last-Modified` text, letter by letter as it came.
    package var lastModified: String?
    /// The SHA-256 it must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size it must have; nil when unknown.
    package var expectedBytes: UInt64?
    /// The SHA-256 of the whole, 32 bytes; nil when never computed.
    package var sha256: [UInt8]?
    /// The media type as answered.
    package var mediaType: String?
    /// Whether the server has answered a range with one.
    package var acceptsRanges: Bool

    /// Makes a record of a resource nothing is known of.
    package init(id: ResourceID, version: VersionID, content: ContentID, role: ResourceRole) {
        self.id = id
        self.version = version
        self.content = content
        self.role = role
        name = ""
        state = .absent
        path = ""
        chunkBytes = 1 << 20
        seal = .plain
        provenChunks = 0
        provenBytes = 0
        acceptsRanges = false
    }

    /// How it is cut into chunks.
    package var grid: ChunkGrid {
        ChunkGrid(length: chunkBytes, lead: seal == .plain ? 0 : UInt64(SealedFormat.headerBytes))
    }

    /// The length of its finished file in bytes: that of the ciphertext for a sealed one. Nil while unknown.
    package var fileBytes: UInt64? {
        guard let total, seal != .plain else { return total }
        return SealedLayout(plaintextLength: Int(clamping: total)).map { UInt64($0.ciphertextLength) }
    }
}

/// A resource that a version needs, before it has a row.
package struct ResourceWish: Sendable, Hashable {
    /// What it is to the content.
    package var role: ResourceRole
    /// A name for people, for example a subtitle's.
    package var name: String
    /// Where the bytes are, the best place first.
    package var urls: [String]
    /// The SHA-256 it must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size it must have; nil when unknown.
    package var expectedBytes: UInt64?
    /// Makes a wish for bytes of which nothing is known.
    package init(role: ResourceRole, name: String, urls: [String]) {
        self.role = role
        self.name = name
        self.urls = urls
    }
}

/// A URL of a resource, with its life time. Rank 0 is tried first.
package struct URLLeaseRecord: Sendable, Hashable {
    /// What is known of it. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// May be used.
        case usable = 0
        /// Was refused (401, 403, 404, 410); needs the resolver.
        case refused = 1
        /// Served other bytes than the rest; never used again.
        case disagrees = 2
    }

    /// The row.
    package var id: URLLeaseID
    /// What it leads to.
    package var resource: ResourceID
    /// The address, with its signature if it has one.
    package var url: String
    /// The order in which URLs are tried, 0 first.
    package var rank: Int
    /// What is known of it.
    package var state: State
    /// When it ends; nil when nobody said so.
    package var expires: Timestamp?

    /// Makes a record.
    package init(id: URLLeaseID, resource: ResourceID, url: String, rank: Int, state: State, expires: Timestamp?) {
        self.id = id
        self.resource = resource
        self.url = url
        self.rank = rank
        self.state = state
        self.expires = expires
    }
}

/// What is remembered of a server across runs.
package struct OriginRecord: Sendable, Hashable {
    /// Scheme, host and port.
    package var origin: String
    /// How many requests at once it takes.
    package var limit: Int
    /// Until when it asks to be left alone, and when it asked.
    package var waitUntil: Timestamp?
    /// When it asked; a clock that is set back does not lengthen the wait.
    package var waitSet: Timestamp?

    /// Makes a record.
    package init(origin: String, limit: Int, waitUntil: Timestamp? = nil, waitSet: Timestamp? = nil) {
        self.origin = origin
        self.limit = limit
        self.waitUntil = waitUntil
        self.waitSet = waitSet
    }
}

/// What a gateway's descriptor or a first answer tells about a content, to be stored. Nil leaves what is stored.
package struct ContentFacts: Sendable, Hashable {
    /// The identity the gateway names.
    package var key: ContentKey?
    /// The title.
    package var title: String?
    /// The course it belongs to.
    package var course: String?
    /// The teacher.
    package var teacher: String?
    /// Who provides it.
    package var company: String?
    /// What it is about.
    package var synopsis: String?
    /// A page about it.
    package var descriptionURL: String?
    /// Playing time.
    package var duration: Duration?
    /// The width of the picture in pixels.
    package var width: Int?
    /// The height of the picture in pixels.
    package var height: Int?
    /// What it is to a learner.
    package var type: ContentType?
    /// The descriptor as it came, so that members this version does not know are kept.
    package var descriptor: String?
    /// No facts.
    package init() {}
}

/// What one command wants, counted.
package struct RunSummary: Sendable, Hashable {
    /// Items by state.
    package var counts: [ItemState: Int] = [:]
    /// Stopped items by reason.
    package var stops: [StopReason: Int] = [:]
    /// Bytes that are durable with their proof.
    package var bytesProven: Int64 = 0
    /// Bytes of the items whose size is known.
    package var bytesTotal: Int64 = 0
    /// Nothing wanted.
    package init() {}
}

/// The store as the download engine needs it. Confined to one executor; every method is synchronous, since the engine
/// runs where the store's writer lives. Every method throws ``LectureError``; those that take a ``ContentLease`` throw
/// ``LectureError/Code/leaseLost`` and change nothing when the fence is old.
package protocol DownloadIndex: AnyObject {
    /// Runs `body` as one durable transaction (`BEGIN IMMEDIATE`, WAL, `synchronous=FULL`); rolls back when it throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result

    // MARK: Owners, runs, leases

    /// Makes a row for this run of this program. The number names its byte in the lock file.
    func registerOwner(pid: Int, bootID: String, command: String, now: Timestamp) throws -> OwnerID
    /// Deletes an owner and its runs; items it had leased in flight go back to `queued`.
    func dismissOwner(_ owner: OwnerID, now: Timestamp) throws
    /// All owners with a row, this one included.
    func owners() throws -> [OwnerID]
    /// Makes a run: the set of contents that one command wants.
    func beginRun(owner: OwnerID, command: String, now: Timestamp) throws -> RunID
    /// Adds a content to a run.
    func join(_ run: RunID, content: ContentID) throws
    /// Adds every content that is not complete, not cancelled and not paused to a run; answers how many.
    func joinUnfinished(_ run: RunID) throws -> Int
    /// Leases up to `limit` contents of the run that are due now: queued, with `next_attempt` passed (or set more than
    /// its own length ago, see `wait_set`), not leased; priority first, then position. Raises each fence by one.
    func claim(run: RunID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [ItemRecord]
    /// Leases one content whatever its place in the queue, unless another owner has it (then nil).
    func claim(content: ContentID, owner: OwnerID, now: Timestamp) throws -> ItemRecord?
    /// Gives a lease back.
    func release(_ lease: ContentLease) throws
    /// Makes stopped contents of the run whose reason may pass by itself (not `user`, not `licenceRefused`) and whose
    /// `next_attempt` is due (see ``claim(run:owner:limit:now:)``) queued again; answers how many.
    @discardableResult
    func requeueDue(run: RunID, now: Timestamp) throws -> Int
    /// Gives all leases of an owner back; what was in flight becomes queued.
    func requeueLeases(of owner: OwnerID, now: Timestamp) throws
    /// The earliest `next_attempt` among contents of the run that are queued, or stopped for a reason that may pass by
    /// itself, and not leased; nil when there is none. A queued content without one is due since the epoch.
    func nextDue(run: RunID) throws -> Timestamp?
    /// How many contents of the run are queued (due or not) without a lease, and how many another owner has leased.
    func waiting(run: RunID, owner: OwnerID) throws -> (queued: Int, leasedElsewhere: Int)
    /// What is wanted now of the contents this owner has leased and of whose desire is not `fetch`.
    func changedDesires(owner: OwnerID) throws -> [(ContentID, Desire)]
    /// Changes when another connection has committed (`PRAGMA data_version`).
    func dataVersion() throws -> Int64

    // MARK: Contents

    /// Registers a wish, or finds the content it means: by key if given, else by `identity`. A content that is not
    /// complete becomes `queued` with desire `fetch`, its attempts and waiting time forgotten, unless it is leased.
    ///
    /// One that is complete is compared with the request (``CompleteVersion/match(_:source:isGateway:check:)``): where
    /// another version is requested, the content is queued and its version marked as outdated.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the key to use when the request has none, what repeated requests for the same source have in common,
    ///     and whether its URL is a gateway link.
    ///   - check: how far a complete content is compared with the request.
    ///   - now: the wall clock.
    /// - Returns: the row, its key, and what became of the request.
    /// - Throws: ``LectureError``.
    func enqueue(
        _ request: DownloadRequest, source: RequestSource, check: SourceCheck, now: Timestamp
    ) throws -> (id: ContentID, key: ContentKey, outcome: EnqueueOutcome)
    /// The content with this key.
    func item(_ key: ContentKey) throws -> ItemRecord?
    /// The content of this row.
    func item(_ id: ContentID) throws -> ItemRecord?
    /// Stores a state.
    func setStatus(_ lease: ContentLease, _ status: ItemStatus, now: Timestamp) throws
    /// Stores what the source told, and marks the content loaded. When `facts.key` already belongs to another content,
    /// nothing is changed and that content's row is answered: the caller merges.
    func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID?
    /// Replaces this content in every run by another and deletes it; for two sources that turn out to be one content.
    func merge(_ lease: ContentLease, into other: ContentID) throws
    /// Stores a desire; a content nobody has leased follows at once (`pause` and `cancel` → stopped(user); `fetch` →
    /// queued unless complete). Answers false for an unknown key.
    func setDesire(_ key: ContentKey, _ desire: Desire, now: Timestamp) throws -> Bool
    /// As above, for every content that is not complete (all, for `remove`; samples only when told; cancelled ones are
    /// spared by `fetch`). Answers how many were changed.
    func setDesireOfAll(_ desire: Desire, includingSamples: Bool, now: Timestamp) throws -> Int
    /// Stores a priority, or a place in the queue relative to another content.
    func setPriority(_ key: ContentKey, _ priority: Int) throws -> Bool
    /// Moves a content before (or to the very first or last place when nil is given) another.
    func move(_ key: ContentKey, before other: ContentKey?, toEnd: Bool) throws -> Bool
    /// Contents whose desire is `remove` and that nobody else has leased.
    func contentsToRemove(limit: Int) throws -> [ContentID]
    /// The paths of all files of a content, of every version.
    func paths(_ content: ContentID) throws -> [String]
    /// Whether a row names this path. Rows are committed before their files are made and deleted after them, so that a
    /// file without a row belongs to nobody.
    func hasResource(path: String) throws -> Bool
    /// Deletes a content with everything below it. The files must be gone before.
    func deleteContent(_ lease: ContentLease) throws
    /// Where the finished bytes shall also stand.
    func outputs(_ content: ContentID) throws -> [String]
    /// An output is done.
    func deleteOutput(_ content: ContentID, path: String) throws

    // MARK: Versions and resources

    /// The version being built, with its resources; nil when there is none.
    func building(_ content: ContentID) throws -> (version: VersionID, resources: [ResourceRecord])?
    /// The resources of a version, media first.
    func resources(_ version: VersionID) throws -> [ResourceRecord]
    /// Begins a version with these resources. A version that is being built must not exist.
    func beginVersion(_ lease: ContentLease, wishes: [ResourceWish], now: Timestamp) throws -> VersionID
    /// Makes a version discarded and answers the paths of its files, which the caller deletes and then forgets.
    func discardVersion(_ lease: ContentLease, _ version: VersionID) throws -> [String]
    /// Deletes the rows of a discarded version.
    func forgetVersion(_ version: VersionID) throws
    /// Discarded and superseded versions whose files may still be there, with the paths.
    func discardedVersions() throws -> [(VersionID, [String])]
    /// Stores length, place, chunk size, validator and what else the first answer told; state `planned` (or `absent`).
    func updateResource(_ lease: ContentLease, _ resource: ResourceRecord) throws
    /// Proven chunk numbers and proofs, in order.
    func chunks(_ resource: ResourceID) throws -> [WrittenChunk]
    /// Marks chunks proven; also raises the content's and the resource's counters. Repeats are fine.
    ///
    /// - Parameters:
    ///   - lease: the right to do so.
    ///   - resource: the row.
    ///   - chunks: durable chunks.
    ///   - bytes: their length together.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func markProven(
        _ lease: ContentLease, _ resource: ResourceID, _ chunks: [WrittenChunk], bytes: UInt64, now: Timestamp) throws
    /// Marks chunks not proven (damage, a mirror that disagreed); lowers the counters by the rows that went.
    func unprove(_ lease: ContentLease, _ resource: ResourceID, chunks: [Int], bytes: UInt64) throws
    /// The version becomes current, the former one superseded; the content completed.
    func completeVersion(_ lease: ContentLease, _ version: VersionID, sha256: [UInt8]?, now: Timestamp) throws
    /// The version that is complete; nil when there is none.
    func completeVersion(_ content: ContentID) throws -> CompleteVersion?
    /// Whether a version that is being built was complete before, and is being repaired.
    func wasComplete(_ version: VersionID) throws -> Bool
    /// The complete version is not what is wanted: the content is queued for another one. Answers false, and changes
    /// nothing, where there is no such version or the content is leased.
    @discardableResult
    func supersede(_ content: ContentID, by successor: Successor, now: Timestamp) throws -> Bool
    /// A complete content is built again in place: its current version becomes `building`, its media resource
    /// `planned`, the content `queued`; for repairs. The caller has taken the damaged chunks out before.
    func reopenVersion(_ lease: ContentLease, _ version: VersionID, now: Timestamp) throws

    // MARK: URLs, attempts, servers, settings

    /// The URLs of a resource, by rank.
    func urlLeases(_ resource: ResourceID) throws -> [URLLeaseRecord]
    /// Replaces the URLs of a resource.
    func replaceURLLeases(
        _ lease: ContentLease, _ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp) throws
    /// Stores what became of a URL.
    func setURLLease(_ id: URLLeaseID, state: URLLeaseRecord.State, rank: Int) throws
    /// Keeps one attempt; the oldest beyond 100 of a content go.
    func record(_ attempt: Attempt, content: ContentID, resource: ResourceID?) throws
    /// What is remembered of a server.
    func origin(_ origin: String) throws -> OriginRecord?
    /// Stores what is to be remembered of a server.
    func setOrigin(_ origin: OriginRecord, now: Timestamp) throws
    /// A setting of the queue.
    func setting(_ name: String) throws -> String?
    /// Stores a setting of the queue; nil deletes it.
    func setSetting(_ name: String, _ value: String?) throws
    /// Bytes of all planned resources that are not discarded: what the quota counts.
    func plannedBytes() throws -> UInt64

    // MARK: Questions

    /// What a run wants, counted.
    func summary(_ run: RunID) throws -> RunSummary
    /// Contents of a run in one state, in queue order.
    func contents(_ run: RunID, state: ItemState, limit: Int) throws -> [Content]
}
