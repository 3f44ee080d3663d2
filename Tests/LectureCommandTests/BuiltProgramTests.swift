import Foundation
import Glibc
import LectureCommand
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The real program: behaviour that only a process has.
@Suite struct BuiltProgramTests {
    @Test func `help and version go to standard output and end with 0`() throws {
        let help = try BuiltProgram.run("--help")
        #expect(help.status == 0)
        #expect(help.outputText == HelpPage.text(path: []))
        #expect(help.diagnostics.isEmpty)
        #expect(try BuiltProgram.run("--version").outputText == "lecturectl \(ProgramVersion.number)\n")
    }

    @Test(arguments: [
        [], ["prekache"], ["list", "--frob"], ["pause"], ["precache", "--jobs", "x"], ["precache", "ftp://h/"],
        ["precache", "--after-input", "https://h/"], ["precache", "--after-input", "--dry-run"],
    ])
    func `an invalid command line ends with 64, a message and no data`(words: [String]) throws {
        let result = try BuiltProgram.run(BuiltProgram.url, words)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.diagnosticsText.hasPrefix("lecturectl: "))
        #expect(result.diagnosticsText.split(separator: "\n").count == 1)
    }

    @Test func `an argument that is not UTF-8 is refused, not repaired`() throws {
        let result = try BuiltProgram.shell(#""$0" show $'\xff\xfe'"#)
        #expect(result.status == 64)
        #expect(result.diagnosticsText == "lecturectl: Argument 2 is not UTF-8. See 'lecturectl --help'.\n")
    }

    @Test func `a URL of 100 KiB ends with 64 and a short message`() throws {
        let result = try BuiltProgram.run("precache", "https://h/" + String(repeating: "a", count: 100 << 10))
        #expect(result.status == 64)
        #expect(result.diagnostics.count < 300)
    }

    @Test func `a command that waits for the end of input continues at it, and a byte ends it unopened`() throws {
        let directory = try TemporaryDirectory()
        let store = directory.file("store")
        let words = #""$0" --store \#(store) --json precache --after-input"#
        let dismissed = try BuiltProgram.shell("printf x | \(words)")
        #expect(dismissed.status == 0 && dismissed.outputText.hasPrefix(#"{"event":"summary","completed":0,"#))
        #expect(!FileManager.default.fileExists(atPath: store))
        let ended = try BuiltProgram.shell("LECTURE_DEVICE=\(directory.file("device")) \(words) </dev/null")
        #expect(ended.status == 0 && ended.outputText.contains(#""event":"summary""#))
        #expect(FileManager.default.fileExists(atPath: store))
        #expect(try BuiltProgram.shell("\(words) <&-").status == 74)
    }

    @Test func `a full device ends with 74 and a message, a closed pipe with 74 and none`() throws {
        let full = try BuiltProgram.shell(#""$0" help --man > /dev/full"#)
        #expect(full.status == 74)
        #expect(full.diagnosticsText.contains("no space is left"))
        let gone = try BuiltProgram.shell(#"exec 3> >(exec true); wait $!; "$0" help --man >&3"#)
        #expect(gone.status == 74)
        #expect(gone.diagnostics.isEmpty)
        #expect(try BuiltProgram.shell(#""$0" version >&-"#).status == 74)
    }

    @Test func `a crash prints neither registers nor memory`() async throws {
        let me = try BadDay()
        try #require(try await me("lms", "add", "--id", "a").status == 0)
        let watching = try me.start("status", "--watch", "--json")
        _ = try await watching.firstLine()
        watching.send(SIGSEGV)
        let ending = await watching.ending()
        #expect(ending.status == 128 + SIGSEGV)
        #expect(ending.errors.isEmpty, "\(ending.errorText)")
    }

    @Test func `completion prints the script that the library writes`() throws {
        for shell in ["bash", "zsh", "fish"] {
            #expect(try BuiltProgram.run("completion", shell).outputText == ShellCompletion.script(for: shell))
        }
    }
}

/// The completion function, called by a real bash as if Tab was pressed after these words.
@Suite struct BashCompletionTests {
    private func complete(_ words: [String]) throws -> Set<String> {
        let scratch = try ScratchDirectory()
        let script = try scratch.write("completion.bash", try #require(ShellCompletion.script(for: "bash")))
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let line = #"""
            source '\#(script)'
            lecturectl() {
                [[ "$*" == "list --json" ]] && keys=(algebra-1 'with space' lecture:7)
                [[ "$*" == "list --json --store /other" ]] && keys=(elsewhere)
                printf '{"record":"content","key":"%s","title":"x"}\n' "${keys[@]}"
            }
            COMP_WORDS=(lecturectl \#(quoted)); COMP_CWORD=\#(words.count)
            _lecturectl
            printf '%s\n' "${COMPREPLY[@]}"
            """#
        let result = try BuiltProgram.shell(line)
        #expect(result.status == 0)
        #expect(result.diagnostics.isEmpty, "\(result.diagnosticsText)")
        return Set(result.outputText.split(separator: "\n").map(String.init))
    }

    @Test func `commands and subcommands`() throws {
        #expect(try complete(["pre"]) == ["precache"])
        #expect(try complete(["re"]) == ["resume", "reorder", "remove"])
        #expect(try complete(["store", ""]) == ["info", "check", "backup", "migrate", "rebuild"])
        #expect(try complete(["--json", "--color", "never", "sto"]) == ["store"])
    }

    @Test func `options of the command and global ones`() throws {
        #expect(try complete(["list", "--so"]) == ["--sort"])
        #expect(try complete(["list", "--st"]) == ["--state", "--store"])
        #expect(try complete(["pause", "--js"]) == ["--json"])
        #expect(try complete(["list", "--samp"]).isEmpty)
    }

    @Test func `values, also behind an equals sign`() throws {
        #expect(try complete(["list", "--sort", "si"]) == ["size"])
        #expect(try complete(["list", "--sort", "=", "si"]) == ["size"])
        #expect(try complete(["list", "--progress", "="]) == ["auto", "bar", "plain", "none"])
        #expect(try complete(["completion", ""]) == ["bash", "zsh", "fish"])
        #expect(try complete(["precache", "--jobs", ""]).isEmpty)
    }

    @Test func `keys of the store, quoted, also with a colon`() throws {
        #expect(try complete(["show", "alg"]) == ["algebra-1"])
        #expect(try complete(["show", "with"]) == [#"with\ space"#])
        #expect(try complete(["show", "lecture", ":"]) == ["7"])
        #expect(try complete(["show", "lecture", ":", "7"]) == ["7"])
        #expect(try complete(["--store", "/other", "show", ""]) == ["elsewhere"])
    }

    @Test func `files and directories`() throws {
        #expect(try complete(["store", "backup", "/et"]) == ["/etc"])
        #expect(try complete(["list", "--store", "/et"]) == ["/etc"])
        #expect(try complete(["precache", "/etc/passw"]).contains("/etc/passwd"))
    }
}
