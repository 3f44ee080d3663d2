import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Fetching from a server that misbehaves on demand.
@Suite(.timeLimit(.minutes(3)))
struct SandboxFetchingNetTests {
    /// Servers that are odd but honest, or whose faults can be overcome: the right bytes are due.
    @Test(arguments: [
        "", "drop:200000;times=5", "drop:1500000;times=3", "no-range", "no-length", "weak-etag", "no-validator",
        "redirect:3", "status:503;retry=1;times=1", "status:500;times=2", "status:429;times=1", "rst;times=2",
    ])
    func `odd servers yield the right bytes`(fault: String) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-3M-7.mp4"
        try await sandbox.set(fault: fault, on: path)
        let digest = bytes(hex: try await sandbox.sha256(of: path))
        let manager = try site.manager { $0.stallTimeout = .seconds(5) }
        let content = try await manager.fetch("\(sandbox.http)\(path)") { $0.sha256 = digest }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.sha256 == digest)
        await manager.close()
        await sandbox.stop()
    }

    /// Servers whose answers are not the object: a named refusal is due, and no file under a final name.
    @Test(arguments: [
        ("html", LectureError.Code.notMedia), ("gzip", .codingRefused), ("status:404", .status(404)),
        ("status:403", .status(403)), ("redirect:30", .redirectLoop), ("status:204", .unexpectedStatus),
    ])
    func `answers that are not the object have their own code`(fault: String, code: LectureError.Code) async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-300K-7.mp4"
        try await sandbox.set(fault: fault, on: path)
        let manager = try site.manager()
        let content = try await manager.fetch("\(sandbox.http)\(path)")
        #expect(content.state == .failed)
        #expect(content.error?.code == code, "\(content.error?.message ?? "")")
        #expect(try site.mediaFiles().isEmpty)
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `another file than the expected one fails and leaves nothing under a final name`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let manager = try site.manager()
        let content = try await manager.fetch("\(sandbox.http)/media/bytes-2M-1.mp4") {
            $0.sha256 = .init(repeating: 1, count: 32)
        }
        #expect(content.state == .failed)
        #expect(content.error?.code == .digestMismatch)
        #expect(try site.mediaFiles().isEmpty)
        await #expect(throws: LectureError(.notComplete)) { try await manager.contents.path(of: content.key) }
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a file that changes half-way is fetched again and never mixed`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-4M-3.mp4"
        // The first answer breaks in the middle; then the server has another version.
        try await sandbox.set(fault: "drop:2500000;times=1,changed:after=1", on: path)
        let manager = try site.manager()
        let content = try await manager.fetch("\(sandbox.http)\(path)")
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        let digest = try await ChildProcess.run(
            "/usr/bin/sha256sum", [try await manager.contents.path(of: content.key)]
        ).text
            .prefix(64)
        #expect(try await String(digest) == sandbox.sha256(of: path, version: 1))
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `closing half-way keeps verified chunks, and the next manager resumes after them`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-32M-6.mp4"
        // Stalled after 6 MB, so that it is not complete however late this test sees it.
        try await sandbox.set(fault: "stall:6000000", on: path)
        let first = try site.manager { $0.connections = 1 }
        let events = first.events
        let key = try await first.downloads.enqueue(DownloadRequest(url: "\(sandbox.http)\(path)"))
        _ = try await first.first(in: events) { event in
            if case .progress(let progress) = event { progress.committedChunks >= 3 } else { false }
        }
        await first.close()
        try await sandbox.set(fault: "", on: path)

        let second = try site.manager()
        let stored = try #require(try await second.contents.find(key))
        #expect(stored.state == .queued)
        #expect(stored.committedChunks >= 3)
        try await second.downloads.continueUnfinished()
        #expect(try await second.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await second.contents.find(key)?.state == .completed)
        let digest = try await ChildProcess.run("/usr/bin/sha256sum", [try await second.contents.path(of: key)]).text
            .prefix(64)
        #expect(try await String(digest) == sandbox.sha256(of: path))
        let summary = try await second.summary()
        #expect(summary.reusedBytes >= stored.committedBytes)
        #expect(summary.fetchedBytes <= (32 << 20) - stored.committedBytes)
        let last = try #require(try await sandbox.requests(for: path).last)
        #expect(last.status == 206)
        #expect(last.ifRange != nil)
        await second.close()
        await sandbox.stop()
    }

    @Test
    func `a gateway's link is loaded, its short-lived URLs are renewed, and verified bytes stay`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start(["--lease-seconds", "1"])
        // The first connection breaks when its URL has expired; the resumed one is refused.
        try await sandbox.set(fault: "slow:1000000,drop:1500000;times=1", on: "/media/*")
        let link = try await sandbox.link(key: "bytes-4M-9")
        let manager = try site.manager { $0.connections = 1 }
        let provisional = try await manager.downloads.enqueue(DownloadRequest(url: link))
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let content = try #require(try await manager.contents.list().first)
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.key.text == "bytes-4M-9")
        // The key that was derived from the link still finds the lecture.
        #expect(try await manager.contents.find(provisional)?.key == content.key)
        let requests = try await sandbox.requests()
        #expect(requests.contains { $0.status == 403 }, "the URL was to run out while it was used")
        #expect(requests.count(where: { $0.path == "/si" }) >= 2)
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a server that asks to wait for an hour stops the content until then, also for the next manager`() async throws
    {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let path = "/media/bytes-300K-7.mp4"
        try await sandbox.set(fault: "status:503;retry=3600", on: path)
        let manager = try site.manager()
        let content = try await manager.fetch("\(sandbox.http)\(path)")
        #expect(content.state == .stopped)
        #expect(content.stopReason == .serverWait)
        #expect(content.nextAttempt.map { $0 > content.added + .seconds(3000) } == true)
        await manager.close()
        let asked = try await sandbox.requests(for: path).count

        let second = try site.manager()
        let again = try await second.fetch("\(sandbox.http)\(path)")
        #expect(again.state == .stopped)
        #expect(again.stopReason == .serverWait)
        #expect(try await sandbox.requests(for: path).count == asked, "it was requested again too early")
        await second.close()
        await sandbox.stop()
    }

    @Test
    func `a mirror takes over when the first server has nothing`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        try await sandbox.set(fault: "status:404", on: "/media/bytes-2M-1.mp4")
        let digest = bytes(hex: try await sandbox.sha256(of: "/media/bytes-2M-2.mp4"))
        let manager = try site.manager()
        let content = try await manager.fetch("\(sandbox.http)/media/bytes-2M-1.mp4") { request in
            request.mirrors = ["\(sandbox.http)/media/bytes-2M-2.mp4"]
            request.sha256 = digest
        }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.sha256 == digest)
        await manager.close()
        await sandbox.stop()
    }

    @Test
    func `a mirror that serves other bytes is dropped and the right file remains`() async throws {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start()
        let digest = bytes(hex: try await sandbox.sha256(of: "/media/bytes-8M-1.mp4"))
        let manager = try site.manager { $0.connections = 2 }
        let content = try await manager.fetch("\(sandbox.http)/media/bytes-8M-1.mp4") { request in
            request.mirrors = ["\(sandbox.http)/media/bytes-8M-2.mp4"]
            request.sha256 = digest
        }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.sha256 == digest)
        await manager.close()
        await sandbox.stop()
    }
}
