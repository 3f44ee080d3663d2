import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Learning reports through the library, with a real store and real servers.
@Suite(.timeLimit(.minutes(2)))
struct StatisticsNetTests {
    private func report(_ id: String, _ user: String = "kim", _ session: String = "1") -> LearningReport {
        var report = LearningReport(values: #"{"n":1}"#, user: user, session: session)
        report.id = id
        return report
    }

    @Test func `a report is stored once, numbered, and waits for a target`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let first = try await manager.reports.add(report("a"))
        #expect(first.map(\.id) == ["a"] && first[0].isNew && first[0].sequence == 1 && first[0].target == nil)
        let again = try await manager.reports.add(report("a"))
        #expect(!again[0].isNew && again[0].sequence == 1)
        #expect(try await manager.reports.add(report("b"))[0].sequence == 2)
        var other = report("a")
        other.values = #"{"n":2}"#
        await #expect(throws: LectureError(.reportConflict)) { try await manager.reports.add(other) }
        let summary = try await manager.reports.summary()
        #expect(summary.created == 2 && summary.withoutTarget == 2 && summary.isConserved)
        let result = try await manager.reports.send()
        #expect(result.left == 2 && result.obstacles.map(\.error.code) == [.reportTargetMissing])
        await manager.close()
        await #expect(throws: LectureError(.closing)) { try await manager.reports.add(report("c")) }
    }

    @Test func `of many reports the invalid ones are named and the others stored`() async throws {
        let site = try Site()
        let manager = try site.manager()
        var bad = report("x")
        bad.values = "[]"
        var refused = report("y")
        refused.target = ReportTarget(url: "ftp://h/x", format: .json)
        var conflict = report("a")
        conflict.user = "lee"
        let results = try await manager.reports.add([report("a"), bad, refused, conflict, report("b")])
        #expect(results.map { (try? $0.get())?.first?.id } == ["a", nil, nil, nil, "b"])
        let codes = results.compactMap { result in
            if case .failure(let error) = result { error.code } else { nil as LectureError.Code? }
        }
        #expect(codes == [.reportInvalid, .reportInvalid, .reportConflict])
        #expect(try await manager.reports.list().rows.map(\.id) == ["a", "b"])
        await manager.close()
    }

    @Test func `reports are sent, published, and pruned after their retention time`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
            $0.statistics.keepDays = 0
        }
        let events = manager.events
        for answer in try await manager.reports.add((0..<250).map { report("r\($0)", "u\($0 % 7)") }) {
            _ = try answer.get()
        }
        var options = SendOptions()
        options.namesDelivered = true
        let result = try await manager.reports.send(options: options)
        #expect(result.delivered == 250 && result.left == 0 && result.obstacles.isEmpty)
        let sums = try await sandbox.lmsSummary()
        #expect(sums.once == 250 && sums.more == 0 && sums.outOfOrder == 0 && sums.keyViolations == 0)
        let summary = try await manager.reports.summary()
        #expect(summary.created == 250 && summary.isConserved)
        #expect((summary.counts[.delivered] ?? 0) + summary.pruned == 250)
        await manager.close()
        var named: Set<String> = []
        var reported: ReportSendResult?
        for await event in events {
            if case .reportsDelivered(let ids) = event { named.formUnion(ids) }
            if case .reportsSent(let result) = event { reported = result }
        }
        #expect(named == Set((0..<250).map { "r\($0)" }) && reported == result)
    }

    @Test func `a dead letter is reported, listed and sent again`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "poison:bad")
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        let events = manager.events
        _ = try await manager.reports.add(["a", "bad", "c"].map { report($0, $0) })
        let result = try await manager.reports.send()
        #expect(result.delivered == 2 && result.refused == 1 && result.left == 0)
        let event = try await manager.first(in: events) { if case .reportRefused = $0 { true } else { false } }
        guard case .reportRefused(let id, let reason, let error) = event else { return }
        #expect(id == "bad" && reason == .refused && error.code == .reportRefused)
        var query = ReportQuery()
        query.states = [.dead]
        let dead = try await manager.reports.list(query).rows
        #expect(dead.map(\.id) == ["bad"] && dead[0].reason == .refused && dead[0].answer?.status == 400)
        try await sandbox.setLMS(habits: "")
        query.targetURL = "http://elsewhere/"
        #expect(try await manager.reports.retry(matching: query) == 0)
        query.targetURL = "\(sandbox.http)/lms/json"
        #expect(try await manager.reports.retry(matching: query) == 1)
        #expect(try await manager.reports.send().delivered == 1)
        #expect(try await sandbox.lmsSummary().once == 3)
        await manager.close()
    }

    @Test func `a stopped sending returns, and the next one continues with the same ids`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "hang:100")
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        _ = try await manager.reports.add((0..<50).map { report("r\($0)") })
        async let sending = manager.reports.send()
        while try await sandbox.lmsVisits().isEmpty {}
        await manager.reports.stopSending()
        #expect(try await sending.left == 50)
        #expect(try await manager.reports.summary().counts == [.pending: 50])
        try await sandbox.setLMS(habits: "")
        #expect(try await manager.reports.send().delivered == 50)
        let sums = try await sandbox.lmsSummary()
        #expect(sums.once == 50 && sums.more == 0 && sums.keyViolations == 0 && sums.keys == 1)
        await manager.close()
    }

    @Test func `a rule applies to its own server, and the longest prefix wins`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/lms/json"
        try await sandbox.setLMS(habits: "authorization:Key-1,gzip")
        try site.directory.write("Key-1", to: "token")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: site.directory.file("token"))
        var wide = StatisticsConfiguration.Rule(url: sandbox.http)
        wide.batch = 7
        var narrow = StatisticsConfiguration.Rule(url: "\(sandbox.http)\(path)")
        (narrow.batch, narrow.isCompressed) = (10, true)
        narrow.authorizationFile = site.directory.file("token")
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)\(path)", format: .json)
            $0.statistics.rules = [narrow, wide]
        }
        _ = try await manager.reports.add((0..<25).map { report("r\($0)") })
        #expect(try await manager.reports.send().delivered == 25)
        let visits = try await sandbox.lmsVisits()
        #expect(visits.map(\.reports).sorted() == [5, 10, 10])
        #expect(visits.allSatisfy { $0.authorized && $0.encoding == "gzip" })
        await manager.close()
        // The text of this URL starts as the rule's does, but it is another server.
        let other = try site.manager {
            var rule = narrow
            rule.url = String(sandbox.http.dropLast())
            $0.statistics.rules = [rule]
        }
        var last = report("z")
        last.target = ReportTarget(url: "\(sandbox.http)\(path)", format: .json)
        try await other.reports.add(last)
        let result = try await other.reports.send()
        #expect(result.left == 1 && result.obstacles.map(\.error.code) == [.reportTargetRefuses])
        #expect(try await sandbox.lmsVisits().last?.authorized == false)
        await other.close()
    }

    @Test func `a play reports to every channel of its content`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let link = try await sandbox.link(key: "bytes-64K-1")
        let mark = link.contains("?") ? "&" : "?"
        let content = try await manager.downloads.load("\(link)\(mark)lms=one&lms=two&lms-period=30")
        let recorder = try await manager.reports.recordPlay(
            of: content.key, user: "kim", duration: .seconds(100), blocks: 4)
        #expect(recorder.period == .seconds(30))
        await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(30), speed: 2, lasting: .seconds(15)))
        let first = try await recorder.report()
        #expect(first.count == 2 && first[1].id == "\(first[0].id).2" && first.allSatisfy { $0.sequence == 1 })
        #expect(first.compactMap { $0.target?.url } == ["one", "two"].map { "\(sandbox.http)/lms/\($0)" })
        await recorder.record(PlayedInterval(.stop, from: .seconds(30), to: .seconds(30), lasting: .zero))
        #expect(try await recorder.report().allSatisfy { $0.sequence == 2 })
        let rows = try await manager.reports.list().rows
        #expect(rows.count == 4 && Set(rows.map(\.session)) == [recorder.session])
        let values = try JSONScanner.value(of: try #require(rows.last?.values))
        #expect(values["content_info"]?["playtime"]?.integer == 30)
        #expect(values["content_info"]?["showtime"]?.integer == 15)
        #expect(values["PLAY_STATUS"]?.string == "stop")
        #expect(values["user_info"]?["client_user_id"]?.string == "kim")
        #expect(try await manager.reports.send().delivered == 4)
        for name in ["one", "two"] {
            let sums = try await sandbox.lmsSummary("/lms/\(name)")
            #expect(sums.once == 2 && sums.outOfOrder == 0)
        }
        let unknown = try ContentKey("unknown")
        await #expect(throws: LectureError(.unknownContent)) { try await manager.reports.recordPlay(of: unknown) }
        await manager.close()
    }

    @Test func `a play that its program did not end is reported by the next one`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let link = try await sandbox.link(key: "bytes-64K-1", user: "kim", lms: ["one"])
        let key = try await manager.downloads.load(link).key
        let recorder = try await manager.reports.recordPlay(of: key, duration: .seconds(100), blocks: 4)
        for second in 0..<30 {
            let place = Duration.seconds(second)
            await recorder.record(PlayedInterval(.play, from: place, to: place + .seconds(1), lasting: .seconds(1)))
            try await recorder.keep()
        }
        await recorder.record(PlayedInterval(.pause, from: .seconds(30), to: .seconds(30), lasting: .seconds(5)))
        try await recorder.keep()
        // Not stored: lost with the program.
        await recorder.record(
            PlayedInterval(.play, from: .seconds(30), to: .seconds(31), lasting: .seconds(1)))
        await manager.close()

        let next = try site.manager()
        #expect(try await next.reports.list().rows.isEmpty)
        #expect(try await next.reports.send().delivered == 1)
        let rows = try await next.reports.list().rows
        #expect(rows.count == 1 && rows[0].session == recorder.session && rows[0].state == .delivered)
        let values = try JSONScanner.value(of: try #require(rows.first?.values))
        #expect(values["content_info"]?["playtime"]?.integer == 30)
        #expect(values["content_info"]?["runtime"]?.integer == 35)
        #expect(values["content_info"]?["showtime"]?.integer == 30)
        #expect(values["content_info"]?["last_play_at"]?.integer == 30)
        #expect(values["PLAY_STATUS"]?.string == "stop")
        #expect(values["user_info"]?["client_user_id"]?.string == "kim")
        #expect(values["user_info"]?["host_name"]?.string == "127.0.0.1")
        // It is reported once.
        #expect(try await next.reports.send().delivered == 0)
        await next.close()
    }

    @Test func `a play with its last report leaves nothing for the next program`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        let key = try await manager.downloads.load("\(sandbox.http)/media/bytes-64K-1.mp4").key
        let recorder = try await manager.reports.recordPlay(of: key, user: "kim")
        await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(3), lasting: .seconds(3)))
        try await recorder.keep()
        await recorder.record(PlayedInterval(.stop, from: .seconds(3), to: .seconds(3), lasting: .zero))
        try await recorder.keep()
        try await recorder.report()
        try await recorder.keep()
        await manager.close()
        let target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        let next = try site.manager { $0.statistics.target = target }
        _ = try await next.reports.send()
        #expect(try await next.reports.list().rows.count == 1)
        await next.close()
    }

    @Test func `only the newest of a player's reports goes to a target with totals`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        var rule = StatisticsConfiguration.Rule(url: sandbox.http)
        rule.isCumulative = true
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
            $0.statistics.rules = [rule]
        }
        _ = try await manager.reports.add((1...5).map { report("r\($0)") })
        // Reports without a session have nothing in common.
        _ = try await manager.reports.add((1...3).map { report("s\($0)", "", "") })
        let result = try await manager.reports.send()
        #expect(result.delivered == 4 && result.superseded == 4)
        #expect(try await manager.reports.summary().isConserved)
        await manager.close()
    }

    @Test func `expired reports are abandoned and accounted for`() async throws {
        let site = try Site()
        let manager = try site.manager { $0.statistics.expireDays = 0 }
        _ = try await manager.reports.add([report("a"), report("b", "lee")])
        // Older than zero days: the store's clock counts milliseconds.
        let stored = Date.now
        while Date.now.timeIntervalSince(stored) < 0.002 {}
        let result = try await manager.reports.send()
        #expect(result.left == 0 && result.obstacles.isEmpty)
        let summary = try await manager.reports.summary()
        #expect(summary.counts == [.expired: 2] && summary.isConserved)
        await manager.close()
    }
}
