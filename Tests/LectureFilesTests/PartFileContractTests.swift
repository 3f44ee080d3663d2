import Foundation
import LectureFiles
import LectureModel
import Testing

/// What the writer refuses, so that every byte is covered by its proof.
@Suite(.timeLimit(.minutes(1))) struct PartFileContractTests {
    let store: TestStore
    let bytes = sample(4 << 16)

    init() throws { store = try TestStore() }

    private func opened(_ plan: PartFilePlan) async throws -> TestPart {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        return part
    }

    @Test func `Bytes that begin inside a chunk are refused and not written`() async throws {
        let part = try await opened(plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 100..<200)
        #expect(try await part.failure().code == .bug)
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(try store.root.read("media/a7/lecture.part").allSatisfy { $0 == 0 })
    }

    @Test func `A gap inside a transfer's chunk is refused`() async throws {
        let part = try await opened(plan(bytes.count))
        let transfer = part.newTransfer()
        part.send(Array(bytes[..<100]), at: 0, transfer)
        part.send(Array(bytes[200..<300]), at: 200, transfer)
        #expect(try await part.failure().code == .bug)
    }

    @Test func `Bytes past the end are refused`() async throws {
        let part = try await opened(plan(1000))
        part.send(Array(bytes[..<1001]), at: 0, part.newTransfer())
        #expect(try await part.failure().code == .bug)
    }

    @Test func `An offset beyond every number is refused`() async throws {
        let part = try await opened(plan(nil))
        let block = Block(offset: .max - 10, capacity: 100)
        let text = sample(100)
        _ = unsafe text.withUnsafeBytes { unsafe block.append($0) }
        #expect(part.file.submit(block, from: part.newTransfer(), endsObject: false))
        #expect(try await part.failure().code == .bug)
    }

    @Test func `An object that ends before its known length is refused`() async throws {
        let part = try await opened(plan(bytes.count))
        part.send(Array(bytes[..<100]), at: 0, part.newTransfer(), ends: true)
        #expect(try await part.failure().code == .bug)
    }

    @Test func `A digest or a place of a file that is not open`() async throws {
        let part = store.make()
        part.file.finalize(total: 100)
        part.file.digest(total: 100)
        #expect(try await part.failure().code == .bug)
    }

    @Test func `A file is opened once and chunks have a length`() async throws {
        let part = try await opened(plan(100))
        part.file.open(plan(100))
        #expect(try await part.failure().code == .bug)

        let other = store.make()
        other.file.open(plan(100, chunk: 0, name: "other"))
        #expect(try await other.failure().code == .bug)
    }

    @Test func `After a failure nothing is accepted, one failure is reported, and closing works`() async throws {
        let part = try await opened(plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 100..<200)
        part.send(bytes, plan(bytes.count), from: 300..<400)
        #expect(try await part.failure().code == .bug)
        #expect(!part.send(bytes, plan(bytes.count), from: 0..<1 << 16))
        part.file.digest(total: 1)
        part.file.finalize(total: 1)
        part.file.flush()
        part.file.close(deleting: true)
        try await part.expectClosed()
        #expect(store.files.status(path: "media/a7/lecture") == (nil, nil))
    }

    @Test func `Chunks written before a failure are still reported`() async throws {
        let part = try await opened(plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 0..<1 << 16)
        part.send(bytes, plan(bytes.count), from: 1 << 16 + 1..<1 << 16 + 100)
        #expect(try await part.failure().code == .bug)
        part.file.close(deleting: false)
        #expect(try await part.flushed().map(\.index) == [0])
        try await part.expectClosed()
    }

    @Test(arguments: [
        "", "lecture", "media/lecture", "media/a/b/c", "/media/a/b", "media//b", "media/a/", "media/../b", "media/a/..",
        "media/./b", "../media/a/b", "other/a/b", "media/a/b\0c", "media/a/b\nc", "media/a/.part",
        "media/a/" + String(repeating: "x", count: 251), "media/a/../\u{301}b", "media/a/b/\u{301}c",
        "media/a/b.part.part",
    ])
    func `A path that leads outside is refused everywhere`(path: String) async throws {
        let part = store.make()
        part.file.open(
            PartFilePlan(
                resource: ResourceID(1), path: path, total: 1, chunkBytes: 1, needsDigest: false, resumes: false,
                reserveBytes: 0))
        #expect(try await part.failure().code == .nameRefused)
        #expect(throws: LectureError(.nameRefused)) { try store.files.delete(path: path) }
        #expect(throws: LectureError(.nameRefused)) {
            try store.files.publish(path: path, isSealed: false, to: store.root.path + "/out")
        }
        #expect(store.files.status(path: path) == (nil, nil))
        #expect(try store.root.names() == ["media"])
        #expect(try store.root.names("media").isEmpty)
    }

    @Test func `A symbolic link in place of a bucket or a file is not followed`() async throws {
        let outside = try Scratch()
        try FileManager.default.createSymbolicLink(
            atPath: store.root.path + "/media/a7", withDestinationPath: outside.path)
        let part = store.make()
        part.file.open(plan(100))
        #expect(try await part.failure().code == .createDirectory)

        try outside.write("victim", [1, 2, 3])
        try FileManager.default.createDirectory(
            atPath: store.root.path + "/media/b8", withIntermediateDirectories: true)
        for suffix in ["", ".part"] {
            try FileManager.default.createSymbolicLink(
                atPath: store.root.path + "/media/b8/lecture" + suffix, withDestinationPath: outside.path + "/victim")
        }
        let other = store.make()
        var plan = plan(2, resumes: true)
        plan.path = "media/b8/lecture"
        other.file.open(plan)
        #expect(try await other.failure().code == .damaged)
        #expect(store.files.status(path: "media/b8/lecture") == (nil, nil))
        #expect(try store.files.listing().isEmpty)
        // Without verified chunks the links are in the way and are removed; their targets stay.
        let third = store.make()
        plan.resumes = false
        third.file.open(plan)
        try await third.expectOpened()
        #expect(store.files.status(path: "media/b8/lecture") == (nil, 2))
        #expect(try store.files.listing() == ["media/b8/lecture.part"])
        #expect(try outside.read("victim") == [1, 2, 3])
        #expect(try outside.names() == ["victim"])
    }
}
