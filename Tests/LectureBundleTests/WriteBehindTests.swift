import LectureBundle
import LectureModel
import Testing

/// The thread that writes a bundle.
struct WriteBehindTests {
    @Test func `pieces are written in their order, and the end waits for all of them`() throws {
        let written = Guarded<[[UInt8]]>([])
        let behind = WriteBehind { bytes throws(LectureError) in written.withLock { $0.append(bytes) } }
        let pieces = (0..<1000).map { [UInt8(truncatingIfNeeded: $0), UInt8($0 / 256)] }
        for piece in pieces { try behind.write(piece) }
        try behind.finish()
        #expect(written.withLock { $0 } == pieces)
    }

    @Test func `after a failure nothing is written, and every call has its error`() throws {
        let written = Guarded<[UInt8]>([])
        let behind = WriteBehind { bytes throws(LectureError) in
            if bytes == [3] { throw LectureError(.storageFull, detail: "bundle.tar") }
            written.withLock { $0 += bytes }
        }
        let failure = try #require(throws: LectureError.self) {
            for number in UInt8(1)...200 { try behind.write([number]) }
            try behind.finish()
        }
        #expect(failure.code == .storageFull)
        for _ in 0..<2 {
            #expect(throws: failure) { try behind.write([9]) }
            #expect(throws: failure) { try behind.finish() }
        }
        #expect(written.withLock { $0 } == [1, 2])
    }
}
