import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Requests whose outcome is unknown, with one process and with two.
@Suite struct InFlightBatchTests {
    @Test func aWholeWayFromPlanToDelivery() throws {
        try OutboxFixture.with { box in
            let (first, second) = (try box.add(), try box.add())
            let foreign = try box.add(session: "2")
            let rows = try box.outbox.planRows(box.target, queues: 10, rows: 10)
            #expect(rows.map(\.id) == [first, second, foreign])
            #expect(rows.map(\.sequence) == [1, 2, 1])
            let inFlightBatch = try box.begin("batch", [first, second])
            #expect(try box.outbox.planRows(box.target, queues: 10, rows: 10).map(\.id) == [foreign])
            #expect(try box.state(first) == .leased)
            try box.accept(inFlightBatch, [first])
            #expect(try box.outbox.planRows(box.target, queues: 10, rows: 10).map(\.id) == [foreign])
            try box.refuse(inFlightBatch, [second])
            try box.outbox.end(inFlightBatch, owner: box.owner)
            #expect(try box.inFlightBatches() == 0)
            #expect(try box.stored(second).record.reason == "refused")
            #expect(try box.stored(second).answer == box.answer(400, "no"))
            #expect(try box.queries.account().rows == [.delivered: 1, .dead: 1, .pending: 1])
            #expect(try box.queries.targets().map(\.open) == [1])
        }
    }

    @Test func aPlanHasTheOldestQueuesAndTheirLowestNumbers() throws {
        try OutboxFixture.with { box in
            for session in ["z", "a", "m"] {
                for number in [3, 1, 2] {
                    let record = OutboxFixture.record("\(session)\(number)", session: session, sequence: Int64(number))
                    try box.put(record)
                }
            }
            let rows = try box.outbox.planRows(box.target, queues: 2, rows: 2)
            #expect(rows.map(\.queue.session) == ["z", "z", "a", "a"])
            #expect(rows.map(\.sequence) == [1, 2, 1, 2])
            #expect(rows.allSatisfy { $0.bytes > 20 && $0.isDue && !$0.isSealed && $0.state == .pending })
            #expect(try box.outbox.planRows(box.target, queues: 0, rows: 2).isEmpty)
            let records = try box.outbox.reports(rows.map(\.id).reversed())
            #expect(records.map(\.id) == ["a2", "a1", "z2", "z1"])
        }
    }

    @Test func whatIsNotFreeIsNotStarted() throws {
        try OutboxFixture.with { box in
            let (first, second) = (try box.add(), try box.add())
            let elsewhere = try box.add(session: "2", target: OutboxFixture.other)
            _ = try box.begin("one", [first])
            for reports in [[first], [second], [elsewhere], [OutboxID(999)]] {
                let error = lectureError { _ = try box.begin("two", reports) }
                #expect(error?.code == .leaseLost)
            }
            // The caller's transaction may continue after the error.
            try box.store.index.transaction { _ in
                #expect(lectureError { _ = try box.begin("two", [second]) }?.code == .leaseLost)
            }
            #expect(try box.inFlightBatches() == 1)
        }
    }

    @Test func aPieceTakesThePlaceOfTheLast() throws {
        try OutboxFixture.with { box in
            let reports = [try box.add(), try box.add(), try box.add()]
            let inFlightBatch = try box.begin("one", [reports[0]], rest: [reports[1], reports[2]])
            try box.accept(inFlightBatch, [reports[0]])
            try box.outbox.advance(
                inFlightBatch, to: OutboxFixture.frozen("two", [reports[1]]), owner: box.owner, now: box.now)
            try box.outbox.release(inFlightBatch, owner: box.owner)
            #expect(try reports.map { try box.state($0) } == [.delivered, .pending, .pending])
            #expect(try box.outbox.planRows(box.target, queues: 9, rows: 9).isEmpty, "nothing overtakes what is sealed")
            let (outbox, _, owner) = try box.another()
            let claimed = try outbox.claim(box.target, owner: owner, limit: 9, now: box.now)
            #expect(claimed.map(\.frozen) == [OutboxFixture.frozen("two", [reports[1]])])
            #expect(try box.state(reports[1]) == .leased)
            for late in [
                {
                    try box.outbox.keep(
                        inFlightBatch,
                        InFlightBatchAttempt(tries: 1, boundedTries: 0, wait: nil, answer: box.answer(500)),
                        owner: box.owner)
                },
                {
                    try box.outbox.advance(
                        inFlightBatch, to: OutboxFixture.frozen("three", [reports[1]]), owner: box.owner, now: box.now)
                },
            ] { #expect(lectureError(late)?.code == .leaseLost) }
            try box.outbox.release(inFlightBatch, owner: box.owner)
            try box.outbox.end(inFlightBatch, owner: box.owner)
            #expect(try box.state(reports[1]) == .leased)
        }
    }

    @Test func aTryThatCameToNothingIsKeptWithItsWait() throws {
        try OutboxFixture.with { box in
            let report = try box.add()
            let inFlightBatch = try box.begin("one", [report])
            let wait = RetryWait(setAt: box.now, delay: .seconds(60))
            var attempt = InFlightBatchAttempt(
                tries: 2, boundedTries: 1, wait: wait, answer: box.answer(500, "broken", .serverFailed))
            try box.outbox.keep(inFlightBatch, attempt, owner: box.owner)
            try box.outbox.keep(inFlightBatch, attempt, owner: box.owner)
            #expect(try box.stored(report).record.attempts == 2)
            #expect(try box.stored(report).answer == attempt.answer)
            #expect(try box.outbox.nextInFlightBatch(box.target) == nil, "its owner has it")
            try box.outbox.release(inFlightBatch, owner: box.owner)
            #expect(try box.outbox.nextInFlightBatch(box.target) == wait)
            let claim = { (now: Timestamp) in try box.outbox.claim(box.target, owner: box.owner, limit: 9, now: now) }
            #expect(try claim(box.now + .seconds(59)).isEmpty)
            let claimed = try #require(try claim(box.now + .seconds(60)).first)
            #expect(claimed.tries == 2 && claimed.boundedTries == 1 && claimed.wait == wait)
            attempt.wait = nil
            try box.outbox.keep(inFlightBatch, attempt, owner: box.owner)
            try box.outbox.release(inFlightBatch, owner: box.owner)
            #expect(try box.outbox.nextInFlightBatch(box.target)?.remaining(at: box.now) == .zero)
            #expect(try claim(box.now + .seconds(-1)).count == 1)
        }
    }

    @Test func aClockThatWasSetBackEndsAWait() throws {
        try OutboxFixture.with { box in
            let inFlightBatch = try box.begin("one", [try box.add()])
            let wait = RetryWait(setAt: box.now, delay: .seconds(60))
            let attempt = InFlightBatchAttempt(
                tries: 1, boundedTries: 0, wait: wait, answer: box.answer(503, "", .busy))
            try box.outbox.keep(inFlightBatch, attempt, owner: box.owner)
            try box.outbox.release(inFlightBatch, owner: box.owner)
            func claim(after seconds: Int) throws -> [InFlightBatchID] {
                try box.outbox.claim(box.target, owner: box.owner, limit: 1, now: box.now + .seconds(seconds))
                    .map(\.id)
            }
            #expect(try claim(after: -60) == [], "it could be a correction of the clock")
            #expect(try claim(after: 59) == [])
            #expect(try claim(after: -61) == [inFlightBatch])
        }
    }

    @Test func whatADeadOwnerHadIsTakenOver() throws {
        try OutboxFixture.with { box in
            let (outbox, index, owner) = try box.another()
            let (sealed, leased) = (try box.add(), try box.add(session: "2"))
            let frozen = OutboxFixture.frozen("one", [sealed])
            _ = try outbox.begin(frozen, rest: [leased], target: box.target, owner: owner, now: box.now)
            #expect(try box.outbox.claim(box.target, owner: box.owner, limit: 9, now: box.now).isEmpty)
            try index.owners.dismissOwner(owner, now: box.now)
            #expect(try box.outbox.planRows(box.target, queues: 9, rows: 9).map(\.id) == [leased])
            let claimed = try box.outbox.claim(box.target, owner: box.owner, limit: 9, now: box.now)
            #expect(claimed.map(\.frozen) == [frozen])
            try box.accept(claimed[0].id, [sealed])
            try box.outbox.end(claimed[0].id, owner: box.owner)
            #expect(try box.state(sealed) == .delivered)
        }
    }

    @Test func aRequestWithNothingInItsBytesGoesWithItsOwner() throws {
        try OutboxFixture.with { box in
            let (outbox, index, owner) = try box.another()
            let (first, second) = (try box.add(), try box.add())
            let frozen = OutboxFixture.frozen("one", [first])
            let inFlightBatch = try outbox.begin(frozen, rest: [second], target: box.target, owner: owner, now: box.now)
            try outbox.settle(inFlightBatch, [first], dead: nil, answer: box.answer(200), now: box.now)
            try index.owners.dismissOwner(owner, now: box.now)
            #expect(try box.inFlightBatches() == 0)
            #expect(try box.outbox.planRows(box.target, queues: 9, rows: 9).map(\.id) == [second])
        }
    }

    @Test func anAcceptanceHoldsWhenTheLeaseIsLost() throws {
        try OutboxFixture.with { box in
            let (first, second) = (try box.add(), try box.add())
            let inFlightBatch = try box.begin("one", [first, second])
            try box.outbox.release(inFlightBatch, owner: box.owner)
            let (outbox, _, owner) = try box.another()
            #expect(try outbox.claim(box.target, owner: owner, limit: 9, now: box.now).count == 1)
            try box.accept(inFlightBatch, [first])
            #expect(try box.state(first) == .delivered)
            try outbox.settle(inFlightBatch, [first, second], dead: .conflict, answer: box.answer(409), now: box.now)
            #expect(try box.state(first) == .delivered)
            #expect(try box.state(second) == .dead)
            try outbox.end(inFlightBatch, owner: owner)
            // Learned late: the LMS has the report that was marked dead.
            try box.accept(inFlightBatch, [second])
            #expect(try box.state(second) == .delivered)
        }
    }

    @Test func aRequestThatHasReportsInItsBytesIsNotOver() throws {
        try OutboxFixture.with { box in
            let inFlightBatch = try box.begin("one", [try box.add()], rest: [try box.add(session: "2")])
            #expect(lectureError { try box.outbox.end(inFlightBatch, owner: box.owner) }?.code == .bug)
            #expect(try box.inFlightBatches() == 1)
        }
    }

    @Test func whatIsUnnecessaryCountsAgainWhenItsSuccessorIsRefused() throws {
        try OutboxFixture.with { box in
            let old = try box.add(cumulative: true)
            let new = try box.add(cumulative: true)
            let plain = try box.add()
            try box.outbox.supersede([old], now: box.now)
            let inFlightBatch = try box.begin("one", [new])
            try box.outbox.supersede([new], now: box.now)
            #expect(try box.state(new) == .leased, "what a request holds is not superseded")
            let rows = try box.outbox.queueRows(of: [plain, new])
            #expect(rows.map(\.id) == [old, new])
            #expect(rows.map(\.state) == [.superseded, .leased])
            try box.refuse(inFlightBatch, [new])
            try box.outbox.end(inFlightBatch, owner: box.owner)
            try box.outbox.restore([old, plain, new])
            #expect(try [old, new, plain].map { try box.state($0) } == [.pending, .dead, .pending])
        }
    }
}
