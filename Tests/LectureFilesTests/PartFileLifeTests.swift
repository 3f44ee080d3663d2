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
        #expect(store.files.look(path: plan.path).part == 300_000, "the whole length is reserved")
        #expect(part.send(bytes, plan, from: 0..<bytes.count))
        part.file.flush()
        #expect(try await part.flushed().map(\.index) == [0, 1, 2, 3, 4])
        part.file.digest(total: 300_000)
        #expect(try await part.digest() == store.digests.sha256(of: bytes))
        part.file.place(total: 300_000)
        try await part.expectPlaced()
        part.file.close(deleting: false)
        try await part.expectClosed()

        #expect(try store.root.read(plan.path) == bytes)
        #expect(try store.root.names("media/a7") == ["lecture"])
        #expect(store.files.look(path: plan.path) == (300_000, nil))
    }
}
