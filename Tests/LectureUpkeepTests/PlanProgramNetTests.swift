import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `plan` and `precache --ready-by` with the built program and a real server.
@Suite(.timeLimit(.minutes(3))) struct PlanProgramNetTests {
    /// The answer of `plan --json`, which must match its schema.
    private func answer(_ text: String) throws -> [String: Any] {
        _ = try Line.all(text)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// A list of new lectures with their sizes.
    private func list(_ names: [String], bytes: Int, _ aged: AgedStore) throws {
        for name in names {
            _ = try aged.me.home.write(
                MediaBeginning.replacing([UInt8](repeating: 3, count: bytes)), to: "site/\(name).mp4")
        }
        let lines = names.map {
            #"{"url": "\#(aged.nginx.http)/\#($0).mp4", "key": "\#($0)", "course": "New", "size": \#(bytes)}"#
        }
        _ = try aged.me.home.write(lines.joined(separator: "\n"), to: "new.jsonl")
    }

    @Test func `a forecast is what then happens, within a limit that both know`() async throws {
        let aged = try await AgedStore([])
        let me = aged.me
        try list((1...6).map { "n\($0)" }, bytes: 600_000, aged)
        let unknown = try await me("plan", "--items", "new.jsonl", "--ready-by", "tomorrow 08:00")
        #expect(unknown.status == 75 && unknown.text.contains("No speed is known yet"), "\(unknown.text)")
        #expect(unknown.text.hasPrefix("Whether they will be ready by "))
        // Something that is measured.
        _ = try me.home.write(MediaBeginning.replacing([UInt8](repeating: 5, count: 1_000_000)), to: "site/first.mp4")
        let limits = ["--limit-rate", "500K"]
        #expect(try await me.run(["precache", "-q", "\(aged.nginx.http)/first.mp4"] + limits).status == 0)
        let began = Date.now
        let plan = try await me.run(
            ["plan", "--items", "new.jsonl", "--ready-by", "tomorrow 08:00", "--json"] + limits)
        let planned = try answer(plan.text)
        #expect(plan.status == 0 && planned["ready"] as? Bool == true, "\(plan.text)\(plan.errorText)")
        #expect(planned["bytes_left"] as? Int == 3_600_000 && planned["lectures"] as? Int == 6)
        #expect(planned["speed_source"] as? String == "bounded")
        let end = try #require(planned["end_ms"] as? Double) / 1000 - began.timeIntervalSince1970
        let run = Date.now
        #expect(try await me.run(["precache", "-q", "new.jsonl"] + limits).status == 0)
        let took = Date.now.timeIntervalSince(run)
        // The limit is reached from the first second on: 3.6 MB at 512,000 bytes a second.
        #expect((6...9).contains(end), "\(end)")
        #expect(took > 0.7 * end, "\(took) s, forecast \(end) s")
        let done = try await me("plan", "--course", "New", "--ready-by", "tomorrow 08:00")
        #expect(done.status == 0 && done.text.hasPrefix("Ready now"), "\(done.text)")
        await aged.nginx.stop()
    }

    @Test func `what is in the way is named with what to do, which then works`() async throws {
        let aged = try await AgedStore(["a"])
        let me = aged.me
        try list(["big", "small"], bytes: 300_000, aged)
        func kinds(_ words: String...) async throws -> [String] {
            let ending = try await me.run(["plan", "--items", "new.jsonl", "--speed", "1K", "--json"] + words)
            let obstacles = try answer(ending.text)["obstacles"] as? [[String: Any]] ?? []
            #expect(ending.status == (obstacles.isEmpty ? 0 : 75))
            return obstacles.compactMap { $0["kind"] as? String }
        }
        #expect(try await kinds() == [])
        #expect(try await kinds("--ready-by", "2026-01-01 00:00") == ["time"])
        #expect(try await kinds("--speed", "1M", "--ready-by", "2099-01-01 00:00") == [])
        #expect(try await kinds("--timetable", "else=off", "--ready-by", "2099-01-01 00:00") == ["timetable"])
        #expect(try await kinds("--quota", "500K") == ["quota"])
        #expect(try await kinds("--reserve", "9999G") == ["space"])
        #expect(try await me("precache", "-q", "new.jsonl", "--deadline", "1s", "--limit-rate", "10K").status == 75)
        #expect(try await me("pause", "small").status == 0)
        #expect(try await kinds() == ["paused"])
        let text = try await me("plan", "small", "--speed", "1K").text
        #expect(text.contains("In the way: small: ") && text.contains("Run 'lecturectl resume small'"), "\(text)")
        #expect(try await me("resume", "small").status == 0)
        #expect(try await kinds() == [])
        #expect(try await me("plan", "--course", "Nothing").status == 1)
        #expect(try await me("plan", "nothing").status == 1)
        for words in [["--ready-by", "soon"], ["a", "--course", "New"], ["--course", "x", "--items", "y"]] {
            #expect(try await me.run(["plan"] + words).status == 64, "\(words)")
        }
        await aged.nginx.stop()
    }

    @Test func `a run that slips says so once`() async throws {
        let aged = try await AgedStore(["a"], bytes: 1_000_000)
        try list(["n1", "n2"], bytes: 700_000, aged)
        let late = try await aged.me(
            "precache", "new.jsonl", "--json", "--limit-rate", "300K", "--ready-by", "2026-01-01 00:00")
        let lines = try Line.all(late.text).filter { $0.event == "readiness" }
        #expect(late.status == 0 && lines.map(\.name) == ["not_in_time"], "\(late.text)")
        #expect(late.errorText.contains("will not be complete in time"), "\(late.errorText)")
        let fine = try await aged.me("precache", "new.jsonl", "--json", "--ready-by", "2099-01-01 00:00")
        #expect(fine.status == 0 && !fine.text.contains("readiness"))
        #expect(try await aged.me("precache", "--ready-by", "whenever").status == 64)
        await aged.nginx.stop()
    }
}
