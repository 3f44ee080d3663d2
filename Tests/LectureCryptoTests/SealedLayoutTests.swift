import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

@Suite struct SealedLayoutTests {
    private let mebibyte = 1 << 20

    /// Plaintext length, segments, file length, by hand: the first segment has 1,048,520 bytes, every other
    /// 1,048,560.
    @Test(arguments: [
        (0, 1, 56), (1, 1, 57), (1_048_520, 1, 1_048_576), (1_048_521, 2, 1_048_593), (2_097_080, 2, 2_097_152),
        (2_097_081, 3, 2_097_169), (1 << 30, 1025, 1_073_741_824 + 40 + 1025 * 16),
    ])
    func `Lengths are as computed by hand`(plaintext: Int, segments: Int, file: Int) throws {
        let layout = try #require(SealedLayout(plaintextLength: plaintext))
        #expect(layout.segmentCount == segments && layout.ciphertextLength == file)
        #expect(SealedLayout(ciphertextLength: file) == layout)
    }

    @Test func `Lengths impossible for a sealed file are refused`() {
        for length in [Int.min, -1, 0, 1, 39, 40, 55, mebibyte + 1, mebibyte + 15, mebibyte + 16, 2 * mebibyte + 16] {
            #expect(SealedLayout(ciphertextLength: length) == nil, "\(length)")
        }
        #expect(SealedLayout(plaintextLength: -1) == nil)
        #expect(SealedLayout(plaintextLength: .max) == nil)
        #expect(SealedLayout(ciphertextLength: .max) == nil)
        for segment in [Int.min, -1, 0, 56, (1 << 30) + 1] {
            #expect(SealedLayout(plaintextLength: 5, segmentLength: segment) == nil)
        }
        // 2³² segments are allowed, one more is not.
        let limit = SealedLayout.segmentLimit * 41 - 40
        #expect(SealedLayout(plaintextLength: limit, segmentLength: 57)?.segmentCount == SealedLayout.segmentLimit)
        #expect(SealedLayout(plaintextLength: limit + 1, segmentLength: 57) == nil)
    }

    /// Small segments and every length around their boundaries: the invariants of all of them.
    @Test(arguments: [57, 58, 64, 100, 4096])
    func `Segments lie side by side and cover everything`(segmentLength: Int) throws {
        let lengths = (0..<400).map(\.self) + (0..<4).flatMap { n in ((n * segmentLength)..<(n * segmentLength + 60)) }
        for length in lengths {
            let layout = try #require(SealedLayout(plaintextLength: length, segmentLength: segmentLength))
            #expect(SealedLayout(ciphertextLength: layout.ciphertextLength, segmentLength: segmentLength) == layout)
            var (plain, file) = (0, 40)
            for segment in 0..<layout.segmentCount {
                let (text, box) = (
                    layout.plaintextRange(ofSegment: segment), layout.ciphertextRange(ofSegment: segment)
                )
                #expect(text.lowerBound == plain && box.lowerBound == file && box.count == text.count + 16)
                // Only the plaintext itself may be empty, and only the last segment is shorter.
                #expect(!text.isEmpty || length == 0)
                #expect(segment == layout.lastSegment || box.upperBound == (segment + 1) * segmentLength)
                (plain, file) = (text.upperBound, box.upperBound)
            }
            #expect(plain == length && file == layout.ciphertextLength)
            #expect(layout.plaintextRange(ofSegment: layout.segmentCount).isEmpty)
            #expect(layout.ciphertextRange(ofSegment: -1).isEmpty)
        }
    }

    @Test func `Each plaintext length has its own file length, and other file lengths are invalid`() {
        var byFile: [Int: Int] = [:]
        for length in 0..<2000 {
            let file = SealedLayout(plaintextLength: length, segmentLength: 100)?.ciphertextLength ?? -1
            #expect(byFile.updateValue(length, forKey: file) == nil)
        }
        for file in 0..<2000 {
            #expect(SealedLayout(ciphertextLength: file, segmentLength: 100)?.plaintextLength == byFile[file])
        }
    }

    @Test func `The segments that cover a range are exactly those that share a byte with it`() throws {
        var randomness = SeededGenerator(seed: 5)
        for _ in 0..<3000 {
            let length = Int.random(in: 0...900, using: &randomness)
            let layout = try #require(SealedLayout(plaintextLength: length, segmentLength: 100))
            let start = Int.random(in: -50...1000, using: &randomness)
            let range = start..<(start + Int.random(in: 0...400, using: &randomness))
            let due = (0..<layout.segmentCount).filter { segment in
                layout.plaintextRange(ofSegment: segment).overlaps(range)
            }
            #expect(Array(layout.segments(covering: range)) == due, "\(range) of \(length)")
        }
    }
}
