import LectureModel
import LectureSimulation
import LectureTestSupport
import Testing

/// Hundreds of runs, each from its seed. See docs/simulation.md; a failing seed is traced with
/// `lecture-simulate --seeds N --trace`.
struct CampaignTests {
    /// As many as fit into a quarter of a minute; `Tools/soak simulate` runs 100,000.
    static let seeds: ClosedRange<UInt64> = 1...300

    @Test func `hundreds of scenarios end as they must`() async {
        let failures = Guarded<[String]>([])
        let summary = await Campaign.run(seeds: Self.seeds, jobs: 2) { seed, findings in
            failures.withLock { $0.append("seed \(seed): \(findings.joined(separator: "; "))") }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(summary.scenarios == Self.seeds.count)
        // The runs have events: programs that die and restart, repeated requests.
        #expect(summary.programs > 2 * summary.scenarios)
        #expect(summary.requests > 2 * summary.scenarios)
    }

    /// Every lecture of a gateway needs a licence, and learners report meanwhile.
    @Test func `downloads, licences and reports in one loop end as they must`() async {
        let failures = Guarded<[String]>([])
        let summary = await Campaign.run(seeds: 1...200, jobs: 2, isWhole: true) { seed, findings in
            failures.withLock { $0.append("seed \(seed): \(findings.joined(separator: "; "))") }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(summary.scenarios == 200)
    }

    @Test func `the same seed is the same scenario`() async {
        let failures = Guarded<[String]>([])
        _ = await Campaign.run(seeds: 20_001...20_050, jobs: 2, isTwice: true) { seed, findings in
            failures.withLock { $0.append("seed \(seed): \(findings.joined(separator: "; "))") }
        }
        #expect(failures.withLock { $0 } == [])
    }
}
