import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Cancelled tasks that wait for licence servers and learning management systems which never answer.
@Suite(.timeLimit(.minutes(2)))
struct ServerCancellationNetTests {
    private static func manager(_ site: Site, _ sandbox: SandboxOrigin) throws -> LectureManager {
        try site.manager { configuration in
            configuration.stallTimeout = .seconds(600)
            configuration.deviceDirectory = site.directory.file("device")
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
            configuration.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
    }

    /// A manager with a licensed lecture whose server must be asked before each play, and no longer answers.
    private static func silence(
        _ site: Site, _ policy: CallbackPolicy
    ) async throws -> (SandboxOrigin, LectureManager, ContentKey) {
        let sandbox = try await SandboxOrigin.start(["--no-https", "--licensed"])
        try await sandbox.set(policy: policy)
        let manager = try manager(site, sandbox)
        let key = try ContentKey("bytes-64K-3")
        #expect(try await manager.fetch(try await sandbox.link(key: key.text)).state == .completed)
        try await manager.licences.sendPendingCallbacks()
        try await sandbox.set(habits: "timeout:100")
        return (sandbox, manager, key)
    }

    private static func asked(_ sandbox: SandboxOrigin) async throws -> Int {
        try await sandbox.callbackCounts().first { $0.kind == 3 }?.asked ?? 0
    }

    @Test func `a play cancelled during its check is not counted, and other tasks wait on`() async throws {
        let site = try Site()
        var policy = CallbackPolicy()
        (policy.checkAbuse, policy.expirationCount) = (1, 5)
        let (sandbox, manager, key) = try await Self.silence(site, policy)
        let plays = (0..<8).map { _ in Task { try await manager.licences.beginPlay(key, patience: .seconds(4)) } }
        while try await Self.asked(sandbox) == 0 {}
        for play in plays.dropFirst() { play.cancel() }
        for play in plays.dropFirst() { #expect(await play.result.isCancelled) }
        // The remaining one waits until its own patience is over.
        let error = await #expect(throws: LectureError.self) { try await plays[0].value }
        #expect(error?.code == .licenceCheckDue)
        #expect(try await manager.licences.status(of: key)?.countLeft == 5)
        try await sandbox.set(habits: "")
        try await manager.licences.beginPlay(key).end()
        await manager.close()
        await sandbox.stop()
    }

    @Test func `a renewal continues when the task that started it is cancelled`() async throws {
        let site = try Site()
        let (sandbox, manager, key) = try await Self.silence(site, CallbackPolicy())
        let events = manager.events
        let first = Task { try await manager.licences.renew(.keys([key])) }
        while try await Self.asked(sandbox) == 0 {}
        first.cancel()
        #expect(await first.result.isCancelled)
        await manager.licences.stopRenewal()
        let event = try await manager.first(in: events) { if case .renewalEnded = $0 { true } else { false } }
        guard case .renewalEnded(let report) = event else { return }
        #expect(report.total == 1 && report.waiting == 1)
        // The next one uses the same licence again.
        try await sandbox.set(habits: "")
        #expect(try await manager.licences.renew(.keys([key])).renewed == 1)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `of two senders one may be cancelled, and the reports are sent once`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "hang:100")
        let manager = try Self.manager(site, sandbox)
        _ = try await manager.reports.add(
            (0..<50).map { number in
                var report = LearningReport(values: #"{"n":1}"#, user: "kim", session: "1")
                report.id = "r\(number)"
                return report
            })
        let first = Task { try await manager.reports.send() }
        let second = Task { try await manager.reports.send() }
        while try await sandbox.lmsVisits().isEmpty {}
        first.cancel()
        #expect(await first.result.isCancelled)
        await manager.reports.stopSending()
        #expect(try await second.value.left == 50)
        try await sandbox.setLMS(habits: "")
        #expect(try await manager.reports.send().delivered == 50)
        let sums = try await sandbox.lmsSummary()
        #expect(sums.once == 50 && sums.more == 0)
        await manager.close()
        await sandbox.stop()
    }

    @Test func `reports may be sent again before the former sending has stopped`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "hang:100")
        let manager = try Self.manager(site, sandbox)
        _ = try await manager.reports.add(LearningReport(values: #"{"n":1}"#, user: "kim", session: "1"))
        let first = Task { try await manager.reports.send() }
        while try await sandbox.lmsVisits().isEmpty {}
        let stop = Task { await manager.reports.stopSending() }
        let hasEnded = Guarded(false)
        let second = Task {
            defer { hasEnded.withLock { $0 = true } }
            return try await manager.reports.send()
        }
        await stop.value
        #expect(try await first.value.left == 1)
        // It was stopped with the first, or is a sending of its own.
        while !hasEnded.withLock(\.self) { await manager.reports.stopSending() }
        #expect(try await second.value.delivered == 0)
        await manager.close()
        await sandbox.stop()
    }
}
