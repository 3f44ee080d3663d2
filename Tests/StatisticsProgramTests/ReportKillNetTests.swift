import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Programs that are killed while they store and while they send, and servers that do not acknowledge everything.
@Suite(.timeLimit(.minutes(5))) struct ReportKillNetTests {
    private static let count = 2000
    private static let kills = 15

    /// Kills a program once it has acknowledged so many reports, and returns what it acknowledged.
    private func acknowledged(_ process: ChildProcess, before limit: Int?, _ me: StatisticsScene) async -> [String] {
        if let limit {
            // proof: the moment is random on purpose; the invariants must hold for each.
            _ = try? await process.wait(for: .output) { data in data.count { $0 == UInt8(ascii: "\n") } >= limit }
            process.send(SIGKILL)
        }
        let ending = await process.ending()
        me.keep(ending)
        return StatisticsScene.acknowledged(ending.text)
    }

    @Test func `acknowledged reports take effect once, in order, whatever is killed`() async throws {
        try await StatisticsScene.play(#""batch":20"#) { me in
            let seed = UInt64.random(in: .min ... .max)
            var random = SeededGenerator(seed: seed)
            let lines = StatisticsScene.lines(Self.count, perSession: 40)
            let file = try me.home.write(lines.joined(separator: "\n") + "\n", to: "lines")
            var stored: Set<String> = []
            for kill in 0...Self.kills {
                let process = try me.start(["lms", "add", "--batch"], input: file)
                let limit = kill < Self.kills ? Int.random(in: 0..<Self.count, using: &random) : nil
                stored.formUnion(await acknowledged(process, before: limit, me))
                let held = Set(try await me.ids())
                #expect(stored.isSubset(of: held), "seed \(seed), kill \(kill): acknowledged and not stored")
            }
            #expect(stored.count == Self.count)
            try await me.sandbox.setLMS(habits: "lose:30,slow:3")
            var sent: Set<String> = []
            for _ in 0..<Self.kills {
                let process = try me.start(["lms", "send", "--progress", "none", "--acks"])
                let limit = Int.random(in: 0...200, using: &random)
                sent.formUnion(await acknowledged(process, before: limit, me))
                let account = try await me.account()
                #expect(account.conserved && account.created == Self.count, "seed \(seed): \(account)")
                #expect(account.delivered >= sent.count, "seed \(seed): \(account)")
            }
            try await me.sendAll()
            try await me.expectOnce(stored)
            let (account, sums) = (try await me.account(), try await me.sandbox.lmsSummary())
            #expect(account.delivered == Self.count, "seed \(seed): \(account)")
            #expect(sums.lost > 0 && sums.replayed > 0, "seed \(seed): nothing was lost: \(sums)")
            print("\(sums.requests) requests, \(sums.lost) unheard, \(sums.replayed) repeated")
        }
    }

    @Test func `two concurrent programs send nothing twice`() async throws {
        try await StatisticsScene.play(#""batch":10"#) { me in
            try await me.add(StatisticsScene.lines(600, perSession: 3))
            try await me.sandbox.setLMS(habits: "slow:5,lose:10")
            let both = try [0, 1].map { _ in try me.start(["lms", "send", "--progress", "none"]) }
            for process in both {
                let ending = await process.ending()
                me.keep(ending)
                #expect([0, 75].contains(ending.status), "\(ending.errorText)")
            }
            try await me.sendAll()
            try await me.expectOnce((0..<600).map { "r\($0)" })
            #expect(try await me.account().delivered == 600)
        }
    }

    @Test func `an interruption ends cleanly, and nothing is lost`() async throws {
        try await StatisticsScene.play(#""batch":2,"concurrency":1"#) { me in
            try await me.add(StatisticsScene.lines(100))
            try await me.sandbox.setLMS(habits: "slow:30")
            let process = try me.start(["lms", "send", "--progress", "none", "--acks"])
            try await process.wait(forOutput: "ACK ")
            process.send(SIGINT)
            let ending = await process.ending()
            me.keep(ending)
            #expect(ending.status == 130, "\(ending.errorText)")
            let account = try await me.account()
            #expect(account.open > 0 && account.delivered > 0, "\(account)")
            try await me.sandbox.setLMS(habits: "")
            try await me.sendAll()
            try await me.expectOnce((0..<100).map { "r\($0)" })
        }
    }

    @Test func `reports for an unreachable server go to another one`() async throws {
        try await StatisticsScene.play(#""batch":5"#) { me in
            let ids = (0..<200).map { "r\($0)" }
            try await me.add(StatisticsScene.lines(200, perSession: 2))
            let other = try await SandboxOrigin.start(["--no-https"])
            try await me.sandbox.setLMS(habits: "lose:50")
            try await me.send("--max-attempts", "1", "--longest-wait", "1s", expecting: [69, 75])
            let before = try await me.account()
            let (visits, events) = (try await me.sandbox.lmsVisits(), try await me.sandbox.lmsEvents())
            #expect(before.open > 0)
            await me.sandbox.stop()
            try await me.send("--max-attempts", "1", "--longest-wait", "1s", expecting: [69])
            #expect(try await me.account().open == before.open)
            try await me.send("--target", other.http + "/lms/json", "--format", "json")
            let (here, there) = (Set(events.map(\.id)), Set(try await other.lmsEvents().map(\.id)))
            #expect(here.union(there) == Set(ids))
            // Only reports that the first one accepted without an acknowledgement were received by both.
            let unheard = visits.filter { !$0.acknowledged }.reduce(0) { $0 + $1.reports }
            #expect(here.intersection(there).count <= unheard)
            let sums = try await other.lmsSummary()
            #expect(sums.once == there.count && sums.outOfOrder == 0 && sums.keyViolations == 0)
            #expect(try await me.account().delivered == 200)
            await other.stop()
        }
    }
}
