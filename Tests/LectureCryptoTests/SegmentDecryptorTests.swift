import LectureModel
import LectureTestSupport
import Testing

@testable import LectureCrypto

/// AES-128 in CBC mode with the padding of PKCS #7, as segments of HLS have it (RFC 8216 section 4.3.2.4).
struct SegmentDecryptorTests {
    private static func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes) }

    private static func bytes(_ hexadecimal: String) throws -> [UInt8] {
        try #require(Hexadecimal.bytes(hexadecimal.filter { $0 != " " }))
    }

    /// Decrypts in pieces of these lengths, over and over.
    private static func decrypted(
        _ cipher: [UInt8], key: [UInt8], vector: [UInt8], pieces: [Int] = [.max]
    ) throws -> [UInt8] {
        let decryptor = try SegmentDecryptor(key: try secret(key), vector: vector)
        var (clear, rest, number): ([UInt8], ArraySlice<UInt8>, Int) = ([], cipher[...], 0)
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces[number % pieces.count]))
            rest = rest.dropFirst(piece.count)
            clear += try decryptor.update(piece)
            number += 1
        }
        return try clear + decryptor.finish()
    }

    @Test func `the vector of RFC 3602 is decrypted`() throws {
        // Section 4, case 1: one block, without padding there; here the block of padding follows it.
        let key = try Self.bytes("06a9214036b8a15b512e03d534120006")
        let vector = try Self.bytes("3dafba429d9eb430b422da802c9fac41")
        let block = try Self.bytes("e353779c1079aeb82708942dbe77181a")
        let decryptor = try SegmentDecryptor(key: try Self.secret(key), vector: vector)
        // The last block is kept back, since it may be padding.
        #expect(try decryptor.update(block).isEmpty)
        #expect(try decryptor.update(block) == Array("Single block msg".utf8))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096, 100_000])
    func `what openssl encrypts is decrypted in pieces of any size`(count: Int) throws {
        let (key, vector) = (Array("0123456789abcdef".utf8), [UInt8](repeating: 7, count: 16))
        let clear = (0..<count).map { UInt8(0x20 + $0 * 7 % 90) }
        let cipher = try SegmentEncryption.encrypted(clear, key: key, vector: vector)
        #expect(cipher.count == (count / 16 + 1) * 16, "there is always padding")
        for pieces in [[.max], [1], [15, 17], [16], [5000, 3]] {
            #expect(try Self.decrypted(cipher, key: key, vector: vector, pieces: pieces) == clear, "\(pieces)")
        }
    }

    @Test func `another key, a cut segment and lengths that are none are refused`() throws {
        let (key, vector) = (Array("0123456789abcdef".utf8), [UInt8](repeating: 7, count: 16))
        let cipher = try SegmentEncryption.encrypted(
            Array("a segment that is longer than a block".utf8), key: key, vector: vector)
        var others = 0
        for number in 0..<32 {
            let other = key.dropLast() + [UInt8(number)]
            // One in 256 has a padding that is right by chance.
            if (try? Self.decrypted(cipher, key: Array(other), vector: vector)) == nil { others += 1 }
        }
        #expect(others >= 30)
        for cut in [1, 15, 17, cipher.count] {
            let error = #expect(throws: LectureError.self) {
                try Self.decrypted(Array(cipher.dropLast(cut)), key: key, vector: vector)
            }
            #expect(error?.code == .streamKey, "\(cut)")
        }
        for (key, vector) in [(Array(key.dropLast()), vector), (key + [0], vector), (key, Array(vector.dropLast()))] {
            #expect(throws: LectureError(.streamKey)) {
                try SegmentDecryptor(key: try Self.secret(key), vector: vector)
            }
        }
    }

    @Test func `single blocks are those of the vectors of NIST, and their key is cleared`() throws {
        // NIST SP 800-38A, section F.2.2: CBC-AES128.Decrypt.
        let key = try Self.bytes("2b7e151628aed2a6abf7158809cf4f3c")
        let texts = try [
            "000102030405060708090a0b0c0d0e0f", "7649abac8119b246cee98e9b12e9197d", "5086cb9b507219ee95db113a917678b2",
            "73bed6b8e3c1743b7116e69e22229516", "3ff1caa1681fac09120eca307586e1a7",
        ].map(Self.bytes)
        let clear = try [
            "6bc1bee22e409f96e93d7e117393172a", "ae2d8a571e03ac9c9eb76fac45af8e51", "30c81c46a35ce411e5fbc1191a0a52ef",
            "f69f2445df4f9b17ad2b417be66c3710",
        ].map(Self.bytes)
        var secret = key
        let blocks = zip(texts, texts.dropFirst()).map { ChainedBlock($1, after: $0) }
        #expect(try OpenSSLBlocks().decrypted(blocks.reversed(), clearing: &secret) == clear.reversed())
        #expect(secret == [UInt8](repeating: 0, count: 16))
        for (length, vector, code) in [
            (15, 16, LectureError.Code.streamKey), (17, 16, .streamKey), (16, 15, .parameter),
        ] {
            var secret = [UInt8](repeating: 7, count: length)
            let block = ChainedBlock(texts[1], after: [UInt8](repeating: 0, count: vector))
            let error = #expect(throws: LectureError.self) {
                try OpenSSLBlocks().decrypted([block], clearing: &secret)
            }
            #expect(error?.code == code && secret.allSatisfy { $0 == 0 })
        }
    }
}
