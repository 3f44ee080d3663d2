import LectureCrypto
import LectureDownload
import LectureModel
import LectureSimulation
import LectureStore
import Testing

/// Whole downloads in a scripted world: what is received, kept and requested again.
struct FetchingScenarios {
    static let url = "http://media.example/week-1.mp4"

    /// A world with one requested file.
    static func scene(
        chunks: Int = 4, seed: UInt64 = 1, settings: DownloadSettings = DownloadSettings(),
        seals: Bool = false, file change: (inout ServedFile) -> Void = { _ in }
    ) throws -> (scene: Scene, bytes: [UInt8]) {
        let scene = try Scene(seed: seed, settings: settings, seals: seals)
        var file = ServedFile(lectureBytes(chunks << 20 + 12_345))
        change(&file)
        scene.network.files[url] = file
        return (scene, file.bytes)
    }

    static func sha256(_ bytes: [UInt8], _ scene: Scene) throws -> [UInt8] {
        let running = try scene.disk.digests.sha256()
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
        return try running.finish()
    }

    @Test func `a plain file arrives`() throws {
        let (scene, bytes) = try Self.scene()
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count)
        #expect(scene.program.engine.statistics.bytesFetched == Int64(bytes.count))
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `a file of unknown length arrives, with or without complete chunks`(endsOnChunk: Bool) throws {
        let (scene, bytes) = try Self.scene { file in
            file.hidesLength = true
            file.hasRanges = false
            if endsOnChunk { file.bytes.removeLast(12_345) }
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.content(key)?.committedBytes == Int64(bytes.count))
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false], ["any file is accepted", "the size is known", "the digest is known"])
    func `an empty file is complete where it is expected`(hidesLength: Bool, why: String) throws {
        var settings = DownloadSettings()
        settings.acceptsAny = why == "any file is accepted"
        let (scene, _) = try Self.scene(settings: settings) { file in
            file.bytes = []
            file.hasRanges = false
            file.hidesLength = hidesLength
        }
        let digest = try Self.sha256([], scene)
        let key = try scene.want(Self.url) { request in
            if why == "the size is known" { request.size = 0 }
            if why == "the digest is known" { request.sha256 = digest }
        }
        try scene.rest()
        #expect(try scene.bytes(key) == [])
        #expect(scene.network.requests.count <= 2)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `an unexpected empty file is not a lecture`(hidesLength: Bool) throws {
        let (scene, _) = try Self.scene { file in
            file.bytes = []
            file.hasRanges = false
            file.hidesLength = hidesLength
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        let content = try #require(try scene.content(key))
        #expect(content.state == .failed && content.error?.code == .notMedia)
        #expect(content.error?.cause == "the file is empty")
        #expect(try scene.contradictions() == [])
    }

    @Test func `an engine dropped at any step loses no data and little work`() throws {
        for steps in 1...30 {
            let (scene, bytes) = try Self.scene(chunks: 6, seed: UInt64(steps))
            scene.network.script = { _, _, answer in
                var slow = answer
                slow.pace = 128 << 10
                return slow
            }
            let key = try scene.want(Self.url)
            for _ in 0..<steps * 4 {
                scene.program.step()
                scene.advance([scene.program])
            }
            try scene.crash(powerCut: steps % 2 == 0)
            let before = scene.network.delivered
            let found = try #require(try scene.content(key))
            let committed = found.committedBytes
            try scene.rest()
            #expect(try scene.bytes(key) == bytes)
            #expect(scene.network.delivered - before == bytes.count - Int(committed), "after \(steps) steps")
            #expect(scene.program.engine.statistics.bytesReused == (found.state == .completed ? 0 : committed))
            #expect(try scene.contradictions() == [])
        }
    }

    @Test func `received bytes count as fetched at once`() throws {
        let (scene, bytes) = try Self.scene(chunks: 8)
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 64 << 10
            return slow
        }
        try scene.want(Self.url)
        scene.work(for: .milliseconds(600))
        let fetched = Int(scene.program.engine.statistics.bytesFetched)
        #expect(fetched > 1 << 20)
        #expect(fetched <= scene.network.delivered)
        try scene.rest()
        #expect(scene.program.engine.statistics.bytesFetched == Int64(bytes.count))
    }

    @Test func `bytes fetched in this run do not count as reused when the item resumes`() throws {
        let (scene, bytes) = try Self.scene(chunks: 8)
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 64 << 10
            return slow
        }
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(900))
        _ = try scene.index.targets.setTargetState(key, .pause, now: scene.world.now)
        try scene.rest()
        #expect(try scene.content(key)?.stopReason == .user)
        #expect(try #require(try scene.content(key)).committedBytes > 0)
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.program.engine.statistics.bytesReused == 0)
    }

    @Test func `a download from a server that drops every 64 KiB still completes`() throws {
        let (scene, bytes) = try Self.scene(chunks: 3)
        scene.network.script = { _, _, answer in
            var short = answer
            short.breaksAfter = min(64 << 10, answer.body.count)
            short.latency = .milliseconds(1)
            return short
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a server without ranges is asked for the whole file again, and verified chunks are skipped`() throws {
        let (scene, bytes) = try Self.scene(chunks: 4) { $0.hasRanges = false }
        scene.network.script = { _, number, answer in
            var short = answer
            if number < 3 { short.breaksAfter = number * 1_500_000 }
            return short
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.count == 3)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a server without ranges that makes no progress ends in a failure`() throws {
        let (scene, _) = try Self.scene(chunks: 4) { $0.hasRanges = false }
        scene.network.script = { _, number, answer in
            var short = answer
            short.breaksAfter = 200_000 + number * 7_919 % 90_000
            return short
        }
        let key = try scene.want(Self.url)
        try scene.run(within: .seconds(900)) { try scene.content(key)?.stopReason == .network }
        #expect(scene.network.requests.count < 40)
        #expect(try scene.contradictions() == [])
    }

    @Test func `several connections share a file, and none fetches a byte twice`() throws {
        var settings = DownloadSettings()
        settings.connections = 3
        let (scene, bytes) = try Self.scene(chunks: 9, settings: settings)
        scene.network.script = { request, _, answer in
            var slow = answer
            slow.pace = request.id.value % 3 == 0 ? 32 << 10 : 128 << 10
            return slow
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.program.transport.mostAtOnce == 3)
        // A split transfer may take one more call of the transport before it reaches its new end.
        #expect(scene.network.delivered < bytes.count + scene.network.requests.count * (16 << 10))
        #expect(try scene.contradictions() == [])
    }

    /// A second connection to a server that limits each of them helps; not while the disk is what the bytes wait for.
    @Test(arguments: [(0.2, true), (0.3, false)])
    func `while the disk is the limit, a file keeps its one connection`(waiting: Double, triesMore: Bool) throws {
        let (scene, bytes) = try Self.scene(chunks: 64)
        scene.disk.waitingShare = waiting
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 48 << 10
            return slow
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect((scene.program.transport.mostAtOnce > 1) == triesMore)
        #expect(try scene.contradictions() == [])
    }

    @Test func `progress never decreases and is never ahead of the received bytes`() throws {
        var settings = DownloadSettings()
        settings.progressInterval = .milliseconds(20)
        settings.groupInterval = .milliseconds(20)
        let (scene, bytes) = try Self.scene(chunks: 6, settings: settings)
        scene.network.script = { _, number, answer in
            var slow = answer
            slow.pace = 64 << 10
            if number % 3 != 0 { slow.breaksAfter = min(1_700_000, answer.body.count) }
            return slow
        }
        var last: Int64 = 0
        var seen = 0
        let network = scene.network
        let world = scene.world
        scene.program.onNotices = { notices in
            for case .event(.progress(let progress)) in notices {
                seen += 1
                if progress.bytes < last { world.found("progress fell from \(last) to \(progress.bytes)") }
                if progress.bytes > network.delivered {
                    world.found("progress says \(progress.bytes), \(network.delivered) came")
                }
                last = progress.bytes
            }
        }
        try scene.want(Self.url)
        try scene.rest()
        #expect(seen > 20)
        #expect(last == bytes.count)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a notice is published only after the commit that makes it true`() throws {
        let (scene, _) = try Self.scene(chunks: 3)
        let key = try scene.want(Self.url)
        let index = scene.index
        let world = scene.world
        var reported = 0
        scene.program.onNotices = { notices in
            for case .event(.progress(let progress)) in notices where progress.state == .completed {
                reported += 1
                if try index.contents.item(key)?.content.state != .completed {
                    world.found("completion was reported too early")
                }
            }
            for case .event(.progress(let progress)) in notices {
                let committed = try index.contents.item(key)?.content.committedBytes ?? 0
                if progress.committedChunks << 20 > committed + 1 << 20 {
                    world.found("proofs were reported too early")
                }
            }
        }
        try scene.rest()
        #expect(reported == 1)
        #expect(try scene.contradictions() == [])
    }
}
