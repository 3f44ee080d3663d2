import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// Project Wycheproof against the primitives. The numbers are exact, so that a shrinking suite is noticed.
// Skipped where the vectors are absent, as in a user's clone: they belong to other projects.
@Suite(.enabled(if: Vectors.areThere, "no test vectors: set LECTUREKIT_VECTORS"))
struct PrimitiveVectorTests {
    private func gcm(_ vector: WycheproofCase) throws -> Bool? {
        let (key, nonce) = (vector.bytes("key"), vector.bytes("iv"))
        let box = vector.bytes("ct") + vector.bytes("tag")
        // Other lengths of key, nonce and tag are not supported here.
        guard key.count == 32, nonce.count == 12, vector.bytes("tag").count == 16 else { return nil }
        let (cipher, secret) = (try AESGCM(), try SecretBytes(copying: key))
        var isOpen = false
        let text = try unsafe SecretBytes(count: box.count - 16) { buffer throws(LectureError) in
            isOpen = try unsafe cipher.open(
                box, into: buffer, key: secret, nonce: nonce, associated: vector.bytes("aad"))
        }
        if !isOpen { return false }
        let sealed = try unsafe text.withBytes {
            try unsafe cipher.seal($0, key: secret, nonce: nonce, associated: vector.bytes("aad"))
        }
        return text.exposed() == vector.bytes("msg") && sealed == box
    }

    @Test func `AES-256-GCM`() throws {
        #expect(try Tally.of("aes_gcm_test", gcm) == Tally(passed: 66, inapplicable: 250))
    }

    @Test func `AES key wrap`() throws {
        let tally = try Tally.of("aes_wrap_test") { vector in
            let wrapping = try SecretBytes(copying: vector.bytes("key"))
            guard let key = try KeyWrap.unwrap(vector.bytes("ct"), with: wrapping) else { return false }
            guard key.exposed() == vector.bytes("msg") else { return false }
            return try KeyWrap.wrap(key, with: wrapping) == vector.bytes("ct")
        }
        #expect(tally == Tally(passed: 165))
    }

    /// Key wrap with padding (RFC 5649) is another algorithm: none of its valid ciphertexts may open. Three of the
    /// invalid ones are, as the file says, ciphertexts of the algorithm without padding, and do.
    @Test func `Boxes of AES key wrap with padding do not open`() throws {
        let tally = try Tally.of("aes_kwp_test") { vector in
            let key = try KeyWrap.unwrap(vector.bytes("ct"), with: try SecretBytes(copying: vector.bytes("key")))
            #expect(key == nil || vector.comment == "RFC 3349 padding", "\(vector.number)")
            return vector.result == "valid" ? nil : key != nil
        }
        #expect(tally == Tally(passed: 174, inapplicable: 77, differing: [59, 142, 238]))
    }

    @Test func `HKDF with SHA-256`() throws {
        let tally = try Tally.of("hkdf_sha256_test") { vector in
            let (salt, info) = (vector.bytes("salt"), vector.bytes("info"))
            let count = Int(vector.test["size"]?.integer ?? 0)
            let key = try SecretBytes(copying: vector.bytes("ikm"))
            guard let okm = try? KeyDerivation.hkdf(key, salt: salt, info: info, count: count) else { return false }
            return okm.exposed() == vector.bytes("okm")
        }
        #expect(tally == Tally(passed: 86))
    }

    @Test func `HMAC with SHA-256`() throws {
        let tally = try Tally.of("hmac_sha256_test") { vector in
            // The suite has truncated tags too; they are compared at their length.
            let tag = try KeyDerivation.hmac(try SecretBytes(copying: vector.bytes("key")), vector.bytes("msg"))
            let given = vector.bytes("tag")
            return OpenSSLDigests.equal(Array(tag.prefix(given.count)), given)
        }
        #expect(tally == Tally(passed: 174))
    }

    /// A few groups have no JWK, but hexadecimal coordinates.
    private func pointKey(_ group: JSONValue) -> JSONValue? {
        let coordinates = ["wx", "wy"].map { group["publicKey"]?[$0]?.string.flatMap { Hexadecimal.bytes($0) } ?? [] }
        let texts = coordinates.map { Base64URL.text($0) }
        return .object([
            JSONMember("kty", .string("EC")), JSONMember("crv", .string("P-256")), JSONMember("x", .string(texts[0])),
            JSONMember("y", .string(texts[1])),
        ])
    }

    /// Runs a suite of signatures, whose groups hold the key as a JWK in a member of the given name.
    private func signatures(_ suite: String, _ member: String, _ algorithm: SignatureAlgorithm) throws -> Tally {
        try Tally.of(suite) { vector in
            let key = try JWK.verificationKey(try #require(vector.group[member] ?? pointKey(vector.group)))
            return try key.verifies(vector.bytes("sig"), of: vector.bytes("msg"), algorithm)
        }
    }

    @Test func `ECDSA on P-256`() throws {
        #expect(
            try signatures("ecdsa_secp256r1_sha256_p1363_test", "publicKeyJwk", .es256) == Tally(passed: 262))
    }

    @Test func `Ed25519`() throws {
        #expect(try signatures("ed25519_test", "publicKeyJwk", .edDSA) == Tally(passed: 151))
    }

    @Test func `RSASSA-PKCS1-v1_5`() throws {
        #expect(try signatures("rsa_signature_2048_sha256_test", "keyJwk", .rs256) == Tally(passed: 259))
    }

    @Test func `RSASSA-PSS`() throws {
        #expect(try signatures("rsa_pss_2048_sha256_mgf1_32_test", "publicKeyJwk", .ps256) == Tally(passed: 108))
    }
}
