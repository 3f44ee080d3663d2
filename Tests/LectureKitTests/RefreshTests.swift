import Foundation
import LectureKit
import LectureTestSupport
import Testing

/// What the library reports about the sources of complete lectures.
@Suite(.timeLimit(.minutes(2))) struct RefreshNetTests {
    @Test func `refresh reports what has changed, and queues it`() async throws {
        let site = try Site()
        let names = ["same.mp4", "changed.mp4", "gone.mp4"]
        var bytes: [Data] = []
        for name in names { bytes.append(try site.file(name, bytes: 100_000)) }
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        var keys: [ContentKey] = []
        for name in names { keys.append(try await manager.fetch("\(nginx.http)/\(name)").key) }
        bytes[1] = try site.file("changed.mp4", bytes: 120_000)
        try FileManager.default.removeItem(atPath: try await manager.contents.path(of: keys[2]))
        let unknown = try ContentKey("unknown")

        let results = try await manager.downloads.refresh(keys + [unknown, keys[0]])
        #expect(results.count == 4)
        #expect(results[keys[0]] == .success(.unchanged))
        #expect(results[keys[1]] == .success(.outdated))
        #expect(results[keys[2]] == .success(.damaged))
        #expect(results[unknown] == .failure(LectureError(.unknownContent, detail: "unknown")))
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        for (key, expected) in zip(keys, bytes) { #expect(try await manager.bytes(key) == expected) }
        #expect(
            try await manager.downloads.refresh(keys)
                == [keys[0], keys[1], keys[2]].reduce(into: [:]) { results, key in
                    results[key] = .success(.unchanged)
                })
        await manager.close()
    }

    @Test func `a source that does not answer changes nothing, and others are still asked`() async throws {
        let site = try Site()
        let bytes = try site.file("a.mp4", bytes: 50_000)
        try site.file("b.mp4", bytes: 50_000)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        let (a, b) = (
            try await manager.fetch("\(nginx.http)/a.mp4").key, try await manager.fetch("\(nginx.http)/b.mp4").key
        )
        try FileManager.default.removeItem(atPath: "\(site.root)/a.mp4")
        let results = try await manager.downloads.refresh([a, b])
        guard case .failure(let error) = results[a] else {
            Issue.record("\(results)")
            return
        }
        #expect(error.code == .status(404) && results[b] == .success(.unchanged))
        #expect(try await manager.contents.find(a)?.state == .completed)
        #expect(try await manager.bytes(a) == bytes)
        await manager.close()
    }
}
