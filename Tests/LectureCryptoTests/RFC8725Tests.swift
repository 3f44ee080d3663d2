import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// The best current practices for tokens, section by section, as attacks that must fail. Rules about claims (sections
/// 3.8, 3.9, 3.12) are tested where licences are read.
@Suite struct RFC8725Tests {
    private let payload = Array(#"{"mck":"abc"}"#.utf8)
    private let secret: SigningKey
    private let point: SigningKey

    init() throws {
        secret = SigningKey(secret: try SecretBytes(copying: sample(32, seed: 8)), identifier: "k")
        point = try SigningKey.generateES256(identifier: "k")
    }

    private func reasons(
        _ header: String, by signing: SigningKey? = nil, under key: VerificationKey? = nil,
        types: Set<String> = []
    ) throws -> [TokenRefusal] {
        let signing = signing ?? secret
        let token = try signing.sign(payload, header: Array(header.utf8))
        return try judge(token, [key ?? signing.verificationKey()], types: types).reasons
    }

    // MARK: 2.1 and 3.1: the algorithm

    @Test(arguments: ["none", "None", "NONE", "nOnE"])
    func `2.1 An unsigned token is refused, however it is spelt and whatever its signature`(name: String) throws {
        #expect(try reasons(#"{"alg":"\#(name)","kid":"k"}"#) == [.algorithmNone])
        let empty = "\(Base64URL.text(Array(#"{"alg":"\#(name)"}"#.utf8))).e30."
        #expect(try judge(empty, [secret.verificationKey()]).reasons == [.algorithmNone, .signatureMissing])
    }

    @Test func `2.1 The unsigned example of RFC 7515 is refused`() throws {
        #expect(try judge(Example.unsigned, Example.all.map { try $0.key() }).token == nil)
    }

    @Test func `2.1 A public key does not serve as the secret of an HMAC`() throws {
        let jwk = try #require(point.publicJWK)
        let key = try point.verificationKey()
        let coordinates = try ["x", "y"].flatMap { name in
            try #require(json(jwk)[name]?.string.flatMap { Base64URL.bytes($0) })
        }
        for bytes in [Array(jwk.utf8), coordinates, [4] + coordinates] {
            let forger = SigningKey(secret: try SecretBytes(copying: bytes))
            #expect(try reasons(#"{"alg":"HS256","kid":"k"}"#, by: forger, under: key) == [.algorithmNotOfKey])
            #expect(try reasons(#"{"alg":"ES256","kid":"k"}"#, by: forger, under: key) == [.signatureWrong])
        }
    }

    @Test func `3.1 Each key accepts only algorithms of its kind`() throws {
        let pairs = try keyPairs()
        for (signing, _) in pairs {
            for (other, verifying) in pairs where other.algorithm != signing.algorithm {
                let token = try signing.sign(payload)
                #expect(try judge(token, [verifying]).reasons == [.algorithmNotOfKey])
                let header = Array(#"{"alg":"\#(other.algorithm.rawValue)"}"#.utf8)
                #expect(try judge(signing.sign(payload, header: header), [verifying]).reasons == [.signatureWrong])
            }
        }
    }

    @Test(arguments: ["hs256", "HS256 ", "HS1", "ES256K", "RSA1_5", "dir", "", "HMAC"])
    func `3.1 An unknown algorithm is refused`(name: String) throws {
        #expect(try reasons(#"{"alg":"\#(name)"}"#) == [.algorithmUnknown])
    }

    @Test func `3.1 A missing algorithm and one that is no string are refused`() throws {
        #expect(try reasons(#"{"kid":"k"}"#) == [.algorithmMissing])
        for value in ["null", "5", #"["HS256"]"#, #"{"alg":"HS256"}"#] {
            #expect(try reasons(#"{"alg":\#(value)}"#) == [.headerMember("alg")])
        }
    }

    // MARK: 3.2 to 3.5: algorithms and keys

    @Test func `3.2 What the policy does not permit is refused although the key accepts it`() throws {
        let key = try VerificationKey(secret: SecretBytes(copying: sample(64)), algorithm: .hs512)
        #expect(try reasons(#"{"alg":"HS512"}"#, under: key) == [.algorithmNotPermitted])
    }

    @Test func `3.3 A nested token is refused`() throws {
        for type in ["JWT", "jwt", "application/jwt"] {
            #expect(try reasons(#"{"alg":"HS256","cty":"\#(type)"}"#) == [.nested])
        }
        #expect(try reasons(#"{"alg":"HS256","cty":"json"}"#).isEmpty)
    }

    @Test func `3.4 Signatures of another length or with numbers out of range are refused`() throws {
        let key = try point.verificationKey()
        let order = bytes(hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let (zero, one) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1])
        let head = Array("\(Base64URL.text(Array(#"{"alg":"ES256"}"#.utf8))).e30.".utf8)
        for signature in [
            zero + zero, zero + one, one + zero, order + one, one + order, order + order, one, one + one + [0],
            [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], [UInt8](repeating: 0xFF, count: 64),
        ] {
            let token = head + Array(Base64URL.text(signature).utf8)
            #expect(try judge(token, [key]).reasons == [.signatureWrong])
        }
    }

    @Test func `3.5 A secret shorter than the digest has to be marked legacy`() throws {
        for length in [0, 1, 31] {
            let short = try SecretBytes(copying: sample(length))
            #expect(throws: KeyRefusal.self) { try VerificationKey(secret: short) }
        }
        let password = try SecretBytes(copying: Array("kollus".utf8))
        let key = try VerificationKey(secret: password, isLegacy: true)
        #expect(try judge(SigningKey(secret: password).sign(payload), [key]).token != nil)
        #expect(throws: KeyRefusal.self) { try VerificationKey(secret: SecretBytes(copying: []), isLegacy: true) }
    }

    // MARK: 3.6 to 3.11: the header

    @Test func `3.6 A compressed token is refused`() throws {
        #expect(try reasons(#"{"alg":"HS256","zip":"DEF"}"#) == [.compressed])
        #expect(try reasons(#"{"alg":"HS256","zip":null}"#) == [.compressed])
    }

    @Test func `3.7 A header that is not UTF-8 is refused`() throws {
        let header = Array(#"{"alg":"HS256","x":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        let verdict = try judge(secret.sign(payload, header: header), [secret.verificationKey()])
        guard case .headerSyntax = try #require(verdict.reasons.first) else {
            Issue.record("\(verdict.reasons)")
            return
        }
    }

    @Test func `3.10 Keys and certificates from elsewhere are not fetched and not believed`() throws {
        #expect(try reasons(#"{"alg":"HS256","jku":"http://127.0.0.1:1/keys"}"#) == [.keyURL])
        #expect(try reasons(#"{"alg":"HS256","x5u":"http://127.0.0.1:1/chain"}"#) == [.certificateURL])
        #expect(try reasons(#"{"alg":"HS256","x5c":["AAAA"]}"#) == [.noRoots])
        // The classic: the attacker's own key in the header, under the name of the real one.
        let forger = try SigningKey.generateES256(identifier: "k")
        let header = #"{"alg":"ES256","kid":"k","jwk":\#(try #require(forger.publicJWK))}"#
        #expect(try reasons(header, by: forger, under: point.verificationKey()) == [.embeddedKey, .signatureWrong])
    }

    @Test(arguments: ["../../etc/passwd", "k' OR '1'='1", "k\\u0000", "$(id)", "https://a.example/k"])
    func `3.10 A kid is compared and never used for anything else`(name: String) throws {
        #expect(try reasons(#"{"alg":"HS256","kid":"\#(name)"}"#) == [.keyUnknown])
    }

    @Test func `3.11 Another type is refused where one is required`() throws {
        let due: Set<String> = ["lecture-licence+jwt"]
        #expect(try reasons(#"{"alg":"HS256","typ":"Lecture-Licence+JWT"}"#, types: due).isEmpty)
        #expect(try reasons(#"{"alg":"HS256","typ":"application/lecture-licence+jwt"}"#, types: due).isEmpty)
        #expect(try reasons(#"{"alg":"HS256","typ":"JWT"}"#, types: due) == [.type])
        #expect(try reasons(#"{"alg":"HS256"}"#, types: due) == [.type])
        #expect(try reasons(#"{"alg":"HS256","typ":7}"#, types: due) == [.headerMember("typ"), .type])
    }

    // MARK: RFC 7515 section 4.1.11 and RFC 7797

    @Test(arguments: [
        ("[]", [TokenRefusal.criticalMalformed]), (#""exp""#, [.criticalMalformed]),
        ("[1]", [.criticalMalformed, .criticalUnknown]),
        (#"["x"]"#, [.criticalUnknown]), (#"["x","x"]"#, [.criticalMalformed, .criticalUnknown]),
        (#"["missing"]"#, [.criticalMalformed, .criticalUnknown]), ("null", [.criticalMalformed]),
    ])
    func `Critical members are refused`(list: String, due: [TokenRefusal]) throws {
        #expect(try reasons(#"{"alg":"HS256","x":1,"crit":\#(list)}"#) == due)
    }

    @Test func `An unencoded payload is refused, declared or not`() throws {
        #expect(try reasons(#"{"alg":"HS256","b64":false,"crit":["b64"]}"#) == [.unencodedPayload, .criticalUnknown])
        #expect(try reasons(#"{"alg":"HS256","b64":false}"#) == [.unencodedPayload])
    }

    @Test func `Members that are informative only are tolerated`() throws {
        #expect(try reasons(#"{"alg":"HS256","typ":"JWT","x":[1,{"y":null}],"x5t":"abc"}"#).isEmpty)
    }
}
