import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

@Suite struct SealedFileTests {
    private let key: SecretBytes
    private let header: SealedFileHeader
    private let associated = SealedFileHeader.associatedData(content: "lecture-1")
    /// Small segments, so that there are many of them.
    private let segmentLength = 100

    init() throws {
        key = try SecretBytes(copying: sample(32, seed: 31))
        header = try SealedFileHeader.random()
    }

    private func sealer(_ before: Set<Int> = []) throws -> SegmentSealer {
        try SegmentSealer(
            contentKey: key, header: header, associatedData: associated, sealedBefore: before,
            segmentLength: segmentLength)
    }

    /// The segments of a text, sealed in the order given or from first to last.
    private func sealed(_ text: [UInt8], order: [Int]? = nil) throws -> [[UInt8]] {
        let layout = try #require(SealedLayout(plaintextLength: text.count, segmentLength: segmentLength))
        let sealer = try sealer()
        var segments = [[UInt8]](repeating: [], count: layout.segmentCount)
        for segment in order ?? Array(0..<layout.segmentCount) {
            let piece = Array(text[layout.plaintextRange(ofSegment: segment)])
            segments[segment] = try sealer.seal(segment: segment, isLast: segment == layout.lastSegment, piece)
        }
        return segments
    }

    private func opener(
        _ length: Int, key: SecretBytes? = nil, header: SealedFileHeader? = nil, associated: [UInt8]? = nil
    ) throws -> SegmentOpener {
        try SegmentOpener(
            contentKey: key ?? self.key, header: header ?? self.header, associatedData: associated ?? self.associated,
            ciphertextLength: length, segmentLength: segmentLength)
    }

    private func length(_ segments: [[UInt8]]) -> Int { 40 + segments.map(\.count).reduce(0, +) }

    @Test func `Sealed data opens, at any length and in any order`() throws {
        for length in [0, 1, 43, 44, 45, 127, 128, 129, 212, 1000] {
            let text = sample(length, seed: 9)
            let layout = try #require(SealedLayout(plaintextLength: length, segmentLength: segmentLength))
            let order = Array(0..<layout.segmentCount)
            let segments = try sealed(text, order: order.shuffled())
            #expect(self.length(segments) == layout.ciphertextLength)
            #expect(try sealed(text, order: order) == segments)
            let opener = try opener(self.length(segments))
            var opened: [Int: [UInt8]] = [:]
            for segment in order.shuffled() { opened[segment] = try opener.open(segment: segment, segments[segment]) }
            #expect(order.flatMap { opened[$0] ?? [] } == text)
        }
    }

    @Test func `The header round-trips through its bytes, and invalid bytes are damage`() throws {
        let bytes = header.bytes
        #expect(bytes.count == 40 && bytes[0] == 40)
        #expect(try SealedFileHeader(bytes) == header)
        #expect(try SealedFileHeader.random() != header)
        for wrong in [[], Array(bytes.dropLast()), bytes + [0], [39] + bytes.dropFirst(), [0] + bytes.dropFirst()] {
            #expect(throws: LectureError(.damaged)) { try SealedFileHeader(wrong) }
        }
    }

    // MARK: Damage

    @Test func `A bit flipped anywhere is damage`() throws {
        let segments = try sealed(sample(150))
        let opener = try opener(length(segments))
        for (index, segment) in segments.enumerated() {
            for place in segment.indices {
                var changed = segment
                changed[place] ^= 1 << UInt8(place % 8)
                #expect(throws: LectureError(.damaged)) { try opener.open(segment: index, changed) }
            }
        }
    }

    @Test func `Segments do not open in each other's place`() throws {
        let segments = try sealed(sample(44 + 84 * 3))
        let opener = try opener(length(segments))
        for place in segments.indices {
            for other in segments.indices where other != place {
                #expect(throws: LectureError(.damaged)) { try opener.open(segment: place, segments[other]) }
            }
        }
        #expect(throws: LectureError(.damaged)) { try opener.open(segment: segments.count, segments[1]) }
        #expect(throws: LectureError(.damaged)) { try opener.open(segment: -1, segments[1]) }
    }

    @Test func `A file cut at the end of a segment is detected at its last one`() throws {
        let segments = try sealed(sample(44 + 84 * 3))
        for count in 1..<segments.count {
            let opener = try opener(length(Array(segments.prefix(count))))
            #expect(throws: LectureError(.damaged)) { try opener.open(segment: count - 1, segments[count - 1]) }
            // The segments before are genuine, which is why the last one is opened first.
            if count > 1 { #expect(try !opener.open(segment: 0, segments[0]).isEmpty) }
        }
    }

    @Test func `A file cut inside a segment is detected`() throws {
        let segments = try sealed(sample(44 + 84 + 20))
        let whole = length(segments)
        for missing in 1..<(segments[2].count - 16) {
            let opener = try opener(whole - missing)
            #expect(throws: LectureError(.damaged)) {
                try opener.open(segment: 2, Array(segments[2].dropLast(missing)))
            }
        }
        #expect(throws: LectureError(.damaged)) { try opener(whole - 20) }
    }

    @Test func `An extended file is detected at its last segment`() throws {
        let segments = try sealed(sample(44 + 84))
        let opener = try opener(length(segments) + segments[1].count)
        #expect(throws: LectureError(.damaged)) { try opener.open(segment: 1, segments[1]) }
        #expect(throws: LectureError(.damaged)) { try opener.open(segment: 2, segments[1]) }
    }

    @Test func `Segments of another lecture, file or key are refused`() throws {
        let segments = try sealed(sample(150))
        let length = length(segments)
        let otherKey = try SecretBytes(copying: sample(32, seed: 32))
        let others = [
            try opener(length, key: otherKey), try opener(length, header: try SealedFileHeader.random()),
            try opener(length, associated: SealedFileHeader.associatedData(content: "lecture-2")),
        ]
        for opener in others {
            for (index, segment) in segments.enumerated() {
                #expect(throws: LectureError(.damaged)) { try opener.open(segment: index, segment) }
            }
        }
        for place in [1, 32, 33, 39] {
            var changed = header.bytes
            changed[place] ^= 1
            let opener = try opener(length, header: try SealedFileHeader(changed))
            #expect(throws: LectureError(.damaged)) { try opener.open(segment: 0, segments[0]) }
        }
    }

    @Test func `A refused segment leaves no plaintext behind`() throws {
        let segments = try sealed(sample(20))
        let opener = try opener(length(segments))
        var changed = segments[0]
        changed[changed.count - 1] ^= 1
        let buffer = try unsafe SecretBytes(count: 20) { buffer in
            unsafe buffer.copyBytes(from: [UInt8](repeating: 7, count: 20))
            _ = unsafe changed.withUnsafeBytes { box in
                #expect(throws: LectureError(.damaged)) { try unsafe opener.open(segment: 0, box, into: buffer) }
            }
        }
        #expect(buffer.exposed() == [UInt8](repeating: 0, count: 20))
    }

    // MARK: The nonce invariant

    @Test func `No segment is sealed twice, not even with the same bytes`() throws {
        let sealer = try sealer()
        let text = sample(84)
        _ = try sealer.seal(segment: 3, isLast: false, text)
        for isLast in [false, true] {
            #expect(throws: LectureError(.bug)) { try sealer.seal(segment: 3, isLast: isLast, text) }
        }
        _ = try sealer.seal(segment: 2, isLast: false, text)
    }

    @Test func `A segment that is sealed in the file is not sealed again`() throws {
        let sealer = try sealer([0, 2])
        for segment in [0, 2] {
            #expect(throws: LectureError(.bug)) {
                try sealer.seal(segment: segment, isLast: false, sample(segment == 0 ? 44 : 84))
            }
        }
        _ = try sealer.seal(segment: 1, isLast: false, sample(84))
        #expect(throws: LectureError(.bug)) { try self.sealer([5]).seal(segment: 1, isLast: true, sample(84)) }
    }

    @Test func `A file has one end, and nothing after it`() throws {
        let sealer = try sealer()
        _ = try sealer.seal(segment: 4, isLast: true, sample(10))
        #expect(throws: LectureError(.bug)) { try sealer.seal(segment: 5, isLast: false, sample(84)) }
        #expect(throws: LectureError(.bug)) { try sealer.seal(segment: 3, isLast: true, sample(10)) }
        _ = try sealer.seal(segment: 3, isLast: false, sample(84))
        let other = try self.sealer()
        _ = try other.seal(segment: 4, isLast: false, sample(84))
        #expect(throws: LectureError(.bug)) { try other.seal(segment: 2, isLast: true, sample(10)) }
    }

    @Test(arguments: [
        (0, false, 43), (0, false, 45), (0, true, 45), (1, false, 83), (1, false, 85), (1, true, 0), (1, true, 85),
        (-1, false, 84), (1 << 32, false, 84),
    ])
    func `A segment of another length is refused and costs nothing`(segment: Int, isLast: Bool, count: Int) throws {
        let sealer = try sealer()
        #expect(throws: LectureError(.parameter)) { try sealer.seal(segment: segment, isLast: isLast, sample(count)) }
        if (0...1).contains(segment) {
            _ = try sealer.seal(segment: segment, isLast: false, sample(segment == 0 ? 44 : 84))
        }
    }

    @Test func `Of many concurrent seals of one segment, one succeeds`() async throws {
        let sealer = try sealer()
        let succeeded = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<64 {
                group.addTask { (try? sealer.seal(segment: 7, isLast: false, sample(84))) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(succeeded == 1)
    }

    @Test func `A content key of the wrong length and a segment without space are refused`() throws {
        for length in [0, 16, 31, 33] {
            let short = try SecretBytes(copying: sample(length))
            #expect(throws: LectureError(.parameter)) {
                try SegmentSealer(contentKey: short, header: header, associatedData: associated)
            }
        }
        #expect(throws: LectureError(.parameter)) {
            try SegmentSealer(contentKey: key, header: header, associatedData: associated, segmentLength: 56)
        }
        #expect(throws: LectureError(.parameter)) {
            try SegmentSealer(contentKey: key, header: header, associatedData: sample(1025))
        }
    }
}
