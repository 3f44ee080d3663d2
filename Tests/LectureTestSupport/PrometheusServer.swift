import Foundation

/// Debian's Prometheus: scrapes pages and evaluates rules.
///
/// It ends with its last reference at the latest.
package final class PrometheusServer: Sendable {
    /// Whether `Tools/setup` has installed it, with its tool.
    package static let isInstalled =
        (try? Places.command("prometheus")) != nil && (try? Places.command("promtool")) != nil

    private let url: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - pages: what is scraped: the name of a job, and its page, such as `127.0.0.1:80/metrics`.
    ///   - rules: a file with rules, which are evaluated as often as pages are scraped.
    ///   - tokenFile: a file with a token that is sent to the pages; nil for none.
    /// - Returns: once it answers.
    /// - Throws: ``ChildProcess/Failure`` when it does not start.
    package static func start(scraping pages: [String: String], rules: String, tokenFile: String? = nil) async throws
        -> PrometheusServer
    {
        var last: any Error = ChildProcess.Failure(description: "Prometheus was never started")
        // Between reserving a free port and listening on it another program may take it.
        for _ in 0..<3 {
            do { return try await attempt(pages, rules, tokenFile) } catch { last = error }
        }
        throw last
    }

    private static func attempt(_ pages: [String: String], _ rules: String, _ tokenFile: String?) async throws
        -> PrometheusServer
    {
        let directory = try TemporaryDirectory()
        let port = try Places.freePort()
        let jobs = pages.map { job, page in
            let slash = page.firstIndex(of: "/") ?? page.endIndex
            let token = tokenFile.map { "\n    authorization: {credentials_file: \"\($0)\"}" } ?? ""
            return """
                  - job_name: \(job)
                    metrics_path: \(page[slash...])
                    static_configs: [{targets: ["\(page[..<slash])"]}]\(token)
                """
        }
        let file = try directory.write(
            """
            global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
            rule_files: ["\(rules)"]
            scrape_configs:
            \(jobs.joined(separator: "\n"))
            """, to: "prometheus.yml")
        let process = try ChildProcess(
            Places.command("prometheus"),
            [
                "--config.file=\(file)", "--storage.tsdb.path=\(directory.file("data"))",
                "--web.listen-address=127.0.0.1:\(port)",
            ], directory: directory.path)
        try await process.wait(for: .errors) { $0.range(of: Data("ready to receive web requests".utf8)) != nil }
        return PrometheusServer(process, directory, port)
    }

    private init(_ process: ChildProcess, _ directory: TemporaryDirectory, _ port: Int) {
        (self.process, self.directory) = (process, directory)
        url = "http://127.0.0.1:\(port)/api/v1/"
    }

    /// Asks its HTTP API.
    ///
    /// - Parameters:
    ///   - method: for instance `query`.
    ///   - parameters: of the request.
    /// - Returns: the member `data` of the answer.
    /// - Throws: ``ChildProcess/Failure`` with the message when it does not succeed.
    package func ask(_ method: String, _ parameters: [String: String] = [:]) async throws -> Any {
        let words = parameters.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
        let ending = try await ChildProcess.run(
            Places.command("curl"), ["--silent", "--show-error", "--get"] + words + [url + method])
        let answer = try? JSONSerialization.jsonObject(with: ending.output) as? [String: Any]
        guard let answer, answer["status"] as? String == "success", let data = answer["data"] else {
            throw ChildProcess.Failure(description: "\(method) \(parameters): \(ending.text) \(ending.errorText)")
        }
        return data
    }

    /// Ends the server.
    package func stop() async { await process.terminate() }
}
