import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What applications learn of exchanges with an LMS and a licence server, with a real store and real servers.
@Suite(.timeLimit(.minutes(2)))
struct ExchangeNetTests {
    // MARK: Reports

    private static let document = #"{"user_info":{"client_user_id":"kim"},"content_info":{"start_at":7,"playtime":30}}"#

    private func exchanges(_ events: AsyncStream<LectureEvent>) async -> [ReportExchange] {
        var reported: [ReportExchange] = []
        for await event in events { if case .reportExchange(let exchange) = event { reported.append(exchange) } }
        return reported
    }

    private func reports(_ count: Int) -> [LearningReport] {
        (0..<count).map { number in
            var report = LearningReport(values: Self.document, user: "kim", session: "1")
            report.id = "00000000-0000-4000-8000-\(String(100_000_000_000 + number))"
            return report
        }
    }

    @Test(arguments: [(ReportFormat.kollus, "/lms"), (.json, "/lms/json"), (.xapi, "/xAPI")])
    func `a request to an LMS and its answer are published`(format: ReportFormat, path: String) async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)\(path)"
        let manager = try site.manager { $0.statistics.target = ReportTarget(url: url, format: format) }
        let events = manager.events
        _ = try await manager.reports.add(reports(3))
        #expect(try await manager.reports.send().delivered == 3)
        await manager.close()
        let reported = await exchanges(events)
        #expect(reported.flatMap(\.reports) == reports(3).compactMap(\.id))
        #expect(reported.flatMap(\.data) == [String](repeating: Self.document, count: 3))
        #expect(reported.count == (format == .kollus ? 3 : 1))
        #expect(reported.allSatisfy { $0.url == url && $0.status == 200 && $0.isDelivered })
        for exchange in reported { _ = try JSONScanner.value(of: try #require(exchange.answer)) }
        await sandbox.stop()
    }

    @Test func `what is sent as soon as the store opens is published to who opened it`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        for round in 0..<5 {
            var configuration = LectureConfiguration(storeDirectory: site.store)
            configuration.statistics.target = target
            let before = try LectureManager(configuration)
            var report = LearningReport(values: Self.document, user: "kim", session: "\(round)")
            report.id = "00000000-0000-4000-8000-00000000000\(round)"
            _ = try await before.reports.add([report])
            await before.close()
            configuration.statistics.delivery = .automatic
            let (manager, events) = try configuration.open()
            var ids: [String] = []
            for await event in events {
                guard case .reportExchange(let exchange) = event else { continue }
                ids += exchange.reports
                if exchange.isDelivered { break }
            }
            await manager.close()
            #expect(ids == [report.id])
        }
        #expect(try await sandbox.lmsSummary().once == 5)
        await sandbox.stop()
    }

    @Test func `a batch of 500 is one exchange, also when it is refused`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.setLMS(habits: "status:401;times=1")
        let url = "\(sandbox.http)/lms/json"
        let manager = try site.manager {
            var rule = StatisticsConfiguration.Rule(url: url)
            rule.batch = 500
            $0.statistics.target = ReportTarget(url: url, format: .json)
            $0.statistics.rules = [rule]
        }
        let events = manager.events
        _ = try await manager.reports.add(reports(500))
        #expect(try await manager.reports.send().left == 500)
        #expect(try await manager.reports.send().delivered == 500)
        await manager.close()
        let reported = await exchanges(events)
        #expect(reported.map(\.status) == [401, 200] && reported.map(\.isDelivered) == [false, true])
        #expect(reported.allSatisfy { $0.reports.count == 500 && $0.data.count == 500 })
        await sandbox.stop()
    }

    @Test func `an unreachable LMS is reported without status and answer`() async throws {
        let site = try Site()
        let port = try Places.freePort()
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "http://127.0.0.1:\(port)/lms", format: .kollus)
        }
        let events = manager.events
        _ = try await manager.reports.add(reports(1))
        var options = SendOptions()
        options.attempts = 1
        #expect(try await manager.reports.send(options: options).left == 1)
        await manager.close()
        let reported = await exchanges(events)
        #expect(
            reported.count == 1 && reported[0].status == nil && reported[0].answer == nil && !reported[0].isDelivered)
        #expect(reported.first?.reports.count == 1)
    }

    @Test func `subscribers without exchanges get all other events`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: "\(sandbox.http)/lms/json", format: .json)
        }
        let (events, quiet) = (manager.events, manager.eventsWithoutExchanges)
        _ = try await manager.reports.add(reports(2))
        #expect(try await manager.reports.send().delivered == 2)
        await manager.close()
        #expect(await exchanges(events).count == 1)
        var names: [String] = []
        for await event in quiet {
            if case .reportExchange = event { names.append("exchange") }
            if case .reportsSent = event { names.append("sent") }
        }
        #expect(names == ["sent"])
        await sandbox.stop()
    }

    // MARK: Licences

    private func manager(_ site: Site, _ sandbox: SandboxOrigin) throws -> LectureManager {
        try site.manager { configuration in
            configuration.deviceDirectory = site.directory.file("device")
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
        }
    }

    @Test func `licence requests and answers are published, and a deletion when the file is gone`()
        async throws
    {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        let manager = try manager(site, sandbox)
        let link = try await sandbox.link(key: "bytes-3M-5", query: "uservalue0=a")
        // The files on the disk when the exchange is reported, listed from within that very call.
        let media = site.store + "/media"
        let seen = Guarded<[(exchange: LicenceExchange, files: Int)]>([])
        let names = Guarded<[String]>([])
        manager.observe { _, event in
            switch event {
            case .licenceExchange(let exchange):
                let files = FileManager.default.enumerator(atPath: media)?.compactMap { $0 as? String } ?? []
                seen.withLock {
                    $0.append((exchange, files.count { $0.contains("bytes-3M-5") || $0.hasSuffix(".mp4") }))
                }
                names.withLock { $0.append("exchange") }
            case .removed: names.withLock { $0.append("removed") }
            case .licenceDeleted: names.withLock { $0.append("deleted") }
            default: break
            }
        }
        let content = try await manager.fetch(link)
        #expect(content.state == .completed)
        let before = try site.mediaFiles().count
        #expect(before == 1)
        try await sandbox.set(
            policyJSON: #"{"result":1,"content_delete":1,"message":"bye"}"#, for: [content.key.text], kind: 3)
        _ = try await manager.licences.renew(.all)
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(30)))
        await manager.close()
        let reported = seen.withLock(\.self)
        #expect(reported.map(\.exchange.kind) == [1, 2, 3] && reported.allSatisfy { $0.exchange.error == nil })
        for (exchange, _) in reported {
            let items = try JSONScanner.value(of: exchange.items).elements
            #expect(items?.count == 1 && items?[0]["media_content_key"]?.string == content.key.text)
            #expect(items?[0]["uservalues"]?["uservalue0"]?.string == "a" && items?[0]["session_key"] == nil)
            let answer = try JSONScanner.value(of: try #require(exchange.answer))
            #expect(answer["data"]?.elements?.count == 1)
        }
        #expect(reported.last?.files == 0)
        #expect(names.withLock(\.self) == ["exchange", "exchange", "removed", "exchange", "deleted"])
        #expect(try site.mediaFiles().isEmpty)
        await sandbox.stop()
    }
}
