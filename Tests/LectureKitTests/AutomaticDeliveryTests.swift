import Foundation
import Glibc
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

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
        try await waitUntil { try await resident.reports.summary().counts[.delivered] == 3 }
        #expect(try await sandbox.lmsSummary().once == 3)
        await other.close()
        await resident.close()
    }

    @Test(.enabled(if: StruckRun.isPossible, "Tools/strike needs python3 on x86-64"))
    func `a commit that becomes visible long after it was written is heard of`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        let resident = try manager(site, url)
        #expect(try await resident.reports.summary().counts[.delivered] == nil)
        let events = resident.events
        let program = try StruckRun(
            Places.builtProduct("lecturectl"), ["lms", "add", "--id", "slow", "--target", url],
            environment: [
                "HOME": site.directory.path, "LECTURE_STORE": site.store,
                "LECTURE_CONFIG": "", "XDG_CONFIG_HOME": "", "LECTURE_RESERVE": "1M",
            ])
        // Longer than writes are collected: the first look comes before the commit is visible.
        let (ending, syncs) = try await program.slowed(by: 400, syncing: ".db-wal")
        #expect(ending.status == 0 && syncs > 0, "\(ending.errorText)")
        try await delivered(1, events)
        #expect(try await sandbox.lmsSummary().once == 1)
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
        try await waitUntil { try await third.reports.summary().counts[.delivered] == 2 }
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
        try await waitUntil { try await second.reports.summary().counts[.delivered] == 1 }
        #expect(try await sandbox.lmsSummary().once == 1)
        await second.close()
    }

    @Test func `a target that asks to wait is not asked before, whatever the network does`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "status:503;retry=3600")
        let manager = try manager(site, "\(sandbox.http)/lms/json")
        let events = manager.events
        try await manager.reports.add(report("a"))
        _ = try await manager.first(in: events) { if case .reportsSent = $0 { true } else { false } }
        try await manager.reports.add(report("b"))
        await manager.networkChanges()
        await manager.networkChanges()
        // A call, which joins what the changes have begun, finds it waiting as well.
        let result = try await manager.reports.send()
        #expect(result.left == 2 && result.requests == 0)
        #expect(try await sandbox.lmsVisits().count == 1)
        await manager.close()
    }

    @Test func `a target that was away is asked when the network is another one`() async throws {
        let site = try Site()
        let (port, peer) = try Self.freePort()
        let manager = try manager(site, "http://127.0.0.1:\(port)/lms/json")
        let events = manager.events
        try await manager.reports.add(report("a"))
        _ = try await manager.first(in: events) { if case .reportObstacle = $0 { true } else { false } }
        // As after many failures.
        close(peer)
        let sandbox = try await SandboxOrigin.start(["--no-https", "--port", "\(port)"])
        try await waitUntil {
            await manager.networkChanges()
            return try await manager.reports.summary().counts[.delivered] == 1
        }
        #expect(try await sandbox.lmsSummary().once == 1)
        await manager.close()
    }

    /// A port of this machine on which nothing listens, kept by a socket that is bound to it.
    private static func freePort() throws -> (port: Int, socket: Int32) {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var one: Int32 = 1
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
                unsafe bind(number, place, length) == 0 && getsockname(number, place, &length) == 0
            }
        }
        try #require(status)
        return (Int(UInt16(bigEndian: address.sin_port)), number)
    }

    @Test func `dead letters that are to be sent again, and imported reports, go out by themselves`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "poison:bad")
        let manager = try manager(site, "\(sandbox.http)/lms/json")
        try await manager.reports.add(report("bad"))
        try await waitUntil { try await manager.reports.summary().counts[.dead] == 1 }
        try await sandbox.setLMS(habits: "")
        #expect(try await manager.reports.retry(matching: ReportQuery()) == 1)
        try await waitUntil { try await manager.reports.summary().counts[.delivered] == 1 }
        let shelf = try ReportShelf()
        var record = ReportRecord(
            id: "imported", content: "", user: "kim", session: "s", sequence: 1,
            wall: Timestamp(milliseconds: 1_700_000_000_000), values: .object([]), state: .pending, attempts: 0)
        record.target = ReportRecord.Target(
            url: "\(sandbox.http)/lms/json", method: "POST", format: .json, parameters: [])
        let file = try shelf.file([record])
        _ = try await manager.reports.import(from: file) { _ in }
        try await waitUntil { try await manager.reports.summary().counts[.delivered] == 2 }
        await shelf.manager.close()
        await manager.close()
    }

    @Test func `while another program sends, each report is sent once`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        try await sandbox.setLMS(habits: "slow:20")
        let (other, resident) = (try manager(site, url, .onDemand), try manager(site, url))
        for answer in try await other.reports.add((0..<300).map { report("r\($0)") }) { _ = try answer.get() }
        async let result = other.reports.send()
        try await waitUntil { try await resident.reports.summary().counts[.delivered] == 300 }
        _ = try await result
        let sums = try await sandbox.lmsSummary()
        #expect(sums.once == 300 && sums.more == 0 && sums.keyViolations == 0)
        #expect(try await resident.reports.summary().isConserved)
        await other.close()
        await resident.close()
    }

    @Test func `downloads that a broken network has stopped are queued at once when it is another one`() async throws {
        let site = try Site()
        let (port, peer) = try Self.freePort()
        let manager = try site.manager { ($0.isLongRunning, $0.maxAttempts) = (true, 1) }
        let events = manager.events
        let key = try await manager.downloads.enqueue(
            DownloadRequest(url: "http://127.0.0.1:\(port)/media/bytes-1M-1.mp4"))
        let event = try await manager.first(in: events) { if case .stopped = $0 { true } else { false } }
        guard case .stopped(let content) = event else { return }
        #expect(content.stopReason == .network)
        let due = try #require(content.nextAttempt)
        close(peer)
        let sandbox = try await SandboxOrigin.start(["--no-https", "--port", "\(port)"])
        await manager.networkChanges()
        _ = try await manager.first(in: events) { if case .completed = $0 { true } else { false } }
        let completed = try #require(try await manager.contents.find(key)?.completed)
        #expect(completed < due, "it did not wait for its next attempt")
        withExtendedLifetime(sandbox) {}
        await manager.close()
    }

    @Test func `a manager that is not long-running follows nothing`() async throws {
        let site = try Site()
        let manager = try site.manager()
        #expect(await manager.networkRefusal != nil)
        await manager.onNetworkChange { Issue.record("nothing is followed") }
        await manager.networkChanges()
        await manager.close()
        let resident = try site.manager { $0.isLongRunning = true }
        let isCalled = Guarded(false)
        await resident.onNetworkChange { isCalled.withLock { $0 = true } }
        await resident.networkChanges()
        #expect(isCalled.withLock { $0 })
        await resident.close()
        isCalled.withLock { $0 = false }
        await resident.networkChanges()
        #expect(!isCalled.withLock { $0 }, "after the end nothing is")
    }
}

extension LectureManager {
    /// As if the kernel had reported it.
    func networkChanges() {
        for listener in core.state.surroundings?.networkListeners ?? [] { listener() }
    }
}
