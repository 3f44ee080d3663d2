import LectureModel
import LectureTestSupport
import Testing

@testable import LectureArchive

/// Headers of archives, field by field: what a list of files is made of.
@Suite struct TarHeaderTests {
    private struct Memory: RandomBytes {
        let bytes: [UInt8]
        let reads: Guarded<Int>?
        var count: UInt64 { UInt64(bytes.count) }

        init(_ bytes: [UInt8], reads: Guarded<Int>? = nil) { (self.bytes, self.reads) = (bytes, reads) }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
            let isThere = reads?.withLock { left in
                left -= 1
                return left >= 0
            }
            if isThere == false { throw LectureError(.readFile, detail: "stick") }
            let piece = bytes.dropFirst(Int(clamping: offset)).prefix(buffer.count)
            unsafe buffer.copyBytes(from: piece)
            return piece.count
        }
    }

    /// A header with a field changed, and the right sum.
    private static func header(
        _ name: String = "a", size: Int = 3, _ changes: (Int, [UInt8])..., sum given: [UInt8]? = nil
    ) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ bytes: [UInt8], _ offset: Int) {
            block.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        }
        put(Array(name.utf8), 0)
        for (offset, text) in [(100, "0000644"), (108, "0000000"), (116, "0000000"), (136, "00000000000")] {
            put(Array(text.utf8), offset)
        }
        put(octal(size, 11), 124)
        put([UInt8](repeating: 0x20, count: 8) + [UInt8(ascii: "0")], 148)
        put(Array("ustar\u{0}00".utf8), 257)
        for (offset, bytes) in changes { put(bytes, offset) }
        put(given ?? octal(sum(block), 6) + [0, 0x20], 148)
        return block
    }

    /// The sum of a header whose sum is blank.
    private static func sum(_ block: [UInt8]) -> Int { block.reduce(0) { $0 + Int($1) } }

    private static func octal(_ number: Int, _ digits: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
    }

    private static let body: [UInt8] = [1, 2, 3] + [UInt8](repeating: 0, count: 509)
    private static let end = [UInt8](repeating: 0, count: 1024)

    private static func list(_ archive: [UInt8]) -> Result<[TarEntry], TarRefusal> {
        do throws(TarRefusal) {
            return .success(try TarIndex.entries(of: Memory(archive), limit: 100))
        } catch { return .failure(error) }
    }

    /// What one header with three bytes is listed as, between two plain files.
    private static func between(_ header: [UInt8]) -> Result<[TarEntry], TarRefusal> {
        list(Self.header("x") + body + header + body + Self.header("y") + body + end)
    }

    private static func listed(_ name: String = "a", count: UInt64 = 3) -> [TarEntry] {
        [("x", 3), (name, count), ("y", 3)].enumerated().map { place, file in
            TarEntry(name: file.0, offset: UInt64(place) * 1024 + 512, count: file.1)
        }
    }

    private static func isRefused(_ header: [UInt8]) -> Bool {
        if case .failure = between(header) { true } else { false }
    }

    @Test func `a plain header is listed, and what it says of owners and times is not read`() {
        #expect(Self.between(Self.header()) == .success(Self.listed()))
        for (offset, text) in [
            (100, "0000777"), (100, "0100644"), (108, "0001750"), (116, "0001750"), (136, "14631463146"),
            (136, "77777777777"), (265, "root"), (297, "wheel"),
        ] {
            #expect(Self.between(Self.header("a", (offset, Array(text.utf8)))) == .success(Self.listed()), "\(text)")
        }
        for count in 1...100 {
            let name = String(repeating: "n", count: count)
            #expect(Self.between(Self.header(name)) == .success(Self.listed(name)), "\(count) letters")
        }
    }

    @Test func `a sum that is not the sum is refused, and so is every flipped bit`() {
        let header = Self.header()
        let right = Self.sum(Self.header(sum: [UInt8](repeating: 0x20, count: 8)))
        #expect(Array(header[148..<154]) == Self.octal(right, 6))
        for wrong in [0, 1, right - 256, right - 1, right + 1, right + 256, 0o777777] {
            #expect(Self.isRefused(Self.header(sum: Self.octal(wrong, 6) + [0, 0x20])), "\(wrong) for \(right)")
        }
        for text in [
            "        ", "zzzzzz\u{0} ", "0x1234\u{0} ", "-1\u{0}     ", "99999999",
            "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
        ] {
            #expect(Self.isRefused(Self.header(sum: Array(text.utf8))), "\(text.debugDescription)")
        }
        for place in 0..<512 where !(154..<156).contains(place) {
            // A blank for the first digit of the sum is the same number.
            for bit in 0..<8 where (place, bit) != (148, 4) {
                var changed = header
                changed[place] ^= 1 << UInt8(bit)
                #expect(Self.isRefused(changed), "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func `only one type is a file, by any magic but its own none is`() {
        for type in UInt8.min...UInt8.max where type != UInt8(ascii: "0") {
            for size in [0, 3] {
                #expect(Self.isRefused(Self.header(size: size, (156, [type]))), "type \(type), \(size) bytes")
            }
        }
        for magic in [
            "ustar  \u{0}", "ustar\u{0}  ", "ustar\u{0}01", "ustar\u{0}0\u{0}", "ustar\u{0}\u{0}\u{0}", "ustar000",
            "USTAR\u{0}00", "\u{0}star\u{0}00", "xstar\u{0}00", "tar\u{0}\u{0}\u{0}00",
            "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
        ] {
            #expect(Self.isRefused(Self.header("a", (257, Array(magic.utf8)))), "\(magic.debugDescription)")
        }
    }

    @Test func `a link and a prefix are refused, and a name is as it stands there`() {
        for link in ["x", "a", "/etc/passwd", String(repeating: "l", count: 100)] {
            #expect(Self.isRefused(Self.header("a", (157, Array(link.utf8)))), "\(link)")
            for type in "1234567DKLMNSVgx".utf8 {
                #expect(Self.isRefused(Self.header("a", size: 0, (156, [type]), (157, Array(link.utf8)))))
            }
        }
        for prefix in ["p", "/", ".", "..", "a/b", String(repeating: "p", count: 155)] {
            #expect(Self.isRefused(Self.header("a", (345, Array(prefix.utf8)))), "\(prefix)")
        }
        // libarchive may take a slash at the end for a directory; listed or not, the name is what stands there.
        for name in ["a/", "/", "a/b/"] {
            if case .success(let entries) = Self.between(Self.header(name)) { #expect(entries == Self.listed(name)) }
        }
        // What follows the end of a name is not part of it.
        #expect(Self.between(Self.header("a", (2, Array("zz".utf8)))) == .success(Self.listed()))
        // Names are bytes: the caller judges them.
        for name in ["", "a b", "../a", "/a", "a\\b", "a\n", "A"] {
            #expect(Self.between(Self.header(name)) == .success(Self.listed(name)), "\(name.debugDescription)")
        }
    }

    @Test(arguments: [0, 1, 2, 511, 512, 513, 1023, 1024, 1025, 65_536, 1_048_577])
    func `a size fills whole blocks, and one byte less or more is another archive`(size: Int) {
        let blocks = (size + 511) / 512
        let file = Self.header(size: size) + [UInt8](repeating: 0xEE, count: blocks * 512)
        let archive = file + Self.header("y") + Self.body + Self.end
        let second = UInt64(512 + blocks * 512)
        #expect(
            Self.list(archive)
                == .success([
                    TarEntry(name: "a", offset: 512, count: UInt64(size)),
                    TarEntry(name: "y", offset: second + 512, count: 3),
                ]))
        // A block more or fewer than there is.
        for other in [size + 512, size - 512] where other >= 0 {
            let lie = Self.header(size: other) + archive.dropFirst(512)
            if case .success = Self.list(Array(lie)) { Issue.record("\(other) for \(size)") }
        }
        // Cut within the file, at its end, and in the blocks behind it.
        let alone = file + Self.end
        #expect(Self.list(alone) == .success([TarEntry(name: "a", offset: 512, count: UInt64(size))]))
        for cut in Set([1, 511, 512, 513, 1023, 1024, 1025, alone.count - 513, alone.count - 1]) where cut < alone.count
        {
            if case .success = Self.list(Array(alone.dropLast(cut))) { Issue.record("\(cut) bytes less than \(size)") }
        }
    }

    @Test(arguments: ["77777777777", "40000000000", "00004000000", "00000001001", "00000002000"])
    func `a size beyond the end is cut off, and no memory is taken for it`(size: String) {
        let archive = Self.header("x") + Self.body + Self.header("a", (124, Array(size.utf8))) + Self.body
        for bytes in [archive, archive + [0], archive + [UInt8](repeating: 0, count: 511)] {
            guard case .failure(let refusal) = Self.list(bytes) else {
                Issue.record("\(size) was listed")
                continue
            }
            #expect(refusal == .cutOff(name: "a"), "\(size)")
        }
    }

    @Test func `a size in base 256 is one of GNU tar and refused`() {
        // The mark of base 256, and eleven bytes of a number; one that is negative, and one beyond 63 bits.
        func size(_ first: UInt8, _ bytes: [UInt8]) -> [UInt8] {
            [first] + [UInt8](repeating: first == 0xFF ? 0xFF : 0, count: 11 - bytes.count) + bytes
        }
        for (first, bytes) in [
            (0x80, [3]), (0x80, [0x10, 0]), (0x80, [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            (0x80, [0x80, 0, 0, 0, 0, 0, 0, 0]), (0x80, [1, 0, 0, 0, 0, 0, 0, 0, 0]), (0xFF, [0xFF]), (0xFF, [0xFD]),
            (0xFF, [0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] as [(UInt8, [UInt8])] {
            let found = Self.between(Self.header("a", (124, size(first, bytes))))
            if case .success(let entries) = found { Issue.record("\(first) \(bytes): \(entries)") }
        }
    }

    @Test func `an archive ends with zeros, at least two blocks and at most a mebibyte`() {
        let file = Self.header() + Self.body
        let expected = [TarEntry(name: "a", offset: 512, count: 3)]
        for count in [1024, 1025, 1536, 9216, 10_240, 1 << 20] {
            #expect(Self.list(file + [UInt8](repeating: 0, count: count)) == .success(expected), "\(count)")
        }
        for count in [0, 1, 511, 512, 513, 1023] {
            let found = Self.list(file + [UInt8](repeating: 0, count: count))
            if case .success = found { Issue.record("\(count) zeros are an end") }
        }
        for count in [(1 << 20) + 1, 2 << 20] {
            #expect(Self.list(file + [UInt8](repeating: 0, count: count)) == .failure(.trailing(position: 1024)))
        }
        for place in [1024, 1025, 1535, 2047, 9215] {
            var bytes = [UInt8](repeating: 0, count: 9216)
            bytes[place] = 1
            #expect(Self.list(file + bytes) == .failure(.trailing(position: 1024)), "a byte at \(place)")
        }
        // A second archive, a file behind the end, and a file between two blocks of zeros.
        for rest in [file + Self.end, file, Array(Self.header().prefix(1))] {
            #expect(Self.list(file + Self.end + rest) == .failure(.trailing(position: 1024)))
            if case .success = Self.list(file + Self.end.prefix(512) + rest) { Issue.record("one block of zeros") }
        }
        #expect(Self.list(Self.end) == .success([]))
        for bytes in [[], [0], [UInt8](repeating: 0, count: 512), [UInt8](repeating: 0, count: 1023)] as [[UInt8]] {
            if case .success = Self.list(bytes) { Issue.record("\(bytes.count) zeros") }
        }
    }

    @Test func `no more files than are allowed are listed`() {
        let files = (1...7).flatMap { Self.header("f\($0)") + Self.body } + Self.end
        for limit in 0...9 {
            let found = Result { () throws(TarRefusal) in try TarIndex.entries(of: Memory(files), limit: limit) }
            switch found {
            case .success(let entries): #expect(limit >= 7 && entries.map(\.name) == (1...7).map { "f\($0)" })
            case .failure(let refusal): #expect(limit < 7 && refusal == .tooMany(limit: limit))
            }
        }
    }

    @Test func `a medium that fails at any read is that failure`() {
        let archive = (1...3).flatMap { Self.header("f\($0)", size: 40_000) + [UInt8](repeating: 9, count: 40_448) }
        var (reads, failures) = (0, 0)
        while reads < 100 {
            let memory = Memory(archive + Self.end, reads: Guarded(reads))
            let found = Result { () throws(TarRefusal) in try TarIndex.entries(of: memory, limit: 10) }
            if case .success(let entries) = found {
                #expect(entries.map(\.count) == [40_000, 40_000, 40_000])
                break
            }
            #expect(found == .failure(.failed(LectureError(.readFile))), "after \(reads) reads")
            (reads, failures) = (reads + 1, failures + 1)
        }
        #expect(failures >= 4 && failures < 100)
    }

    @Test func `what is written is listed, whatever the sizes`() throws {
        var random = SeededGenerator(seed: 512)
        for _ in 0..<100 {
            var (archive, written): ([UInt8], [(String, [UInt8])]) = ([], [])
            let writer = try TarWriter { archive += $0 }
            for number in 0..<Int.random(in: 0...6, using: &random) {
                let bytes = CompressorTests.sample(Int.random(in: 0...1100, using: &random))
                let name = String(repeating: "d/", count: Int.random(in: 0...40, using: &random)) + "\(number)"
                try writer.begin(name, count: UInt64(bytes.count))
                try writer.write(bytes)
                written.append((name, bytes))
            }
            try writer.finish()
            let entries = try TarIndex.entries(of: Memory(archive), limit: written.count)
            #expect(entries.map(\.name) == written.map(\.0))
            #expect(entries.map { Array(archive[Int($0.offset)...].prefix(Int($0.count))) } == written.map(\.1))
            // Each header is the one of the standard, field for field.
            for entry in entries {
                let block = Array(archive[(Int(entry.offset) - 512)..<Int(entry.offset)])
                let plain = Self.header(entry.name, size: Int(entry.count))
                let fields = [0..<100, 124..<135, 156..<157, 157..<257, 257..<265, 265..<329, 345..<512]
                for field in fields { #expect(block[field] == plain[field], "\(entry.name), bytes \(field)") }
            }
        }
    }
}
