import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A batch of renewals that is killed again and again, with an unreliable server.
@Suite(.timeLimit(.minutes(3))) struct RenewalKillNetTests {
    private static let count = 300
    private static let kills = 20
    /// How many requests may be in flight at once; the server answers one item of each.
    private static let jobs = 4

    @Test func `kills lose no licence and no right, and renew nothing twice but requests in flight`() async throws {
        try await LicenceScene.play { me in
            try await Self.fetchAll(me)
            try await me.sandbox.set(
                policy: LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (7200, 9) })
            try await me.sandbox.set(habits: "first-only,busy:10;retry=0,slow:80")
            let before = try #require(try await me.sandbox.callbackItems().last?.number)
            let seed = UInt64.random(in: .min ... .max)
            var random = SeededGenerator(seed: seed)
            for kill in 0..<Self.kills {
                let process = try me.start([
                    "licence", "renew", "--all", "--acks", "--rate", "200", "--jobs", "\(Self.jobs)",
                ])
                // proof: the moment is random on purpose; the invariants must hold for each.
                let wanted = Int.random(in: 0...20, using: &random)
                _ = try? await process.wait(for: .output) { data in
                    data.count { $0 == UInt8(ascii: "\n") } >= wanted
                }
                process.send(SIGKILL)
                let ending = await process.ending()
                me.keep(ending)
                guard kill % 5 == 0 else { continue }
                let licences = try await me.licences()
                #expect(licences.count == Self.count, "seed \(seed)")
                #expect(licences.allSatisfy { $0.licence.verdict == "playable" }, "seed \(seed)")
            }
            let last = try await me("licence", "renew", "--all", "--json", "--max-attempts", "20")
            #expect(last.status == 0, "seed \(seed): \(last.text.suffix(300))")
            let licences = try await me.licences()
            #expect(licences.count { $0.licence.countLeft == 9 } == Self.count, "seed \(seed)")
            let items = try await me.sandbox.callbackItems(after: before).filter { $0.outcome == "granted" }
            #expect(Set(items.map(\.key)).count == Self.count, "seed \(seed)")
            print("figures: \(items.count) grants for \(Self.count) licences, \(Self.kills) kills")
            #expect(items.count - Self.count <= Self.kills * Self.jobs, "seed \(seed)")
            #expect(try await me("store", "check").status == 0)
        }
    }

    private static func fetchAll(_ me: LicenceScene) async throws {
        try await me.sandbox.set(
            policy: LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 5) })
        let lines = (1...count).map { #"{"url": "\#(me.sandbox.http)/i/bytes-1K-\#($0)"}"# }
        let list = try me.home.write(lines.joined(separator: "\n"), to: "course.jsonl")
        let ending = try await me("precache", "--progress", "none", "--jobs", "16", list)
        #expect(ending.status == 0, "\(ending.errorText.suffix(500))")
    }
}
