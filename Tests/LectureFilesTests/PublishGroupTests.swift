import Foundation
import LectureModel
import Testing

@testable import LectureFiles

/// Files that are published together.
@Suite(.timeLimit(.minutes(1))) struct PublishGroupTests {
    private let store: TestStore
    private let files: StoreDirectory
    private let (one, other): (Scratch, Scratch)
    private let bytes = sample(70_000)
    /// The directories that were synced, by their inodes.
    private let synced = Monitor<[UInt64]>([])
    /// The inode of a directory whose sync fails.
    private let broken = Monitor<UInt64?>(nil)

    init() async throws {
        store = try TestStore()
        (one, other) = (try Scratch(), try Scratch())
        for number in 1...4 { try await store.writeWhole(bytes, plan(bytes.count, chunk: 1 << 20, name: "\(number)")) }
        files = try StoreDirectory(
            root: store.root.path, digests: store.digests,
            syncs: DirectorySyncs { [synced, broken] (directory) throws(SystemError) in
                let inode = UInt64(try directory.status().st_ino)
                synced.change { $0.append(inode) }
                if broken.read({ $0 == inode }) { throw SystemError(number: EIO) }
                try directory.sync()
            })
    }

    private func inode(_ place: Scratch) throws -> UInt64 {
        let number = try FileManager.default.attributesOfItem(atPath: place.path)[.systemFileNumber]
        return UInt64(try #require(number as? Int))
    }

    private func order(_ number: Int, to output: String, sealed: Bool = false) -> OutputOrder {
        OutputOrder(path: "media/a7/\(number)", isSealed: sealed, output: output, right: .nothing)
    }

    private func code(_ outcome: Result<OutputFacts, LectureError>) -> LectureError.Code? {
        if case .failure(let error) = outcome { error.code } else { nil }
    }

    @Test func `each directory is synced once, and every file has its own outcome`() throws {
        try other.write("taken", [1])
        let outcomes = files.publish([
            order(1, to: one.path + "/1"), order(2, to: other.path + "/taken"), order(3, to: other.path + "/3"),
            order(4, to: one.path + "/4"), order(1, to: one.path + "/sealed", sealed: true),
            order(9, to: one.path + "/9"), order(2, to: one.path + "/2"),
        ])
        #expect(outcomes.map(code) == [nil, .outputExists, nil, nil, .isSealed, .readFile, nil])
        #expect(synced.read { $0 } == [try inode(one), try inode(other)])
        #expect(try one.names() == ["1", "2", "4"] && other.names() == ["3", "taken"])
        for (place, name) in [(one, "1"), (one, "2"), (one, "4"), (other, "3")] {
            #expect(try place.read(name) == bytes)
        }
    }

    @Test func `a directory that cannot be synced fails its files and no others`() throws {
        let number = try inode(other)
        broken.change { $0 = number }
        let orders = [
            order(1, to: one.path + "/1"), order(2, to: other.path + "/2"), order(3, to: other.path + "/3"),
        ]
        let outcomes = files.publish(orders)
        #expect(outcomes.map(code) == [nil, .outputRefused, .outputRefused])
        guard case .failure(let error) = outcomes[2] else { return }
        #expect(error.detail == other.path + "/3")
        broken.change { $0 = nil }
        #expect(files.publish(orders).map(code) == [nil, nil, nil])
    }

    @Test func `a name that is there already is made durable, too`() throws {
        // As after a kill between the link and the sync.
        try FileManager.default.linkItem(atPath: store.root.path + "/media/a7/1", toPath: one.path + "/1")
        try other.write("1", bytes)
        let outcomes = files.publish([order(1, to: one.path + "/1"), order(1, to: other.path + "/1")])
        #expect(outcomes.map(code) == [nil, nil])
        #expect(synced.read { $0 } == [try inode(one), try inode(other)])
    }
}
