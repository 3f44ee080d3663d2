import Foundation
import Glibc
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The state after a kill. The children end themselves with SIGKILL: none of their code runs afterwards, as
/// with any kill.
@Suite struct KillTests {
    @Test func aKillInsideATransactionLeavesWhatWasCommittedBefore() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let now = Timestamp(milliseconds: 0)
            let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
            try index.settings.set("committed", "1")
            try index.transaction { _ in
                try index.settings.set("open", "1")
                kill(getpid(), SIGKILL)
            }
        }
        let location = StoreLocation(directory: path)
        #expect(try StoreMaintenance.check(location) == [])
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 0))
        #expect(try index.settings.value(of: "committed") == "1")
        #expect(try index.settings.value(of: "open") == nil)
    }

    @Test func whatAKilledProcessHadLeasedIsFreeOnceItIsDismissed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let now = Timestamp(milliseconds: 0)
            let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
            let owner = try index.owners.registerOwner(pid: Int(getpid()), bootID: "", command: "", now: now)
            let request = DownloadRequest(url: "http://127.0.0.1/a")
            let key = try ContentKey("a")
            let id = try index.requests.enqueue(
                request, source: RequestSource(derivedKey: key, identity: [1], isGateway: false), check: .list, now: now
            ).id
            let item = try #require(try index.owners.claim(content: id, owner: owner, now: now))
            try index.contents.setStatus(item.lease, ItemStatus(.downloading), now: now)
            kill(getpid(), SIGKILL)
        }
        let now = Timestamp(milliseconds: 1)
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
        let dead = try #require(try index.owners.all().first)
        let owner = try index.owners.registerOwner(pid: Int(getpid()), bootID: "", command: "", now: now)
        #expect(owner != dead)
        let key = try ContentKey("a")
        let id = try #require(try index.contents.item(key)).id
        #expect(try index.owners.claim(content: id, owner: owner, now: now) == nil)
        try index.owners.dismissOwner(dead, now: now)
        #expect(try index.contents.item(key)?.content.state == .queued)
        #expect(try index.owners.claim(content: id, owner: owner, now: now)?.fence == 2)
    }

    /// Every step of creating a store, killed after a number of written bytes: the limit on the size of a file ends the
    /// process with SIGXFSZ in the middle of a write.
    @Test(arguments: [1, 4_096, 20_000, 60_000, 100_000, 150_000, 200_000])
    func aKillWhileTheStoreIsMadeLeavesNoStoreOrAWholeOne(bytes: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        _ = await #expect(processExitsWith: .failure) { [path = path as String, bytes = bytes as Int] in
            var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            _ = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: Timestamp(milliseconds: 0))
        }
        #expect(!FileManager.default.fileExists(atPath: "\(path)/lecturekit.db"))
        let location = StoreLocation(directory: path)
        let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 0))
        #expect(try index.identity().proofKey.count == 32)
        #expect(try StoreMaintenance.check(location) == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.contains("new") }
        #expect(names.isEmpty)
    }
}
