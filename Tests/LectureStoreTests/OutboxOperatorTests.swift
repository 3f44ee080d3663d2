import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The effects of operators and time on reports.
@Suite struct OutboxOperatorTests {
    @Test func everythingThatIsOpenGoesToAnotherTarget() throws {
        try OutboxFixture.with { box in
            let waiting = try box.add()
            let nowhere = try box.add(session: "2", target: nil)
            let sealed = try box.add(session: "3")
            let behind = try box.add(session: "3")
            let living = try box.add(session: "4")
            let done = try box.add(session: "5")
            let inFlightBatch = try box.begin("sealed", [sealed])
            try box.outbox.release(inFlightBatch, owner: box.owner)
            _ = try box.begin("living", [living])
            try box.accept(try box.begin("done", [done]), [done])
            let same = ReportRecord.Target(url: "http://127.0.0.1/new", format: .json)
            let target = try box.outbox.target(same)
            #expect(try box.outbox.readdress(to: target) == 4)
            for report in [waiting, nowhere, sealed, behind] { #expect(try box.stored(report).record.target == same) }
            for report in [living, done] { #expect(try box.stored(report).record.target == OutboxFixture.address) }
            #expect(try box.outbox.planRows(target, queues: 9, rows: 9).map(\.id).sorted() == [waiting, nowhere])
            let claimed = try box.outbox.claim(target, owner: box.owner, limit: 9, now: box.now)
            #expect(claimed.map(\.frozen) == [OutboxFixture.frozen("sealed", [sealed])])
            #expect(try box.queries.targets().map(\.open) == [1, 4])
            #expect(try box.outbox.readdress(to: target) == 0)
        }
    }

    @Test func aRequestInAnotherFormatIsTakenApart() throws {
        try OutboxFixture.with { box in
            let report = try box.add()
            try box.outbox.release(try box.begin("one", [report]), owner: box.owner)
            let target = try box.outbox.target(OutboxFixture.other)
            #expect(try box.outbox.readdress(to: target) == 1)
            #expect(try box.inFlightBatches() == 0)
            #expect(try box.outbox.planRows(target, queues: 9, rows: 9).map(\.id) == [report])
        }
    }

    @Test func oneQueueIsHeldByOneRequest() throws {
        try OutboxFixture.with { box in
            let same = ReportRecord.Target(url: "http://127.0.0.1/new", format: .json)
            let target = try box.outbox.target(same)
            let (old, new) = (try box.add(), try box.add(target: same))
            try box.outbox.release(try box.begin("old", [old]), owner: box.owner)
            let frozen = OutboxFixture.frozen("new", [new])
            let inFlightBatch = try box.outbox.begin(frozen, rest: [], target: target, owner: box.owner, now: box.now)
            #expect(try box.outbox.readdress(to: target) == 0)
            #expect(try box.stored(old).record.target == OutboxFixture.address)
            try box.accept(inFlightBatch, [new])
            try box.outbox.end(inFlightBatch, owner: box.owner)
            #expect(try box.outbox.readdress(to: target) == 1)
        }
    }

    @Test func theTimeOfARunIsCorrectedOnce() throws {
        try OutboxFixture.with { box in
            for (id, boot) in [("a", "boot-1"), ("b", "boot-1"), ("c", "boot-2")] {
                var record = OutboxFixture.record(id, session: id)
                (record.boot, record.bootID) = (BootInstant(nanoseconds: 2_500_000_000), boot)
                try box.put(record)
            }
            try box.add("d")
            let epoch = Timestamp(milliseconds: 1_800_000_000_000)
            #expect(try box.outbox.correct(bootID: "boot-1", epoch: epoch) == 2)
            #expect(try box.outbox.correct(bootID: "boot-1", epoch: box.now) == 0)
            let found = try box.queries.reports(ReportSelection(), after: nil, limit: 9)
            let corrected = Timestamp(milliseconds: 1_800_000_002_500)
            #expect(found.map(\.record.corrected) == [corrected, corrected, nil, nil])
        }
    }

    @Test func deadLettersAreSentAgainByIdReasonAndTime() throws {
        try OutboxFixture.with { box in
            var reports: [OutboxID] = []
            for number in 0..<4 {
                let report = try box.add("r\(number)", session: "\(number)")
                let inFlightBatch = try box.begin("f\(number)", [report])
                let reason: DeadReason = number == 3 ? .tooLarge : .refused
                try box.outbox.settle(inFlightBatch, [report], dead: reason, answer: box.answer(400), now: box.now)
                try box.outbox.end(inFlightBatch, owner: box.owner)
                reports.append(report)
            }
            let waits = try box.add("waits")
            var selection = ReportSelection()
            selection.ids = ["r1", "waits", "unknown", "r1"]
            #expect(try box.outbox.upkeep.revive(selection, now: box.now) == 1)
            selection = ReportSelection()
            selection.reason = .tooLarge
            #expect(try box.outbox.upkeep.revive(selection, now: box.now) == 1)
            selection = ReportSelection()
            selection.until = OutboxFixture.record("").wall
            #expect(try box.outbox.upkeep.revive(selection, now: box.now) == 0)
            selection.states = [.delivered]
            selection.until = nil
            #expect(try box.outbox.upkeep.revive(selection, now: box.now) == 0)
            #expect(try box.outbox.upkeep.revive(ReportSelection(), now: box.now) == 2)
            #expect(try (reports + [waits]).allSatisfy { try box.state($0) == .pending })
            #expect(try box.stored(reports[0]).record.reason == nil)
            #expect(try box.stored(reports[0]).answer?.status == 400)
        }
    }

    @Test func whatIsOverIsDeletedOnceItsTimeIsOver() throws {
        try OutboxFixture.with { box in
            let reports = try (0..<5).map { _ in try box.add(cumulative: true) }
            let waits = try box.add()
            let inFlightBatch = try box.begin("one", [reports[0], reports[1]])
            try box.accept(inFlightBatch, [reports[0]])
            try box.refuse(inFlightBatch, [reports[1]])
            try box.outbox.end(inFlightBatch, owner: box.owner)
            try box.outbox.supersede([reports[2]], now: box.now)
            let after = box.now + .milliseconds(1)
            #expect(try box.outbox.upkeep.prune(before: box.now, limit: 9) == 0)
            #expect(try box.outbox.upkeep.prune(before: after, limit: 9) == 1, "what may count again is kept")
            try box.accept(try box.begin("two", [reports[3], reports[4], waits]), [reports[3], reports[4], waits])
            #expect(try box.outbox.upkeep.prune(before: after, limit: 2) == 2)
            #expect(try box.outbox.upkeep.prune(before: after, limit: 9) == 2)
            #expect(try box.outbox.upkeep.prune(before: after, limit: 9) == 0)
            let account = try box.queries.account()
            #expect(account.pruned == 5 && account.rows == [.dead: 1])
            var selection = ReportSelection()
            selection.states = [.dead]
            #expect(try box.outbox.upkeep.revive(selection, now: box.now) == 1)
            try box.accept(try box.begin("three", [reports[1]]), [reports[1]])
            #expect(try box.outbox.upkeep.prune(before: after, limit: 9) == 1)
            let queues = try box.store.index.connection.first("SELECT count(*) FROM lms_lane") { $0.int(0) }
            #expect(queues == 0, "an empty queue still names a learner")
        }
    }

    @Test func whatIsTooOldAndWaitsIsEnded() throws {
        try OutboxFixture.with { box in
            let (first, second, third) = (try box.add(), try box.add(session: "2"), try box.add(session: "3"))
            _ = try box.begin("one", [first])
            let happened = OutboxFixture.record("").wall
            #expect(try box.outbox.upkeep.expire(before: happened, now: box.now) == 0)
            box.store.now = happened + .seconds(60)
            let revived = try box.begin("two", [third])
            try box.refuse(revived, [third])
            try box.outbox.end(revived, owner: box.owner)
            #expect(try box.outbox.upkeep.revive(ReportSelection(), now: box.now) == 1)
            #expect(try box.outbox.upkeep.expire(before: box.now, now: box.now) == 1)
            #expect(try [first, second, third].map { try box.state($0) } == [.leased, .expired, .pending])
        }
    }

    @Test func anExportIsReadBackOnce() throws {
        try OutboxFixture.with { box in
            for state in ReportState.allCases {
                var record = OutboxFixture.record(state.name, session: state.name)
                (record.state, record.attempts) = (state, 3)
                record.reason = state == .dead ? "conflict" : nil
                let isNew = try box.outbox.add(imported: record, now: box.now)
                #expect(isNew)
                #expect(try !box.outbox.add(imported: record, now: box.now))
                if state == .leased { record.state = .pending }
                #expect(try box.stored(try box.row(state.name)).record == record)
            }
            var changed = OutboxFixture.record("delivered", session: "delivered")
            changed.note = "changed"
            let error = lectureError { [changed] in _ = try box.outbox.add(imported: changed, now: box.now) }
            #expect(error?.code == .reportConflict)
            #expect(try box.queries.targets().map(\.open) == [2])
        }
    }

    @Test func aListHasWhatIsAskedFor() throws {
        try OutboxFixture.with { box in
            for number in 0..<40 {
                var record = OutboxFixture.record(
                    "\(number)", user: "u\(number % 3)", session: "\(number)",
                    target: number % 2 == 0 ? OutboxFixture.address : nil)
                record.state = ReportState.allCases[number % 6]
                record.reason = number % 6 == 3 ? DeadReason.allCases[number % 4].name : nil
                record.course = number % 5 == 0 ? "maths" : nil
                record.wall = Timestamp(milliseconds: Int64(number))
                record.corrected = number == 7 ? Timestamp(milliseconds: 1_000) : nil
                _ = try box.outbox.add(imported: record, now: box.now)
            }
            let all = try box.queries.reports(ReportSelection(), after: nil, limit: 99)
            #expect(all.count == 40)
            var dice = SeededGenerator(seed: 5)
            for _ in 0..<400 {
                var selection = ReportSelection()
                if Bool.random(using: &dice) {
                    selection.ids = (0..<9).map { _ in "\(Int.random(in: 0..<60, using: &dice))" }
                }
                for state in ReportState.allCases where Bool.random(using: &dice) { selection.states.insert(state) }
                if Int.random(in: 0..<4, using: &dice) == 0 {
                    selection.reason = DeadReason.allCases.randomElement(using: &dice)
                }
                if Int.random(in: 0..<4, using: &dice) == 0 { selection.course = "maths" }
                if Int.random(in: 0..<3, using: &dice) == 0 { selection.user = "u1" }
                if Int.random(in: 0..<4, using: &dice) == 0 { selection.target = box.target }
                if Int.random(in: 0..<4, using: &dice) == 0 { selection.since = Timestamp(milliseconds: 8) }
                if Int.random(in: 0..<4, using: &dice) == 0 { selection.until = Timestamp(milliseconds: 30) }
                let due = all.filter { Self.fits($0.record, selection) }
                var found: [StoredReport] = []
                while true {
                    let page = try box.queries.reports(selection, after: found.last?.id, limit: 3)
                    found += page
                    if page.count < 3 { break }
                }
                #expect(found == due, "\(selection)")
            }
        }
    }

    private static func fits(_ record: ReportRecord, _ selection: ReportSelection) -> Bool {
        (selection.ids.isEmpty || selection.ids.contains(record.id))
            && (selection.states.isEmpty || selection.states.contains(record.state))
            && (selection.reason == nil || record.reason == selection.reason?.name)
            && (selection.course == nil || record.course == selection.course)
            && (selection.user == nil || record.user == selection.user)
            && (selection.target == nil || record.target == OutboxFixture.address)
            && (selection.since.map { record.time >= $0 } ?? true)
            && (selection.until.map { record.time < $0 } ?? true)
    }
}
