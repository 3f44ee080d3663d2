package import LectureFormats

/// A lecture as the engine works on it.
package struct ItemRecord: Sendable {
    /// The row.
    package var id: ContentID
    /// Its public part.
    package var content: Content
    /// The target state last requested for it.
    package var targetState: TargetState
    /// Whether the source is a gateway link that returns a descriptor, or has returned one.
    package var isGateway: Bool
    /// Whether the source has described it.
    package var isLoaded: Bool
    /// Request headers for the source's own origin.
    package var headers: [String: String]
    /// Other URLs of the same bytes, as requested.
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
    /// Whether chunks of that version are damaged and it is still the requested one, so that only those are to be
    /// downloaded again.
    package var needsRepair: Bool

    /// Creates a record.
    package init(id: ContentID, content: Content, targetState: TargetState, fence: Int64) {
        self.id = id
        self.content = content
        self.targetState = targetState
        self.fence = fence
        isGateway = false
        isLoaded = false
        needsRepair = false
        headers = [:]
        mirrors = []
    }

    /// The right to change this lecture.
    package var lease: ContentLease { ContentLease(content: id, fence: fence) }

    /// The only resource of a lecture whose URL is the media itself.
    package var directResource: ResourceRequest {
        var request = ResourceRequest(role: .media, name: "", urls: [content.sourceURL] + mirrors)
        request.expectedSHA256 = expectedSHA256
        request.expectedBytes = expectedBytes.flatMap { UInt64(exactly: $0) }
        return request
    }
}

/// The state of an item to be stored. Cross-field rules: a stop reason exactly with `stopped`; an error with `failed`.
package struct ItemStatus: Sendable, Hashable {
    /// The item's state.
    package var state: ItemState
    /// Why it is stopped.
    package var stopReason: StopReason?
    /// The last failure; nil without one.
    package var error: LectureError?
    /// Attempts since the last progress.
    package var attempts: Int
    /// When it is tried again; nil when no attempt is planned.
    package var nextAttempt: Timestamp?
    /// When the waiting time was set.
    package var waitSet: Timestamp?

    /// Creates a status.
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
    /// The state of a resource. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// Known, nothing planned.
        case absent = 0
        /// Its length and its path are fixed.
        case planned = 1
        /// All chunks are committed.
        case committed = 2
        /// It has its final name.
        case finalized = 3
        /// It cannot be downloaded; only for resources that are not required.
        case failed = 4
    }

    /// The row.
    package var id: ResourceID
    /// The version it belongs to.
    package var version: VersionID
    /// The lecture it belongs to.
    package var content: ContentID
    /// Its role.
    package var role: ResourceRole
    /// A name for people, for example a subtitle's.
    package var name: String
    /// Its state.
    package var state: State
    /// Relative to the store; empty until planned.
    package var path: String
    /// The length in bytes; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk in bytes; never changes under committed chunks. With ``seal`` the first one is shorter.
    package var chunkBytes: UInt64
    /// Whether its files are sealed, and whether they were closed cleanly.
    package var seal: SealState
    /// Committed chunks.
    package var committedChunks: Int
    /// The bytes of these chunks.
    package var committedBytes: UInt64
    /// The stored validator: the strong entity tag, the `Last-Modified` text.
    package var entityTag: String?
    /// The `Last-Modified` text, exactly as received.
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

    /// Creates a record of an unknown resource.
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
        committedChunks = 0
        committedBytes = 0
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

extension ResourceRecord {
    /// What identifies the stored version of the file.
    package var validator: Validator { Validator(etag: entityTag, lastModified: lastModified, total: total) }
}

extension ResourceRequest {
    /// Compares a description with a stored file.
    ///
    /// - Parameter media: the file's row.
    /// - Returns: whether it has the described bytes; nil where length and digests do not show it.
    package func describes(_ media: ResourceRecord) -> Bool? {
        if let size = expectedBytes, size != media.total { return false }
        guard let digest = expectedSHA256, let known = media.sha256 else { return nil }
        return digest == known
    }
}

/// A resource that a version needs, before it has a row.
package struct ResourceRequest: Sendable, Hashable {
    /// Its role.
    package var role: ResourceRole
    /// A name for people, for example a subtitle's.
    package var name: String
    /// URLs of the bytes, the best one first.
    package var urls: [String]
    /// The SHA-256 it must have, 32 bytes; nil when unknown.
    package var expectedSHA256: [UInt8]?
    /// The size it must have; nil when unknown.
    package var expectedBytes: UInt64?
    /// Creates a request for unknown bytes.
    package init(role: ResourceRole, name: String, urls: [String]) {
        self.role = role
        self.name = name
        self.urls = urls
    }
}

/// A URL of a resource, with its lifetime. Rank 0 is tried first.
package struct URLLeaseRecord: Sendable, Hashable {
    /// Its state. Raw values are stored: frozen, never reused.
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
    /// The resource it leads to.
    package var resource: ResourceID
    /// The URL, with its signature if it has one.
    package var url: String
    /// The order in which URLs are tried, 0 first.
    package var rank: Int
    /// Its state.
    package var state: State
    /// When it expires; nil when unknown.
    package var expires: Timestamp?

    /// Creates a record.
    package init(id: URLLeaseID, resource: ResourceID, url: String, rank: Int, state: State, expires: Timestamp?) {
        self.id = id
        self.resource = resource
        self.url = url
        self.rank = rank
        self.state = state
        self.expires = expires
    }
}

/// The state of a server kept across runs.
package struct OriginRecord: Sendable, Hashable {
    /// Scheme, host and port.
    package var origin: String
    /// How many concurrent requests it accepts.
    package var limit: Int
    /// Until when it asked not to be contacted.
    package var waitUntil: Timestamp?
    /// When it asked; a clock that is set back does not lengthen the wait.
    package var waitSet: Timestamp?

    /// Creates a record.
    package init(origin: String, limit: Int, waitUntil: Timestamp? = nil, waitSet: Timestamp? = nil) {
        self.origin = origin
        self.limit = limit
        self.waitUntil = waitUntil
        self.waitSet = waitSet
    }
}

/// Facts about a lecture from a gateway's descriptor or a first answer, to be stored. Nil keeps the stored value.
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
    /// What a learner sees it as.
    package var type: ContentType?
    /// The descriptor as received, so that members unknown to this version are kept.
    package var descriptor: String?
    /// No facts.
    package init() {}
}

/// The counts of one command's run.
package struct RunSummary: Sendable, Hashable {
    /// Items by state.
    package var counts: [ItemState: Int] = [:]
    /// Stopped items by reason.
    package var stops: [StopReason: Int] = [:]
    /// Committed bytes.
    package var committedBytes: Int64 = 0
    /// Bytes of the items whose size is known.
    package var bytesTotal: Int64 = 0
    /// Creates an empty summary.
    package init() {}
}

/// The store's interface for the download engine. Confined to one executor; every method is synchronous, since the
/// engine runs on the executor of the store's writer. Every method throws ``LectureError``; those that take a
/// ``ContentLease`` throw ``LectureError/Code/leaseLost`` and change nothing when the fence is old.
package protocol DownloadIndex: AnyObject {
    /// Runs `body` as one durable transaction (`BEGIN IMMEDIATE`, WAL, `synchronous=FULL`); rolls back when it throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result

    // MARK: Owners, runs, leases

    /// Leases up to `limit` lectures of the run that are due now: queued, with `next_attempt` passed (or set more than
    /// its own length ago, see `wait_set`), not leased; priority first, then position. Raises each fence by one.
    func claim(run: RunID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [ItemRecord]
    /// Leases one lecture whatever its position in the queue, unless another owner has it (then nil).
    func claim(content: ContentID, owner: OwnerID, now: Timestamp) throws -> ItemRecord?
    /// Releases a lease.
    func release(_ lease: ContentLease) throws
    /// Queues stopped lectures of the run again whose reason is transient (not `user`, not `licenceRefused`) and whose
    /// `next_attempt` is due (see ``claim(run:owner:limit:now:)``); returns how many.
    @discardableResult
    func requeueDue(run: RunID, now: Timestamp) throws -> Int
    /// Releases all leases of an owner; active items become queued.
    func requeueLeases(of owner: OwnerID, now: Timestamp) throws
    /// The target states of lectures this owner has leased whose target state is not `fetch`.
    func changedTargetStates(owner: OwnerID) throws -> [(ContentID, TargetState)]
    /// Changes when another connection has committed (`PRAGMA data_version`).
    func dataVersion() throws -> Int64

    // MARK: Lectures

    /// The lecture of this row.
    func item(_ id: ContentID) throws -> ItemRecord?
    /// Stores a state.
    func setStatus(_ lease: ContentLease, _ status: ItemStatus, now: Timestamp) throws
    /// Stores the source's facts, and marks the lecture loaded. When `facts.key` already belongs to another lecture,
    /// nothing is changed and that lecture's row is returned: the caller merges.
    func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID?
    /// Replaces this lecture in every run by another and deletes it; for two sources that turn out to be one lecture.
    func merge(_ lease: ContentLease, into other: ContentID) throws
    /// Applies a request, with the digest and size it names, whose link turned out to lead to this lecture. Returns the
    /// outcome, as of a request under the lecture's key.
    func request(_ content: ContentID, sha256: [UInt8]?, bytes: Int64?, now: Timestamp) throws -> EnqueueOutcome
    /// Lectures whose target state is `remove` and that no other owner has leased.
    func contentsToRemove(limit: Int) throws -> [ContentID]
    /// The paths of all files of a lecture, of every version.
    func paths(_ content: ContentID) throws -> [String]
    /// Whether a file may be deleted because no row names it. Rows are committed before their files are created and
    /// deleted after them. Files from before the database, and those with other names, are no orphans.
    func isOrphan(path: String) throws -> Bool
    /// Deletes a lecture with all dependent rows. The files must be gone before.
    func deleteContent(_ lease: ContentLease) throws
    /// Places where the finished file is also due.
    func outputs(_ content: ContentID) throws -> [PendingOutput]
    /// Removes a finished output.
    func deleteOutput(_ content: ContentID, path: String) throws
    /// The files that were written for a lecture outside the store.
    func writtenOutputs(_ key: ContentKey) throws -> [OutputFacts]
    /// Records a file that was written outside the store.
    func recordOutput(_ key: ContentKey, path: String, _ facts: OutputFacts, now: Timestamp) throws

    // MARK: Versions and resources

    /// The version being built, with its resources; nil when there is none.
    func building(_ content: ContentID) throws -> (version: VersionID, resources: [ResourceRecord])?
    /// The resources of a version, media first.
    func resources(_ version: VersionID) throws -> [ResourceRecord]
    /// Starts a version with these resources. A version that is being built must not exist.
    func beginVersion(_ lease: ContentLease, requests: [ResourceRequest], now: Timestamp) throws -> VersionID
    /// Marks a version discarded and returns the paths of its files, which the caller deletes and then forgets.
    func discardVersion(_ lease: ContentLease, _ version: VersionID) throws -> [String]
    /// Deletes the rows of a discarded version.
    func forgetVersion(_ version: VersionID) throws
    /// Discarded and superseded versions whose files may still exist, with the paths.
    func discardedVersions() throws -> [(VersionID, [String])]
    /// Stores length, path, chunk size, validator and other facts of the first answer; state `planned` (or `absent`).
    func updateResource(_ lease: ContentLease, _ resource: ResourceRecord) throws
    /// Committed chunk numbers and proofs, in order.
    func chunks(_ resource: ResourceID) throws -> [WrittenChunk]
    /// Marks chunks committed; also raises the lecture's and the resource's counters. Idempotent.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - resource: the row.
    ///   - chunks: durable chunks.
    ///   - bytes: their total length.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func markCommitted(
        _ lease: ContentLease, _ resource: ResourceID, _ chunks: [WrittenChunk], bytes: UInt64, now: Timestamp) throws
    /// Marks chunks uncommitted (damage, a mirror that disagreed); lowers the counters by the deleted rows.
    func markUncommitted(_ lease: ContentLease, _ resource: ResourceID, chunks: [Int], bytes: UInt64) throws
    /// Stores a piece of a chunk that is not committed. It replaces the pieces of that chunk from its start on; all of
    /// them go when the chunk is committed.
    func keepPiece(_ lease: ContentLease, _ resource: ResourceID, _ piece: StoredPiece) throws
    /// Deletes the pieces of a chunk from an offset on.
    func dropPieces(_ lease: ContentLease, _ resource: ResourceID, chunk: Int, from start: UInt64) throws
    /// The pieces of a resource, by chunk and offset.
    func pieces(_ resource: ResourceID) throws -> [StoredPiece]
    /// Makes the version current, the former one superseded, and the lecture completed.
    func completeVersion(_ lease: ContentLease, _ version: VersionID, sha256: [UInt8]?, now: Timestamp) throws
    /// The version that is complete; nil when there is none.
    func completeVersion(_ content: ContentID) throws -> CompleteVersion?
    /// Whether a version that is being built was complete before, and is being repaired.
    func wasComplete(_ version: VersionID) throws -> Bool
    /// Marks a complete version as outdated and queues the lecture for another one. Returns false, and changes nothing,
    /// where the lecture is leased or has another complete version by now.
    @discardableResult
    func supersede(_ content: ContentID, version: VersionID, by successor: Successor, now: Timestamp) throws -> Bool
    /// Reopens a complete lecture for repair in place: its current version becomes `building`, its media resource
    /// `planned`, the lecture `queued`. The caller has removed the damaged chunks before.
    func reopenVersion(_ lease: ContentLease, _ version: VersionID, now: Timestamp) throws

    // MARK: URLs, attempts, servers, settings

    /// The URLs of a resource, by rank.
    func urlLeases(_ resource: ResourceID) throws -> [URLLeaseRecord]
    /// Replaces the URLs of a resource.
    func replaceURLLeases(
        _ lease: ContentLease, _ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp) throws
    /// Stores the state of a URL.
    func setURLLease(_ id: URLLeaseID, state: URLLeaseRecord.State, rank: Int) throws
    /// Stores an attempt; deletes the oldest beyond 100 of a lecture.
    func record(_ attempt: Attempt, content: ContentID, resource: ResourceID?) throws
    /// The stored state of a server.
    func origin(_ origin: String) throws -> OriginRecord?
    /// Stores the state of a server.
    func setOrigin(_ origin: OriginRecord, now: Timestamp) throws
    /// Bytes of all planned resources that are not discarded: what the quota counts.
    func plannedBytes() throws -> UInt64

    // MARK: Queries

}
