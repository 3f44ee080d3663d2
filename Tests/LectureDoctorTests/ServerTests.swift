import Foundation
import LectureDoctor
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Which servers a store needs, and how one of them answers.
@Suite(.timeLimit(.minutes(2))) struct ServerTests {
    static func configuration(_ home: TemporaryDirectory) -> LectureConfiguration {
        var configuration = LectureConfiguration(storeDirectory: home.file("store"))
        configuration.deviceDirectory = home.file("device")
        configuration.reserveBytes = 1 << 20
        return configuration
    }

    static func report(_ id: String, to url: String?) -> LearningReport {
        var report = LearningReport(values: #"{"n":1}"#, user: "u", session: id)
        report.id = id
        report.target = url.map { ReportTarget(url: $0, format: .json) }
        return report
    }

    @Test func `servers are named by their origin, those that most depend on first`() async throws {
        let home = try TemporaryDirectory()
        let manager = try LectureManager(Self.configuration(home))
        #expect(try await manager.servers().isEmpty)
        let urls = [
            "http://127.0.0.1:1/a.mp4?token=secret", "http://u:pw@127.0.0.1:1/b.mp4", "http://127.0.0.1:2/c.mp4",
            "http://[::1]:3/d.mp4", "http://127.0.0.1:1/e.mp4",
        ]
        _ = try await manager.downloads.enqueue(urls.map { DownloadRequest(url: $0) })
        for id in ["a", "b"] {
            _ = try await manager.reports.add(Self.report(id, to: "http://127.0.0.1:9/lms?key=secret"))
        }
        _ = try await manager.reports.add(Self.report("c", to: "http://127.0.0.1:8/lms"))
        // One without a target waits for a target, not for a server.
        _ = try await manager.reports.add(Self.report("d", to: nil))
        let due = [
            try StoreServer(use: .media, url: "http://127.0.0.1:1", count: 3),
            try StoreServer(use: .media, url: "http://127.0.0.1:2", count: 1),
            try StoreServer(use: .media, url: "http://[::1]:3", count: 1),
            try StoreServer(use: .reports, url: "http://127.0.0.1:9", count: 2),
            try StoreServer(use: .reports, url: "http://127.0.0.1:8", count: 1),
        ]
        let found = try await manager.servers()
        #expect(found == due)
        #expect(!"\(found)".contains("secret") && !"\(found)".contains("pw"))
        await manager.close()
    }

    @Test func `complete lectures and delivered reports need no server, but the configured LMS is named`() async throws
    {
        let (home, sandbox) = (try TemporaryDirectory(), try await SandboxOrigin.start(["--no-https"]))
        var configuration = Self.configuration(home)
        configuration.statistics.target = ReportTarget(url: "https://lms.example/r?token=secret", format: .json)
        let manager = try LectureManager(configuration)
        let lms = try StoreServer(use: .reports, url: "https://lms.example")
        _ = try await manager.downloads.enqueue([DownloadRequest(url: "\(sandbox.http)/media/bytes-300K-1.mp4")])
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        _ = try await manager.reports.add(Self.report("a", to: "\(sandbox.http)/lms/json"))
        #expect(try await manager.servers() == [StoreServer(use: .reports, url: sandbox.http, count: 1), lms])
        #expect(try await manager.reports.send().delivered == 1)
        #expect(try await manager.servers() == [lms])
        #expect(try await manager.licenceObjection() == nil)
        await manager.close()
    }

    // MARK: An answer

    @Test func `any answer is one, and where it leads is named`() async throws {
        let (home, sandbox) = (try TemporaryDirectory(), try await SandboxOrigin.start())
        var configuration = Self.configuration(home)
        configuration.caFile = sandbox.authorityFile
        for (fault, status) in [("503", 503), ("404", 404), ("429", 429)] {
            try await sandbox.set(fault: fault, on: "/")
            #expect(try await configuration.contact("\(sandbox.https)/media/x?token=secret").status == status)
        }
        try await sandbox.set(fault: "redirect-to:http://portal.example/login?from=secret", on: "/")
        let led = try await configuration.contact(sandbox.https)
        #expect(led.redirect == "http://portal.example" && (300..<400).contains(led.status))
        try await sandbox.set(fault: "redirect-to:\(sandbox.https)/home", on: "/")
        #expect(try await configuration.contact(sandbox.https).redirect == nil)
        let date = try #require(try await configuration.contact(sandbox.https).date)
        #expect(abs(date.milliseconds - Int64(Date.now.timeIntervalSince1970 * 1000)) < 60_000)
        // Only the root is requested, whatever is in the URL.
        #expect(try await sandbox.requests().allSatisfy { $0.target == "/" || $0.target.hasPrefix("/_") })
    }

    @Test func `a server that says nothing is given up, and a strange one is not trusted`() async throws {
        let (home, sandbox) = (try TemporaryDirectory(), try await SandboxOrigin.start())
        var configuration = Self.configuration(home)
        await #expect(throws: LectureError.self) { try await configuration.contact(sandbox.https) }
        configuration.caFile = sandbox.authorityFile
        let silent = try RawServer { $0.waitForEnd() }
        await #expect(throws: LectureError.self) {
            try await configuration.contact("http://127.0.0.1:\(silent.port)", within: .milliseconds(300))
        }
        let task = Task { [configuration] in
            try await configuration.contact("http://127.0.0.1:\(silent.port)", within: .seconds(100))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for url in ["", "ftp://h", "h.example", "http://"] {
            await #expect(throws: LectureError.self) { try await configuration.contact(url) }
        }
        configuration.caFile = home.file("missing.pem")
        await #expect(throws: LectureError.self) { try await configuration.contact(sandbox.https) }
    }

    @Test func `a proxy that wants a login is no server's answer`() async throws {
        let home = try TemporaryDirectory()
        var configuration = Self.configuration(home)
        let proxy = try RawServer.answering(
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
        configuration.proxy = proxy.http
        var doctor = Doctor(configuration)
        doctor.servers = ["http://media.example", "https://media.example"]
        let examination = try await doctor.examine { Timestamp(milliseconds: 1_800_000_000_000) }
        let found = examination.findings.filter { $0.subject == .server }
        #expect(found.map(\.grade) == [.failed, .failed])
        #expect(found[0].remedy.contains("network.proxy"))
        // A tunnel is refused before the server is reached: the error has the proxy's status.
        #expect(found[1].error?.code == .status(407) || found[1].message.contains("407"), "\(found[1])")
        #expect(proxy.connections >= 2)
    }

    @Test func `a network that wants a login is named`() async throws {
        let home = try TemporaryDirectory()
        let network = try RawServer.answering(
            "HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\n\r\n")
        var doctor = Doctor(Self.configuration(home))
        doctor.servers = [network.http]
        let examination = try await doctor.examine { Timestamp(milliseconds: 1_800_000_000_000) }
        let found = try #require(examination.findings.first { $0.subject == .server })
        #expect(found.grade == .failed && found.remedy.contains("browser"))
        doctor.asksServers = false
        #expect(try await doctor.examine { Timestamp(milliseconds: 0) }.contacts.isEmpty)
        #expect(network.connections == 1)
    }
}
