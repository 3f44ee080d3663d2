import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Fetching from nginx, an independent origin.
@Suite(.timeLimit(.minutes(2)))
struct FetchingNetTests {
    @Test(arguments: [0, 1, 65_536, 1 << 20, (1 << 20) + 1, 5 << 20])
    func `a file of any length is fetched, verified and found under its path`(count: Int) async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: count)
        let nginx = try await NginxOrigin.start(serving: site.root)
        // An empty file, or a byte, is not a film.
        let manager = try site.manager { $0.acceptsAnyMedia = true }
        let content = try await manager.fetch("\(nginx.http)/lecture.mp4")
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.totalBytes == Int64(count))
        #expect(content.committedBytes == Int64(count))
        #expect(try await manager.bytes(content.key) == bytes)
        #expect(try site.mediaFiles().allSatisfy { !$0.hasSuffix(".part") })
        #expect(try await nginx.requests(atLeast: 1).count == 1)
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `four connections fetch each byte once and the right digest`() async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: 24 << 20)
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 8 << 20
        let nginx = try await NginxOrigin.start(serving: site.root, options)
        let manager = try site.manager { $0.connections = 4 }
        let digest = try await ChildProcess.run("/usr/bin/sha256sum", ["\(site.root)/lecture.mp4"]).text.prefix(64)
        let content = try await manager.fetch("\(nginx.http)/lecture.mp4") {
            $0.sha256 = LectureKitTests.bytes(hex: String(digest))
        }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.sha256 == LectureKitTests.bytes(hex: String(digest)))
        #expect(try await manager.bytes(content.key) == bytes)
        let requests = try await nginx.requests(atLeast: 4)
        #expect(requests.count(where: { $0.status == 206 }) >= 3)
        #expect(requests.filter { !$0.range.isEmpty }.allSatisfy { !$0.ifRange.isEmpty })
        #expect(await manager.isFrugal(about: bytes.count, slack: 8 << 20))
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `many small files are fetched at once`() async throws {
        let site = try Site()
        for index in 0..<60 { try site.file("f\(index).mp4", bytes: 10_000 + index) }
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager { $0.jobs = 16 }
        let results = try await manager.downloads.enqueue(
            (0..<60).map { DownloadRequest(url: "\(nginx.http)/f\($0).mp4") })
        #expect(results.allSatisfy { (try? $0.get().outcome) == .added })
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await manager.summary().counts == [.completed: 60])
        #expect(try await nginx.requests(atLeast: 60).count == 60)
        // Safe to repeat: a complete lecture is not fetched again.
        let again = try await manager.downloads.enqueue(
            (0..<60).map { DownloadRequest(url: "\(nginx.http)/f\($0).mp4") })
        #expect(again.allSatisfy { (try? $0.get().outcome) == .alreadyComplete })
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await nginx.requests(atLeast: 60).count == 60)
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `a file over https needs the root that signed its server, and HTTP 2 carries many`() async throws {
        let site = try Site()
        for index in 0..<20 { try site.file("f\(index).mp4", bytes: 50_000) }
        var options = NginxOrigin.Options()
        options.servesHTTPS = true
        options.servesHTTP2 = true
        let nginx = try await NginxOrigin.start(serving: site.root, options)
        let distrusting = try site.manager { $0.maxAttempts = 1 }
        let refused = try await distrusting.fetch("\(nginx.https)/f0.mp4")
        #expect(refused.state == .failed)
        #expect(refused.error?.code == .transfer(60))
        await distrusting.close()
        let manager = try site.manager { configuration in
            configuration.caFile = nginx.authorityFile
            configuration.jobs = 16
        }
        _ = try await manager.downloads.enqueue((0..<20).map { DownloadRequest(url: "\(nginx.https)/f\($0).mp4") })
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await manager.summary().counts == [.completed: 20])
        #expect(try await nginx.requests(atLeast: 20).allSatisfy { $0.version == "HTTP/2.0" })
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `the finished bytes are also published at the requested path`() async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: 100_000)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        let events = manager.events
        let output = site.directory.file("out.mp4")
        let content = try await manager.fetch("\(nginx.http)/lecture.mp4") { $0.outputPath = output }
        #expect(content.state == .completed)
        _ = try await manager.first(in: events) { if case .published = $0 { true } else { false } }
        #expect(try Data(contentsOf: URL(filePath: output)) == bytes)
        // For a complete lecture as well.
        let other = site.directory.file("other.mp4")
        _ = try await manager.fetch("\(nginx.http)/lecture.mp4") { $0.outputPath = other }
        #expect(try Data(contentsOf: URL(filePath: other)) == bytes)
        #expect(try await nginx.requests(atLeast: 1).count == 1)
        await manager.close()
        await nginx.stop()
    }
}

extension LectureManager {
    /// Whether about as many bytes came over the network as the object has.
    func isFrugal(about count: Int, slack: Int) -> Bool {
        guard let summary = try? summary() else { return false }
        return summary.fetchedBytes >= Int64(count) && summary.fetchedBytes <= Int64(count + slack)
    }
}
