import LectureKit
import LectureModel
import LectureStore

/// Measures lists with everything they show: complete lectures with two images each, first without licences, then
/// with one each under the device's real key.
enum DetailBenchmark {
    /// Fills a store and lists it.
    ///
    /// - Parameters:
    ///   - store: the directory of the store; created when it is missing.
    ///   - device: the directory of the device's key; generated when there is none.
    ///   - count: the number of lectures.
    /// - Throws: `LectureError`.
    static func run(_ store: String, device: String, count: Int) async throws {
        try fill(store, count: count)
        report("filled", count)
        try await measure(store, device, count, "plain")
        try LicenceStore.fill(store, device: device, count: count, callback: "https://drm.example/callback")
        try await measure(store, device, count, "licensed")
    }

    private static func measure(_ store: String, _ device: String, _ count: Int, _ kind: String) async throws {
        var configuration = LectureConfiguration(storeDirectory: store)
        configuration.deviceDirectory = device
        let manager = try LectureManager(configuration)
        let key = try ContentKey("lecture-7")
        try await repeated("details, pages of 50, \(kind)", times: 50) {
            _ = try await manager.contents.details(sort: .title, page: ContentPage(offset: 0, limit: 50))
        }
        try await repeated("details, last page of 50, \(kind)", times: 10) {
            _ = try await manager.contents.details(sort: .title, page: ContentPage(offset: count - 50, limit: 50))
        }
        try await repeated("details of one, \(kind)", times: 50) { _ = try await manager.contents.details(of: key) }
        try await repeated("folders, \(kind)", times: 50) { _ = try await manager.contents.folders(below: "") }
        try await repeated("set resume point, \(kind)", times: 50) {
            try await manager.contents.setResumePoint(.milliseconds(Int64.random(in: 1...3_600_000)), of: key)
        }
        try await repeated("details, all in pages of 1000, \(kind)", times: 3) {
            for offset in stride(from: 0, to: count, by: 1000) {
                _ = try await manager.contents.details(page: ContentPage(offset: offset, limit: 1000))
            }
        }
        for sort in [ContentSort.added, .title, .folder] {
            try await repeated("details, all by \(sort.rawValue), \(kind)", times: 5) {
                guard try await manager.contents.details(sort: sort).count == count else { throw LectureError(.bug) }
            }
        }
        try await repeated("contents, all, \(kind)", times: 5) { _ = try await manager.contents.list() }
        await manager.close()
    }

    private static func report(_ name: String, _ count: Int) {
        StoreBenchmark.report(name, median: 0, worst: 0, note: "\(count) lectures")
    }

    private static func repeated(_ name: String, times: Int, _ body: () async throws -> Void) async throws {
        var samples: [Double] = []
        let processor = StoreBenchmark.processorNanoseconds()
        for _ in 0..<times {
            let begin = StoreBenchmark.nanoseconds()
            try await body()
            samples.append(Double(StoreBenchmark.nanoseconds() - begin) / 1e6)
        }
        let spent = Double(StoreBenchmark.processorNanoseconds() - processor) / 1e6 / Double(times)
        samples.sort()
        StoreBenchmark.report(
            name, median: samples[times / 2], worst: samples[times - 1], processor: spent, note: "\(times) times")
    }

    // MARK: A store of complete lectures

    private static func fill(_ store: String, count: Int) throws {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: store), now: now)
        try StoreBenchmark.fill(index, count: count)
        let owner = try index.owners.registerOwner(pid: 1, bootID: "", command: "benchmark", now: now)
        for start in stride(from: 0, to: count, by: 1000) {
            try index.transaction { _ in
                for number in start..<min(count, start + 1000) { try complete(number, index, owner, now) }
            }
        }
        try index.owners.dismissOwner(owner, now: now)
    }

    private static func complete(
        _ number: Int, _ index: SQLiteDownloadIndex, _ owner: OwnerID, _ now: Timestamp
    ) throws {
        guard let item = try index.contents.item(try ContentKey("lecture-\(number)")), item.content.state != .completed,
            let lease = try index.owners.claim(content: item.id, owner: owner, now: now)?.lease
        else { return }
        var facts = ContentFacts()
        (facts.company, facts.teacher) = ("A company", "Teacher \(number % 90)")
        facts.synopsis = "What lecture \(number) is about, in a sentence or two as lists show them."
        facts.descriptionURL = "https://lectures.example/about/\(number)"
        (facts.width, facts.height, facts.duration) = (1920, 1080, .seconds(3_000))
        // As long as an answer with a few subtitles and chapters.
        facts.descriptor = #"{"version":1,"chapters":"\#(String(repeating: "chapter ", count: 250))"}"#
        _ = try index.contents.setFacts(lease, facts, now: now)
        let roles: [ResourceRole] = [.media, .snapshot, .thumbnail]
        let version = try index.versions.beginVersion(
            lease, requests: roles.map { ResourceRequest(role: $0, name: "", urls: []) }, now: now
        ).id
        for var resource in try index.versions.resources(version) {
            resource.state = .planned
            resource.path = "media/\(number % 256)/\(number).\(resource.role.name)"
            (resource.total, resource.chunkBytes) = (1_000, 1 << 20)
            try index.resources.updateResource(lease, resource)
            let chunk = WrittenChunk(index: 0, proof: [UInt8](repeating: 1, count: 28))
            try index.resources.markCommitted(lease, resource.id, [chunk], bytes: 1_000, now: now)
        }
        for var resource in try index.versions.resources(version) {
            resource.state = .finalized
            try index.resources.updateResource(lease, resource)
        }
        try index.versions.completeVersion(lease, version, sha256: [UInt8](repeating: 1, count: 32), now: now)
        try index.owners.release(lease)
    }
}
