import LectureCrypto
import LectureFormats
import LectureModel
import Testing

@Suite struct JWKTests {
    private func refusal(_ text: String) throws -> String? {
        let value = try json(text)
        do throws(KeyRefusal) {
            _ = try JWK.verificationKey(value)
            return nil
        } catch { return error.sentence }
    }

    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

    // MARK: Thumbprints

    @Test func `The thumbprint of RFC 7638 is reproduced`() throws {
        let text = """
            {"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1\
            L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW\
            2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0f\
            M4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid"\
            :"2011-04-29"}
            """
        let key = try JWK.verificationKey(json(text))
        #expect(try key.thumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func `The thumbprint of RFC 8037 is reproduced`() throws {
        #expect(try Example.edDSA.key().thumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    /// From the example of RFC 7638, section 3.1, for the other two key types: the digest of the text that the section
    /// builds.
    @Test func `Thumbprints of secrets and of points depend on nothing but the key`() throws {
        let named = #"{"kid":"a","use":"sig","alg":"ES256","y":"\#(Self.y)","kty":"EC","x":"\#(Self.x)","crv":"P-256"}"#
        let digests = try OpenSSLDigests(proofKey: sample(32))
        let text = #"{"crv":"P-256","kty":"EC","x":"\#(Self.x)","y":"\#(Self.y)"}"#
        let due = Base64URL.text(try digests.sha256(of: Array(text.utf8)))
        #expect(try JWK.verificationKey(json(named)).thumbprint() == due)
        #expect(try Example.es256.key().thumbprint() == due)
        let secret = #"{"k":"\#(Base64URL.text(sample(32)))","kty":"oct"}"#
        let print = try JWK.verificationKey(json(secret)).thumbprint()
        #expect(print == Base64URL.text(try digests.sha256(of: Array(secret.utf8))))
    }

    // MARK: What a key may be used for

    @Test(arguments: [
        #""use":"enc""#, #""use":"SIG""#, #""use":5"#, #""key_ops":["sign"]"#, #""key_ops":[]"#, #""key_ops":"verify""#,
        #""key_ops":["verify","verify"]"#, #""key_ops":["verify",1]"#, #""alg":"RS256""#, #""alg":"HS256""#,
        #""alg":"ES512""#, #""alg":"none""#, #""alg":1"#, #""kid":1"#, #""d":"AQ""#, #""k":"AQ""#,
    ])
    func `A point with this member is refused`(member: String) throws {
        #expect(try refusal(#"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)",\#(member)}"#) != nil)
    }

    @Test(arguments: [
        #""use":"sig""#, #""key_ops":["verify"]"#, #""key_ops":["sign","verify"]"#, #""alg":"ES256""#, #""kid":"""#,
        #""ext":true"#,
    ])
    func `A point with this member is accepted`(member: String) throws {
        #expect(try refusal(#"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)",\#(member)}"#) == nil)
    }

    // MARK: Points

    @Test(arguments: [
        (x, x), (y, x), (x, String(y.dropLast())), (x + "A", y), ("AA", "AA"),
        (String(repeating: "A", count: 43), String(repeating: "A", count: 43)),
    ])
    func `A value that is not a point on P-256 is refused`(x: String, y: String) throws {
        #expect(try refusal(#"{"kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#) != nil)
    }

    @Test(arguments: ["P-384", "P-521", "secp256k1", "p-256", "X25519", ""])
    func `Another curve is refused`(curve: String) throws {
        #expect(try refusal(#"{"kty":"EC","crv":"\#(curve)","x":"\#(Self.x)","y":"\#(Self.y)"}"#) != nil)
        #expect(try refusal(#"{"kty":"OKP","crv":"\#(curve)","x":"\#(Self.x)"}"#) != nil)
    }

    /// OpenSSL verifies one fixed signature for any message under these: with the neutral point as the key, R the
    /// neutral point and S = 0. They are all points whose order divides 8, in each encoding.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `A point of small order is not an Ed25519 key, with either sign`(text: String) throws {
        var key = bytes(hex: text)
        for _ in 0..<2 {
            let refused = try refusal(#"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.text(key))"}"#)
            #expect(
                refused == "the Ed25519 key is a point of small order" || refused == "the Ed25519 key is not canonical")
            key[31] ^= 0x80
        }
    }

    @Test(arguments: [0, 31, 33])
    func `An Ed25519 key of another length is refused`(length: Int) throws {
        #expect(try refusal(#"{"kty":"OKP","crv":"Ed25519","x":"\#(Base64URL.text(sample(length)))"}"#) != nil)
    }

    // MARK: RSA

    private func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> String {
        #"{"kty":"RSA","n":"\#(Base64URL.text(modulus))","e":"\#(Base64URL.text(exponent))"}"#
    }

    /// A number of so many bits without a factor below 1,000. OpenSSL checks for small factors and for primality; it
    /// cannot check whether the number has exactly two factors.
    private func modulus(bits: Int) -> [UInt8] {
        var bytes = sample((bits + 7) / 8, seed: 11)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] |= 1
        func hasSmallFactor() -> Bool {
            stride(from: 3, to: 1000, by: 2).contains { factor in
                bytes.reduce(0) { ($0 << 8 | Int($1)) % factor } == 0
            }
        }
        while hasSmallFactor() {
            let (sum, carry) = bytes[bytes.count - 1].addingReportingOverflow(2)
            bytes[bytes.count - 1] = sum
            if carry { bytes[bytes.count - 2] &+= 1 }
        }
        return bytes
    }

    @Test(arguments: [512, 1024, 2047, 8193, 16_384])
    func `A modulus of another length is refused`(bits: Int) throws {
        #expect(try refusal(rsa(modulus(bits: bits), [1, 0, 1])) == "the RSA modulus has \(bits) bits")
    }

    @Test(arguments: [2048, 2049, 3072, 8192])
    func `A modulus of a permitted length is accepted`(bits: Int) throws {
        #expect(try refusal(rsa(modulus(bits: bits), [1, 0, 1])) == nil)
    }

    @Test(arguments: [[], [0], [1], [2], [4], [1, 0, 0], [0, 3], [0, 1, 0, 1], [UInt8](repeating: 1, count: 33)])
    func `This exponent is refused`(exponent: [UInt8]) throws {
        #expect(try refusal(rsa(modulus(bits: 2048), exponent))?.contains("exponent") == true)
    }

    @Test func `The smallest exponent that is permitted is 3`() throws {
        #expect(try refusal(rsa(modulus(bits: 2048), [3])) == nil)
    }

    @Test func `An even modulus and one that begins with 0 are refused`() throws {
        var even = modulus(bits: 2048)
        even[255] &= 0xFE
        #expect(try refusal(rsa(even, [1, 0, 1])) == "the RSA modulus is even")
        #expect(try refusal(rsa([0] + modulus(bits: 2048), [1, 0, 1])) != nil)
    }

    /// 65537²⁵⁶ mod 2²⁰⁴⁸ would not do: such keys are recognised by the modulus modulo small primes, so a power of
    /// 65537 itself, of the right length, has the fingerprint.
    @Test func `A key of the flawed generator is refused`() throws {
        // 65537¹²⁷ has 2,033 bits, 65537¹²⁸ has 2,049.
        var power: [UInt8] = [1]
        for _ in 0..<128 {
            var carry = 0
            for place in power.indices.reversed() {
                let product = Int(power[place]) * 65_537 + carry
                power[place] = UInt8(truncatingIfNeeded: product)
                carry = product >> 8
            }
            while carry > 0 {
                power.insert(UInt8(truncatingIfNeeded: carry), at: 0)
                carry >>= 8
            }
        }
        #expect(try refusal(rsa(power, [1, 0, 1]))?.contains("flawed generator") == true)
    }

    // MARK: Malformed keys

    @Test(arguments: [
        "[]", "5", "{}", #"{"kty":5}"#, #"{"kty":"ec"}"#, #"{"kty":"EC"}"#, #"{"kty":"EC","crv":"P-256"}"#,
        #"{"kty":"RSA","n":"AQAB"}"#, #"{"kty":"oct"}"#, #"{"kty":"oct","k":"*"}"#, #"{"kty":"oct","k":5}"#,
        #"{"kty":"OKP","crv":"Ed25519"}"#,
    ])
    func `A value that is not a key is refused`(text: String) throws {
        #expect(try refusal(text) != nil)
    }

    // MARK: Sets

    private func set(_ keys: String...) throws -> JWKSet {
        try JWKSet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    private func point(_ rest: String = "") -> String {
        #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.y)"\#(rest)}"#
    }

    @Test func `A set keeps the keys that verify and reports the skipped ones`() throws {
        let set = try set(
            point(#","kid":"a""#), point(#","kid":"b","use":"enc""#), #"{"kty":"new"}"#,
            #"{"kty":"EC","crv":"P-384","x":"","y":""}"#, point(#","kid":"c","alg":"ES256K""#))
        #expect(set.keys.map(\.identifier) == ["a"])
        #expect(set.skipped.map(\.index) == [1, 2, 3, 4])
    }

    @Test func `A set with a broken key of ours is refused as a whole`() throws {
        for broken in [
            #"{"kty":"EC","crv":"P-256","x":"\#(Self.x)","y":"\#(Self.x)"}"#, point(#","d":"AQ""#), #"{}"#, "5",
        ] {
            #expect(throws: LectureError(.configuration)) { try set(point(), broken) }
        }
    }

    @Test func `A set with duplicate names, mixed key types or no key is refused`() throws {
        let secret = #"{"kty":"oct","k":"\#(Base64URL.text(sample(32)))"}"#
        #expect(throws: LectureError(.configuration)) { try set(point(#","kid":"a""#), point(#","kid":"a""#)) }
        #expect(throws: LectureError(.configuration)) { try set(point(), secret) }
        #expect(throws: LectureError(.configuration)) { try set() }
        #expect(throws: LectureError(.configuration)) { try JWKSet(Array("{}".utf8)) }
        #expect(throws: LectureError(.configuration)) { try set(point(#","use":"enc""#)) }
        #expect(throws: LectureError(.json)) { try JWKSet(Array(#"{"keys":[],"keys":[]}"#.utf8)) }
        let many = [String](repeating: #"{"kty":"new"}"#, count: JWKSet.limit + 1).joined(separator: ",")
        #expect(throws: LectureError(.configuration)) { try JWKSet(Array(#"{"keys":[\#(many)]}"#.utf8)) }
    }

    @Test func `A key never shows its secret`() throws {
        let secret = try SecretBytes(copying: sample(32))
        let key = try VerificationKey(secret: secret)
        var text = ""
        dump(key, to: &text)
        #expect(text.contains("secret") && !text.contains("\(sample(32)[0]), \(sample(32)[1])"))
    }
}
