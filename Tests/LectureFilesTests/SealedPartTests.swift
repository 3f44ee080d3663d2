import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// The life of sealed part files: how they become complete, and when their header is renewed.
@Suite(.timeLimit(.minutes(3))) struct SealedPartTests {
    let lecture: SealedStore
    private var store: TestStore { lecture.store }

    init() throws { lecture = try SealedStore() }

    /// Finishes a file.
    private func finish(_ part: TestPart, _ bytes: [UInt8]) async throws {
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        part.file.close(deleting: false)
        #expect(try await part.closed(), "what is placed is clean")
        #expect(try store.root.names("media/a7") == ["lecture"])
    }

    /// Blocks of less than a segment, and of one, with space for its tag and without; and of two.
    @Test(
        arguments: [1, 2],
        [
            (1 << 16, 16), (300_001, 16), (SealedStore.other, 16), (SealedStore.other, 15), (2 * SealedStore.other, 16),
        ])
    func `Ranges in any order from several connections become a sealed file`(
        segments: Int, block: (length: Int, spare: Int)
    ) async throws {
        let bytes = SealedStore.media(SealedStore.length(7, 12_345))
        let plan = lecture.plan(bytes.count, segments: segments)
        let root = store.root.path
        let leaked = Guarded<[String]>([])
        lecture.ledger.onSeal { leaked.withLock { $0 += SealedStore.leaks(below: root) } }
        let part = try await lecture.began(plan)
        #expect(store.files.status(path: plan.path).part == (try SealedFormat.fileLength(total: UInt64(bytes.count))))
        // Streams that alternate, the last chunk first.
        var streams = (0..<plan.grid.count(total: UInt64(bytes.count))).reversed().map { chunk in
            (id: part.newTransfer(), rest: lecture.range(chunk, plan, bytes))
        }
        while !streams.isEmpty {
            for index in streams.indices.prefix(3) {
                let (id, rest) = streams[index]
                let stop = min(rest.upperBound, rest.lowerBound + block.length)
                part.send(Array(bytes[rest.lowerBound..<stop]), at: rest.lowerBound, id, spare: block.spare)
                streams[index].rest = stop..<rest.upperBound
            }
            streams.removeAll { $0.rest.isEmpty }
        }
        part.file.flush()
        let proofs = try await flushed(part, plan.grid.count(total: UInt64(bytes.count)))
        try await finish(part, bytes)
        #expect(try lecture.damaged(bytes, proofs, segments: segments).isEmpty)
        #expect(leaked.withLock { $0 } == [])
        #expect(lecture.ledger.count == 8, "each segment once")
        if block.length == SealedStore.other, segments == 1 {
            // A block without enough space is copied to where there is, and sealed there.
            #expect(lecture.ledger.inPlace == 8)
        }
        lecture.expectInvariants()
    }

    /// All chunks, over as many groups as needed.
    private func flushed(_ part: TestPart, _ count: Int) async throws -> [WrittenChunk] {
        var chunks: [WrittenChunk] = []
        while chunks.count < count { chunks += try await part.flushed() }
        return chunks.sorted { $0.index < $1.index }
    }

    @Test(arguments: [(0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (2, -1), (2, 0), (2, 1), (3, 77)], [true, false])
    func `A file of unknown length ends with its last byte`(count: (Int, Int), isReported: Bool) async throws {
        let bytes = SealedStore.media(SealedStore.length(count.0, count.1))
        let plan = lecture.plan(nil)
        let part = try await lecture.began(plan)
        let transfer = part.newTransfer()
        for start in stride(from: 0, to: bytes.count, by: 1 << 18) {
            let end = min(start + 1 << 18, bytes.count)
            part.send(Array(bytes[start..<end]), at: start, transfer, ends: isReported && end == bytes.count)
        }
        if !isReported || bytes.isEmpty { part.send([], at: bytes.count, transfer, ends: true) }
        part.file.flush()
        let proofs = try await flushed(part, plan.grid.count(total: UInt64(bytes.count)))
        try await finish(part, bytes)
        #expect(store.files.status(path: plan.path).final == (try SealedFormat.fileLength(total: UInt64(bytes.count))))
        #expect(try lecture.damaged(bytes, proofs).isEmpty)
        #expect(try lecture.unreadable(bytes, proofs).isEmpty)
        lecture.expectInvariants()
    }

    @Test func `Of unknown length a full segment waits until it is known whether it is the last`() async throws {
        let bytes = SealedStore.media(SealedStore.length(2))
        let part = try await lecture.began(lecture.plan(nil))
        let transfer = part.newTransfer()
        part.send(Array(bytes[..<SealedStore.first]), at: 0, transfer)
        #expect(lecture.ledger.count == 0)
        part.send([bytes[SealedStore.first]], at: SealedStore.first, transfer)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0])
        // The transfer is cut where a segment ends; the next one sends it again and continues.
        part.send(Array(bytes[(SealedStore.first + 1)...]), at: SealedStore.first + 1, transfer)
        let next = part.newTransfer()
        part.send(Array(bytes[SealedStore.first...]), at: SealedStore.first, next)
        part.send([], at: bytes.count, next, ends: true)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [1])
        try await finish(part, bytes)
        #expect(lecture.ledger.count == 2)
        lecture.expectInvariants()
    }

    @Test func `A transfer abandoned late takes nothing from its successor`() async throws {
        let bytes = SealedStore.media(SealedStore.length(2))
        let part = try await lecture.began(lecture.plan(nil))
        let (cut, next) = (part.newTransfer(), part.newTransfer())
        // Both have sent the whole first segment, and both are held back.
        part.send(Array(bytes[..<SealedStore.first]), at: 0, cut)
        part.send(Array(bytes[..<SealedStore.first]), at: 0, next)
        part.file.abandon(cut)
        part.send(Array(bytes[SealedStore.first...]), at: SealedStore.first, next, ends: true)
        part.file.flush()
        #expect(try await flushed(part, 2).map(\.index) == [0, 1])
        try await finish(part, bytes)
        #expect(lecture.ledger.count == 2)
        lecture.expectInvariants()
    }

    // MARK: Closing and opening again

    private func half(_ bytes: [UInt8], _ chunks: [Int]) async throws -> (TestPart, [WrittenChunk]) {
        let plan = lecture.plan(bytes.count)
        let part = try await lecture.began(plan)
        for chunk in chunks { part.send(bytes, plan, from: lecture.range(chunk, plan, bytes)) }
        // And a part of one that stays incomplete.
        let next = lecture.range(4, plan, bytes)
        part.send(Array(bytes[next.lowerBound..<(next.lowerBound + 99)]), at: next.lowerBound, part.newTransfer())
        part.file.flush()
        return (part, try await flushed(part, chunks.count))
    }

    @Test func `A file that was left clean is continued under its header`() async throws {
        let bytes = SealedStore.media(SealedStore.length(5, 9))
        let (part, proofs) = try await half(bytes, [0, 2])
        part.file.close(deleting: false)
        #expect(try await part.closed())
        let header = try lecture.header()
        let plan = lecture.plan(bytes.count, resumes: true, isClean: true, committed: [0, 2])
        let again = try await lecture.began(plan)
        for chunk in [5, 1, 4, 3] { again.send(bytes, plan, from: lecture.range(chunk, plan, bytes)) }
        again.file.flush()
        let rest = try await flushed(again, 4)
        try await finish(again, bytes)
        #expect(try lecture.header("") == header)
        #expect(lecture.ledger.count == 6)
        #expect(try lecture.damaged(bytes, proofs + rest).isEmpty)
        lecture.expectInvariants()
    }

    @Test func `After a crash the verified segments are sealed again under another header`() async throws {
        let bytes = SealedStore.media(SealedStore.length(5, 9))
        let other = SealedStore.media(bytes.count, seed: 2)
        let (dead, proofs) = try await half(bytes, [0, 2])
        // Sealed and not committed: the server's next answer may differ.
        dead.send(other, lecture.plan(bytes.count), from: lecture.range(3, lecture.plan(bytes.count), bytes))
        dead.file.flush()
        _ = try await flushed(dead, 1)
        let header = try lecture.header()
        let plan = lecture.plan(bytes.count, resumes: true, isClean: false, committed: [0, 2])
        let again = try await lecture.began(plan)
        #expect(try lecture.header() != header)
        #expect(try lecture.damaged(bytes, proofs, path: SealedStore.path + ".part").isEmpty)
        for chunk in [5, 1, 4, 3] { again.send(bytes, plan, from: lecture.range(chunk, plan, bytes)) }
        again.file.flush()
        let rest = try await flushed(again, 4)
        try await finish(again, bytes)
        #expect(try lecture.damaged(bytes, proofs + rest).isEmpty)
        lecture.expectInvariants()
    }

    @Test func `A file newer than its record is not continued under its header`() async throws {
        let bytes = SealedStore.media(SealedStore.length(5, 9))
        let (part, proofs) = try await half(bytes, [0, 1, 2])
        part.file.close(deleting: false)
        #expect(try await part.closed())
        let header = try lecture.header()
        // The state in a database that was restored from a copy.
        let again = try await lecture.began(
            lecture.plan(bytes.count, resumes: true, isClean: true, committed: [0, 1]))
        #expect(try lecture.header() != header)
        #expect(try lecture.damaged(bytes, Array(proofs.prefix(2)), path: SealedStore.path + ".part").isEmpty)
        again.file.close(deleting: true)
        _ = try await again.closed()
    }

    // MARK: The same segment again

    @Test func `The same bytes again seal nothing, other bytes get another header`() async throws {
        let bytes = SealedStore.media(SealedStore.length(4))
        let other = SealedStore.media(bytes.count, seed: 3)
        let plan = lecture.plan(bytes.count)
        let part = try await lecture.began(plan)
        part.send(bytes, plan, from: 0..<bytes.count)
        let header = try lecture.header()
        part.send(bytes, plan, from: lecture.range(1, plan, bytes))
        part.send(bytes, plan, from: lecture.range(3, plan, bytes))
        part.file.flush()
        _ = try await flushed(part, 6)
        #expect(lecture.ledger.count == 4)
        #expect(try lecture.header() == header)
        // A server that lied the first time.
        let place = lecture.range(1, plan, bytes)
        part.send(other, plan, from: place)
        part.file.flush()
        _ = try await flushed(part, 1)
        #expect(try lecture.header() != header)
        let mixed = Array(bytes[..<place.lowerBound]) + other[place] + bytes[place.upperBound...]
        try await finish(part, mixed)
        lecture.expectInvariants()
    }

    @Test func `A chunk that is left half sealed makes the file unclean until it is whole`() async throws {
        let bytes = SealedStore.media(SealedStore.length(4))
        let plan = lecture.plan(bytes.count, segments: 2)
        for comesAgain in [false, true] {
            let part = try await lecture.began(plan)
            let lost = part.newTransfer()
            part.send(Array(bytes[..<(SealedStore.first + 5)]), at: 0, lost)
            part.file.abandon(lost)
            if comesAgain {
                part.send(bytes, plan, from: lecture.range(0, plan, bytes))
                part.file.flush()
                _ = try await flushed(part, 1)
            }
            part.file.close(deleting: false)
            #expect(try await part.closed() == comesAgain)
        }
        lecture.expectInvariants()
    }

    @Test func `Data that overwrites damaged bytes gets another header, and the rest stays`() async throws {
        let bytes = SealedStore.media(SealedStore.length(4))
        let proofs = try await lecture.writeWhole(bytes)
        try store.root.flip(SealedStore.path, at: 2 << 20 + 77)
        #expect(try lecture.damaged(bytes, proofs) == [2])
        let header = try lecture.header("")
        let plan = lecture.plan(bytes.count, resumes: true, committed: [0, 1, 3])
        let part = try await lecture.began(plan)
        part.send(bytes, plan, from: lecture.range(2, plan, bytes))
        part.file.flush()
        let fresh = try await flushed(part, 1)
        try await finish(part, bytes)
        #expect(try lecture.header("") != header)
        #expect(try lecture.damaged(bytes, [proofs[0], proofs[1], fresh[0], proofs[3]]).isEmpty)
        lecture.expectInvariants()
    }

    @Test func `A segment that does not open is left out of the new file, and found by its proof`() async throws {
        let bytes = SealedStore.media(SealedStore.length(4))
        let proofs = try await lecture.writeWhole(bytes)
        try store.root.flip(SealedStore.path, at: 1 << 20 + 5)
        let plan = lecture.plan(bytes.count, resumes: true, committed: [0, 1, 2, 3])
        let part = try await lecture.began(plan)
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() != store.digests.sha256(of: bytes))
        #expect(try lecture.damaged(bytes, proofs, path: SealedStore.path + ".part") == [1])
        part.send(bytes, plan, from: lecture.range(1, plan, bytes))
        part.file.flush()
        _ = try await flushed(part, 1)
        try await finish(part, bytes)
        #expect(lecture.ledger.count == 4 + 3 + 1, "it was not sealed under the new header, so no third one is due")
        lecture.expectInvariants()
    }

    @Test func `Without a header nothing can be relied on`() async throws {
        let bytes = SealedStore.media(SealedStore.length(2))
        let proofs = try await lecture.writeWhole(bytes)
        try store.root.flip(SealedStore.path, at: 0)
        #expect(try lecture.damaged(bytes, proofs) == [0, 1])
        #expect(try lecture.unreadable(bytes, proofs) == [0, 1])
        let part = store.make()
        part.file.open(lecture.plan(bytes.count, resumes: true, committed: [0, 1]))
        #expect(try await part.failure().code == .damaged)
        part.file.close(deleting: false)
        #expect(try await !part.closed())
    }

    @Test func `Leftovers of a crash beside a part file are removed with it`() async throws {
        let bytes = SealedStore.media(SealedStore.length(3))
        let (part, _) = try await half(SealedStore.media(SealedStore.length(5)), [0])
        part.file.close(deleting: false)
        _ = try await part.closed()
        try store.root.write(SealedStore.path + ".new", [1, 2, 3])
        #expect(try store.files.listing() == [SealedStore.path + ".part"], "it counts as the part file")
        try store.files.delete(path: SealedStore.path + ".part")
        #expect(try store.root.names("media/a7").isEmpty)
        try store.root.write(SealedStore.path + ".new", [1, 2, 3])
        try await lecture.writeWhole(bytes)
        #expect(try store.root.names("media/a7") == ["lecture"])
    }

    // MARK: Space

    @Test(.enabled(if: SmallDisk.isPossible))
    func `A new header needs space for both files, and keeps the old one without it`() async throws {
        let disk = try SmallDisk("size=6m")
        let lecture = try SealedStore(in: disk.path)
        let bytes = SealedStore.media(SealedStore.length(4))
        let proofs = try await lecture.writeWhole(bytes)
        let part = lecture.store.make()
        part.file.open(lecture.plan(bytes.count, resumes: true, committed: [0, 1, 2, 3]))
        #expect(try await part.failure().code == .storageFull)
        part.file.close(deleting: false)
        #expect(try await !part.closed())
        #expect(try lecture.store.root.names("media/a7") == ["lecture.part"])
        #expect(try lecture.damaged(bytes, proofs, path: SealedStore.path + ".part").isEmpty)
        lecture.expectInvariants()
    }

    @Test(.enabled(if: SmallDisk.isPossible))
    func `A full disk is detected before the first byte`() async throws {
        let disk = try SmallDisk("size=2m")
        let lecture = try SealedStore(in: disk.path)
        let part = lecture.store.make()
        part.file.open(lecture.plan(SealedStore.length(2, 1)))
        #expect(try await part.failure().code == .storageFull, "its header and tags count")
        part.file.close(deleting: false)
        _ = try await part.closed()
        #expect(try lecture.store.files.listing().isEmpty)
    }
}

/// Files that an independent program reads and writes.
@Suite(.enabled(if: SealedPython.isPossible, "python3-cryptography is not installed"), .timeLimit(.minutes(1)))
struct SealedForeignTests {
    let lecture: SealedStore
    private let key = SealedStore.contentKey.map { String(format: "%02x", $0) }.joined()
    private let associated = "lecturekit/sealed/1:lecture"

    init() throws { lecture = try SealedStore() }

    @Test(arguments: [(0, 0), (1, 0), (2, 100_000)])
    func `Python opens downloaded files`(count: (Int, Int)) async throws {
        let bytes = SealedStore.media(SealedStore.length(count.0, count.1))
        let plan = lecture.plan(bytes.count)
        if bytes.isEmpty {
            let part = try await lecture.began(plan)
            part.file.finalize(total: 0)
            try await part.expectFinalized()
            part.file.close(deleting: false)
            try await part.expectClosed()
        } else {
            try await lecture.writeWhole(bytes)
        }
        let target = try Scratch()
        let source = "\(lecture.store.root.path)/\(SealedStore.path)"
        #expect(try await SealedPython.run(.open, source, target.path + "/out", key: key, associated: associated) == 0)
        #expect(try target.read("out") == bytes)
    }

    @Test func `Files sealed by Python are read here`() async throws {
        let bytes = SealedStore.media(SealedStore.length(2, 100_000))
        let proofs = try await lecture.writeWhole(bytes)
        let source = try Scratch()
        try source.write("in", bytes)
        let target = "\(lecture.store.root.path)/\(SealedStore.path)"
        #expect(
            try await SealedPython.run(.seal, source.path + "/in", target, key: key, associated: associated) == 0)
        #expect(try lecture.damaged(bytes, proofs).isEmpty, "the proofs are those of the plaintext")
        #expect(try lecture.unreadable(bytes, proofs).isEmpty)
    }
}
