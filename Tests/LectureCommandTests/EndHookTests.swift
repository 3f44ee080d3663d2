import Foundation
import LectureCommand
import LectureProgramSupport
import LectureTestSupport
import Testing

/// What runs when a command has ended.
@Suite(.timeLimit(.minutes(2))) struct EndHookTests {
    static let ends: [(status: LectureCommand.ExitStatus, words: [String], due: String?)] = [
        (.done, [], "good"), (.someFailed, [], "bad"), (.tryAgain, [], "bad"), (.fullDisk(75), [], "bad"),
        (.software, [], "bad"), (.signal(15), [], nil), (.usage, [], nil), (.done, ["--dry-run"], nil),
        (.someFailed, ["--dry-run"], nil), (.done, ["--on-success", "x"], "x"),
    ]

    @Test(arguments: ends)
    func `an end has one hook or none`(status: LectureCommand.ExitStatus, words: [String], due: String?) throws {
        let command = try ArgumentParser.parse(["precache", "--on-success", "good", "--on-failure", "bad"] + words)
        #expect(EndHook.hook(of: command, after: status)?.script == due)
        let bare = try ArgumentParser.parse(["precache"])
        #expect(EndHook.hook(of: bare, after: status) == nil)
    }

    @Test func `what runs every night has hooks`() throws {
        let words = [
            ["precache"], ["verify", "--all"], ["licence", "renew"], ["lms", "send"], ["store", "backup", "f"],
            ["bookmark", "sync"],
        ]
        for words in words {
            let command = try ArgumentParser.parse(words + ["--on-failure", "mail root"])
            #expect(EndHook.hook(of: command, after: .someFailed)?.option == "on-failure")
        }
    }

    @Test func `a hook has the status and the store, and its output is no data`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let store = me.home.file("other")
        let show = #"echo "$LECTURE_COMMAND/$LECTURE_STATUS/$LECTURE_STORE"; '\#(BuiltProgram.url.path)' list"#
        let hooks = [
            "--on-success", "echo yes; \(show)", "--on-failure", "echo no; \(show)", "--store", store, "--json",
        ]
        let good = try await me.run(["precache", "\(sandbox.http)/media/bytes-1M-1.mp4"] + hooks)
        #expect(good.status == 0 && good.errorText.contains("yes\nprecache/0/\(store)\n"), "\(good.errorText)")
        #expect(good.errorText.contains("bytes-1M-1") && !good.errorText.contains("no\n"))
        #expect(good.text.split(separator: "\n").allSatisfy { $0.hasPrefix("{") })
        let bad = try await me.run(["precache", "\(sandbox.http)/media/bytes-1M-2.mp4?fault=404"] + hooks)
        #expect(bad.status == 1 && bad.errorText.contains("no\nprecache/1/\(store)\n"), "\(bad.errorText)")
        #expect(!bad.errorText.contains("yes\n"))
    }

    @Test func `a hook that fails is reported and changes nothing`() async throws {
        let me = try BadDay()
        let missing = try await me("verify", "--all", "--on-success", "exit 3")
        #expect(
            missing.status == 0 && missing.errorText.hasSuffix("The command of --on-success ended with status 3.\n"))
        let killed = try await me("verify", "nothing", "--on-failure", "kill -9 $$")
        #expect(killed.status != 0 && killed.errorText.contains("--on-failure was ended by signal 9."))
    }

    @Test func `a command that a signal ends has no hook`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let run = try me.start(
            "precache", "--json", "--on-failure", "echo hook",
            "\(sandbox.http)/media/bytes-16M-1.mp4?fault=stall:1000000")
        try await run.wait(forOutput: #""event":"progress""#)
        run.send(SIGTERM)
        let ending = await run.ending()
        #expect(ending.status == 143 && !ending.errorText.contains("hook"))
    }
}
