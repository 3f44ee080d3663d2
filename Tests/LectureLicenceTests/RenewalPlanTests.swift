import LectureLicence
import LectureModel
import LectureTestSupport
import Testing

struct RenewalPlanTests {
    private static let now = Timestamp(milliseconds: 1_750_000_000_000)

    private static func key(_ number: Int64) -> ContentKey { ContentKey(stored: "k\(1000 + number)") }

    private func candidate(
        _ number: Int64, url: String = "https://a", deadline: Int64?, notBefore: Int64? = nil
    ) -> RenewalCandidate {
        RenewalCandidate(
            key: Self.key(number), callbackURL: url,
            deadline: deadline.map { Self.now + .seconds($0) }, notBefore: notBefore.map { Self.now + .seconds($0) })
    }

    @Test func `the most urgent share the first request, ten at most`() {
        let plan = RenewalPlan((1...25).map { candidate($0, deadline: 100 - $0) }, now: Self.now)
        #expect(plan.groups.map(\.candidates.count) == [10, 10, 5])
        #expect(plan.groups[0].candidates.map(\.key) == (16...25).reversed().map(Self.key))
    }

    @Test func `servers do not share requests, and the most urgent request goes first`() {
        let plan = RenewalPlan(
            [
                candidate(1, url: "https://a", deadline: 9), candidate(2, url: "https://b", deadline: 3),
                candidate(3, url: "https://a", deadline: nil), candidate(4, url: "https://c", deadline: nil),
            ], now: Self.now)
        #expect(plan.groups.map(\.callbackURL) == ["https://b", "https://a", "https://c"])
        #expect(plan.groups[1].candidates.map(\.key) == [1, 3].map(Self.key))
    }

    @Test func `items that may not be tried yet wait, the soonest first`() {
        let plan = RenewalPlan(
            [
                candidate(1, deadline: 1, notBefore: 60), candidate(2, deadline: 1, notBefore: 0),
                candidate(3, deadline: 1, notBefore: 30),
            ], now: Self.now)
        #expect(plan.groups.flatMap(\.candidates).map(\.key) == [2].map(Self.key))
        #expect(plan.waiting.map(\.key) == [3, 1].map(Self.key))
    }

    @Test func `every licence is in the plan once, whatever the order they come in`() {
        var randomness = SeededGenerator(seed: 3)
        let all = (1...500).map { number in
            candidate(
                Int64(number), url: "https://\(Int.random(in: 0..<7, using: &randomness))",
                deadline: Bool.random(using: &randomness) ? nil : Int64.random(in: -50...50, using: &randomness),
                notBefore: Bool.random(using: &randomness) ? nil : Int64.random(in: -5...5, using: &randomness))
        }
        let plan = RenewalPlan(all, now: Self.now)
        let planned = plan.groups.flatMap(\.candidates) + plan.waiting
        #expect(planned.count == all.count && Set(planned) == Set(all))
        #expect(RenewalPlan(all.shuffled(using: &randomness), now: Self.now) == plan)
        #expect(plan.groups.allSatisfy { (1...RenewalPlan.groupSize).contains($0.candidates.count) })
    }
}
