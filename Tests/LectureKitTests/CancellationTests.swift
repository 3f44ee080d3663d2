import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Calls that wait, in tasks that are cancelled. The servers hold the response back, so that a call that ignores its
/// cancellation never ends.
@Suite(.timeLimit(.minutes(2)))
struct CancellationNetTests {
    /// Its patience outlasts the tests, so that a call only ends by its cancellation.
    private static func manager(_ site: Site) throws -> LectureManager {
        try site.streamer { ($0.connections, $0.stallTimeout) = (1, .seconds(600)) }
    }

    // MARK: Downloads

    @Test func `when idle a cancelled task gets its error, and every other task its answer`() async throws {
        let manager = try Site().manager()
        #expect(await cancelledBefore { try await manager.downloads.waitUntilIdle() }.isCancelled)
        #expect(try await manager.downloads.waitUntilIdle())
        await manager.close()
    }

    @Test func `of a hundred tasks that wait for a download the cancelled ones end at once and the others get it`()
        async throws
    {
        let (site, server) = (try Site(), try HoldingServer(sending: 100_000))
        let manager = try Self.manager(site)
        let key = try await manager.downloads.enqueue(DownloadRequest(url: server.url))
        await server.untilHeld()
        let tasks = (0..<100).map { _ in Task { try await manager.downloads.waitUntilIdle() } }
        for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
        for (number, task) in tasks.enumerated() where number % 2 == 0 { #expect(await task.result.isCancelled) }
        // The download has not been released meanwhile, and was not requested again.
        let state = try await manager.contents.find(key)?.state
        #expect(state == .loading || state == .downloading, "\(String(describing: state))")
        #expect(server.server.connections == 1)
        server.letGo()
        for (number, task) in tasks.enumerated() where number % 2 == 1 { #expect(try await task.value) }
        #expect(try await manager.contents.find(key)?.state == .completed)
        #expect(try await manager.bytes(key) == Data(server.bytes))
        await manager.close()
    }

    @Test func `a cancelled task closes the manager completely, and the download continues with the next one`()
        async throws
    {
        let (site, server) = (try Site(), try HoldingServer(bytes: 3 << 20, sending: 2 << 20))
        let manager = try Self.manager(site)
        let key = try await manager.downloads.enqueue(DownloadRequest(url: server.url))
        await server.untilHeld()
        let waiting = Task { try await manager.downloads.waitUntilIdle() }
        _ = try await cancelledBefore { await manager.close() }.get()
        #expect(try await waiting.value == false)
        await server.untilLeft()
        let again = try Self.manager(site)
        #expect(try await again.contents.find(key)?.state == .queued)
        #expect(try await again.downloads.continueUnfinished() == 1)
        await server.untilHeld()
        server.letGo(2)
        #expect(try await again.downloads.waitUntilIdle())
        #expect(try await again.contents.find(key)?.state == .completed)
        await again.close()
    }

    @Test func `more lectures than the head of the queue are all continued, and counted once`() async throws {
        let (site, server) = (try Site(), try HoldingServer(sending: nil))
        let manager = try Self.manager(site)
        let requests = try (0..<1200).map { number in
            var request = DownloadRequest(url: server.url)
            request.key = try ContentKey("n\(number)")
            return request
        }
        #expect(try await manager.downloads.enqueue(requests).count == 1200)
        try await manager.downloads.pause(try ContentKey("n1199"))
        await manager.close()
        let again = try Self.manager(site)
        #expect(try await again.downloads.continueUnfinished() == 1199)
        #expect(try await again.summary().counts.values.reduce(0, +) == 1199)
        #expect(try await again.downloads.continueUnfinished() == 0)
        await server.untilHeld()
        await again.close()
        // A closed manager has nothing to add to its run.
        await #expect(throws: LectureError.self) { try await again.downloads.continueUnfinished() }
    }

    // MARK: Requests of one caller

    @Test(arguments: ["load", "document", "plan", "streams.open"])
    func `a request without other callers ends with its caller, and nothing is registered`(call: String)
        async throws
    {
        let (site, server) = (try Site(), try HoldingServer(sending: nil))
        let manager = try Self.manager(site)
        let url = server.url
        let task = Task {
            switch call {
            case "load": _ = try await manager.downloads.load(url)
            case "document": _ = try await manager.document(at: url)
            case "plan": _ = try await manager.downloads.plan([DownloadRequest(url: url)], check: .head)
            default: _ = try await manager.streams.open(url)
            }
        }
        await server.untilHeld()
        task.cancel()
        #expect(await task.result.isCancelled)
        await server.untilLeft()
        #expect(try await manager.contents.list().isEmpty)
        server.letGo()
        await manager.close()
    }

    @Test func `a cancelled read yields to the next one, also while it waits`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try Self.manager(site)
        let path = "/media/bytes-5M-61.mp4"
        let stream = try await manager.streams.open("\(sandbox.http)\(path)")
        let probes = try await sandbox.requests(for: path).count
        try await sandbox.set(fault: "stall:100000", on: path)
        let first = Task { try await stream.data() }
        while try await sandbox.requests(for: path).count == probes {}
        let second = Task { try await stream.data() }
        let third = Task { try await stream.data(0..<1000) }
        second.cancel()
        #expect(await second.result.isCancelled)
        try await sandbox.set(fault: "", on: path)
        first.cancel()
        #expect(await first.result.isCancelled)
        let bytes = try await sandbox.bytes(of: path)
        #expect(try await third.value == bytes.prefix(1000))
        #expect(try await stream.data() == bytes)
        await stream.end()
        await manager.close()
        await sandbox.stop()
    }

    // MARK: Before the call

    /// Calls that wait, by name.
    private static let calls: [String: @Sendable (LectureManager, ContentKey, Site) async throws -> Void] = [
        "downloads.waitUntilIdle": { manager, _, _ in try await manager.downloads.waitUntilIdle() },
        "downloads.load": { manager, _, _ in _ = try await manager.downloads.load("http://127.0.0.1:1/a.mp4") },
        "document": { manager, _, _ in _ = try await manager.document(at: "http://127.0.0.1:1/a.txt") },
        "downloads.plan": { manager, _, _ in
            _ = try await manager.downloads.plan([DownloadRequest(url: "http://127.0.0.1:1/a.mp4")])
        },
        "downloads.refresh": { manager, key, _ in _ = try await manager.downloads.refresh([key]) },
        "contents.verify": { manager, key, _ in _ = try await manager.contents.verify(key) },
        "contents.read": { manager, key, _ in
            try await manager.contents.read(key) { _ in Issue.record("a byte was handed out") }
        },
        "licences.beginPlay": { manager, key, _ in _ = try await manager.licences.beginPlay(key) },
        "streams.open": { manager, _, _ in _ = try await manager.streams.open("http://127.0.0.1:1/a.mp4") },
        "licences.renew": { manager, _, _ in _ = try await manager.licences.renew(.all) },
        "licences.sendPendingCallbacks": { manager, _, _ in try await manager.licences.sendPendingCallbacks() },
        "reports.send": { manager, _, _ in _ = try await manager.reports.send() },
        "reports.export": { manager, _, site in
            _ = try await manager.reports.export(to: .file(site.directory.file("out.jsonl"), mayReplace: false))
        },
        "reports.import": { manager, _, site in
            _ = try await manager.reports.import(from: site.directory.file("in.jsonl")) { _ in }
        },
    ]

    @Test(arguments: calls.keys.sorted())
    func `a call in an already cancelled task does nothing`(name: String) async throws {
        let call = try #require(Self.calls[name])
        let (site, origin) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try Self.manager(site)
        let key = try await manager.fetch("\(origin.http)/media/bytes-64K-1.mp4").key
        let before = try await manager.summary()
        #expect(await cancelledBefore { try await call(manager, key, site) }.isCancelled)
        // The manager works as before.
        #expect(try await manager.contents.list().map(\.state) == [.completed])
        #expect(try await manager.summary() == before)
        #expect(try await manager.contents.verify(key).damaged.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: site.directory.file("out.jsonl")))
        await manager.close()
        await origin.stop()
    }

    // MARK: Files

    @Test func `a verification that takes a year ends when its task is cancelled, and finds nothing`() async throws {
        let (site, origin) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let key = try await manager.fetch("\(origin.http)/media/bytes-3M-5.mp4").key
        var slow = VerifyOptions()
        slow.bytesPerSecond = 1
        let options = slow
        let path = try await manager.contents.path(of: key)
        let task = Task { try await manager.contents.verify(key, options: options) }
        // Its file is open as soon as reading starts.
        try await waitUntil { Self.openFiles().contains(path) }
        task.cancel()
        #expect(await task.result.isCancelled)
        try await waitUntil { !Self.openFiles().contains(path) }
        #expect(try await manager.contents.find(key)?.state == .completed)
        #expect(try await manager.contents.verify(key).damaged.isEmpty)
        await manager.close()
        await origin.stop()
    }

    private static func openFiles() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    }

    @Test func `a read that is cancelled ends with the chunk that it reads`() async throws {
        let (site, origin) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let key = try await manager.fetch("\(origin.http)/media/bytes-12M-3.mp4").key
        let taken = Guarded(0)
        let task = Task {
            try await manager.contents.read(key) { bytes in
                taken.withLock { $0 += bytes.count }
                // From within, so that the moment of the cancellation is certain.
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            }
        }
        #expect(await task.result.isCancelled)
        #expect((1...2 << 20).contains(taken.withLock { $0 }))
        await manager.close()
        await origin.stop()
    }

    // MARK: Other processes

    @Test func `a task that waits for a worker may be cancelled, and the worker continues`() async throws {
        let site = try Site()
        try await site.manager().close()
        let worker = try BackgroundWorker(
            LectureConfiguration(storeDirectory: site.store), program: Places.builtProduct("lecturectl"))
        let tasks = (0..<10).map { _ in Task { try await worker.untilEnded() } }
        for task in tasks.dropFirst() { task.cancel() }
        for task in tasks.dropFirst() { #expect(await task.result.isCancelled) }
        #expect(await cancelledBefore { try await worker.untilEnded() }.isCancelled)
        #expect(kill(worker.processIdentifier, 0) == 0)
        worker.dismiss()
        try await tasks[0].value
    }
}
