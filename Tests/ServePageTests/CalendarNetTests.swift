import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// The calendar of licence ends, and renewals that outlast the answer, the server and its process.
@Suite(.timeLimit(.minutes(4)))
struct CalendarNetTests {
    /// A store with licences that end in five days.
    private final class Desk: Sendable {
        let directory: TemporaryDirectory
        let sandbox: SandboxOrigin
        let manager: LectureManager
        let keys: [ContentKey]

        init(_ count: Int) async throws {
            directory = try TemporaryDirectory()
            sandbox = try await SandboxOrigin.start(["--no-https"])
            var grant = CallbackPolicy()
            grant.expirationIn = 5 * 86_400
            try await sandbox.set(policy: grant)
            manager = try LectureManager(Self.configuration(directory, sandbox))
            var keys: [ContentKey] = []
            for number in 1...count {
                var request = DownloadRequest(url: try await sandbox.link(key: "bytes-10K-\(number)", licensed: ""))
                request.key = try ContentKey("bytes-10K-\(number)")
                request.title = "Lecture \(number)"
                keys.append(try await manager.downloads.enqueue(request))
            }
            self.keys = keys
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        }

        static func configuration(_ directory: TemporaryDirectory, _ sandbox: SandboxOrigin) -> LectureConfiguration {
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            (configuration.reserveBytes, configuration.maxAttempts) = (1 << 20, 1)
            configuration.deviceDirectory = directory.file("device")
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
            return configuration
        }

        /// When the licences were checked last.
        func checks(_ manager: LectureManager) async throws -> [Timestamp?] {
            var found: [Timestamp?] = []
            for key in keys { found.append(try await manager.licences.status(of: key)?.checked) }
            return found
        }

        func end() async {
            await manager.close()
            await sandbox.stop()
        }
    }

    /// Asks with curl, as a program of the operator.
    private static func ask(_ url: String, _ words: String...) async throws -> (status: Int, text: String) {
        let all =
            [
                "-q", "-s", "-S", "--max-time", "60", "-w", "\n%{http_code}", "-H",
                "Authorization: Bearer \(PageRig.token)",
            ]
            + words + [url]
        let text = try await ChildProcess.run("/usr/bin/curl", all).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
    }

    /// What follows a text, up to the end of its attribute.
    private static func values(_ start: String, _ text: String) -> [String] {
        text.components(separatedBy: start).dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }

    private static func day(_ desk: Desk) async throws -> CalendarDay {
        let deadline = try #require(try await desk.manager.licences.status(of: desk.keys[0])?.deadline)
        return .day(CalendarDay.today(deadline))
    }

    @Test func `every day of the calendar is there, and a day shows its licences page by page`() async throws {
        let desk = try await Desk(53)
        let server = try await LectureServer.start(desk.manager, try PageRig.options(desk.directory))
        let days = try await LicenceCalendar.days(within: .seconds(60 * 86_400), in: desk.manager.licences)
        #expect(days.reduce(0) { $0 + $1.count } == 53, "\(days)")
        #expect(try await LicenceCalendar.days(within: .seconds(86_400), in: desk.manager.licences).isEmpty)
        let calendar = try await Self.ask("\(server.url)/licences")
        #expect(calendar.status == 200 && calendar.text.ranges(of: "<tr>").count == 62, "a head and 61 days")
        let (day, other) = (try await Self.day(desk), CalendarDay("2020-02-29"))
        #expect(calendar.text.contains("<a href=\"/licences/\(day.segment)\">"))
        #expect(calendar.text.ranges(of: "/renew\"").count == days.count, "nothing to renew on the others")
        var keys: Set<String> = []
        var path: String? = "/licences/\(day.segment)"
        var pages = 0
        while let current = path {
            let page = try await Self.ask("\(server.url)\(current)")
            #expect(page.status == 200)
            keys.formUnion(Self.values("href=\"/lectures/", page.text).filter { $0.hasPrefix("bytes") })
            path = Self.values("href=\"", page.text.replacing("\" rel=\"next\"", with: "#next\"")).first {
                $0.hasSuffix("#next")
            }
            .map { String($0.dropLast(5)) }
            pages += 1
        }
        #expect(keys.count == days.first?.count && pages == ((days.first?.count ?? 0) + 49) / 50)
        #expect(
            try await Self.ask("\(server.url)/licences/\(try #require(other).segment)").text.contains("No licence ends")
        )
        for wrong in ["x", "2026-13-01", "2026-1-1", "2026%2F12%2F01", "1700000000", ""] {
            let answer = try await Self.ask("\(server.url)/licences/\(wrong)")
            #expect(answer.status == 404, "\(wrong)")
        }
        await server.stop()
        await desk.end()
    }

    @Test func `a day is renewed whole, though the answer does not wait for it`() async throws {
        let desk = try await Desk(25)
        let renewals = SiteRenewals(desk.manager)
        let before = try await desk.checks(desk.manager)
        var (start, end) = (try await Self.day(desk)).period(try await desk.manager.licences.time())
        // Of which a second of midnight may have taken some to the next day.
        (start, end) = (start, Timestamp(milliseconds: end.milliseconds + CalendarDay.length))
        try await renewals.add(.period(from: start, until: end))
        try await renewals.add(.period(from: start, until: end))
        await renewals.untilDone()
        let after = try await desk.checks(desk.manager)
        #expect(zip(before, after).allSatisfy { $0 != $1 }, "\(before) \(after)")
        #expect(try await desk.manager.note(SiteRenewals.note) == nil, "nothing is left")
        await renewals.stop()
        await #expect(throws: LectureError.self) { try await renewals.add(.keys([desk.keys[0]])) }
        await desk.end()
    }

    @Test func `a stop ends with renewals under way, and the next process continues them`() async throws {
        let desk = try await Desk(12)
        let server = try await LectureServer.start(desk.manager, try PageRig.options(desk.directory))
        let before = try await desk.checks(desk.manager)
        try await desk.sandbox.set(fault: "stall:0", on: "/drm/callback")
        let day = try await Self.day(desk)
        for path in ["/licences/\(day.segment)/renew", "/lectures/bytes-10K-1/renew"] {
            #expect(try await Self.ask("\(server.url)\(path)", "-X", "POST").status == 303, "\(path)")
        }
        // Nothing answers: the stop does not wait for it.
        await server.stop()
        #expect(try await desk.manager.note(SiteRenewals.note)?.contains("bytes-10K-1") == true)
        await desk.manager.close()
        try await desk.sandbox.set(fault: "", on: "/drm/callback")
        let manager = try LectureManager(Desk.configuration(desk.directory, desk.sandbox))
        #expect(try await desk.checks(manager) == before, "none was renewed")
        let renewals = SiteRenewals(manager)
        await renewals.continueFormer()
        await renewals.untilDone()
        let after = try await desk.checks(manager)
        #expect(zip(before, after).allSatisfy { $0 != $1 }, "\(before) \(after)")
        #expect(try await manager.note(SiteRenewals.note) == nil)
        await manager.close()
        await desk.sandbox.stop()
    }

    @Test(arguments: [
        "", "x", "{}", "[]", #"{"orders":[]}"#, #"{"orders":[{}]}"#, #"{"orders":[{"keys":[]}]}"#,
        #"{"orders":[{"from":1}]}"#, #"{"orders":[{"keys":[1,""],"batch":"x"}]}"#, #"{"orders":7}"#,
    ])
    func `a note that cannot be used is nothing to do`(note: String) async throws {
        let directory = try TemporaryDirectory()
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.deviceDirectory = directory.file("device")
        let manager = try LectureManager(configuration)
        try await manager.setNote(SiteRenewals.note, note)
        let renewals = SiteRenewals(manager)
        await renewals.continueFormer()
        await renewals.untilDone()
        await renewals.stop()
        await manager.close()
    }

    @Test func `orders are bounded, and the same one counts once`() async throws {
        let directory = try TemporaryDirectory()
        var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
        configuration.deviceDirectory = directory.file("device")
        let manager = try LectureManager(configuration)
        let renewals = SiteRenewals(manager)
        // A store without licences has nothing to renew, and says so at once.
        for number in 0..<5 { try await renewals.add(.keys([try ContentKey("k\(number)")])) }
        await renewals.untilDone()
        #expect(try await manager.note(SiteRenewals.note) == nil)
        let many = (0...SiteRenewals.mostOrders).map { "{\"keys\":[\"k\($0)\"]}" }.joined(separator: ",")
        try await manager.setNote(SiteRenewals.note, "{\"orders\":[\(many)]}")
        let full = SiteRenewals(manager)
        let refused = await #expect(throws: LectureError.self) { try await full.add(.keys([try ContentKey("new")])) }
        #expect(refused?.code == .parameter)
        await full.continueFormer()
        await full.untilDone()
        #expect(try await manager.note(SiteRenewals.note) == nil)
        await manager.close()
    }

    @Test(arguments: [
        ("overdue", "overdue", 0, 1_795_824_000_000),
        ("2026-11-28", "2026-11-28", 1_795_824_000_000, 1_795_910_400_000),
        ("2024-02-29", "2024-02-29", 1_709_164_800_000, 1_709_251_200_000), ("1970-01-01", "1970-01-01", 0, 86_400_000),
    ])
    func `a day of the calendar is a segment and a period`(text: String, segment: String, start: Int64, end: Int64)
        throws
    {
        let day = try #require(CalendarDay(text))
        let period = day.period(Timestamp(milliseconds: 1_795_842_367_000))
        #expect(day.segment == segment)
        #expect(period.start.milliseconds == start && period.end.milliseconds == end)
    }

    @Test(arguments: ["", "x", "2023-02-29", "2026-00-10", "2026/11/28", "26-11-28", "2026-11-28 ", "Overdue", "0"])
    func `anything else is no day`(text: String) { #expect(CalendarDay(text) == nil) }
}
