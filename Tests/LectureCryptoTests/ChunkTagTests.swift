import LectureCrypto
import LectureModel
import Testing

@Suite struct ChunkTagTests {
    let key = sample(32, seed: 99)
    let digests: OpenSSLDigests
    let resource = ResourceID(41)

    init() throws { digests = try OpenSSLDigests(proofKey: key) }

    private func proof(_ text: [UInt8], resource: ResourceID? = nil, chunk: Int = 3) throws -> [UInt8] {
        let running = try digests.proof(resource: resource ?? self.resource, chunk: chunk)
        running.update(text)
        return try running.finish()
    }

    private func again(
        _ proof: [UInt8], _ text: [UInt8], resource: ResourceID? = nil, chunk: Int = 3, cutAt cuts: [Int] = []
    ) throws -> [UInt8] {
        let running = try digests.proof(repeating: proof, resource: resource ?? self.resource, chunk: chunk)
        running.update(text, cutAt: cuts)
        return try running.finish()
    }

    /// The command computes the tag from its own reading of the parameters: an independent check of cipher, key, nonce
    /// and the order of the bound fields.
    @Test(arguments: [0, 1, 15, 16, 17, 4096, 65_537])
    func `The openssl command computes the same tag`(length: Int) throws {
        let text = sample(length, seed: 5)
        let proof = try proof(text)
        let output = try run(
            [
                "openssl", "mac", "-cipher", "AES-256-GCM", "-macopt", "hexkey:\(hex(key))",
                "-macopt", "hexiv:\(hex(proof.prefix(12)))", "-in", "-", "GMAC",
            ], input: bigEndian(41) + bigEndian(3) + text)
        #expect(output.status == 0)
        #expect(output.text.lowercased() == hex(proof.suffix(16)))
    }

    /// A second implementation in another language, where it is installed: a tag over associated data alone is GMAC.
    @Test(
        .enabled("python3 with cryptography is not installed") {
            try run(["python3", "-c", "import cryptography"]).status == 0
        })
    func `Python's AES-GCM computes the same tag`() throws {
        let text = sample(10_000, seed: 6)
        let proof = try proof(text)
        let script = """
            import sys
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            aead = AESGCM(bytes.fromhex(sys.argv[1]))
            print(aead.encrypt(bytes.fromhex(sys.argv[2]), b"", sys.stdin.buffer.read()).hex())
            """
        let output = try run(
            ["python3", "-c", script, hex(key), hex(proof.prefix(12))], input: bigEndian(41) + bigEndian(3) + text)
        #expect(output.status == 0)
        #expect(output.text == hex(proof.suffix(16)))
    }

    @Test func `A proof has 28 bytes and repeats for the same bytes`() throws {
        let text = sample(1 << 20)
        let proof = try proof(text)
        #expect(proof.count == 28)
        #expect(try again(proof, text) == proof)
        #expect(digests.equal(try again(proof, text), proof))
    }

    @Test func `Proofs of the same bytes have different nonces`() throws {
        let text = sample(100)
        let proofs = try (0..<200).map { _ in try proof(text) }
        #expect(Set(proofs.map { Array($0.prefix(12)) }).count == 200)
        #expect(Set(proofs.map { Array($0.suffix(16)) }).count == 200)
    }

    @Test func `Any way of cutting the bytes gives the proof of the whole`() throws {
        let text = sample(70_001)
        let whole = try proof(text)
        for _ in 0..<50 {
            let cuts = (0..<Int.random(in: 0...9)).map { _ in Int.random(in: 0...text.count) }
            #expect(try again(whole, text, cutAt: cuts) == whole, "cut at \(cuts)")
        }
    }

    @Test func `Another resource, chunk, key, nonce or bit gives another proof`() throws {
        let text = sample(4096)
        let proof = try proof(text)
        #expect(try again(proof, text, resource: ResourceID(42)) != proof)
        #expect(try again(proof, text, resource: ResourceID(41 << 32)) != proof)
        #expect(try again(proof, text, chunk: 4) != proof)
        #expect(try again(proof, Array(text.dropLast())) != proof)
        #expect(try again(proof, text + [0]) != proof)
        for place in [0, 1, 2047, 4095] {
            var flipped = text
            flipped[place] ^= 1 << UInt8(place % 8)
            #expect(try again(proof, flipped) != proof)
        }
        var otherNonce = proof
        otherNonce[0] ^= 1
        #expect(try again(otherNonce, text).suffix(16) != proof.suffix(16))
        let other = try OpenSSLDigests(proofKey: sample(32, seed: 100))
        let running = try other.proof(repeating: proof, resource: resource, chunk: 3)
        running.update(text)
        #expect(try running.finish() != proof)
    }

    @Test func `The location and the bytes cannot be shifted against each other`() throws {
        // Eight bytes moved from the text into the chunk number must not give the same input.
        let text = bigEndian(3) + sample(100)
        let proof = try proof(text)
        #expect(try again(proof, Array(text.dropFirst(8))) != proof)
    }

    @Test(arguments: [0, 1, 27, 29, 64])
    func `A stored proof of the wrong length is damage`(length: Int) {
        #expect(throws: LectureError(.damaged)) {
            _ = try digests.proof(repeating: sample(length), resource: resource, chunk: 0)
        }
    }

    @Test(arguments: [0, 16, 31, 33])
    func `A key of the wrong length is refused, and not repeated in the error`(length: Int) throws {
        let key = [UInt8](repeating: 0x5A, count: length)
        let error = try #require(throws: LectureError.self) { _ = try OpenSSLDigests(proofKey: key) }
        #expect(error.code == .parameter)
        #expect(!error.message.contains("5a") && !error.message.contains("90"))
    }

    @Test func `A finished proof reports that instead of answering again`() throws {
        let running = try digests.proof(resource: resource, chunk: 0)
        _ = try running.finish()
        #expect(throws: LectureError(.bug)) { try running.finish() }
    }
}

@Suite struct CompareAndRandomTests {
    @Test func `Only the same bytes are equal`() {
        #expect(OpenSSLDigests.equal([], []))
        #expect(OpenSSLDigests.equal([1, 2, 3], [1, 2, 3]))
        #expect(!OpenSSLDigests.equal([1, 2, 3], [1, 2, 4]))
        #expect(!OpenSSLDigests.equal([1, 2, 3], [1, 2]))
        #expect(!OpenSSLDigests.equal([], [0]))
    }

    @Test func `Random bytes have the requested length and do not repeat`() throws {
        #expect(try SecureRandom.bytes(0).isEmpty)
        let draws = try (0..<100).map { _ in try SecureRandom.bytes(32) }
        #expect(draws.allSatisfy { $0.count == 32 })
        #expect(Set(draws).count == 100)
    }

    @Test func `An impossible number of random bytes is refused`() {
        #expect(throws: LectureError(.parameter)) { try SecureRandom.bytes(-1) }
        #expect(throws: LectureError(.parameter)) { try SecureRandom.bytes(Int(Int32.max) + 1) }
    }
}
