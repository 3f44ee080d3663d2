import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The rule for what a process has claimed, on one row of each table that has claims.
@Suite struct ClaimTests {
    private static let all = [Claim.content, .renewal, .callback, .inFlightBatch]

    /// A store with one row of each table.
    private final class Rows {
        let store: LedgerFixture
        let other: OwnerID
        let claim: Claim
        private let row: String
        var connection: Connection { store.index.connection }

        init(_ claim: Claim) throws {
            (store, self.claim) = (try LedgerFixture(), claim)
            other = try store.index.owners.registerOwner(pid: 2, bootID: "boot", command: "other", now: store.now)
            try store.fill([("a", 1)])
            let run = try store.ledger.renewals.begin(.all, .renewal, now: store.now).run
            try store.ledger.callbacks.add(try ContentKey("a"), kind: 2, now: store.now)
            try Self.addBatch(to: store)
            row = claim.table == "renewal" ? "run_id = \(run.value) AND licence_id > 0" : "id > 0"
        }

        /// A request with one report, since one without is deleted when it is free.
        private static func addBatch(to store: LedgerFixture) throws {
            let outbox = SQLiteOutbox(index: store.index)
            var record = ReportRecord(
                id: "r", content: "c", user: "u", session: "s", sequence: 1, wall: store.now, values: .object([]),
                state: .pending, attempts: 0)
            let address = ReportRecord.Target(url: "https://a", format: .json)
            record.target = address
            _ = try outbox.add(NewReport(record), now: store.now)
            let target = try outbox.target(address)
            let report = try #require(try outbox.planRows(target, queues: 1, rows: 1).first).id
            let frozen = FrozenRequest(id: "r", reports: [report], mediaType: "application/json", body: [1])
            let batch = try outbox.begin(frozen, rest: [], target: target, owner: store.owner, now: store.now)
            try outbox.release(batch, owner: store.owner)
        }

        func take(by owner: OwnerID) throws -> Bool {
            try connection.execute(claim.take(row), owner) == 1
        }

        func free() throws { try connection.execute("UPDATE \(claim.table) SET \(claim.freed) WHERE \(row)") }

        func isTrue(_ condition: String, _ value: some SQLiteBindable) throws -> Bool {
            try connection.first("SELECT \(condition) AND ?1 IS NOT NULL FROM \(claim.table)", value) { $0.bool(0) }
                ?? false
        }

        func fence() throws -> Int64? {
            try claim.fence.flatMap { fence in
                try connection.first("SELECT \(fence) FROM \(claim.table)") { $0.int64(0) }
            }
        }

        /// Who has the row, by every condition of the rule.
        func holder() throws -> [OwnerID] {
            let holders = try [store.owner, other].filter { try isTrue(claim.isHeld(by: "?1"), $0) }
            for owner in [store.owner, other] {
                let isOthers = !holders.isEmpty && !holders.contains(owner)
                #expect(try isTrue(claim.isHeld(byOtherThan: "?1"), owner) == isOthers)
            }
            #expect(try isTrue(claim.isFree, 0) == holders.isEmpty && isTrue(claim.isHeld, 0) == !holders.isEmpty)
            return holders
        }

        func wait(_ wait: RetryWait?) throws {
            try connection.execute(
                "UPDATE \(claim.table) SET next_attempt_ms = ?, wait_set_ms = ?", wait?.due, wait?.setAt)
        }
    }

    @Test(arguments: all) func `of two processes one gets a row`(claim: Claim) throws {
        let rows = try Rows(claim)
        let (one, other) = (rows.store.owner, rows.other)
        #expect(try rows.holder() == [])
        #expect(try rows.take(by: one) && rows.holder() == [one])
        #expect(try !rows.take(by: other) && rows.holder() == [one])
        #expect(try rows.take(by: one) && rows.holder() == [one], "its owner may take it again")
        try rows.free()
        #expect(try rows.holder() == [])
        #expect(try rows.take(by: other) && rows.holder() == [other])
        #expect(try !rows.take(by: one) && rows.holder() == [other])
    }

    @Test(arguments: all) func `a row is free when the owner's row is deleted`(claim: Claim) throws {
        let rows = try Rows(claim)
        #expect(try rows.take(by: rows.other))
        try rows.store.index.owners.dismissOwner(rows.other, now: rows.store.now)
        #expect(try rows.holder() == [])
        #expect(try rows.take(by: rows.store.owner))
    }

    @Test func `every claim of a lecture has a number of its own, and releasing it keeps the number`() throws {
        let rows = try Rows(.content)
        let (one, other) = (rows.store.owner, rows.other)
        var fences = [try rows.fence()]
        for owner in [one, one] where try rows.take(by: owner) { fences.append(try rows.fence()) }
        #expect(try !rows.take(by: other) && rows.fence() == 2, "a refused claim changes nothing")
        try rows.free()
        fences.append(try rows.fence())
        #expect(try !rows.isTrue(Claim.isHeld(under: "?1"), 2), "no process holds it")
        #expect(try rows.take(by: other))
        fences.append(try rows.fence())
        #expect(fences == [0, 1, 2, 2, 3])
        #expect(try rows.isTrue(Claim.isHeld(under: "?1"), 3) && !rows.isTrue(Claim.isHeld(under: "?1"), 2))
        for claim in Self.all where claim.table != "content" { #expect(claim.fence == nil) }
    }

    @Test(arguments: all) func `a free row is due when its wait is over, and one that is held never`(claim: Claim)
        throws
    {
        let rows = try Rows(claim)
        let start = Timestamp(milliseconds: 1_000_000)
        let waits = [nil] + [0, 1, 5_000].map { RetryWait(setAt: start, delay: .milliseconds($0)) }
        for wait in waits {
            try rows.wait(wait)
            for moment in [-20_000, -5_001, -5_000, -1, 0, 1, 4_999, 5_000, 5_001, 99_000] {
                let now = start + .milliseconds(moment)
                let isOver = wait.map { $0.remaining(at: now) == .zero } ?? true
                let groups = try Waiting.conditions.filter { try rows.isTrue(claim.isDue($0), now) }
                #expect(try rows.isTrue(claim.isDue("?1"), now) == isOver, "\(moment) ms into \(wait as Any)")
                #expect(groups.count == (isOver ? 1 : 0), "\(moment) ms into \(wait as Any): \(groups)")
            }
        }
        #expect(try rows.take(by: rows.other))
        try rows.wait(nil)
        #expect(try !rows.isTrue(claim.isDue("?1"), start) && !rows.isTrue(claim.isDue(.fresh), start))
    }

    @Test func `several processes claim a stream, and it is free when the last of them has released it or is gone`()
        throws
    {
        let store = try LedgerFixture()
        let cache = SQLiteStreamCache(index: store.index)
        let others = try (2...3).map { number in
            try store.index.owners.registerOwner(pid: number, bootID: "boot", command: "other", now: store.now)
        }
        let item = try cache.add(
            [UInt8](repeating: 1, count: 32), key: try ContentKey("a"),
            validator: Validator(etag: "\"a\"", lastModified: nil, total: 9),
            wrapped: [1], now: store.now
        ).id
        func isFree() throws -> Bool? {
            try store.index.connection.first("SELECT \(SharedClaim.stream.isFree("?"))", item) { $0.bool(0) }
        }
        #expect(try isFree() == true)
        for owner in [store.owner] + others + others {
            try store.index.connection.execute(SharedClaim.stream.take, item, owner)
        }
        try store.index.connection.execute(SharedClaim.stream.release, item, others[0])
        try store.index.connection.execute(SharedClaim.stream.release, item, store.owner)
        #expect(try isFree() == false && cache.isUsed(item))
        try store.index.owners.dismissOwner(others[1], now: store.now)
        #expect(try isFree() == true && !cache.isUsed(item))
    }
}
