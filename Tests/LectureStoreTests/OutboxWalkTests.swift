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
        var flight: FlightID?
        var user: String
    }

    private struct Walker {
        var outbox: SQLiteOutbox
        var index: SQLiteDownloadIndex
        var owner: OwnerID
        var flights: [FlightID: [OutboxID]] = [:]
    }

    private struct World {
        var reports: [OutboxID: Known] = [:]
        var (created, pruned, erased) = (0, 0, 0)

        /// The effect on the reports of a request that no process owns any more.
        mutating func orphan(_ flight: FlightID) {
            for (id, known) in reports where known.flight == flight {
                reports[id]?.state = .pending
                if !known.isSealed { reports[id]?.flight = nil }
            }
        }

        mutating func dissolve(_ flight: FlightID) {
            for (id, known) in reports where known.flight == flight {
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
                            flight: row.optionalInt64(3).map { FlightID($0) }, user: row.text(4))
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
            #expect(try walker.outbox.revive(ReportSelection(), now: box.now) == count)
            for (id, known) in world.reports where known.state == .dead { world.reports[id]?.state = .pending }
        case 15: try die(&walker, &world, box)
        case 16: try readdress(walker, &world, box, &dice)
        case 17: try prune(walker, &world, box, &dice)
        case 18: try erase(walker, &world, box, &dice)
        default:
            let waiting = world.reports.filter { $0.value.state == .pending && $0.value.flight == nil }
            let before = box.now + .seconds(1)
            #expect(try walker.outbox.expire(before: before, now: box.now) == waiting.count)
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
        let rows = try walker.outbox.planRows(target, lanes: 3, rows: 3).map(\.id)
        #expect(rows.allSatisfy { world.reports[$0]?.state == .pending && world.reports[$0]?.flight == nil })
        guard !rows.isEmpty else { return }
        let cut = Int.random(in: 1...rows.count, using: &dice)
        let piece = OutboxFixture.piece("p\(box.now.milliseconds)", Array(rows[..<cut]))
        let rest = Array(rows[cut...])
        let flight = try walker.outbox.begin(piece, rest: rest, target: target, owner: walker.owner, now: box.now)
        for (place, id) in rows.enumerated() {
            let user = try #require(world.reports[id]).user
            world.reports[id] = Known(state: .leased, isSealed: place < cut, flight: flight, user: user)
        }
        walker.flights[flight] = rows
    }

    /// An answer to a request of this process, which may have lost the request without knowing.
    private func answer(
        _ walker: inout Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        guard let (flight, rows) = walker.flights.randomElement(using: &dice) else { return }
        let sealed = rows.filter { world.reports[$0]?.flight == flight && world.reports[$0]?.isSealed == true }
        let isOwn =
            try walker.index.connection.first(
                "SELECT owner_id IS ? FROM lms_flight WHERE id = ?", walker.owner, flight
            ) { $0.bool(0) } ?? false
        switch Int.random(in: 0..<5, using: &dice) {
        case 0:
            try walker.outbox.settle(flight, rows, dead: nil, answer: box.answer(200), now: box.now)
            for id in rows where world.reports[id] != nil {
                world.reports[id] = Known(state: .delivered, user: try #require(world.reports[id]).user)
            }
        case 1:
            try walker.outbox.settle(flight, sealed, dead: .refused, answer: box.answer(400), now: box.now)
            for id in sealed where world.reports[id]?.state == .leased {
                world.reports[id] = Known(state: .dead, user: try #require(world.reports[id]).user)
            }
        case 2:
            try walker.outbox.release(flight, owner: walker.owner)
            if isOwn { world.orphan(flight) }
            walker.flights[flight] = nil
        case 3:
            let wait = PersistedWait(setAt: box.now, delay: .seconds(2))
            let attempt = FlightAttempt(tries: 1, boundedTries: 0, wait: wait, answer: box.answer(500))
            let error = lectureError { [walker] in try walker.outbox.keep(flight, attempt, owner: walker.owner) }
            #expect(error?.code == (isOwn ? nil : .leaseLost))
        default:
            let left = rows.filter { world.reports[$0]?.flight == flight && world.reports[$0]?.state == .leased }
            guard isOwn, let next = left.first else { return }
            let piece = OutboxFixture.piece("q\(box.now.milliseconds)", [next])
            try walker.outbox.advance(flight, to: piece, owner: walker.owner, now: box.now)
            for id in rows where world.reports[id]?.flight == flight { world.reports[id]?.isSealed = id == next }
        }
        let isDone = !rows.contains { world.reports[$0]?.flight == flight && world.reports[$0]?.isSealed == true }
        if isDone, walker.flights[flight] != nil {
            try walker.outbox.end(flight, owner: walker.owner)
            if isOwn { world.dissolve(flight) }
            walker.flights[flight] = nil
        }
    }

    private func claim(_ walker: inout Walker, _ world: inout World, _ box: OutboxFixture) throws {
        for target in try walker.outbox.targets() {
            for flight in try walker.outbox.claim(target.id, owner: walker.owner, limit: 2, now: box.now) {
                let due = world.reports.filter { $0.value.flight == flight.id }
                #expect(Set(flight.piece.reports) == Set(due.keys))
                #expect(due.values.allSatisfy { $0.isSealed && $0.state == .pending })
                for id in due.keys { world.reports[id]?.state = .leased }
                walker.flights[flight.id] = flight.piece.reports
            }
        }
    }

    private func supersedeOrRestore(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        guard let (id, known) = world.reports.randomElement(using: &dice) else { return }
        if Bool.random(using: &dice) {
            try walker.outbox.supersede([id], now: box.now)
            if known.state == .pending, known.flight == nil { world.reports[id]?.state = .superseded }
        } else {
            try walker.outbox.restore([id])
            if known.state == .superseded { world.reports[id]?.state = .pending }
        }
    }

    /// The process dies, another dismisses it, and it starts again; its answers are never received.
    private func die(_ walker: inout Walker, _ world: inout World, _ box: OutboxFixture) throws {
        let own: [FlightID] = try box.store.index.connection.query(
            "SELECT id FROM lms_flight WHERE owner_id = ?", walker.owner
        ) { $0.id(0) }
        try walker.index.dismissOwner(walker.owner, now: box.now)
        for flight in own { world.orphan(flight) }
        walker.owner = try walker.index.registerOwner(pid: 9, bootID: "", command: "", now: box.now)
        walker.flights = [:]
    }

    private func readdress(
        _ walker: Walker, _ world: inout World, _ box: OutboxFixture, _ dice: inout SeededGenerator
    ) throws {
        let target = try #require(try walker.outbox.targets().randomElement(using: &dice))
        let format = target.address.format
        let free: [(FlightID, ReportFormat)] = try box.store.index.connection.query(
            """
            SELECT lms_flight.id, format FROM lms_flight JOIN lms_target ON lms_target.id = target_id
            WHERE owner_id IS NULL AND target_id <> ?
            """, target.id
        ) { ($0.id(0), ReportFormat.allCases[$0.int(1)]) }
        _ = try walker.outbox.readdress(to: target.id)
        for (flight, other) in free where other != format { world.dissolve(flight) }
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
        let count = try walker.outbox.prune(before: box.now + .seconds(-20), limit: limit)
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
        let flights = Set(world.reports.values.filter { $0.user == user }.compactMap(\.flight))
        let error = lectureError { _ = try walker.outbox.erase(user: user, isForced: isForced) }
        #expect(error?.code == (isForced || flights.isEmpty ? nil : .reportsUnderWay))
        guard error == nil else { return }
        for flight in flights { world.dissolve(flight) }
        let gone = world.reports.filter { $0.value.user == user }.keys
        world.erased += gone.count
        for id in gone { world.reports[id] = nil }
    }
}
