import LectureAdaptive
import LectureFormats
import Testing

struct SegmentIndexTests {
    private struct Reference {
        var isIndex = false
        var size: UInt32 = 100
        var duration: UInt32 = 10
        var access: UInt32 = 0x9000_0000
    }

    private static func sidx(
        version: UInt8 = 0, timescale: UInt32 = 50, earliest: UInt64 = 7, offset: UInt64 = 0, count: UInt16? = nil,
        _ references: [Reference] = [Reference(), Reference(size: 1, duration: 4, access: 0)]
    ) -> [UInt8] {
        func time(_ value: UInt64) -> [UInt8] {
            version == 0 ? UInt32(truncatingIfNeeded: value).bigEndianBytes : value.bigEndianBytes
        }
        let head =
            [version, 0, 0, 0] + UInt32(1).bigEndianBytes + timescale.bigEndianBytes + time(earliest) + time(offset)
        let counts = UInt16(0).bigEndianBytes + (count ?? UInt16(references.count)).bigEndianBytes
        let entries = references.flatMap { reference in
            (reference.size | (reference.isIndex ? 1 << 31 : 0)).bigEndianBytes + reference.duration.bigEndianBytes
                + reference.access.bigEndianBytes
        }
        return box("sidx", head + counts + entries)
    }

    private static func box(_ type: String, _ body: [UInt8]) -> [UInt8] {
        UInt32(body.count + 8).bigEndianBytes + Array(type.utf8) + body
    }

    private static func ranges(_ bytes: [UInt8], at offset: UInt64 = 1000) throws -> [String] {
        try SegmentIndex(bytes, firstOffset: offset).entries.map {
            "\($0.kind == .index ? "i" : "m")\($0.range.start)-\($0.range.end)+\($0.duration)"
                + ($0.startsWithAccessPoint ? "s" : "")
        }
    }

    @Test func `The index that Shaka Packager wrote leads to the end of its file`() throws {
        let index = try SegmentIndex(Self.shaka, firstOffset: 833)
        #expect(index.timescale == 12_800 && index.entries.map(\.duration) == [25600, 25600, 25600, 25600, 12800])
        #expect(index.entries.first?.range.start == 925 && index.entries.last?.range.end == 741_670)
        let text = DASHSupport.single(
            "<BaseURL>v.mp4</BaseURL><SegmentBase indexRange='833-924'><Initialization range='0-832'/></SegmentBase>")
        guard case .indexed(let file) = try DASHSupport.representation(text)?.media else {
            Issue.record("no index")
            return
        }
        let segments = try file.segments(of: index)
        #expect(
            segments.map(\.time) == [0, 25600, 51200, 76800, 102_400] && segments.map(\.number) == [1, 2, 3, 4, 5])
        #expect(DASHSupport.line(segments[0].resource) == "v.mp4[925-151183]")
    }

    /// The `sidx` box of a file of 741,670 bytes, at 833.
    private static let shaka: [UInt8] = {
        let words: [UInt32] = [
            0x5C, 0x7369_6478, 0, 1, 0x3200, 0, 0, 5, 0x24AF3, 0x6400, 0x9000_0000, 0x297B8, 0x6400, 0x9000_0000,
            0x27FED,
            0x6400, 0x9000_0000, 0x2B10B, 0x6400, 0x9000_0000, 0x139E6, 0x3200, 0x9000_0000,
        ]
        return words.flatMap(\.bigEndianBytes)
    }()

    @Test func `Versions, offsets, boxes before and large sizes`() throws {
        let plain = Self.sidx()
        let long =
            UInt32(1).bigEndianBytes + Array("sidx".utf8) + UInt64(plain.count + 8).bigEndianBytes + plain.dropFirst(8)
        let open = UInt32(0).bigEndianBytes + plain.dropFirst(4)
        let cases: [([UInt8], [String])] = [
            (plain, ["m1056-1156+10s", "m1156-1157+4"]), (plain + [1, 2, 3], ["m1056-1156+10s", "m1156-1157+4"]),
            (
                Self.sidx(version: 1, earliest: 1 << 40, offset: 1 << 33),
                ["m8589935656-8589935756+10s", "m8589935756-8589935757+4"]
            ),
            (Self.sidx(offset: 5), ["m1061-1161+10s", "m1161-1162+4"]), (long, ["m1064-1164+10s", "m1164-1165+4"]),
            (Self.box("styp", [1, 2, 3]) + plain, ["m1067-1167+10s", "m1167-1168+4"]),
            (open, ["m1056-1156+10s", "m1156-1157+4"]),
            (Self.sidx([Reference(isIndex: true), Reference(duration: 0)]), ["i1056-1156+10s", "m1156-1256+0s"]),
            (plain + plain, ["m1056-1156+10s", "m1156-1157+4"]),
        ]
        for (bytes, expected) in cases { #expect(try Self.ranges(bytes) == expected) }
        let most = Self.sidx([Reference](repeating: Reference(size: 0x7FFF_FFFF, duration: .max), count: 65_535))
        #expect(try SegmentIndex(most, firstOffset: 1 << 61).entries.count == 65_535)
    }

    @Test func `Damaged indices are refused, and never read beyond their end`() throws {
        let plain = Self.sidx()
        for count in 0..<plain.count {
            #expect(
                DASHSupport.refusal { try SegmentIndex(Array(plain.prefix(count)), firstOffset: 0) }?.kind == .index)
        }
        let refused: [([UInt8], UInt64)] = [
            (Self.sidx(version: 2), 0), (Self.sidx(timescale: 0), 0), (Self.sidx([]), 0), (Self.sidx(count: 3), 0),
            (Self.sidx([Reference(size: 0)]), 0), (Self.sidx(version: 1, offset: .max), 0), (plain, .max),
            (plain, .max - 60),
            (plain, 1 << 62), (Self.sidx(version: 1, earliest: .max), 0), (Self.box("moof", plain), 0),
            (UInt32(7).bigEndianBytes + plain.dropFirst(4), 0), (UInt32.max.bigEndianBytes + plain.dropFirst(4), 0),
            (UInt32(1).bigEndianBytes + Array("sidx".utf8) + UInt64.max.bigEndianBytes + plain.dropFirst(8), 0),
            (UInt32(1).bigEndianBytes + Array("free".utf8) + UInt64(3).bigEndianBytes + plain, 0),
            (UInt32(20).bigEndianBytes + plain.dropFirst(4), 0),
        ]
        for (bytes, offset) in refused {
            let error = DASHSupport.refusal { try SegmentIndex(bytes, firstOffset: offset) }
            #expect(error?.kind == .index, "\(bytes.prefix(20)), \(offset)")
        }
        let nested = try SegmentIndex(Self.sidx([Reference(isIndex: true)]), firstOffset: 0)
        let text = DASHSupport.single("<BaseURL>v</BaseURL><SegmentBase indexRange='0-9'/>")
        guard case .indexed(let file) = try DASHSupport.representation(text)?.media else {
            Issue.record("no index")
            return
        }
        #expect(DASHSupport.refusal { try file.segments(of: nested) }?.detail.contains("further index") == true)
    }
}
