import Foundation
import LectureDownload
import LectureFormats
import LectureModel
import LectureSimulation
import Testing

/// Complete files with a wrong digest.
struct WrongWholeScenarios {
    private static let url = FetchingScenarios.url

    @Test func `a wrong file made of two answers is fetched again`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { _, number, answer in
            var answer = answer
            if number == 1 { answer.breaksAfter = 2_500_000 }
            // A range that claims to be the requested one, and is not.
            if number == 2 { answer.body = bytes[..<answer.body.count] }
            return answer
        }
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(Self.url) { $0.sha256 = digest }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(scene.network.requests.count == 3)
        #expect(try scene.contradictions() == [])
    }

    @Test func `a file that ended with its connection may be truncated, and is fetched again`() throws {
        let (scene, bytes) = try FetchingScenarios.scene { $0.hidesLength = true }
        scene.network.script = { _, number, answer in
            var answer = answer
            if number == 1 { answer.body = answer.body.prefix(2_500_000) }
            return answer
        }
        let digest = try FetchingScenarios.sha256(bytes, scene)
        let key = try scene.want(Self.url) { $0.sha256 = digest }
        try scene.rest()
        #expect(try scene.bytes(key) == bytes)
        #expect(try scene.contradictions() == [])
    }

    @Test(arguments: [true, false])
    func `one wrong answer of known length is fetched again only if the server sends a digest`(
        isAnnounced: Bool
    ) throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        let digest = try FetchingScenarios.sha256(bytes, scene)
        scene.network.script = { _, number, answer in
            var answer = answer
            if number == 1 { answer.body[1_000_000] ^= 1 }
            if isAnnounced {
                answer.fields.append(
                    HeaderField(name: "Digest", value: "sha-256=\(Data(digest).base64EncodedString())"))
            }
            return answer
        }
        let key = try scene.want(Self.url) { $0.sha256 = digest }
        try scene.rest()
        #expect(try scene.content(key)?.state == (isAnnounced ? .completed : .failed))
        #expect(scene.network.requests.count == (isAnnounced ? 2 : 1))
        #expect(try scene.contradictions() == [])
    }
}
