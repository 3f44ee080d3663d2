import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Removals through the library, without a server.
@Suite(.timeLimit(.minutes(1))) struct RemovalTests {
    @Test func `many lectures are removed at once, and unknown keys are no error`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let events = manager.events
        let keys = try (0...1500).map { try ContentKey("k\($0)") }
        let requests = keys.dropFirst().map { key in
            var request = DownloadRequest(url: "http://127.0.0.1:1/a.mp4")
            request.key = key
            return request
        }
        _ = try await manager.downloads.enqueue(requests)
        let current = try await manager.downloads.remove(keys)
        #expect(current.first == .some(nil))
        #expect(current.dropFirst().compactMap(\.self) == Array(keys.dropFirst()))
        var left = Set(keys.dropFirst())
        for await case .removed(let key) in events where !left.isEmpty {
            left.remove(key)
            if left.isEmpty { break }
        }
        #expect(try await manager.contents.count() == 0)
        try await manager.downloads.remove(keys[1])
        await manager.close()
    }
}
