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

    /// What the `openssl` program makes of bytes.
    private static func encrypted(_ clear: [UInt8], key: [UInt8], vector: [UInt8]) async throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let file = try directory.write(String(decoding: clear, as: UTF8.self), to: "clear")
        let words = ["enc", "-aes-128-cbc", "-K", Hexadecimal.text(key), "-iv", Hexadecimal.text(vector), "-in", file]
        let ending = try await ChildProcess.run(try Places.command("openssl"), words)
        try #require(ending.status == 0, "\(ending.errorText)")
        return Array(ending.output)
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
    func `what openssl encrypts is decrypted in pieces of any size`(count: Int) async throws {
        let (key, vector) = (Array("0123456789abcdef".utf8), [UInt8](repeating: 7, count: 16))
        let clear = (0..<count).map { UInt8(0x20 + $0 * 7 % 90) }
        let cipher = try await Self.encrypted(clear, key: key, vector: vector)
        #expect(cipher.count == (count / 16 + 1) * 16, "there is always padding")
        for pieces in [[.max], [1], [15, 17], [16], [5000, 3]] {
            #expect(try Self.decrypted(cipher, key: key, vector: vector, pieces: pieces) == clear, "\(pieces)")
        }
    }

    @Test func `another key, a cut segment and lengths that are none are refused`() async throws {
        let (key, vector) = (Array("0123456789abcdef".utf8), [UInt8](repeating: 7, count: 16))
        let cipher = try await Self.encrypted(
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
}
