import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Control and queries: the manager besides fetching.
@Suite(.timeLimit(.minutes(2)))
struct ManagerNetTests {
    @Test
    func `load registers the source and fetches nothing`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.manager()
        let media = try await manager.downloads.load("\(sandbox.http)/media/bytes-2M-1.mp4")
        #expect(media.state == .queued)
        #expect(try await manager.downloads.load("\(sandbox.http)/media/bytes-2M-1.mp4?token=2").key == media.key)
        let described = try await manager.downloads.load(try await sandbox.link(key: "bytes-300K-4"))
        #expect(described.key.text == "bytes-300K-4")
        #expect(try await manager.downloads.load(try await sandbox.link(key: "bytes-300K-4")).key == described.key)
        #expect(try await manager.contents.count() == 2)
        #expect(try site.mediaFiles().isEmpty)

        try await manager.downloads.start(described.key)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        #expect(try await manager.contents.find(described.key)?.state == .completed)
        #expect(try await manager.contents.find(media.key)?.state == .queued, "it was not requested")
        await #expect(throws: LectureError(.alreadyDownloaded)) { try await manager.downloads.start(described.key) }
        await manager.close()
        await sandbox.stop()
    }

    @Test(arguments: [
        ("ftp://127.0.0.1/x.mp4", LectureError.Code.urlScheme), ("http://", .urlInvalid),
        ("http://127.0.0.1:1/x.mp4", .transfer(7)),
    ])
    func `load throws the reason of a failure`(url: String, code: LectureError.Code) async throws {
        let site = try Site()
        let manager = try site.manager()
        await #expect(throws: LectureError(code)) { try await manager.downloads.load(url) }
        await manager.close()
    }

    @Test
    func `a key that was not loaded cannot be downloaded`() async throws {
        let site = try Site()
        let manager = try site.manager()
        await #expect(throws: LectureError(.notLoaded)) { try await manager.downloads.start(try ContentKey("unknown")) }
        await manager.close()
    }

    @Test
    func `pause keeps verified bytes, resume continues, cancel is skipped by resumeAll`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        // Slow enough that the machine may be busy for seconds, and fast again for the rest.
        let path = "/media/bytes-32M-5.mp4"
        try await sandbox.set(fault: "slow:700000", on: path)
        let manager = try site.manager()
        let events = manager.events
        let key = try await manager.downloads.enqueue(DownloadRequest(url: "\(sandbox.http)\(path)"))
        _ = try await manager.first(in: events) { event in
            if case .progress(let progress) = event { progress.committedChunks >= 2 } else { false }
        }
        await #expect(throws: LectureError(.alreadyDownloading)) { try await manager.downloads.start(key) }
        try await manager.downloads.pause(key)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(20)))
        let paused = try #require(try await manager.contents.find(key))
        #expect(paused.state == .stopped)
        #expect(paused.stopReason == .user)
        #expect(paused.committedChunks >= 2)
        try await manager.downloads.cancel(key)
        #expect(try await manager.contents.find(key)?.error?.code == .cancelled)
        #expect(try await manager.downloads.resumeAll() == 0)
        try await sandbox.set(fault: "", on: path)
        try await manager.downloads.resume(key)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let digest = try await ChildProcess.run("/usr/bin/sha256sum", [try await manager.contents.path(of: key)]).text
            .prefix(64)
        #expect(try await String(digest) == sandbox.sha256(of: path))
        await #expect(throws: LectureError(.alreadyDownloaded)) { try await manager.downloads.pause(key) }
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `removing stops the transfer, deletes the files and then the row, and may be repeated`() async throws {
        let site = try Site()
        try site.file("lecture.mp4", bytes: 8 << 20)
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 2 << 20
        let nginx = try await NginxOrigin.start(serving: site.root, options)
        let manager = try site.manager()
        let events = manager.events
        let key = try await manager.downloads.enqueue(DownloadRequest(url: "\(nginx.http)/lecture.mp4"))
        _ = try await manager.first(in: events) { event in
            if case .progress(let progress) = event { progress.bytes > 0 } else { false }
        }
        let more = manager.events
        try await manager.downloads.remove(key)
        _ = try await manager.first(in: more) { if case .removed(key) = $0 { true } else { false } }
        #expect(try await manager.contents.find(key) == nil)
        #expect(try site.mediaFiles().isEmpty)
        try await manager.downloads.remove(key)
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `two managers on one store fetch nothing twice`() async throws {
        let site = try Site()
        for index in 0..<40 { try site.file("f\(index).mp4", bytes: 200_000 + index) }
        let nginx = try await NginxOrigin.start(serving: site.root)
        let requests = (0..<40).map { DownloadRequest(url: "\(nginx.http)/f\($0).mp4") }
        let first = try site.manager()
        let second = try site.manager()
        _ = try await first.downloads.enqueue(requests)
        _ = try await second.downloads.enqueue(requests)
        async let one = first.downloads.waitUntilIdle(deadline: .seconds(60))
        async let two = second.downloads.waitUntilIdle(deadline: .seconds(60))
        #expect(try await one)
        #expect(try await two)
        #expect(try await first.summary().counts == [.completed: 40])
        #expect(try await second.summary().counts == [.completed: 40])
        #expect(try await nginx.requests(atLeast: 40).count == 40)
        await first.close()
        await second.close()
        await nginx.stop()
    }

    @Test
    func `only the damaged chunk is fetched again, and reading refuses it meanwhile`() async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: 6 << 20)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        let content = try await manager.fetch("\(nginx.http)/lecture.mp4")
        let path = try await manager.contents.path(of: content.key)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: 3_500_000)
        try file.write(contentsOf: [bytes[3_500_000] ^ 1])
        try file.close()

        let collected = Guarded(Data())
        await #expect(throws: LectureError(.damaged)) {
            try await manager.contents.read(content.key) { piece in collected.withLock { $0.append(contentsOf: piece) }
            }
        }
        #expect(collected.withLock { $0 } == bytes.prefix(3 << 20), "the chunk before the damage was handed out")
        let report = try await manager.contents.verify(content.key)
        #expect(report.damaged.map(\.chunk) == [3])
        #expect(report.damaged.first?.firstByte == 3 << 20)
        var options = VerifyOptions()
        options.repairs = true
        #expect(try await manager.contents.verify(content.key, options: options).isRepairQueued)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        #expect(try await manager.contents.verify(content.key).damaged.isEmpty)
        #expect(try await manager.bytes(content.key) == bytes)
        let repair = try #require(try await nginx.requests(atLeast: 2).last)
        #expect(repair.range == "bytes=3145728-4194303")
        let part = Guarded(Data())
        try await manager.contents.read(content.key, range: 1_000_000..<4_000_000) { piece in
            part.withLock { $0.append(contentsOf: piece) }
        }
        #expect(part.withLock { $0 } == bytes[1_000_000..<4_000_000])
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `an exceeded quota and a full disk stop a lecture for that reason`() async throws {
        let site = try Site()
        try site.file("lecture.mp4", bytes: 3 << 20)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let bounded = try site.manager { $0.quotaBytes = 1 << 20 }
        let overQuota = try await bounded.fetch("\(nginx.http)/lecture.mp4")
        #expect(overQuota.stopReason == .quota)
        #expect(overQuota.error?.code == .quota)
        await bounded.close()
        let full = try site.manager { $0.reserveBytes = 1 << 60 }
        let noSpace = try await full.fetch("\(nginx.http)/lecture.mp4")
        #expect(noSpace.stopReason == .space)
        #expect(noSpace.error?.code == .storageFull)
        #expect(try site.mediaFiles().isEmpty)
        await full.close()
        let restarted = try site.manager()
        #expect(try await restarted.fetch("\(nginx.http)/lecture.mp4").state == .completed)
        await restarted.close()
        await nginx.stop()
    }

    @Test
    func `a timetable that allows nothing stops lectures until its next window`() async throws {
        let site = try Site()
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager { $0.timetable = "else=off" }
        let events = manager.events
        let key = try await manager.downloads.enqueue(DownloadRequest(url: "\(nginx.http)/lecture.mp4"))
        #expect(!(try await manager.downloads.waitUntilIdle(deadline: .seconds(1))))
        #expect(try await manager.contents.find(key)?.state != .completed)
        #expect(try await nginx.requests().isEmpty)
        _ = events
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `one lecture keeps its own rate`() async throws {
        let site = try Site()
        try site.file("lecture.mp4", bytes: 64 << 20)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager { $0.rateLimitPerContent = 500_000 }
        let begin = ContinuousClock.now
        try await manager.downloads.enqueue(DownloadRequest(url: "\(nginx.http)/lecture.mp4"))
        // However slow the machine is: no more than the rate allows in that time, plus a first burst.
        #expect(!(try await manager.downloads.waitUntilIdle(deadline: .seconds(2))))
        let fetched = try await manager.summary().fetchedBytes
        let seconds = Double((ContinuousClock.now - begin).components.seconds + 1)
        #expect(fetched > 0)
        #expect(Double(fetched) < seconds * 500_000 * 1.2 + 1_000_000)
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `why explains, and names what was tried`() async throws {
        let site = try Site()
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        let content = try await manager.fetch("\(nginx.http)/absent.mp4")
        let diagnosis = try await manager.contents.why(content.key)
        #expect(!diagnosis.what.isEmpty)
        #expect(diagnosis.why.contains("404"))
        #expect(!diagnosis.remedy.isEmpty)
        #expect(diagnosis.attempts.first?.status == 404)
        #expect(diagnosis.attempts.first?.decision == "failed")
        await #expect(throws: LectureError(.unknownContent)) { try await manager.contents.why(ContentKey("unknown")) }
        await manager.close()
        await nginx.stop()
    }

    @Test
    func `a file without a row is deleted, others stay`() async throws {
        let site = try Site()
        let bytes = try site.file("lecture.mp4", bytes: 100_000)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let first = try site.manager()
        let content = try await first.fetch("\(nginx.http)/lecture.mp4")
        await first.close()
        let kept = try site.mediaFiles()
        try Data([1]).write(to: URL(filePath: "\(site.store)/media/0000/999.mp4.part"))
        try Data([1]).write(to: URL(filePath: "\(site.store)/media/0000/998.mp4"))
        let second = try site.manager()
        _ = try await second.fetch("\(nginx.http)/lecture.mp4")
        await second.close()
        #expect(try site.mediaFiles() == kept)
        let third = try site.manager()
        #expect(try await third.bytes(content.key) == bytes)
        await third.close()
        await nginx.stop()
    }

    @Test
    func `after close nothing can be started`() async throws {
        let site = try Site()
        let manager = try site.manager()
        await manager.close()
        await #expect(throws: LectureError(.closing)) {
            try await manager.downloads.enqueue(DownloadRequest(url: "http://a/b"))
        }
        await manager.close()
    }
}
