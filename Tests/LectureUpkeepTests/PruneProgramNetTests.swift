import Foundation
import Glibc
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A person whose store was filled a while ago, from a real server.
struct AgedStore {
    let me: BadDay
    let nginx: NginxOrigin

    init(_ keys: [String], bytes: Int = 200_000) async throws {
        me = try BadDay()
        try me.home.write([], to: "site/.keep")
        nginx = try await NginxOrigin.start(serving: me.home.file("site"))
        var lines: [String] = []
        for (place, key) in keys.enumerated() {
            let media = MediaBeginning.replacing(SampleBytes.make(bytes, seed: UInt64(place)))
            _ = try me.home.write(media, to: "site/\(key).mp4")
            lines.append(#"{"url": "\#(nginx.http)/\#(key).mp4", "key": "\#(key)", "course": "Maths"}"#)
        }
        _ = try me.home.write(lines.joined(separator: "\n"), to: "list.jsonl")
        #expect(try await me("precache", "-q", "list.jsonl").status == 0)
    }

    /// Runs SQL on the store, as time would have changed it.
    func change(_ sql: String) async throws {
        let script = "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.executescript(sys.argv[2]); d.commit()"
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", script, "\(me.store)/lecturekit.db", sql])
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    func age(_ days: Int) async throws {
        try await change(
            """
            UPDATE content SET completed_ms = completed_ms - \(days) * 86400000;
            UPDATE last_play SET played_ms = played_ms - \(days) * 86400000
            """)
    }

    func keys() async throws -> [String] { try await me.list().compactMap(\.key).sorted() }

    func rules(_ rules: String) throws {
        _ = try me.home.write(#"{"retention": {"rules": [\#(rules)]}}"#, to: ".config/lecturekit/config.json")
    }
}

/// `prune`, `pin` and `unpin` with the built program.
@Suite(.timeLimit(.minutes(3))) struct PruneProgramNetTests {
    @Test func `rules are shown, accepted once, and shown again after a change`() async throws {
        let aged = try await AgedStore(["a", "b", "c"])
        let me = aged.me
        #expect(try await me("prune").errorText.contains("There are no rules"))
        #expect(try await me("cat", "b").status == 0)
        #expect(try await me("show", "b").text.contains("Last played:"))
        #expect(try await me("pin", "c", "x").status == 1)
        try await aged.age(40)
        try aged.rules(#""keep 30d after play", "keep 90d after download for course Other""#)
        for words in [["prune"], ["prune", "--json"], ["prune", "-n"]] {
            let shown = try await me.run(words)
            #expect(shown.status == (words.contains("-n") ? 0 : 78) && shown.text.contains("last played 40 days ago"))
            if words.contains("--json") { _ = try Line.all(shown.text) }
        }
        #expect(try await aged.keys() == ["a", "b", "c"])
        let done = try await me("prune", "--yes", "--json")
        #expect(done.status == 0, "\(done.errorText)")
        #expect(try Line.all(done.text).compactMap(\.event) == ["removed", "pruned"])
        #expect(try await aged.keys() == ["a", "c"])
        // The list that still names it brings it back; it was not played since.
        #expect(try await me("precache", "-q", "list.jsonl").status == 0)
        let later = try await me("prune")
        #expect(later.status == 0 && later.errorText.contains("0 lectures removed"), "\(later.errorText)")
        try aged.rules(#""keep 30d after download""#)
        try await aged.age(40)
        let changed = try await me("prune")
        #expect(changed.status == 78 && changed.text.contains("still in a course list"), "\(changed.text)")
        #expect(changed.text.contains("kept\t") && changed.text.contains("\tit is pinned"))
        let most = try await me("prune", "--yes")
        #expect(most.status == 65 && most.errorText.contains("2 of 3 lectures would be removed"), "\(most.errorText)")
        #expect(try await me("prune", "--yes", "--max-delete", "2").status == 0)
        #expect(try await aged.keys() == ["c"])
        let pinned = try await me("list", "--json").text
        #expect(pinned.contains("pinned_ms"))
        #expect(try await me("unpin", "--all").status == 0)
        #expect(try await me("prune").status == 0)
        #expect(try await aged.keys() == [])
        #expect(try await me("prune").status == 0)
        try await me.expectSound()
        await aged.nginx.stop()
    }

    @Test func `a play that is recorded keeps its lecture, until its last report is made`() async throws {
        let aged = try await AgedStore(["a", "b"])
        try await aged.age(40)
        var configuration = LectureConfiguration(storeDirectory: aged.me.store)
        configuration.reserveBytes = 1 << 20
        let manager = try LectureManager(configuration)
        let (a, b) = (try ContentKey("a"), try ContentKey("b"))
        let recorder = try await manager.reports.recordPlay(of: a)
        await recorder.record(PlayedInterval(.play, from: .zero, to: .seconds(5), lasting: .seconds(5)))
        try await recorder.keep()
        #expect(try await manager.contents.uses(of: [a, b])[a]?.isPlaying == true)
        let rule = ["prune", "--rule", "keep 1d after download", "--max-delete", "100%"]
        let first = try await aged.me.run(rule)
        #expect(first.status == 0 && first.text.contains("it is being played"), "\(first.text)\(first.errorText)")
        #expect(try await aged.keys() == ["a"])
        let outcome = try await manager.downloads.removeUnused([a, b])
        #expect(outcome.map(\.obstacle) == [.playing, .gone])
        await recorder.record(PlayedInterval(.stop, from: .seconds(5), to: .seconds(5), lasting: .zero))
        try await recorder.report()
        await manager.close()
        // The position was noted just now.
        #expect(try await aged.me.run(rule).text.contains("it is being played"))
        try await aged.age(1)
        #expect(try await aged.me.run(rule).status == 0)
        #expect(try await aged.keys() == [])
        // Its report is still there.
        #expect(try await aged.me("lms", "list").text.contains("a"))
        await aged.nginx.stop()
    }

    @Test func `a play of a killed program is reported before its lecture goes`() async throws {
        let aged = try await AgedStore(["a"])
        try await aged.age(40)
        try await aged.change(
            """
            INSERT INTO play_session(owner_id, start_s, duration_ms, blocks, updated_ms, session, content_key,
                client_user_id, source, targets) VALUES (NULL, 1, 1000, 10, 1000, 's', 'a', 'kim', '{}', NULL);
            INSERT INTO play_interval VALUES (1, 0, 1, 0, 1000, 1000, 1000000000)
            """)
        let rule = ["prune", "--rule", "keep 1d after download"]
        let shown = try await aged.me.run(rule + ["-n"])
        #expect(shown.text.contains("the last report of a play is still to be made"), "\(shown.text)")
        _ = try await aged.me.run(rule)
        _ = try await aged.me.run(rule)
        #expect(try await aged.keys() == [])
        #expect(try await aged.me("lms", "list").text.contains("kim"))
        await aged.nginx.stop()
    }

    @Test(arguments: [1, 5, 20, 24])
    func `a kill in the middle leaves each lecture whole or gone`(after count: Int) async throws {
        let keys = (0..<24).map { "k\($0)" }
        let aged = try await AgedStore(keys, bytes: 60_000)
        try await aged.age(40)
        let rule = ["prune", "--rule", "keep 1d after download", "--max-delete", "100%", "--json"]
        let program = try ChildProcess(
            BuiltProgram.url.path, rule, environment: aged.me.environment, directory: aged.me.home.path)
        try await program.wait(for: .output) { $0.split(separator: 10).count >= count }
        program.send(SIGKILL)
        _ = await program.ending()
        let left = try await aged.me.list()
        #expect(left.allSatisfy { ["completed", "removing"].contains($0.state ?? "") })
        #expect(try await aged.me("verify", "--all").status == 0)
        try await aged.me.expectSound()
        #expect(try await aged.me.run(rule).status == 0)
        #expect(try await aged.keys() == [])
        let files = try FileManager.default.subpathsOfDirectory(atPath: "\(aged.me.store)/media")
        #expect(files.allSatisfy { !$0.contains(".") }, "\(files)")
        await aged.nginx.stop()
    }

    @Test(.enabled(if: BadDay.mayMount)) func `space is made on a disk that is nearly full`() async throws {
        let me = try BadDay()
        try me.home.write([], to: "site/.keep")
        let nginx = try await NginxOrigin.start(serving: me.home.file("site"))
        for name in ["a", "b", "c", "d"] {
            let media = MediaBeginning.replacing([UInt8](repeating: 7, count: 4 << 20))
            _ = try me.home.write(media, to: "site/\(name).mp4")
        }
        let ending = try await me.withMounts(
            """
            mkdir disk; mount -t tmpfs -o size=24M none disk; export LECTURE_STORE=disk/store
            for name in a b c d; do "$0" precache -q --key $name "$1/$name.mp4"; done
            "$0" cat b >/dev/null
            python3 - <<'PY'
            import sqlite3
            d = sqlite3.connect("disk/store/lecturekit.db")
            d.execute("UPDATE last_play SET played_ms = played_ms - 3600000")
            d.execute("UPDATE content SET completed_ms = completed_ms - 60000 WHERE key = 'c'")
            d.commit()
            PY
            df --output=avail -B1M disk | tail -1
            "$0" prune --rule 'never below 12 MiB'
            df --output=avail -B1M disk | tail -1
            "$0" list | cut -f1 | tr '\\n' ' '; echo
            "$0" prune --rule 'never below 40 MiB' --max-delete 100% || echo "status $?"
            "$0" list | wc -l; "$0" store check
            """, nginx.http)
        let lines = ending.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        // What was played first, then the oldest download.
        #expect(lines.count == 5 && lines[2] == "a d", "\(ending.text)\(ending.errorText)")
        #expect((Int(lines.first ?? "") ?? 99) < 8 && (Int(lines.dropFirst().first ?? "") ?? 0) >= 12)
        #expect(lines.suffix(2) == ["status 75", "0"], "\(ending.text)")
        #expect(ending.errorText.contains("more would have to be freed"), "\(ending.errorText)")
        await nginx.stop()
    }
}
