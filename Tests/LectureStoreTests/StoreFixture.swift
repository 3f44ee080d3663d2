import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// A new store in a directory of its own, with one owner and one run.
final class StoreFixture {
    let directory: TemporaryDirectory
    let location: StoreLocation
    let index: SQLiteDownloadIndex
    let owner: OwnerID
    let run: RunID
    /// The wall clock; a test sets it.
    var now = Timestamp(milliseconds: 1_700_000_000_000)

    private init() throws {
        directory = try TemporaryDirectory.inMemory()
        location = StoreLocation(directory: directory.file("store"))
        try StoreTemplate.copy(to: location.directory, StoreLocation.databaseName) { place in
            _ = try SQLiteDownloadIndex(opening: StoreLocation(directory: place), now: StoreTemplate.created)
        }
        index = try SQLiteDownloadIndex(opening: location, now: now)
        owner = try index.owners.registerOwner(pid: 4711, bootID: "boot", command: "test", now: now)
        run = try index.owners.beginRun(owner: owner, command: "precache", now: now)
    }

    /// Runs a test on a new store; when it is over, the store must be sound and its directory free of other files.
    static func with(_ body: (StoreFixture) throws -> Void) throws {
        let store = try StoreFixture()
        try body(store)
        #expect(try StoreMaintenance.check(store.location) == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: store.location.directory).sorted()
        #expect(names == ["lecturekit.db", "lecturekit.db-shm", "lecturekit.db-wal", "space.reserve"])
    }

    /// A second process, as far as the database can see: its own connection and owner.
    func another() throws -> (index: SQLiteDownloadIndex, owner: OwnerID) {
        let other = try SQLiteDownloadIndex(opening: location, now: now)
        return (other, try other.owners.registerOwner(pid: 4712, bootID: "boot", command: "other", now: now))
    }

    func queries() throws -> SQLiteContentQueries { try SQLiteContentQueries(opening: location) }

    /// Registers a request by name and puts it into the run.
    @discardableResult
    func add(_ name: String, _ change: (inout DownloadRequest) -> Void = { _ in }) throws -> ContentID {
        var request = DownloadRequest(url: "http://127.0.0.1/\(name).mp4")
        change(&request)
        let id = try enqueue(request, name).id
        try index.owners.join(run, content: id)
        return id
    }

    func enqueue(_ request: DownloadRequest, _ name: String) throws -> RegisteredRequest {
        try index.requests.enqueue(
            request,
            source: RequestSource(
                derivedKey: try ContentKey(name), identity: Array("identity of \(name)".utf8), isGateway: false),
            check: .list, now: now)
    }

    /// Registers a request and leases it.
    func leased(_ name: String) throws -> ContentLease { try lease(try add(name)) }

    func lease(_ content: ContentID) throws -> ContentLease {
        try #require(try index.owners.claim(content: content, owner: owner, now: now)).lease
    }

    func item(_ content: ContentID) throws -> ItemRecord { try #require(try index.contents.item(content)) }

    /// A leased lecture with one planned media resource of 10 chunks, the last of half length.
    func planned(_ name: String) throws -> (lease: ContentLease, version: VersionID, resource: ResourceRecord) {
        try planned(try leased(name), name)
    }

    private func planned(
        _ lease: ContentLease, _ name: String
    ) throws -> (lease: ContentLease, version: VersionID, resource: ResourceRecord) {
        let request = ResourceRequest(role: .media, name: "", urls: ["http://127.0.0.1/\(name).mp4"])
        let version = try index.versions.beginVersion(lease, requests: [request], now: now).id
        var resource = try #require(try index.versions.resources(version).first)
        resource.state = .planned
        resource.path = "media/\(name)"
        resource.total = 9_500
        resource.chunkBytes = 1_000
        try index.resources.updateResource(lease, resource)
        return (lease, version, resource)
    }

    /// A complete lecture.
    @discardableResult
    func completed(_ name: String) throws -> ContentID {
        let content = try add(name)
        try complete(content, name)
        return content
    }

    /// Completes a registered lecture with a new version.
    func complete(_ content: ContentID, _ name: String = "new") throws {
        let (lease, version, resource) = try planned(try lease(content), name)
        try index.resources.markCommitted(lease, resource.id, Self.chunks(0..<10), bytes: 9_500, now: now)
        try index.versions.completeVersion(lease, version, sha256: [UInt8](repeating: 1, count: 32), now: now)
    }

    static func chunks(_ range: some Sequence<Int>, proof: UInt8 = 9) -> [WrittenChunk] {
        range.map { WrittenChunk(index: $0, proof: [UInt8](repeating: proof, count: 28)) }
    }
}

/// The error thrown by a body; nil when it throws none or another type.
func lectureError(_ body: () throws -> Void) -> LectureError? {
    do { try body() } catch let error as LectureError { return error } catch {}
    return nil
}
