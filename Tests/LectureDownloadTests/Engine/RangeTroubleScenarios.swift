import LectureDownload
import LectureModel
import Testing

/// Servers whose ranges, lengths or bytes are not what they should be, so that going on as before would never end.
struct RangeTroubleScenarios {
    private static let url = FetchingScenarios.url

    @Test func `a body of unknown length whose end never comes is not fetched without end`() throws {
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
