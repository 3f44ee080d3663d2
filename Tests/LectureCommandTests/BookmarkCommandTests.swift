import Foundation
import LectureCommand
import LectureFormats
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl bookmark`, with a bookmark server.
@Suite(.timeLimit(.minutes(2))) struct BookmarkCommandTests {
    /// A store with a lecture that has bookmarks, and a server for them.
    private struct Bench {
        let scratch: ScratchDirectory
        let sandbox: SandboxOrigin

        init() async throws {
            (scratch, sandbox) = (try ScratchDirectory(), try await SandboxOrigin.start(["--no-https"]))
            let link = try await sandbox.link(
                key: "bytes-64K-1", user: "kim", extras: true, query: "set.bookmark_url=\(sandbox.bookmarkURL)")
            let kept = await self("precache", "--progress", "none", link)
            #expect(kept.status == .done, "\(kept.diagnostics)")
        }

        func callAsFunction(_ words: String...) async -> Outcome {
            let (output, diagnostics) = (MemorySink(), MemorySink())
            let environment = [
                "HOME": scratch.url.path, "LECTURE_STORE": scratch.url.appending(path: "store").path,
                "LECTURE_RESERVE": "1M",
            ]
            let context = context(words, environment: environment, output: output, diagnostics: diagnostics)
            let status = await CommandRunner(actions: CommandActions.all).run(context)
            return Outcome(status: status, output: output.text, diagnostics: diagnostics.text)
        }
    }

    private func expectSchema(_ lines: String) throws {
        for line in lines.split(separator: "\n") {
            let faults = try JSONSchema(describing: String(line)).faults(in: Data(line.utf8))
            #expect(faults.isEmpty, "\(line): \(faults)")
        }
    }

    @Test func `bookmarks are listed, set, removed and sent`() async throws {
        let bench = try await Bench()
        let key = "bytes-64K-1"
        // As machines get it: tabs, and a column for the state.
        func rows() async -> [[Substring]] {
            await bench("bookmark", "list", key).output.split(separator: "\n").map { $0.split(separator: "\t") }
        }
        #expect(await rows() == [["0:30", "index", "Definition"], ["1:35", "user", "Ask about this"]])
        #expect(await bench("bookmark", "add", key, "12:30.5", "the proof").status == .done)
        #expect(await bench("bookmark", "add", key, "0:05").status == .done)
        #expect(await bench("bookmark", "remove", key, "1:35").status == .done)
        let lines = await bench("bookmark", "list", key, "--json").output
        try expectSchema(lines)
        #expect(
            lines.split(separator: "\n").last.map(String.init)?.hasPrefix(
                #"{"record":"bookmark","key":"bytes-64K-1","kind":"user","position_ms":750500,"value":"the proof","#)
                == true)
        // One of three is there.
        let removed = await bench("bookmark", "remove", key, "0:05", "0:30", "0:31")
        #expect(removed.status == .someFailed)
        #expect(removed.diagnostics.contains("the teacher's") && removed.diagnostics.contains("there is no bookmark"))

        let sent = await bench("bookmark", "sync", "--json")
        #expect(sent.status == .done, "\(sent.diagnostics)")
        try expectSchema(sent.output)
        let sums = try JSONScanner.value(of: sent.output)
        #expect(sums["sent"]?.integer == 3 && sums["waiting"]?.integer == 0 && sums["bookmarks"]?.integer == 2)
        #expect(try await bench.sandbox.bookmarkChanges() == 3)
        #expect(await rows() == [["0:30", "index", "Definition"], ["12:30.500", "user", "the proof"]])
        #expect(await bench("bookmark", "sync").diagnostics.contains("No changes wait."))
        await bench.sandbox.stop()
    }
}
