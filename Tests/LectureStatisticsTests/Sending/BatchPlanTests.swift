import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// Which reports are sent together, and which wait.
struct BatchPlanTests {
    private static let wide = BatchLimits(count: 100, bytes: 10_000, overhead: 10)

    private func row(
        _ id: Int64, _ user: String = "a", target: Int64 = 1, bytes: Int = 100,
        _ change: (inout PlanRow) -> Void = { _ in }
    ) -> PlanRow {
        var row = PlanRow(
            id: OutboxID(id), queue: SessionQueue(target: TargetID(target), user: user, session: "7"), sequence: id,
            bytes: bytes)
        change(&row)
        return row
    }

    private func batches(_ rows: [PlanRow], _ limits: BatchLimits = wide, slots: Int = 9) -> [[Int64]] {
        BatchPlan(rows, limits: [TargetID(1): limits], slots: slots).batches.map { $0.reports.map(\.value) }
    }

    @Test func `an earlier one that waits stops its session and no other`() {
        let rest = [row(1), row(3), row(4, "b"), row(5, "b")]
        #expect(batches(rest + [row(2)]) == [[1, 2, 3, 4, 5]])
        for change: (inout PlanRow) -> Void in [
            { $0.isDue = false }, { $0.isSealed = true }, { $0.state = .leased },
        ] {
            #expect(batches(rest + [row(2, "a", change)]) == [[1, 4, 5]])
        }
        for state in ReportState.allCases where !state.holdsSession {
            #expect(batches(rest + [row(2) { $0.state = state }]) == [[1, 3, 4, 5]], "\(state) waits for nothing")
        }
    }

    @Test func `the number in the session orders, and not the order of creation`() {
        let rows = [row(1) { $0.sequence = 9 }, row(2) { $0.sequence = -1 }, row(3) { $0.sequence = 4 }]
        #expect(batches(rows) == [[2, 3, 1]])
        #expect(batches([row(2) { $0.sequence = 5 }, row(1) { $0.sequence = 5 }]) == [[1, 2]])
    }

    @Test func `learners, sessions and targets do not wait for each other`() {
        let rows = [
            row(1) { $0.isDue = false }, row(2, "b"),
            row(3) { $0.queue = SessionQueue(target: TargetID(1), user: "a", session: "8") }, row(4, target: 2),
            row(5, target: 3),
        ]
        let plan = BatchPlan(rows, limits: [TargetID(1): Self.wide, TargetID(2): Self.wide], slots: 1)
        #expect(plan.batches.map(\.target) == [TargetID(1), TargetID(2)])
        #expect(plan.batches.map { $0.reports.map(\.value) } == [[2, 3], [4]], "a target without limits gets nothing")
    }

    @Test func `batches end at the count and at the bytes`() {
        let rows = (1...6).map { row($0, "\($0)") }
        #expect(batches(rows, BatchLimits(count: 4, bytes: 10_000, overhead: 0)) == [[1, 2, 3, 4], [5, 6]])
        #expect(batches(rows, BatchLimits(count: 9, bytes: 205, overhead: 3)) == [[1, 2], [3, 4], [5, 6]])
        #expect(batches(rows, BatchLimits(count: 9, bytes: 204, overhead: 3)).allSatisfy { $0.count == 1 })
        #expect(batches(rows, BatchLimits(count: 9, bytes: 1, overhead: 3)).count == 6, "one alone always fits")
        #expect(batches(rows, BatchLimits(count: 0, bytes: 999, overhead: 3), slots: 2) == [[1], [2]])
        #expect(BatchLimits(count: 9, bytes: 205, overhead: 3).bodyBytes([100, 100]) == 205)
        #expect(batches([row(1), row(2), row(3)], BatchLimits(count: 2, bytes: 999, overhead: 0)) == [[1, 2]])
    }

    @Test func `limits of formats, and what a refusal for size implies`() {
        #expect(ReportFormat.allCases.map { BatchLimits($0).count } == [1, 100, 100])
        let limits = BatchLimits(.json)
        #expect(limits.lowered(refused: 200_000).bytes == 100_000)
        #expect(limits.lowered(refused: 9_000_000).bytes == limits.bytes)
        #expect(limits.lowered(refused: 1).bytes == limits.overhead)
    }

    @Test func `a newer cumulative report supersedes older ones that were never sent`() {
        func plan(_ rows: [PlanRow]) -> BatchPlan { BatchPlan(rows, limits: [TargetID(1): Self.wide], slots: 9) }
        let cumulative = { (row: inout PlanRow) in row.isCumulative = true }
        let rows = [
            row(1, "a", cumulative), row(2), row(3, "a", cumulative), row(4, "a", cumulative), row(5),
            row(6, "b", cumulative),
        ]
        let all = plan(rows)
        #expect(all.batches.map { $0.reports.map(\.value) } == [[2, 4, 5, 6]])
        #expect(all.superseded.map(\.report.value) == [1, 3] && all.superseded.allSatisfy { $0.by.value == 4 })
        let sealed = plan([
            row(1) { ($0.isCumulative, $0.isSealed) = (true, true) }, row(2, "a", cumulative), row(3, "a", cumulative),
        ])
        #expect(sealed.superseded.isEmpty && sealed.batches.isEmpty, "what may have been sent stays and blocks others")
        #expect(plan([row(1), row(2)]).superseded.isEmpty, "only where the channel allows it")
    }

    @Test func `when the newer report is refused the newest older one counts again`() {
        func states(_ states: ReportState..., cumulative: Bool = true) -> [Int64] {
            let rows = states.enumerated().map { index, state in
                row(Int64(index)) { ($0.state, $0.isCumulative) = (state, cumulative) }
            }
            return BatchPlan.uncovered(rows + [row(9, "b")]).map(\.value)
        }
        #expect(states(.superseded, .superseded, .dead) == [1])
        #expect(states(.superseded, .dead, .expired) == [0])
        for standing in [ReportState.pending, .leased, .delivered] {
            #expect(states(.superseded, .dead, standing, .dead) == [])
            #expect(states(standing, .superseded, .dead) == [1])
        }
        #expect(states(.dead, .expired) == [])
        #expect(states(.superseded, .dead, cumulative: false) == [0], "also when the channel no longer allows it")
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5]) func `plans keep order, limits and every report`(seed: UInt64) {
        var randomness = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let limits = BatchLimits(
                count: Int.random(in: 1...8, using: &randomness), bytes: Int.random(in: 50...900, using: &randomness),
                overhead: 5)
            var rows: [Int64: PlanRow] = [:]
            for id in 1...Int64.random(in: 1...60, using: &randomness) {
                let user = "\(Int.random(in: 0...6, using: &randomness))"
                rows[id] = row(id, user, bytes: Int.random(in: 1...300, using: &randomness)) {
                    $0.state = ReportState.allCases.randomElement(using: &randomness) ?? .pending
                    if Bool.random(using: &randomness) { $0.state = .pending }
                    $0.isDue = Int.random(in: 0..<9, using: &randomness) > 0
                    $0.isSealed = Int.random(in: 0..<9, using: &randomness) == 0
                    $0.isCumulative = Bool.random(using: &randomness)
                }
            }
            check(
                BatchPlan(rows.values.shuffled(using: &randomness), limits: [TargetID(1): limits], slots: 99), rows,
                limits)
        }
    }

    private func check(_ plan: BatchPlan, _ rows: [Int64: PlanRow], _ limits: BatchLimits) {
        let sent = plan.batches.flatMap(\.reports).map(\.value)
        let dropped = plan.superseded.map(\.report.value)
        #expect(Set(sent).count == sent.count && Set(sent).isDisjoint(with: dropped))
        var batchOfQueue: [SessionQueue: Int] = [:]
        for (number, batch) in plan.batches.enumerated() {
            let members = batch.reports.compactMap { rows[$0.value] }
            #expect(members.count <= limits.count)
            #expect(members.count == 1 || limits.bodyBytes(members.map(\.bytes)) <= limits.bytes)
            for member in members {
                #expect(batchOfQueue.updateValue(number, forKey: member.queue) ?? number == number)
            }
            for queue in Set(members.map(\.queue)) {
                let numbers = members.filter { $0.queue == queue }.map(\.sequence)
                #expect(numbers == numbers.sorted())
            }
        }
        for id in sent + dropped {
            guard let row = rows[id] else { continue }
            #expect(row.state == .pending && row.isDue && !row.isSealed)
            let earlier = rows.values.filter {
                $0.queue == row.queue && $0.sequence < row.sequence && $0.state.holdsSession
            }
            if sent.contains(id) {
                #expect(earlier.allSatisfy { sent.contains($0.id.value) || dropped.contains($0.id.value) })
            }
        }
        let canGo = Dictionary(grouping: rows.values.filter { $0.state.holdsSession }, by: \.queue).values.contains {
            $0.min { $0.sequence < $1.sequence }.map { $0.state == .pending && $0.isDue && !$0.isSealed } ?? false
        }
        #expect(sent.isEmpty == !canGo, "what can go goes on")
    }
}
