import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Streaming from the sandbox, through a real store.
@Suite(.timeLimit(.minutes(3)))
struct StreamNetTests {
    @Test
    func `read data is not fetched again, not even by the next program, and any range is right`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-5M-21.mp4"
        let due = try await sandbox.bytes(of: path)
        try await sandbox.reset()
        let first = try site.streamer()
        let stream = try await first.streams.open("\(sandbox.http)\(path)")
        #expect(stream.byteCount == 5 << 20)
        #expect(try await stream.data(1_000_000..<1_100_000) == due[1_000_000..<1_100_000])
        #expect(try await stream.data() == due)
        await stream.end()
        let fetched = try await sandbox.requests(for: path).filter { $0.status == 206 }.map(\.bytes).reduce(0, +)
        #expect(fetched >= 5 << 20 && fetched < 6 << 20, "\(fetched)")
        #expect(try await first.streams.cacheBytes() == site.cacheFiles().values.reduce(0) { $0 + Int64($1) })
        await first.close()

        try await sandbox.reset()
        let second = try site.streamer()
        let again = try await second.streams.open("\(sandbox.http)\(path)?token=another")
        #expect(again.key == stream.key)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<40 {
            let from = Int64.random(in: 0..<5 << 20, using: &random)
            let to = Int64.random(in: from...6 << 20, using: &random)
            #expect(try await again.data(from..<to) == due[from..<min(to, 5 << 20)], "\(from)..<\(to)")
        }
        // One request gets the version; its body is not read.
        let requests = try await sandbox.requests(for: path)
        #expect(requests.count == 1 && requests[0].range == nil, "\(requests.count)")
        await again.end()
        await #expect(throws: LectureError(.closing)) { try await again.data(0..<1) }
        await second.close()
        #expect(try StoreTools.check(site.store) == [])
        await sandbox.stop()
    }
}

extension StreamNetTests {
    /// Servers that are odd but honest.
    @Test(arguments: [
        ("drop:1500000;times=3", true), ("rst:400000;times=2", true), ("short:700000", true), ("no-range", true),
        ("status:500;times=2", true), ("status:503;retry=1;times=1;after=1", true), ("redirect:3", true),
        ("no-length", true),
        ("no-etag", true), ("weak-etag", false), ("no-validator", false), ("no-validator,no-range", false),
    ])
    func `odd servers yield the right bytes, and only verified ones are kept`(fault: String, kept: Bool) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-4M-22.mp4"
        let due = try await sandbox.bytes(of: path)
        try await sandbox.set(fault: fault, on: path)
        let manager = try site.streamer()
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data(3_000_000..<3_100_000) == due[3_000_000..<3_100_000])
        #expect(try await stream.data(100..<200) == due[100..<200])
        #expect(try await stream.data() == due)
        #expect(try site.cacheFiles().isEmpty == !kept)
        await stream.end()
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: [
        ("html", LectureError.Code.notMedia), ("gzip", .codingRefused), ("status:404", .status(404)),
        ("redirect:30", .redirectLoop), ("no-length,no-range", .badLength), ("status:503;retry=3600", .status(503)),
    ])
    func `data that is not media is refused on opening`(fault: String, code: LectureError.Code) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        try await sandbox.set(fault: fault, on: "/media/*")
        let manager = try site.streamer()
        await #expect(throws: LectureError(code)) {
            try await manager.streams.open("\(sandbox.http)/media/bytes-1M-1.mp4")
        }
        await #expect(throws: LectureError(.urlScheme)) { try await manager.streams.open("ftp://127.0.0.1/a") }
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a permanent server failure is reported with its own code in the middle`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-4M-23.mp4"
        let manager = try site.streamer { $0.maxAttempts = 2 }
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data(0..<10).count == 10)
        for (fault, code) in [
            ("status:403", LectureError.Code.status(403)), ("html", .notMedia), ("500", .status(500)),
        ] {
            try await sandbox.set(fault: fault, on: path)
            await #expect(throws: LectureError(code)) { try await stream.data(3_500_000..<3_500_010) }
        }
        // The error was the server's, not the stream's.
        try await sandbox.set(fault: "", on: path)
        #expect(try await stream.data(3_500_000..<3_500_010).count == 10)
        await manager.close()
        await #expect(throws: LectureError(.closing)) { try await stream.data(0..<10) }
        await sandbox.stop()
    }

    // MARK: Versions

    @Test
    func `a new version is never mixed with the old one`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-6M-24.mp4"
        let old = try await sandbox.bytes(of: path)
        let manager = try site.streamer()
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await stream.data(0..<2_000_000) == old[0..<2_000_000])
        try await sandbox.set(fault: "changed", on: path)
        let new = try await sandbox.bytes(of: path)
        #expect(new != old && new.count == old.count)
        let basket = Basket()
        await #expect(throws: LectureError(.versionUnstable)) { try await stream.read { basket.take($0) } }
        #expect(basket.data == old.prefix(basket.data.count), "what came before is of the old version")
        await #expect(throws: LectureError(.versionUnstable)) { try await stream.data(0..<1) }

        let fresh = try await manager.streams.open("\(sandbox.http)\(path)")
        #expect(try await fresh.data() == new)
        await stream.end()
        await fresh.end()
        // The old version was deleted with its last reader.
        #expect(try Set(site.cacheFiles().keys.map { $0.prefix { $0 != "/" } }).count == 1)
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a version that changes before the first byte replaces the old one`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-3M-25.mp4"
        let manager = try site.streamer()
        let before = try await manager.streams.open("\(sandbox.http)\(path)")
        let old = try await before.data(1_500_000..<3_000_000)
        await before.end()
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        try await sandbox.set(fault: "changed", on: path)
        let new = try await sandbox.bytes(of: path)
        // The first block is missing, so that the change is noticed with the first request.
        #expect(try await stream.data() == new)
        #expect(new[1_500_000..<3_000_000] != old)
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: ["ignore-if-range,changed:after=2", "no-range,changed:after=2"])
    func `a server that hides its version is detected`(fault: String) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-6M-26.mp4"
        let old = try await sandbox.bytes(of: path)
        try await sandbox.reset()
        // One request is for the opening, one for the first read.
        try await sandbox.set(fault: "\(fault),drop:3000000;after=1;times=1", on: path)
        let manager = try site.streamer()
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        let basket = Basket()
        await #expect(throws: LectureError(.versionUnstable)) { try await stream.read { basket.take($0) } }
        #expect(!basket.data.isEmpty && basket.data == old.prefix(basket.data.count))
        await manager.close()
        await sandbox.stop()
    }

    // MARK: Gateways

    @Test
    func `a gateway's expired media URL is renewed, and the lecture is known by its key`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start(["--require-lease"])
        let due = try await sandbox.bytes(of: "/media/bytes-4M-27.mp4?\(try await lease(sandbox, "bytes-4M-27"))")
        let manager = try site.streamer()
        let stream = try await manager.streams.open(try await sandbox.link(key: "bytes-4M-27"))
        #expect(stream.key.text == "bytes-4M-27")
        #expect(try await stream.data(0..<100) == due[0..<100])
        try await sandbox.set(fault: "403;times=1", on: "/media/*")
        #expect(try await stream.data() == due)
        try await sandbox.set(fault: "403", on: "/media/*")
        await stream.end()
        try await sandbox.set(fault: "", on: "/media/*")
        // Another token, another lease, another learner: the same media.
        try await sandbox.reset()
        let again = try await manager.streams.open(try await sandbox.link(key: "bytes-4M-27", user: "another"))
        #expect(try await again.data() == due)
        #expect(try await sandbox.requests().filter { $0.path.hasPrefix("/media") }.count == 1)
        #expect(try await manager.contents.list().isEmpty, "a stream is no content")
        await manager.close()
        await sandbox.stop()
    }

    /// The query of a lease, from the gateway's own answer.
    private func lease(_ sandbox: SandboxOrigin, _ key: String) async throws -> String {
        let answer = try await ChildProcess.run("/usr/bin/curl", ["-sf", try await sandbox.link(key: key)]).output
        let object = try #require(try JSONSerialization.jsonObject(with: answer) as? [String: Any])
        let media = try #require(object["media"] as? [String: Any])
        return try #require((media["url"] as? String)?.split(separator: "?").last.map(String.init))
    }
}
