import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A mistyped name must not silently lose its value.
@Suite(.timeLimit(.minutes(2))) struct UnknownMemberNetTests {
    @Test func `a mistyped member of a course list is a warning with line and nearest name`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-1M-1.mp4"
        try me.home.write(
            Array(
                """
                {"url":"\(url)","key":"a","title":"Algebra"}

                {"url":"\(url)?2","key":"b","titel":"Betti numbers","report":{"code":-8404}}
                {"url":"\(url)?3","key":"c","titel":"Chains","xyzzy":1}

                """.utf8), to: "course.jsonl")
        let ending = try await me("precache", "--json", "course.jsonl")
        #expect(ending.status == 0, "\(ending.errorText)")
        let sentence = "lecturectl: Warning: line 3: unknown member 'titel' ignored (did you mean 'title'?)\n"
        #expect(ending.errorText.contains(sentence))
        #expect(ending.errorText.contains("line 4: unknown member 'xyzzy' ignored\n"))
        #expect(ending.errorText.components(separatedBy: "'titel'").count == 2, "each name once per list")
        #expect(!ending.errorText.contains("'report'"))
        let warnings = try Line.all(ending.text).filter { $0.event == "warning" }
        #expect(warnings.count == 2)
        #expect(ending.text.contains(#""line":3,"member":"titel","suggestion":"title"}"#))
        #expect(Set(try await me.list().compactMap(\.key)) == ["a", "b", "c"])
    }

    @Test func `a mistyped column of a CSV list is named once, with the header row's line`() async throws {
        let me = try BadDay()
        try me.home.write(
            Array("url,titel,report\nhttps://h/1.mp4,One,\nhttps://h/2.mp4,Two,x\n".utf8), to: "course.csv")
        let ending = try await me("precache", "--dry-run", "--json", "course.csv")
        #expect(ending.status == 0)
        let sentence = "Warning: line 1: unknown member 'titel' ignored (did you mean 'title'?)\n"
        #expect(ending.errorText.components(separatedBy: "unknown member").count == 2)
        #expect(ending.errorText.contains(sentence), "\(ending.errorText)")
        #expect(try Line.all(ending.text).map(\.event) == ["warning", "planned", "planned", "plan"])
    }

    @Test func `a mistyped member of a report batch refuses its line and stores nothing of it`() throws {
        let directory = try TemporaryDirectory()
        let (store, home) = (directory.file("store"), directory.path)
        let result = try BuiltProgram.shell(
            """
            export HOME=\(home)
            printf '%s\\n' '{"id":"a","report":{"n":1}}' '{"id":"b","repot":{"n":2}}' '{"id":"c","zzz":1}' \
                | "$0" --store \(store) lms add --batch
            """)
        #expect(result.status == 1)
        #expect(result.outputText == "ACK a\n")
        #expect(result.diagnosticsText.contains("line 2"))
        #expect(result.diagnosticsText.contains("unknown member 'repot' (did you mean 'report'?)"))
        #expect(result.diagnosticsText.contains("unknown member 'zzz'"))
        let stored = try BuiltProgram.shell("HOME=\(home) \"$0\" --store \(store) lms list --ids")
        #expect(stored.outputText.contains("a") && !stored.outputText.contains("b"))
    }

    @Test func `a mistyped setting is named with the nearest one, also inside of lists`() async throws {
        let me = try BadDay()
        try me.home.write(Array("p".utf8), to: "roots.pem")
        try me.home.write(
            Array(
                """
                {"netwrok":{}, "network":{"retires":1,"quota_bytes":5}, "jobs":3,
                 "drm":{"keys":[{"id":"a","algoritm":"RS256","ca_file":"roots.pem"}]},
                 "lms":{"targets":[{"url":"https://h/","bach":2}],"ulr":"https://h/"}}
                """.utf8), to: "config.json")
        let ending = try await me("--config", "config.json", "store", "info")
        #expect(ending.status == 0, "\(ending.errorText)")
        for sentence in [
            "config.json:1: unknown setting 'netwrok' ignored (did you mean 'network'?)",
            "config.json:1: unknown setting 'network.retires' ignored (did you mean 'network.retries'?)",
            "config.json:1: unknown setting 'network.quota_bytes' ignored (did you mean 'storage.quota_bytes'?)",
            "config.json:1: unknown setting 'jobs' ignored (did you mean 'network.jobs'?)",
            "config.json:2: unknown setting 'drm.keys.algoritm' ignored (did you mean 'drm.keys.algorithm'?)",
            "config.json:3: unknown setting 'lms.targets.bach' ignored (did you mean 'lms.targets.batch'?)",
            "config.json:3: unknown setting 'lms.ulr' ignored (did you mean 'lms.url'?)",
        ] {
            #expect(ending.errorText.contains("\(sentence)\n"), "\(sentence) in \(ending.errorText)")
        }
    }
}
