import Foundation
import LectureCommand
import LectureDoctor
import LectureFormats
import LectureKit
import LectureModel
import LecturePlayer
import LectureProgramSupport
import LectureRecords
import Testing

@Suite struct JSONLineTests {
    /// A lecture with every member set.
    static func content() throws -> Content {
        var content = Content(
            key: try ContentKey("algebra-01"), sourceURL: "https://user:pw@h.example/a.mp4?token=secret#x",
            title: "선형대수 \"1\"", state: .stopped, added: Timestamp(milliseconds: 1))
        content.course = "Algebra"
        content.teacher = "T"
        content.folder = "a/b"
        content.stopReason = .serverWait
        content.error = LectureError(.serverWait)
        content.totalBytes = 100
        content.committedBytes = 40
        content.totalChunks = 5
        content.committedChunks = 2
        content.attempts = 3
        content.nextAttempt = Timestamp(milliseconds: 5)
        content.sha256 = [UInt8](repeating: 0xAB, count: 32)
        content.duration = .milliseconds(1500)
        content.completed = Timestamp(milliseconds: 9)
        return content
    }

    static func bare() throws -> Content {
        Content(
            key: try ContentKey("k"), sourceURL: "http://h/", title: "t", state: .queued,
            added: Timestamp(milliseconds: 0))
    }

    static func attempt() -> Attempt {
        var attempt = Attempt(at: Timestamp(milliseconds: 7), origin: "https://h.example", decision: "retry")
        attempt.status = 503
        attempt.rangeCount = 1024
        attempt.detail = "the server asks to wait"
        return attempt
    }

    static func command() throws -> ParsedCommand {
        try ArgumentParser.parse(["store", "info", "--proxy", "http://u:p@h"], environment: ["HOME": "/h"])
    }

    static func configuration() throws -> Configuration {
        try Configuration.load(try command(), environment: ["HOME": "/h"])
    }

    static func refusal() throws -> LicenceFileVerdict {
        try LicenceVerifier(trust: LicenceTrust()).verify(
            token: "a.b.c", context: LicenceFileContext(now: Timestamp(milliseconds: 0)))
    }

    static func identity() throws -> DeviceIdentity {
        let scratch = try ScratchDirectory()
        return try DeviceHome(directory: scratch.url.appending(path: "device").path).identity()
    }

    /// Every kind of line, with all members and with few.
    static func lines() throws -> [(schema: String, line: String)] {
        var stopped = try content()
        stopped.error = nil
        var failed = try content()
        failed.state = .failed
        failed.error = LectureError(.digestMismatch)
        let vague = DownloadProgress(key: try ContentKey("k"), title: "t", state: .downloading)
        var progress = vague
        (progress.bytes, progress.total, progress.bytesPerSecond, progress.remaining) = (1, 2, 3.9, .seconds(4))
        var totals = RunTotals()
        totals.elapsed = .milliseconds(1234)
        let key = try ContentKey("k")
        return [
            ("event-queued", JSONLine.queued(try bare())),
            ("event-progress", JSONLine.progress(progress)), ("event-progress", JSONLine.progress(vague)),
            ("event-completed", JSONLine.completed(try content())), ("event-completed", JSONLine.completed(try bare())),
            ("event-failed", JSONLine.failed(failed)),
            ("event-stopped", JSONLine.stopped(try content())), ("event-stopped", JSONLine.stopped(stopped)),
            ("event-removed", JSONLine.removed(key)), ("event-gap", JSONLine.gap()),
            ("event-error", JSONLine.error(.bug, message: "m")),
            ("event-error", JSONLine.error(.courseLine, message: "m", key: "k")),
            ("event-summary", JSONLine.summary(RunTotals())), ("event-summary", JSONLine.summary(totals)),
            ("record-content", JSONLine.content(try content())), ("record-content", JSONLine.content(try bare())),
            ("record-attempt", JSONLine.attempt(attempt(), key: key)),
            (
                "record-attempt",
                JSONLine.attempt(Attempt(at: Timestamp(milliseconds: 0), origin: "", decision: "done"), key: key)
            ),
            ("record-status", JSONLine.status(StoreOverviewSample.value)),
            (
                "record-status",
                JSONLine.status(
                    StoreOverview(
                        status: StoreOverviewSample.value.status,
                        space: .init(free: nil, reserve: 0, quota: nil, used: 0)))
            ),
            ("record-metric", JSONLine.metric("lecturekit_courses", metric(.integer(7)))),
            ("record-metric", JSONLine.metric("lecturekit_time_seconds", metric(.milliseconds(-1), "course", "a\nb"))),
            ("record-setting", JSONLine.setting(try configuration().origins(try command(), [:])[0])),
            ("record-store", JSONLine.store(nil, try configuration())),
            ("event-outdated", JSONLine.outdated(try content())),
            ("event-check_failed", JSONLine.checkFailed(key, LectureError(.status(503), detail: "h.example"))),
            ("event-skipped", JSONLine.skipped(key)), ("event-published", JSONLine.published(key, path: "/p")),
            ("event-planned", JSONLine.plannedRemoval(try content())), ("event-plan", JSONLine.plan(PlanTotals())),
            ("event-joined", JSONLine.joined(key, path: "/p", bytes: 1, format: .mp4)),
            ("event-streams", JSONLine.streams(StreamOutline(), of: request)),
            ("event-streams", JSONLine.streams(outline, of: request)),
            ("event-warning", JSONLine.warning(.init(line: 1, member: "titel", suggestion: "title"))),
            ("event-warning", JSONLine.warning(.init(line: 1, member: "x", suggestion: nil))),
            ("record-verdict", JSONLine.verdict(try refusal())),
            ("record-device", JSONLine.device(try identity(), directory: "/d")),
            ("record-version", JSONLine.version(ProgramVersion.number, of: "lecturectl")),
        ] + Self.players(key) + Self.unattended() + (try UpkeepLines.all()) + BundleLines.all(key)
            + (try LicenceLines.all()) + ReportLines.all() + WebhookLines.all() + ReportExportLines.all()
    }

    /// What machines without an operator say.
    private static func unattended() -> [(schema: String, line: String)] {
        [
            ("event-daemon", JSONLine.daemon("ready")),
            ("event-daemon", JSONLine.daemon("list_read", list: "/c/a.jsonl", used: 3, refused: 0)),
            ("record-finding", JSONLine.finding(Finding(.disk, .warning, "Little.", remedy: "Free some."))),
            ("record-finding", JSONLine.finding(Finding(.store, LectureError(.storeNewer), name: "/s"))),
        ] + LogFormatTests.messages().map { ("log", $0.json) }
    }

    private static let request = DownloadRequest(url: "https://u:p@h.example/m.m3u8?token=1")

    private static let outline: StreamOutline = {
        var outline = StreamOutline()
        outline.variants = [StreamOutline.Variant(number: 1)]
        (outline.variants[0].bandwidth, outline.variants[0].width, outline.variants[0].height) = (500_000, 640, 360)
        (outline.chosen, outline.segments, outline.files, outline.isLive) = (1, 10, 11, true)
        (outline.audioLanguages, outline.subtitleLanguages) = (["ko"], ["en"])
        (outline.duration, outline.estimatedBytes) = (.seconds(60), 3_750_000)
        return outline
    }()

    /// A player in each of its states.
    private static func players(_ key: ContentKey) -> [(schema: String, line: String)] {
        let states: [PlayerState] =
            [.idle, .preparing, .prepared, .stopped(.finished), .stopped(.stopped)]
            + [.stopped(.failed(LectureError(.licenceExpired)))]
            + PlayerActivity.allCases.flatMap { [.playing($0), .paused($0)] }
        return states.map { state in
            var shown = PlayerDisplay()
            (shown.state, shown.position, shown.rate) = (state, .milliseconds(1500), 1.25)
            shown.key = key
            if case .playing = state {
                (shown.duration, shown.buffered) = (.seconds(60), .seconds(3))
                var permission = PlayPermission()
                permission.expiresAt = Timestamp(milliseconds: 1_893_455_999_000)
                (permission.playTimeLeft, permission.section) = (.seconds(90), .seconds(5) ..< .seconds(25))
                (permission.forbidsTVOutput, permission.message) = (true, "Until Friday.")
                shown.permission = permission
            }
            return ("event-player", JSONLine.player(shown))
        }
    }

    private static func metric(
        _ value: MetricFamily.Value, _ label: String = "state", _ text: String = "queued"
    ) -> MetricFamily.Sample {
        var family = MetricFamily("lecturekit_a", "Help.")
        family.add(value, [.init(label, text)])
        return family.samples[0]
    }

    @Test func `a figure is a number, a time in seconds with its fraction`() {
        let labels = #""labels":{"state":"queued"}"#
        let due = [
            (MetricFamily.Value.integer(7), "7"), (.integer(.max), "9223372036854775807"), (.milliseconds(0), "0.0"),
            (.milliseconds(1_700_000_000_123), "1700000000.123"), (.milliseconds(-1_500), "-1.5"),
        ]
        for (value, text) in due {
            let line = JSONLine.metric("lecturekit_a", Self.metric(value))
            #expect(line == #"{"record":"metric","name":"lecturekit_a",\#(labels),"value":\#(text)}"# + "\n")
        }
    }

    @Test func `every line is one object that its schema describes`() throws {
        for (name, line) in try Self.lines() {
            #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
            let schema = try JSONSchema(named: name)
            let faults = try schema.faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(name): \(faults)")
        }
    }

    @Test func `every schema is used and rejects invalid lines`() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: JSONSchema.directory.path)
        let schemas = files.filter { $0.hasSuffix(".schema.json") }.map { String($0.dropLast(12)) }
        // Some kinds of line contain what only a store can make; CommandStoreTests has them.
        // The answers about reports are in ReportCommandTests.
        // Rebuilding is in LostDatabaseTests.
        let fromStore: Set = [
            "record-why", "event-verified", "event-rebuilt", "event-lms", "record-lms", "record-lms_summary",
            // BookmarkTests.
            "record-bookmark", "event-bookmark_sync",
            // ServeCommandNetTests, whose lines the program prints.
            "event-serving", "event-access_added", "record-access",
            // The body of a request: WebhookProgramTests.
            "webhook",
        ]
        #expect(Set(schemas).subtracting(fromStore) == Set(try Self.lines().map(\.schema)))
        for name in schemas {
            let schema = try JSONSchema(named: name)
            #expect(try !schema.faults(in: Data("{}".utf8)).isEmpty)
            #expect(try !schema.faults(in: Data(#"{"event":"other","record":"other"}"#.utf8)).isEmpty)
        }
    }

    @Test func `schemas name the states and reasons there are`() throws {
        let schema = try JSONSchema(named: "record-content")
        #expect(schema.enumeration("state") == ItemState.allCases.map(\.name))
        #expect(schema.enumeration("stop_reason") == StopReason.allCases.map(\.name))
        #expect(schema.enumeration("type") == ContentType.allCases.map(\.name))
    }

    @Test func `no line shows a password, a token or a fragment`() throws {
        // The line of the device consists of its public key, whose letters are random.
        for (schema, line) in try Self.lines() where schema != "record-device" {
            for secret in ["pw", "secret", "#x", "u:p"] { #expect(!line.contains(secret)) }
        }
        #expect(JSONLine.content(try Self.content()).contains(#""url":"https://…@h.example/a.mp4""#))
    }

    @Test func `the summary has the members of the contract in their order`() {
        var totals = RunTotals()
        totals.completed = 1
        totals.failed = 2
        totals.stopped = 3
        totals.skipped = 4
        totals.bytesFetched = 5
        totals.bytesReused = 6
        totals.elapsed = .milliseconds(7500)
        totals.outdated = 8
        totals.unchecked = 9
        #expect(
            JSONLine.summary(totals)
                == #"{"event":"summary","completed":1,"failed":2,"stopped":3,"skipped":4,"bytes_fetched":5,"#
                + #""bytes_reused":6,"elapsed_s":7.5,"outdated":8,"unchecked":9}"# + "\n")
    }
}

enum StoreOverviewSample {
    static var value: StoreOverview {
        var overview = StoreOverview(
            status: status, space: .init(free: 1 << 30, reserve: 1 << 20, quota: 1 << 40, used: 5))
        (overview.outdated, overview.damaged, overview.licencesDue) = (1, 2, 3)
        (overview.openReports, overview.deadReports) = (4, 5)
        overview.processes = [
            StoreProcess(
                pid: 7, command: "lecturectl precache", started: Timestamp(milliseconds: 0), lectures: 2,
                isWriting: false),
            StoreProcess(pid: 8, command: "sqlite3", started: nil, lectures: 0, isWriting: true),
        ]
        return overview
    }

    private static var status: StoreStatus {
        var status = StoreStatus()
        status.counts = [.completed: 3, .queued: 1]
        status.committedBytes = 5
        status.totalBytes = 9
        return status
    }
}
