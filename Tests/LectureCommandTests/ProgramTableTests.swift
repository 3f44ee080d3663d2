import LectureCommand
import LectureModel
import LectureTestSupport
import Testing

/// A program with a table of its own shares the parser, the help and the runner with `lecturectl`.
@Suite struct ProgramTableTests {
    private static let table = ProgramTable(
        root: CommandSpec(
            "shelf", "keeps books",
            subcommands: [
                CommandSpec(
                    "lend", "lends a book", arguments: [ArgumentSpec("BOOK", "The book.", .text)],
                    options: [
                        .value("days", "d", "N", .integer(1...30), help: "For how long.", environment: "SHELF_DAYS")
                    ],
                    examples: [ExampleSpec("shelf lend dune", "lend one")]),
                CommandSpec(
                    "stock", "shows the stock", standard: "count",
                    subcommands: [
                        CommandSpec(
                            "count", "counts", options: [.flag("lent", "l", help: "Only lent ones.")],
                            examples: [ExampleSpec("shelf stock count", "count")])
                    ]),
                CommandSpec("tidy", "tidies", subcommands: [CommandSpec("up", "tidies up")]),
                CommandSpec("help", "explains", arguments: [ArgumentSpec("COMMAND", "It.", .command, minimum: 0)]),
                CommandSpec("version", "shows the version"),
            ]),
        globalOptions: [
            .flag("json", help: "JSON."), .flag("help", "h", help: "Help."), .flag("version", "V", help: "Version."),
        ],
        aliases: ["give": "lend"], oldNames: ["stock number": "count"])

    private struct Broken: Error {}

    private static func run(
        _ words: String..., environment: [String: String] = [:]
    ) async -> Outcome {
        let (output, diagnostics) = (MemorySink(), MemorySink())
        let context = CommandContext(
            arguments: words, environment: environment, output: output, diagnostics: diagnostics,
            outputIsTerminal: false, diagnosticsIsTerminal: false,
            terminalSize: { .standard },
            clock: VirtualClock(
                wall: Timestamp(milliseconds: 0), boot: BootInstant(nanoseconds: 0)), program: table,
            signals: { nil })
        let runner = CommandRunner(
            actions: [
                "lend": { command, context in
                    if command.arguments == ["lost"] { throw Broken() }
                    if command.arguments == ["torn"] { throw LectureError(.damaged) }
                    try context.output.write("\(command.arguments[0]) for \(command.text("days") ?? "ever")\n")
                    return .done
                },
                "stock count": { _, _ in .done },
            ],
            explain: { error, context in
                guard error is Broken else { return nil }
                return CommandRunner.Ending(
                    message: "It is lost in '\(context.program.programName)'.", status: .data,
                    machine: "{\"lost\":true}\n")
            })
        let status = await runner.run(context)
        return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
    }

    @Test func `a command of another program is run with its own options`() async {
        #expect(await Self.run("lend", "dune", "-d7").output == "dune for 7\n")
        #expect(await Self.run("lend", "dune", environment: ["SHELF_DAYS": "9"]).output == "dune for 9\n")
    }

    @Test func `other and former names are those of the program`() async {
        #expect(await Self.run("give", "dune").output == "dune for ever\n")
        #expect(await Self.run("stock", "number").status == .done)
        // An alias of lecturectl's is none here.
        let end = await Self.run("rm", "dune")
        #expect(end.status == .usage)
        #expect(end.diagnostics == "shelf: Unknown command 'rm'. See 'shelf --help'.\n")
    }

    @Test(
        arguments: [
            (["lend"], "shelf: BOOK is missing. See 'shelf lend --help'.\n"),
            (["lend", "dune", "--store", "x"], "shelf: Unknown option '--store'. See 'shelf lend --help'.\n"),
            (
                ["--days", "3", "lend", "dune"],
                "shelf: Option '--days' belongs to 'lend'; write it after the command word. See 'shelf --help'.\n"
            ),
            (["tidy"], "shelf: 'tidy' needs a subcommand. See 'shelf tidy --help'.\n"),
            (
                ["tidy", "--lent"],
                "shelf: Option '--lent' belongs to 'stock count', not to 'tidy'. See 'shelf tidy --help'.\n"
            ),
            (["stock", "cuont"], "shelf: Unknown command 'cuont'. Did you mean 'count'? See 'shelf stock --help'.\n"),
            ([], "shelf: A command is required. See 'shelf --help'.\n"),
        ])
    func `a command line that cannot be used names the program`(words: [String], message: String) {
        do throws(UsageError) {
            _ = try ArgumentParser.parse(words, of: Self.table)
            Issue.record("it was accepted")
        } catch {
            #expect("shelf: \(error.message(of: Self.table))\n" == message)
        }
    }

    @Test(arguments: [
        ["stock"], ["stock", "--lent"], ["stock", "-l"], ["stock", "--json", "--lent"], ["--json", "stock"],
    ])
    func `a command without its subcommand is the usual one`(words: [String]) throws {
        let command = try ArgumentParser.parse(words, of: Self.table)
        #expect(command.path == ["stock", "count"])
        #expect(command.flag("lent") == (words.contains("--lent") || words.contains("-l")))
        #expect(try ArgumentParser.parse(["stock", "--help"], of: Self.table).path == ["stock"])
    }

    @Test func `help and version are those of the program`() async {
        let help = await Self.run("--help")
        #expect(help.output.hasPrefix("Usage: shelf [OPTIONS] COMMAND\n\nKeeps books.\n\nCommands:\n  lend "))
        #expect(help.output.hasSuffix("\n'shelf help COMMAND' explains a command.\n"))
        #expect(!help.output.contains("lecturectl"))
        let command = await Self.run("help", "give")
        #expect(command.output.hasPrefix("Usage: shelf lend [OPTIONS] BOOK\n"))
        #expect(command.output.contains("Global options: --json, --help, --version. 'shelf --help' explains them.\n"))
        #expect(await Self.run("version").output == "shelf \(ProgramVersion.number)\n")
        #expect(await Self.run("--version", "--json").output.contains(#""program":"shelf""#))
        #expect(await Self.run("help", "lent").diagnostics.hasPrefix("shelf: Unknown command 'lent'. Did you mean"))
    }

    @Test func `an error of the program is explained by it`() async {
        let end = await Self.run("lend", "lost", "--json")
        #expect(end.status == .data)
        #expect(end.output == "{\"lost\":true}\n")
        #expect(end.diagnostics == "shelf: It is lost in 'shelf'.\n")
        #expect(await Self.run("lend", "lost").output == "")
    }

    @Test func `an error that it does not explain is reported as everywhere`() async {
        let end = await Self.run("lend", "torn", "--json")
        #expect(end.status == .data)
        #expect(end.output.contains(#""event":"error""#))
        #expect(end.diagnostics.hasPrefix("shelf: "))
    }

    @Test func `the table of lecturectl is the one of its commands`() throws {
        let table = ProgramTable.lecturectl
        #expect(table.programName == "lecturectl")
        #expect(table.leaves.map(\.path) == CommandTable.leaves.map(\.path))
        #expect(table != Self.table)
        #expect(table.spec(at: ["licence", "debts"])?.name == "pending")
        #expect(table.spec(at: ["rm"])?.name == "remove")
        #expect(try ArgumentParser.parse(["list"]).program == table)
    }
}
