import Foundation
import Glibc
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct SpaceReserveTests {
    private static func status(_ store: StoreFixture) -> stat? {
        var facts = stat()
        let path = "\(store.location.directory)/\(SpaceReserve.fileName)"
        return unsafe lstat(path, &facts) == 0 ? facts : nil
    }

    @Test func `a store has a reserve that really takes its space`() throws {
        try StoreFixture.with { store in
            let facts = try #require(Self.status(store))
            #expect(UInt64(facts.st_size) == SpaceReserve.bytes && UInt64(facts.st_blocks) * 512 >= SpaceReserve.bytes)
            #expect(facts.st_mode & 0o777 == 0o600)
        }
    }

    @Test func `with space it stays for a removal, and is drawn again after it was given up`() throws {
        try StoreFixture.with { store in
            SpaceReserve.freeSpaceToRemove(store.location)
            #expect(Self.status(store) != nil)
            let directory = try #require(try store.location.resolved())
            #expect(SpaceReserve.release(in: directory))
            #expect(Self.status(store) == nil && !SpaceReserve.release(in: directory))
            _ = try store.another()
            #expect(Self.status(store) != nil)
        }
    }

    @Test func `one that was left half made is made whole`() throws {
        try StoreFixture.with { store in
            let path = "\(store.location.directory)/\(SpaceReserve.fileName)"
            #expect(unsafe truncate(path, 100) == 0)
            _ = try store.another()
            #expect(UInt64(try #require(Self.status(store)).st_size) == SpaceReserve.bytes)
        }
    }

    @Test func `without a store there is no reserve`() throws {
        let directory = try TemporaryDirectory()
        SpaceReserve.draw(StoreLocation(directory: directory.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }
}
