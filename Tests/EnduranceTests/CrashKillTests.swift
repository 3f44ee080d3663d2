import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// SIGKILL at random moments.
@Suite(.serialized, .timeLimit(.minutes(RunSize.isSoak ? 120 : 15))) struct CrashKillNetTests {
    /// Small ones that trickle, so that acknowledgements come now and then, and a large one at full speed, so that
    /// much is in flight at every kill.
    private static let lectures: [(size: String, bytes: Int, fault: String)] = [
        ("128M", 128 << 20, ""), ("600K", 600 << 10, "slow:9000000"), ("300K", 300 << 10, "slow:9000000"), ("0", 0, ""),
    ]
    private static let (jobs, connections) = (2, 1)

    /// Started chunks, one group, and what the sockets of each connection and blocks on their way to the disk held; see
    /// docs/downloads.md. Only the large lecture is larger than this.
    private static let perKill = jobs * connections * ((1 << 20) + (4 << 20)) + (8 << 20)

    @Test func `after repeated kills the store is consistent, acknowledged data is there, and little is lost`()
        async throws
    {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let kills = RunSize.count(20, soak: 1000)
        var scene = try await CrashScene(Self.lectures)
        var (round, acknowledged, longest) = (0, Set<String>(), 0)
        var figures = (sent: 0, due: 0, cleanEndings: 0)
        for number in 1...kills {
            let what = "seed \(seed), kill \(number)"
            let before = try await scene.bytesSent()
            let ending = try await killed(scene, &random)
            figures.cleanEndings += ending.status == 0 ? 1 : 0
            #expect([0, 128 + SIGKILL].contains(ending.status), "\(what): \(ending.errorText)")
            acknowledged.formUnion(CrashScene.acknowledged(ending))
            try await scene.expectSoundAfterCrash(acknowledged: acknowledged, what)
            longest = max(longest, try await scene.bytesSent() - before)
            // The acknowledgement may have been killed; a run that ends by itself has the same meaning.
            guard acknowledged.count == scene.lectures.count || ending.status == 0 else { continue }
            try await scene.expectCompletes(what)
            (figures.sent, figures.due) = (figures.sent + (try await scene.bytesSent()), figures.due + Self.due)
            round += 1
            scene = try await anew(scene, round: round)
            acknowledged = []
        }
        let proven = try await Line.all(scene.run(["list", "--json"]).text).reduce(0) { $0 + ($1.bytes ?? 0) }
        try await scene.expectCompletes("seed \(seed), after the last kill")
        (figures.sent, figures.due) = (figures.sent + (try await scene.bytesSent()), figures.due + Self.due)
        let again = max(0, figures.sent - figures.due)
        RunSize.report(
            "seed \(seed): \(kills) kills, \(round) courses complete, \(again / kills) bytes fetched again a kill, "
                + "at most \(longest) bytes sent in one run, \(figures.cleanEndings) ended before their kill")
        #expect(again <= kills * Self.perKill, "seed \(seed): \(again) bytes again after \(kills) kills")
        // A program that records only at the end makes no progress under kills.
        #expect(round > 0 || proven > 0, "seed \(seed): no progress was ever made")
    }

    private static var due: Int { lectures.reduce(0) { $0 + $1.bytes } }

    /// Starts a run and kills it: a random number of written bytes after the start, or after its first output.
    private func killed(_ scene: CrashScene, _ random: inout SeededGenerator) async throws -> ChildProcess.Ending {
        let waitsForWords = Bool.random(using: &random)
        let process = try scene.start(
            scene.fetch + ["--json", "--jobs", "\(Self.jobs)", "--connections", "\(Self.connections)"])
        // A run with no more output has ended, which is correct.
        if waitsForWords { _ = try? await process.wait(forOutput: #""event":"progress""#) }
        await ChildProcess.wait(forWritten: Int.random(in: 0...48 << 20, using: &random), by: [process])
        process.send(SIGKILL)
        return await process.ending()
    }

    /// Removes everything, which must leave no file, and starts with other lectures.
    private func anew(_ old: CrashScene, round: Int) async throws -> CrashScene {
        #expect(try await old.run(["remove", "--all"]).status == 0)
        let left = try await old.finalFiles().filter { $0.path.hasPrefix(old.store) }
        #expect(left.isEmpty)
        _ = try await old.system("/bin/rm", "-r", old.outputs)
        try await old.sandbox.reset()
        return try await CrashScene(Self.lectures, me: old.me, sandbox: old.sandbox, round: round)
    }
}
