import LectureModel
import LectureSimulation
import LectureTestSupport
import Testing

/// Ten thousand stories from ten thousand seeds. See docs/simulation.md; a seed that fails is told by
/// `lecture-simulate --seeds N --trace`.
struct CampaignTests {
    /// How many. More are told by `lecture-simulate` itself, which has the whole night.
    static let seeds: ClosedRange<UInt64> = 1...10_000

    @Test func `ten thousand stories end as they must`() async {
        let failures = Guarded<[String]>([])
        let summary = await Campaign.run(seeds: Self.seeds, jobs: 2) { seed, findings in
            failures.withLock { $0.append("seed \(seed): \(findings.joined(separator: "; "))") }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(summary.scenarios == Self.seeds.count)
        // That the stories are about something: programs that die and come again, servers that are asked again.
        #expect(summary.programs > 2 * summary.scenarios)
        #expect(summary.requests > 2 * summary.scenarios)
    }

    @Test func `the same seed is the same story`() async {
        let failures = Guarded<[String]>([])
        _ = await Campaign.run(seeds: 20_001...20_100, jobs: 2, isTwice: true) { seed, findings in
            failures.withLock { $0.append("seed \(seed): \(findings.joined(separator: "; "))") }
        }
        #expect(failures.withLock { $0 } == [])
    }
}
