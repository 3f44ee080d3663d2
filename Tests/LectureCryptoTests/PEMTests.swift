import LectureCrypto
import LectureModel
import Testing

@Suite struct PEMTests {
    private func values(_ text: String) throws -> [[UInt8]] { try PEM.values(of: Array(text.utf8), .certificate) }

    @Test func `Blocks are read in order, and text around them is ignored`() throws {
        let text = """
            subject=/CN=a
            -----BEGIN CERTIFICATE-----\r
            MAMC\r
            AQU=\r
            -----END CERTIFICATE-----\r
            -----BEGIN PRIVATE KEY-----
            AAAA
            -----END PRIVATE KEY-----
              -----BEGIN CERTIFICATE-----
              MAA=
            -----END CERTIFICATE-----
            """
        #expect(try values(text) == [[0x30, 3, 2, 1, 5], [0x30, 0]])
        #expect(try PEM.values(of: [0x30, 0], .certificate) == [[0x30, 0]])
    }

    @Test(arguments: [
        "", "MAA=", "-----BEGIN CERTIFICATE-----\nMAA=\n", "-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\nMA\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----",
        "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----",
    ])
    func `A text without a complete block is refused`(text: String) {
        #expect(throws: LectureError(.configuration)) { try values(text) }
    }
}

@Suite struct ForeignKeySetTests {
    private static let point =
        #""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#

    private func keys(_ keys: String..., passesBroken: Bool = true) throws -> [String?] {
        try JWKSet(Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8), passesBroken: passesBroken).keys
            .map(\.identifier)
    }

    @Test func `In a foreign key set weak keys are skipped and do not verify`() throws {
        let good = "{\"kid\":\"g\",\(Self.point)}"
        let bad = [
            #"{"kid":"s","kty":"OKP","crv":"Ed25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"kid":"r","kty":"RSA","n":"AQAB","e":"AQAB"}"#, "{\"kid\":\"d\",\"d\":\"AA\",\(Self.point)}",
            #"{"kid":"o","kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#, "7", "{}",
        ]
        for key in bad {
            #expect(try keys(key, good) == ["g"])
            #expect(throws: LectureError(.configuration)) { try keys(key, good, passesBroken: false) }
        }
        #expect(try keys(good, good) == ["g", "g"])
        #expect(throws: LectureError(.configuration)) { try keys(bad[0]) }
    }

    @Test func `The thumbprint is that of the public parts, whatever the key is for`() throws {
        let key = try json("{\"kid\":\"a\",\"use\":\"enc\",\(Self.point)}")
        let plain = try JWK.verificationKey(json("{\(Self.point)}"))
        #expect(try JWK.thumbprint(key) == plain.thumbprint())
        #expect(throws: KeyRefusal.self) { try JWK.thumbprint(json("{\"d\":\"AA\",\(Self.point)}")) }
        #expect(throws: KeyRefusal.self) { try JWK.thumbprint(json("{}")) }
    }
}
