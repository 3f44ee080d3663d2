import Foundation
import LectureKit
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// Settings that an application changes while its manager works. The managers start with a patience of ten minutes, so
/// that a test only ends in time if the new one applies.
@Suite(.timeLimit(.minutes(2)))
struct PatienceNetTests {
    private static func manager(_ site: Site, _ sandbox: SandboxOrigin) throws -> LectureManager {
        try site.manager { configuration in
            configuration.stallTimeout = .seconds(600)
            configuration.deviceDirectory = site.directory.file("device")
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
        }
    }

    @Test(arguments: [0, 2])
    func `a stalled download is tried as often as configured, free space or not`(retries: Int)
        async throws
    {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try Self.manager(site, sandbox)
        if retries > 0 {
            let first = try await manager.fetch("\(sandbox.http)/media/bytes-64K-1.mp4")
            #expect(first.state == .completed)
        }
        try await manager.setPatience(timeout: .milliseconds(300), retries: retries)
        try await sandbox.set(fault: "stall:0", on: "/media/bytes-64K-2.mp4")
        let content = try await manager.fetch("\(sandbox.http)/media/bytes-64K-2.mp4")
        #expect(content.state == .failed || content.state == .stopped)
        #expect(content.error?.code == .transfer(28))
        #expect(try await sandbox.requests(for: "/media/bytes-64K-2.mp4").count == retries + 1)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a probe abandons a silent server`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try Self.manager(site, sandbox)
        try await manager.setPatience(timeout: .milliseconds(300), retries: 0)
        let url = "\(sandbox.http)/media/bytes-64K-2.mp4"
        try await sandbox.set(fault: "delay:60000", on: "/media/bytes-64K-2.mp4")
        await #expect(throws: LectureError(.transfer(28))) { try await manager.downloads.load(url) }
        await #expect(throws: LectureError(.transfer(28))) { try await manager.document(at: url) }
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a silent licence server is asked as often as configured`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        var policy = CallbackPolicy()
        policy.checkAbuse = 1
        try await sandbox.set(policy: policy)
        let manager = try Self.manager(site, sandbox)
        let key = try ContentKey("bytes-64K-3")
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        try await sandbox.set(habits: "timeout:100")
        try await manager.setPatience(timeout: .milliseconds(300), retries: 1)
        let report = try await manager.licences.renew(.keys([key]))
        #expect(report.failed == 1)
        #expect(try await sandbox.callbackCounts().first { $0.kind == 3 }?.asked == 2)
        var options = RenewalOptions()
        options.maxAttempts = 1
        #expect(try await manager.licences.renew(.keys([key]), options: options).failed == 1)
        #expect(try await sandbox.callbackCounts().first { $0.kind == 3 }?.asked == 3)
        // A play asks once, and waits no longer than the setting either.
        let error = await #expect(throws: LectureError.self) {
            try await manager.licences.beginPlay(key, patience: .seconds(600))
        }
        #expect(error?.code == .licenceCheckDue)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a play does not wait until a store that cannot be written can be`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        var policy = CallbackPolicy()
        policy.checkAbuse = 1
        try await sandbox.set(policy: policy)
        let manager = try Self.manager(site, sandbox)
        let key = try ContentKey("bytes-64K-3")
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        try await manager.licences.sendPendingCallbacks()
        let database = try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite)
        try database.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON licence_attempt BEGIN SELECT RAISE(ABORT, 'no'); END")
        let events = manager.events
        let failures = Task {
            await events.reduce(0) { count, event in
                if case .trouble(let error) = event, error.code == .storeFailed { count + 1 } else { count }
            }
        }
        let error = await #expect(throws: LectureError.self) {
            try await manager.licences.beginPlay(key, patience: .seconds(600))
        }
        #expect(error?.code == .licenceCheckDue)
        try database.execute("DROP TRIGGER broken")
        await manager.close()
        #expect(await failures.value == 1, "after the first failure, and not after three")
        // The answer was kept: the server is not asked again for it.
        #expect(try await sandbox.callbackCounts().first { $0.kind == 3 }?.asked == 1)
        await sandbox.stop()
    }

    @Test(arguments: [true, false])
    func `a silent report target is abandoned as configured`(hasSentBefore: Bool) async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager {
            $0.stallTimeout = .seconds(600)
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        if hasSentBefore {
            _ = try await manager.reports.add(LearningReport(values: "{}", user: "kim", session: "0"))
            #expect(try await manager.reports.send().delivered == 1)
        }
        try await manager.setPatience(timeout: .milliseconds(300), retries: 1)
        try await sandbox.setLMS(habits: "timeout:100")
        _ = try await manager.reports.add(LearningReport(values: "{}", user: "kim", session: "1"))
        let before = try await sandbox.requests(for: "/lms/json").count
        #expect(try await manager.reports.send().left == 1)
        #expect(try await sandbox.requests(for: "/lms/json").count == before + 2)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `an invalid patience is refused and changes nothing`() async throws {
        let manager = try Site().manager()
        for (timeout, retries) in [(Duration.zero, 1), (.seconds(-1), 1), (.seconds(86_401), 1), (.seconds(1), -1)] {
            await #expect(throws: LectureError(.parameter)) {
                try await manager.setPatience(timeout: timeout, retries: retries)
            }
        }
        await #expect(throws: LectureError(.parameter)) {
            try await manager.setPatience(timeout: .seconds(1), retries: 1000)
        }
        try await manager.setPatience(timeout: .seconds(86_400), retries: 999)
        await manager.close()
    }

    // MARK: The parameter of licence servers

    @Test func `every request carries the text unchanged until there is none`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        let manager = try Self.manager(site, sandbox)
        let shown = Guarded("")
        manager.observe { _, event in shown.withLock { $0 += "\(event)" } }
        let canary = "canary-7e1"
        let text = "\(canary) a b&items=[]+%41=é☃\r\n\"\u{1F393}"
        await manager.licences.setParameter(text)
        let key = try ContentKey("bytes-64K-4")
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        try await manager.licences.sendPendingCallbacks()
        var items = try await sandbox.callbackItems()
        #expect(Set(items.map(\.kind)) == [1, 2] && items.allSatisfy { $0.extra == text })
        await manager.licences.setParameter("")
        #expect(try await manager.licences.renew(.keys([key])).renewed == 1)
        items = try await sandbox.callbackItems(after: items.count)
        #expect(items.map(\.kind) == [3] && items[0].extra == "")
        await manager.licences.setParameter(nil)
        #expect(try await manager.licences.renew(.keys([key])).renewed == 1)
        #expect(try await sandbox.callbackItems(after: items[0].number).map(\.extra) == [nil])
        #expect(try await manager.licences.attempts(of: key).count == 4)
        await manager.close()
        #expect(shown.withLock { $0.contains("licenceExchange") && !$0.contains(canary) })
        for name in try FileManager.default.subpathsOfDirectory(atPath: site.store) {
            let bytes = try? Data(contentsOf: URL(filePath: "\(site.store)/\(name)"))
            #expect(bytes?.range(of: Data(canary.utf8)) == nil, "\(name)")
        }
        await sandbox.stop()
    }

    @Test func `a repeated request carries the text of its own time`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        let manager = try Self.manager(site, sandbox)
        let key = try ContentKey("bytes-64K-5")
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        try await manager.licences.sendPendingCallbacks()
        let seen = try await sandbox.callbackItems().count
        await manager.licences.setParameter("first")
        try await sandbox.set(habits: "status:503;retry=2;times=1")
        let events = manager.events
        async let report = manager.licences.renew(.keys([key]))
        // The server asks to wait for two seconds; its refusal is reported before they start.
        _ = try await manager.first(in: events) { if case .licenceExchange = $0 { true } else { false } }
        await manager.licences.setParameter("second")
        #expect(try await report.renewed == 1)
        #expect(try await sandbox.callbackItems(after: seen).map(\.extra) == ["first", "second"])
        await manager.close()
        await sandbox.stop()
    }
}
