import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Reports that go out by themselves, with a real store and real servers.
@Suite(.timeLimit(.minutes(2)))
struct AutomaticDeliveryNetTests {
    private func report(_ id: String) -> LearningReport {
        var report = LearningReport(values: #"{"n":1}"#, user: "kim", session: id)
        report.id = id
        return report
    }

    private func manager(
        _ site: Site, _ url: String, _ delivery: StatisticsConfiguration.Delivery = .automatic,
        _ change: (inout LectureConfiguration) -> Void = { _ in }
    ) throws -> LectureManager {
        try site.manager {
            $0.statistics.target = ReportTarget(url: url, format: .json)
            $0.statistics.delivery = delivery
            change(&$0)
        }
    }

    /// Waits until a run has delivered so many, counted from the subscription.
    private func delivered(_ count: Int, _ events: AsyncStream<LectureEvent>) async throws {
        var sum = 0
        for await event in events {
            if case .reportsSent(let result) = event { sum += result.delivered }
            if sum >= count { return }
        }
        throw LectureError(.closing)
    }

    @Test func `reports are sent when they are stored, also by another program, and a former one's at the start`()
        async throws
    {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        let other = try manager(site, url, .onDemand)
        try await other.reports.add(report("before"))
        let resident = try manager(site, url)
        let events = resident.events
        try await delivered(1, events)
        try await resident.reports.add(report("here"))
        try await delivered(1, events)
        // The other program sends nothing itself; its commit is heard of.
        try await other.reports.add(report("there"))
        while try await resident.reports.summary().counts[.delivered] != 3 { await Task.yield() }
        #expect(try await sandbox.lmsSummary().once == 3)
        await other.close()
        await resident.close()
    }

    @Test func `without a target nothing is sent, and no program is registered`() async throws {
        let site = try Site()
        let manager = try site.manager { $0.statistics.delivery = .automatic }
        try await manager.reports.add(report("a"))
        #expect(try await manager.reports.summary().withoutTarget == 1)
        #expect(try await manager.processes().isEmpty)
        await manager.close()
    }

    @Test func `a suspended target is left alone until a person sends, or the settings change`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        try await sandbox.setLMS(habits: "authorization:secret")
        let first = try manager(site, url)
        let events = first.events
        try await first.reports.add(report("a"))
        _ = try await first.first(in: events) { if case .reportsSent = $0 { true } else { false } }
        let asked = try await sandbox.lmsVisits().count
        try await first.reports.add(report("b"))
        #expect(try await first.reports.summary().targets.first?.suspension == .unauthorized)
        await first.close()
        #expect(try await sandbox.lmsVisits().count == asked, "a suspended target was asked")
        try await sandbox.setLMS(habits: "")
        // The same settings: it stays suspended.
        let second = try manager(site, url)
        #expect(try await second.reports.summary().targets.first?.suspension == .unauthorized)
        await second.close()
        #expect(try await sandbox.lmsVisits().count == asked)
        // Others: it is asked again.
        let third = try manager(site, url) {
            var rule = StatisticsConfiguration.Rule(url: url)
            rule.batch = 50
            $0.statistics.rules = [rule]
        }
        while try await third.reports.summary().counts[.delivered] != 2 { await Task.yield() }
        await third.close()
    }

    @Test func `a run that is under way ends with the manager, and the next one continues it`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        try await sandbox.setLMS(habits: "hang:100")
        let first = try manager(site, url)
        try await first.reports.add(report("a"))
        while try await sandbox.lmsVisits().isEmpty {}
        await first.close()
        try await sandbox.setLMS(habits: "")
        let second = try manager(site, url)
        while try await second.reports.summary().counts[.delivered] != 1 { await Task.yield() }
        #expect(try await sandbox.lmsSummary().once == 1)
        await second.close()
    }
}
