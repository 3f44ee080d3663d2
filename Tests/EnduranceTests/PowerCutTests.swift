import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The power fails while the program works; what was not synced is lost.
@Suite(
    .serialized, .enabled(if: PowerDisk.obstacle == nil, "power cuts need root and an ext4 image on a loop device"),
    .timeLimit(.minutes(RunSize.isSoak ? 240 : 15)))
struct PowerCutNetTests {
    /// Slow, so that a course lasts for several cuts.
    private static let lectures: [(size: String, bytes: Int, fault: String)] = [
        ("9M", 9 << 20, "slow:5000000"), ("3M", 3 << 20, "slow:3000000"), ("700K", 700 << 10, "slow:1500000"),
        ("80K", 80 << 10, ""), ("1M", 1 << 20, "slow:800000"),
    ]

    /// How the disk is mounted. The kernel commits its journal seldom or often; `writeback` lets it commit names and
    /// lengths long before the bytes.
    private static let mounts = ["commit=600", "commit=1,data=writeback", "data=writeback,commit=600", "commit=1"]

    @Test func `after each power cut the store is consistent and acknowledged data is there`() async throws {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let cuts = RunSize.count(6, soak: 500)
        var figures = (cuts: 0, acknowledged: 0, courses: 0)
        while figures.cuts < cuts {
            let options = Self.mounts[figures.courses % Self.mounts.count]
            let me = try BadDay()
            let disk = try await PowerDisk(in: me.home, options: options)
            var scene = try await CrashScene(Self.lectures, me: me, round: figures.courses, place: disk.place)
            scene.prefix = disk.prefix
            var acknowledged = Set<String>()
            // A complete course, or a disk after six cuts, is replaced by a new one.
            for _ in 0..<max(1, min(6, cuts - figures.cuts)) where acknowledged.count < scene.lectures.count {
                figures.cuts += 1
                let what = "seed \(seed), cut \(figures.cuts), \(options)"
                let ending = try await cut(scene, disk, &random)
                acknowledged.formUnion(CrashScene.acknowledged(ending))
                try await disk.mount(options)
                try await scene.expectSoundAfterCrash(acknowledged: acknowledged, what)
            }
            figures.acknowledged += acknowledged.count
            try await scene.expectCompletes("seed \(seed), after cut \(figures.cuts), \(options)")
            figures.courses += 1
            try await disk.unmount()
            let check = try await disk.check()
            #expect(check.status == 0, "\(check.text)")
        }
        RunSize.report(
            "seed \(seed): \(figures.cuts) power cuts, \(figures.courses) courses, "
                + "\(figures.acknowledged) contents acknowledged before a cut, none lost")
    }

    @Test(.enabled(if: Strike.isPossible, Strike.reason), arguments: SyscallDeed.allCases)
    func `a power cut at any modifying call leaves a consistent store, and the next run completes`(
        deed: SyscallDeed
    ) async throws {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let options = try #require(Self.mounts.randomElement(using: &random))
        let stage = try await SyscallStage(deed, mount: options, &random)
        let disk = try #require(stage.disk)
        let whole = try await stage.counted()
        let step = RunSize.isSoak ? 1 : max(1, whole / RunSize.count(4, soak: 0))
        var (number, cuts) = (Int.random(in: 1...step, using: &random), 0)
        var isOver = false
        while !isOver {
            try await stage.rewind()
            let (ending, report) = try await stage.scene.run(stage.words, under: .kill(number))
            // Finally the program has ended normally, and the power fails just then.
            isOver = report.struck == nil
            try await disk.cut()
            try await disk.unmount()
            try await disk.mount(options)
            let what = "seed \(seed), \(deed), cut at \(number) of about \(whole), \(options): \(report.described)"
            try await stage.expectSound(ending, what)
            cuts += 1
            number += step
        }
        try await disk.unmount()
        #expect(try await disk.check().status == 0)
        RunSize.report(
            "seed \(seed): \(deed), \(cuts) power cuts at calls, step \(step) of about \(whole), \(options)")
    }

    /// A test that cannot fail proves nothing: where syncs do not reach the disk, it must see the loss.
    @Test(
        .enabled(if: Strike.isPossible, Strike.reason),
        arguments: ["", ".mp4.part", "lecturekit.db"])
    func `with a disk that only pretends to sync, the same cut loses acknowledged data`(
        path: String
    ) async throws {
        let me = try BadDay()
        let disk = try await PowerDisk(in: me.home, options: "commit=600")
        var scene = try await CrashScene([("3M", 3 << 20, ""), ("80K", 80 << 10, "")], me: me, place: disk.place)
        scene.prefix = disk.prefix
        let (ending, report) = try await scene.run(scene.fetch, under: .lie(path: path))
        #expect(ending.status == 0 && report.calls > 0, "\(ending.errorText)")
        try await disk.cut()
        try await disk.unmount()
        try await disk.mount("commit=600")
        await withKnownIssue("the syncs were left out") {
            try await scene.expectSoundAfterCrash(acknowledged: CrashScene.acknowledged(ending), "a disk that lies")
        }
        try await disk.unmount()
    }

    /// Starts a run, cuts the power at a random moment, and only then ends it.
    private func cut(
        _ scene: CrashScene, _ disk: PowerDisk, _ random: inout SeededGenerator
    ) async throws -> ChildProcess.Ending {
        let waitsForWords = Bool.random(using: &random)
        let process = try scene.start(scene.fetch + ["--json", "--connections", "1"])
        if waitsForWords { _ = try? await process.wait(forOutput: #""event":"progress""#) }
        await ChildProcess.wait(forWritten: Int.random(in: 0...48 << 20, using: &random), by: [process])
        try await disk.cut()
        process.send(SIGKILL)
        let ending = await process.ending()
        try await disk.unmount()
        return ending
    }
}
