import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What a killed program had claimed, requested again through the library; and what living ones have claimed.
@Suite(.enabled(if: StruckRun.isPossible, "Tools/strike needs python3 on x86-64"), .timeLimit(.minutes(10)))
struct KilledRunNetTests {
    @Test func `no state left by a killed run blocks a request`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-2500K-3.mp4"
        func program(_ store: String) throws -> StruckRun {
            try StruckRun(
                Places.builtProduct("lecturectl"), ["precache", "--progress", "none", "--key", "k", url],
                environment: [
                    "HOME": site.directory.path, "LECTURE_STORE": site.directory.file(store),
                    "LECTURE_RESERVE": "1M", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
                ])
        }
        let key = try ContentKey("k")
        let whole = try await program("whole").counted()
        var claimed = 0
        for kill in 0..<12 {
            let store = "store-\(kill)"
            let struck = try await program(store).kill(at: whole / 3 + kill * (whole - whole / 3) / 12)
            var configuration = LectureConfiguration(storeDirectory: site.directory.file(store))
            configuration.reserveBytes = 1 << 20
            let manager = try LectureManager(configuration)
            let state = try await manager.contents.find(key)?.state
            if [.loading, .downloading, .verifying].contains(state) { claimed += 1 }
            let what: Comment = "\(struck ?? "not killed"), \(state.map { "\($0)" } ?? "unknown")"
            if state == nil {
                var request = DownloadRequest(url: url)
                request.key = key
                try await manager.downloads.enqueue(request)
            }
            if state != .completed, state != nil {
                // One of the calls comes first; the download that follows is accepted whichever it was.
                switch kill % 4 {
                case 1: try await manager.downloads.cancel(key)
                case 2: try await manager.downloads.pause(key)
                case 3: try await manager.downloads.resume(key)
                default: break
                }
                if kill % 4 == 1 || kill % 4 == 2 {
                    #expect(try await manager.contents.find(key)?.state == .stopped, "followed at once: \(what)")
                }
                try await manager.downloads.start(key)
            }
            _ = try await manager.downloads.waitUntilIdle()
            #expect(try await manager.contents.find(key)?.state == .completed, what)
            await #expect(throws: LectureError(.alreadyDownloaded, detail: "k")) {
                try await manager.downloads.start(key)
            }
            await manager.close()
        }
        #expect(claimed > 0, "some kills left a claim")
        await sandbox.stop()
    }

    @Test func `a lecture that another process downloads is accepted, and its events arrive`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        // Each attempt gets 2 MB and keeps it: a small file would be complete after a few.
        let path = "/media/bytes-64M-4.mp4"
        try await sandbox.set(fault: "stall:2000000", on: path)
        let (one, two) = (
            try site.manager { $0.stallTimeout = .seconds(5) }, try site.manager { $0.stallTimeout = .seconds(5) }
        )
        let key = try await one.downloads.enqueue(DownloadRequest(url: "\(sandbox.http)\(path)"))
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end, try await two.contents.find(key)?.state != .downloading { await Task.yield() }
        let events = two.events
        try await two.downloads.start(key)
        await #expect(throws: LectureError(.alreadyDownloading, detail: key.text)) {
            try await one.downloads.start(key)
        }
        try await sandbox.set(fault: "", on: path)
        var bytes: Int64 = 0
        for await event in events {
            if case .progress(let progress) = event {
                #expect(progress.key == key && progress.bytes > bytes)
                bytes = progress.bytes
            }
            if case .completed(let content) = event {
                #expect(content.key == key)
                break
            }
        }
        #expect(try await two.downloads.waitUntilIdle())
        try await one.downloads.remove(key)
        // Gone for both, and requested as something that was never loaded.
        try await waitUntil { try await two.contents.find(key) == nil }
        await #expect(throws: LectureError(.notLoaded, detail: key.text)) { try await two.downloads.start(key) }
        await one.close()
        await two.close()
        await sandbox.stop()
    }

    @Test func `a complete lecture whose file is gone is downloaded again when it is asked for by its key`()
        async throws
    {
        let site = try Site()
        try site.file("a.mp4", bytes: 300_000)
        let nginx = try await NginxOrigin.start(serving: site.root)
        let manager = try site.manager()
        let key = try await manager.fetch("\(nginx.http)/a.mp4").key
        try FileManager.default.removeItem(atPath: try await manager.contents.path(of: key))
        try await manager.downloads.start(key)
        _ = try await manager.downloads.waitUntilIdle()
        #expect(FileManager.default.contents(atPath: try await manager.contents.path(of: key))?.count == 300_000)
        await manager.close()
        await nginx.stop()
    }
}
