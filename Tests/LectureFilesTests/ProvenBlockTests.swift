import LectureCrypto
import LectureModel
import Testing

@testable import LectureFiles

/// Blocks whose proof was taken while they were filled.
@Suite(.timeLimit(.minutes(1))) struct ProvenBlockTests {
    /// A block that is filled in pieces, as bytes arrive.
    private func block(_ bytes: [UInt8], at offset: Int, for part: TestPart) -> Block {
        let block = Block(offset: UInt64(offset), capacity: bytes.count, spare: SealedFormat.tagBytes)
        block.proof = part.file.proof(ofChunkAt: UInt64(offset))
        for start in stride(from: 0, to: bytes.count, by: 20_000) {
            let piece = Array(bytes[start..<min(start + 20_000, bytes.count)])
            #expect(unsafe piece.withUnsafeBytes { unsafe block.append($0) } == piece.count)
        }
        return block
    }

    private func write(_ bytes: [UInt8], _ plan: PartFilePlan, _ store: TestStore) async throws -> [WrittenChunk] {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfer = part.newTransfer()
        var chunks: [WrittenChunk] = []
        for index in 0..<plan.grid.count(total: UInt64(bytes.count)) {
            let range = plan.grid.range(of: index, total: UInt64(bytes.count))
            let block = block(
                Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), at: Int(range.lowerBound), for: part)
            #expect(block.proof != nil)
            #expect(part.file.submit(block, from: transfer, endsObject: false))
            part.file.flush()
            chunks += try await part.flushed()
        }
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        try await part.finish(total: bytes.count)
        return chunks
    }

    @Test func `A file in clear has the proofs that its bytes have`() async throws {
        let store = try TestStore()
        let bytes = sample((3 << 16) + 12_345)
        let plan = plan(bytes.count)
        let chunks = try await write(bytes, plan, store)
        #expect(chunks.map(\.index) == [0, 1, 2, 3])
        #expect(try store.damage(plan, chunks) == [])
        try store.root.flip(plan.path, at: 1 << 16)
        #expect(try store.damage(plan, chunks) == [1])
    }

    @Test func `A sealed file has the proofs that its text has`() async throws {
        let store = try SealedStore()
        let bytes = SealedStore.media(SealedStore.length(2, 12_345))
        let chunks = try await write(bytes, store.plan(bytes.count), store.store)
        #expect(chunks.map(\.index) == [0, 1, 2])
        #expect(try store.damaged(bytes, chunks) == [] && store.unreadable(bytes, chunks) == [])
    }

    @Test func `A proof that came with a block is not computed again`() async throws {
        let store = try TestStore()
        let bytes = sample(2 << 16)
        let plan = plan(bytes.count, digest: false)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfer = part.newTransfer()
        let first = block(Array(bytes[..<(1 << 16)]), at: 0, for: part)
        // Of one byte more than the block has.
        unsafe [UInt8(7)].withUnsafeBytes { unsafe first.proof?.update($0) }
        #expect(part.file.submit(first, from: transfer, endsObject: false))
        #expect(part.send(Array(bytes[(1 << 16)...]), at: 1 << 16, transfer))
        part.file.flush()
        let chunks = try await part.flushed()
        try await part.finish(total: bytes.count)
        #expect(try store.damage(plan, chunks) == [0])
    }

    @Test func `A chunk that goes on after the block keeps its proof, and a block of two chunks has none of use`()
        async throws
    {
        let store = try TestStore()
        let bytes = sample(4 << 16)
        let plan = plan(bytes.count, chunk: 1 << 17, digest: false)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfer = part.newTransfer()
        // Half of the first chunk, then its rest and half of the second one, then the rest.
        for range in [0..<(1 << 16), (1 << 16)..<(3 << 16), (3 << 16)..<(4 << 16)] {
            let block = block(Array(bytes[range]), at: range.lowerBound, for: part)
            #expect((block.proof != nil) == (range.lowerBound == 0))
            #expect(part.file.submit(block, from: transfer, endsObject: false))
        }
        part.file.flush()
        var chunks = try await part.flushed()
        // Both at once, again.
        let whole = block(bytes, at: 0, for: part)
        #expect(whole.proof != nil)
        #expect(part.file.submit(whole, from: part.newTransfer(), endsObject: false))
        part.file.flush()
        #expect(try store.damage(plan, chunks) == [])
        chunks = try await part.flushed()
        try await part.finish(total: bytes.count)
        #expect(try store.damage(plan, chunks) == [])
    }

    @Test func `A proof begins with a chunk of an open file`() async throws {
        let store = try TestStore()
        let part = store.make()
        #expect(part.file.proof(ofChunkAt: 0) == nil)
        part.file.open(plan(2 << 16))
        try await part.expectOpened()
        #expect(part.file.proof(ofChunkAt: 0) != nil && part.file.proof(ofChunkAt: 1 << 16) != nil)
        #expect(part.file.proof(ofChunkAt: 1) == nil)
        part.file.close(deleting: true)
        try await part.expectClosed()
    }
}
