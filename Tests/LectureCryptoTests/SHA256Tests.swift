import LectureCrypto
import LectureModel
import Testing

@Suite struct SHA256Tests {
    let digests: OpenSSLDigests

    init() throws { digests = try OpenSSLDigests(proofKey: sample(32)) }

    /// FIPS 180-4 examples (NIST's SHA_All.pdf) and the byte vectors of SHA256ShortMsg.rsp.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("616263", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            """
            6162636462636465636465666465666765666768666768696768696a68696a6b696a6b6c6a6b6c6d6b6c6d6e6c6d6e6f
            6d6e6f706e6f7071
            """, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
        ("11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98"),
    ])
    func `The published vectors are reproduced`(message: String, digest: String) throws {
        #expect(hex(try digests.sha256(of: bytes(hex: message))) == digest)
    }

    @Test func `A million letters a give the published digest`() throws {
        let running = try digests.sha256()
        let block = [UInt8](repeating: 0x61, count: 10_000)
        for _ in 0..<100 { running.update(block) }
        #expect(hex(try running.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func `Any way of cutting the bytes gives the digest of the whole`() throws {
        var randomness = SystemRandomNumberGenerator()
        let text = sample(100_003)
        let whole = try digests.sha256(of: text)
        for _ in 0..<50 {
            let cuts = (0..<Int.random(in: 0...9, using: &randomness)).map { _ in Int.random(in: 0...text.count) }
            let running = try digests.sha256()
            running.update(text, cutAt: cuts)
            #expect(try running.finish() == whole, "cut at \(cuts)")
        }
    }

    @Test func `The openssl command agrees`() throws {
        let text = sample(65_537, seed: 7)
        let output = try run(["openssl", "dgst", "-sha256", "-r"], input: text)
        #expect(output.status == 0)
        #expect(output.text.hasPrefix(hex(try digests.sha256(of: text))))
    }

    @Test func `A finished digest reports that instead of answering again`() throws {
        let running = try digests.sha256()
        _ = try running.finish()
        running.update([1, 2, 3])
        #expect(throws: LectureError(.bug)) { try running.finish() }
    }

    @Test func `Many digests at once do not disturb each other`() async throws {
        let digests = digests
        let right = try (0..<8).map { try digests.sha256(of: sample(50_000, seed: UInt64($0))) }
        try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for index in 0..<64 {
                group.addTask { (index % 8, try digests.sha256(of: sample(50_000, seed: UInt64(index % 8)))) }
            }
            for try await (index, digest) in group { #expect(digest == right[index]) }
        }
    }
}
