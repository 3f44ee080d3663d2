import Foundation
import LectureArchive
import LectureModel
import LectureTestSupport
import Testing

struct DecompressorTests {
    private static func read(_ path: String) throws -> [UInt8] {
        let reader = try Decompressor(path)
        var bytes: [UInt8] = []
        while let piece = try reader.next() { bytes += piece }
        #expect(try reader.next() == nil)
        return bytes
    }

    /// Compresses with an independent program.
    private static func compressed(_ bytes: [UInt8], _ compression: Compression) async throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let path = try directory.write(bytes, to: "plain")
        let ending = try await ChildProcess.run(try Places.command(compression.rawValue), ["-c", path])
        #expect(ending.status == 0)
        return Array(ending.output)
    }

    @Test(arguments: Compression.allCases, [0, 1, 65_536, 1_000_003])
    func `the output of other programs is read`(compression: Compression, count: Int) async throws {
        let directory = try TemporaryDirectory()
        let bytes = CompressorTests.sample(count)
        // The format is recognised by the bytes, not by the name.
        let path = try directory.write(try await Self.compressed(bytes, compression), to: "file.jsonl")
        #expect(try Self.read(path) == bytes)
    }

    @Test(arguments: [0, 1, 3, 65_536, 200_001])
    func `a plain file is read as it is`(count: Int) throws {
        let directory = try TemporaryDirectory()
        let bytes = CompressorTests.sample(count)
        #expect(try Self.read(try directory.write(bytes, to: "file.gz")) == bytes)
    }

    @Test(arguments: Compression.allCases)
    func `concatenated streams are read to the end`(compression: Compression) async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = (CompressorTests.sample(70_000), CompressorTests.sample(40_000))
        let file =
            try await Self.compressed(first, compression) + Compressor.compress([], compression)
            + Compressor.compress(second, compression)
        #expect(try Self.read(try directory.write(file, to: "file")) == first + second)
    }

    @Test(arguments: Compression.allCases)
    func `a file truncated anywhere is reported, and data before the cut is right`(compression: Compression) throws {
        let directory = try TemporaryDirectory()
        let bytes = CompressorTests.sample(300_000)
        let whole = try Compressor.compress(bytes, compression)
        let places = Array(1...24) + stride(from: 25, to: whole.count - 16, by: whole.count / 40)
        for place in places + Array(whole.count - 16..<whole.count) {
            let path = try directory.write(Array(whole.prefix(place)), to: "cut")
            var got: [UInt8] = []
            #expect(throws: LectureError(.exportIncomplete), "cut at \(place) of \(whole.count)") {
                let reader = try Decompressor(path)
                while let piece = try reader.next() { got += piece }
            }
            let isRight = bytes.starts(with: got)
            #expect(isRight, "cut at \(place)")
        }
    }

    @Test func `a truncated empty stream is reported`() throws {
        let directory = try TemporaryDirectory()
        for compression in Compression.allCases {
            let whole = try Compressor.compress([], compression)
            #expect(try Self.read(try directory.write(whole, to: "whole")).isEmpty)
            for place in 1..<whole.count {
                let path = try directory.write(Array(whole.prefix(place)), to: "cut")
                #expect(throws: LectureError(.exportIncomplete), "\(compression) at \(place)") { try Self.read(path) }
            }
        }
    }

    @Test func `a gzip with changed bytes is reported although libarchive does not check`() throws {
        let directory = try TemporaryDirectory()
        // Stored blocks show a change in the bytes themselves.
        let text = Array("0123456789".utf8)
        var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 10, 0, 0xF5, 0xFF] + text
        file += [0xC6, 0xC7, 0x84, 0xA6, 10, 0, 0, 0]
        #expect(try Self.read(try directory.write(file, to: "whole")) == text)
        for place in 15..<25 {
            var changed = file
            changed[place] ^= 1
            let path = try directory.write(changed, to: "changed")
            #expect(throws: LectureError(.exportIncomplete)) { try Self.read(path) }
        }
    }

    @Test func `a file that cannot be opened or read is reported`() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: LectureError(.readFile)) { try Decompressor(directory.file("missing")) }
        #expect(throws: LectureError(.readFile)) { try Decompressor("a\0b") }
        #expect(throws: LectureError(.readFile)) { try Self.read(directory.path) }
    }

    @Test func `Python reads our output and we read Python's`() async throws {
        let directory = try TemporaryDirectory()
        let bytes = CompressorTests.sample(200_000)
        let ours = try directory.write(try Compressor.compress(bytes, .gzip), to: "ours.gz")
        let script = "import gzip,sys;d=gzip.open(sys.argv[1]).read();gzip.open(sys.argv[2],'wb').write(d)"
        let theirs = directory.file("theirs.gz")
        let ending = try await ChildProcess.run(try Places.command("python3"), ["-c", script, ours, theirs])
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try Self.read(theirs) == bytes)
    }
}
