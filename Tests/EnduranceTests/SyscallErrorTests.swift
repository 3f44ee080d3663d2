import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The Nth call that changes what the disk holds fails, once or from then on.
///
/// Not serialized: a program whose store cannot be written waits for seconds before it stops, and most of the time
/// is spent in that wait.
@Suite(.enabled(if: Strike.isPossible, Strike.reason), .timeLimit(.minutes(RunSize.isSoak ? 240 : 15)))
struct SyscallErrorNetTests {
    /// The exit statuses that docs and manual page list, without those that report a bug in the program.
    private static let honest: Set<Int32> = [0, 1, 65, 69, 73, 74, 75]

    @Test(arguments: SyscallDeed.allCases)
    func `a failing call ends the run with an error message, no damage, and the next run completes`(
        deed: SyscallDeed
    ) async throws {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let stage = try await SyscallStage(deed, &random)
        try await stage.rewind()
        // Counts the same calls as the failures do; the failing call is never reached.
        let beyond = Strike.fail(.max, "EIO", isSticky: false)
        let whole = try await stage.scene.run(stage.words, under: beyond).report.calls
        try #require(whole > 10)
        let step = RunSize.isSoak ? 3 : max(1, whole / RunSize.count(5, soak: 0))
        var (number, strikes, unharmed) = (Int.random(in: 1...step, using: &random), 0, 0)
        while true {
            try await stage.rewind()
            let error = Bool.random(using: &random) ? "EIO" : "ENOSPC"
            let strike = Strike.fail(number, error, isSticky: Int.random(in: 0..<4, using: &random) == 0)
            let (ending, report) = try await stage.scene.run(stage.words, under: strike)
            let what = "seed \(seed), \(deed), \(strike) of about \(whole): \(report.described)"
            guard report.struck != nil else { break }
            #expect(Self.honest.contains(ending.status), "\(what): \(ending.status), \(ending.errorText)")
            #expect(!ending.errorText.isEmpty, "\(what): \(ending.status) and no sentence")
            #expect(!ending.errorText.contains("Fatal error"), "\(what): \(ending.errorText)")
            try await stage.expectKept(ending, what)
            try await stage.expectSound(ending, what)
            strikes += 1
            unharmed += ending.status == 0 ? 1 : 0
            number += step
        }
        #expect(strikes > 0, "seed \(seed)")
        RunSize.report(
            "seed \(seed): \(deed), \(strikes) failed calls, step \(step) of about \(whole), "
                + "\(unharmed) runs went on to their end")
    }

    @Test(arguments: [1, 2, 3])
    func `bytes whose sync failed are fetched again, even if later syncs succeed`(number: Int) async throws {
        // After a failed sync the kernel may mark the lost pages clean, so that the next sync reports no error.
        let scene = try await CrashScene([("9500K", 9500 << 10, "slow:9000000")])
        let (ending, report) = try await scene.run(
            scene.fetch + ["--connections", "1"],
            under: .failOf("fsync,fdatasync", path: ".mp4.part", number, isSticky: false))
        #expect(report.struck?.call == "fdatasync")
        #expect(report.calls == number, "a file is synced again whose sync has failed")
        #expect(ending.status == 75, "\(ending.errorText)")
        #expect(ending.errorText.contains("Input/output error"))
        let proven = try #require(try await Line.all(scene.run(["list", "--json"]).text).first?.bytes)
        // Received parts of chunks are in rows, which have their own sync.
        let received = try await scene.me.receivedBytes()
        let next = try await scene.run(scene.fetch + ["--json"])
        let lines = next.text.split(separator: "\n").filter { $0.hasPrefix("{") }.joined(separator: "\n")
        let summary = try Line.summary(lines)
        #expect(summary.bytesReused == received)
        #expect(summary.bytesFetched == scene.lectures[0].bytes - received)
        // What the first sync should have covered is not verified; nor is what came after the one that failed.
        if number == 1 { #expect(proven == 0) }
        try await scene.expectCompletes("failed sync \(number)")
    }

    @Test func `a file that cannot be deleted is named, and nothing waits for it`() async throws {
        let scene = try await CrashScene([("90K", 90 << 10, ""), ("70K", 70 << 10, "")])
        #expect(try await scene.run(scene.fetch).status == 0)
        let stuck = Strike.failOf("unlinkat", path: "1.mp4", 1, isSticky: true)
        let (ending, report) = try await scene.run(["remove", "--all"], under: stuck)
        #expect(ending.status == 74, "\(ending.errorText)")
        #expect(ending.errorText.contains("media/0000/1.mp4"))
        #expect(ending.errorText.contains("Input/output error"))
        #expect(ending.errorText.contains("1 lecture could not be deleted"))
        // Not again and again, each time with a commit.
        #expect(report.calls < 10)
        // Other requests proceed beside it, and complete.
        let other = scene.lectures[1].url
        let (fetching, _) = try await scene.run(["precache", "--acks", "--key", "other", other], under: stuck)
        #expect(fetching.status == 0, "\(fetching.errorText)")
        #expect(CrashScene.acknowledged(fetching) == ["other"])
        // When the disk works again the file is deleted.
        #expect(try await scene.run(["remove", "--all"]).status == 0)
        #expect(try await scene.storedFiles().isEmpty)
    }

    @Test func `a download needs no space outside the store`() async throws {
        let scene = try await CrashScene([("90K", 90 << 10, ""), ("70K", 70 << 10, "")])
        // SQLite's temporary files, wherever they would be.
        let full = Strike.failOf("openat,pwrite64", path: "etilqs", 1, isSticky: true)
        let (ending, report) = try await scene.run(scene.fetch, under: full)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(report.struck == nil)
    }
}
