import Dispatch
import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Records what it gets, in order.
final class Recorder: LectureObserver {
    enum Entry: Sendable {
        case log(LectureLogRecord)
        case metric(LectureMetric)
    }

    private let held = Guarded<[Entry]>([])

    func log(_ record: LectureLogRecord) { held.withLock { $0.append(.log(record)) } }
    func record(_ metric: LectureMetric) { held.withLock { $0.append(.metric(metric)) } }

    var records: [LectureLogRecord] {
        held.withLock { $0.compactMap { if case .log(let record) = $0 { record } else { nil } } }
    }

    var metrics: [LectureMetric] {
        held.withLock { $0.compactMap { if case .metric(let metric) = $0 { metric } else { nil } } }
    }

    /// The sum of a counter over all series that have these labels.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Int64 {
        metrics.filter { metric in
            metric.name == name && metric.kind == .counter && labels.allSatisfy { metric.labels[$0.key] == $0.value }
        }.reduce(0) { $0 + $1.value }
    }

    func downloads(_ event: String, _ reason: String? = nil) -> Int64 {
        sum("lecturekit_downloads_total", reason.map { ["event": event, "reason": $0] } ?? ["event": event])
    }

    func messages(of key: ContentKey) -> [String] { records.filter { $0.fields["key"] == key.text }.map(\.message) }

    /// Everything that a log or a metric would show.
    var text: String { "\(records)\n\(metrics)" }
}

/// Log records and metrics of real work.
@Suite(.timeLimit(.minutes(2)))
struct ObserverNetTests {
    private static func manager(
        _ site: Site, _ recorder: Recorder, _ change: (inout LectureConfiguration) -> Void = { _ in }
    ) throws -> LectureManager {
        try site.manager { configuration in
            configuration.observer = recorder
            configuration.deviceDirectory = site.directory.file("device")
            configuration.maxAttempts = 2
            change(&configuration)
        }
    }

    @Test func `counters add up to the summary, and records are in chronological order`() async throws {
        let (site, sandbox, recorder) = (try Site(), try await SandboxOrigin.start(["--no-https"]), Recorder())
        let manager = try Self.manager(site, recorder)
        var urls = (0..<20).map { "\(sandbox.http)/media/bytes-64K-\($0).mp4" }
        urls += ["\(sandbox.http)/media/bytes-3M-5.mp4", "\(sandbox.http)/media/none.mp4"]
        let answers = try await manager.downloads.enqueue(urls.map { DownloadRequest(url: $0) })
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let summary = try await manager.summary()
        #expect(summary.counts == [.completed: 21, .failed: 1])
        await manager.close()
        #expect(recorder.downloads("completed") == 21)
        #expect(recorder.downloads("started") == 22)
        #expect(recorder.downloads("failed") == 1 && recorder.downloads("failed", "http_404") == 1)
        #expect(recorder.sum("lecturekit_downloaded_bytes_total") == (try await manager.summary().fetchedBytes))
        #expect(recorder.sum("lecturekit_downloaded_bytes_total") >= summary.committedBytes)
        let requests = recorder.records.filter { $0.category == .request }
        #expect(recorder.sum("lecturekit_requests_total") == Int64(requests.count))
        #expect(recorder.sum("lecturekit_requests_total", ["method": "GET", "status": "404"]) == 1)
        #expect(Int64(requests.count) == Int64(try await sandbox.requests().count))
        let bytes = requests.compactMap { $0.fields["bytes"].flatMap { Int64($0) } }.reduce(0, +)
        #expect(recorder.sum("lecturekit_request_bytes_total") == bytes)
        let active = recorder.metrics.filter { $0.name == "lecturekit_downloads_active" }
        #expect(active.last?.value == 0 && active.allSatisfy { $0.kind == .gauge && (0...22).contains($0.value) })
        for answer in answers.dropLast() {
            #expect(recorder.messages(of: try answer.get().key) == ["A download started.", "A download is complete."])
        }
        let last = try answers[21].get().key
        #expect(recorder.messages(of: last) == ["A download started.", "A download failed."])
        let failure = try #require(recorder.records.first { $0.message == "A download failed." })
        #expect(failure.level == .error && failure.fields["error_number"] == "-8404")
        // A lecture's request is logged before the lecture is complete.
        let path = "/media/bytes-3M-5.mp4"
        let key = try answers[20].get().key
        let request = try #require(recorder.records.firstIndex { $0.fields["url"] == "\(sandbox.http)\(path)" })
        let end = recorder.records.firstIndex { $0.fields["key"] == key.text && $0.message.contains("complete") }
        #expect(request < (try #require(end)))
        #expect(zip(recorder.records, recorder.records.dropFirst()).allSatisfy { $0.time <= $1.time + .seconds(1) })
        await sandbox.stop()
    }

    @Test func `a new store, a reopened one, and one that cannot be opened`() async throws {
        let (site, recorder, again, refused) = (try Site(), Recorder(), Recorder(), Recorder())
        try await Self.manager(site, recorder).close()
        let made = try #require(recorder.records.first)
        #expect(recorder.records.count == 1 && made.level == .notice && made.category == .store)
        #expect(made.fields["migrations"]?.hasPrefix("0001_create_store ") == true)
        #expect(recorder.sum("lecturekit_store_migrations_total") >= 7)
        try await Self.manager(site, again).close()
        #expect(again.records.isEmpty && again.metrics.isEmpty)
        let other = try Site()
        try FileManager.default.createDirectory(atPath: other.store, withIntermediateDirectories: true)
        let databases = try FileManager.default.contentsOfDirectory(atPath: site.store)
        let name = try #require(databases.first { $0.hasSuffix(".sqlite") || $0.hasSuffix(".db") })
        try Data("no database".utf8).write(to: URL(filePath: "\(other.store)/\(name)"))
        let error = #expect(throws: LectureError.self) { try Self.manager(other, refused) }
        let code = try #require(error?.code)
        try await waitUntil { !refused.metrics.isEmpty }
        #expect(refused.records.map(\.message) == ["The store could not be opened."])
        #expect(refused.records.map { $0.fields["error"] } == [code.name])
        #expect(refused.sum("lecturekit_store_troubles_total", ["error": code.name]) == 1)
    }

    @Test func `a pause, a removal and findings of verify`() async throws {
        let (site, sandbox, recorder) = (try Site(), try await SandboxOrigin.start(["--no-https"]), Recorder())
        let manager = try Self.manager(site, recorder)
        try await sandbox.set(fault: "stall:100000", on: "/media/bytes-3M-5.mp4")
        let events = manager.events
        let key = try await manager.downloads.enqueue(DownloadRequest(url: "\(sandbox.http)/media/bytes-3M-5.mp4"))
        _ = try await manager.first(in: events) {
            if case .advanced(let content) = $0 { content.state == .downloading } else { false }
        }
        try await manager.downloads.pause(key)
        _ = try await manager.first(in: events) { if case .stopped = $0 { true } else { false } }
        try await sandbox.set(fault: "", on: "/media/bytes-3M-5.mp4")
        try await manager.downloads.resume(key)
        #expect(try await manager.downloads.waitUntilIdle())
        #expect(try await manager.contents.verify(key).damaged.isEmpty)
        let path = try await manager.contents.path(of: key)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: 1_500_000)
        try file.write(contentsOf: Data("damage".utf8))
        try file.close()
        #expect(try await manager.contents.verify(key).damaged.count == 1)
        try await manager.downloads.remove(key)
        #expect(try await manager.downloads.waitUntilIdle())
        await manager.close()
        #expect(
            recorder.messages(of: key) == [
                "A download started.", "A download was paused.", "A download started.", "A download is complete.",
                "A lecture was verified and is sound.", "A lecture was verified and is damaged.",
                "A lecture was removed.",
            ])
        #expect(recorder.downloads("paused", "user") == 1 && recorder.downloads("removed") == 1)
        #expect(recorder.sum("lecturekit_verifications_total", ["result": "sound"]) == 1)
        #expect(recorder.sum("lecturekit_verifications_total", ["result": "damaged"]) == 1)
        #expect(recorder.sum("lecturekit_verified_chunks_total") == 6)
        #expect(recorder.sum("lecturekit_damaged_chunks_total") == 1)
        await sandbox.stop()
    }

    /// None of the secrets that the test has planted, nor the token, nor the key of the licence server.
    private static func expectNothingSecret(_ recorder: Recorder, _ link: String, _ sandbox: SandboxOrigin) throws {
        let text = recorder.text
        #expect(text.contains("/media/bytes-64K-9.mp4") && !text.contains("canary"))
        let token = try #require(URLComponents(string: link)?.queryItems?.first { $0.name == "jwt" }?.value)
        let secret = try Data(contentsOf: URL(filePath: sandbox.drmKeyFile))
        let hex = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for secret in [token, hex, secret.base64EncodedString(), String(decoding: secret, as: UTF8.self)] {
            #expect(!text.contains(secret.trimmingCharacters(in: .whitespacesAndNewlines)))
        }
        #expect(!text.contains("?") && !text.contains("signature"))
    }

    @Test func `licence and report counts match their lists, and no secret is named`()
        async throws
    {
        let site = try Site()
        let sandbox = try await SandboxOrigin.start(["--no-https", "--licensed"])
        let recorder = Recorder()
        let authorization = site.directory.file("lms.secret")
        try Data("canary-authorization".utf8).write(to: URL(filePath: authorization))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: authorization)
        let manager = try Self.manager(site, recorder) { configuration in
            configuration.rights.keys = [.init(id: "sandbox", place: .secret(sandbox.drmKeyFile))]
            configuration.rights.userKey = "sandbox"
            let url = "\(sandbox.http)/lms/json?token=canary-target"
            configuration.statistics.target = ReportTarget(url: url, format: .json)
            var rule = StatisticsConfiguration.Rule(url: url)
            rule.authorizationFile = authorization
            configuration.statistics.rules = [rule]
        }
        await manager.licences.setParameter("canary-parameter")
        let link = try await sandbox.link(key: "bytes-64K-3", user: "canary-learner")
        let key = try await manager.fetch(link).key
        let host = sandbox.http.dropFirst("http://".count)
        var request = DownloadRequest(
            url: "http://canary-user:canary-password@\(host)/media/bytes-64K-9.mp4?signature=canary-signature#canary")
        request.headers["Authorization"] = "Bearer canary-header"
        request.title = "canary-title"
        _ = try await manager.downloads.enqueue(request)
        #expect(try await manager.downloads.waitUntilIdle())
        let renewal = try await manager.licences.renew(.keys([key]))
        try await sandbox.setLMS(habits: "poison:bad")
        let added = try await manager.reports.add(
            ["good", "bad", "fine"].map { id in
                var report = LearningReport(values: #"{"n":"canary-values"}"#, user: "canary-\(id)", session: id)
                report.id = id
                return report
            })
        #expect(added.allSatisfy { (try? $0.get().count) == 1 })
        // Two callers wait for the same reports; they are counted once.
        async let other = manager.reports.send()
        let sent = try await manager.reports.send()
        _ = try await other
        let summary = try await manager.reports.summary()
        await manager.close()
        #expect(renewal.renewed == 1)
        #expect(recorder.sum("lecturekit_licence_renewals_total", ["result": "renewed"]) == 1)
        #expect(recorder.sum("lecturekit_licences_total", ["event": "granted"]) == 1)
        #expect(recorder.messages(of: key).contains("A licence was renewed."))
        #expect(summary.counts[.dead] == 1 && sent.left == 0, "\(sent)")
        #expect(recorder.sum("lecturekit_reports_total", ["result": "delivered"]) == 2)
        #expect(recorder.sum("lecturekit_reports_total", ["result": "dead"]) == 1)
        #expect(recorder.sum("lecturekit_requests_total", ["method": "POST"]) > 0)
        try Self.expectNothingSecret(recorder, link, sandbox)
        await sandbox.stop()
    }

    @Test func `a metric always has the same labels`() async throws {
        let (site, sandbox, recorder) = (try Site(), try await SandboxOrigin.start(["--no-https"]), Recorder())
        let manager = try Self.manager(site, recorder)
        try await sandbox.set(fault: "503;times=1", on: "/media/bytes-64K-1.mp4")
        for number in 1...3 { _ = try await manager.fetch("\(sandbox.http)/media/bytes-64K-\(number).mp4") }
        let key = try #require(try await manager.contents.list().first?.key)
        _ = try await manager.downloads.refresh([key])
        _ = try await manager.fetch("http://127.0.0.1:1/none.mp4")
        await manager.close()
        for (name, metrics) in Dictionary(grouping: recorder.metrics, by: \.name) {
            #expect(Set(metrics.map { $0.labels.keys.sorted() }).count == 1, "\(name)")
            #expect(name.hasPrefix("lecturekit_") && (metrics[0].kind == .gauge) == !name.hasSuffix("_total"))
        }
        #expect(recorder.sum("lecturekit_source_checks_total", ["result": "unchanged"]) == 1)
        #expect(recorder.sum("lecturekit_requests_total", ["status": "none", "end": "failed"]) > 0)
        // The page lists every metric.
        let page = try String(
            contentsOfFile: "\(Places.repository())/docs/use-in-your-package.md", encoding: .utf8)
        for name in Set(recorder.metrics.map(\.name)) { #expect(page.contains("`\(name)`"), "\(name)") }
        await sandbox.stop()
    }
}

/// The queue between the work and a slow observer.
@Suite(.timeLimit(.minutes(1)))
struct ObservationTests {
    /// Blocks until it is released.
    private final class SlowRecorder: LectureObserver {
        let kept = Recorder()
        let gate = DispatchSemaphore(value: 0)

        func log(_ record: LectureLogRecord) {
            gate.wait()
            kept.log(record)
            gate.signal()
        }

        func record(_ metric: LectureMetric) { kept.record(metric) }
    }

    @Test func `a slow observer loses records, which are counted, and no count`() async {
        let observer = SlowRecorder()
        let observation = Observation(observer, limit: 50)
        for number in 0..<1000 {
            observation.log(.info, .store, "\(number)")
            observation.count("a", 2, ["b": "\(number % 3)"])
        }
        observer.gate.signal()
        await observation.flush()
        let kept = observer.kept
        #expect(kept.sum("a") == 2000 && kept.sum("a", ["b": "0"]) == 668)
        let dropped = kept.sum("lecturekit_log_records_dropped_total")
        #expect(dropped > 0 && Int64(kept.records.count) + dropped == 1000)
        // The remaining records are in order.
        let numbers = kept.records.compactMap { Int($0.message) }
        #expect(numbers == numbers.sorted() && numbers.first == 0)
    }

    @Test func `zero amounts are not counted`() async {
        let recorder = Recorder()
        let observation = Observation(recorder)
        observation.count("a", 0)
        observation.count("a", -1)
        await observation.flush()
        #expect(recorder.metrics.isEmpty)
    }
}
