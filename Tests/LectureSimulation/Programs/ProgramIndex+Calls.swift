import LectureModel
import LectureStore

// Calls that are only forwarded.

extension ProgramIndex {
    func registerOwner(pid: Int, bootID: String, command: String, now: Timestamp) throws -> OwnerID {
        try calling { try base.registerOwner(pid: pid, bootID: bootID, command: command, now: now) }
    }

    func dismissOwner(_ owner: OwnerID, now: Timestamp) throws {
        try calling { try base.dismissOwner(owner, now: now) }
    }

    func owners() throws -> [OwnerID] {
        try calling { try base.owners() }
    }

    func beginRun(owner: OwnerID, command: String, now: Timestamp) throws -> RunID {
        try calling { try base.beginRun(owner: owner, command: command, now: now) }
    }

    func joinUnfinished(_ run: RunID) throws -> Int {
        try calling { try base.joinUnfinished(run) }
    }

    func claim(run: RunID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [ItemRecord] {
        try calling { try base.claim(run: run, owner: owner, limit: limit, now: now) }
    }

    func claim(content: ContentID, owner: OwnerID, now: Timestamp) throws -> ItemRecord? {
        try calling { try base.claim(content: content, owner: owner, now: now) }
    }

    func release(_ lease: ContentLease) throws {
        try calling { try base.release(lease) }
    }

    @discardableResult
    func requeueDue(run: RunID, now: Timestamp) throws -> Int {
        try calling { try base.requeueDue(run: run, now: now) }
    }

    func requeueLeases(of owner: OwnerID, now: Timestamp) throws {
        try calling { try base.requeueLeases(of: owner, now: now) }
    }

    func changedTargetStates(owner: OwnerID) throws -> [(ContentID, TargetState)] {
        try calling { try base.changedTargetStates(owner: owner) }
    }

    func dataVersion() throws -> Int64 {
        try calling { try base.dataVersion() }
    }

    func completeVersion(_ content: ContentID) throws -> CompleteVersion? {
        try calling { try base.completeVersion(content) }
    }

    func wasComplete(_ version: VersionID) throws -> Bool {
        try calling { try base.wasComplete(version) }
    }

    func supersede(
        _ content: ContentID, version: VersionID, by successor: Successor, now: Timestamp
    ) throws -> Bool {
        try calling { try base.supersede(content, version: version, by: successor, now: now) }
    }

    func item(_ id: ContentID) throws -> ItemRecord? {
        try calling { try base.item(id) }
    }

    func setStatus(_ lease: ContentLease, _ status: ItemStatus, now: Timestamp) throws {
        try calling { try base.setStatus(lease, status, now: now) }
    }

    func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID? {
        try calling { try base.setFacts(lease, facts, now: now) }
    }

    func merge(_ lease: ContentLease, into other: ContentID) throws {
        try calling { try base.merge(lease, into: other) }
    }

    func request(_ content: ContentID, sha256: [UInt8]?, bytes: Int64?, now: Timestamp) throws -> EnqueueOutcome {
        try calling { try base.request(content, sha256: sha256, bytes: bytes, now: now) }
    }

    func contentsToRemove(limit: Int) throws -> [ContentID] {
        try calling { try base.contentsToRemove(limit: limit) }
    }

    func paths(_ content: ContentID) throws -> [String] {
        try calling { try base.paths(content) }
    }

    func isOrphan(path: String) throws -> Bool {
        try calling { try base.isOrphan(path: path) }
    }

    func deleteContent(_ lease: ContentLease) throws {
        try calling { try base.deleteContent(lease) }
    }

    func outputs(_ content: ContentID) throws -> [PendingOutput] {
        try calling { try base.outputs(content) }
    }

    func deleteOutput(_ content: ContentID, path: String) throws {
        try calling { try base.deleteOutput(content, path: path) }
    }

    func writtenOutputs(_ key: ContentKey) throws -> [OutputFacts] {
        try calling { try base.writtenOutputs(key) }
    }

    func recordOutput(_ key: ContentKey, path: String, _ facts: OutputFacts, now: Timestamp) throws {
        try calling { try base.recordOutput(key, path: path, facts, now: now) }
    }

    func building(_ content: ContentID) throws -> (version: VersionID, resources: [ResourceRecord])? {
        try calling { try base.building(content) }
    }

    func resources(_ version: VersionID) throws -> [ResourceRecord] {
        try calling { try base.resources(version) }
    }

    func beginVersion(_ lease: ContentLease, requests: [ResourceRequest], now: Timestamp) throws -> VersionID {
        try calling { try base.beginVersion(lease, requests: requests, now: now) }
    }

    func discardVersion(_ lease: ContentLease, _ version: VersionID) throws -> [String] {
        try calling { try base.discardVersion(lease, version) }
    }

    func forgetVersion(_ version: VersionID) throws {
        try calling { try base.forgetVersion(version) }
    }

    func discardedVersions() throws -> [(VersionID, [String])] {
        try calling { try base.discardedVersions() }
    }

    func updateResource(_ lease: ContentLease, _ resource: ResourceRecord) throws {
        try calling { try base.updateResource(lease, resource) }
    }

    func chunks(_ resource: ResourceID) throws -> [WrittenChunk] {
        try calling { try base.chunks(resource) }
    }

    func markUncommitted(_ lease: ContentLease, _ resource: ResourceID, chunks: [Int], bytes: UInt64) throws {
        try calling { try base.markUncommitted(lease, resource, chunks: chunks, bytes: bytes) }
    }

    func reopenVersion(_ lease: ContentLease, _ version: VersionID, now: Timestamp) throws {
        try calling { try base.reopenVersion(lease, version, now: now) }
    }

    func urlLeases(_ resource: ResourceID) throws -> [URLLeaseRecord] {
        try calling { try base.urlLeases(resource) }
    }

    func replaceURLLeases(
        _ lease: ContentLease, _ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp
    ) throws {
        try calling { try base.replaceURLLeases(lease, resource, urls: urls, expires: expires, now: now) }
    }

    func setURLLease(_ id: URLLeaseID, state: URLLeaseRecord.State, rank: Int) throws {
        try calling { try base.setURLLease(id, state: state, rank: rank) }
    }

    func record(_ attempt: Attempt, content: ContentID, resource: ResourceID?) throws {
        try calling { try base.record(attempt, content: content, resource: resource) }
    }

    func origin(_ origin: String) throws -> OriginRecord? {
        try calling { try base.origin(origin) }
    }

    func setOrigin(_ origin: OriginRecord, now: Timestamp) throws {
        try calling { try base.setOrigin(origin, now: now) }
    }

    func plannedBytes() throws -> UInt64 {
        try calling { try base.plannedBytes() }
    }

    func keepPiece(_ lease: ContentLease, _ resource: ResourceID, _ piece: StoredPiece) throws {
        try calling { try base.keepPiece(lease, resource, piece) }
    }

    func dropPieces(_ lease: ContentLease, _ resource: ResourceID, chunk: Int, from start: UInt64) throws {
        try calling { try base.dropPieces(lease, resource, chunk: chunk, from: start) }
    }

    func pieces(_ resource: ResourceID) throws -> [StoredPiece] {
        try calling { try base.pieces(resource) }
    }
}
