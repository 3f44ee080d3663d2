import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Killed at every step of a download: the next command's request is done, whatever the dead process had claimed.
@Suite(.serialized, .enabled(if: Strike.isPossible, Strike.reason), .timeLimit(.minutes(RunSize.isSoak ? 120 : 10)))
struct RequestAfterKillNetTests {
    /// What is requested next, and the state of a lecture that it has not completed.
    enum Request: String, CaseIterable, Sendable {
        case cancel
        case pause
        case resume
        case remove
    }

    @Test(arguments: Request.allCases)
    func `no state left by a killed run blocks a command`(request: Request) async throws {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let scene = try await CrashScene([("2500K", 2500 << 10, ""), ("90K", 90 << 10, "")])
        let whole = try await scene.run(scene.fetch, under: .none).report.calls
        try #require(whole > 20)
        let kills = RunSize.isSoak ? whole : RunSize.count(5, soak: 0)
        for kill in 0..<kills {
            _ = try await scene.system("/bin/rm", "-rf", scene.store, scene.outputs)
            let step = max(1, (whole - whole / 3) / kills)
            let number = whole / 3 + kill * step + Int.random(in: 0..<step, using: &random)
            let (_, report) = try await scene.run(scene.fetch, under: .kill(number))
            let what = "seed \(seed), \(request), \(report.described) of about \(whole)"
            let left = try await scene.lines().filter { $0.state != "completed" }.compactMap(\.key)
            for key in left {
                let ending = try await scene.run([request.rawValue, key])
                #expect(ending.status == 0, "\(what): \(ending.errorText)")
                let state = try await scene.lines().first { $0.key == key }?.state
                switch request {
                case .cancel, .pause: #expect(state == "stopped", "\(what)")
                case .resume: #expect(state == "queued", "\(what)")
                case .remove: #expect(state == nil, "\(what)")
                }
            }
            let again = try await scene.run(scene.fetch)
            #expect(again.status == 0, "\(what): \(again.errorText)")
            #expect(try await scene.lines().allSatisfy { $0.state == "completed" }, "\(what)")
            #expect(try await scene.lines().count == 2, "\(what)")
            #expect(try await scene.run(["store", "check"]).status == 0, "\(what)")
        }
    }
}

extension CrashScene {
    /// What the store says of its lectures.
    fileprivate func lines() async throws -> [Line] { try Line.all(try await run(["list", "--json"]).text) }
}
