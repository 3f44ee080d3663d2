import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Generated stories of an adversary and of an honest user. `Tools/soak` runs many; a seed from a report repeats one.
@Suite(
    .timeLimit(.minutes(600)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"),
    .enabled(if: geteuid() == 0, "mounts and time namespaces need root"))
struct AdversaryNetTests {
    @Test func `an adversary never plays more than was granted`() async throws {
        let issuer = try await SandboxIssuer.make()
        let ownServer = try await SandboxOrigin.start(["--licensed", "--no-https"])
        var sum = Adversary.Figures()
        let seed = RunSize.seed
        let stories = RunSize.count(2, soak: 1_000)
        for story in 0..<stories {
            try await LicenceScene.play { me in
                var adversary = Adversary(me, issuer, ownServer, seed: seed &+ UInt64(story))
                do { try await adversary.run(moves: RunSize.isSoak ? 60 : 25) } catch {
                    print("adversary: \(error)")
                    throw error
                }
                sum.moves += adversary.figures.moves
                sum.plays += adversary.figures.plays
                sum.granted += adversary.figures.granted
            }
        }
        #expect(sum.plays >= stories, "too little was played to test anything: \(sum)")
        RunSize.report("\(stories) stories, \(sum.moves) moves, \(sum.plays) plays, \(sum.granted) granted by count")
        await ownServer.stop()
    }

    @Test func `an honest user with bad luck loses no right`() async throws {
        let stories = RunSize.count(3, soak: 1_000)
        var advised = 0
        let seed = RunSize.seed
        for story in 0..<stories {
            try await LicenceScene.play { me in
                var user = HonestUser(me, seed: seed &+ UInt64(story))
                do { try await user.run(moves: RunSize.isSoak ? 30 : 12) } catch {
                    print("honest user: \(error)")
                    throw error
                }
                advised += user.advised
            }
        }
        RunSize.report("\(stories) stories, \(advised) times a command was advised and run")
    }
}
