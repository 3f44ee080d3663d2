import LectureDownload
import LectureFormats
import LectureModel
import LectureSimulation
import LectureStore
import Testing

/// Servers that ask to wait, fail, change the file, move it, or lie.
struct ServerScenarios {
    private static let url = FetchingScenarios.url

    @Test func `Retry-After is obeyed, also by a later process`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { _, number, answer in number == 1 ? Answer(503, ["Retry-After": "600"]) : answer }
        let key = try scene.want(Self.url)
        let asked = scene.world.now
        try scene.run { try scene.content(key)?.stopReason == .serverWait }
        #expect(try #require(try scene.content(key)?.nextAttempt) - asked >= .seconds(600))
        try scene.crash()
        let other = try scene.want("http://media.example/other.mp4")
        scene.work(for: .seconds(590))
        #expect(scene.network.requests.count == 1)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.content(other)?.state == .failed)
        #expect(try scene.contradictions() == [])
    }

    @Test func `Retry-After on one range lets the others finish and frees the slot`() throws {
        var settings = DownloadSettings()
        settings.connections = 2
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6, settings: settings)
        scene.network.script = { _, number, answer in number == 2 ? Answer(503, ["Retry-After": "300"]) : answer }
        let key = try scene.want(Self.url)
        try scene.run(within: .seconds(60)) { try scene.content(key)?.stopReason == .serverWait }
        #expect(scene.program.engine.activeCount == 0)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `attempts are counted in the row, wait longer each time, and end`() throws {
        let (scene, _) = try FetchingScenarios.scene()
        scene.network.script = { _, _, _ in Answer(500) }
        let key = try scene.want(Self.url)
        var seen: Set<Int> = []
        try scene.run {
            let content = try #require(try scene.content(key))
            seen.insert(content.attempts)
            return content.state == .failed
        }
        #expect(seen.isSuperset(of: [1, 2, 3, 4, 5]))
        #expect(scene.network.requests.count == 5)
        #expect(try scene.content(key)?.error?.code == .status(500))
        #expect(try scene.contradictions() == [])
    }

    @Test func `received bytes reset the attempt count`() throws {
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 3)
        scene.network.script = { _, number, answer in
            if number % 4 != 0 { return Answer.failure(7) }
            var short = answer
            short.breaksAfter = min(700_000, answer.body.count)
            return short
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.content(key)?.attempts == 0)
        #expect(try scene.contradictions() == [])
    }

    @Test func `an unreachable network stops the item, which is retried`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        var isDown = true
        scene.network.script = { _, _, answer in isDown ? .failure(6) : answer }
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .network }
        #expect(scene.program.engine.activeCount == 0)
        isDown = false
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a digest mismatch is retried once and then reported`() throws {
        let (scene, bytes) = try FetchingScenarios.scene { $0.more = [] }
        let key = try scene.want(Self.url) { $0.sha256 = [UInt8](repeating: 1, count: 32) }
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .digestMismatch)
        #expect(scene.network.delivered <= 2 * bytes.count)
        #expect(scene.disk.files.isEmpty)
        #expect(scene.disk.parts.isEmpty)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a mismatch with an announced digest restarts once and then fails`() throws {
        let wrong = "sha-256=:\(String(repeating: "A", count: 43))=:"
        let (scene, bytes) = try FetchingScenarios.scene { file in
            file.more = [HeaderField(name: "Repr-Digest", value: wrong)]
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .digestMismatch)
        #expect(scene.network.delivered == 2 * bytes.count)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `a file that changes without a digest is a new version, never mixed`(hasRanges: Bool) throws {
        let (scene, bytes) = try FetchingScenarios.scene { $0.hasRanges = hasRanges }
        let fresh = lectureBytes(bytes.count, seed: 99)
        scene.network.script = { _, number, answer in
            guard number == 1 else { return answer }
            var short = answer
            short.breaksAfter = 2_500_000
            return short
        }
        let key = try scene.want(Self.url)
        try scene.run { scene.network.delivered >= 2_500_000 }
        scene.network.files[Self.url]?.bytes = fresh
        scene.network.files[Self.url]?.etag = "\"v2\""
        try scene.rest()
        #expect(try scene.bytes(key) == fresh)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `a validator that changes under a known digest keeps the verified bytes`(hasRanges: Bool) throws {
        let (scene, bytes) = try FetchingScenarios.scene { $0.hasRanges = hasRanges }
        let digest = try FetchingScenarios.sha256(bytes, scene)
        scene.network.script = { _, number, answer in
            guard number == 1 else { return answer }
            var short = answer
            short.breaksAfter = 2_500_000
            return short
        }
        let key = try scene.want(Self.url) { $0.sha256 = digest }
        try scene.run { scene.network.delivered >= 2_500_000 }
        scene.network.files[Self.url]?.etag = "\"v2\""
        try scene.rest(within: .seconds(300))
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.count <= 4)
        if hasRanges { #expect(scene.network.delivered == bytes.count) }
        #expect(try scene.contradictions() == [])
    }

    @Test func `a validator that changes with every answer does not prevent completion under a known digest`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let file = try #require(scene.network.files[Self.url])
        scene.network.script = { request, number, _ in
            var other = file
            other.etag = "\"v\(number)\""
            var answer = other.answer(to: request)
            if number < 4 { answer.breaksAfter = min(1_200_000, answer.body.count) }
            return answer
        }
        let key = try scene.want(Self.url) { $0.sha256 = digest }
        try scene.rest(within: .seconds(300))
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `late range ends of an abandoned version change nothing`() throws {
        var settings = DownloadSettings()
        settings.connections = 3
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 9, settings: settings)
        let fresh = lectureBytes(bytes.count, seed: 99)
        scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 64 << 10
            slow.breaksAfter = min(1_300_000, answer.body.count)
            return slow
        }
        let key = try scene.want(Self.url)
        scene.work(for: .milliseconds(150))
        #expect(scene.program.transport.runningCount == 3)
        scene.network.files[Self.url]?.bytes = fresh
        scene.network.files[Self.url]?.etag = "\"v2\""
        try scene.rest()
        #expect(try scene.bytes(key) == fresh)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a chunked body longer than the known length is refused, not written`() throws {
        let (scene, bytes) = try FetchingScenarios.scene { file in
            file.hasRanges = false
            file.hidesLength = true
        }
        let digest = try FetchingScenarios.sha256(bytes, scene)
        scene.network.files[Self.url]?.bytes = bytes + [1, 2, 3]
        let key = try scene.want(Self.url) { request in
            request.sha256 = digest
            request.size = Int64(bytes.count)
        }
        try scene.rest(within: .seconds(300))
        #expect(try scene.content(key)?.state == .failed)
        #expect(scene.disk.files.isEmpty)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a web page is refused with its own code`() throws {
        let (scene, _) = try FetchingScenarios.scene { $0.type = "text/html" }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .notMedia)
        #expect(scene.network.delivered == 0)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a web page sent as media fails the item, which is fetched when the portal is gone`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.files[Self.url]?.bytes = Array("<!DOCTYPE html><title>Sign in</title>".utf8)
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .notMedia)
        scene.network.files[Self.url]?.bytes = bytes
        _ = try scene.index.targets.setTargetState(key, .fetch, now: scene.world.now)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a body without a length that always breaks is not restarted forever`() throws {
        let (scene, _) = try FetchingScenarios.scene { file in
            file.hidesLength = true
            file.hasRanges = false
        }
        scene.network.script = { _, _, answer in
            var short = answer
            short.breaksAfter = 3_500_000
            return short
        }
        let key = try scene.want(Self.url)
        try scene.run(within: .seconds(600)) { try scene.content(key)?.stopReason == .network }
        #expect(scene.network.requests.count <= 2 * DownloadSettings().maxAttempts + 2)
    }

    @Test func `a failure is reported once`() throws {
        let (scene, _) = try FetchingScenarios.scene()
        scene.network.script = { _, _, _ in Answer(500) }
        let key = try scene.want(Self.url)
        var reported = 0
        try scene.run(within: .seconds(600)) {
            let isFailed = try scene.content(key)?.state == .failed
            if isFailed { reported = scene.program.notices.count }
            return isFailed
        }
        let last = scene.program.notices.prefix(reported).suffix(2).map { "\($0)" }
        #expect(Set(last).count == last.count, "\(last)")
    }

    @Test func `a head beyond the limit has its own code`() throws {
        let (scene, _) = try FetchingScenarios.scene()
        scene.network.script = { _, _, _ in
            var answer = Answer.failure(8)
            answer.detail = TransferOutcome.headerTooLarge
            return answer
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .headerTooLarge)
    }

    @Test func `a redirect is followed and credentials stay behind`() throws {
        let scene = try Scene()
        let far = "http://cdn.example/a.mp4"
        let file = ServedFile(lectureBytes(2 << 20))
        scene.network.files[far] = file
        scene.network.files[Self.url] = file
        scene.network.script = { request, _, answer in
            guard request.url == Self.url else { return answer }
            var moved = Answer(302)
            moved.redirectURL = far
            return moved
        }
        let key = try scene.want(Self.url) { $0.headers = ["Authorization": "secret", "X-Course": "1"] }
        try scene.rest()
        #expect(try scene.bytes(key) == file.bytes)
        #expect(scene.network.requests(for: Self.url).first?.headers["Authorization"] == "secret")
        for request in scene.network.requests(for: far) {
            #expect(request.headers["Authorization"] == nil)
            #expect(request.headers["X-Course"] == nil)
        }
        #expect(try scene.contradictions() == [])
    }

    @Test func `redirects without an end are refused`() throws {
        let scene = try Scene()
        scene.network.script = { request, number, _ in
            var moved = Answer(302)
            moved.redirectURL = "http://media.example/\(number)"
            return moved
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.content(key)?.error?.code == .redirectLoop)
        #expect(scene.network.requests.count == RedirectPolicy.limit + 1)
    }

    /// A connection carries as many as there are jobs, where there may be 16 connections of a host. Those that wait for
    /// the server are no jobs; when it has place for all of them there are no more than allowed.
    @Test(arguments: [(true, 40), (false, 16)])
    func `answers over HTTP/2 let a server have as many transfers as there are jobs`(isHTTP2: Bool, most: Int) throws {
        var settings = DownloadSettings()
        settings.jobs = 40
        let scene = try Scene(seed: 1, settings: settings)
        scene.network.script = { _, _, answer in
            var answer = answer
            (answer.isHTTP2, answer.latency) = (isHTTP2, .seconds(1))
            return answer
        }
        let urls = (0..<240).map { "https://media.example/\($0).mp4" }
        let keys = try urls.map { url in
            scene.network.files[url] = ServedFile(lectureBytes(4096))
            return try scene.want(url)
        }
        try scene.rest()
        // More than are claimed at once: those that had to wait are not overtaken.
        #expect(scene.network.requests.map(\.url) == urls)
        #expect(scene.program.transport.mostAtOnce == most)
        #expect(try keys.allSatisfy { try scene.content($0)?.state == .completed })
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [18, 28, 52, 55, 56, 92])
    func `a server where HTTP/2 breaks again and again is asked over HTTP/1.1`(curl: Int) throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { request, _, answer in request.allowsHTTP2 ? .failure(curl) : answer }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.map(\.allowsHTTP2) == [true, true, true, false])
        #expect(try scene.contradictions() == [])
    }
}
