import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import Testing

@Suite(.timeLimit(.minutes(1))) struct PartFileLifeTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    @Test func `A file goes from its plan to its final name`() async throws {
        let bytes = sample(300_000)
        let plan = plan(bytes.count)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        #expect(store.files.status(path: plan.path).part == 300_000, "the whole length is reserved")
        #expect(part.send(bytes, plan, from: 0..<bytes.count))
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0, 1, 2, 3, 4])
        part.file.digest(total: 300_000)
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        part.file.finalize(total: 300_000)
        try await part.expectFinalized()
        part.file.close(deleting: false)
        try await part.expectClosed()

        #expect(try store.root.read(plan.path) == bytes)
        #expect(try store.root.names("media/a7") == ["lecture"])
        #expect(store.files.status(path: plan.path) == (300_000, nil))
    }

    @Test func `Directories and files belong to their owner alone`() async throws {
        let plan = plan(10)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        func mode(_ below: String) throws -> Int {
            let path = store.root.path + "/" + below
            let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            return try #require(value as? Int)
        }
        #expect(try mode("media") == 0o700)
        #expect(try mode("media/a7") == 0o700)
        #expect(try mode("media/a7/lecture.part") == 0o600)
    }

    @Test func `Ranges may come in any order`() async throws {
        let bytes = sample(1_000_003)
        let whole = try store.digests.sha256(of: bytes)
        for round in 0..<8 {
            let plan = plan(bytes.count, chunk: 1 << 15, name: "order-\(round)")
            let part = store.make()
            part.file.open(plan)
            try await part.expectOpened()
            // Some consecutive chunks as one transfer, the transfers shuffled.
            let starts = stride(from: 0, to: bytes.count, by: 3 << 15).shuffled()
            for start in starts {
                part.send(bytes, plan, from: start..<min(start + 3 << 15, bytes.count), block: 1 << 14)
            }
            part.file.flush()
            #expect(try await part.flushed().map(\.index).sorted() == Array(0..<31))
            part.file.digest(total: UInt64(bytes.count))
            #expect(try await part.digest() == whole, "order \(starts)")
            part.file.close(deleting: true)
            try await part.expectClosed()
        }
    }

    @Test func `Interleaved transfers do not mix their chunks`() async throws {
        let bytes = sample(8 << 16)
        let plan = plan(bytes.count, chunk: 2 << 16)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let transfers = (0..<4).map { _ in part.newTransfer() }
        for half in 0..<2 {
            for chunk in 0..<4 {
                let start = chunk << 17 + half << 16
                part.send(Array(bytes[start..<start + 1 << 16]), at: start, transfers[chunk])
            }
        }
        part.file.flush()
        let chunks = try await part.flushed()
        #expect(chunks.map(\.index) == [0, 1, 2, 3])
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        #expect(try damaged(plan, chunks).isEmpty)
        #expect(try store.root.read(plan.path) == bytes)
    }

    @Test(arguments: [(4096, 16_384), (12_288, 16_384), (16_384, 4096), (16_384, 16_384)])
    func `Blocks and chunks need not have the same length`(chunk: Int, block: Int) async throws {
        let bytes = sample(200_001)
        let plan = plan(bytes.count, chunk: chunk)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.send(bytes, plan, from: 0..<bytes.count, block: block)
        part.file.flush()
        let chunks = try await part.flushed()
        #expect(chunks.map(\.index) == Array(0..<(bytes.count + chunk - 1) / chunk))
        #expect(try damaged(plan, chunks).isEmpty)
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
    }

    @Test(arguments: [100_000, 1 << 17])
    func `A file of unknown length ends where the object ends`(count: Int) async throws {
        let bytes = sample(count)
        let plan = plan(nil)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.send(bytes, plan, from: 0..<count, ends: true)
        part.file.flush()
        let chunks = try await part.flushed()
        #expect(chunks.map(\.index) == [0, 1])
        part.file.digest(total: UInt64(count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        part.file.finalize(total: UInt64(count))
        try await part.expectFinalized()
        #expect(try store.root.read(plan.path) == bytes)
    }

    @Test func `An empty last block ends a file of unknown length`() async throws {
        let bytes = sample(50_000)
        let part = store.make()
        part.file.open(plan(nil))
        try await part.expectOpened()
        let transfer = part.newTransfer()
        part.send(bytes, at: 0, transfer)
        part.send([], at: bytes.count, transfer, ends: true)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0])
    }

    @Test func `A file without bytes can be finalized`() async throws {
        let plan = plan(0)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.file.digest(total: 0)
        #expect(try await part.digest() == store.digests.sha256(of: []))
        part.file.digest(total: 0)
        #expect(try await part.digest() == store.digests.sha256(of: []))
        part.file.finalize(total: 0)
        try await part.expectFinalized()
        #expect(store.files.status(path: plan.path).final == 0)
    }

    @Test func `A digest covers the data on disk, not the data received first`() async throws {
        let old = sample(3 << 16, seed: 1)
        let new = sample(3 << 16, seed: 2)
        let plan = plan(old.count)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.send(old, plan, from: 0..<old.count)
        // The same chunk again, with other bytes, behind the position of the digest.
        part.send(new, plan, from: 1 << 16..<2 << 16)
        part.file.digest(total: UInt64(old.count))
        let middle = 1 << 16..<2 << 16
        var mixed = old
        mixed.replaceSubrange(middle, with: new[middle])
        #expect(try await part.digest() == store.digests.sha256(of: mixed))
    }

    @Test func `A digest requested twice is the same, and also works unplanned`() async throws {
        let bytes = sample(200_000)
        let plan = plan(bytes.count, digest: false)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.send(bytes, plan, from: 0..<bytes.count)
        for _ in 0..<2 {
            part.file.digest(total: 200_000)
            #expect(try await part.digest() == store.digests.sha256(of: bytes))
        }
    }

    @Test func `Blocks that come before the file is opened wait for it, in order`() async throws {
        let bytes = sample(4 << 16)
        let plan = plan(bytes.count)
        let part = store.make()
        let transfer = part.newTransfer()
        for index in 0..<6 {
            let start = index << 15
            part.send(Array(bytes[start..<start + 1 << 15]), at: start, transfer)
        }
        #expect(store.files.budget.waitingBlocks == 6, "they count as waiting for the disk")
        part.file.open(plan)
        part.send(Array(bytes[(6 << 15)...]), at: 6 << 15, transfer)
        part.file.flush()
        try await part.expectOpened()
        #expect(try await part.flushed().map(\.index) == [0, 1, 2, 3])
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
    }

    @Test func `A flush requested before the file is opened is carried out afterwards`() async throws {
        let store = try TestStore()
        let bytes = sample(3 << 16)
        let part = store.make()
        #expect(part.send(bytes, plan(bytes.count), from: 0..<bytes.count))
        part.file.flush()
        part.file.open(plan(bytes.count))
        try await part.expectOpened()
        #expect(try await part.flushed().map(\.index) == [0, 1, 2])
        part.file.close(deleting: false)
        try await part.expectClosed()
    }

    @Test func `Early blocks are released when the file is never opened`() async throws {
        let part = store.make()
        let kept = part.newTransfer()
        let lost = part.newTransfer()
        for index in 0..<3 { part.send([1, 2, 3], at: index << 16, index == 1 ? lost : kept) }
        part.file.abandon(lost)
        #expect(store.files.budget.waitingBlocks == 2)
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(store.files.budget.waitingBlocks == 0)
        #expect(try store.files.listing().isEmpty)
    }

    @Test func `A close during delivery is an end, not a failure`() async throws {
        for round in 0..<20 {
            let plan = plan(64 << 12, chunk: 1 << 12, name: "race-\(round)")
            let part = store.make()
            part.file.open(plan)
            let file = part.file
            Thread.detachNewThread {
                for index in 0..<64 {
                    let block = filled(sample(1 << 12), at: index << 12)
                    if !file.submit(block, from: TransferID(1), endsObject: false) { return }
                }
            }
            try await part.expectOpened()
            part.file.close(deleting: round % 2 == 0)
            // Blocks handed over by then are reported, then the end; never a failure.
            var event = try await part.next()
            if case .flushed = event { event = try await part.next() }
            guard case .closed = event else { throw Unexpected(event, #_sourceLocation) }
        }
    }

    @Test func `An abandoned chunk is verified only when it is complete`() async throws {
        let bytes = sample(2 << 16)
        let plan = plan(bytes.count)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        let lost = part.newTransfer()
        part.send(Array(bytes[..<(1 << 15)]), at: 0, lost)
        part.file.abandon(lost)
        part.send(bytes, plan, from: 1 << 16..<2 << 16)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [1])
        part.send(bytes, plan, from: 0..<1 << 16)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0])
    }

    @Test func `Each chunk is reported once, and a flush without chunks reports nothing`() async throws {
        let bytes = sample(4 << 16)
        let plan = plan(bytes.count)
        let part = store.make()
        part.file.open(plan)
        part.file.flush()
        try await part.expectOpened()
        part.file.flush()
        part.send(bytes, plan, from: 0..<2 << 16)
        part.file.flush()
        part.file.flush()
        part.send(bytes, plan, from: 2 << 16..<4 << 16)
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0, 1])
        #expect(try await part.flushed().map(\.index) == [2, 3])
        part.file.flush()
        part.file.close(deleting: false)
        try await part.expectClosed()
    }

    @Test func `Closing keeps delivered bytes`() async throws {
        let bytes = sample(6 << 16)
        let plan = plan(bytes.count)
        let part = store.make()
        part.file.open(plan)
        part.send(bytes, plan, from: 0..<5 << 16)
        part.file.close(deleting: false)
        try await part.expectOpened()
        #expect(try await part.flushed().map(\.index) == [0, 1, 2, 3, 4])
        try await part.expectClosed()
        #expect(!part.send(bytes, plan, from: 5 << 16..<6 << 16), "a closed file takes nothing")
        part.file.close(deleting: true)
        #expect(store.files.status(path: plan.path).part == UInt64(bytes.count), "a second close changes nothing")
    }

    @Test func `Closing may delete the part file but never a finalized one`() async throws {
        let bytes = sample(100)
        let part = store.make()
        part.file.open(plan(100))
        try await part.expectOpened()
        part.file.close(deleting: true)
        try await part.expectClosed()
        #expect(try store.root.names("media/a7").isEmpty)

        let finalized = store.make()
        finalized.file.open(plan(100))
        try await finalized.expectOpened()
        finalized.send(bytes, plan(100), from: 0..<100)
        finalized.file.finalize(total: 100)
        try await finalized.expectFinalized()
        finalized.file.close(deleting: true)
        try await finalized.expectClosed()
        #expect(try store.root.read("media/a7/lecture") == bytes)
    }

    @Test func `A part file that was never opened can be closed`() async throws {
        let part = store.make()
        part.file.close(deleting: true)
        try await part.expectClosed()
    }

    @Test func `A longer part file is cut to its length`() async throws {
        let bytes = sample(100_000)
        let part = store.make()
        part.file.open(plan(nil))
        try await part.expectOpened()
        part.send(bytes, plan(nil), from: 0..<bytes.count, ends: true)
        part.file.finalize(total: 65_536)
        try await part.expectFinalized()
        #expect(try store.root.read("media/a7/lecture") == Array(bytes[..<65_536]))
    }

    @Test func `Sixty-four concurrent files are right`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<64 {
                group.addTask { [store] in
                    let bytes = sample(150_000 + index * 1_111, seed: UInt64(index + 1))
                    let plan = plan(bytes.count, name: "file-\(index)")
                    let part = store.make()
                    part.file.open(plan)
                    try await part.expectOpened()
                    // In small steps, so that the process's budget is never used up by waiting test threads.
                    for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
                        part.send(bytes, plan, from: start..<min(start + 1 << 16, bytes.count))
                        part.file.flush()
                        #expect(try await part.flushed().map(\.index) == [start >> 16])
                    }
                    part.file.digest(total: UInt64(bytes.count))
                    #expect(try await part.digest() == store.digests.sha256(of: bytes))
                    part.file.finalize(total: UInt64(bytes.count))
                    try await part.expectFinalized()
                    part.file.close(deleting: false)
                    try await part.expectClosed()
                    #expect(try store.root.read(plan.path) == bytes)
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.files.listing().count == 64)
        #expect(store.files.budget.waitingBlocks == 0)
    }

    private func damaged(_ plan: PartFilePlan, _ chunks: [WrittenChunk]) throws -> [Int] {
        try store.files.verify(
            path: plan.path, resource: plan.resource, total: try #require(plan.total), grid: plan.grid, cipher: nil,
            proofs: chunks
        ) { _ in true }
    }
}
