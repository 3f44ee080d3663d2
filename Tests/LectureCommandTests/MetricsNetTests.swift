import Foundation
import LectureCommand
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A store with lectures in several states and a refused report, made by the built program, and its figures.
struct MetricsScene {
    static let course = #"수학 "A\B""#
    let home: TemporaryDirectory
    let sandbox: SandboxOrigin

    init() async throws {
        home = try TemporaryDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"])
    }

    func start(_ words: [String]) throws -> ChildProcess {
        let environment = ["HOME": home.path, "LECTURE_STORE": home.file("store"), "LECTURE_RESERVE": "1M"]
        return try ChildProcess(BuiltProgram.url.path, words, environment: environment, directory: home.path)
    }

    @discardableResult
    func callAsFunction(_ words: String..., status: Int32 = 0) async throws -> String {
        let ending = try await start(words).ending()
        #expect(ending.status == status, "\(words): \(ending.errorText)")
        return ending.text
    }

    /// Two lectures that are complete, one that the server does not have, and two reports, one of them refused.
    func fill() async throws {
        let lines = try [("a", "bytes-1M-1.mp4"), ("b", "bytes-2M-1.mp4"), ("c", "none.mp4")].map { key, name in
            let line = ["url": "\(sandbox.http)/media/\(name)", "key": key, "course": key == "b" ? "" : Self.course]
            return String(decoding: try JSONEncoder().encode(line), as: UTF8.self)
        }
        try home.write(lines.joined(separator: "\n"), to: "list.jsonl")
        try await self("precache", "list.jsonl", status: 1)
        try await sandbox.setLMS(habits: "status:400")
        let target = ["--target", "\(sandbox.http)/lms/json?token=SECRET", "--format", "json"]
        for words in [["lms", "add", "--user", "u", "--session", "1", "--seq", "1"] + target, ["lms", "send"]] {
            #expect(try await [0, 1].contains(start(words).ending().status))
        }
        try await self("lms", "add", "--user", "u", "--session", "2", "--seq", "1")
        try await self("store", "backup", "copy.db")
    }

    /// The figures by name and labels; of a file, or as printed.
    static func figures(_ text: String) -> [String: String] {
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        let pairs = lines.map { line in
            let space = line.lastIndex(of: " ") ?? line.endIndex
            return (String(line[..<space]), String(line[space...].dropFirst()))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }
}

@Suite(.timeLimit(.minutes(3))) struct MetricsCommandNetTests {
    @Test func `the figures are those of the store`() async throws {
        let me = try await MetricsScene()
        try await me.fill()
        let text = try await me("metrics")
        let figures = MetricsScene.figures(text)
        let host = me.sandbox.http.dropFirst("http://".count)
        let course = #"course="수학 \"A\\B\"""#
        let due = [
            "lecturekit_build_info{version=\"\(ProgramVersion.number)\"}": "1",
            "lecturekit_contents{\(course),state=\"completed\"}": "1",
            "lecturekit_contents{\(course),state=\"failed\"}": "1",
            #"lecturekit_contents{course="",state="completed"}"#: "1",
            "lecturekit_content_bytes{\(course),state=\"completed\"}": "1048576", "lecturekit_courses": "1",
            #"lecturekit_content_errors{code="-8404",name="http_404"}"#: "1", "lecturekit_licences": "0",
            #"lecturekit_licences_ending{within="30d"}"#: "0",
            "lecturekit_reports_dead{target=\"1\",format=\"json\",host=\"\(host)\"}": "1",
            "lecturekit_reports_waiting{target=\"1\",format=\"json\",host=\"\(host)\"}": "0",
            #"lecturekit_reports_waiting{target="none",format="",host=""}"#: "1",
            "lecturekit_disk_reserve_bytes": "1048576", "lecturekit_store_used_bytes": "3145728",
        ]
        for (name, value) in due { #expect(figures[name] == value, "\(name)") }
        let now = Date().timeIntervalSince1970
        let times = [
            "lecturekit_metrics_timestamp_seconds",
            #"lecturekit_reports_oldest_waiting_timestamp_seconds{target="none",format="",host=""}"#,
            #"lecturekit_last_success_timestamp_seconds{task="precache"}"#,
            #"lecturekit_last_success_timestamp_seconds{task="course_list"}"#,
            #"lecturekit_last_success_timestamp_seconds{task="backup"}"#,
        ]
        for name in times {
            let time = try #require(figures[name].flatMap(Double.init), "\(name)")
            #expect(time > now - 180 && time <= now, "\(name)")
        }
        #expect(figures[#"lecturekit_last_success_timestamp_seconds{task="report_delivery"}"#] == nil)
        for secret in ["SECRET", "bytes-1M-1", "list.jsonl", me.home.path] { #expect(!text.contains(secret)) }
        // As JSON, the same.
        let lines = try await me("metrics", "--json").split(separator: "\n").map { Data($0.utf8) }
        let schema = try JSONSchema(named: "record-metric")
        for line in lines { #expect(try schema.faults(in: line) == []) }
        #expect(lines.count == figures.count)
        let labelled = MetricsScene.figures(try await me("metrics", "--label", "store=x=y", "--label", "site=z"))
        #expect(labelled.count == figures.count)
        #expect(labelled.keys.allSatisfy { $0.contains(#"{store="x=y",site="z""#) })
        await me.sandbox.stop()
    }

    @Test func `it reads while a download runs, and writes a file that all may read, or none`() async throws {
        let me = try await MetricsScene()
        let (file, missing) = (me.home.file("out.prom"), me.home.file("none/out.prom"))
        let media = "/media/bytes-8M-1.mp4"
        try await me.sandbox.set(fault: "stall:4000000", on: media)
        let download = try me.start(["precache", "\(me.sandbox.http)\(media)", "--json"])
        try await download.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(#""event":"progress""#) }
        #expect(try await me("metrics", "--output", file).isEmpty)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(MetricsScene.figures(text)[#"lecturekit_contents{course="",state="downloading"}"#] == "1")
        #expect(text.hasSuffix("\n# EOF\n"))
        download.send(SIGKILL)
        _ = await download.ending()
        // A umask that forbids it to others does not count: the reader is another user.
        let words = ["-c", #"umask 077; exec "$@""#, "sh", BuiltProgram.url.path, "--store", me.home.file("store")]
        let again = try await ChildProcess.run(
            "/bin/sh", words + ["metrics", "-o", file], environment: ["HOME": me.home.path])
        #expect(again.status == 0, "\(again.errorText)")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o644)
        // Without a store, and without a directory, the file stays as it was.
        let before = try Data(contentsOf: URL(filePath: file))
        try await me("metrics", "--store", me.home.file("other"), "--output", file, status: 74)
        try await me("metrics", "--output", missing, status: 73)
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: me.home.path)
        #expect(!names.contains { $0.hasSuffix(".tmp") })
        await me.sandbox.stop()
    }

    @Test func `writers of one file do not mix, and a name does not control the terminal`() async throws {
        let me = try await MetricsScene()
        let line = #"{"url":"\#(me.sandbox.http)/media/bytes-64K-1.mp4","course":"a\u001b[2Jb"}"#
        try me.home.write(line, to: "list.jsonl")
        try await me("precache", "list.jsonl")
        let file = me.home.file("out.prom")
        let writers = try (0..<6).map { try me.start(["metrics", "--output", file, "--label", "writer=\($0)"]) }
        for writer in writers { #expect(await writer.ending().status == 0) }
        let labels = try String(contentsOfFile: file, encoding: .utf8).matches(of: /writer="(\d)"/).map(\.output.1)
        #expect(Set(labels).count == 1 && labels.count > 10)
        #expect(try FileManager.default.contentsOfDirectory(atPath: me.home.path).filter { $0.hasSuffix(".tmp") } == [])
        #expect(try await me("metrics").contains("course=\"a\u{1B}[2Jb\""))
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let terminal = CommandContext(
            arguments: ["metrics"], environment: ["HOME": me.home.path, "LECTURE_STORE": me.home.file("store")],
            output: output, diagnostics: diagnostics, outputIsTerminal: true, diagnosticsIsTerminal: true,
            terminalSize: { .standard }, clock: SystemTime.clock, signals: { nil })
        #expect(await CommandRunner(actions: CommandActions.all).run(terminal) == .done)
        #expect(output.text.hasSuffix("# EOF\n") && !output.text.contains("\u{1B}"))
        await me.sandbox.stop()
    }

    @Test(arguments: [
        ("store=maths", true), ("a=", true), ("a=b=c", true), ("a", false), ("=b", false), ("a b=c", false),
        ("__a=b", false), ("1a=b", false), ("course=x", false), ("task=x", false),
    ])
    func `a label has a name of its own`(text: String, isAccepted: Bool) {
        #expect((ValueGrammar.metricLabel.problem(in: text) == nil) == isAccepted)
    }
}
