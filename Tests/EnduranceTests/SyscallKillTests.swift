import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// SIGKILL in place of the Nth call that changes what the disk holds, counted over all threads.
@Suite(.serialized, .enabled(if: Strike.isPossible, Strike.reason), .timeLimit(.minutes(RunSize.isSoak ? 240 : 15)))
struct SyscallKillNetTests {
    @Test(arguments: SyscallDeed.allCases)
    func `killed at any modifying call, the store stays consistent, and the next run completes`(
        deed: SyscallDeed
    ) async throws {
        let seed = RunSize.seed
        var random = SeededGenerator(seed: seed)
        let stage = try await SyscallStage(deed, &random)
        let whole = try await stage.counted()
        let step = RunSize.isSoak ? 1 : max(1, whole / RunSize.count(5, soak: 0))
        var (number, strikes) = (Int.random(in: 1...step, using: &random), 0)
        var hit: [String: Int] = [:]
        while true {
            try await stage.rewind()
            let strike: Strike = Bool.random(using: &random) ? .kill(number) : .tear(number)
            let (ending, report) = try await stage.scene.run(stage.words, under: strike)
            let what = "seed \(seed), \(deed), \(strike) of about \(whole): \(report.described)"
            guard let struck = report.struck else {
                // Threads take turns, so no two runs make the same number of calls.
                #expect(ending.status == 0, "\(what): \(ending.errorText)")
                break
            }
            #expect(ending.status == 128 + SIGKILL, "\(what)")
            try await stage.expectSound(ending, what)
            strikes += 1
            hit[struck.call, default: 0] += 1
            number += step
        }
        #expect(strikes > 0, "seed \(seed)")
        let calls = hit.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        RunSize.report("seed \(seed): \(deed), \(strikes) kills at calls, step \(step) of about \(whole): \(calls)")
    }

}

extension SyscallStage {
    /// How many calls the deed makes when it is not struck.
    func counted() async throws -> Int {
        try await rewind()
        let (ending, report) = try await scene.run(words, under: .none)
        #expect(ending.status == 0, "\(ending.errorText)")
        try #require(report.calls > 20)
        return report.calls
    }
}

extension StrikeReport {
    /// For the test's report.
    var described: String { struck.map { "\($0.number), \($0.call) of \($0.file)" } ?? "nothing was struck" }
}
