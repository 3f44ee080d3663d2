import LectureDownload
import LectureModel
import LectureSimulation
import LectureStore
import Testing

/// Gateways, leases of URLs, mirrors, and optional resources.
struct GatewayScenarios {
    private static let gateway = "http://gate.example/s/lecture-1"
    private static let media = "http://media.example/signed?1"

    private static func descriptor(key: String, url: String, more: String = "") -> Answer {
        .document(
            """
            {"version":1,"media_content_key":"\(key)","title":"Week 1","content_type":"downloading",\
            "downloadable":true,"media":{"url":"\(url)"}\(more)}
            """, type: ContentDescriptor.mediaType)
    }

    @Test func `a gateway's link becomes the lecture it describes`() throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(2 << 20))
        scene.network.files[Self.media] = file
        scene.network.script = { request, _, answer in
            request.url == Self.gateway ? Self.descriptor(key: "lecture-1", url: Self.media) : answer
        }
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        let key = try ContentKey("lecture-1")
        #expect(try scene.bytes(key) == file.bytes)
        #expect(try scene.content(key)?.title == "Week 1")
        #expect(try scene.contradictions() == [])
    }

    @Test func `a signed URL that expires is renewed, and verified bytes stay`() throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(6 << 20))
        var signature = 0
        scene.network.script = { request, number, answer in
            if request.url == Self.gateway {
                signature += 1
                return Self.descriptor(key: "lecture-1", url: "http://media.example/signed?\(signature)")
            }
            guard request.url == "http://media.example/signed?\(signature)", number % 3 != 0 else { return Answer(403) }
            var short = file.answer(to: request)
            short.breaksAfter = min(2_000_000, short.body.count)
            return short
        }
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        #expect(try scene.bytes(try ContentKey("lecture-1")) == file.bytes)
        #expect(signature > 1)
        #expect(scene.network.delivered < file.bytes.count + signature * 1_000)
        #expect(try scene.contradictions() == [])
    }

    @Test func `the application's resolver renews a link without a gateway`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        let fresh = "http://media.example/fresh"
        scene.network.files[fresh] = scene.network.files[FetchingScenarios.url]
        scene.network.script = { request, number, answer in
            if request.url == fresh { return answer }
            var short = number == 1 ? answer : Answer(403)
            short.breaksAfter = number == 1 ? 2_000_000 : nil
            return short
        }
        scene.program.resolver.answer = { ([fresh], nil) }
        let key = try scene.want(FetchingScenarios.url)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.delivered == bytes.count)
        #expect(try scene.contradictions() == [])
    }

    @Test func `an unreachable gateway while a URL is renewed does not fail the item`() throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(3 << 20))
        var asked = 0
        scene.network.script = { request, _, _ in
            if request.url == Self.gateway {
                asked += 1
                return asked == 2 || asked == 3 ? .failure(7) : Self.descriptor(key: "k", url: Self.media)
            }
            if asked == 1, request.range != nil { return Answer(403) }
            var short = file.answer(to: request)
            if asked == 1 { short.breaksAfter = 1_500_000 }
            return short
        }
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        #expect(try scene.bytes(try ContentKey("k")) == file.bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `two links to one lecture become one, and both places get the bytes`() throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(1 << 20))
        scene.network.files[Self.media] = file
        let second = "http://gate.example/si/other"
        scene.network.script = { request, _, answer in
            request.url == Self.media ? answer : Self.descriptor(key: "same", url: Self.media)
        }
        try scene.want(Self.gateway, isGateway: true) { $0.outputPath = "/out/1" }
        try scene.rest()
        try scene.want(second, isGateway: true) { $0.outputPath = "/out/2" }
        try scene.rest()
        #expect(try scene.index.owners.summary(scene.program.run).counts == [.completed: 1])
        #expect(scene.network.requests(for: Self.media).count == 1)
        #expect(scene.disk.outputs["/out/1"] == file.bytes)
        #expect(scene.disk.outputs["/out/2"] == file.bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [Answer(404), Answer(503), .failure(7), .document("<p>", type: "text/html")])
    func `a missing picture does not fail the lecture`(answer picture: Answer) throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(2 << 20))
        scene.network.files[Self.media] = file
        scene.network.script = { request, _, answer in
            if request.url == Self.gateway {
                return Self.descriptor(key: "k", url: Self.media, more: ",\"snapshot_url\":\"http://pics.example/1\"")
            }
            return request.url == Self.media ? answer : picture
        }
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        let key = try ContentKey("k")
        #expect(try scene.bytes(key) == file.bytes)
        scene.work(for: .milliseconds(50))
        #expect(scene.disk.openPaths.isEmpty)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a picture that changes does not cost the lecture its bytes`() throws {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(2 << 20))
        scene.network.files[Self.media] = file
        let picture = ServedFile(lectureBytes(1_500_000, seed: 5))
        var asked = 0
        scene.network.script = { request, _, answer in
            if request.url == Self.gateway {
                return Self.descriptor(key: "k", url: Self.media, more: ",\"snapshot_url\":\"http://pics.example/1\"")
            }
            if request.url == Self.media { return answer }
            asked += 1
            var other = picture
            other.type = "image/png"
            other.etag = "\"v\(asked)\""
            var short = other.answer(to: request)
            short.breaksAfter = min(1_200_000, short.body.count)
            return short
        }
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        #expect(try scene.bytes(try ContentKey("k")) == file.bytes)
        #expect(scene.network.requests(for: Self.media).count == 1)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `a mirror takes over, with a digest in the middle, without one from the start`(knowsDigest: Bool) throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        let mirror = "http://mirror.example/a.mp4"
        // Without a digest nothing shows that the mirror has the same bytes, and here it does not.
        var other = ServedFile(knowsDigest ? bytes : lectureBytes(bytes.count, seed: 3))
        other.etag = nil
        scene.network.files[mirror] = other
        scene.network.script = { request, _, answer in
            guard request.url == FetchingScenarios.url else { return answer }
            var short = request.range == nil ? answer : Answer(404)
            short.breaksAfter = request.range == nil ? 1_500_000 : nil
            return short
        }
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(FetchingScenarios.url) { request in
            request.mirrors = [mirror]
            request.sha256 = knowsDigest ? digest : nil
        }
        try scene.rest()
        #expect(try scene.bytes(key) == other.bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a mirror with other bytes is detected by the digest`() throws {
        var settings = DownloadSettings()
        settings.connections = 2
        let (scene, bytes) = try FetchingScenarios.scene(chunks: 6, settings: settings)
        let mirror = "http://mirror.example/a.mp4"
        scene.network.files[mirror] = ServedFile(lectureBytes(bytes.count, seed: 3))
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(FetchingScenarios.url) { request in
            request.mirrors = [mirror]
            request.sha256 = digest
        }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }
}
