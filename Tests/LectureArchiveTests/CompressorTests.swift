import Foundation
import LectureArchive
import LectureModel
import LectureTestSupport
import Testing

struct CompressorTests {
    /// Bytes that neither repeat nor are pure noise.
    static func sample(_ count: Int) -> [UInt8] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 64)
        while bytes.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.append(contentsOf: "{\"seq\":\(state >> 33)}\n".utf8)
        }
        return Array(bytes.prefix(count))
    }

    /// A compressed file, expanded by another program.
    private static func expanded(_ path: String, _ compression: Compression) async throws -> [UInt8] {
        let program = try Places.command(compression.rawValue)
        let ending = try await ChildProcess.run(program, ["-d", "-c", path])
        #expect(ending.status == 0, "\(ending.errorText)")
        return Array(ending.output)
    }

    @Test(arguments: Compression.allCases, [0, 1, 65_535, 65_536, 1_000_003])
    func `other programs decompress the output`(compression: Compression, count: Int) async throws {
        let directory = try TemporaryDirectory()
        let bytes = Self.sample(count)
        let path = try directory.write(try Compressor.compress(bytes, compression), to: "file")
        #expect(try await Self.expanded(path, compression) == bytes)
    }

    @Test(arguments: Compression.allCases)
    func `16 MiB pass in small pieces, and the sink never gets a large one`(compression: Compression) async throws {
        let directory = try TemporaryDirectory()
        let piece = Self.sample(1 << 20)
        let path = try directory.write("", to: "large")
        let file = try #require(FileHandle(forWritingAtPath: path))
        var largest = 0
        let compressor = try Compressor(compression) { bytes in
            largest = max(largest, bytes.count)
            file.write(Data(bytes))
        }
        for _ in 0..<16 { try compressor.write(piece) }
        try compressor.finish()
        try file.close()
        #expect((1...1 << 16).contains(largest))
        let ours = "\(compression.rawValue) -dc \"$0\" | sha256sum"
        let script = "\(ours); for i in $(seq 16); do cat \"$1\"; done | sha256sum"
        let plain = try directory.write(piece, to: "piece")
        let sums = try await ChildProcess.run("/bin/bash", ["-euc", script, path, plain]).text.split(separator: "\n")
        #expect(sums.count == 2 && sums[0] == sums[1])
        // And back, by our own reader.
        let reader = try Decompressor(path)
        var total = 0
        while let next = try reader.next() {
            if total % (1 << 20) == 0 { #expect(next.starts(with: piece.prefix(min(64, next.count)))) }
            total += next.count
        }
        #expect(total == 16 << 20)
    }

    @Test(arguments: Compression.allCases)
    func `the same bytes give the same result`(compression: Compression) throws {
        let bytes = Self.sample(10_000)
        #expect(try Compressor.compress(bytes, compression) == Compressor.compress(bytes, compression))
    }

    @Test func `the gzip header has no timestamp`() throws {
        // RFC 1952 section 2.3: MTIME is in bytes 4 to 7.
        #expect(try Compressor.compress([1, 2, 3], .gzip)[4..<8].allSatisfy { $0 == 0 })
    }

    @Test(arguments: Compression.allCases)
    func `an error of the sink ends the stream`(compression: Compression) throws {
        var calls = 0
        let compressor = try Compressor(compression) { _ throws(LectureError) in
            calls += 1
            throw LectureError(.storageFull, detail: "disk")
        }
        #expect(throws: LectureError(.storageFull)) {
            for _ in 0..<100 { try compressor.write(Self.sample(100_000)) }
            try compressor.finish()
        }
        #expect(throws: LectureError(.storageFull)) { try compressor.finish() }
        #expect(calls == 1)
    }

    @Test(arguments: Compression.allCases)
    func `an abandoned stream writes nothing more`(compression: Compression) throws {
        var count = 0
        do {
            let compressor = try Compressor(compression) { count += $0.count }
            try compressor.write([1, 2, 3])
        }
        #expect(count == 0)
    }
}
