import LectureCommand
import Testing

@Suite struct ArgumentParserTests {
    private func parse(_ words: String..., environment: [String: String] = [:]) throws -> ParsedCommand {
        try ArgumentParser.parse(words, environment: environment)
    }

    private func sentence(_ words: String..., environment: [String: String] = [:]) -> String {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(words, environment: environment)
            return "(no error)"
        } catch {
            return error.sentence
        }
    }

    @Test func `a value may follow, be joined with an equals sign, or be glued to the letter`() throws {
        for words in [["--jobs", "4"], ["--jobs=4"], ["-j", "4"], ["-j4"]] {
            #expect(try ArgumentParser.parse(["precache"] + words).integer("jobs") == 4)
        }
    }

    @Test func `flags share one dash, and the last letter may take a value`() throws {
        let command = try parse("precache", "-nvj8", "a.txt")
        #expect(command.flag("dry-run") && command.flag("verbose"))
        #expect(command.integer("jobs") == 8)
        #expect(command.arguments == ["a.txt"])
    }

    @Test func `global options come before or after the command word`() throws {
        let command = try parse("--json", "--store", "/s", "list", "--color=never")
        #expect(command.path == ["list"])
        #expect(command.flag("json"))
        #expect(command.text("store") == "/s")
        #expect(command.text("color") == "never")
    }

    @Test func `the same word is a flag before 'lms add' and takes a value behind it`() throws {
        let flag = try parse("--json", "lms", "add")
        #expect(flag.flag("json") && flag.text("json") == nil)
        #expect(try parse("lms", "--json", "add").flag("json"))
        let value = try parse("lms", "add", "--json", "r.json")
        #expect(!value.flag("json") && value.text("json") == "r.json")
        let both = try parse("--json", "lms", "add", "--json", "-")
        #expect(both.flag("json") && both.text("json") == "-")
        #expect(try parse("--json", "lms", "add", "--batch").flag("batch"))
        #expect(sentence("lms", "add", "--json") == "Option '--json' needs a value: FILE.")
        #expect(try parse("lms", "list", "--json").flag("json"))
    }

    @Test func `a flag is reset by its no form, and the last one counts`() throws {
        #expect(try !parse("list", "--json", "--no-json").flag("json"))
        #expect(try parse("list", "--no-json", "--json").flag("json"))
        #expect(try parse("precache", "--no-seal").flag("no-seal"))
    }

    @Test func `after two dashes everything is an argument`() throws {
        let command = try parse("show", "--", "--odd-key")
        #expect(command.arguments == ["--odd-key"])
        #expect(try parse("precache", "-").arguments == ["-"])
    }

    @Test func `a negative number is a value and not an option`() throws {
        #expect(try parse("reorder", "k", "--priority", "-5").integer("priority") == -5)
        #expect(try parse("reorder", "k", "-p-5").integer("priority") == -5)
        #expect(try parse("cat", "k", "--range", "-500").text("range") == "-500")
    }

    @Test func `repeated options keep their order, others keep the last value`() throws {
        let command = try parse("precache", "-H", "A: 1", "--header=B: 2", "--jobs", "2", "--jobs", "3")
        #expect(command.texts("header") == ["A: 1", "B: 2"])
        #expect(command.integer("jobs") == 3)
    }

    @Test func `subcommands are found below their command`() throws {
        let command = try parse("store", "backup", "copy.sqlite")
        #expect(command.path == ["store", "backup"])
        #expect(command.spec.name == "backup")
    }

    @Test func `the environment supplies defaults, the command line wins`() throws {
        let environment = ["LECTURE_STORE": "/e", "LECTURE_JOBS": "7"]
        let command = try parse("precache", "--jobs", "2", environment: environment)
        #expect(command.text("store") == "/e")
        #expect(command.origin("store") == .environment)
        #expect(command.integer("jobs") == 2)
        #expect(command.origin("jobs") == .option)
        #expect(command.origin("quota") == nil)
        #expect(try parse("list", environment: ["LECTURE_STORE": ""]).text("store") == nil)
    }

    @Test func `typed values are read`() throws {
        let command = try parse(
            "precache", "--deadline", "1h30m", "--limit-rate", "2M", "--quota", "1.5G", "--connections", "auto")
        #expect(command.duration("deadline") == .seconds(5400))
        #expect(command.rate("limit-rate") == 2 << 20)
        #expect(command.byteCount("quota") == 3 << 29)
        #expect(command.integer("connections") == nil)
        #expect(command.text("connections") == "auto")
    }

    @Test func `help needs no arguments and no command`() throws {
        #expect(try parse("show", "--help").flag("help"))
        #expect(try parse("-h").path.isEmpty)
        #expect(try parse("--version").flag("version"))
    }

    @Test(arguments: [
        (["prekache"], "Unknown command 'prekache'. Did you mean 'precache'?"),
        (["xyzzy"], "Unknown command 'xyzzy'."),
        (["store", "chek"], "Unknown command 'chek'. Did you mean 'check'?"),
        (["list", "--stat", "x"], "Unknown option '--stat'. Did you mean '--state'?"),
        (["list", "--no-sate"], "Unknown option '--no-sate'."),
        (["list", "-Z"], "Unknown option '-Z'."),
        (["--dry-run", "precache"], "Option '--dry-run' belongs to 'precache'; write it after the command word."),
        (["list", "--samples"], "Option '--samples' belongs to 'remove', not to 'list'."),
        (["list", "--json=1"], "Option '--json' takes no value."),
        (["list", "--no-json=1"], "Option '--no-json' takes no value."),
        (["precache", "--jobs"], "Option '--jobs' needs a value: N."),
        (["precache", "-j", "-n"], "Option '-j' needs a value: N."),
        (
            ["precache", "--title", "--key"],
            "Option '--title' needs a value: TEXT. Write a value that begins with a dash as --title=VALUE."
        ),
        (["precache", "--jobs="], "Option '--jobs': '' must not be empty."),
        (["precache", "--jobs", "0"], "Option '--jobs': '0' must be a whole number from 1 to 256."),
        (["list", "--offset", "-1"], "Option '--offset': '-1' must be a whole number of at least 0."),
        (
            ["list", "--sort", "sizes"],
            "Option '--sort': 'sizes' must be one of title, downloaded, size, expiry, priority, folder; "
                + "did you mean 'size'."
        ),
        (["list", "-q", "-v"], "Options '--quiet' and '--verbose' cannot be used together."),
        (["precache", "-o", "a", "-d", "b"], "Options '--output' and '--output-dir' cannot be used together."),
        (["pause"], "KEY… or '--all' is missing."),
        (["pause", "k", "--all"], "Give arguments or '--all', not both."),
        (["show"], "KEY is missing."),
        (["show", "a", "b"], "Unexpected argument 'b'."),
        (["show", ""], "KEY '' must not be empty."),
        (["store"], "'store' needs a subcommand."),
        ([], "A command is required."),
        (["completion", "tcsh"], "SHELL 'tcsh' must be one of bash, zsh, fish."),
    ])
    func `every invalid command line has its own message`(words: [String], expected: String) {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(words)
            Issue.record("no error for \(words)")
        } catch {
            #expect(error.sentence == expected)
        }
    }

    @Test func `an invalid variable is named`() {
        #expect(
            sentence("precache", environment: ["LECTURE_JOBS": "many"])
                == "Environment variable LECTURE_JOBS: 'many' must be a whole number from 1 to 256.")
    }

    @Test func `a URL of 100 KiB is refused with a short message`() {
        let sentence = sentence("precache", "https://example.org/" + String(repeating: "a", count: 100 << 10))
        #expect(sentence.hasSuffix("is a URL of 102420 bytes; at most 8192 are accepted."))
        #expect(sentence.utf8.count < 200)
    }

    @Test func `control characters of the input do not reach the message`() {
        let sentence = sentence("\u{1B}[31mred\n")
        #expect(!sentence.contains("\u{1B}"))
        #expect(!sentence.contains("\n"))
    }

    @Test func `a long unknown word is not measured against every command`() {
        let sentence = sentence(String(repeating: "x", count: 1 << 20))
        #expect(sentence.hasPrefix("Unknown command 'xxx"))
    }

    @Test func `the message refers to further help`() {
        #expect(UsageErrorProbe.message("store", "chek").hasSuffix("See 'lecturectl store --help'."))
    }
}

private enum UsageErrorProbe {
    static func message(_ words: String...) -> String {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(words)
            return ""
        } catch {
            return error.message
        }
    }
}
