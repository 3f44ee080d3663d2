import Foundation
import LectureCrypto
import LectureFiles
import LectureModel
import LectureTestSupport
import Testing

/// The positions at which a process may die, each made by abandoning the object where it is and starting again with
/// another one, as the next process does.
@Suite(.timeLimit(.minutes(1))) struct CrashTests {
    let store: TestStore
    let bytes = sample(5 << 16)
    let path = "media/a7/lecture"

    init() throws { store = try TestStore() }

    private func began(_ plan: PartFilePlan) async throws -> TestPart {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        return part
    }

    /// Fetches the missing chunks and places the file.
    private func resume(_ chunks: [Int], after committed: [WrittenChunk] = []) async throws {
        let plan = plan(bytes.count, resumes: true)
        let part = try await began(plan)
        for index in chunks { part.send(bytes, plan, from: index << 16..<(index + 1) << 16) }
        part.file.flush()
        let fresh = chunks.isEmpty ? [] : try await part.flushed()
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(try store.root.read(path) == bytes)
        #expect(try store.root.names("media/a7") == ["lecture"])
        let damaged = try store.files.verify(
            path: path, resource: plan.resource, total: UInt64(bytes.count), grid: plan.grid, cipher: nil,
            proofs: committed + fresh
        ) { _ in true }
        #expect(damaged.isEmpty)
    }

    @Test func `After the creation the next process starts with an empty file`() async throws {
        let first = try await began(plan(bytes.count))
        first.send(sample(1 << 16, seed: 9), plan(bytes.count), from: 0..<1 << 16)
        first.file.flush()
        _ = try await first.flushed()

        let second = try await began(plan(bytes.count))
        #expect(try store.root.read(path + ".part").allSatisfy { $0 == 0 })
        #expect(store.files.status(path: path).part == UInt64(bytes.count))
        second.file.close(deleting: true)
        try await second.expectClosed()
    }

    @Test func `After a flush only the remainder is fetched`() async throws {
        let first = try await began(plan(bytes.count))
        first.send(bytes, plan(bytes.count), from: 1 << 16..<3 << 16)
        first.file.flush()
        let committed = try await first.flushed()
        // Half of a chunk is on the disk too, uncommitted, and wrong. A process that died writes nothing later.
        let wrong = sample(1 << 15, seed: 3)
        first.send(wrong, at: 3 << 16, first.newTransfer())
        try await waitUntil { try Array(store.root.read(path + ".part")[3 << 16..<7 << 15]) == wrong }

        try await resume([0, 3, 4], after: committed)
    }

    @Test func `After the digest and before the rename nothing is fetched`() async throws {
        let first = try await began(plan(bytes.count))
        first.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        first.file.flush()
        let committed = try await first.flushed()
        first.file.digest(total: UInt64(bytes.count))
        _ = try await first.digest()

        try await resume([], after: committed)
    }

    @Test func `After the rename and before the commit the file is moved back and finalized again`() async throws {
        let committed = try await store.writeWhole(bytes, plan(bytes.count))
        #expect(store.files.status(path: path) == (UInt64(bytes.count), nil))
        let part = try await began(plan(bytes.count, resumes: true))
        #expect(store.files.status(path: path) == (nil, UInt64(bytes.count)), "nothing uncommitted has the final name")
        part.file.close(deleting: false)
        try await part.expectClosed()

        try await resume([], after: committed)
    }

    @Test func `Between link and unlink both names are one file, and one of them is removed`() async throws {
        // Where renameat2 lacks NOREPLACE the rename is a link and an unlink.
        let committed = try await store.writeWhole(bytes, plan(bytes.count))
        let final = store.root.path + "/" + path
        try FileManager.default.linkItem(atPath: final, toPath: final + ".part")

        try await resume([], after: committed)
    }

    @Test func `A damaged chunk of a finalized file is repaired under the part file's name`() async throws {
        let committed = try await store.writeWhole(bytes, plan(bytes.count))
        try store.root.flip(path, at: 2 << 16 + 7)

        try await resume([2], after: committed.filter { $0.index != 2 })
    }

    @Test func `A second file under the final name is never overwritten`() async throws {
        let part = try await began(plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        _ = try await part.flushed()
        try store.root.write(path, [1, 2, 3])
        part.file.finalize(total: UInt64(bytes.count))
        #expect(try await part.failure().code == .writeFile)
        #expect(try store.root.read(path) == [1, 2, 3])
        #expect(try store.root.read(path + ".part") == bytes)
        part.file.close(deleting: false)
        try await part.expectClosed()

        // The part file is the one that is written, whatever is beside it.
        let next = try await began(plan(bytes.count, resumes: true))
        #expect(try store.root.read(path) == [1, 2, 3])
        next.file.close(deleting: false)
        try await next.expectClosed()
    }

    @Test func `A file without verified chunks leaves its final name to the next one`() async throws {
        try await store.writeWhole(bytes, plan(bytes.count))
        // As if every chunk of it were found damaged, or after a crash behind the rename of a file without chunks.
        try store.root.flip(path, at: 7)
        try await store.writeWhole(bytes, plan(bytes.count))
        #expect(try store.root.read(path) == bytes)
        #expect(store.files.status(path: path).part == nil)
    }

    @Test func `A missing file is damage`() async throws {
        let part = store.make()
        part.file.open(plan(bytes.count, resumes: true))
        #expect(try await part.failure().code == .damaged)
        part.file.close(deleting: true)
        try await part.expectClosed()
        #expect(try store.files.listing().isEmpty, "nothing was created")
    }

    @Test(arguments: ["lecture.part", "lecture"])
    func `A truncated file is damage, and can be started again`(name: String) async throws {
        try await store.writeWhole(bytes, plan(bytes.count))
        if name != "lecture" {
            try FileManager.default.moveItem(
                atPath: store.root.path + "/" + path, toPath: store.root.path + "/media/a7/" + name)
        }
        try store.root.truncate("media/a7/" + name, to: UInt64(bytes.count) - 1)
        let part = store.make()
        part.file.open(plan(bytes.count, resumes: true))
        #expect(try await part.failure().code == .damaged)
        part.file.close(deleting: false)
        try await part.expectClosed()

        #expect(store.files.status(path: path).final == nil, "also not under the final name")
        try await store.writeWhole(bytes, plan(bytes.count))
        #expect(try store.root.read(path) == bytes)
    }

    @Test func `A file truncated while open is not finalized`() async throws {
        let part = try await began(plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        _ = try await part.flushed()
        try store.root.truncate(path + ".part", to: 10)
        part.file.finalize(total: UInt64(bytes.count))
        #expect(try await part.failure().code == .damaged)
        #expect(store.files.status(path: path).final == nil)
    }

    @Test func `A digest of a truncated file is damage`() async throws {
        let part = try await began(plan(bytes.count, digest: false))
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        _ = try await part.flushed()
        try store.root.truncate(path + ".part", to: UInt64(bytes.count) - 1)
        part.file.digest(total: UInt64(bytes.count))
        #expect(try await part.failure().code == .damaged)
    }

    @Test func `A directory in place of the part file stays unless it is empty`()
        async throws
    {
        let directory = store.root.path + "/media/a7/lecture.part"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try store.root.write("media/a7/lecture.part/foreign file", [1])
        for (resumes, code) in [(true, LectureError.Code.damaged), (false, .createFile)] {
            let part = store.make()
            part.file.open(plan(bytes.count, resumes: resumes))
            #expect(try await part.failure().code == code)
        }
        #expect(try store.root.names("media/a7/lecture.part") == ["foreign file"])
        try FileManager.default.removeItem(atPath: directory + "/foreign file")
        _ = try await began(plan(bytes.count))
        #expect(store.files.status(path: path).part == UInt64(bytes.count))
    }

    @Test func `A leftover part file with a second name is replaced, not emptied`() async throws {
        // Its bytes also have another name, for example that of an output of a placed file.
        try await store.writeWhole(bytes, plan(bytes.count))
        let final = store.root.path + "/" + path
        try FileManager.default.linkItem(atPath: final, toPath: store.root.path + "/output")
        try FileManager.default.moveItem(atPath: final, toPath: final + ".part")

        let part = try await began(plan(100))
        #expect(try store.root.read("output") == bytes)
        #expect(store.files.status(path: path).part == 100)
        part.file.close(deleting: true)
        try await part.expectClosed()
        #expect(try store.root.read("output") == bytes)
    }

    @Test func `A reopened store finds its files`() async throws {
        try await store.writeWhole(bytes, plan(bytes.count))
        let again = try StoreDirectory(root: store.root.path, digests: store.digests)
        #expect(try again.listing() == [path])
        #expect(again.status(path: path) == (UInt64(bytes.count), nil))
    }

    @Test func `A process killed after a flush leaves every verified chunk, and no living owner`() async throws {
        let root = store.root.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String] in
            let digests = try OpenSSLDigests(proofKey: sample(32, seed: 77))
            let files = try StoreDirectory(root: root, digests: digests)
            let locks = try OwnerLocks(root: root)
            try locks.hold(OwnerID(11))
            let bytes = sample(5 << 16)
            let plan = plan(bytes.count)
            let part = TestPart(files)
            part.file.open(plan)
            try await part.expectOpened()
            part.send(bytes, plan, from: 0..<3 << 16)
            part.file.flush()
            let committed = try await part.flushed()
            let lines = committed.map { "\($0.index) " + $0.proof.map(String.init).joined(separator: ",") }
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: root + "/proofs"))
            // In the middle of the next chunks, with blocks under way.
            part.send(bytes, plan, from: 3 << 16..<5 << 16 - 100)
            kill(getpid(), SIGKILL)
        }
        let committed = try String(contentsOfFile: root + "/proofs", encoding: .utf8).split(separator: "\n").map {
            line in
            let parts = line.split(separator: " ")
            let proof = try parts[1].split(separator: ",").map { try #require(UInt8($0)) }
            return WrittenChunk(index: try #require(Int(parts[0])), proof: proof)
        }
        #expect(committed.map(\.index) == [0, 1, 2])
        #expect(try !OwnerLocks(root: root).isAlive(OwnerID(11)))
        try await resume([3, 4], after: committed)
    }
}
