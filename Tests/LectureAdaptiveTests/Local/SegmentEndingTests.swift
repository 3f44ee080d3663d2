import LectureAdaptive
import LectureFormats
import LectureModel
import Testing

/// Which bytes of an encrypted segment are read, and what they must be.
@Suite struct SegmentEndingTests {
    private static let vector = (1...16).map { UInt8($0) }

    /// Length of the file, range of the segment, what is read or wrong.
    @Test(
        arguments: [
            (32, nil, .success(0..<32)), (48, nil, .success(16..<48)),
            (1 << 40, nil, .success((1 << 40) - 32..<1 << 40)),
            (16, nil, .success(0..<16)), (0, nil, .failure(.notWhole)), (15, nil, .failure(.notWhole)),
            (33, nil, .failure(.notWhole)), (100, 4..<52, .success(20..<52)), (100, 4..<20, .success(4..<20)),
            (100, 0..<99, .failure(.notWhole)), (100, 84..<116, .failure(.outside)),
            (100, 200..<216, .failure(.outside)),
            (UInt64.max, nil, .failure(.notWhole)),
        ] as [(UInt64, Range<UInt64>?, Result<Range<UInt64>, SegmentFault>)])
    func `the last two blocks are read`(
        total: UInt64, range: Range<UInt64>?, due: Result<Range<UInt64>, SegmentFault>
    ) {
        let bytes = range.flatMap { ByteRange(start: $0.lowerBound, end: $0.upperBound) }
        let part = EncryptedPart(key: "1.key", range: bytes, vector: Self.vector)
        let found = Result { () throws(SegmentFault) in try part.ending(inFileOf: total) }
        #expect(found.map { $0.bytes.start..<$0.bytes.end } == due)
    }

    @Test func `the block before the last one is its vector, or that of the segment`() throws {
        let part = EncryptedPart(key: "1.key", vector: Self.vector)
        let (one, two) = (try part.ending(inFileOf: 16), try part.ending(inFileOf: 64))
        let read = (100..<132).map { UInt8($0) }
        #expect(two.block(of: read) == ChainedBlock(Array(read[16...]), after: Array(read[..<16])))
        #expect(one.block(of: Array(read[16...])) == ChainedBlock(Array(read[16...]), after: Self.vector))
    }

    private static func block(_ padding: UInt8, _ count: Int, before: UInt8 = 0xAA) -> [UInt8] {
        [UInt8](repeating: before, count: 16 - count) + [UInt8](repeating: padding, count: count)
    }

    /// The decrypted block, and what is wrong with it in a long segment, and in one of a single block.
    @Test(
        arguments: [
            (block(1, 1), nil, nil), (block(15, 15), nil, nil), (block(16, 16), nil, .empty), (block(4, 5), nil, nil),
            (block(0, 1), .wrongPadding, .wrongPadding), (block(0, 16), .wrongPadding, .wrongPadding),
            (block(17, 16), .wrongPadding, .wrongPadding), (block(255, 1), .wrongPadding, .wrongPadding),
            (block(3, 2), .wrongPadding, .wrongPadding), (block(16, 15), .wrongPadding, .wrongPadding),
            (block(2, 1, before: 1), .wrongPadding, .wrongPadding), ([], .wrongPadding, .wrongPadding),
            (Array(block(1, 1).dropFirst()), .wrongPadding, .wrongPadding),
        ] as [([UInt8], SegmentFault?, SegmentFault?)])
    func `padding is as many bytes as each of them says`(
        clear: [UInt8], long: SegmentFault?, short: SegmentFault?
    ) throws {
        let part = EncryptedPart(key: "1.key", vector: Self.vector)
        #expect(try part.ending(inFileOf: 4096).fault(in: clear, mayBeEmpty: false) == long)
        #expect(try part.ending(inFileOf: 16).fault(in: clear, mayBeEmpty: false) == short)
        #expect(try part.ending(inFileOf: 16).fault(in: clear, mayBeEmpty: true) == (short == .empty ? nil : short))
    }

    // MARK: Which files are encrypted

    private static let playlists = [
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:2
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-KEY:METHOD=AES-128,URI="1.key",IV=0x000102030405060708090A0B0C0D0E0F
        #EXT-X-MAP:URI="2.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="3.key"
        #EXTINF:2,
        4.m4s
        #EXTINF:2,
        #EXT-X-BYTERANGE:32@64
        12.m4s
        #EXTINF:2,
        #EXT-X-BYTERANGE:64@0
        12.m4s
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:2,
        8.m4s
        #EXT-X-KEY:METHOD=AES-128,URI="1.key",IV=0x000102030405060708090A0B0C0D0E0F
        #EXT-X-GAP
        #EXTINF:2,
        gap.m4s
        #EXTINF:2,
        4.m4s
        #EXT-X-ENDLIST

        """, "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n9.ts\n#EXT-X-ENDLIST\n", "no playlist",
    ]

    @Test func `each part has its key, its range and its vector`() {
        let files = EncryptedFiles(Self.playlists)
        let (explicit, seventh) = ((0..<16).map { UInt8($0) }, [UInt8](repeating: 0, count: 15) + [7])
        func numbered(_ number: UInt8) -> [UInt8] { seventh.dropLast() + [number] }
        #expect(files.parts(of: "2.mp4") == [EncryptedPart(key: "1.key", vector: explicit)])
        #expect(
            Set(files.parts(of: "4.m4s")) == [
                EncryptedPart(key: "3.key", vector: seventh), EncryptedPart(key: "1.key", vector: explicit),
            ])
        #expect(
            files.parts(of: "12.m4s") == [
                EncryptedPart(key: "3.key", range: ByteRange(start: 0, end: 64), vector: numbered(9)),
                EncryptedPart(key: "3.key", range: ByteRange(start: 64, end: 96), vector: numbered(8)),
            ])
        for name in ["8.m4s", "9.ts", "gap.m4s", "1.key", "", "99999999999999999999.ts"] {
            #expect(files.parts(of: name).isEmpty, "\(name)")
        }
        #expect(!files.isEmpty && EncryptedFiles([Self.playlists[1]]).isEmpty && EncryptedFiles().isEmpty)
    }

    @Test(
        arguments: [
            ([], [], []), ([2], [], ["1.key"]), ([2], [4], []), ([12], [2], ["3.key"]),
            ([2, 12], [], ["1.key", "3.key"]),
            ([12], [4], []), ([8], [], []),
        ] as [(Set<Int>, Set<Int>, [String])])
    func `a key is doubtful when files were refused and none is there`(
        refused: Set<Int>, kept: Set<Int>, doubtful: [String]
    ) {
        #expect(EncryptedFiles(Self.playlists).doubtfulKeys(refused: refused, kept: kept) == doubtful)
    }
}
