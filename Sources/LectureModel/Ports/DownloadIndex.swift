/// The store's interface for the download engine: the rows of each subject, all on one connection, so that one
/// transaction can change several. Confined to one executor; every method is synchronous, since the engine runs on the
/// executor of the store's writer. Every method throws ``LectureError``; those that take a ``ContentLease`` throw
/// ``LectureError/Code/leaseLost`` and change nothing when the fence is old.
package protocol DownloadIndex: AnyObject {
    /// Which lectures of its run a process works on, and what is requested of them meanwhile.
    associatedtype Claims: ClaimStore
    /// The rows of lectures.
    associatedtype Contents: ContentStore
    /// Requests whose link leads to a lecture that the store already has.
    associatedtype Requests: ContentRequestStore
    /// Files outside the store: where finished ones are also due, and which were written.
    associatedtype Outputs: OutputStore
    /// The versions of lectures.
    associatedtype Versions: VersionStore
    /// The files of versions and their chunks.
    associatedtype Resources: ResourceStore
    /// URLs, attempts and servers.
    associatedtype Servers: ServerStore
    /// Adaptive lectures: the files that follow from a version's playlists.
    associatedtype Streams: AdaptiveStore

    /// Which lectures of its run a process works on, and what is requested of them meanwhile.
    var owners: Claims { get }
    /// The rows of lectures.
    var contents: Contents { get }
    /// Requests whose link leads to a lecture that the store already has.
    var requests: Requests { get }
    /// Files outside the store: where finished ones are also due, and which were written.
    var outputs: Outputs { get }
    /// The versions of lectures.
    var versions: Versions { get }
    /// The files of versions and their chunks.
    var resources: Resources { get }
    /// URLs, attempts and servers.
    var servers: Servers { get }
    /// Adaptive lectures: the files that follow from a version's playlists.
    var adaptive: Streams { get }

    /// Changes when another connection has committed (`PRAGMA data_version`).
    func dataVersion() throws -> Int64
    /// Whether a file may be deleted because no row names it. Rows are committed before their files are created and
    /// deleted after them. Files from before the database, and those with other names, are no orphans.
    func isOrphan(path: String) throws -> Bool
}

/// Which lectures of its run a process works on, and what is requested of them meanwhile. A part of ``DownloadIndex``.
package protocol ClaimStore {
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
    /// Ends the waits of the run's lectures that a broken network has caused: those stopped for it are queued again,
    /// those queued after a failed transfer are due, both with all their attempts. Waits that a server has asked for
    /// stay. Returns how many.
    @discardableResult
    func endNetworkWaits(run: RunID, now: Timestamp) throws -> Int
    /// When the first of the run's lectures that wait is due; nil when none does. What is queued without a time has
    /// been due since the epoch.
    func nextDue(run: RunID) throws -> Timestamp?
    /// Whether lectures of the run are queued without a lease.
    func hasQueued(run: RunID) throws -> Bool
    /// How many lectures of the run another owner has leased.
    func leasedElsewhere(run: RunID, owner: OwnerID) throws -> Int
    /// Releases all leases of an owner; active items become queued.
    func requeueLeases(of owner: OwnerID, now: Timestamp) throws
    /// The target states of lectures this owner has leased whose target state is not `fetch`.
    func changedTargetStates(owner: OwnerID) throws -> [(ContentID, TargetState)]
}

/// The rows of lectures. A part of ``DownloadIndex``.
package protocol ContentStore {
    /// The lecture of this row.
    func item(_ id: ContentID) throws -> ItemRecord?
    /// The key of the lecture of this row; nil when there is none.
    func key(_ id: ContentID) throws -> ContentKey?
    /// Stores a state.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - status: the state.
    ///   - isLoaded: whether the source's facts are known from now on; false changes nothing.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func setStatus(_ lease: ContentLease, _ status: ItemStatus, isLoaded: Bool, now: Timestamp) throws
    /// The SHA-256 that the lecture is to have; nil when none was named, or there is no such lecture.
    func expectedSHA256(_ id: ContentID) throws -> [UInt8]?
    /// Stores the source's facts, and marks the lecture loaded. When `facts.key` already belongs to another lecture,
    /// nothing is changed and that lecture's row is returned: the caller merges.
    func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID?
    /// Replaces this lecture in every run by another and deletes it; for two sources that turn out to be one lecture.
    func merge(_ lease: ContentLease, into other: ContentID) throws
    /// Lectures whose target state is `remove` and that no other owner has leased.
    func contentsToRemove(limit: Int) throws -> [ContentID]
    /// The paths of all files of a lecture, of every version.
    func paths(_ content: ContentID) throws -> [String]
    /// Deletes a lecture with all dependent rows. The files must be gone before.
    func deleteContent(_ lease: ContentLease) throws
}

extension ContentStore {
    /// Stores a state.
    package func setStatus(_ lease: ContentLease, _ status: ItemStatus, now: Timestamp) throws {
        try setStatus(lease, status, isLoaded: false, now: now)
    }
}

/// Requests whose link leads to a lecture that the store already has. A part of ``DownloadIndex``.
package protocol ContentRequestStore {
    /// Applies a request, with the digest and size it names, whose link turned out to lead to this lecture. Returns the
    /// outcome, as of a request under the lecture's key.
    func request(_ content: ContentID, sha256: [UInt8]?, bytes: Int64?, now: Timestamp) throws -> EnqueueOutcome
}

/// Files outside the store: where finished ones are also due, and which were written. A part of ``DownloadIndex``.
package protocol OutputStore {
    /// Places where the finished file is also due.
    func pending(_ content: ContentID) throws -> [PendingOutput]
    /// Removes a finished output.
    func delete(_ content: ContentID, path: String) throws
    /// The files that were written for a lecture outside the store.
    func written(_ key: ContentKey) throws -> [OutputFacts]
    /// Records a file that was written outside the store.
    func record(_ key: ContentKey, path: String, _ facts: OutputFacts, now: Timestamp) throws
}

/// The versions of lectures. A part of ``DownloadIndex``.
package protocol VersionStore {
    /// The version being built, with its resources but those of streams; nil when there is none.
    func building(_ content: ContentID) throws -> (version: VersionID, resources: [ResourceRecord])?
    /// The resources of a version but those of streams (``AdaptiveStore``), media first.
    func resources(_ version: VersionID) throws -> [ResourceRecord]
    /// Starts a version with these resources. A version that is being built must not exist.
    func beginVersion(_ lease: ContentLease, requests: [ResourceRequest], now: Timestamp) throws -> NewVersion
    /// Marks a version discarded and returns the paths of its files, which the caller deletes and then forgets.
    func discardVersion(_ lease: ContentLease, _ version: VersionID) throws -> [String]
    /// Deletes the rows of a discarded version.
    func forgetVersion(_ version: VersionID) throws
    /// Discarded and superseded versions whose files may still exist, with the paths.
    func discardedVersions() throws -> [(VersionID, [String])]
    /// Makes the version current, the former one superseded, and the lecture completed; releases the lease.
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
}

/// The files of versions and their chunks. A part of ``DownloadIndex``.
package protocol ResourceStore {
    /// Stores length, path, chunk size, validator and other facts of the first answer; state `planned` (or `absent`).
    func updateResource(_ lease: ContentLease, _ resource: ResourceRecord) throws
    /// Committed chunk numbers and proofs, in order.
    func chunks(_ resource: ResourceID) throws -> [WrittenChunk]
    /// Marks a file finished that had no committed chunk: all its chunks committed, and what else is new in its record.
    ///
    /// The lecture's counters are raised by ``countFinished(_:_:now:)``, unless its version is completed in the same
    /// transaction, which counts anew.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - resource: its record in the state `finalized`, with its length, digest and seal.
    ///   - chunks: all its chunks.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``; `bug` when it has chunks, or belongs to another lecture.
    func markFinished(_ lease: ContentLease, _ resource: ResourceRecord, _ chunks: [WrittenChunk], now: Timestamp)
        throws
    /// Raises the counters of a lecture by those of a file that was marked finished.
    func countFinished(_ lease: ContentLease, _ resource: ResourceRecord, now: Timestamp) throws
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
    /// Bytes of all planned resources that are not discarded: what the quota counts.
    func plannedBytes() throws -> UInt64
}

/// URLs, attempts and servers. A part of ``DownloadIndex``.
package protocol ServerStore {
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
}
