import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Runs of a whole course: failures, removed lines, file names, and dry runs.
@Suite(.timeLimit(.minutes(3))) struct CourseRunNetTests {
    @Test func `more files may be open than the shell's soft limit allows`() async throws {
        let shelf = try await Shelf()
        let names = (1...24).map { "\($0).mp4" }
        for (seed, name) in names.enumerated() { try shelf.put(name, seed: UInt64(seed)) }
        let list = try shelf.list(names.map { ["url": shelf.url($0), "key": $0] })
        let ending = try await ChildProcess.run(
            "/bin/bash",
            ["-c", "ulimit -Sn 24 && exec \"$0\" precache --jobs 16 \"$1\"", BuiltProgram.url.path, list],
            environment: shelf.me.environment, directory: shelf.me.home.path)
        #expect(ending.status == 0 && ending.errorText.contains("24 downloaded"), "\(ending.errorText)")
    }

    // MARK: --report

    @Test func `the report of a run is a list that retries the failures`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let list = try shelf.list([
            ["url": shelf.url("a.mp4"), "key": "a"],
            ["url": shelf.url("b.mp4") + "?term=2", "key": "b", "title": "Second", "course": "Algebra"],
        ])
        let report = shelf.me.home.file("failed.jsonl")
        let first = try await shelf.me("precache", list, "--report", report)
        #expect(first.status == 1, "\(first.errorText)")
        let attributes = try FileManager.default.attributesOfItem(atPath: report)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let lines = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n")
        try #require(lines.count == 1)
        let line = try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
        #expect(line["url"] as? String == shelf.url("b.mp4") + "?term=2")
        #expect(line["course"] as? String == "Algebra")
        #expect((line["report"] as? [String: Any])?["name"] as? String == "http_404")

        try shelf.put("b.mp4", seed: 2)
        let second = try await shelf.me("precache", report, "--report", report)
        #expect(second.status == 0, "\(second.errorText)")
        #expect(second.errorText.contains("1 downloaded"), "\(second.errorText)")
        #expect(try String(contentsOfFile: report, encoding: .utf8).isEmpty)
        #expect(try await shelf.bytes("b") == Data(contentsOf: URL(filePath: shelf.me.home.file("site/b.mp4"))))
    }

    @Test func `an unwritable report is an error and costs no lecture`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let missing = try await shelf.me("precache", shelf.url("a.mp4"), "--report", "/nowhere/failed.jsonl")
        #expect(missing.status == 73, "\(missing.errorText)")
        let directory = shelf.me.home.file("reports")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let ending = try await shelf.me("precache", shelf.url("a.mp4"), "--key", "a", "--report", directory)
        #expect(ending.status == 73, "\(ending.errorText)")
        #expect(try await shelf.me("path", "a").status == 0)
    }

    // MARK: --name

    @Test func `two lectures with one file name are refused before anything is downloaded`() async throws {
        let shelf = try await Shelf()
        for week in 1...2 {
            try FileManager.default.createDirectory(
                atPath: shelf.me.home.file("site/week\(week)"), withIntermediateDirectories: true)
            try shelf.put("week\(week)/video.mp4", seed: UInt64(week))
        }
        let list = try shelf.list(
            (1...2).map { week in
                [
                    "url": shelf.url("week\(week)/video.mp4"), "key": "w\(week)", "course": "Algebra/I",
                    "title": week == 1 ? "../First: \u{202E}?" : "Second",
                ]
            })
        let out = shelf.me.home.file("out")
        let refused = try await shelf.me("precache", list, "--output-dir", out)
        #expect(refused.status == 65, "\(refused.errorText)")
        #expect(refused.errorText.contains("week1/video.mp4") && refused.errorText.contains("week2/video.mp4"))
        #expect(refused.errorText.contains("--name"), "\(refused.errorText)")
        #expect(try await shelf.nginx.requests(atLeast: 0).isEmpty)

        // The remedy that the message names.
        let named = try await shelf.me(
            "precache", list, "--output-dir", out, "--name", "{course}/{number:02} {title}.{ext}")
        #expect(named.status == 0, "\(named.errorText)")
        let files = try FileManager.default.subpathsOfDirectory(atPath: out).filter { $0.hasSuffix(".mp4") }.sorted()
        #expect(files == ["Algebra_I/01 .._First_ __.mp4", "Algebra_I/02 Second.mp4"])
        let second = try Data(contentsOf: URL(filePath: "\(out)/\(files[1])"))
        #expect(try second == Data(contentsOf: URL(filePath: shelf.me.home.file("site/week2/video.mp4"))))
    }

    @Test(arguments: [
        ("{titel}.mp4", "did you mean '{title}'?"), ("{title", "has no '}'"), ("a/", "must end with a file name"),
        ("{title:02}", "only a number has a width"),
    ])
    func `an unusable template is a usage error`(template: String, reason: String) async throws {
        let me = try BadDay()
        let ending = try await me("precache", "http://127.0.0.1:1/a.mp4", "-d", me.home.file("o"), "--name", template)
        #expect(ending.status == 64)
        #expect(ending.errorText.contains(reason), "\(ending.errorText)")
    }

    // MARK: remove

    @Test func `remove accepts the filters of list`() async throws {
        let shelf = try await Shelf()
        for number in 1...3 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        let list = try shelf.list(
            (1...4).map { number in
                ["url": shelf.url("\(number).mp4"), "key": "k\(number)", "course": number < 3 ? "algebra" : "physics"]
            })
        #expect(try await shelf.me("precache", list).status == 1)
        func keys() async throws -> [String] { try await shelf.me.list().compactMap(\.key).sorted() }

        let shown = try await shelf.me("remove", "--course", "algebra", "--dry-run")
        #expect(shown.status == 0, "\(shown.errorText)")
        #expect(shown.text.contains("k1") && shown.text.contains("k2") && !shown.text.contains("k3"))
        #expect(try await keys() == ["k1", "k2", "k3", "k4"])
        let failed = try await shelf.me("remove", "--state", "failed")
        #expect(failed.errorText.contains("1 lecture removed."), "\(failed.errorText)")
        #expect(try await keys() == ["k1", "k2", "k3"])
        let old = try await shelf.me("remove", "--older-than", "1d")
        #expect(old.errorText.contains("0 lectures removed."), "\(old.errorText)")
        #expect(try await shelf.me("remove", "--course", "algebra").status == 0)
        #expect(try await keys() == ["k3"])
        #expect(try await shelf.me("remove", "k3", "--course", "physics").status == 64)
        #expect(try await shelf.me("remove").status == 64)
    }

    // MARK: --prune

    @Test func `lectures no longer in the list are removed, and a broken list removes nothing`() async throws {
        let shelf = try await Shelf()
        for number in 1...5 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        func write(_ numbers: [Int], _ more: String = "", to name: String = "course.jsonl") throws -> String {
            let list = try shelf.list(
                numbers.map { ["url": shelf.url("\($0).mp4"), "key": "k\($0)"] }, to: name)
            if !more.isEmpty {
                try (String(contentsOfFile: list, encoding: .utf8) + more).write(
                    toFile: list, atomically: true, encoding: .utf8)
            }
            return list
        }
        func keys() async throws -> [String] { try await shelf.me.list().compactMap(\.key).sorted() }
        let list = try write([1, 2, 3, 4])
        #expect(try await shelf.me("precache", list, "--prune").status == 0)
        // One more that was requested separately, and another list with number 2.
        #expect(try await shelf.me("precache", shelf.url("5.mp4"), "--key", "k5").status == 0)
        #expect(try await shelf.me("precache", try write([2], to: "other.jsonl")).status == 0)

        // A refused line, an empty list, and a list that lacks too much.
        _ = try write([1], "\nnot JSON\n")
        let broken = try await shelf.me("precache", list, "--prune")
        #expect(broken.status == 65 && broken.errorText.contains("Nothing was removed"), "\(broken.errorText)")
        _ = try write([])
        #expect(try await shelf.me("precache", list, "--prune").errorText.contains("Nothing was removed"))
        _ = try write([4])
        let many = try await shelf.me("precache", list, "--prune", "--max-delete", "1")
        #expect(many.status == 65, "\(many.errorText)")
        #expect(many.errorText.contains("--max-delete"), "\(many.errorText)")
        #expect(try await keys() == ["k1", "k2", "k3", "k4", "k5"])

        // A dry run shows what is removed.
        let dry = try await shelf.me("precache", list, "--prune", "-n")
        #expect(dry.text.split(separator: "\n").filter { $0.hasPrefix("gone") }.count == 2, "\(dry.text)")
        #expect(try await shelf.me("precache", list, "--prune", "--keep", "30d").status == 0)
        #expect(try await keys() == ["k1", "k2", "k3", "k4", "k5"])
        // The remedy that the message names: a larger --max-delete.
        let pruned = try await shelf.me("precache", list, "--prune", "--max-delete", "100%")
        #expect(pruned.status == 0, "\(pruned.errorText)")
        #expect(pruned.errorText.contains("2 lectures removed"), "\(pruned.errorText)")
        #expect(try await keys() == ["k2", "k4", "k5"])
    }

    @Test(arguments: [
        (["https://h.example/a.mp4", "--prune"], "needs a course list"), (["-", "--prune"], "--list-name"),
        (["a.jsonl", "--keep", "3d"], "needs '--prune'"), (["a.jsonl", "--prune", "--max-delete", "x"], "10%"),
    ])
    func `pruning with an unsafe selection is a usage error`(words: [String], reason: String) async throws {
        let ending = try await BadDay().run(["precache"] + words)
        #expect(ending.status == 64)
        #expect(ending.errorText.contains(reason), "\(ending.errorText)")
    }

    // MARK: --dry-run

    @Test func `a dry run shows what is new, complete and changed, with bytes, and stores nothing`() async throws {
        let shelf = try await Shelf()
        for number in 1...2 { try shelf.put("\(number).mp4", seed: UInt64(number)) }
        let digest = try await shelf.sha256("1.mp4")
        let list = try shelf.list([
            ["url": shelf.url("1.mp4"), "key": "k1", "sha256": digest, "size": 300_000],
            ["url": shelf.url("2.mp4"), "key": "k2", "size": 300_000],
        ])
        let empty = try await shelf.me("precache", list, "-n", "--json")
        #expect(empty.status == 0, "\(empty.errorText)")
        #expect(empty.text.contains(#""new":2"#) && empty.text.contains(#""bytes":600000"#), "\(empty.text)")
        #expect(!FileManager.default.fileExists(atPath: shelf.me.store))
        #expect(try await shelf.nginx.requests(atLeast: 0).isEmpty)

        #expect(try await shelf.me("precache", shelf.url("1.mp4"), "--key", "k1", "--sha256", digest).status == 0)
        let half = try await shelf.me("precache", list, "-n")
        #expect(half.text.contains("complete\t0 B") && half.text.contains("new\t"), "\(half.text)")
        #expect(half.errorText.contains("1 new, 1 complete: 292 KiB to download."), "\(half.errorText)")
        #expect(half.errorText.contains("It fits"), "\(half.errorText)")
        let tight = try await shelf.me("precache", list, "-n", "--quota", "400000")
        #expect(tight.status == 75 && tight.errorText.contains("does not fit"), "\(tight.errorText)")

        let other = try shelf.list([
            "url": shelf.url("1.mp4"), "key": "k1", "sha256": String(repeating: "0", count: 64),
        ])
        #expect(try await shelf.me("precache", other, "-n").text.hasPrefix("changed\t"))
        #expect(try await shelf.me("precache", shelf.url("2.mp4"), "-n", "--check", "head").text.contains("292 KiB"))
    }

    // MARK: Terms of other programs

    @Test func `command names of other programs work`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        #expect(try await shelf.me("get", shelf.url("a.mp4"), "--key", "a").status == 0)
        #expect(try await shelf.me("ls").text.contains("a\tcompleted"))
        #expect(try await shelf.me("license", "list").status == 0)
        // Its name in version 0.1.0.
        #expect(try await shelf.me("licence", "debts").errorText == shelf.me("licence", "pending").errorText)
        #expect(try await shelf.me("help", "rm").text.contains("Usage: lecturectl remove"))
        #expect(try await shelf.me("rm", "a").status == 0)
        #expect(try await shelf.me.list().isEmpty)
    }
}
