import Foundation
import LectureFiles
import LectureModel
import Testing

/// Full and read-only disks, with file systems mounted for the purpose: root is never refused permission.
@Suite(
    .enabled(if: SmallDisk.isPossible, "this process may not mount; full and read-only disks are NOT tested"),
    .timeLimit(.minutes(1)))
struct DiskFailureTests {
    private func began(_ store: TestStore, _ plan: PartFilePlan) async throws -> TestPart {
        let part = store.make()
        part.file.open(plan)
        try await part.expectOpened()
        return part
    }

    @Test func `A file that does not fit is refused before its first byte and leaves nothing`() async throws {
        let disk = try SmallDisk("size=1m")
        let store = try TestStore(in: disk.path)
        let part = store.make()
        part.file.open(plan(2 << 20))
        let error = try await part.failure()
        #expect(error.code == .storageFull)
        #expect(error.message.contains("2097152 bytes are needed"))
        part.file.close(deleting: false)
        try await part.expectClosed()
        #expect(try store.files.listing().isEmpty)
    }

    @Test func `The reserve stays free`() async throws {
        let disk = try SmallDisk("size=1m")
        let store = try TestStore(in: disk.path)
        let part = store.make()
        part.file.open(plan(512 << 10, reserve: 600 << 10))
        #expect(try await part.failure().code == .storageFull)
        let other = try await began(store, plan(512 << 10, reserve: 400 << 10))
        #expect(try store.files.freeBytes() <= 512 << 10)
        other.file.close(deleting: false)
        try await other.expectClosed()
        // Already reserved space is not requested again.
        let again = try await began(store, plan(512 << 10, resumes: true, reserve: 400 << 10))
        again.file.close(deleting: true)
        try await again.expectClosed()
        #expect(try store.files.freeBytes() > 900 << 10)
    }

    @Test func `A file of unknown length stops when the disk is full, and keeps what it has`() async throws {
        let disk = try SmallDisk("size=1m")
        let store = try TestStore(in: disk.path)
        let bytes = sample(2 << 20)
        let part = try await began(store, plan(nil))
        part.send(bytes, plan(nil), from: 0..<4 << 16)
        part.file.flush()
        #expect(try await part.flushed().count == 4)
        part.send(bytes, plan(nil), from: 4 << 16..<bytes.count)
        #expect(try await part.failure().code == .storageFull)
        part.file.close(deleting: false)
        let rest = try await part.flushed()
        #expect(rest.first?.index == 4)
        try await part.expectClosed()
        let total = UInt64(bytes.count)
        let damaged = try store.files.verify(
            path: "media/a7/lecture", resource: ResourceID(5), total: total, grid: ChunkGrid(length: 1 << 16),
            cipher: nil, proofs: rest
        ) { _ in true }
        #expect(damaged.isEmpty)
    }

    @Test func `A disk that fills up behind a reservation does no harm`() async throws {
        let disk = try SmallDisk("size=1m")
        let store = try TestStore(in: disk.path)
        let bytes = sample(512 << 10)
        let part = try await began(store, plan(bytes.count))
        _ = try? Data(repeating: 1, count: 2 << 20).write(to: URL(filePath: disk.path + "/other"))
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        #expect(try await part.flushed().count == 8)
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        #expect(try store.root.read("media/a7/lecture") == bytes)
    }

    @Test func `A disk without inodes is full`() async throws {
        let disk = try SmallDisk("size=1m,nr_inodes=5")
        let store = try TestStore(in: disk.path)
        // The root, the store and its media take three, the bucket takes the fourth.
        var codes: [LectureError.Code] = []
        for index in 0..<3 {
            let part = store.make()
            part.file.open(plan(10, name: "file-\(index)"))
            if case .failed(let error) = try await part.next() { codes.append(error.code) }
        }
        #expect(codes == [.storageFull, .storageFull])
    }

    @Test func `A read-only disk refuses new files and serves existing ones`() async throws {
        let disk = try SmallDisk("size=4m")
        let store = try TestStore(in: disk.path)
        let bytes = sample(200_000)
        let proofs = try await store.writeWhole(bytes, plan(bytes.count, name: "there"))
        let half = try await began(store, plan(bytes.count, name: "half"))
        half.send(bytes, plan(bytes.count), from: 0..<1 << 16)
        half.file.close(deleting: false)
        _ = try await half.flushed()
        try await half.expectClosed()
        try disk.remount("ro")

        let again = try StoreDirectory(root: store.root.path, digests: store.digests)
        for plan in [
            plan(10, name: "new"), plan(bytes.count, name: "half", resumes: true),
            plan(bytes.count, name: "there", resumes: true),
        ] {
            let part = TestPart(again)
            part.file.open(plan)
            #expect(try await part.failure().code == .storeReadOnly, "\(plan.path)")
        }
        #expect(throws: LectureError(.storeReadOnly)) { try again.delete(path: "media/a7/there") }
        #expect(throws: LectureError(.storeReadOnly)) {
            try StoreDirectory(root: disk.path + "/another", digests: store.digests)
        }
        #expect(throws: LectureError(.outputRefused)) {
            try again.publish(path: "media/a7/there", isSealed: false, to: disk.path + "/out")
        }
        let damaged = try again.verify(
            path: "media/a7/there", resource: ResourceID(5), total: 200_000, grid: ChunkGrid(length: 1 << 16),
            cipher: nil, proofs: proofs
        ) { _ in true }
        #expect(damaged.isEmpty)
        #expect(try again.listing() == ["media/a7/half.part", "media/a7/there"])
        try disk.remount("rw")

        // The cause is gone: the download continues by itself.
        let part = TestPart(again)
        part.file.open(plan(bytes.count, name: "half", resumes: true))
        try await part.expectOpened()
        part.send(bytes, plan(bytes.count), from: 1 << 16..<bytes.count)
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        #expect(try store.root.read("media/a7/half") == bytes)
    }

    @Test func `A part file deleted while open is not finalized`() async throws {
        let disk = try SmallDisk("size=4m")
        let store = try TestStore(in: disk.path)
        let bytes = sample(3 << 16)
        let part = try await began(store, plan(bytes.count))
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        _ = try await part.flushed()
        try FileManager.default.removeItem(atPath: store.root.path + "/media/a7/lecture.part")
        part.file.finalize(total: UInt64(bytes.count))
        #expect(try await part.failure().code == .writeFile)
        part.file.close(deleting: true)
        try await part.expectClosed()
    }

    @Test func `A file system without reservations and free space count is good enough`() async throws {
        let disk = try SmallDisk("mode=700", type: "ramfs")
        let store = try TestStore(in: disk.path)
        #expect(try store.files.freeBytes() == .max)
        let bytes = sample(300_000)
        let part = try await began(store, plan(bytes.count, reserve: 1 << 30))
        #expect(store.files.status(path: "media/a7/lecture").part == 300_000)
        part.send(bytes, plan(bytes.count), from: 0..<bytes.count)
        part.file.flush()
        #expect(try await part.flushed().count == 5)
        part.file.finalize(total: UInt64(bytes.count))
        try await part.expectFinalized()
        #expect(try store.root.read("media/a7/lecture") == bytes)
        try store.files.publish(path: "media/a7/lecture", isSealed: false, to: disk.path + "/out")
    }

    @Test func `An output on a full disk leaves nothing there`() async throws {
        let disk = try SmallDisk("size=256k")
        let store = try TestStore()
        try await store.writeWhole(sample(1 << 20), plan(1 << 20))
        #expect(throws: LectureError(.storageFull)) {
            try store.files.publish(path: "media/a7/lecture", isSealed: false, to: disk.path + "/out.mp4")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
        #expect(store.files.status(path: "media/a7/lecture").final == 1 << 20)
    }
}
