import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Two processes do random things with the same reports, and one of them dies now and then. After every step the store
/// matches a model in memory, and no report is lost.
@Suite struct OutboxWalkTests {
    /// What the model knows of a report.
    private struct Known: Equatable {
        var state: ReportState
        var isSealed = false
        var inFlightBatch: InFlightBatchID?
        var user: String
    }

    private struct Walker {
        var outbox: SQLiteOutbox
        var index: SQLiteDownloadIndex
        var owner: OwnerID
        var inFlightBatches: [InFlightBatchID: [OutboxID]] = [:]
    }

    private struct World {
        var reports: [OutboxID: Known] = [:]
        var (created, pruned, erased) = (0, 0, 0)

        /// The effect on the reports of a request that no process owns any more.
        mutating func orphan(_ inFlightBatch: InFlightBatchID) {
            for (id, known) in reports where known.inFlightBatch == inFlightBatch {
                reports[id]?.state = .pending
                if !known.isSealed { reports[id]?.inFlightBatch = nil }
            }
        }

        mutating func dissolve(_ inFlightBatch: InFlightBatchID) {
            for (id, known) in reports where known.inFlightBatch == inFlightBatch {
                reports[id] = Known(state: .pending, user: known.user)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func noReportIsLostOrCountedTwiceWhateverHappens(seed: UInt64) throws {
        try OutboxFixture.with { box in
            var dice = SeededGenerator(seed: seed)
            let other = try box.another()
            var world = World()
            var walkers = [
                Walker(outbox: box.outbox, index: box.store.index, owner: box.owner),
                Walker(outbox: other.outbox, index: other.index, owner: other.owner),
            ]
            for step in 0..<500 {
                box.store.now = box.now + .milliseconds(Int.random(in: 1...5_000, using: &dice))
                let mover = Int.random(in: 0...1, using: &dice)
                try take(&walkers[mover], &world, box, &dice)
                let rows = try box.store.index.connection.query(
                    """
                    SELECT report.id, state, is_sealed, report.flight_id, client_user_id FROM report
                    JOIN lms_lane ON lms_lane.id = lane_id
                    """
                ) { row in
                    (
                        row.id(0, OutboxTable.self),
                        Known(
                            state: try row.enumeration(1, ReportState.self), isSealed: row.bool(2),
                            inFlightBatch: row.optionalInt64(3).map { InFlightBatchID($0) }, user: row.text(4))
                    )
                }
                let stored = Dictionary(uniqueKeysWithValues: rows)
                guard stored == world.reports else {
                    let wrong = Set(stored.keys).union(world.reports.keys).filter { stored[$0] != world.reports[$0] }
                    Issue.record(
                        "seed \(seed), step \(step): \(wrong.map { (world.reports[$0], stored[$0]) })"
                    )
                    return
                }
                let account = try box.queries.account()
                #expect(account.isConserved, "seed \(seed), step \(step)")
                #expect(
                    (account.created, account.pruned, account.erased) == (world.created, world.pruned, world.erased))
                if step.isMultiple(of: 25) {
                    #expect(try StoreMaintenance.check(box.store.location) == [], "seed \(seed), step \(step)")
                }
            }
            #expect(world.created > 40)
        }
    }

    private func take(
        _ walker: inout Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        switch Int.random(in: 0..<20, using: &dice) {
        case 0..<5: try add(walker, &world, box, &dice)
        case 5, 6: try begin(&walker, &world, box, &dice)
        case 7...11: try answer(&walker, &world, box, &dice)
        case 12: try claim(&walker, &world, box)
        case 13: try supersedeOrRestore(walker, &world, box, &dice)
        case 14:
            let count = world.reports.values.count { $0.state == .dead }
            #expect(try walker.outbox.upkeep.revive(ReportSelection(), now: box.now) == count)
            for (id, known) in world.reports where known.state == .dead { world.reports[id]?.state = .pending }
        case 15: try die(&walker, &world, box)
        case 16: try readdress(walker, &world, box, &dice)
        case 17: try prune(walker, &world, box, &dice)
        case 18: try erase(walker, &world, box, &dice)
        default:
            let waiting = world.reports.filter { $0.value.state == .pending && $0.value.inFlightBatch == nil }
            let before = box.now + .seconds(1)
            #expect(try walker.outbox.upkeep.expire(before: before, now: box.now) == waiting.count)
            for id in waiting.keys { world.reports[id]?.state = .expired }
        }
    }

    private func add(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let id = "r\(Int.random(in: 0..<300, using: &dice))"
        let number = Int(id.dropFirst()) ?? 0
        let target = [OutboxFixture.address, OutboxFixture.other, nil][number % 3]
        let user = "u\(number % 5)"
        var report = NewReport(OutboxFixture.record(id, user: user, session: "\(number % 2)", target: target))
        (report.takesNextSequence, report.isCumulative) = (true, number % 4 == 0)
        let isNew = try walker.outbox.add(report, now: box.now).isNew
        let row = try box.row(id)
        #expect(isNew == (world.reports[row] == nil))
        guard isNew else { return }
        world.created += 1
        world.reports[row] = Known(state: .pending, user: user)
    }

    private func begin(
        _ walker: inout Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let target = try #require(try walker.outbox.targets().randomElement(using: &dice)).id
        let rows = try walker.outbox.planRows(target, queues: 3, rows: 3).map(\.id)
        #expect(rows.allSatisfy { world.reports[$0]?.state == .pending && world.reports[$0]?.inFlightBatch == nil })
        guard !rows.isEmpty else { return }
        let cut = Int.random(in: 1...rows.count, using: &dice)
        let frozen = OutboxFixture.frozen("p\(box.now.milliseconds)", Array(rows[..<cut]))
        let rest = Array(rows[cut...])
        let inFlightBatch = try walker.outbox.begin(
            frozen, rest: rest, target: target, owner: walker.owner, now: box.now)
        for (place, id) in rows.enumerated() {
            let user = try #require(world.reports[id]).user
            world.reports[id] = Known(state: .leased, isSealed: place < cut, inFlightBatch: inFlightBatch, user: user)
        }
        walker.inFlightBatches[inFlightBatch] = rows
    }

    /// An answer to a request of this process, which may have lost the request without knowing.
    private func answer(
        _ walker: inout Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        guard let (inFlightBatch, rows) = walker.inFlightBatches.randomElement(using: &dice) else { return }
        let sealed = rows.filter {
            world.reports[$0]?.inFlightBatch == inFlightBatch && world.reports[$0]?.isSealed == true
        }
        let isOwn =
            try walker.index.connection.first(
                "SELECT owner_id IS ? FROM lms_flight WHERE id = ?", walker.owner, inFlightBatch
            ) { $0.bool(0) } ?? false
        switch Int.random(in: 0..<5, using: &dice) {
        case 0:
            try walker.outbox.settle(inFlightBatch, rows, dead: nil, answer: box.answer(200), now: box.now)
            for id in rows where world.reports[id] != nil {
                world.reports[id] = Known(state: .delivered, user: try #require(world.reports[id]).user)
            }
        case 1:
            try walker.outbox.settle(inFlightBatch, sealed, dead: .refused, answer: box.answer(400), now: box.now)
            for id in sealed where world.reports[id]?.state == .leased {
                world.reports[id] = Known(state: .dead, user: try #require(world.reports[id]).user)
            }
        case 2:
            try walker.outbox.release(inFlightBatch, owner: walker.owner)
            if isOwn { world.orphan(inFlightBatch) }
            walker.inFlightBatches[inFlightBatch] = nil
        case 3:
            let wait = RetryWait(setAt: box.now, delay: .seconds(2))
            let attempt = InFlightBatchAttempt(tries: 1, boundedTries: 0, wait: wait, answer: box.answer(500))
            let error = lectureError { [walker] in try walker.outbox.keep(inFlightBatch, attempt, owner: walker.owner) }
            #expect(error?.code == (isOwn ? nil : .leaseLost))
        default:
            let left = rows.filter {
                world.reports[$0]?.inFlightBatch == inFlightBatch && world.reports[$0]?.state == .leased
            }
            guard isOwn, let next = left.first else { return }
            let frozen = OutboxFixture.frozen("q\(box.now.milliseconds)", [next])
            try walker.outbox.advance(inFlightBatch, to: frozen, owner: walker.owner, now: box.now)
            for id in rows where world.reports[id]?.inFlightBatch == inFlightBatch {
                world.reports[id]?.isSealed = id == next
            }
        }
        let isDone = !rows.contains {
            world.reports[$0]?.inFlightBatch == inFlightBatch && world.reports[$0]?.isSealed == true
        }
        if isDone, walker.inFlightBatches[inFlightBatch] != nil {
            try walker.outbox.end(inFlightBatch, owner: walker.owner)
            if isOwn { world.dissolve(inFlightBatch) }
            walker.inFlightBatches[inFlightBatch] = nil
        }
    }

    private func claim(_ walker: inout Walker, _ world: inout World, _ box: OutboxFixture) throws {
        for target in try walker.outbox.targets() {
            for inFlightBatch in try walker.outbox.claim(target.id, owner: walker.owner, limit: 2, now: box.now) {
                let due = world.reports.filter { $0.value.inFlightBatch == inFlightBatch.id }
                #expect(Set(inFlightBatch.frozen.reports) == Set(due.keys))
                #expect(due.values.allSatisfy { $0.isSealed && $0.state == .pending })
                for id in due.keys { world.reports[id]?.state = .leased }
                walker.inFlightBatches[inFlightBatch.id] = inFlightBatch.frozen.reports
            }
        }
    }

    private func supersedeOrRestore(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        guard let (id, known) = world.reports.randomElement(using: &dice) else { return }
        if Bool.random(using: &dice) {
            try walker.outbox.supersede([id], now: box.now)
            if known.state == .pending, known.inFlightBatch == nil { world.reports[id]?.state = .superseded }
        } else {
            try walker.outbox.restore([id])
            if known.state == .superseded { world.reports[id]?.state = .pending }
        }
    }

    /// The process dies, another dismisses it, and it starts again; its answers are never received.
    private func die(_ walker: inout Walker, _ world: inout World, _ box: OutboxFixture) throws {
        let own: [InFlightBatchID] = try box.store.index.connection.query(
            "SELECT id FROM lms_flight WHERE owner_id = ?", walker.owner
        ) { $0.id(0) }
        try walker.index.owners.dismissOwner(walker.owner, now: box.now)
        for inFlightBatch in own { world.orphan(inFlightBatch) }
        walker.owner = try walker.index.owners.registerOwner(pid: 9, bootID: "", command: "", now: box.now)
        walker.inFlightBatches = [:]
    }

    private func readdress(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let target = try #require(try walker.outbox.targets().randomElement(using: &dice))
        let format = target.address.format
        let free: [(InFlightBatchID, ReportFormat)] = try box.store.index.connection.query(
            """
            SELECT lms_flight.id, format FROM lms_flight JOIN lms_target ON lms_target.id = target_id
            WHERE owner_id IS NULL AND target_id <> ?
            """, target.id
        ) { ($0.id(0), ReportFormat.allCases[$0.int(1)]) }
        _ = try walker.outbox.readdress(to: target.id)
        for (inFlightBatch, other) in free where other != format { world.dissolve(inFlightBatch) }
        let elsewhere = try box.store.index.connection.query(
            """
            SELECT report.id FROM report JOIN lms_lane ON lms_lane.id = lane_id
            WHERE state = 0 AND report.flight_id IS NULL AND target_id IS NOT ?
            """, target.id
        ) { $0.id(0, OutboxTable.self) }
        #expect(elsewhere.isEmpty, "waiting reports are included")
    }

    private func prune(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let limit = Int.random(in: 0...9, using: &dice)
        let before = Set(world.reports.keys)
        let count = try walker.outbox.upkeep.prune(before: box.now + .seconds(-20), limit: limit)
        #expect(count <= limit)
        let left = Set(try box.store.index.connection.query("SELECT id FROM report") { $0.id(0, OutboxTable.self) })
        let gone = before.subtracting(left)
        #expect(gone.count == count)
        let states = Set(gone.compactMap { world.reports[$0]?.state })
        #expect(states.isSubset(of: [.delivered, .superseded, .expired]))
        for id in gone { world.reports[id] = nil }
        world.pruned += count
    }

    private func erase(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let user = "u\(Int.random(in: 0..<5, using: &dice))"
        let isForced = Bool.random(using: &dice)
        let inFlightBatches = Set(world.reports.values.filter { $0.user == user }.compactMap(\.inFlightBatch))
        let error = lectureError { _ = try walker.outbox.erasure.erase(user: user, isForced: isForced) }
        #expect(error?.code == (isForced || inFlightBatches.isEmpty ? nil : .reportsUnderWay))
        guard error == nil else { return }
        for inFlightBatch in inFlightBatches { world.dissolve(inFlightBatch) }
        let gone = world.reports.filter { $0.value.user == user }.keys
        world.erased += gone.count
        for id in gone { world.reports[id] = nil }
    }
}
