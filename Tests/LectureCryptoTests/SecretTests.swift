import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

@Suite struct SecretTests {
    @Test func `A secret is never printed`() throws {
        let secret = try SecretBytes(copying: Array("correct horse".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        let texts = ["\(secret)", String(describing: secret), String(reflecting: secret), dumped]
        for text in texts { #expect(text.contains("secret") && !text.contains("horse") && !text.contains("99")) }
    }

    @Test func `Secrets are equal when their bytes are`() throws {
        let left = try SecretBytes(copying: sample(40))
        #expect(left.isEqual(to: try SecretBytes(copying: sample(40))))
        #expect(!left.isEqual(to: try SecretBytes(copying: sample(39))))
        #expect(!left.isEqual(to: try SecretBytes(copying: sample(40, seed: 2))))
        #expect(try SecretBytes(copying: []).isEqual(to: try SecretBytes(copying: [])))
    }

    @Test func `Random secrets have the requested length and differ`() throws {
        #expect(try SecretBytes.random(0).count == 0)
        #expect(try !SecretBytes.random(32).isEqual(to: try SecretBytes.random(32)))
        #expect(throws: LectureError(.parameter)) { try SecretBytes.random(-1) }
        #expect(throws: LectureError(.parameter)) { try SecretBytes.random(1 << 21) }
    }

    /// `dd` among the flags of a mapping: the kernel leaves it out of core dumps (proc(5)).
    @Test func `A secret is in memory that no core dump includes`() throws {
        let secret = try SecretBytes(copying: sample(32))
        let address = unsafe secret.withBytes { UInt(bitPattern: $0.baseAddress) }
        let flags = try MemoryFlags.find(at: address)
        #expect(flags.contains("dd"), "\(flags)")
        // Swift ends a value's lifetime after its last use, and frees the memory.
        withExtendedLifetime(secret) {}
    }
}
