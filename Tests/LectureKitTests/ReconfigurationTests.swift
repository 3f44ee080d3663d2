import Foundation
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureKit

/// Other settings for a manager that stays open.
@Suite(.timeLimit(.minutes(2)))
struct ReconfigurationNetTests {
    private static func settings(_ manager: isolated LectureManager) -> LectureConfiguration { manager.configuration }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let isFixed: Bool
        let change: @Sendable (inout LectureConfiguration) -> Void
        var testDescription: String { name }

        static func fixed(_ name: String, _ change: @escaping @Sendable (inout LectureConfiguration) -> Void) -> Row {
            Row(name: name, isFixed: true, change: change)
        }

        static func free(_ name: String, _ change: @escaping @Sendable (inout LectureConfiguration) -> Void) -> Row {
            Row(name: name, isFixed: false, change: change)
        }
    }

    static let rows: [Row] = [
        .fixed("store") { $0.storeDirectory += "-other" },
        .fixed("network.per_host") { $0.connectionsPerHost = 3 },
        .fixed("network.ca_file") { $0.caFile = "/roots.pem" },
        .fixed("network.proxy") { $0.proxy = "http://127.0.0.1:1" },
        .fixed("network.credentials_file") { $0.credentialsFile = "/servers.json" },
        .fixed("network.netrc_file") { $0.netrcFile = "/netrc" },
        .fixed("network.client_cert") { $0.clientCertificateFile = "/client.pem" },
        .fixed("network.client_key") { $0.clientKeyFile = "/client.key" },
        .fixed("storage.seal") { $0.seal = .always },
        .fixed("storage.device_dir") { $0.deviceDirectory = "/device" },
        .fixed("storage.group") { $0.sharedGroup = "ops" },
        .fixed("drm") { $0.rights.isStrict = true },
        .fixed("application") { $0.application = .init(key: "k", bundleID: "b", expires: "2027/01/01") },
        .free("network.jobs") { $0.jobs = 9 },
        .free("network.limit_rate") { $0.rateLimit = 1000 },
        .free("network.timetable") { $0.timetable = "02:00-06:00=full, else=2M" },
        .free("network.timeout_s") { $0.stallTimeout = .seconds(3) },
        .free("network.retries") { $0.maxAttempts = 7 },
        .free("storage.quota_bytes") { $0.quotaBytes = 5_000_000 },
        .free("storage.reserve_bytes") { $0.reserveBytes = 5_000_000 },
        .free("lms.keep_days") { $0.statistics.keepDays = 3 },
    ]

    @Test(arguments: rows)
    func `what a running manager cannot change is named, and stays`(row: Row) async throws {
        let site = try Site()
        let manager = try site.manager()
        let before = await Self.settings(manager)
        var new = before
        row.change(&new)
        #expect(try await manager.reconfigure(new) == (row.isFixed ? [row.name] : []))
        let after = await Self.settings(manager)
        #expect("\(after)" == "\(row.isFixed ? before : new)")
        #expect(try await manager.reconfigure(before).isEmpty)
        await manager.close()
    }

    @Test func `a value that cannot be used changes nothing`() async throws {
        let site = try Site()
        let manager = try site.manager()
        let before = await Self.settings(manager)
        let changes: [(LectureError.Code, @Sendable (inout LectureConfiguration) -> Void)] = [
            (.parameter, { $0.jobs = 0 }), (.parameter, { $0.maxAttempts = 0 }),
            (
                .configuration,
                {
                    $0.keepDaysAndRule(9, StatisticsConfiguration.Rule(url: "no url"))
                }
            ),
        ]
        for (code, change) in changes {
            var new = before
            new.rateLimit = 77
            change(&new)
            await #expect(throws: LectureError(code)) { try await manager.reconfigure(new) }
            #expect(await Self.settings(manager).rateLimit == nil)
        }
        await manager.close()
    }

    @Test func `a download that runs goes on, and more begin with more jobs`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let (slow, quick) = ("/media/bytes-8M-1.mp4", "/media/bytes-1M-1.mp4")
        try await sandbox.set(fault: "stall:1000000", on: slow)
        let manager = try site.manager { ($0.jobs, $0.connections) = (1, 1) }
        let events = manager.events
        for path in [slow, quick] { try await manager.downloads.enqueue(DownloadRequest(url: sandbox.http + path)) }
        while try await sandbox.requests(for: slow).isEmpty {}
        var new = await Self.settings(manager)
        new.jobs = 2
        #expect(try await manager.reconfigure(new).isEmpty)
        let event = try await manager.first(in: events) { if case .completed = $0 { true } else { false } }
        guard case .completed(let content) = event else { return }
        #expect(content.sourceURL.hasSuffix(quick))
        #expect(try await sandbox.requests(for: slow).count == 1)
        await manager.close()
    }

    @Test func `another file of credentials lets a target be asked again`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/lms/json"
        try await sandbox.setLMS(habits: "authorization:secret")
        func token(_ text: String, _ name: String) throws -> String {
            let path = try site.directory.write(text, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            return path
        }
        let manager = try site.manager {
            $0.statistics.target = ReportTarget(url: url, format: .json)
            $0.statistics.delivery = .automatic
        }
        try await manager.reports.add(LearningReport(values: "{}", user: "kim"))
        try await waitUntil { try await manager.reports.summary().targets.first?.suspension == .unauthorized }
        var new = await Self.settings(manager)
        new.statistics.authorize(file: try token("secret", "token"))
        #expect(try await manager.reconfigure(new).isEmpty)
        try await waitUntil { try await manager.reports.summary().counts[.delivered] == 1 }
        #expect(try await sandbox.lmsSummary().once == 1)
        await manager.close()
    }
}

extension LectureConfiguration {
    /// Two settings of reports at once.
    fileprivate mutating func keepDaysAndRule(_ days: Int, _ rule: StatisticsConfiguration.Rule) {
        (statistics.keepDays, statistics.rules) = (days, [rule])
    }
}
