import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@Suite struct ContentKeyTests {
    private let device: DeviceKey
    private let contentKey: SecretBytes

    init() throws {
        device = try DeviceKey.generate()
        contentKey = try SecretBytes(copying: sample(32, seed: 21))
    }

    private func token() throws -> [UInt8] { try ContentKeySealer(json(device.publicJWK())).seal(contentKey) }

    private func parts(_ token: [UInt8]) -> [String] {
        String(decoding: token, as: UTF8.self).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The token with a changed header.
    private func replacing(_ old: String, _ new: String) throws -> [UInt8] {
        var parts = parts(try token())
        let header = String(decoding: try #require(Base64URL.bytes(parts[0])), as: UTF8.self)
        try #require(header.contains(old))
        parts[0] = Base64URL.text(Array(header.replacing(old, with: new).utf8))
        return Array(parts.joined(separator: ".").utf8)
    }

    @Test func `A content key reaches the device it was sent to and no other`() throws {
        let token = try token()
        let opened = try #require(try ContentKeyToken.open(token, with: device.decryptionKey()).key)
        #expect(opened.isEqual(to: contentKey))
        let other = try DeviceKey.generate().decryptionKey()
        #expect(try ContentKeyToken.open(token, with: other).reasons == [.keyUnknown])
    }

    @Test func `Another device cannot open it even under the right name`() throws {
        let other = try DeviceKey.generate()
        let renamed = try replacing(device.thumbprint(), other.thumbprint())
        #expect(try ContentKeyToken.open(renamed, with: other.decryptionKey()).reasons == [.notForThisKey])
    }

    /// The example of RFC 7518, appendix C, goes as far as the agreed key; here the full round trip.
    @Test func `RSA-OAEP-256 round-trips`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("key.pem")
        let made = try await ChildProcess.run(Places.command("openssl"), ["genrsa", "-out", path, "2048"])
        try #require(made.status == 0)
        let jwk = try await rsaJWK(path)
        let token = try ContentKeySealer(json(jwk)).seal(contentKey)
        let key = try JWK.decryptionKey(json(jwk))
        #expect(key.algorithm == .rsaOAEP256)
        #expect(try ContentKeyToken.open(token, with: key).key?.isEqual(to: contentKey) == true)
        for place in [40, 200, token.count - 40, token.count - 1] {
            var changed = token
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "E") : UInt8(ascii: "A")
            #expect(try ContentKeyToken.open(changed, with: key).key == nil)
        }
        #expect(try ContentKeyToken.open(self.token(), with: key).reasons == [.algorithmNotOfKey])
        #expect(try ContentKeyToken.open(token, with: device.decryptionKey()).reasons == [.algorithmNotOfKey])
    }

    /// The numbers of a key as the openssl command prints them.
    private func rsaJWK(_ path: String) async throws -> String {
        let text = try await ChildProcess.run(Places.command("openssl"), ["rsa", "-in", path, "-noout", "-text"]).text
        let names = [
            "modulus": "n", "privateExponent": "d", "prime1": "p", "prime2": "q", "exponent1": "dp",
            "exponent2": "dq", "coefficient": "qi",
        ]
        var digits: [String: String] = [:]
        var current: String?
        for line in text.split(separator: "\n") {
            if line.hasPrefix(" ") {
                if let current { digits[current, default: ""] += line.filter(\.isHexDigit) }
            } else {
                current = names[String(line.prefix { $0 != ":" })]
            }
        }
        let members = digits.map { name, digits in
            #""\#(name)":"\#(Base64URL.text(Array(bytes(hex: digits).drop { $0 == 0 })))""#
        }
        return #"{"kty":"RSA","e":"AQAB",\#(members.joined(separator: ","))}"#
    }

    @Test func `Every change of a token is refused`() throws {
        let key = try device.decryptionKey()
        let token = try token()
        for place in token.indices {
            var changed = token
            changed[place] ^= 1 << UInt8(place % 7)
            let verdict = try ContentKeyToken.open(changed, with: key)
            #expect(verdict.key == nil && !verdict.reasons.isEmpty, "\(place)")
            var shorter = token
            shorter.remove(at: place)
            #expect(try ContentKeyToken.open(shorter, with: key).key == nil, "\(place)")
        }
    }

    @Test(arguments: ContentKeyRefusalCase.all)
    func `This header is refused`(example: ContentKeyRefusalCase) throws {
        let token = try replacing(example.old, example.new)
        #expect(try ContentKeyToken.open(token, with: device.decryptionKey()).reasons == example.reasons)
    }

    /// Points off the curve would let the sender derive the private key from the answers (RFC 8725 section 3.4).
    @Test func `An ephemeral key that is not a point on P-256 is refused`() throws {
        let key = try device.decryptionKey()
        let fields = try json(String(decoding: try #require(Base64URL.bytes(parts(token())[0])), as: UTF8.self))
        let x = try #require(fields["epk"]?["x"]?.string)
        var parts = parts(try token())
        for point in [
            #"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(x)"}"#,
            #"{"kty":"EC","crv":"P-384","x":"\#(x)","y":"\#(x)"}"#,
            #"{"kty":"OKP","crv":"X25519","x":"\#(x)"}"#, #"{"kty":"EC","crv":"P-256","x":"","y":""}"#, "null", "[]",
        ] {
            let header = #"{"alg":"ECDH-ES+A256KW","enc":"A256GCM","epk":\#(point)}"#
            parts[0] = Base64URL.text(Array(header.utf8))
            let token = Array(parts.joined(separator: ".").utf8)
            #expect(try ContentKeyToken.open(token, with: key).reasons == [.ephemeralKey])
        }
    }

    /// A sender that reveals its own private key is refused.
    @Test func `An ephemeral key with its private part is refused`() throws {
        let token = try replacing(#""epk":{"#, #""epk":{"d":"AQ","#)
        #expect(try ContentKeyToken.open(token, with: device.decryptionKey()).reasons == [.ephemeralKey])
    }

    @Test func `A signed token is not a content key, and a content key not a signed token`() throws {
        let signed = Array(Example.hs256.token.utf8)
        #expect(try ContentKeyToken.open(signed, with: device.decryptionKey()).reasons == [.parts])
        #expect(try judge(token(), [Example.hs256.key()]).reasons == [.parts])
    }

    @Test func `Keys for other uses are refused`() throws {
        #expect(throws: KeyRefusal.self) { try ContentKeySealer(json(Example.edDSA.jwk)) }
        #expect(throws: KeyRefusal.self) { try JWK.decryptionKey(json(device.publicJWK())) }
        #expect(throws: KeyRefusal.self) { try JWK.decryptionKey(json(Example.hs256.jwk)) }
        // The private number of another key.
        let mixed = #"{"kty":"EC","crv":"P-256","d":"\#(Base64URL.text(sample(32)))","#
        let point = String(Example.es256.jwk.drop { $0 != "x" })
        #expect(throws: KeyRefusal.self) { try JWK.decryptionKey(json("\(mixed)\"\(point)")) }
    }
}

/// A change of the header and the expected refusals.
struct ContentKeyRefusalCase: Sendable, CustomTestStringConvertible {
    let old: String
    let new: String
    let reasons: [TokenRefusal]

    var testDescription: String { new }

    private static func algorithm(_ name: String, _ reason: TokenRefusal) -> Self {
        Self(old: #""ECDH-ES+A256KW""#, new: #""\#(name)""#, reasons: [reason])
    }

    static let all: [Self] =
        [
            "RSA1_5", "RSA-OAEP", "dir", "ECDH-ES", "ECDH-ES+A128KW", "A256KW", "A256GCMKW", "PBES2-HS256+A128KW",
        ].map { algorithm($0, .algorithmNotPermitted) } + [
            algorithm("none", .algorithmUnknown), algorithm("ECDH-ES+XC20PKW", .algorithmUnknown),
            algorithm("RSA-OAEP-256", .algorithmNotOfKey),
            Self(old: #""A256GCM""#, new: #""A128GCM""#, reasons: [.encryptionUnknown]),
            Self(old: #""A256GCM""#, new: #""A256CBC-HS512""#, reasons: [.encryptionUnknown]),
            Self(old: #""enc":"A256GCM","#, new: "", reasons: [.encryptionUnknown]),
            Self(old: #""alg":"ECDH-ES+A256KW","#, new: "", reasons: [.algorithmMissing]),
            Self(old: #"{"alg""#, new: #"{"zip":"DEF","alg""#, reasons: [.compressed]),
            Self(old: #"{"alg""#, new: #"{"jku":"u","jwk":{},"alg""#, reasons: [.keyURL, .embeddedKey]),
            Self(old: #"{"alg""#, new: #"{"crit":["alg"],"alg""#, reasons: [.criticalUnknown]),
            Self(old: #"{"alg""#, new: #"{"apu":"*","alg""#, reasons: [.headerMember("apu")]),
            Self(old: #"{"alg""#, new: #"{"apv":7,"alg""#, reasons: [.headerMember("apv")]),
            Self(old: #"{"alg""#, new: #"{"apu":"AA","alg""#, reasons: [.notForThisKey]),
            Self(old: #"{"alg""#, new: #"{"note":1,"alg""#, reasons: [.notForThisKey]),
        ]
}
