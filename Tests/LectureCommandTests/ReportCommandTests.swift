import Foundation
import LectureCommand
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A store in a directory of its own, LMS in a sandbox, and commands run in this process.
private struct Bench {
    let scratch: ScratchDirectory
    let sandbox: SandboxOrigin

    init() async throws {
        scratch = try ScratchDirectory()
        sandbox = try await SandboxOrigin.start(["--no-https"])
    }

    var lms: String { "\(sandbox.http)/lms/json" }

    /// Runs a command line on this store.
    func callAsFunction(_ words: String...) async -> Outcome {
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let environment = ["HOME": scratch.url.path, "LECTURE_STORE": scratch.url.appending(path: "store").path]
        let context = context(words, environment: environment, output: output, diagnostics: diagnostics)
        let status = await CommandRunner(actions: CommandActions.all).run(context)
        return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
    }

    func summary() async throws -> JSONValue {
        let outcome = await self("lms", "list", "--summary", "--json")
        #expect(outcome.status == .done)
        try expectSchemas(outcome.output)
        return try JSONScanner.value(of: outcome.output)
    }

    func record(_ id: String) async throws -> JSONValue {
        for line in await self("lms", "list", "--json").output.split(separator: "\n") {
            let value = try JSONScanner.value(of: String(line))
            if value["id"]?.string == id { return value }
        }
        return .null
    }
}

/// Every line must match its schema; the last line of a send has its own.
private func expectSchemas(_ output: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    for line in output.split(separator: "\n") where !line.hasPrefix("ACK ") {
        let schema =
            line.contains(#""event":"summary""#)
            ? try JSONSchema(named: "event-summary-lms") : try JSONSchema(describing: String(line))
        let faults = try schema.faults(in: Data(line.utf8))
        #expect(faults.isEmpty, "\(line): \(faults)", sourceLocation: sourceLocation)
    }
}

@Suite(.timeLimit(.minutes(2))) struct ReportCommandNetTests {
    @Test func `a report is acknowledged, listed, sent once and accounted for`() async throws {
        let bench = try await Bench()
        let file = try bench.scratch.write("r.json", #"{"score":7}"#)
        let words = ["--id", "r1", "--user", "kim", "--session", "s", "--json", file, "--target", bench.lms]
        let first = await bench(
            "lms", "add", words[0], words[1], words[2], words[3], words[4], words[5], words[6],
            words[7], words[8], words[9], "--note", "n", "--course", "Algebra")
        #expect(first.status == .done && first.output == "ACK r1\n", "\(first.diagnostics)")
        let again = await bench(
            "--json", "lms", "add", "--id", "r1", "--user", "kim", "--session", "s", "--json", file, "--target",
            bench.lms, "--note", "n", "--course", "Algebra", "--acks")
        #expect(
            again.output
                == #"{"event":"lms","id":"r1","is_new":false,"seq":1,"target":"\#(bench.lms)","format":"json"}"#
                + "\nACK r1\n")
        try expectSchemas(again.output)
        let other = await bench("lms", "add", "--id", "r1", "--user", "lee")
        #expect(other.status == .data && other.output.isEmpty)
        #expect(other.diagnostics.contains("already stored with different values"))
        let listed = await bench("lms", "list", "--json", "--course", "Algebra", "--user", "kim", "--target", bench.lms)
        try expectSchemas(listed.output)
        #expect(listed.output.contains(#""state":"pending","course":"Algebra","user":"kim","session":"s","seq":1"#))
        #expect(await bench("lms", "list", "--user", "lee", "--ids").output.isEmpty)
        let sent = await bench("--json", "lms", "send", "--acks")
        #expect(sent.status == .done, "\(sent.diagnostics)")
        try expectSchemas(sent.output)
        #expect(sent.output.hasPrefix("ACK r1\n"))
        #expect(
            sent.output.contains(
                #"{"event":"summary","delivered":1,"dead":0,"superseded":0,"open":0,"requests":1,"elapsed_s":"#))
        let taken = try await bench.sandbox.lmsSummary()
        #expect(taken.once == 1 && taken.more == 0 && taken.keyViolations == 0)
        #expect(await bench("lms", "send").status == .done)
        #expect(try await bench.sandbox.lmsSummary().requests == 1)
        let summary = try await bench.summary()
        #expect(summary["created"]?.integer == 1 && summary["delivered"]?.integer == 1)
        #expect(summary["conserved"]?.bool == true)
    }

    @Test func `a batch acknowledges each line, and a bad line is named and does not stop the others`() async throws {
        let bench = try await Bench()
        let input = try bench.scratch.write(
            "in.jsonl",
            """
            {"id":"a","user":"u","session":"s","target":"\(bench.lms)","report":{"n":1},"time_ms":1700000000000}
            {"id":
            {"id":"b","user":"u","session":"s","target":"\(bench.lms)","seq":5,"note":"x"}

            {"id":"c","report":[]}
            {"id":"d","format":"soap","target":"\(bench.lms)"}
            {"id":"a","user":"v"}
            {"id":"e","user":"u","session":"s","target":"ftp://h"}
            {"user":"u","session":"s","target":"\(bench.lms)"}
            """)
        let script = #""$0" --store "$1" lms add --batch < "$2""#
        let store = bench.scratch.url.appending(path: "store").path
        let ending = try await ChildProcess.run(
            "/bin/bash", ["-c", script, BuiltProgram.url.path, store, input],
            environment: ["HOME": bench.scratch.url.path], directory: bench.scratch.url.path)
        #expect(ending.status == 1)
        let acks = ending.text.split(separator: "\n")
        #expect(acks.count == 3 && acks[0] == "ACK a" && acks[1] == "ACK b")
        for line in [2, 5, 6, 7, 8] { #expect(ending.errorText.contains("line \(line): "), "\(ending.errorText)") }
        #expect(ending.errorText.contains("line 5: values:") && ending.errorText.contains("line 6: format:"))
        #expect(ending.errorText.contains("line 7: a: a report with this id is already stored"))
        #expect(await bench("lms", "list", "--ids").output.split(separator: "\n").count == 3)
        let record = try await bench.record("a")
        #expect(record["time_ms"]?.integer == 1_700_000_000_000 && record["seq"]?.integer == 1)
        #expect(try await bench.record("b")["seq"]?.integer == 5)
        #expect(await bench("lms", "add", "--batch", "--user", "u").status == .usage)
        #expect(await bench("lms", "add", "--batch", "--json", input).status == .usage)
        #expect(await bench("lms", "add", "--format", "json").status == .usage)
    }

    @Test func `a line is answered while the input continues`() async throws {
        let bench = try await Bench()
        // The second line is written only when the first was acknowledged: a batch that waits for more would never end.
        let script = """
            mkfifo in out
            "$0" --store "$1" lms add --batch < in > out & exec 3> in 4< out
            echo '{"id":"a"}' >&3; read -r line <&4; echo "$line"
            echo '{"id":"b"}' >&3; read -r line <&4; echo "$line"
            exec 3>&-; wait
            """
        let ending = try await ChildProcess.run(
            "/bin/bash", ["-c", script, BuiltProgram.url.path, bench.scratch.url.appending(path: "store").path],
            environment: ["HOME": bench.scratch.url.path], directory: bench.scratch.url.path)
        #expect(ending.text == "ACK a\nACK b\n", "\(ending.errorText)")
    }

    @Test func `a play is summed up from its intervals`() async throws {
        let bench = try await Bench()
        let play = try bench.scratch.write(
            "play.json",
            """
            {"duration_ms":100000,"block_count":4,"intervals":[
            {"activity":"play","from_ms":0,"to_ms":30000,"speed_permille":2000,"wall_ms":1700000000000,
             "boot_ns":5000000000,"ended_boot_ns":20000000000},
            {"activity":"seek","from_ms":30000,"to_ms":10000},
            {"activity":"play","from_ms":10000,"to_ms":20000},{"activity":"stop","from_ms":20000,"to_ms":20000}]}
            """)
        let outcome = await bench("lms", "add", "--id", "p", "--user", "kim", "--content", "algebra", "--play", play)
        #expect(outcome.output == "ACK p\n", "\(outcome.diagnostics)")
        let target = "\(bench.sandbox.http)/lms"
        #expect(await bench("lms", "send", "--target", target, "--format", "kollus").status == .done)
        let taken = try await bench.sandbox.lmsSummary("/lms")
        #expect(taken.once == 1)
        for (text, word) in [
            ("[]", "play"), (#"{"intervals":[{"activity":"fly","from_ms":0,"to_ms":1}]}"#, "activity"),
            (#"{"intervals":[{"activity":"play","from_ms":0}]}"#, "to_ms"), ("{}", "wall_ms"),
            (#"{"intervals":[{"activity":"play","from_ms":0,"to_ms":1,"wall_ms":1,"boot_ns":1}]}"#, "ended_boot_ns"),
        ] {
            let bad = await bench("lms", "add", "--play", try bench.scratch.write("bad.json", text))
            #expect(bad.status == .data && bad.diagnostics.contains(word), "\(bad.diagnostics)")
        }
    }

    @Test(arguments: [
        (["--id", "\u{1}"], "id"), (["--user", String(repeating: "u", count: 513)], "user"),
        (["--session", String(repeating: "s", count: 513)], "session"),
        (["--target", "https://u:p@h/x"], "target"), (["--note", String(repeating: "n", count: 70_000)], "note"),
    ])
    func `what cannot be stored is refused, and the member is named`(words: [String], member: String) async throws {
        let scratch = try ScratchDirectory()
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let store = ["LECTURE_STORE": scratch.url.appending(path: "store").path, "HOME": scratch.url.path]
        let context = context(["lms", "add"] + words, environment: store, output: output, diagnostics: diagnostics)
        #expect(await CommandRunner(actions: CommandActions.all).run(context) == .data)
        #expect(output.text.isEmpty && diagnostics.text.contains("\(member): the report cannot be stored"))
    }

    @Test func `values that are not an object or too long are refused`() async throws {
        let bench = try await Bench()
        for text in ["[1]", "{", "", "{\"a\":\"\(String(repeating: "x", count: 1 << 20))\"}"] {
            let outcome = await bench("lms", "add", "--json", try bench.scratch.write("r.json", text))
            #expect(outcome.status == .data && outcome.diagnostics.contains("values: the report cannot be stored"))
        }
        #expect(
            await bench("lms", "add", "--json", bench.scratch.url.appending(path: "none").path).status == .inputOutput)
        let largest = "{\"a\":\"\(String(repeating: "x", count: (1 << 20) - 8))\"}"
        #expect(await bench("lms", "add", "--json", try bench.scratch.write("r.json", largest)).status == .done)
    }

    @Test func `a refused report is a dead letter with its reason, and is resent on request`() async throws {
        let bench = try await Bench()
        try await bench.sandbox.setLMS(habits: "poison:bad")
        for id in ["a", "bad", "c"] {
            #expect(await bench("lms", "add", "--id", id, "--user", id, "--target", bench.lms).status == .done)
        }
        let sent = await bench("--json", "lms", "send")
        #expect(sent.status == .someFailed, "\(sent.diagnostics)")
        try expectSchemas(sent.output)
        #expect(sent.output.contains(#"{"event":"refused","id":"bad","reason":"refused""#))
        let listed = await bench("lms", "list", "--state", "dead", "--json")
        try expectSchemas(listed.output)
        #expect(listed.output.contains(#""reason":"refused""#) && listed.output.contains(#""status":400"#))
        #expect(await bench("lms", "list", "--state", "dead").output.contains("refused HTTP 400"))
        #expect(
            await bench("lms", "retry", "--reason", "too_large", "--json").output == #"{"event":"revived","count":0}"#
                + "\n")
        try await bench.sandbox.setLMS(habits: "")
        #expect(await bench("lms", "retry", "a").status == .someFailed)
        let revived = await bench("lms", "retry", "bad", "--json")
        #expect(revived.status == .done && revived.output == #"{"event":"revived","count":1}"# + "\n")
        #expect(await bench("lms", "send").status == .done)
        let taken = try await bench.sandbox.lmsSummary()
        #expect(taken.once == 3 && taken.keyViolations == 0 && taken.contentViolations == 0)
        #expect(await bench("lms", "retry").status == .usage)
        #expect(await bench("lms", "retry", "bad", "--all").status == .usage)
    }

    @Test(arguments: [
        ("status:503;retry=600", LectureCommand.ExitStatus.tryAgain, "report_target_waits"),
        ("authorization:Bearer-x", .noPermission, "report_target_refuses"),
        ("html", .tryAgain, "report_answer_unexpected"),
    ])
    func `every obstacle to sending has a status, a message and a line`(
        habits: String, status: LectureCommand.ExitStatus, name: String
    ) async throws {
        let bench = try await Bench()
        try await bench.sandbox.setLMS(habits: habits)
        #expect(await bench("lms", "add", "--id", "a", "--target", bench.lms).status == .done)
        let sent = await bench("--json", "lms", "send", "--max-attempts", "1", "--longest-wait", "1s")
        #expect(sent.status == status, "\(sent.diagnostics)")
        try expectSchemas(sent.output)
        #expect(sent.output.contains(#""name":"\#(name)""#), "\(sent.output)")
        let summary = try await bench.summary()
        #expect(summary["pending"]?.integer == 1 && summary["conserved"]?.bool == true)
        #expect(await bench("lms", "list", "--summary").output.contains("open"))
    }

    @Test func `an unreachable server is 69, and reports without a target are 75`() async throws {
        let bench = try await Bench()
        #expect(await bench("lms", "add", "--id", "a").status == .done)
        let missing = await bench("--json", "lms", "send")
        #expect(missing.status == .tryAgain && missing.output.contains(#""name":"report_target_missing""#))
        try expectSchemas(missing.output)
        #expect(try await bench.summary()["without_target"]?.integer == 1)
        let closed = "http://127.0.0.1:9/lms"
        let unreachable = await bench("lms", "send", "--target", closed, "--max-attempts", "1")
        #expect(unreachable.status == .unavailable, "\(unreachable.diagnostics)")
        let moved = await bench("lms", "send", "--target", bench.lms)
        #expect(moved.status == .done, "\(moved.diagnostics)")
        #expect(try await bench.sandbox.lmsSummary().once == 1)
    }

    @Test func `configured credentials reach the LMS and appear nowhere else`() async throws {
        let bench = try await Bench()
        try await bench.sandbox.setLMS(habits: "authorization:Bearer-77")
        _ = try bench.scratch.write("token", "Bearer-77\n")
        let config = try bench.scratch.write(
            "config.json",
            #"{"lms":{"url":"\#(bench.lms)","targets":["#
                + #"{"url":"\#(bench.sandbox.http)","authorization_file":"token"}]}}"#
        )
        let added = await bench("--config", config, "lms", "add", "--id", "a")
        let sent = await bench("--config", config, "--json", "--verbose", "lms", "send")
        #expect(sent.status == .done, "\(sent.diagnostics)")
        #expect(try await bench.sandbox.lmsVisits().allSatisfy(\.authorized))
        let info = await bench("--config", config, "store", "info")
        for text in [added, sent, info].flatMap({ [$0.output, $0.diagnostics] }) {
            #expect(!text.contains("Bearer-77"))
        }
        #expect(info.output.contains("lms.url") && info.output.contains(bench.lms))
    }

    @Test func `a list is limited, filtered by time, and pages through everything`() async throws {
        let bench = try await Bench()
        let lines = (0..<2500).map {
            #"{"id":"r\#($0)","user":"u\#($0 % 2)","time_ms":\#(1_700_000_000_000 + $0 * 1000)}"#
        }
        let input = try bench.scratch.write("in.jsonl", lines.joined(separator: "\n"))
        let ending = try await ChildProcess.run(
            "/bin/bash",
            [
                "-c", #""$0" --store "$1" lms add --batch < "$2""#, BuiltProgram.url.path,
                bench.scratch.url.appending(path: "store").path, input,
            ], environment: ["HOME": bench.scratch.url.path], directory: bench.scratch.url.path)
        #expect(ending.text == (0..<2500).map { "ACK r\($0)\n" }.joined())
        let all = await bench("lms", "list", "--ids").output
        #expect(all == (0..<2500).map { "r\($0)\n" }.joined())
        let cut = await bench("lms", "list", "--ids", "--offset", "1100", "--limit", "3", "--user", "u1").output
        #expect(cut == "r2201\nr2203\nr2205\n")
        let part = await bench("lms", "list", "--ids", "--since", "1700000010", "--until", "1700000012").output
        #expect(part == "r10\nr11\n")
        #expect(await bench("lms", "list", "--limit", "1").output.contains("r0\tpending\t2023-11-14T22:13:20Z\tu0"))
        #expect(await bench("lms", "list", "--state", "dead").diagnostics.contains("No reports match"))
    }
}
