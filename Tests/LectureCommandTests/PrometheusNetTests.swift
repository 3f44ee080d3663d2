import Foundation
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What Prometheus itself says: its tool, its server with the alert rules, and the queries of the dashboard.
@Suite(
    .timeLimit(.minutes(4)),
    .enabled(if: PrometheusServer.isInstalled, "prometheus is not installed: run Tools/setup"))
struct PrometheusNetTests {
    private static let directory = Places.repository() + "/docs/monitoring"
    private static let families = Set(
        StoreMetrics(read: Timestamp(milliseconds: 0)).families.map(\.name) + ["lecturekit_build_info"])

    /// The queries of the dashboard and of the alert rules.
    private static func expressions() throws -> [String] {
        let data = try Data(contentsOf: URL(filePath: "\(directory)/dashboard.json"))
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let targets = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        return targets.compactMap { $0["expr"] as? String }
    }

    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /lecturekit_[a-z_]+/).map { String($0.output) })
    }

    private func promtool(_ words: String...) async throws {
        let ending = try await ChildProcess.run(Places.command("promtool"), words, directory: Self.directory)
        #expect(ending.status == 0, "\(words): \(ending.text) \(ending.errorText)")
    }

    @Test func `the alert rules are valid, and fire when they should and not before`() async throws {
        try await promtool("check", "rules", "rules.yml")
        try await promtool("test", "rules", "rules_test.yml")
        let rules = try String(contentsOfFile: "\(Self.directory)/rules.yml", encoding: .utf8)
        #expect(Self.names(in: rules).isSubset(of: Self.families))
        let page = try String(contentsOfFile: "\(Self.directory).md", encoding: .utf8)
        let tests = try String(contentsOfFile: "\(Self.directory)/rules_test.yml", encoding: .utf8)
        let alerts = rules.matches(of: /alert: (\w+)/).map { String($0.output.1) }
        #expect(alerts.count == 16)
        for alert in alerts {
            #expect(page.contains("`\(alert)`") && tests.contains("alertname: \(alert)\n"), "\(alert)")
        }
        for family in Self.families { #expect(page.contains("`\(family)"), "\(family)") }
    }

    @Test func `a server reads the figures in both formats, fires alerts, and answers the dashboard`() async throws {
        let me = try await MetricsScene()
        try await me.fill()
        let site = try TemporaryDirectory()
        try await me("metrics", "--output", site.file("figures.prom"))
        let lint = try await ChildProcess.run(
            "/bin/sh", ["-c", #"exec "$0" check metrics <"$1""#, Places.command("promtool"), site.file("figures.prom")])
        #expect(lint.status == 0 && lint.text.isEmpty && lint.errorText.isEmpty, "\(lint.text) \(lint.errorText)")
        try FileManager.default.copyItem(atPath: site.file("figures.prom"), toPath: site.file("figures.om"))
        var options = NginxOrigin.Options()
        options.directives =
            #"types { text/plain prom; "application/openmetrics-text; version=1.0.0; charset=utf-8" om; }"#
        let nginx = try await NginxOrigin.start(serving: site.path, options)
        let host = nginx.http.dropFirst("http://".count)
        let server = try await PrometheusServer.start(
            scraping: ["old": "\(host)/figures.prom", "open": "\(host)/figures.om"],
            rules: "\(Self.directory)/rules.yml")
        // Asked again until the server has scraped and evaluated; the suite's time limit ends it.
        var firing: Set<String> = []
        while firing.count < 4 {
            let data = try #require(try await server.ask("alerts") as? [String: Any])
            let alerts = try #require(data["alerts"] as? [[String: Any]]).filter { $0["state"] as? String == "firing" }
            firing = Set(
                alerts.compactMap { $0["labels"] as? [String: String] }.map {
                    "\($0["job"] ?? "") \($0["alertname"] ?? "")"
                }
            )
        }
        let due = ["old", "open"].flatMap { ["\($0) LectureKitLecturesFailed", "\($0) LectureKitReportsDead"] }
        #expect(firing == Set(due))
        try await expectSame(server, as: try String(contentsOfFile: site.file("figures.prom"), encoding: .utf8))
        for expression in try Self.expressions() {
            #expect(Self.names(in: expression).isSubset(of: Self.families), "\(expression)")
            let query = expression.replacing("$instance", with: ".*")
            _ = try await server.ask("format_query", ["query": query])
            _ = try await server.ask("query", ["query": query])
        }
        await server.stop()
        await nginx.stop()
        await me.sandbox.stop()
    }

    /// Both formats have given the server the same figures, with the same labels: as many as there are lines.
    private func expectSame(_ server: PrometheusServer, as text: String) async throws {
        for job in ["old", "open"] {
            // Of the last minutes: on a busy machine a scrape may come too late, which ends a series for a moment.
            let query = #"last_over_time({__name__=~"lecturekit_.*",job="\#(job)"}[10m])"#
            let data = try #require(try await server.ask("query", ["query": query]) as? [String: Any])
            let series = try #require(data["result"] as? [[String: Any]])
            #expect(series.count == MetricsScene.figures(text).count)
            let courses = series.compactMap { ($0["metric"] as? [String: String])?["course"] }
            #expect(courses.contains(MetricsScene.course), "\(courses)")
        }
    }
}
