import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `pin`, `prune` and `plan` with the built program, on a store that a server has filled.
@Suite(.timeLimit(.minutes(3))) struct UpkeepProgramNetTests {
    /// A rule that takes every lecture of these stores.
    private static let all = ["--rule", "keep 1d after download", "--max-delete", "100%"]

    /// Lectures `k1`, `k2`, … of 64 KiB, downloaded 40 days ago.
    private func fill(_ me: BadDay, _ sandbox: SandboxOrigin, _ count: Int) async throws {
        let lines = (1...count).map {
            #"{"url":"\#(sandbox.http)/media/bytes-64K-\#($0).mp4","key":"k\#($0)","course":"Algebra"}"#
        }
        let list = try me.home.write(lines.joined(separator: "\n"), to: "list.jsonl")
        #expect(try await me("precache", "-q", list).status == 0)
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("UPDATE content SET completed_ms = completed_ms - 40 * 86400000")
            database.commit()
            """
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", script, "\(me.store)/lecturekit.db"])
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    private func keys(_ me: BadDay) async throws -> [String] { try await me.list().compactMap(\.key).sorted() }

    /// The lines of an output, each of which must match its schema.
    private func objects(_ text: String) throws -> [[String: Any]] {
        _ = try Line.all(text)
        return try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Every file of the store's media, with its bytes.
    private func files(_ me: BadDay) throws -> [String: Data] {
        let media = "\(me.store)/media"
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: media) {
            files[name] = try? Data(contentsOf: URL(filePath: "\(media)/\(name)"))
        }
        return files
    }

    @Test func `a dry run changes nothing, and then goes what it has named`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try await fill(me, sandbox, 4)
        #expect(try await me("pin", "k2", "k4").status == 0)
        let (listed, media) = (try await me("list", "--json").text, try files(me))
        let dry = try await me.run(["prune", "--dry-run", "--json"] + Self.all)
        let plan = try objects(dry.text)
        try #require(plan.count == 5, "\(dry.text)\(dry.errorText)")
        #expect(
            dry.status == 0 && plan.map { $0["event"] as? String } == ["planned", "planned", "kept", "kept", "pruned"])
        #expect(plan.prefix(2).compactMap { $0["key"] as? String } == ["k1", "k3"])
        #expect(plan.prefix(2).allSatisfy { $0["plan"] as? String == "gone" && $0["bytes"] as? Int == 65_536 })
        #expect(plan.prefix(2).allSatisfy { $0["rule"] as? String == "keep 1d after download" && $0["listed"] != nil })
        #expect(plan[2...3].compactMap { $0["key"] as? String } == ["k2", "k4"])
        #expect(plan[2...3].allSatisfy { $0["reason"] as? String == "pinned" })
        let totals = try #require(plan.last)
        #expect(totals["dry_run"] as? Bool == true && totals["lectures"] as? Int == 2)
        #expect(totals["kept"] as? Int == 2 && totals["bytes"] as? Int == 131_072)
        let text = try await me.run(["prune", "-n"] + Self.all)
        #expect(text.text.split(separator: "\n").count == 4 && text.errorText.contains("2 lectures would be removed"))
        #expect(text.errorText.contains("2 of them are still in a course list"), "\(text.errorText)")
        #expect(try await me("list", "--json").text == listed)
        #expect(try files(me) == media)

        let done = try await me.run(["prune", "--json"] + Self.all)
        let events = try objects(done.text)
        #expect(done.status == 0, "\(done.errorText)")
        let removed = events.filter { $0["event"] as? String == "removed" }.compactMap { $0["key"] as? String }
        #expect(removed.sorted() == ["k1", "k3"])
        #expect(events.last?["dry_run"] as? Bool == false && events.last?["lectures"] as? Int == 2)
        #expect(try await keys(me) == ["k2", "k4"])
        #expect(try await me("verify", "--all").status == 0)
        // There is nothing else that may go, however often it is asked.
        let again = try await me.run(["prune"] + Self.all)
        #expect(again.status == 0 && again.errorText.contains("0 lectures removed"), "\(again.errorText)")
        #expect(try await keys(me) == ["k2", "k4"])
        #expect(try await me("unpin", "k2").status == 0)
        #expect(try await me.run(["prune"] + Self.all).status == 0)
        #expect(try await keys(me) == ["k4"])
        try await me.expectSound()
        await sandbox.stop()
    }

    @Test func `pins are shown, kept over a new download, and unknown keys fail alone`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try await fill(me, sandbox, 3)
        let pin = try await me("pin", "k1", "nothing", "k3", "--json")
        let lines = try objects(pin.text)
        #expect(pin.status == 1 && pin.errorText.contains("nothing"), "\(pin.errorText)")
        #expect(lines.compactMap { $0["key"] as? String } == ["k1", "nothing", "k3"])
        #expect(lines.map { $0["pinned_ms"] != nil } == [true, false, true])
        #expect(lines[1]["name"] as? String == "unknown_content")
        let first = lines[0]["pinned_ms"] as? Int
        let again = try objects(try await me("pin", "k1", "--json").text)
        #expect(again.map { $0["pinned_ms"] as? Int } == [first], "a pin keeps its time")
        func pinned() async throws -> [String] {
            try objects(try await me("list", "--json").text).filter { $0["pinned_ms"] != nil }
                .compactMap { $0["key"] as? String }.sorted()
        }
        #expect(try await pinned() == ["k1", "k3"])
        #expect(try await me("show", "k1").text.contains("Pinned"))
        #expect(!(try await me("show", "k2").text.contains("Pinned")))
        // Only a removal that names it takes the pin with it.
        #expect(try await me("remove", "k1").status == 0)
        #expect(try await me("precache", "-q", "list.jsonl").status == 0)
        #expect(try await pinned() == ["k3"])
        let unpin = try await me("unpin", "nothing", "k3", "k2", "--json")
        #expect(unpin.status == 1)
        #expect(try objects(unpin.text).allSatisfy { $0["pinned_ms"] == nil })
        #expect(try await pinned().isEmpty)
        #expect(try await me("pin", "k1", "k2").status == 0)
        let everything = try await me("unpin", "--all", "--json")
        #expect(try objects(everything.text).compactMap { $0["key"] as? String } == ["k1", "k2"])
        let none = try await me("unpin", "--all", "--json")
        #expect(none.status == 0 && none.text.isEmpty)
        await sandbox.stop()
    }

    @Test func `more than may go at once is refused as a whole`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try await fill(me, sandbox, 4)
        let rule = ["--rule", "keep 1d after download"]
        for (limit, allowed) in [([], 2), (["--max-delete", "3"], 3), (["--max-delete", "25%"], 1)] as [([String], Int)]
        {
            let refused = try await me.run(["prune"] + rule + limit)
            #expect(refused.status == 65, "\(limit)")
            #expect(refused.errorText.contains("4 of 4 lectures would be removed"), "\(refused.errorText)")
            #expect(refused.errorText.contains("--max-delete allows \(allowed)"), "\(refused.errorText)")
        }
        let error = try objects(try await me.run(["prune", "--json"] + rule).text)
        #expect(error.map { $0["name"] as? String } == ["retention_refused"])
        #expect(try await keys(me).count == 4)
        // A rule for another course takes nothing.
        let other = try await me.run(["prune", "--rule", "keep 1d after download for course Geometry"])
        #expect(other.status == 0 && other.errorText.contains("0 lectures removed"))
        #expect(try await me("pin", "k1", "k2", "k3").status == 0)
        #expect(try await me.run(["prune"] + rule).status == 0, "one of four may go")
        #expect(try await keys(me) == ["k1", "k2", "k3"])
        await sandbox.stop()
    }

    @Test func `a complete course is ready, and only a time that has passed is too late for another`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try await fill(me, sandbox, 2)
        let past = "2001-01-01T00:00:00Z"
        for words in [["--course", "Algebra"], ["k1", "k2"], ["k2", "--ready-by", "2099-01-01 00:00"]] {
            let ending = try await me.run(["plan", "--json"] + words)
            let answer = try #require(try objects(ending.text).first)
            #expect(ending.status == 0 && answer["ready"] as? Bool == true, "\(ending.text)")
            #expect(answer["complete"] as? Int == answer["lectures"] as? Int && answer["bytes_left"] as? Int == 0)
            #expect(answer["ready_lectures"] as? Int == (words.first == "k2" ? 1 : 2))
            #expect((answer["obstacles"] as? [Any])?.isEmpty == true && (answer["notes"] as? [Any])?.isEmpty == true)
            #expect((answer["ready_by_ms"] != nil) == words.contains("--ready-by"))
        }
        let text = try await me("plan", "--course", "Algebra").text
        #expect(text.contains("\n2 of 2 lectures complete, 0 B left"), "\(text)")
        // Nothing is unfinished.
        let nothing = try await me("plan")
        #expect(nothing.status == 0 && nothing.text.hasPrefix("There is nothing to download."), "\(nothing.text)")
        let unknown = try await me("plan", "--course", "Geometry", "--json")
        #expect(unknown.status == 1)
        #expect(
            unknown.errorText.contains("'Geometry': no lecture belongs to this course"), "\(unknown.errorText)")
        #expect(try objects(unknown.text).map { $0["name"] as? String } == ["unknown_course"])

        let line = #"{"url":"\#(sandbox.http)/media/bytes-64K-9.mp4","key":"k9","size":65536}"#
        let list = try me.home.write(line, to: "new.jsonl")
        let late = try await me("plan", "--items", list, "--speed", "1M", "--ready-by", past, "--json")
        let answer = try #require(try objects(late.text).first)
        #expect(late.status == 75 && answer["ready"] as? Bool == false && answer["ready_lectures"] as? Int == 0)
        #expect(answer["ready_by_ms"] as? Int == 978_307_200_000 && answer["speed_bps"] as? Int == 1 << 20)
        let obstacle = try #require((answer["obstacles"] as? [[String: Any]])?.first)
        #expect(obstacle["kind"] as? String == "time")
        #expect(obstacle["remedy"] as? String == "The time has passed: name a later one.")
        let said = try await me("plan", "--items", list, "--speed", "1M", "--ready-by", past).text
        #expect(said.contains("The time has passed: name a later one."), "\(said)")
        #expect(said.contains("No process is downloading: run 'lecturectl precache' now."), "\(said)")
        // A plan adds nothing to the store.
        #expect(try await keys(me) == ["k1", "k2"])
        await sandbox.stop()
    }
}
