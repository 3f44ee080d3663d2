import Foundation
import LectureDownload
import LectureModel
import LectureSimulation
import Testing

/// Wholes that do not have the digest that is known.
struct WrongWholeScenarios {
    private static let url = FetchingScenarios.url

    @Test func `a whole of two answers that is wrong is fetched anew`() throws {
        let (scene, bytes) = try FetchingScenarios.scene()
        scene.network.script = { _, number, answer in
            var answer = answer
            if number == 1 { answer.breaksAfter = 2_500_000 }
            // A range that claims to be the one asked for, and is not.
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

    @Test func `a whole whose end only the connection told may have been cut, and is fetched anew`() throws {
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
    func `one answer of known length that is wrong is fetched anew only if the server names the digest`(
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
