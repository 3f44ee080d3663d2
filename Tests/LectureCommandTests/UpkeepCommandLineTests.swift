import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import Testing

@testable import LectureCommand

/// The command lines of `prune`, `pin`, `unpin`, `plan` and `daemon`, in this process and without a store.
@Suite struct UpkeepCommandLineTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    /// Runs a command of an account without a store, at 22:13:20 UTC of Tuesday, 14 November 2023.
    private func perform(_ words: [String], _ variables: [String: String] = [:]) async -> Outcome {
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let environment = ["HOME": scratch.url.path].merging(variables) { $1 }
        let context = context(words, environment: environment, output: output, diagnostics: diagnostics)
        let status = await CommandRunner(actions: CommandActions.all).run(context)
        return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
    }

    static let refused: [(words: [String], sentence: String)] = [
        (["prune", "--rule", "kep 1d after play"], "Option '--rule': rule 1: 'kep 1d after play', character 1"),
        (["prune", "--rule", "kep 1d after play"], "(did you mean 'keep'?)"),
        (
            ["prune", "--rule", "keep 1d after play", "--rule", "never below"],
            "Option '--rule': rule 2: 'never below', character 12"
        ),
        (["prune", "--yes", "--rule", "keep 1d after play"], "--yes accepts the rules of the configuration"),
        (["prune", "--max-delete", "some"], "--max-delete"), (["prune", "--max-delete", "101%"], "--max-delete"),
        (["prune", "a"], "Unexpected argument 'a'"), (["prune", "--all"], "--all"), (["pin"], "KEY"),
        (["pin", "--all"], "--all"), (["unpin"], "KEY… or '--all' is missing"),
        (["unpin", "a", "--all"], "Give arguments or '--all', not both."),
        (["plan", "--course", "x", "--items", "y"], "Options '--course' and '--items' cannot be used together."),
        (["plan", "--items", "y", "--course", "x"], "cannot be used together."),
        (["plan", "a", "--course", "x"], "Option '--course' takes the place of keys."),
        (["plan", "a", "--items", "x"], "Option '--items' takes the place of keys."),
        (["plan", "--ready-by", "soon"], "Option '--ready-by' must be a time such as 'Mon 08:00'"),
        (["plan", "--ready-by", "Mon 25:00"], "and not 'Mon 25:00'."), (["plan", "--speed", "fast"], "--speed"),
        (["plan", "--check", "all"], "--check"), (["plan", "--jobs", "0"], "--jobs"),
        (["daemon", "/list"], "Unexpected argument '/list'"), (["daemon", "--renew-within", "x"], "--renew-within"),
        (["daemon", "--courses"], "--courses"), (["daemon", "--prune"], "--prune"),
    ]

    @Test(arguments: refused) func `what cannot be meant is refused before anything is opened`(
        words: [String], sentence: String
    ) async throws {
        let outcome = await perform(words)
        #expect(outcome.status == .usage && outcome.output.isEmpty)
        #expect(outcome.diagnostics.contains(sentence), "\(outcome.diagnostics)")
        #expect(outcome.diagnostics.contains("See 'lecturectl \(words[0]) --help'."), "\(outcome.diagnostics)")
        #expect(outcome.diagnostics.split(separator: "\n").count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty)
    }

    @Test(
        arguments: [
            ["prune"], ["prune", "--dry-run"], ["prune", "--rule", "keep 1d after play"], ["prune", "--yes"],
            ["unpin", "--all"],
        ])
    func `without a store there is nothing to remove and no pin`(words: [String]) async throws {
        #expect(await perform(words).status == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty, "no store is made")
    }

    @Test(arguments: [["pin", "a"], ["unpin", "a"], ["plan"], ["plan", "a"], ["plan", "--course", "x"]])
    func `what needs a store says that there is none`(words: [String]) async throws {
        let outcome = await perform(words)
        #expect(outcome.status != .done && outcome.output.isEmpty, "\(outcome.output)")
        #expect(outcome.diagnostics.contains("\(scratch.url.path)"), "\(outcome.diagnostics)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).isEmpty)
    }

    @Test func `a list is planned without a store, and none is left behind`() async throws {
        let list = try scratch.write("list.jsonl", #"{"url": "http://127.0.0.1:1/a.mp4", "key": "a", "size": 900}"#)
        let known = await perform(["plan", "--items", list, "--speed", "100", "--json", "--reserve", "0"])
        #expect(known.status == .done, "\(known.output)\(known.diagnostics)")
        #expect(known.output.contains(#""ready":true"#) && known.output.contains(#""bytes_left":900"#))
        #expect(known.output.contains(#""end_ms":1700000009000"#), "nine seconds from now: \(known.output)")
        #expect(try JSONSchema(named: "record-readiness").faults(in: Data(known.output.utf8)) == [])
        let unknown = await perform(["plan", "--items", list, "--reserve", "0"])
        #expect(unknown.status == .tryAgain && unknown.output.contains("No speed is known yet"))
        let late = await perform(
            ["plan", "--items", list, "--speed", "100", "--ready-by", "2023-11-14T22:13:28Z", "--reserve", "0"])
        #expect(late.status == .tryAgain && late.output.hasPrefix("Not ready by "), "\(late.output)")
        let fine = await perform(
            ["plan", "--items", list, "--speed", "100", "--ready-by", "2023-11-14T22:13:29Z", "--reserve", "0"])
        #expect(fine.status == .done && fine.output.contains("less than a minute before"), "\(fine.output)")
        let store = scratch.url.appending(path: ".local/share/lecturekit").path
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test(
        arguments: [
            ("2023-11-14T22:13:20Z", 0), ("2023-11-15T00:00:00+01:00", 2_800), ("2023-11-14T22:13:21.5Z", 1.5),
        ])
    func `a time with a zone is the same everywhere`(text: String, seconds: Double) throws {
        let words = ["plan", "--ready-by", text]
        let context = context(words, output: MemorySink(), diagnostics: MemorySink())
        let time = try PlanCommand.readyBy(ArgumentParser.parse(words), context)
        #expect(time == Timestamp(milliseconds: 1_700_000_000_000) + .seconds(seconds))
        #expect(try PlanCommand.readyBy(ArgumentParser.parse(["plan"]), context) == nil)
    }

    // MARK: The configuration

    /// The settings by name.
    private func settings(_ words: [String], _ variables: [String: String] = [:]) async throws -> [String: String] {
        let outcome = await perform(["config", "show", "--json"] + words, variables)
        #expect(outcome.status == .done, "\(outcome.diagnostics)")
        var settings: [String: String] = [:]
        for line in outcome.output.split(separator: "\n") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String] ?? [:]
            settings[object["name"] ?? ""] = "\(object["value"] ?? "?") \(object["origin"] ?? "?")"
        }
        return settings
    }

    @Test func `rules and the daemon's settings are shown with their places`() async throws {
        let defaults = try await settings([])
        #expect(defaults["retention.rules"] == " default" && defaults["daemon.courses"] == " default")
        #expect(defaults["daemon.renew_within_s"] == "259200 default")
        let file = try scratch.write(
            "c.json",
            #"""
            {"retention": {"rules": ["keep 1d after play", "Never below 2 GiB"]},
             "daemon": {"courses": ["/a", "b"], "renew_within_s": 7}}
            """#)
        let shown = try await settings(["--config", file])
        #expect(shown["retention.rules"] == "keep 1d after play; Never below 2 GiB file")
        #expect(shown["daemon.courses"] == "/a \(scratch.url.path)/b file")
        #expect(shown["daemon.renew_within_s"] == "7 file")
        #expect(try await settings([], ["LECTURE_CONFIG": file])["retention.rules"]?.hasSuffix(" file") == true)
    }

    @Test func `a rule that cannot be read is a mistake for every command, with its number`() async throws {
        let file = try scratch.write(
            "c.json", #"{"retention": {"rules": ["keep 1d after play", "keep 1d after pley"]}}"#)
        let expected = "retention.rules: rule 2: 'keep 1d after pley', character 15"
        for words in [["config", "check", file], ["prune", "--config", file], ["config", "show", "--config", file]] {
            let outcome = await perform(words)
            #expect(outcome.status == .configuration, "\(words)")
            #expect(outcome.diagnostics.contains(expected), "\(outcome.diagnostics)")
            #expect(outcome.diagnostics.contains("(did you mean 'play'?)"))
        }
        let fine = try scratch.write("c.json", #"{"retention": {"rules": ["keep 1d after play"]}}"#)
        #expect(await perform(["config", "check", fine]).status == .done)
    }

    // MARK: Messages

    @Test(
        arguments: [
            ([], nil, nil), ([], "json", "json"), ([], "loud", nil), ([], "sentences", nil),
            (["list", "--log-format", "text"], nil, "text"), (["--log-format=auto"], "json", "auto"),
            (["--log-format"], nil, nil), (["--log-format"], "json", nil), (["--log-format="], "json", nil),
            (["--log-format", "loud"], "json", nil), (["--log-format", "text", "--log-format", "loud"], nil, nil),
            (["--log-format=loud", "--log-format=journal"], nil, "journal"),
            (["--", "--log-format", "text"], nil, nil), (["--", "--log-format=text"], "json", "json"),
            (["--log-format", "--", "text"], nil, nil), (["--log-formats=text"], nil, nil),
            (["--log-format", "--log-format=json"], nil, "json"), (["--log-format=JSON"], nil, nil),
        ] as [([String], String?, String?)])
    func `the format of messages is read from any command line`(words: [String], variable: String?, format: String?) {
        let environment = variable.map { [LogFormat.variable: $0] } ?? [:]
        #expect(LogFormat.named(by: words, environment) == format)
    }
}
