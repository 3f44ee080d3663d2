import LectureDownload
import LectureModel
import LectureSimulation
import Testing

/// A lecture that needs a licence is fetched only after its callback has granted it.
struct LicenceScenarios {
    private static let gateway = "http://gate.example/s/licensed"
    private static let media = "http://media.example/licensed.mp4"

    private static func scene() throws -> (Scene, [UInt8]) {
        let scene = try Scene()
        let file = ServedFile(lectureBytes(3 << 20))
        scene.network.files[media] = file
        scene.network.script = { request, _, answer in
            guard request.url == gateway else { return answer }
            return .document(
                """
                {"version":1,"media_content_key":"licensed","media":{"url":"\(media)"},"client_user_id":"anna",\
                "uservalues":{"uservalue0":"a","uservalue1":7},\
                "drm":{"callback_url":"http://drm.example/callback","key_id":"k1"}}
                """, type: ContentDescriptor.mediaType)
        }
        try scene.want(gateway, isGateway: true)
        return (scene, file.bytes)
    }

    @Test func `nothing is fetched before the grant, and the completion callback is pending`() throws {
        let (scene, bytes) = try Self.scene()
        let licensing = scene.program.licensing
        var deliveredBefore: Int?
        licensing.answer = { [network = scene.network] in
            deliveredBefore = network.delivered
            return .settled
        }
        try scene.rest()
        let key = try ContentKey("licensed")
        #expect(try #require(deliveredBefore) < 1_000)
        #expect(try scene.bytes(key) == bytes)
        #expect(licensing.asked == [key] && licensing.owed == [key])
        var source = LicenceSource()
        (source.callbackURL, source.keyID) = ("http://drm.example/callback", "k1")
        source.clientUserID = "anna"
        source.userValues = ["uservalue0": "a", "uservalue1": "7"]
        #expect(licensing.sources[key] == source)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a refusal stops the item, and no byte is fetched`() throws {
        let (scene, _) = try Self.scene()
        scene.program.licensing.answer = { .refused(LectureError(.grantRefused, cause: "not in your course")) }
        try scene.rest()
        let content = try #require(try scene.content(try ContentKey("licensed")))
        #expect(content.state == .stopped && content.stopReason == .licenceRefused)
        #expect(content.error?.code == .grantRefused && content.error?.cause == "not in your course")
        #expect(scene.network.delivered < 1_000 && scene.program.licensing.asked.count == 1)
        #expect(try scene.contradictions() == [])
    }

    @Test func `another device's store records and fetches no licensed lecture until that is settled`()
        throws
    {
        let (scene, bytes) = try Self.scene()
        scene.program.licensing.otherDevice = LectureError(.storeCopied)
        try scene.rest()
        let refused = try #require(try scene.content(try ContentKey(Self.gateway)))
        #expect(refused.state == .stopped && refused.stopReason == .licenceRefused)
        #expect(refused.error?.code == .storeCopied)
        // It is not recorded as a lecture without a licence either, which the next program would fetch in clear.
        #expect(scene.program.licensing.sources.isEmpty && scene.program.licensing.asked.isEmpty)
        #expect(try scene.content(try ContentKey("licensed")) == nil && scene.network.delivered < 1_000)
        #expect(try scene.contradictions() == [])
        scene.program.licensing.otherDevice = nil
        try scene.want(Self.gateway, isGateway: true)
        try scene.rest()
        #expect(try scene.bytes(try ContentKey("licensed")) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test func `an unreachable licence server is asked again`() throws {
        let (scene, bytes) = try Self.scene()
        var left = 3
        scene.program.licensing.answer = {
            left -= 1
            return left > 0 ? .failed(LectureError(.transfer(7))) : .settled
        }
        try scene.rest()
        #expect(try scene.bytes(try ContentKey("licensed")) == bytes)
        #expect(scene.program.licensing.asked.count == 3)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [Duration.seconds(5), .seconds(600)])
    func `a licence server that asks to wait costs no attempt, however often`(wait: Duration) throws {
        let (scene, bytes) = try Self.scene()
        var left = 12
        scene.program.licensing.answer = {
            left -= 1
            return left > 0 ? .postponed(LectureError(.serverWait), wait) : .settled
        }
        let (key, begin) = (try ContentKey("licensed"), scene.world.boot)
        // A long wait frees the job slot.
        let reason: StopReason? = wait > .seconds(60) ? .serverWait : nil
        try scene.run(within: .seconds(20_000)) {
            try left < 3 && scene.content(key)?.stopReason == reason
        }
        #expect(try scene.content(key)?.attempts == 0)
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.program.licensing.asked.count == 12)
        #expect(scene.world.boot - begin >= wait.nanosecondCount * 11)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a silent licence server does not block the lecture forever`() throws {
        let (scene, _) = try Self.scene()
        scene.program.licensing.answer = { .failed(LectureError(.transfer(7))) }
        let key = try ContentKey("licensed")
        try scene.run { try scene.content(key)?.state == .stopped }
        let content = try #require(try scene.content(key))
        #expect(content.stopReason == .network)
        #expect(scene.network.delivered < 2_000)
        #expect(try scene.contradictions() == [])
    }
}
