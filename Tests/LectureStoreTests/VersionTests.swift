import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct VersionTests {
    @Test func aVersionBeginsWithItsResourcesAndTheirURLs() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            #expect(try store.index.versions.building(lease.content) == nil)
            var media = ResourceRequest(role: .media, name: "film", urls: ["http://127.0.0.1/m", "http://127.0.0.2/m"])
            media.expectedSHA256 = [UInt8](repeating: 3, count: 32)
            media.expectedBytes = 12
            let subtitle = ResourceRequest(role: .subtitle, name: "Deutsch", urls: ["http://127.0.0.1/s"])
            let started = try store.index.versions.beginVersion(lease, requests: [subtitle, media], now: store.now)
            let building = try #require(try store.index.versions.building(lease.content))
            #expect(building.version == started.id)
            // What is returned is what a later run reads.
            #expect("\(started.files.map(\.record))" == "\(building.resources)")
            for file in started.files { #expect(try store.index.servers.urlLeases(file.record.id) == file.urls) }
            #expect(building.resources.map(\.role) == [.media, .subtitle])
            #expect(building.resources.map(\.name) == ["film", "Deutsch"])
            #expect(building.resources[0].expectedSHA256 == media.expectedSHA256)
            #expect(building.resources[0].expectedBytes == 12)
            #expect(building.resources.allSatisfy { $0.state == .absent && $0.content == lease.content })
            let urls = try store.index.servers.urlLeases(building.resources[0].id)
            #expect(urls.map(\.url) == media.urls)
            #expect(urls.map(\.rank) == [0, 1])
            let again = lectureError { _ = try store.index.versions.beginVersion(lease, requests: [], now: store.now) }
            #expect(again?.code == .bug)
        }
    }

    @Test func whatTheFirstAnswerReportedIsKeptAndCounted() throws {
        try StoreFixture.with { store in
            let (lease, version, planned) = try store.planned("a")
            var resource = planned
            resource.entityTag = "\"x\""
            resource.lastModified = "Tue, 14 Nov 2023 22:13:20 GMT"
            resource.mediaType = "video/mp4"
            resource.acceptsRanges = true
            resource.sha256 = [UInt8](repeating: 8, count: 32)
            try store.index.resources.updateResource(lease, resource)
            let stored = try #require(try store.index.versions.resources(version).first)
            #expect(stored.entityTag == resource.entityTag && stored.lastModified == resource.lastModified)
            #expect(stored.mediaType == "video/mp4" && stored.acceptsRanges && stored.sha256 == resource.sha256)
            #expect(stored.total == 9_500 && stored.chunkBytes == 1_000 && stored.path == "media/a")
            #expect(try store.item(lease.content).content.totalBytes == 9_500)
            #expect(try store.item(lease.content).content.totalChunks == 10)
            #expect(try store.index.resources.plannedBytes() == 9_500)
            resource.total = 4_000
            try store.index.resources.updateResource(lease, resource)
            #expect(try store.item(lease.content).content.totalBytes == 4_000)
            #expect(try store.item(lease.content).content.totalChunks == 4)
            resource.total = nil
            resource.state = .absent
            try store.index.resources.updateResource(lease, resource)
            #expect(try store.item(lease.content).content.totalChunks == 0)
            #expect(try store.index.resources.plannedBytes() == 0)
        }
    }

    @Test func committedChunksCountOnceHoweverOftenTheyAreReported() throws {
        try StoreFixture.with { store in
            let (lease, version, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0, 9]), bytes: 1_500, now: store.now)
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([9, 3], proof: 2), bytes: 1_500, now: store.now)
            let content = try store.item(lease.content).content
            #expect(content.committedBytes == 2_500 && content.committedChunks == 3)
            let stored = try #require(try store.index.versions.resources(version).first)
            #expect(stored.committedBytes == 2_500 && stored.committedChunks == 3)
            let chunks = try store.index.resources.chunks(resource.id)
            #expect(chunks.map(\.index) == [0, 3, 9])
            #expect(chunks.map { $0.proof.first } == [9, 2, 2])
        }
    }

    @Test func chunksThatWereNeverCommittedAreNotTakenAway() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks(0..<10), bytes: 9_500, now: store.now)
            try store.index.resources.markUncommitted(lease, resource.id, chunks: [9], bytes: 500)
            #expect(try store.item(lease.content).content.committedBytes == 9_000)
            try store.index.resources.markUncommitted(lease, resource.id, chunks: [9, 0, 77], bytes: 2_500)
            #expect(try store.item(lease.content).content.committedBytes == 8_000)
            #expect(try store.item(lease.content).content.committedChunks == 8)
            #expect(try store.index.resources.chunks(resource.id).map(\.index) == Array(1..<9))
        }
    }

    @Test func someOfTheCommittedChunksAreReadInOrder() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0, 3, 4, 9]), bytes: 3_500, now: store.now)
            let rows = store.index.resources
            let cases: [(ClosedRange<Int>, [Int])] = [
                (0...9, [0, 3, 4, 9]), (0...0, [0]), (1...2, []), (3...4, [3, 4]), (4...8, [4]), (9...9, [9]),
                (10...99, []), (0...Int.max, [0, 3, 4, 9]),
            ]
            for (numbers, found) in cases {
                #expect(try rows.chunks(resource.id, in: numbers).map(\.index) == found, "\(numbers)")
            }
            #expect(try rows.chunks(resource.id, in: 0...9) == (try rows.chunks(resource.id)))
            #expect(try rows.chunks(ResourceID(999), in: 0...9).isEmpty)
        }
    }

    @Test func theChunkSizeStaysUnderCommittedChunks() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
            var changed = resource
            changed.chunkBytes = 2_000
            #expect(lectureError { try store.index.resources.updateResource(lease, changed) }?.code == .bug)
        }
    }

    /// A leased lecture with a clean sealed file of four chunks: 1,000 bytes less 40, twice 1,000, 500.
    private func sealed(_ store: StoreFixture) throws -> (ContentLease, VersionID, ResourceRecord) {
        var (lease, version, resource) = try store.planned("a")
        resource.total = 3_460
        resource.seal = .clean
        try store.index.resources.updateResource(lease, resource)
        try store.index.resources.markCommitted(
            lease, resource.id, StoreFixture.chunks(0..<4), bytes: 3_460, now: store.now)
        resource = try #require(try store.index.versions.resources(version).first)
        return (lease, version, resource)
    }

    @Test func aSealedResourceIsCountedOnItsOwnGrid() throws {
        try StoreFixture.with { store in
            let (lease, version, resource) = try sealed(store)
            #expect(resource.seal == .clean && resource.committedChunks == 4 && resource.committedBytes == 3_460)
            #expect(try store.item(lease.content).content.totalChunks == 4)
            // If one of the chunks has no row, the bytes are summed from the deleted rows.
            try store.index.resources.markUncommitted(lease, resource.id, chunks: [0, 3, 77], bytes: 1)
            #expect(try store.item(lease.content).content.committedBytes == 2_000)
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0, 1]), bytes: 1, now: store.now)
            #expect(try store.item(lease.content).content.committedBytes == 2_960)
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([3]), bytes: 500, now: store.now)
            var finalized = resource
            finalized.state = .finalized
            try store.index.resources.updateResource(lease, finalized)
            try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now)
            #expect(lectureError { try store.index.owners.release(lease) }?.code == .leaseLost, "released with it")
            try store.index.versions.reopenVersion(try store.lease(lease.content), version, now: store.now)
            #expect(
                try store.index.versions.resources(version).first?.committedBytes == 3_460, "recounted from the rows")
        }
    }

    @Test func aFileThatFinishedByItselfIsRecordedAtOnce() throws {
        try StoreFixture.with { store in
            var (lease, version, resource) = try store.planned("a")
            let chunks = StoreFixture.chunks(0..<10)
            (resource.state, resource.sha256) = (.finalized, [UInt8](repeating: 7, count: 32))
            try store.index.resources.markFinished(lease, resource, chunks, now: store.now)
            let stored = try #require(try store.index.versions.resources(version).first)
            #expect(stored.state == .finalized && stored.sha256 == resource.sha256)
            #expect(stored.committedChunks == 10 && stored.committedBytes == 9_500)
            #expect(try store.index.resources.chunks(resource.id) == chunks)
            // Its lecture is not whole yet.
            #expect(try store.item(lease.content).content.committedBytes == 0)
            try store.index.resources.countFinished(lease, resource, now: store.now)
            #expect(try store.item(lease.content).content.committedBytes == 9_500)
            #expect(try store.item(lease.content).content.committedChunks == 10)
            #expect(
                lectureError { try store.index.resources.markFinished(lease, resource, chunks, now: store.now) } != nil,
                "once")
            try store.index.versions.completeVersion(lease, version, sha256: resource.sha256, now: store.now)
            let item = try store.item(lease.content)
            #expect(item.content.committedBytes == 9_500 && item.content.totalChunks == 10)
            #expect(item.content.state == .completed && item.content.sha256 == resource.sha256)
        }
    }

    @Test func aFileFinishesOnlyWithAllItsChunksAndForItsOwnLecture() throws {
        try StoreFixture.with { store in
            let (lease, version, resource) = try store.planned("a")
            let (other, _, _) = try store.planned("b")
            for (holder, chunks) in [(lease, 0..<9), (lease, 0..<11), (other, 0..<10)] {
                let error = lectureError {
                    try store.index.resources.markFinished(
                        holder, resource, StoreFixture.chunks(chunks), now: store.now)
                }
                #expect(error?.code == .bug, "\(chunks)")
                #expect(try store.index.resources.chunks(resource.id).isEmpty)
            }
            #expect(try store.index.versions.resources(version).first?.committedChunks == 0)
        }
    }

    @Test func whoLosesAProofIsNotCleanAnyMore() throws {
        try StoreFixture.with { store in
            // Also when the row was already gone.
            for chunk in [1, 77] {
                let (lease, version, resource) = try sealed(store)
                try store.index.resources.markUncommitted(lease, resource.id, chunks: [chunk], bytes: 1_000)
                #expect(try store.index.versions.resources(version).first?.seal == .open)
                try store.index.contents.deleteContent(lease)
            }
            let (lease, version, resource) = try store.planned("b")
            try store.index.resources.markUncommitted(lease, resource.id, chunks: [1], bytes: 1_000)
            #expect(try store.index.versions.resources(version).first?.seal == .plain)
        }
    }

    @Test func aResourceIsNotSealedUnderCommittedChunks() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
            var changed = resource
            changed.seal = .open
            #expect(lectureError { try store.index.resources.updateResource(lease, changed) }?.code == .bug)
        }
    }

    @Test func aResourceOfAnotherContentIsOutOfReach() throws {
        try StoreFixture.with { store in
            let (_, version, resource) = try store.planned("a")
            let lease = try store.leased("b")
            let chunks = StoreFixture.chunks([0])
            for write in [
                { try store.index.resources.updateResource(lease, resource) },
                { try store.index.resources.markCommitted(lease, resource.id, chunks, bytes: 1, now: store.now) },
                { try store.index.resources.markUncommitted(lease, resource.id, chunks: [0], bytes: 1) },
                { _ = try store.index.versions.discardVersion(lease, version) },
                { try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now) },
                { try store.index.versions.reopenVersion(lease, version, now: store.now) },
            ] as [() throws -> Void] {
                #expect(lectureError(write)?.code == .bug)
            }
        }
    }

    @Test func aCompleteVersionTakesThePlaceOfTheFormerOne() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            let first = try #require(try store.item(id).currentVersion)
            #expect(try store.item(id).content.completed == store.now)
            #expect(try store.item(id).content.sha256 == [UInt8](repeating: 1, count: 32))
            let lease = try store.lease(id)
            try store.index.contents.setStatus(lease, ItemStatus(.queued), now: store.now)
            let request = ResourceRequest(role: .media, name: "", urls: [])
            let second = try store.index.versions.beginVersion(lease, requests: [request], now: store.now).id
            #expect(try store.item(id).content.committedBytes == 0)
            #expect(try store.item(id).currentVersion == first)
            var resource = try #require(try store.index.versions.resources(second).first)
            resource.state = .planned
            resource.path = "media/a2"
            resource.total = 10
            try store.index.resources.updateResource(lease, resource)
            #expect(try store.index.contents.paths(id) == ["media/a", "media/a2"])
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0]), bytes: 10, now: store.now)
            #expect(try store.queries().resources(try ContentKey("a")).map(\.path) == ["media/a"])
            try store.index.versions.completeVersion(lease, second, sha256: nil, now: store.now)
            #expect(try store.item(id).currentVersion == second)
            #expect(try store.item(id).content.totalBytes == 10)
            #expect(try store.queries().resources(try ContentKey("a")).map(\.path) == ["media/a2"])
            let left = try store.index.versions.discardedVersions()
            #expect(left.map(\.0) == [first])
            #expect(left.map(\.1) == [["media/a"]])
            #expect(try store.index.resources.plannedBytes() == 10)
            try store.index.versions.forgetVersion(second)
            try store.index.versions.forgetVersion(first)
            #expect(try store.index.versions.discardedVersions().isEmpty)
            #expect(try store.index.versions.resources(second).count == 1)
        }
    }

    @Test func aDiscardedVersionCountsNoMoreAndItsFilesAreReported() throws {
        try StoreFixture.with { store in
            let (lease, version, resource) = try store.planned("a")
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
            #expect(try store.index.versions.discardVersion(lease, version) == ["media/a"])
            let content = try store.item(lease.content).content
            #expect(content.totalBytes == nil && content.committedBytes == 0 && content.totalChunks == 0)
            #expect(try store.index.resources.plannedBytes() == 0)
            #expect(try store.index.versions.building(lease.content) == nil)
            _ = try store.index.versions.beginVersion(lease, requests: [], now: store.now)
        }
    }

    @Test func aDamagedContentIsBuiltAgainInPlace() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            let lease = try store.lease(id)
            let version = try #require(try store.item(id).currentVersion)
            let resource = try #require(try store.index.versions.resources(version).first)
            try store.index.resources.markUncommitted(lease, resource.id, chunks: [4], bytes: 1_000)
            try store.index.versions.reopenVersion(lease, version, now: store.now)
            let item = try store.item(id)
            #expect(item.content.state == .queued && item.content.completed == nil && item.currentVersion == nil)
            #expect(item.content.committedBytes == 8_500 && item.content.totalBytes == 9_500)
            let building = try #require(try store.index.versions.building(id))
            #expect(building.version == version)
            #expect(building.resources.map(\.state) == [.planned])
            try store.index.resources.markCommitted(
                lease, resource.id, StoreFixture.chunks([4]), bytes: 1_000, now: store.now)
            try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now)
            #expect(try store.item(id).content.sha256 == [UInt8](repeating: 1, count: 32))
        }
    }

    @Test func aTransactionThatThrowsTakesEverythingBack() throws {
        try StoreFixture.with { store in
            let (lease, _, resource) = try store.planned("a")
            let error = lectureError {
                try store.index.transaction { _ in
                    try store.index.resources.markCommitted(
                        lease, resource.id, StoreFixture.chunks([0]), bytes: 1_000, now: store.now)
                    throw LectureError(.cancelled)
                }
            }
            #expect(error?.code == .cancelled)
            #expect(try store.index.resources.chunks(resource.id).isEmpty)
            #expect(try store.item(lease.content).content.committedBytes == 0)
        }
    }
}
