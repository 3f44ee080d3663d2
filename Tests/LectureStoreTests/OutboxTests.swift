import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// What is stored, sent and settled, with one process and with two.
@Suite struct OutboxTests {
    @Test func aReportIsStoredOnceHoweverOftenItIsHandedIn() throws {
        try OutboxFixture.with { box in
            let report = NewReport(OutboxFixture.record("a", sequence: 4))
            #expect(try box.add(report) == ["new", "4"])
            var later = report
            later.record.wall = Timestamp(milliseconds: 5)
            #expect(try box.add(later) == ["known", "4"])
            var next = later
            next.takesNextSequence = true
            #expect(try box.add(next) == ["known", "4"])
            next.record.id = "b"
            #expect(try box.add(next) == ["new", "5"])
            let account = try box.queries.account()
            #expect(account.created == 2)
            #expect(try box.queries.targets().map(\.open) == [2])
        }
    }

    @Test func aWholeWayFromPlanToDelivery() throws {
        try OutboxFixture.with { box in
            let (first, second) = (try box.add(), try box.add())
            let foreign = try box.add(session: "2")
            let rows = try box.outbox.planRows(box.target, lanes: 10, rows: 10)
            #expect(rows.map(\.id) == [first, second, foreign])
            #expect(rows.map(\.sequence) == [1, 2, 1])
            let flight = try box.begin("batch", [first, second])
            #expect(try box.outbox.planRows(box.target, lanes: 10, rows: 10).map(\.id) == [foreign])
            #expect(try box.state(first) == .leased)
            try box.accept(flight, [first])
            #expect(try box.outbox.planRows(box.target, lanes: 10, rows: 10).map(\.id) == [foreign])
            try box.refuse(flight, [second])
            try box.outbox.end(flight, owner: box.owner)
            #expect(try box.flights() == 0)
            #expect(try box.stored(second).record.reason == "refused")
            #expect(try box.stored(second).answer == box.answer(400, "no"))
            #expect(try box.queries.account().rows == [.delivered: 1, .dead: 1, .pending: 1])
            #expect(try box.queries.targets().map(\.open) == [1])
        }
    }
}
