import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Many processes on one store, some of which are killed and replaced.
///
/// `LECTUREKIT_SOAK=1` makes it the size it is meant for: 2,000 lectures and 48 kills. `LECTUREKIT_SEED` repeats a run.
@Suite(.timeLimit(.minutes(30))) struct CrowdNetTests {
    /// How large a run is.
    private struct Scale {
        let lectures: Int
        let kills: Int

        static let chosen =
            RunSize.isSoak ? Scale(lectures: 2000, kills: 48) : Scale(lectures: 160, kills: 8)
    }

    private static let processes = 16
    private static let jobs = 2
    private static let size = 96 << 10

    @Test func `of many processes one fetches each lecture, and another takes over after a kill`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let scale = Scale.chosen
        let urls = (0..<scale.lectures).map { "\(sandbox.http)/media/bytes-\(Self.size)-\($0).mp4" }
        let list = try me.home.write(urls.joined(separator: "\n"), to: "course.txt")
        let start = ContinuousClock.now
        func another() throws -> ChildProcess {
            try me.start("precache", "--quiet", "--jobs", "\(Self.jobs)", list)
        }
        var crowd = try (0..<Self.processes).map { _ in try another() }
        var kills = 0
        while kills < scale.kills {
            let most = scale.lectures * Self.size / scale.kills / 2
            await ChildProcess.wait(forWritten: Int.random(in: 0...most, using: &random), by: crowd)
            let victim = Int.random(in: crowd.indices, using: &random)
            crowd[victim].send(SIGKILL)
            _ = await crowd[victim].ending()
            crowd[victim] = try another()
            kills += 1
        }
        var busy = 0
        for number in crowd.indices {
            var ending = await crowd[number].ending()
            // Among many writers, one may not get the lock for ten seconds; it says so, and asks to be run again.
            while ending.status == 75, ending.errorText.contains("another process keeps the store busy") {
                busy += 1
                crowd[number] = try another()
                ending = await crowd[number].ending()
            }
            #expect(ending.status == 0, "seed \(seed): \(ending.errorText.suffix(500))")
        }
        let elapsed = ContinuousClock.now - start

        // No lost lecture, no leftover lease, and every byte correct.
        let contents = try await me.list()
        #expect(contents.count == scale.lectures, "seed \(seed)")
        #expect(contents.allSatisfy { $0.state == "completed" && $0.bytes == Self.size }, "seed \(seed)")
        #expect(try await me("verify", "--all", "--quiet").status == 0, "seed \(seed)")
        try await me.expectSound()
        #expect(try await leftovers(me) == "0 0 \(scale.lectures)\n", "seed \(seed)")

        // No double download.
        var sent: [String: Int] = [:]
        for request in try await sandbox.requests() { sent[request.path, default: 0] += request.bytes }
        #expect(sent.count == scale.lectures)
        let again = sent.values.reduce(0) { $0 + max(0, $1 - Self.size) }
        let repeated = sent.values.count { $0 > Self.size }
        print(
            "seed \(seed): \(Self.processes) processes, \(scale.lectures) lectures, \(kills) kills, \(elapsed): "
                + "\(repeated) lectures begun twice, \(again) bytes again, \(busy) times no turn to write")
        // What one process may have claimed: lectures in transfer, and those that only wait for the disk.
        let inWork = Self.jobs * 4 + 16
        #expect(repeated <= kills * inWork, "seed \(seed)")
        #expect(again <= kills * inWork * Self.size, "seed \(seed)")
    }

    /// How many leases and owners are left, and how many files were planned.
    private func leftovers(_ me: BadDay) async throws -> String {
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            print(db.execute("SELECT count(*) FROM content WHERE lease_owner IS NOT NULL").fetchone()[0],
                  db.execute("SELECT count(*) FROM owner").fetchone()[0],
                  db.execute("SELECT count(*) FROM resource").fetchone()[0])
            """
        let ending = try await ChildProcess.run(
            Places.command("python3"), ["-c", script, "\(me.store)/lecturekit.db"])
        return ending.text + ending.errorText
    }
}
