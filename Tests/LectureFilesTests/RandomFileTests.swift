import Foundation
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// Files that are read at any place.
@Suite struct RandomFileTests {
    @Test func `a file is read anywhere, and ends where it ends`() throws {
        let directory = try TemporaryDirectory()
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let path = try directory.write(bytes, to: "file")
        let file = try RandomFile(path)
        #expect(file.count == 10_000)
        for (offset, count) in [(0, 0), (0, 1), (0, 10_000), (9_999, 1), (4_095, 2), (10_000, 0)] {
            #expect(try file.bytes(count, at: UInt64(offset)) == Array(bytes[offset...].prefix(count)))
        }
        for (offset, count) in [(0, 10_001), (9_999, 2), (10_001, 0), (Int.max, 1)] {
            #expect(try file.bytes(count, at: UInt64(offset)) == nil, "\(offset) \(count)")
        }
        // It grows no longer for a reader, and what is cut off meanwhile is not made up.
        _ = unsafe truncate(path, 100)
        #expect(try file.bytes(200, at: 50) == nil && file.bytes(50, at: 50)?.count == 50)
    }

    @Test func `only a regular file is read, and a FIFO does not make it wait`() throws {
        let directory = try TemporaryDirectory()
        #expect(unsafe mkfifo(directory.file("fifo"), 0o600) == 0)
        for path in [directory.path, directory.file("fifo"), directory.file("missing"), "/dev/null", "a\0b"] {
            #expect(throws: LectureError(.readFile), "\(path)") { try RandomFile(path) }
        }
    }
}
