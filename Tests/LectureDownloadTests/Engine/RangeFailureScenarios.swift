import LectureDownload
import LectureModel
import LectureSimulation
import Testing

/// Servers with wrong ranges, lengths or bytes, where continuing as before would never end.
struct RangeFailureScenarios {
    private static let url = FetchingScenarios.url

    /// A world in which the first body breaks in its middle and every later range gets a changed answer.
    private func scene(_ change: @escaping (Answer, TransferRequest) -> Answer) throws -> (Scene, [UInt8]) {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { request, number, answer in
            var answer = answer
            if number == 1 { answer.breaksAfter = 2_500_000 }
            return request.range == nil ? answer : change(answer, request)
        }
        return (scene, bytes)
    }

    @Test(arguments: ["bytes 0-4206648/4206649", "garbage", ""])
    func `a server with wrong ranges is asked for the whole file, and verified chunks are skipped`(
        range: String
    ) throws {
        let (scene, bytes) = try scene { answer, _ in
            var wrong = answer
            wrong.fields = ["ETag": "\"v1\"", "Content-Range": range]
            return wrong
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.map { $0.range == nil } == [true, false, true])
        #expect(try scene.contradictions() == [])
    }

    /// Two servers behind one address, one of them without ranges; its refused answers come in any order, the last one
    /// when no other transfer runs any more.
    @Test(arguments: 0..<24)
    func `a whole file refused beside other transfers does not count as received`(seed: Int) throws {
        var settings = DownloadSettings()
        settings.connections = 2 + seed % 3
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 9, seed: UInt64(seed + 1), settings: settings)
        scene.network.script = { request, number, answer in
            guard number > 1, (number + seed) % 4 != 0, number < 9, request.range != nil else { return answer }
            var whole = Answer(200, ["ETag": "\"v1\"", "Content-Length": "\(bytes.count)"])
            whole.body = bytes[...]
            whole.latency = .milliseconds(100 + number * (seed % 5) * 50)
            return whole
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a server that denies an existing range is asked for the whole file`() throws {
        let (scene, bytes) = try scene { _, _ in Answer(416, ["Content-Range": "bytes */4206649"]) }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.count == 3)
        #expect(try scene.contradictions() == [])
    }

    @Test func `wrong ranges and a whole file that always breaks end in a failure`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { request, _, answer in
            guard request.range == nil else { return Answer(416) }
            var short = answer
            short.breaksAfter = 2_500_000
            return short
        }
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .network }
        #expect(scene.network.requests.count <= 7)
        #expect(scene.network.delivered < 7 * bytes.count)
        #expect(try scene.contradictions() == [])
    }

    @Test func `parts of a hundred bytes are not requested endlessly`() throws {
        let (scene, bytes) = try scene { answer, request in
            let first = request.range?.first ?? 0
            var tiny = answer
            tiny.body = answer.body.prefix(100)
            tiny.fields = ["ETag": "\"v1\"", "Content-Range": "bytes \(first)-\(first + 99)/4206649"]
            return tiny
        }
        let key = try scene.want(Self.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.count == 3)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a connection that sends single bytes is abandoned like a silent one`() throws {
        let (scene, _) = try scene { answer, _ in
            var short = answer
            short.breaksAfter = 1
            return short
        }
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .network }
        #expect(scene.network.requests.count <= 6)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a body of unknown length that never ends is not fetched endlessly`() throws {
        let (scene, bytes) = try FetchingScenarios.scene {
            $0.hidesLength = true
            $0.hasRanges = false
        }
        scene.network.script = { _, _, answer in
            var endless = answer
            endless.breaksAfter = answer.body.count
            return endless
        }
        let key = try scene.want(Self.url)
        try scene.run { try scene.content(key)?.stopReason == .network }
        #expect(scene.network.requests.count <= 7)
        #expect(scene.network.delivered <= 7 * bytes.count)
        #expect(try scene.contradictions() == [])
    }
}
