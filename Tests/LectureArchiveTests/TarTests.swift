import Foundation
import LectureArchive
import LectureModel
import LectureTestSupport
import Testing

private struct Memory: RandomBytes {
    let bytes: [UInt8]
    var count: UInt64 { UInt64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
        let piece = bytes.dropFirst(Int(offset)).prefix(buffer.count)
        unsafe buffer.copyBytes(from: piece)
        return piece.count
    }
}

/// Archives as they are written and listed; hostile ones are in HostileBundleTests.
struct TarTests {
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("a/empty", []), ("a/one", [1]), ("a/block", CompressorTests.sample(512)),
        ("b", CompressorTests.sample(70_001)), (String(repeating: "n", count: 100), [7, 8]),
    ]

    private static func archive() throws -> [UInt8] {
        var archive: [UInt8] = []
        let writer = try TarWriter { archive += $0 }
        for file in files {
            try writer.begin(file.name, count: UInt64(file.bytes.count))
            for start in stride(from: 0, to: file.bytes.count, by: 30_000) {
                try writer.write(Array(file.bytes[start...].prefix(30_000)))
            }
        }
        try writer.finish()
        return archive
    }

    @Test func `other programs list and extract what is written, and nothing of this machine is in it`() async throws {
        let directory = try TemporaryDirectory()
        let archive = try Self.archive()
        #expect(try Self.archive() == archive, "the same files give the same archive")
        let path = try directory.write(archive, to: "x.tar")
        let ending = try await ChildProcess.run("/bin/tar", ["xvf", path, "-C", directory.path])
        #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errorText)")
        #expect(ending.text.split(separator: "\n").map(String.init) == Self.files.map(\.name))
        for file in Self.files {
            #expect(try Data(contentsOf: URL(filePath: directory.file(file.name))) == Data(file.bytes))
        }
        let python = try await ChildProcess.run(
            try Places.command("python3"),
            [
                "-c",
                "import sys, tarfile; print(*[(m.mode, m.mtime, m.uid, m.uname, m.type, m.pax_headers) "
                    + "for m in tarfile.open(sys.argv[1])])", path,
            ])
        #expect(python.text == String(repeating: "(420, 0, 0, '', b'0', {}) ", count: 5).dropLast() + "\n")
    }

    @Test func `files are listed with their places, without reading their bytes`() throws {
        let archive = try Self.archive()
        let entries = try TarIndex.entries(of: Memory(bytes: archive), limit: 5)
        #expect(entries.map(\.name) == Self.files.map(\.name))
        for (entry, file) in zip(entries, Self.files) {
            #expect(Array(archive[Int(entry.offset)...].prefix(Int(entry.count))) == file.bytes)
        }
        #expect(throws: TarRefusal.tooMany(limit: 4)) { try TarIndex.entries(of: Memory(bytes: archive), limit: 4) }
    }

    @Test func `a file has the length that was announced, and a name that any program reads`() throws {
        let writer = try TarWriter { _ in }
        for name in ["", "a b", "é", "a\n", String(repeating: "n", count: 101)] {
            #expect(throws: LectureError(.bug), "\(name)") { try writer.begin(name, count: 1) }
        }
        #expect(throws: LectureError(.bug)) { try writer.begin("a", count: TarWriter.largestFile + 1) }
        try writer.begin("a", count: 3)
        try writer.write([1, 2])
        #expect(throws: LectureError(.bug)) { try writer.write([3, 4]) }
        #expect(throws: LectureError(.bug)) { try writer.begin("b", count: 1) }
        #expect(throws: LectureError(.bug)) { try writer.finish() }
        try writer.write([3])
        try writer.finish()
    }

    @Test func `a sink that fails at any call ends the archive with its error`() throws {
        var calls = 0
        func write(failingAt limit: Int) throws {
            calls = 0
            let writer = try TarWriter { (_: [UInt8]) throws(LectureError) in
                calls += 1
                if calls >= limit { throw LectureError(.storageFull) }
            }
            try writer.begin("a", count: 600)
            try writer.write([UInt8](repeating: 1, count: 600))
            try writer.begin("b", count: 0)
            try writer.finish()
        }
        try write(failingAt: .max)
        let whole = calls
        #expect(whole > 4)
        for limit in 1...whole {
            #expect(throws: LectureError(.storageFull), "\(limit)") { try write(failingAt: limit) }
            #expect(calls == limit, "nothing more is written")
        }
    }

    @Test func `a large archive passes in small pieces`() throws {
        var (largest, count) = (0, 0)
        let writer = try TarWriter { bytes in
            largest = max(largest, bytes.count)
            count += bytes.count
        }
        let piece = CompressorTests.sample(1 << 20)
        try writer.begin("large", count: 64 << 20)
        for _ in 0..<64 { try writer.write(piece) }
        try writer.finish()
        #expect(largest <= 1 << 20 && count == (64 << 20) + 1536)
    }
}
