import Foundation
import LectureCommand
import LectureFormats
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// How messages are written on standard error.
@Suite struct LogFormatTests {
    static let time = Timestamp(milliseconds: 1_700_000_000_045)

    /// One message of the command, one about an error, and one of the library.
    static func messages() -> [LogMessage] {
        let record = LectureLogRecord(
            level: .debug, time: time, category: .request, message: "A request ended.",
            fields: ["method": "GET", "url": "https://h.example/a b.mp4", "reason": #"say "x\y""#, "bytes": ""])
        return [
            LogMessage(time: time, priority: .warning, text: "It waits."),
            LogMessage(time: time, priority: .error, text: "No.", error: LectureError(.storeBusy)), LogMessage(record),
        ]
    }

    @Test(arguments: [
        (
            LogFormat.sentences,
            """
            lecturectl: It waits.
            lecturectl: No.
            lecturectl: A request ended. bytes="" method=GET reason="say \\"x\\\\y\\"" url="https://h.example/a b.mp4"

            """
        ),
        (
            .text,
            """
            2023-11-14T22:13:20.045Z warning It waits.
            2023-11-14T22:13:20.045Z error No. error=store_busy error_number=-20006
            2023-11-14T22:13:20.045Z debug A request ended. bytes="" method=GET \
            reason="say \\"x\\\\y\\"" url="https://h.example/a b.mp4"

            """
        ),
        (
            .journal,
            """
            <4>lecturectl: It waits.
            <3>lecturectl: No.
            <7>lecturectl: A request ended. bytes="" method=GET \
            reason="say \\"x\\\\y\\"" url="https://h.example/a b.mp4"

            """
        ),
        (
            .json,
            """
            {"time":"2023-11-14T22:13:20.045Z","level":"warning","message":"It waits."}
            {"time":"2023-11-14T22:13:20.045Z","level":"error","message":"No.",\
            "fields":{"error":"store_busy","error_number":"-20006"}}
            {"time":"2023-11-14T22:13:20.045Z","level":"debug","message":"A request ended.","category":"request",\
            "fields":{"bytes":"","method":"GET","reason":"say \\"x\\\\y\\"","url":"https://h.example/a b.mp4"}}

            """
        ),
    ])
    func `a message is one line in each format`(format: LogFormat, lines: String) {
        let diagnostics = MemorySink()
        let context = context([], output: MemorySink(), diagnostics: diagnostics).logging(as: format.rawValue)
        for message in Self.messages() { context.write(message) }
        #expect(diagnostics.text == lines)
    }

    @Test func `levels are named as others name them, and sorted as syslog(3) does`() {
        #expect(MessagePriority.allCases.map(\.name) == ["error", "warning", "notice", "info", "debug"])
        #expect(MessagePriority.allCases.map(\.rawValue) == [3, 4, 5, 6, 7])
        for level in LectureLogRecord.Level.allCases {
            let record = LectureLogRecord(level: level, time: Self.time, category: .store, message: "m")
            #expect(LogMessage(record).priority.name == level.rawValue)
        }
    }

    @Test(arguments: [-1, 0, 999, 1000, 1_700_000_000_008])
    func `a time has its milliseconds`(milliseconds: Int64) throws {
        let text = MomentText.utc(Timestamp(milliseconds: milliseconds))
        #expect(Quantity.moment(text)?.milliseconds == milliseconds)
        #expect(text.utf8.count == 24)
    }

    @Test(arguments: [LogFormat.sentences, .text, .json, .journal])
    func `no message can control the terminal or begin another line`(format: LogFormat) {
        let diagnostics = MemorySink()
        let context = context([], output: MemorySink(), diagnostics: diagnostics).logging(as: format.rawValue)
        var message = LogMessage(time: Self.time, priority: .error, text: "a\u{1B}[2Jb\nc")
        message.fields = ["name": "x\n<0>y\u{1B}]0;z\u{7}"]
        context.write(message)
        let controls = diagnostics.text.dropLast().unicodeScalars.filter { $0.value < 0x20 || $0.value == 0x7F }
        #expect(diagnostics.text.hasSuffix("\n") && controls.isEmpty)
    }

    // MARK: The command line

    @Test(
        arguments: [
            (["-v"], 1), (["-vv"], 2), (["-v", "--verbose"], 2), (["-vvv"], 3), (["-vv", "--no-verbose"], 0),
            (["-vv", "--no-verbose", "-v"], 1), ([], 0),
        ] as [([String], Int)])
    func `verbose counts`(words: [String], count: Int) throws {
        let command = try ArgumentParser.parse(["list"] + words)
        #expect(command.count("verbose") == count)
        #expect(command.flag("verbose") == (count > 0))
    }

    @Test(
        arguments: [
            (["--log-format", "json", "nothing"], nil, "{"), (["nothing", "--log-format=text"], nil, "20"),
            (["nothing"], "journal", "<3>lecturectl: "), (["nothing"], nil, "lecturectl: "),
            (["nothing", "--", "--log-format=json"], nil, "lecturectl: "),
            (["--log-format", "text", "--log-format=json", "nothing"], "journal", "{"),
            (["--log-format", "loud", "list"], nil, "lecturectl: "), (["nothing"], "loud", "lecturectl: "),
            (["version"], "loud", "lecturectl: "),
        ] as [([String], String?, String)])
    func `a command line that cannot be used is reported in the format that it names`(
        words: [String], variable: String?, beginning: String
    ) async {
        let diagnostics = MemorySink()
        let environment = variable.map { ["LECTURE_LOG_FORMAT": $0] } ?? [:]
        let context = context(words, environment: environment, output: MemorySink(), diagnostics: diagnostics)
        #expect(await CommandRunner(actions: [:]).run(context) == .usage)
        #expect(diagnostics.text.hasPrefix(beginning), "\(diagnostics.text)")
    }

    @Test(arguments: [["--log-format", "text"], ["--log-format=json"], ["-vv"]])
    func `bars are not drawn among other lines`(words: [String]) async throws {
        let refused = await run("precache", "--progress", "bar", words[0], words.last ?? "", "http://127.0.0.1:1/a.mp4")
        #expect(refused.status == .usage && refused.diagnostics.contains("write '--progress plain'"))
        let context = context([], output: MemorySink(), diagnostics: MemorySink())
        #expect(!context.mayDraw)
        for word in [nil, "auto", "text", "json", "journal"] {
            let terminal = CommandContext(
                arguments: [], environment: [:], output: context.output, diagnostics: context.diagnostics,
                outputIsTerminal: true, diagnosticsIsTerminal: true, terminalSize: { .standard }, clock: context.clock,
                signals: { nil }
            ).logging(as: word)
            #expect(terminal.mayDraw == (word == nil || word == "auto"))
        }
    }

    @Test func `progress is a message in a log, and a line of its own elsewhere`() {
        for (word, due) in [
            (nil, "1 of 2\n"), ("journal", "1 of 2\n"), ("text", "2023-11-14T22:13:20.000Z info 1 of 2\n"),
            ("json", #"{"time":"2023-11-14T22:13:20.000Z","level":"info","message":"1 of 2"}"# + "\n"),
        ] as [(String?, String)] {
            let diagnostics = MemorySink()
            context([], output: MemorySink(), diagnostics: diagnostics).logging(as: word).writeProgress("1 of 2\n")
            #expect(diagnostics.text == due)
        }
    }
}

/// What the program logs about its requests.
@Suite(.timeLimit(.minutes(2))) struct RequestLogNetTests {
    @Test func `every request is logged, without what is secret in it`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let good =
            sandbox.http.replacing("http://", with: "http://anna:hunter2@") + "/media/bytes-1M-1.mp4?token=secret"
        let words = ["precache", "--header", "X-Ticket: secret", "--log-format", "json", "-vv", good]
        let ending = try await me.run(words)
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = ending.errorText.split(separator: "\n")
        let schema = try JSONSchema(named: "log")
        for line in lines { #expect(try schema.faults(in: Data(line.utf8)).isEmpty, "\(line)") }
        let requests = lines.filter { $0.contains(#""category":"request""#) }
        #expect(try await sandbox.requests(for: "/media/bytes-1M-1.mp4").count == requests.count)
        #expect(requests.allSatisfy { $0.contains(#""url":"\#(sandbox.http)/media/bytes-1M-1.mp4""#) })
        #expect(!ending.errorText.contains("secret") && !ending.errorText.contains("hunter2"))
        // Without -vv only what the command says.
        let other = try await me("precache", "--log-format", "text", "-v", "\(sandbox.http)/media/bytes-1M-2.mp4")
        #expect(other.status == 0 && !other.errorText.contains(" debug "))
        #expect(other.errorText.contains(" info complete: "), "\(other.errorText)")
    }

    @Test func `an error is named in a log`() async throws {
        let me = try BadDay()
        let ending = try await me("show", "nothing", "--log-format", "json")
        #expect(ending.errorText.contains(#""error":"store_missing""#), "\(ending.errorText)")
    }
}
