import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Streaming from the sandbox, through a real store.
@Suite(.timeLimit(.minutes(3)))
struct StreamNetTests {
    @Test
    func `what was read is not fetched again, also by the next program, and any range is right`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-5M-21.mp4"
        let due = try await sandbox.bytes(of: path)
        try await sandbox.reset()
        let first = try site.streamer()
        let stream = try await first.openStream("\(sandbox.http)\(path)")
        #expect(stream.byteCount == 5 << 20)
        #expect(try await stream.data(1_000_000..<1_100_000) == due[1_000_000..<1_100_000])
        #expect(try await stream.data() == due)
        await stream.end()
        let fetched = try await sandbox.requests(for: path).filter { $0.status == 206 }.map(\.bytes).reduce(0, +)
        #expect(fetched >= 5 << 20 && fetched < 6 << 20, "\(fetched)")
        #expect(try await first.streamCacheBytes() == site.cacheFiles().values.reduce(0) { $0 + Int64($1) })
        await first.close()

        try await sandbox.reset()
        let second = try site.streamer()
        let again = try await second.openStream("\(sandbox.http)\(path)?token=another")
        #expect(again.key == stream.key)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<40 {
            let from = Int64.random(in: 0..<5 << 20, using: &random)
            let to = Int64.random(in: from...6 << 20, using: &random)
            #expect(try await again.data(from..<to) == due[from..<min(to, 5 << 20)], "\(from)..<\(to)")
        }
        // One request tells the version; its body is not taken.
        let requests = try await sandbox.requests(for: path)
        #expect(requests.count == 1 && requests[0].range == nil, "\(requests.count)")
        await again.end()
        await #expect(throws: LectureError(.closing)) { try await again.data(0..<1) }
        await second.close()
        #expect(try await StoreTools.check(site.store) == [])
        await sandbox.stop()
    }
}
