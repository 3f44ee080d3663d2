import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// The keys of bundles: for whom they open, and what their signatures cover.
@Suite struct BundleKeyTests {
    private static func value(_ key: DeviceKey) throws -> JSONValue { try JSONScanner.scan(try key.publicJWK()) }

    @Test func `a bundle's key opens for its device alone, and gives each lecture its own`() throws {
        let (mine, other) = (try DeviceKey.generate(), try DeviceKey.generate())
        let recipient = try BundleRecipient(try Self.value(mine))
        #expect(try recipient.thumbprint == mine.thumbprint())
        let key = try BundleKey.generate()
        let token = try key.wrapped(for: recipient)
        #expect(try key.wrapped(for: recipient) != token, "the ephemeral key is new each time")
        let opened = try BundleKey(token, device: mine)
        for text in [token, String(token.dropLast()), "", "a.b.c.d.e", token + "A"] {
            #expect(throws: LectureError(.bundleNotForDevice)) { try BundleKey(text, device: other) }
        }
        // The same key gives the same cipher; another lecture, and another bundle, do not.
        let lecture = try ContentKey("a")
        let header = try key.cipher(for: lecture).newHeader()
        let text = Array("bytes".utf8)
        var box = [UInt8](repeating: 0, count: text.count + 16)
        let sealer = try key.cipher(for: lecture).sealer(header: header, sealedBefore: [])
        try unsafe text.withUnsafeBytes { text in
            try unsafe box.withUnsafeMutableBytes {
                try unsafe sealer.seal(segment: 0, isLast: true, text, into: $0)
            }
        }
        func open(_ key: BundleKey, _ name: String) throws -> [UInt8] {
            var plain = [UInt8](repeating: 0, count: text.count)
            let opener = try key.cipher(for: try ContentKey(name)).opener(header: header)
            try unsafe box.withUnsafeBytes { box in
                try unsafe plain.withUnsafeMutableBytes {
                    try unsafe opener.open(segment: 0, isLast: true, box, into: $0)
                }
            }
            return plain
        }
        #expect(try open(opened, "a") == text)
        #expect(throws: LectureError(.damaged)) { try open(opened, "b") }
        #expect(throws: LectureError(.damaged)) { try open(try BundleKey.generate(), "a") }
    }

    @Test func `a signature covers the payload, under the one key that is named`() throws {
        let (mine, other) = (try DeviceKey.generate(), try DeviceKey.generate())
        let signer = try BundleSigner(device: mine)
        let key = try JWK.bundleKey(signer.publicKey)
        #expect(try key.thumbprint() == signer.thumbprint && signer.thumbprint == mine.thumbprint())
        let token = try signer.sign([1, 2, 3])
        #expect(try BundleSigner.payload(of: token, signedWith: key) == [1, 2, 3])
        #expect(BundleSigner.unverifiedPayload(of: token) == [1, 2, 3])
        #expect(try BundleSigner.payload(of: token, signedWith: try JWK.bundleKey(try Self.value(other))) == nil)
        for place in token.indices where token[place] != UInt8(ascii: ".") {
            var changed = token
            changed[place] = changed[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(try BundleSigner.payload(of: changed, signedWith: key) == nil, "byte \(place)")
        }
        // Tokens of other kinds by the same key, and other algorithms.
        let device = try mine.signingKey()
        for type in ["JWT", "lecturekit-rekey+jwt", nil] {
            #expect(try BundleSigner.payload(of: try device.sign([1], type: type), signedWith: key) == nil)
        }
        let secret = SigningKey(secret: try SecretBytes(copying: Array(try mine.publicJWK().utf8)))
        let forged = try secret.sign([1], type: BundleSigner.type)
        #expect(try BundleSigner.payload(of: forged, signedWith: key) == nil)
        #expect(BundleSigner.unverifiedPayload(of: [1, 2]) == nil)
    }

    @Test(arguments: [
        "null", "{}", #"{"kty":"oct","k":"AAAA"}"#, #"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#, #"{"kty":"RSA","n":"AA","e":"AQAB"}"#,
    ])
    func `what is no usable key is neither a device nor a signer`(text: String) throws {
        let value = try JSONScanner.scan(text)
        #expect(throws: KeyRefusal.self) { try BundleRecipient(value) }
        #expect(throws: KeyRefusal.self) { try JWK.bundleKey(value) }
    }

    @Test func `private keys in other forms sign nothing`() {
        for text in ["", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "0"] {
            #expect(throws: LectureError.self, "\(text)") { try BundleSigner(pem: Array(text.utf8)) }
        }
    }
}
