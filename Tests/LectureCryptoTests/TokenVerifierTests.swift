import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@Suite struct TokenVerifierTests {
    private let payload = Array(#"{"iss":"school","mck":"abc"}"#.utf8)

    @Test(arguments: Example.all)
    func `Published examples verify`(example: Example) throws {
        let token = try #require(try judge(example.token, [example.key()]).token)
        #expect(token.proof == .key(identifier: nil))
        #expect(!token.payload.isEmpty)
    }

    @Test func `A verified token yields payload, header, algorithm and key`() throws {
        for (signing, verifying) in try keyPairs() {
            let token = try signing.sign(payload, type: "licence+jwt")
            let verified = try #require(try judge(token, [verifying], types: ["application/licence+JWT"]).token)
            #expect(verified.payload == payload)
            #expect(verified.header["typ"]?.string == "licence+jwt")
            #expect(verified.algorithm == signing.algorithm)
        }
    }

    @Test(arguments: [true, false])
    func `A key of the openssl command signs as its RSA algorithm`(usesPSS: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key.der")
        let made = try await ChildProcess.run(
            Places.command("openssl"), ["genpkey", "-algorithm", "RSA", "-outform", "DER", "-out", path])
        try #require(made.status == 0)
        let signing = try SigningKey(privateKeyDER: contents(of: path), identifier: "rsa", usesPSS: usesPSS)
        #expect(signing.algorithm == (usesPSS ? .ps256 : .rs256))
        let token = try signing.sign(payload)
        #expect(try judge(token, [signing.verificationKey()]).token?.proof == .key(identifier: "rsa"))
        // A key that may do both accepts both; one restricted to the other does not.
        let jwk = try json(try #require(signing.publicJWK))
        #expect(try judge(token, [JWK.verificationKey(jwk)]).token != nil)
        guard case .object(let members) = jwk else { return }
        let other = members.map { $0.name == "alg" ? JSONMember("alg", .string(usesPSS ? "RS256" : "PS256")) : $0 }
        #expect(try judge(token, [JWK.verificationKey(.object(other))]).reasons == [.algorithmNotOfKey])
    }

    @Test func `An empty payload is a payload`() throws {
        for (signing, verifying) in try keyPairs() {
            #expect(try judge(signing.sign([]), [verifying]).token?.payload == [])
        }
    }

    // MARK: Choosing the key

    @Test func `The key that kid names is used`() throws {
        let keys = try ["a", "b"].map { try SigningKey.generateES256(identifier: $0) }
        let verifying = try keys.map { try $0.verificationKey() }
        #expect(try judge(keys[1].sign(payload), verifying).token?.proof == .key(identifier: "b"))
        // Under the name of another key the signature is wrong, although its key is configured.
        let disguised = try keys[1].sign(payload, header: Array(#"{"alg":"ES256","kid":"a"}"#.utf8))
        #expect(try judge(disguised, verifying).reasons == [.signatureWrong])
    }

    @Test func `An unknown kid is refused, also one that differs in its normalisation`() throws {
        let key = try SigningKey.generateES256(identifier: "caf\u{E9}")
        for name in ["x", "cafe\u{301}", "CAF\u{C9}", ""] {
            let token = try key.sign(payload, header: Array(#"{"alg":"ES256","kid":"\#(name)"}"#.utf8))
            #expect(try judge(token, [key.verificationKey()]).reasons == [.keyUnknown], "\(name)")
        }
    }

    @Test func `A configured key without a name verifies tokens that name one`() throws {
        let secret = try SecretBytes(copying: sample(32))
        let token = try SigningKey(secret: secret, identifier: "of the server").sign(payload)
        #expect(try judge(token, [VerificationKey(secret: secret)]).token != nil)
    }

    @Test func `Without a name every configured key that accepts the algorithm is tried`() throws {
        let keys = try (0..<3).map { SigningKey(secret: try SecretBytes(copying: sample(32, seed: UInt64($0 + 1)))) }
        let verifying = try keys.map { try $0.verificationKey() }
        for key in keys { #expect(try judge(key.sign(payload), verifying).token != nil) }
        let foreign = SigningKey(secret: try SecretBytes(copying: sample(32, seed: 50)))
        #expect(try judge(foreign.sign(payload), verifying).reasons == [.signatureWrong])
        let many = try (0..<9).map { try VerificationKey(secret: SecretBytes(copying: sample(32, seed: UInt64($0)))) }
        #expect(try judge(keys[0].sign(payload), many).reasons == [.keyAmbiguous])
    }

    @Test func `Without any key nothing is verified`() throws {
        #expect(throws: LectureError(.configuration)) { try judge(Example.hs256.token, []) }
    }

    // MARK: Broken tokens

    @Test(arguments: [
        ("", TokenRefusal.parts), (".", .parts), ("a.b", .parts), ("a.b.c.d", .parts), ("....", .parts),
        ("eyJhbGciOiJIUzI1NiJ9.e30", .parts),
    ])
    func `Another number of parts is refused`(token: String, reason: TokenRefusal) throws {
        #expect(try judge(token, [Example.hs256.key()]).reasons == [reason])
    }

    @Test func `Any text is split at its dots`() throws {
        let key = try Example.hs256.key()
        let names = ["header", "payload", "signature"]
        var random = SeededGenerator(seed: 7515)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Array("..A=".utf8).randomElement(using: &random) ?? 0
            }
            let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            let reasons = try judge(bytes, [key]).reasons
            guard parts.count == names.count else {
                #expect(reasons == [.parts])
                continue
            }
            // One digit starts no byte, and neither do five or nine; `=` is no digit.
            let wrong = zip(names, parts).filter { _, part in part.contains(UInt8(ascii: "=")) || part.count % 4 == 1 }
            let found = reasons.filter { if case .encoding = $0 { true } else { false } }
            #expect(found == wrong.map { .encoding(part: $0.0) })
        }
    }

    @Test func `Text before or behind a token is refused`() throws {
        let key = try Example.hs256.key()
        for token in [
            " \(Example.hs256.token)", "\(Example.hs256.token)\n", "\(Example.hs256.token)=",
            "\u{FEFF}\(Example.hs256.token)",
        ] {
            #expect(try judge(token, [key]).token == nil)
        }
        #expect(try judge("\(Example.hs256.token)\n", [key]).reasons == [.encoding(part: "signature")])
    }

    @Test func `Every part that is not base64url is named`() throws {
        let reasons = try judge("*.*.*", [Example.hs256.key()]).reasons
        #expect(reasons == ["header", "payload", "signature"].map { .encoding(part: $0) })
    }

    /// Headers that are invalid JSON; the message names the position.
    @Test(arguments: [
        #"{"alg":"HS256","alg":"HS256"}"#, #"{"alg":"HS256"} x"#, #"{"alg":"HS256",}"#, "\u{FEFF}{}", "", "{",
        #"{"alg":"\ud800"}"#, #"{'alg':'HS256'}"#, #"{"alg":"HS256","n":01}"#,
    ])
    func `A header that is not strict JSON is refused`(header: String) throws {
        let signing = SigningKey(secret: try SecretBytes(copying: sample(32)))
        let token = try signing.sign(payload, header: Array(header.utf8))
        let reasons = try judge(token, [signing.verificationKey()]).reasons
        guard case .headerSyntax(let place) = try #require(reasons.first) else {
            Issue.record("\(reasons)")
            return
        }
        #expect(place.hasPrefix("byte ") && reasons.count == 1)
    }

    @Test func `A header that is not an object is refused`() throws {
        let signing = SigningKey(secret: try SecretBytes(copying: sample(32)))
        for header in ["[]", "null", #""alg""#, "1"] {
            let token = try signing.sign(payload, header: Array(header.utf8))
            #expect(try judge(token, [signing.verificationKey()]).reasons == [.headerNotObject])
        }
    }

    @Test func `A header that is too deep or has too many items is refused`() throws {
        let signing = SigningKey(secret: try SecretBytes(copying: sample(32)))
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let wide = "[" + String(repeating: "1,", count: 10_001) + "1]"
        for value in [deep, wide] {
            let token = try signing.sign(payload, header: Array(#"{"alg":"HS256","x":\#(value)}"#.utf8))
            guard case .headerSyntax? = try judge(token, [signing.verificationKey()]).reasons.first else {
                Issue.record("accepted")
                continue
            }
        }
    }

    @Test func `A token above 1 MiB is refused and one below is not`() throws {
        let signing = SigningKey(secret: try SecretBytes(copying: sample(32)))
        let key = try signing.verificationKey()
        let fits = try signing.sign([UInt8](repeating: 0x20, count: 780_000))
        #expect(fits.count < 1 << 20)
        #expect(try judge(fits, [key]).token != nil)
        let large = try signing.sign([UInt8](repeating: 0x20, count: 790_000))
        #expect(large.count > 1 << 20)
        #expect(try judge(large, [key]).reasons == [.tooLong])
        #expect(try judge([UInt8](repeating: UInt8(ascii: "."), count: 1 << 20), [key]).reasons == [.parts])
    }

    @Test func `All reasons are reported, not only the first`() throws {
        let signing = SigningKey(secret: try SecretBytes(copying: sample(32)))
        let header =
            #"{"alg":"HS256","zip":"DEF","jku":"https://a.example","x5u":"u","jwk":{},"crit":["exp"],"b64":true}"#
        var token = try signing.sign(payload, header: Array(header.utf8))
        token[token.count - 10] ^= 1
        let reasons = try judge(token, [signing.verificationKey()], types: ["licence"]).reasons
        let due: Set<TokenRefusal> = [
            .compressed, .keyURL, .certificateURL, .embeddedKey, .criticalMalformed, .criticalUnknown,
            .unencodedPayload, .type, .signatureWrong,
        ]
        #expect(Set(reasons) == due && reasons.count == due.count)
        #expect(Set(reasons.map(\.sentence)).count == reasons.count)
    }

    // MARK: Mutations

    /// One token per algorithm: every bit flipped, every byte removed, doubled or swapped with the next.
    @Test(arguments: Example.all)
    func `No token with a change anywhere is accepted`(example: Example) throws {
        let keys = [try example.key()]
        let token = Array(example.token.utf8)
        var tried = 0
        func refused(_ changed: [UInt8]) throws {
            if changed == token { return }
            tried += 1
            #expect(try judge(changed, keys).token == nil, "\(String(decoding: changed, as: UTF8.self))")
        }
        for place in token.indices {
            for bit in 0..<8 {
                var changed = token
                changed[place] ^= 1 << UInt8(bit)
                try refused(changed)
            }
            try refused(Array(token[..<place] + token[(place + 1)...]))
            try refused(Array(token[...place] + token[place...]))
            if place + 1 < token.count {
                var changed = token
                changed.swapAt(place, place + 1)
                try refused(changed)
            }
        }
        for length in token.indices { try refused(Array(token.prefix(length))) }
        #expect(tried > token.count * 10)
    }

    @Test func `Parts of different tokens do not fit together`() throws {
        for (signing, verifying) in try keyPairs() {
            let tokens = try [payload, payload + [0x20], []].map { try signing.sign($0) }
            let parts = tokens.map { $0.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) }
            for (left, right) in [(0, 1), (1, 2), (2, 0)] {
                let mixed = [parts[left][0], parts[left][1], parts[right][2]].joined(separator: [UInt8(ascii: ".")])
                #expect(try judge(Array(mixed), [verifying]).reasons == [.signatureWrong])
            }
        }
    }

    @Test func `A wrong signature leaves nothing behind for the next token`() async throws {
        for (signing, verifying) in try keyPairs() {
            let tokens = try (0..<6).map { try signing.sign(Array(#"{"number":\#($0)}"#.utf8)) }
            let swapped = zip(tokens, tokens.dropFirst()).map { one, other in
                let (ours, theirs) = (one.split(separator: 0x2E), other.split(separator: 0x2E))
                return Array([ours[0], ours[1], theirs[2]].joined(separator: [0x2E]))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for (right, wrong) in zip(tokens, swapped) {
                            let (refused, accepted) = (try judge(wrong, [verifying]), try judge(right, [verifying]))
                            #expect(refused.reasons == [.signatureWrong])
                            #expect(accepted.token != nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: Example.all)
    func `A published example verifies after any number of wrong signatures`(example: Example) throws {
        let key = try example.key()
        for place in 1...8 {
            var token = Array(example.token.utf8)
            token[token.count - 3 * place] ^= 1
            #expect(try judge(token, [key]).token == nil)
            #expect(try judge(example.token, [key]).token != nil)
        }
    }

    @Test func `Each algorithm is equal to itself alone`() {
        for (index, one) in SignatureAlgorithm.allCases.enumerated() {
            for (place, other) in SignatureAlgorithm.allCases.enumerated() {
                #expect((one == other) == (index == place))
                if index == place { #expect(one.hashValue == other.hashValue) }
            }
            #expect(SignatureAlgorithm(rawValue: one.rawValue) == one)
        }
        #expect(Set(SignatureAlgorithm.allCases).count == SignatureAlgorithm.allCases.count)
    }

    @Test func `Arbitrary bytes are refused`() throws {
        var randomness = SeededGenerator(seed: 7)
        let keys = try Example.all.map { try $0.key() }
        let alphabet = Array("ABab01-_.=+/ {}\":,".utf8) + [0, 0xFF]
        for _ in 0..<3000 {
            let token = (0..<Int.random(in: 0...80, using: &randomness)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &randomness)]
            }
            #expect(try !judge(token, keys).reasons.isEmpty)
        }
    }

    /// RFC 4231 section 4.3.
    @Test func `A key verifies nothing under a foreign algorithm, however right the signature`() throws {
        let secret = try SecretBytes(copying: Array("Jefe".utf8))
        let message = Array("what do ya want for nothing?".utf8)
        let signature = try #require(
            Hexadecimal.bytes(
                "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e"
                    + "8e2240ca5e69e2c78b3239ecfab21649"))
        let own = try VerificationKey(secret: secret, algorithm: .hs384, isLegacy: true)
        #expect(try own.verifies(signature, of: message, .hs384))
        let other = try VerificationKey(secret: secret, algorithm: .hs256, isLegacy: true)
        #expect(try !other.verifies(signature, of: message, .hs384))
    }
}
