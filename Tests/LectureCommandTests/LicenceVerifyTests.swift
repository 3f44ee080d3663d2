import Foundation
import LectureCommand
import LectureCrypto
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `licence verify` through the built program: for each rule, accepted and refused inputs.
@Suite struct LicenceVerifyTests {
    private let scene: LicenceScene

    init() throws { scene = try LicenceScene() }

    private typealias Answer = LicenceScene.Answer
    private static let accept = Answer(verdict: "accept", reasons: [])
    private static func reject(_ reasons: String...) -> Answer { Answer(verdict: "reject", reasons: reasons) }

    private func signed(_ changes: [String: String] = [:]) throws -> [UInt8] {
        try scene.secret.sign(LicenceScene.claims(changes))
    }

    @Test func `each member of the context counts`() async throws {
        let token = try signed()
        let cases: [([String: String], Answer)] = [
            ([:], Self.accept), (["device": #""B""#], Self.reject("device_wrong")),
            (["content": #""b""#], Self.reject("content_wrong")), (["user": #""b""#], Self.reject("user_wrong")),
            (["aud": #""b""#], Self.reject("audience_wrong")), (["iss": #""b""#], Self.reject("issuer_wrong")),
            (["used_count": "1"], Self.accept), (["used_count": "2"], Self.reject("count_used_up")),
            (["last_seen": "\(LicenceScene.now)"], Self.accept),
            (["last_seen": "\(LicenceScene.now + 1)"], Self.reject("clock_set_back")),
            (["serial_floor": "4"], Self.reject("superseded")),
            (["seen_jti": #"["a","t1"]"#], Self.reject("already_seen")),
            (["now": "\(LicenceScene.now + 59).9"], Self.accept),
            (["now": "\(LicenceScene.now + 60)"], Self.reject("expired")),
            (["now": "\(LicenceScene.now - 61)"], Self.reject("issued_in_future")),
            (["now": #""soon""#], Self.reject("bad_request", "ctx_malformed")),
            (["user": "", "aud": "null", "iss": ""], Self.accept),
        ]
        let answers = try await scene.answers(cases.map { LicenceScene.line(token, with: $0.0) })
        #expect(answers == cases.map(\.1))
    }

    @Test func `a signature counts before any claim`() async throws {
        var wrong = try signed()
        // A different letter of the base64url alphabet.
        wrong[wrong.count - 5] = wrong[wrong.count - 5] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let none = "\(Base64URL.text(Array(#"{"alg":"none"}"#.utf8))).\(Base64URL.text(LicenceScene.claims()))."
        let headers: [(String, String)] = [
            (#"{"alg":"HS256","jku":"https://h/"}"#, "jku"), (#"{"alg":"HS256","jwk":{}}"#, "jwk"),
            (#"{"alg":"HS256","x5u":"https://h/"}"#, "x5u"), (#"{"alg":"HS256","zip":"DEF"}"#, "zip"),
            (#"{"alg":"HS256","crit":["exp"],"exp":1}"#, "crit_unknown"), (#"{"alg":"HS256","b64":true}"#, "b64"),
            (#"{"alg":"HS256","alg":"HS256"}"#, "header_syntax"), (#"{"alg":"HS384"}"#, "alg_not_permitted"),
            (#"{"typ":"JWT"}"#, "alg_missing"), (#"{"alg":"HS256","typ":"at+jwt"}"#, "typ"),
            (#"{"alg":"ES256"}"#, "alg_not_of_key"), (#"{"alg":"HS256","cty":"JWT"}"#, "nested"),
        ]
        let tokens = try headers.map { try scene.secret.sign(LicenceScene.claims(), header: Array($0.0.utf8)) }
        let plain = try scene.secret.sign(
            LicenceScene.claims(), header: Array(#"{"typ":"application/JWT","kid":"any","alg":"HS256"}"#.utf8))
        let others = [wrong, Array(none.utf8), plain, plain + [0x3D], plain + Array(".".utf8), Array(" ".utf8) + plain]
        let answers = try await scene.answers((tokens + others).map { LicenceScene.line($0) })
        for (answer, expected) in zip(answers, headers.map(\.1)) { #expect(answer.reasons.contains(expected)) }
        let rest = answers.dropFirst(headers.count)
        #expect(rest.map(\.verdict) == ["reject", "reject", "accept", "reject", "reject", "reject"])
        #expect(rest.first?.reasons == ["signature_wrong"])
        #expect(answers.count == headers.count + others.count)
    }

    @Test func `a key set selects by kid and kind, and skips broken keys`() async throws {
        let keys = try [
            SigningKey.generateES256(identifier: "e"), SigningKey.generateEdDSA(identifier: "d"),
            SigningKey.generateES256(identifier: "f"),
        ]
        let foreign = try SigningKey.generateES256(identifier: "e")
        // A point of small order, under which any signature verifies.
        let small =
            #"{"kty":"OKP","crv":"Ed25519","kid":"s","x":"\#(Base64URL.text([UInt8](repeating: 0, count: 32)))"}"#
        let jwks = keys.compactMap(\.publicJWK) + [small]
        try scene.write(Array("{\"keys\":[\(jwks.joined(separator: ","))]}".utf8), "jwks.json")
        let claims = LicenceScene.claims()
        var tokens = try keys.map { try $0.sign(claims) }
        tokens.append(try foreign.sign(claims))
        tokens.append(try scene.secret.sign(claims))
        // The public key's own bytes as a secret (RFC 8725 section 2.1).
        let confused = SigningKey(secret: try SecretBytes(copying: Array((jwks.first ?? "").utf8)), identifier: "e")
        tokens.append(try confused.sign(claims))
        tokens.append(try keys[0].sign(claims, header: Array(#"{"alg":"ES256","kid":"f"}"#.utf8)))
        tokens.append(try keys[0].sign(claims, header: Array(#"{"alg":"ES256"}"#.utf8)))
        let answers = try await scene.answers(tokens.map { LicenceScene.line($0, "jwks") })
        #expect(
            answers == [
                Self.accept, Self.accept, Self.accept, Self.reject("signature_wrong"), Self.reject("alg_not_of_key"),
                Self.reject("alg_not_of_key"), Self.reject("signature_wrong"), Self.accept,
            ])
    }

    @Test func `certificates are checked for root, purpose, time and revocation`() async throws {
        try await scene.makeCertificates()
        let names = ["good", "other", "revoked", "foreign"]
        let tokens = try names.map { try scene.certified($0) }
        var lines = tokens.map { LicenceScene.line($0, "x5c") }
        lines.append(LicenceScene.line(tokens[1], "x5c", with: ["eku": #""1.2.3.4.5""#]))
        lines.append(LicenceScene.line(tokens[0], "x5c", with: ["eku": #""1.2.3.4.5""#]))
        let late = LicenceScene.now + 60 * 86_400
        let lasting = try scene.certified("good", LicenceScene.claims(["exp": "\(late + 60)"]))
        lines.append(LicenceScene.line(lasting, "x5c", with: ["now": "\(late)"]))
        lines.append(LicenceScene.line(lasting, "x5c"))
        lines.append(LicenceScene.line(try signed(), "x5c"))
        let answers = try await scene.answers(lines)
        #expect(
            answers == [
                Self.accept, Self.reject("x5c_purpose"), Self.accept, Self.reject("x5c_untrusted"), Self.accept,
                Self.reject("x5c_purpose"), Self.reject("x5c_expired"), Self.accept, Self.reject("key_unknown"),
            ])
        try FileManager.default.copyItem(atPath: scene.home.file("crl.pem"), toPath: scene.home.file("trust/crl.pem"))
        let listed = try await scene.answers(Array(lines.prefix(3)))
        #expect(listed == [Self.accept, Self.reject("x5c_purpose"), Self.reject("x5c_revoked")])
    }

    @Test func `missing or unusable verification material is refused`() async throws {
        let token = try signed()
        let lines = ["hs", "jwks", "x5c", "pgp"].map { LicenceScene.line(token, $0) }
        #expect(
            try await scene.answers(lines) == [
                Self.accept, Self.reject("trust_missing"), Self.reject("trust_missing"),
                Self.reject("bad_request", "trust_unknown"),
            ])
        try scene.write([1, 2, 3], "hs.key")
        try scene.write(Array("{}".utf8), "jwks.json")
        try scene.write(Array("no certificate".utf8), "roots.pem")
        let unusable = try await scene.answers(Array(lines.prefix(3)))
        #expect(unusable == [Answer](repeating: Self.reject("trust_unusable"), count: 3))
    }

    @Test func `no line ends a batch, and every line has its answer`() async throws {
        let good = Array(LicenceScene.line(try signed()).utf8)
        let lines: [[UInt8]] = [
            good, Array("{broken".utf8), [], Array("[]".utf8), [0], [0xFF, 0xFE], Array(#"{"id":"a"}"#.utf8),
            Array(#"{"id":"b","token":7,"trust":"hs"}"#.utf8), Array(#"{"id":"c","id":"d"}"#.utf8),
            [UInt8](repeating: 0x61, count: 9 << 20),
            Array(#"{"id":"e","token":""#.utf8) + [UInt8](repeating: 0x61, count: 2 << 20)
                + Array(#"","trust":"hs"}"#.utf8),
            good + [0x0D], Array(#"{"id":{"n":[1,null]},"trust":"hs","ctx":7,"token":"a"}"#.utf8),
            Array(#"{"id":"f","token":"a.b.c","trust":"hs"}"#.utf8), good,
        ]
        // The last line has no end.
        let ending = try await scene.batch(Array(lines.joined(separator: [0x0A])))
        #expect(ending.status == 0)
        let answers = ending.text.split(separator: "\n").map(String.init)
        #expect(answers.count == lines.count)
        let bad = #"{"id":null,"verdict":"reject","reasons":["bad_request"]}"#
        for index in [1, 2, 3, 4, 5, 8, 9] where index < answers.count { #expect(answers[index] == bad) }
        for index in [0, 11, 14] where index < answers.count {
            #expect(answers[index] == #"{"id":1,"verdict":"accept","reasons":[]}"#)
        }
        #expect(answers.contains(#"{"id":"b","verdict":"reject","reasons":["bad_request","token_missing"]}"#))
        #expect(answers.contains(#"{"id":"e","verdict":"reject","reasons":["token_too_long"]}"#))
        #expect(
            answers.contains(#"{"id":{"n":[1,null]},"verdict":"reject","reasons":["bad_request","ctx_malformed"]}"#))
    }

    @Test func `each answer is written before the next line is read`() async throws {
        let process = try ChildProcess(
            BuiltProgram.url.path, ["licence", "verify", "--batch", "--trust-dir", scene.home.file("trust")],
            environment: ["HOME": scene.home.path], keepsInputOpen: true)
        for id in 1...3 {
            process.write(LicenceScene.line(try signed(), id: "\(id)") + "\n")
            try await process.wait(forOutput: "{\"id\":\(id),\"verdict\":\"accept\",\"reasons\":[]}\n")
        }
        process.closeInput()
        #expect(await process.ending().status == 0)
    }

    @Test func `one file is verified with its claims, and the status shows the result`() async throws {
        let home = scene.home
        try home.write(String(decoding: signed(), as: UTF8.self) + "\n", to: "a.jwt")
        let at = "\(LicenceScene.now)"
        let good = try await scene.run("licence", "verify", "a.jwt", "--hmac-key-file", "trust/hs.key", "--at", at)
        #expect(good.status == 0, "\(good.errorText)")
        #expect(good.text.hasPrefix("accept\n") && good.text.contains("\nmck        algebra\n"))
        let late = try await scene.run(
            "licence", "verify", "a.jwt", "--hmac-key-file", "trust/hs.key", "--at", "2100-01-01T00:00:00Z", "--json")
        #expect(late.status == 65)
        #expect(late.text.contains(#""verdict":"reject","reasons":["expired"]"#))
        #expect(try JSONSchema(describing: late.text).faults(in: late.output).isEmpty)
        let other = try await scene.run(
            "licence", "verify", "a.jwt", "--hmac-key-file", "trust/hs.key", "--at", at, "--content", "b", "--user", "c"
        )
        #expect(other.status == 65 && other.text.contains("content_wrong") && other.text.contains("user_wrong"))
        // No claim is reported of a token whose signature is wrong.
        try home.write(String(repeating: "k", count: 40), to: "other.key")
        let forged = try await scene.run("licence", "verify", "a.jwt", "--hmac-key-file", "other.key", "--at", at)
        #expect(forged.status == 65 && forged.text.contains("signature_wrong") && !forged.text.contains("algebra"))
    }

    @Test func `a file is verified with the configured keys, and refused without any`() async throws {
        try scene.home.write(String(decoding: signed(), as: UTF8.self), to: "a.jwt")
        let at = "\(LicenceScene.now)"
        let none = try await scene.run("licence", "verify", "a.jwt", "--at", at)
        #expect(none.status == 78 && none.text.isEmpty)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: scene.home.file("trust/hs.key"))
        try scene.home.write(#"{"drm":{"keys":[{"id":"a","secret_file":"trust/hs.key"}]}}"#, to: "c.json")
        let good = try await scene.run("licence", "verify", "a.jwt", "--at", at, "--config", scene.home.file("c.json"))
        #expect(good.status == 0, "\(good.errorText)")
        let missing = try await scene.run("licence", "verify", "nowhere.jwt", "--hmac-key-file", "trust/hs.key")
        #expect(missing.status == 74)
        for words in [
            ["a.jwt", "--batch"], ["a.jwt", "--trust-dir", "trust"],
            ["--batch", "--trust-dir", "trust", "--jwks", "j"],
            ["--batch", "--user", "kim"], ["a.jwt", "--at", "tomorrow", "--jwks", "j"], ["a.jwt", "--crl", "c"], [],
        ] {
            let ending = try await ChildProcess.run(
                BuiltProgram.url.path, ["licence", "verify"] + words, environment: ["HOME": scene.home.path])
            #expect(ending.status == 64, "\(words)")
        }
    }

    @Test(arguments: [
        ("0", 0), ("1800000000", 1_800_000_000_000), ("1970-01-01T00:00:00Z", 0),
        ("2026-03-01T08:00:00+09:00", 1_772_319_600_000), ("2024-02-29T23:59:60.25z", 1_709_251_200_250),
        ("1969-12-31T23:59:59-00:00", -1000),
    ])
    func `a time is read as it is written`(text: String, milliseconds: Int64) {
        #expect(Quantity.moment(text) == Timestamp(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "-1", "1.5", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Zx", "1234567890123",
    ])
    func `invalid times are refused`(text: String) { #expect(Quantity.moment(text) == nil) }
}
