import Foundation
import LectureCrypto
import LectureModel
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
        // Read to its end: a procfs file has no length.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        let map = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var flags: Substring?
        var isInside = false
        for line in map.split(separator: "\n") {
            let words = line.split(separator: " ")
            let ends = (words.first ?? "").split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { isInside = (ends[0]..<ends[1]).contains(address) }
            if isInside, line.hasPrefix("VmFlags:") { flags = line }
        }
        #expect(flags?.split(separator: " ").contains("dd") == true, "\(flags ?? "none")")
        // Swift ends a value's lifetime after its last use, and frees the memory.
        withExtendedLifetime(secret) {}
    }
}
