import Foundation
import LectureFiles
import LectureModel
import Testing

@Suite(.timeLimit(.minutes(1))) struct VerifyTests {
    let store: TestStore
    let bytes = sample(10 << 16 + 100)
    let path = "media/a7/lecture"

    init() throws { store = try TestStore() }

    private func damaged(
        _ proofs: [WrittenChunk], resource: Int64 = 5, pace: (Int) -> Bool = { _ in true }
    ) throws -> [Int] {
        try store.files.verify(
            path: path, resource: ResourceID(resource), total: UInt64(bytes.count), grid: ChunkGrid(length: 1 << 16),
            cipher: nil,
            proofs: proofs, pace: pace)
    }

    @Test func `A complete file has no damage, also when it is verified piece by piece`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        #expect(proofs.count == 11)
        #expect(try damaged(proofs).isEmpty)
        for proof in proofs { #expect(try damaged([proof]).isEmpty) }
        #expect(try damaged([]).isEmpty)
    }

    @Test func `One flipped bit is found in its chunk, at the chunk's edges too`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        for place in [0, 1 << 16 - 1, 1 << 16, 5 << 16 + 777, 10 << 16 - 1, 10 << 16, bytes.count - 1] {
            try store.root.flip(path, at: UInt64(place))
            #expect(try damaged(proofs) == [place >> 16], "byte \(place)")
            try store.root.flip(path, at: UInt64(place))
        }
        #expect(try damaged(proofs).isEmpty)
    }

    @Test func `Several damaged chunks come in order`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        for place in [9 << 16, 3 << 16 + 1, 6 << 16] { try store.root.flip(path, at: UInt64(place)) }
        #expect(try damaged(proofs.shuffled()) == [3, 6, 9])
    }

    @Test func `A file that ends early is damaged from there on`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        try store.root.truncate(path, to: 8 << 16 + 1)
        #expect(try damaged(proofs) == [8, 9, 10])
    }

    @Test func `The proofs of another resource or chunk do not fit`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        #expect(try damaged(proofs, resource: 6) == Array(0...10))
        let swapped = [WrittenChunk(index: 0, proof: proofs[1].proof), WrittenChunk(index: 1, proof: proofs[0].proof)]
        #expect(try damaged(swapped) == [0, 1])
    }

    @Test func `An invalid proof is damage, and so is an invalid chunk`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        #expect(try damaged([WrittenChunk(index: 2, proof: [])]) == [2])
        #expect(try damaged([WrittenChunk(index: 2, proof: Array(proofs[2].proof.dropLast()))]) == [2])
        for index in [-1, 11, Int.max] {
            #expect(try damaged([WrittenChunk(index: index, proof: proofs[0].proof)]) == [index])
        }
    }

    @Test func `The pace is called with the number of bytes read, and may stop`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        var read = 0
        #expect(
            try damaged(proofs) { count in
                read += count
                return true
            }.isEmpty)
        #expect(read == bytes.count)

        try store.root.flip(path, at: 0)
        try store.root.flip(path, at: 9 << 16)
        var chunks = 0
        let found = try damaged(proofs) { _ in
            chunks += 1
            return chunks < 4
        }
        #expect(found == [0], "damage found before the stop is reported")
        #expect(chunks == 4)
    }

    @Test func `A part file can be verified too`() async throws {
        let plan = plan(bytes.count)
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        part.send(bytes, plan, from: 2 << 16..<4 << 16)
        part.file.flush()
        let proofs = try await part.flushed()
        #expect(try damaged(proofs).isEmpty)
        try store.root.flip(path + ".part", at: 3 << 16)
        #expect(try damaged(proofs) == [3])
    }

    @Test func `Without a file there is nothing to verify`() async throws {
        #expect(throws: LectureError(.readFile)) { try damaged([]) }
        try await store.writeWhole(bytes, plan(bytes.count))
        try store.files.delete(path: path)
        #expect(throws: LectureError(.readFile)) { try damaged([]) }
    }

    @Test func `A chunk is read only if it has its proof`() async throws {
        let proofs = try await store.writeWhole(bytes, plan(bytes.count))
        func read(_ chunk: WrittenChunk) throws -> [UInt8]? {
            try store.files.read(
                path: path, resource: ResourceID(5), total: UInt64(bytes.count), grid: ChunkGrid(length: 1 << 16),
                cipher: nil, proof: chunk)
        }
        #expect(try read(proofs[3]) == Array(bytes[3 << 16..<4 << 16]))
        #expect(try read(proofs[10]) == Array(bytes[(10 << 16)...]))
        try store.root.flip(path, at: 3 << 16 + 9)
        #expect(try read(proofs[3]) == nil)
        #expect(try read(WrittenChunk(index: 11, proof: proofs[3].proof)) == nil)
        try store.files.delete(path: path)
        #expect(throws: LectureError(.readFile)) { try read(proofs[0]) }
    }

    @Test func `Large chunks are read in steps`() async throws {
        let large = sample(5 << 20 + 3)
        let plan = plan(large.count, chunk: 3 << 20, name: "large")
        let proofs = try await store.writeWhole(large, plan)
        var steps: [Int] = []
        let damaged = try store.files.verify(
            path: plan.path, resource: plan.resource, total: UInt64(large.count), grid: ChunkGrid(length: 3 << 20),
            cipher: nil, proofs: proofs
        ) { count in
            steps.append(count)
            return true
        }
        #expect(damaged.isEmpty)
        #expect(steps == [Int](repeating: 1 << 20, count: 5) + [3])
    }
}

@Suite(.timeLimit(.minutes(1))) struct ListingTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    @Test func `An empty store lists nothing and checks nothing`() throws {
        #expect(try store.files.listing().isEmpty)
        #expect(store.files.status(path: "media/a7/lecture") == (nil, nil))
        try store.files.delete(path: "media/a7/lecture")
        #expect(try store.root.names("media").isEmpty, "checking creates no bucket")
    }

    @Test func `Everything of ours is listed, and nothing else`() async throws {
        try await store.writeWhole([1], plan(1, name: "b"))
        try await store.writeWhole([1], plan(1, name: "a"))
        let part = store.make()
        part.file.open(plan(1, name: "c"))
        try await part.expectOpened()
        try store.root.write("media/stray", [1])
        try store.root.write("elsewhere", [1])
        try FileManager.default.createDirectory(
            atPath: store.root.path + "/media/a7/below", withIntermediateDirectories: true)
        #expect(try store.files.listing() == ["media/a7/a", "media/a7/b", "media/a7/c.part"])
    }

    @Test func `Deleting takes both names, and every listed path can be deleted`() async throws {
        try await store.writeWhole([1], plan(1))
        try store.root.write("media/a7/lecture.part", [2])
        try store.files.delete(path: "media/a7/lecture.part")
        #expect(try store.files.listing() == ["media/a7/lecture"])
        try store.root.write("media/a7/lecture.part", [2])
        try store.files.delete(path: "media/a7/lecture")
        #expect(try store.files.listing().isEmpty)
        try store.files.delete(path: "media/a7/lecture")
    }

    @Test func `Free bytes are those of the store's file system`() throws {
        let free = try store.files.freeBytes()
        #expect(free > 0)
        let attributes = try FileManager.default.attributesOfFileSystem(forPath: store.root.path)
        let size = try #require(attributes[.systemSize] as? NSNumber)
        #expect(free <= size.uint64Value)
    }

    @Test func `A store below missing directories is created`() throws {
        let root = store.root.path + "/one/two/three"
        let files = try StoreDirectory(root: root, digests: store.digests)
        #expect(try files.listing().isEmpty)
        #expect(try store.root.names("one/two/three") == ["media"])
    }

    @Test(arguments: ["", "a\0b"])
    func `A store needs a usable path`(path: String) {
        #expect(throws: LectureError(.parameter)) { try StoreDirectory(root: path, digests: store.digests) }
    }

    @Test func `A store below a file cannot be created`() throws {
        try store.root.write("file", [1])
        #expect(throws: LectureError(.createDirectory)) {
            try StoreDirectory(root: store.root.path + "/file/store", digests: store.digests)
        }
        #expect(throws: LectureError(.createDirectory)) {
            try StoreDirectory(root: store.root.path + "/file", digests: store.digests)
        }
    }
}
