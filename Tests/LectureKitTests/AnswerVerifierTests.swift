import Foundation
import LectureCrypto
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Answers of DRM callbacks, checked against the configured keys.
@Suite struct AnswerVerifierTests {
    private static let secret = Array("0123456789abcdefghijklmnopqrstuv".utf8)
    private static let payload = Array(#"{"data":[],"iat":1800000000}"#.utf8)
    private let place: TemporaryDirectory

    init() throws { place = try TemporaryDirectory() }

    private func file(_ bytes: [UInt8], _ name: String = "secret", mode: Int = 0o600) throws -> String {
        let path = try place.write(bytes, to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func rights(_ keys: [RightsConfiguration.Key]) -> RightsConfiguration {
        var rights = RightsConfiguration()
        rights.keys = keys
        return rights
    }

    private func token(_ secret: [UInt8] = secret, _ payload: [UInt8] = payload) throws -> String {
        String(decoding: try SigningKey(secret: SecretBytes(copying: secret)).sign(payload), as: UTF8.self)
    }

    private func code(
        _ rights: RightsConfiguration, _ token: String, keyID: String = "", userKey: String? = nil
    ) -> LectureError.Code? {
        do {
            let verifier = try ConfiguredAnswerVerifier(rights)
            let answer = try verifier.payload(of: token, keyID: keyID, userKey: userKey, at: nil)
            return answer.isVerified && answer.payload["data"] != nil ? nil : .bug
        } catch { return error.code }
    }

    @Test func `An answer is verified by its key, by name or as the only one`() throws {
        let rights = rights([.init(id: "k", place: .secret(try file(Self.secret)))])
        let good = try token()
        #expect(code(rights, good) == nil)
        #expect(code(rights, good, keyID: "k") == nil)
        #expect(code(rights, good, keyID: "other") == .licenceKeyMissing)
        #expect(code(rights, try token(Array(Self.secret.reversed()))) == .answerUndecodable)
        for text in ["", "a", "\(good) ", " \(good)", "\"\(good)\"", "\(good).", String(good.dropLast())] {
            #expect(code(rights, text) == .answerUndecodable, "\(text)")
        }
        #expect(code(rights, try token(Self.secret, Array("[]".utf8))) == .answerUnreadable)
        #expect(code(rights, try token(Self.secret, Array(#"{"a":1,"a":2}"#.utf8))) == .answerUnreadable)
        let verifier = try ConfiguredAnswerVerifier(rights)
        let answer = try verifier.payload(of: good, keyID: "", userKey: nil, at: nil)
        #expect(answer.issued == Timestamp(milliseconds: 1_800_000_000_000))
        let odd = try token(Self.secret, Array(#"{"data":[],"iat":99999999999999}"#.utf8))
        #expect(try verifier.payload(of: odd, keyID: "", userKey: nil, at: nil).issued == nil)
    }

    @Test func `The user key has to match where both sides have one`() throws {
        var rights = rights([.init(id: "", place: .secret(try file(Self.secret)))])
        let good = try token()
        #expect(code(rights, good, userKey: "any") == nil)
        rights.userKey = "mine"
        #expect(code(rights, good) == nil)
        #expect(code(rights, good, userKey: "mine") == nil)
        #expect(code(rights, good, userKey: "Mine") == .answerUndecodable)
        #expect(code(rights, good, userKey: "") == .answerUndecodable)
    }

    @Test func `Without a key nothing is accepted, unless configured`() throws {
        var rights = RightsConfiguration()
        let foreign = try token([1, 2, 3])
        #expect(code(rights, foreign) == .licenceKeyMissing)
        rights.permitsUnverified = true
        let answer = try ConfiguredAnswerVerifier(rights).payload(of: foreign, keyID: "x", userKey: nil, at: nil)
        #expect(!answer.isVerified && answer.signer.isEmpty && answer.payload["data"] != nil)
        #expect(code(rights, "no token") == .answerUndecodable)
        // A configured key is never ignored.
        rights.keys = [.init(id: "k", place: .secret(try file(Self.secret)))]
        #expect(code(rights, foreign) == .answerUndecodable)
        #expect(code(rights, foreign, keyID: "other") == .licenceKeyMissing)
    }

    @Test func `An answer names its key by a thumbprint that shows nothing of a secret`() throws {
        let issuer = try SigningKey.generateES256(identifier: "e")
        let jwk = issuer.publicJWK ?? ""
        let set = try file(Array("{\"keys\":[\(jwk)]}".utf8), "set.json", mode: 0o644)
        let verifier = try ConfiguredAnswerVerifier(
            rights([
                .init(id: "s", place: .secret(try file(Self.secret))), .init(id: "j", place: .keySet(set)),
            ]))
        let secret = try verifier.payload(of: try token(), keyID: "", userKey: nil, at: nil).signer
        let signed = String(decoding: try issuer.sign(Self.payload), as: UTF8.self)
        let key = try verifier.payload(of: signed, keyID: "", userKey: nil, at: nil).signer
        // RFC 7638.
        #expect(key == (try JWK.thumbprint(JSONScanner.value(of: Array(jwk.utf8)))))
        // HMAC-SHA-256 of the fixed text, by another program:
        // printf lecturekit/granting-key/1 | openssl dgst -sha256 -hmac 0123456789abcdefghijklmnopqrstuv -binary
        #expect(secret == "hYZgj0zztuIw-JKDioAbdjpLjbGqj4E88i1WPU5AYQ0")
        #expect(verifier.signers == GrantingKeys(answers: [secret, key], files: [key]))
    }

    @Test func `A short secret is accepted only when marked as legacy`() throws {
        let short = Array("short".utf8)
        let path = try file(short)
        #expect(code(rights([.init(id: "", place: .secret(path))]), try token(short)) == .configuration)
        #expect(code(rights([.init(id: "", place: .secret(path), isLegacy: true)]), try token(short)) == nil)
    }

    @Test func `A line end after a text secret is ignored, after a binary one it counts`() throws {
        for end in ["\n", "\r\n"] {
            let rights = rights([.init(id: "", place: .secret(try file(Self.secret + Array(end.utf8))))])
            #expect(code(rights, try token()) == nil)
        }
        let bytes = [UInt8](repeating: 0x80, count: 40) + [0x0A]
        let rights = rights([.init(id: "", place: .secret(try file(bytes)))])
        #expect(code(rights, try token(bytes)) == nil)
        #expect(code(rights, try token(bytes.dropLast())) == .answerUndecodable)
    }

    @Test func `A secret that other users may read is refused, however it is stored`() throws {
        let plain = try file(Self.secret, mode: 0o644)
        #expect(code(rights([.init(id: "", place: .secret(plain))]), try token()) == .secretReadable)
        let set = Array(#"{"keys":[{"kty":"oct","k":"\#(Base64URL.text(Self.secret))"}]}"#.utf8)
        let open = try file(set, "open.json", mode: 0o644)
        #expect(code(rights([.init(id: "", place: .keySet(open))]), try token()) == .secretReadable)
        let closed = try file(set, "closed.json")
        #expect(code(rights([.init(id: "", place: .keySet(closed))]), try token()) == nil)
    }

    @Test func `A set of public keys verifies answers as well, and its algorithm can be named`() throws {
        let signer = try SigningKey.generateES256(identifier: "e")
        let set = try file(Array("{\"keys\":[\(signer.publicJWK ?? "")]}".utf8), "set.json", mode: 0o644)
        let token = String(decoding: try signer.sign(Self.payload), as: UTF8.self)
        #expect(code(rights([.init(id: "j", place: .keySet(set), algorithm: "ES256")]), token) == nil)
        #expect(code(rights([.init(id: "j", place: .keySet(set), algorithm: "RS256")]), token) == .configuration)
        #expect(code(rights([.init(id: "j", place: .keySet(set), algorithm: "none")]), token) == .configuration)
        let both = rights([
            .init(id: "s", place: .secret(try file(Self.secret))), .init(id: "j", place: .keySet(set)),
        ])
        #expect(code(both, token) == nil)
        #expect(code(both, try self.token()) == nil)
        #expect(code(both, token, keyID: "s") == .answerUndecodable)
        #expect(
            code(rights([.init(id: "a", place: .keySet(set)), .init(id: "a", place: .keySet(set))]), token)
                == .configuration)
    }
}
