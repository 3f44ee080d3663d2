import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import Testing

/// Files that get their final name by themselves.
@Suite(.timeLimit(.minutes(1))) struct SmallFileTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// A plan of a file that does not wait to be finalized.
    private func small(_ total: Int, _ finish: PartFilePlan.Finish = .byItself, name: String = "lecture")
        -> PartFilePlan
    {
        var small = plan(total, name: name, digest: finish != .byItself)
        small.finish = finish
        return small
    }

    @Test(arguments: [1, 65_535, 65_536, 65_537, 300_000])
    func `One event makes it whole, under its final name and closed`(
        count: Int
    ) async throws {
        let (bytes, plan) = (sample(count), small(count))
        let part = store.make()
        part.file.open(plan)
        #expect(part.send(bytes, plan, from: 0..<count))
        part.file.flush()
        let (chunks, sha256) = try await part.finished()
        #expect(chunks.map(\.index) == Array(0..<(count + 65_535) / 65_536) && sha256 == nil)
        #expect(try store.root.read(plan.path) == bytes)
        #expect(store.files.status(path: plan.path) == (UInt64(count), nil))
        #expect(try store.damage(plan, chunks) == [])
        // Nothing more is done to it.
        part.file.flush()
        part.file.finalize(total: UInt64(count))
        part.file.close(deleting: true)
        guard case .closed(isClean: true) = try await part.next() else { throw Failure.otherEvent }
        #expect(store.files.status(path: plan.path) == (UInt64(count), nil))
    }

    @Test func `Blocks and the flush may come before the plan`() async throws {
        let (bytes, plan) = (sample(70_000), small(70_000))
        let part = store.make()
        #expect(part.send(bytes, plan, from: 0..<bytes.count))
        part.file.flush()
        part.file.open(plan)
        #expect(try await part.finished().chunks.count == 2)
        #expect(try store.root.read(plan.path) == bytes)
    }

    @Test func `The digest decides`() async throws {
        let bytes = sample(100_000)
        let right = try store.digests.sha256(of: bytes)
        let part = store.make()
        part.file.open(small(bytes.count, .ifDigestIs(right)))
        part.send(bytes, small(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        #expect(try await part.finished().sha256 == right)

        // Another one: its chunks are reported as usual, and the engine decides.
        let wrong = small(bytes.count, .ifDigestIs(try store.digests.sha256(of: [1])), name: "other")
        let other = store.make()
        other.file.open(wrong)
        other.send(bytes, wrong, from: 0..<bytes.count)
        other.file.flush()
        #expect(try await other.flushed().map(\.index) == [0, 1])
        #expect(store.files.status(path: wrong.path) == (nil, 100_000))
        other.file.digest(total: 100_000)
        #expect(try await other.digest() == right)
        other.file.close(deleting: true)
        try await other.expectClosed()
        #expect(try store.root.names("media/a7") == ["lecture"])
    }

    @Test func `What was flushed in parts waits to be finalized`() async throws {
        let (bytes, plan) = (sample(100_000), small(100_000))
        let part = store.make()
        part.file.open(plan)
        part.send(bytes, plan, from: 0..<65_536)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0])
        part.send(bytes, plan, from: 65_536..<100_000)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [1])
        part.file.finalize(total: 100_000)
        try await part.expectFinalized()
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(try store.root.read(plan.path) == bytes)
    }

    @Test func `A file without all its bytes is closed as usual`() async throws {
        let (bytes, plan) = (sample(100_000), small(100_000))
        let part = store.make()
        part.file.open(plan)
        part.send(bytes, plan, from: 0..<99_999)
        part.file.close(deleting: false)
        #expect(try await part.flushed().map(\.index) == [0])
        try await part.expectClosed()
        #expect(store.files.status(path: plan.path) == (nil, 100_000))
    }

    @Test func `What a crash left under the final name is emptied by the next new file`() async throws {
        let (bytes, plan) = (sample(70_000), small(70_000))
        for round in 0..<2 {
            let part = store.make()
            part.file.open(plan)
            part.send(bytes, plan, from: 0..<bytes.count)
            part.file.flush()
            #expect(try await part.finished().chunks.count == 2, "round \(round)")
            // No row says so. The second round begins like this one.
        }
        #expect(try store.root.names("media/a7") == ["lecture"])
        #expect(try store.root.read(plan.path) == bytes)
    }

    @Test func `A foreign file under the final name fails it, and nothing is reported`() async throws {
        let (bytes, plan) = (sample(70_000), small(70_000))
        let part = store.make()
        part.file.open(plan)
        part.send(bytes, plan, from: 0..<65_536)
        // Behind the first block, so that the file was opened.
        part.file.digest(total: 65_536)
        _ = try await part.digest()
        try store.root.write(plan.path, [1, 2, 3])
        part.send(bytes, plan, from: 65_536..<70_000)
        part.file.flush()
        #expect(try await part.failure().code == .writeFile)
        part.file.close(deleting: false)
        guard case .closed(isClean: false) = try await part.next() else { throw Failure.otherEvent }
        #expect(try store.root.read(plan.path) == [1, 2, 3])
    }

    @Test func `A sealed file finishes as well`() async throws {
        let sealed = try SealedStore()
        let bytes = SealedStore.media(SealedStore.length(3, 7))
        var plan = sealed.plan(bytes.count)
        plan.finish = .ifDigestIs(try sealed.store.digests.sha256(of: bytes))
        let part = sealed.store.make()
        part.file.open(plan)
        part.send(bytes, plan, from: 0..<bytes.count)
        part.file.flush()
        let chunks = try await part.finished().chunks
        #expect(
            sealed.store.files.status(path: plan.path) == (try SealedFormat.fileLength(total: UInt64(bytes.count)), nil)
        )
        #expect(try sealed.damaged(bytes, chunks) == [])
        #expect(try sealed.unreadable(bytes, chunks) == [])
        sealed.expectInvariants()
    }

    private enum Failure: Error {
        case otherEvent
    }
}

extension TestPart {
    /// The event of a file that has finished by itself.
    func finished(
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> (chunks: [WrittenChunk], sha256: [UInt8]?) {
        let event = try await next()
        guard case .finished(let chunks, let sha256) = event else { throw Unexpected(event, location) }
        return (chunks, sha256)
    }
}

extension TestStore {
    /// The chunks of a finished file that differ from their proofs.
    func damage(_ plan: PartFilePlan, _ chunks: [WrittenChunk]) throws -> [Int] {
        try files.verify(
            path: plan.path, resource: plan.resource, total: try #require(plan.total), grid: plan.grid,
            cipher: plan.seal?.cipher, proofs: chunks, pace: { _ in true })
    }
}
