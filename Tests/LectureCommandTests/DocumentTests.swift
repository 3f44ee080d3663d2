import Foundation
import LectureCommand
import LectureProgramSupport
import Testing

@Suite struct DocumentTests {
    static let pages: [[String]] =
        [[], ["licence"], ["lms"], ["webhooks"], ["device"], ["store"]] + CommandTable.leaves.map(\.path)

    @Test(arguments: pages)
    func `help is as recorded`(path: [String]) async throws {
        let name = (["help"] + path).joined(separator: "-") + ".txt"
        try expectGolden(HelpPage.text(path: path), name)
    }

    @Test(arguments: pages)
    func `help fits 80 columns and ends in examples`(path: [String]) {
        let text = HelpPage.text(path: path)
        for line in text.split(separator: "\n") { #expect(TerminalText.width(String(line)) <= 80, "\(line)") }
        #expect(
            text.contains("\nExamples:\n  lecturectl") || text.contains("lecturectl \(path.joined(separator: " "))"))
    }

    @Test func `the manual page is as recorded`() throws { try expectGolden(ManualPage.text(), "lecturectl.1") }

    @Test func `the manual page names every command and every option`() {
        let page = ManualPage.text()
        for (path, spec) in CommandTable.leaves {
            #expect(page.contains(".Ss \(path.joined(separator: " "))\n"))
            for option in spec.visibleOptions { #expect(page.contains("Fl -\(option.long)")) }
        }
    }

    @Test func `a command's page names its words, its options and its examples, and a group's its commands`() {
        for (path, spec) in CommandTable.leaves {
            let page = ManualPage.text(of: path, spec)
            #expect(page.contains(".Nm lecturectl-\(path.joined(separator: "-"))\n"))
            #expect(page.contains("\n.Nm lecturectl Cm \(path.joined(separator: " "))"))
            for option in spec.visibleOptions { #expect(page.contains("Fl -\(option.long)")) }
            #expect(page.contains(".Sh EXAMPLES\n") == !spec.examples.isEmpty)
        }
        for group in CommandTable.root.subcommands where !group.subcommands.isEmpty {
            let page = ManualPage.text(of: [group.name], group)
            for one in group.subcommands { #expect(page.contains(".It Xr lecturectl-\(group.name)-\(one.name) 1\n")) }
        }
    }

    @Test func `help --man prints the page of the program, of a group and of a command`() async {
        let pages = await [
            run("help", "--man"), run("help", "--man", "store"), run("help", "--man", "store", "backup"),
        ]
        let titles = ["LECTURECTL 1", "LECTURECTL-STORE 1", "LECTURECTL-STORE-BACKUP 1"]
        for (page, title) in zip(pages, titles) { #expect(page.output.contains("\n.Dt \(title)\n")) }
        #expect(await run("help", "--man", "prekache").status == .usage)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/mandoc")))
    func `mandoc has no complaints about any manual page`() throws {
        let scratch = try ScratchDirectory()
        let groups = CommandTable.root.subcommands.filter { !$0.subcommands.isEmpty }.map { ([$0.name], $0) }
        var files = [try scratch.write("lecturectl.1", ManualPage.text())]
        for (path, spec) in CommandTable.leaves + groups {
            files.append(try scratch.write("\(ManualPage.name(path)).1", ManualPage.text(of: path, spec)))
        }
        let result = try BuiltProgram.run(URL(filePath: "/usr/bin/mandoc"), ["-T", "lint", "-W", "style"] + files)
        // Whether the pages that they name are installed does not matter.
        let lines = result.outputText.split(separator: "\n").filter { !$0.contains("referenced manual not found") }
        #expect(lines.isEmpty, "\(lines.joined(separator: "\n"))")
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions are as recorded`(shell: String) throws {
        try expectGolden(try #require(ShellCompletion.script(for: shell)), "completion.\(shell)")
    }

    @Test(arguments: ["/bin/bash", "/usr/bin/zsh", "/usr/bin/fish"])
    func `each shell accepts its completions`(shell: String) throws {
        guard FileManager.default.isExecutableFile(atPath: shell) else { return }
        let scratch = try ScratchDirectory()
        let name = URL(filePath: shell).lastPathComponent
        let file = try scratch.write("completion", try #require(ShellCompletion.script(for: name)))
        let result = try BuiltProgram.run(URL(filePath: shell), ["-n", file])
        #expect(result.status == 0, "\(result.diagnosticsText)")
    }

    @Test func `help suggests the intended command`() async {
        let outcome = await run("help", "prekache")
        #expect(outcome.status == .usage)
        #expect(outcome.diagnostics.contains("Did you mean 'precache'?"))
    }

    @Test func `help of a command is the same in both forms`() async {
        let long = await run("store", "backup", "--help")
        let short = await run("help", "store", "backup")
        #expect(long.output == short.output)
        #expect(long.status == .done && short.status == .done)
        #expect(long.diagnostics.isEmpty)
    }
}

@Suite struct CommandTableTests {
    @Test func `no command has two options of one name or letter`() {
        for (path, spec) in CommandTable.leaves {
            let options = CommandTable.globalOptions + spec.options
            // By contract: after 'lms add' --json takes a file.
            let twice = path == ["lms", "add"] ? 1 : 0
            #expect(Set(options.map(\.long)).count + twice == options.count, "\(path)")
            let letters = options.compactMap(\.short)
            #expect(Set(letters).count == letters.count, "\(path)")
        }
    }

    @Test func `conflicts are mutual and name options that exist`() {
        for (path, spec) in CommandTable.leaves {
            let options = CommandTable.globalOptions + spec.options
            for option in options {
                for other in option.conflicts {
                    // A setting may exclude an option that only some commands have.
                    guard let found = options.first(where: { $0.long == other }) else { continue }
                    #expect(found.conflicts.contains(option.long), "\(path) --\(option.long)")
                }
            }
        }
    }

    @Test func `every command that can run has an example, and every example can be parsed`() throws {
        for (path, spec) in CommandTable.leaves {
            #expect(!spec.examples.isEmpty, "\(path)")
            for example in spec.examples where example.line.hasPrefix("lecturectl ") {
                let result = try BuiltProgram.shell("printf '%s\\n' \(words(example.line))")
                let parsed = try ArgumentParser.parse(
                    result.outputText.split(separator: "\n").dropFirst().map(String.init))
                #expect(parsed.path == path)
            }
        }
    }

    /// The part of an example that calls this program.
    private func words(_ line: String) -> Substring { line.prefix { !"|<>".contains($0) } }

    @Test func `every summary starts in lower case and has no full stop`() {
        for (path, spec) in CommandTable.leaves {
            #expect(spec.summary.first?.isLowercase ?? false, "\(path)")
            #expect(!spec.summary.hasSuffix("."), "\(path)")
        }
    }
}
