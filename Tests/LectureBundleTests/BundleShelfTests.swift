import Foundation
import LectureBundle
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// A medium that fails from a place on, as one that is pulled out does.
private struct PulledBytes: RandomBytes {
    let base: MemoryBytes
    let left: Guarded<Int>
    var count: UInt64 { base.count }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(LectureError) -> Int {
        let isThere = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isThere else { throw LectureError(.readFile, detail: "stick", cause: "Input/output error") }
        return try unsafe base.read(into: buffer, at: offset)
    }
}

/// The lectures of a bundle under their addresses.
@Suite struct BundleShelfTests {
    private static func read(_ file: NearbyFile, from offset: UInt64 = 0) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try unsafe file.read(offset) { piece in
            unsafe bytes.append(contentsOf: piece)
            return true
        }
        return bytes
    }

    @Test func `every file is under its address, and a missing one is known to be missing`() throws {
        let made = try BundleArchiveTests.made.get()
        let bundle = try BundleArchiveTests.bundle(made.bytes)
        let shelf = try BundleShelf(bundle, key: try bundle.key(for: made.device))
        #expect(shelf.requests.map(\.key?.text) == ["lecture-0", "lecture-1", "lecture-2"])
        #expect(shelf.requests[1].url == "http://h.example/i/1" && shelf.requests[0].title == "강의 0")
        #expect(shelf.requests[0].sha256 == (try MemoryBundle.sha256(made.media[0])))
        guard case .file(let media)? = shelf.answer(to: "http://h.example/0/media/5000000") else {
            Issue.record("no media")
            return
        }
        #expect(media.count == 5_000_000 && media.entityTag == "\"e\"" && media.mediaType == "a/b")
        #expect(try Self.read(media, from: 3_000_000) == Array(made.media[0][3_000_000...]))
        guard case .description(let text)? = shelf.answer(to: "http://h.example/i/1") else {
            Issue.record("no description")
            return
        }
        #expect(try Self.read(text) == Array(#"{"version":1}"#.utf8))
        guard case .missing? = shelf.answer(to: "http://h.example/gone") else {
            Issue.record("it is missing")
            return
        }
        #expect(shelf.answer(to: "http://h.example/other") == nil && shelf.failures.isEmpty)
        let one = try BundleShelf(
            bundle, key: try bundle.key(for: made.device), only: [try ContentKey("lecture-2")])
        #expect(one.requests.count == 1 && one.answer(to: "http://h.example/i/1") == nil)
        #expect(throws: LectureError(.unknownContent)) {
            try BundleShelf(bundle, key: try bundle.key(for: made.device), only: [try ContentKey("x")])
        }
    }

    @Test func `a medium that fails at any read is an error, once, and passes no other bytes on`() throws {
        let made = try BundleArchiveTests.made.get()
        var (opened, failed) = (0, 0)
        for reads in 0..<400 {
            let left = Guarded(reads)
            let bytes = PulledBytes(base: MemoryBytes(bytes: made.bytes), left: left)
            do {
                let bundle = try BundleReader(bytes)
                let shelf = try BundleShelf(bundle, key: try bundle.key(for: made.device))
                opened += 1
                guard case .file(let media)? = shelf.answer(to: "http://h.example/0/media/5000000") else { continue }
                var count = 0
                do {
                    try unsafe media.read(0) { piece in
                        #expect(unsafe made.media[0][count...].prefix(piece.count).elementsEqual(piece))
                        count += piece.count
                        return true
                    }
                    #expect(count == 5_000_000 && shelf.failures.isEmpty)
                    break
                } catch {
                    _ = try? Self.read(media)
                    #expect(shelf.failures.map(\.code) == [.readFile])
                    failed += 1
                }
            } catch {
                #expect(error.code == .readFile, "\(reads): \(error.message)")
            }
        }
        #expect(opened > failed && failed > 3)
    }
}
