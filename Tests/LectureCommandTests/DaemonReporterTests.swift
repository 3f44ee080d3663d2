import Foundation
import Glibc
import LectureDaemon
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureCommand

/// What a daemon says about each event: a message or none, and a line of `--json` or none.
@Suite struct DaemonReporterTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let event: @Sendable () throws -> LectureEvent
        /// What its message contains; nil for none.
        var message: String?
        /// How much it matters.
        var priority = MessagePriority.information
        /// What its line begins with; nil for none.
        var line: String?
        var testDescription: String { name }
    }

    private static func content(
        _ state: ItemState, _ reason: StopReason? = nil, _ error: LectureError? = nil
    ) throws -> Content {
        var content = Content(
            key: try ContentKey("k"), sourceURL: "http://h/", title: "Algebra", state: state,
            added: Timestamp(milliseconds: 0))
        (content.stopReason, content.error) = (reason, error)
        return content
    }

    private static func key() throws -> ContentKey { try ContentKey("k") }
    private static let connect = LectureError(.transfer(7))
    private static let delivered: ReportSendResult = {
        var result = ReportSendResult()
        (result.delivered, result.requests) = (3, 1)
        return result
    }()

    static let rows: [Row] = [
        Row(name: "queued", event: { .queued(try content(.queued)) }, line: #"{"event":"queued""#),
        Row(name: "loading", event: { .advanced(try content(.loading)) }),
        Row(
            name: "progress",
            event: {
                .progress(DownloadProgress(key: try key(), title: "Algebra", state: .downloading))
            }, line: #"{"event":"progress""#),
        Row(
            name: "verifying",
            event: {
                .progress(DownloadProgress(key: try key(), title: "Algebra", state: .verifying))
            }),
        Row(
            name: "complete", event: { .completed(try content(.completed)) }, message: "complete: Algebra (k)",
            line: #"{"event":"completed""#),
        Row(
            name: "failed", event: { .failed(try content(.failed, nil, LectureError(.status(404)))) },
            message: "failed: Algebra (k): ", priority: .error, line: #"{"event":"failed""#),
        Row(
            name: "stopped", event: { .stopped(try content(.stopped, .network, connect)) },
            message: "stopped: Algebra (k): ", priority: .warning, line: #"{"event":"stopped""#),
        Row(name: "unchanged", event: { .unchanged(try content(.completed)) }),
        Row(name: "outdated", event: { .outdated(try content(.queued)) }, line: #"{"event":"outdated""#),
        Row(
            name: "not checked", event: { .checkFailed(key: try key(), error: connect) }, message: "not checked: k: ",
            priority: .warning, line: #"{"event":"check_failed""#),
        Row(name: "removed", event: { .removed(try key()) }, line: #"{"event":"removed""#),
        Row(name: "published", event: { .published(key: try key(), path: "/x") }),
        Row(name: "granted", event: { .licenceGranted(try key()) }, line: #"{"event":"licence""#),
        Row(
            name: "ended", event: { .licenceEnded(try key()) }, message: "k: the licence server has ended",
            priority: .warning, line: #"{"event":"licence""#),
        Row(
            name: "revoked", event: { .licenceDeleted(try key()) }, message: "k: the licence server has revoked",
            priority: .warning, line: #"{"event":"licence""#),
        Row(name: "renewal", event: { .renewalBegan(total: 1, done: 0) }),
        Row(
            name: "renewed", event: { .renewed(key: try key(), current: 1, count: 1, error: nil) },
            line: #"{"event":"renewed""#),
        Row(
            name: "not renewed", event: { .renewed(key: try key(), current: 1, count: 1, error: connect) },
            message: "k: ", priority: .warning, line: #"{"event":"error","key":"k""#),
        Row(
            name: "renewal over", event: { .renewalEnded(RenewalReport()) },
            message: "0 licences renewed, 0 failed, 0 waiting."),
        Row(
            name: "refused", event: { .reportRefused(id: "r", reason: .refused, error: LectureError(.reportRefused)) },
            message: "", priority: .error, line: #"{"event":"refused","id":"r""#),
        Row(
            name: "a target waits",
            event: {
                .reportObstacle(
                    ReportObstacle(url: "http://h/", error: LectureError(.reportTargetWaits), again: nil))
            }, message: "", priority: .warning, line: #"{"event":"obstacle""#),
        Row(
            name: "a target refuses",
            event: {
                .reportObstacle(
                    ReportObstacle(url: "http://h/", error: LectureError(.reportTargetRefuses), again: nil))
            }, message: "", priority: .error, line: #"{"event":"obstacle""#),
        Row(name: "sending", event: { .reportsProgress(delivered) }),
        Row(
            name: "sent", event: { .reportsSent(delivered) }, message: "3 reports delivered, 0 refused, 0 left.",
            line: #"{"event":"sending","delivered":3"#),
        Row(
            name: "a full disk", event: { .trouble(LectureError(.storageFull)) }, message: "", priority: .error,
            line: #"{"event":"error""#),
    ]

    /// A reporter whose messages go to a journal, or have another format.
    private func reporter(
        _ words: [String], format: String? = nil
    ) throws -> (DaemonReporter, output: MemorySink, messages: MemorySink) {
        let (output, messages) = (MemorySink(), MemorySink())
        let environment = ["HOME": "/h"]
        let context = CommandContext(
            arguments: words, environment: environment, output: output, diagnostics: messages, outputIsTerminal: false,
            diagnosticsIsTerminal: false, diagnosticsIsJournal: true, terminalSize: { .standard },
            clock: VirtualClock(wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0)),
            signals: { nil }
        ).logging(as: format)
        let session = try CommandSession(ArgumentParser.parse(words, environment: environment), context)
        return (DaemonReporter(session: session, notifier: ServiceNotifier([:])), output, messages)
    }

    @Test(arguments: rows)
    func `each event has its message and its line`(row: Row) throws {
        let (reporter, output, messages) = try reporter(["daemon", "--json"])
        try reporter.take(row.event())
        let said = messages.text
        if let message = row.message {
            #expect(said.hasPrefix("\(row.priority.prefix)lecturectl: \(message)") && said.hasSuffix("\n"), "\(said)")
        } else {
            #expect(said.isEmpty)
        }
        #expect(output.text.hasPrefix(row.line ?? "") && output.text.isEmpty == (row.line == nil), "\(output.text)")
        #expect(try JSONSchema.faults(ofLines: output.text).isEmpty)
        // Without --json there is no line, and --quiet leaves what is no information.
        let (quiet, nothing, rest) = try self.reporter(["daemon", "--quiet"])
        try quiet.take(row.event())
        #expect(nothing.text.isEmpty)
        #expect(rest.text.isEmpty == (row.message == nil || row.priority == .information), "\(rest.text)")
    }

    @Test func `in a log every message about an error has its name`() throws {
        let key = try Self.key()
        let events: [LectureEvent] = [
            .failed(try Self.content(.failed, nil, Self.connect)),
            .stopped(try Self.content(.stopped, .network, Self.connect)), .checkFailed(key: key, error: Self.connect),
            .renewed(key: key, current: 1, count: 1, error: Self.connect),
            .reportRefused(id: "r", reason: .refused, error: Self.connect),
            .reportObstacle(ReportObstacle(url: "http://h", error: Self.connect, again: nil)), .trouble(Self.connect),
        ]
        for event in events {
            let (reporter, _, messages) = try reporter(["daemon"], format: "json")
            try reporter.take(event)
            #expect(
                messages.text.contains(#""fields":{"error":"connect","error_number":"-8007"}}"#), "\(messages.text)")
        }
    }

    @Test func `states are reported, with their lists`() throws {
        let (reporter, output, messages) = try reporter(["daemon", "--json"])
        var reading = DaemonLists.Reading(lists: NamedLists(["/c/a.txt"]))
        reading.lists.record("/c/a.txt", used: 2, refused: 1)
        try reporter.read("/c/a.txt", reading)
        try reporter.ready(1)
        try reporter.ready(2)
        try reporter.reloading()
        try reporter.forgot("/c/a.txt")
        try reporter.stopping()
        let states = output.text.split(separator: "\n").map { $0.dropFirst(#"{"event":"daemon","state":"#.count) }
        #expect(
            states == [
                #""list_read","list":"/c/a.txt","used":2,"refused":1}"#, #""ready"}"#, #""ready"}"#,
                #""reloading"}"#, #""list_gone","list":"/c/a.txt"}"#, #""stopping"}"#,
            ])
        #expect(try JSONSchema.faults(ofLines: output.text).isEmpty)
        for words in ["a.txt: 2 lectures, 1 refused.", "ready; 1 course list.", "ready; 2 course lists.", "is gone"] {
            #expect(messages.text.contains(words))
        }
    }
}

extension JSONSchema {
    /// What is wrong with lines.
    fileprivate static func faults(ofLines text: String) throws -> [String] {
        try text.split(separator: "\n").flatMap { line in
            try JSONSchema(describing: String(line)).faults(in: Data(line.utf8)).map { "\($0)" }
        }
    }
}

/// The settings of a daemon.
@Suite struct DaemonSettingsTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["etc", "etc/courses"] {
            try FileManager.default.createDirectory(
                at: scratch.url.appending(path: name), withIntermediateDirectories: true)
        }
    }

    private func session(_ words: [String], _ more: [String: String] = [:]) throws -> CommandSession {
        let environment = ["HOME": scratch.url.path].merging(more) { $1 }
        let command = try ArgumentParser.parse(words, environment: environment)
        return try CommandSession(
            command, context(words, environment: environment, output: MemorySink(), diagnostics: MemorySink()))
    }

    @Test func `lists come from the options, the file, a service's directory, or there are none`() throws {
        let etc = scratch.url.appending(path: "etc").path
        #expect(try session(["daemon"]).configuration.courses == Setting([], .default))
        let service = ["CONFIGURATION_DIRECTORY": etc]
        #expect(try session(["daemon"], service).configuration.courses == Setting(["\(etc)/courses"], .default))
        let file = try scratch.write("etc/config.json", #"{"daemon":{"courses":["c","/d"],"renew_within_s":60}}"#)
        let settings = try session(["daemon", "--config", file], service).configuration
        #expect(settings.courses == Setting(["\(etc)/c", "/d"], .file))
        #expect(settings.renewWithin == Setting(.seconds(60), .file))
        let words = ["daemon", "--config", file, "--courses", "x", "--courses", "y", "--renew-within", "2h"]
        let given = try session(words).configuration
        #expect(given.courses == Setting(["x", "y"], .option))
        #expect(given.renewWithin == Setting(.seconds(7200), .option))
        #expect(try session(["daemon"]).configuration.renewWithin == Setting(.seconds(259_200), .default))
        for text in [#"{"courses":[1]}"#, #"{"courses":"c"}"#, #"{"courses":[""]}"#, #"{"renew_within_s":-1}"#] {
            let wrong = try scratch.write("wrong.json", "{\"daemon\":\(text)}")
            #expect(throws: LectureError(.configuration)) { try session(["daemon", "--config", wrong]) }
        }
    }

    @Test func `only the daemon is long-running, and only it sends reports by itself`() throws {
        let file = try scratch.write("config.json", #"{"lms":{"delivery":"automatic"}}"#)
        for words in [["daemon"], ["precache", "http://h/a.mp4"], ["lms", "send"], ["list"]] {
            let settings = try session(words + ["--config", file]).librarySettings()
            #expect(settings.isLongRunning == (words == ["daemon"]))
            #expect(settings.statistics.delivery == (words == ["daemon"] ? .automatic : .onDemand))
        }
    }

    @Test func `a default is no bound for far servers, and a number that was chosen is one`() throws {
        let file = try scratch.write("config.json", #"{"network":{"per_host":16}}"#)
        for (words, jobs, perHost) in [
            ([], false, false), (["--jobs", "4"], true, false), (["--per-host", "16"], false, true),
            (["--config", file], false, true),
        ] {
            let settings = try session(["precache", "http://h/a.mp4"] + words).librarySettings()
            #expect((settings.chosenJobs != nil) == jobs && (settings.chosenPerHost != nil) == perHost)
            #expect(settings.jobs == 4 && settings.connectionsPerHost == 16)
        }
    }

    @Test func `SIGHUP is an event once it is taken, and ends the process before`() async {
        await #expect(processExitsWith: .success) {
            guard let watcher = SignalWatcher() else { exit(3) }
            watcher.takeHangups()
            var events = watcher.events.makeAsyncIterator()
            kill(getpid(), SIGHUP)
            guard await events.next() == .reload else { exit(4) }
            withExtendedLifetime(watcher) { exit(0) }
        }
        await #expect(processExitsWith: .signal(SIGHUP)) {
            let watcher = SignalWatcher()
            kill(getpid(), SIGHUP)
            let (endless, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in endless {}
            withExtendedLifetime(watcher) { continuation.finish() }
        }
    }
}
