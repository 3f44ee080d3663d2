import LectureModel
import LectureStore
import LectureTestSupport

/// The store's outbox, which fails at random as on a full disk: within a transaction or at its commit.
final class FailingOutbox: StatisticsOutbox {
    let inner: SQLiteOutbox
    private var randomness: SeededGenerator
    private var isInTransaction = false
    /// How many calls in a thousand fail.
    var failures = 0
    /// Whether every statement succeeds and the commit fails.
    var failsCommits = false
    private(set) var failed = 0
    /// How many reports were read.
    private(set) var read = 0

    init(_ inner: SQLiteOutbox, seed: UInt64) {
        (self.inner, randomness) = (inner, SeededGenerator(seed: seed))
    }

    private func fail() throws {
        guard failures > 0, Int.random(in: 0..<1000, using: &randomness) < failures else { return }
        failed += 1
        throw LectureError(.storeFailed, cause: "the disk is full")
    }

    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try inner.transaction {
            try fail()
            let result = try body()
            try fail()
            if failsCommits { throw LectureError(.storeFailed, cause: "the disk is full") }
            return result
        }
    }

    func targets() throws -> [TargetEntry] {
        try fail()
        return try inner.targets()
    }
    func store(_ condition: TargetCondition, of target: TargetID) throws {
        try fail()
        try inner.store(condition, of: target)
    }
    func readdress(to target: TargetID) throws -> Int { try inner.readdress(to: target) }
    func planRows(_ target: TargetID, queues: Int, rows: Int) throws -> [PlanRow] {
        try fail()
        return try inner.planRows(target, queues: queues, rows: rows)
    }
    func reports(_ ids: [OutboxID]) throws -> [ReportRecord] {
        read += ids.count
        return try inner.reports(ids)
    }
    func supersede(_ reports: [OutboxID], now: Timestamp) throws { try inner.supersede(reports, now: now) }
    func queueRows(of reports: [OutboxID]) throws -> [PlanRow] { try inner.queueRows(of: reports) }
    func restore(_ reports: [OutboxID]) throws { try inner.restore(reports) }
    func begin(
        _ frozen: FrozenRequest, rest: [OutboxID], target: TargetID, owner: OwnerID, now: Timestamp
    ) throws -> InFlightBatchID {
        try fail()
        return try inner.begin(frozen, rest: rest, target: target, owner: owner, now: now)
    }
    func advance(_ inFlightBatch: InFlightBatchID, to frozen: FrozenRequest, owner: OwnerID, now: Timestamp) throws {
        try fail()
        try inner.advance(inFlightBatch, to: frozen, owner: owner, now: now)
    }
    func keep(_ inFlightBatch: InFlightBatchID, _ attempt: InFlightBatchAttempt, owner: OwnerID) throws {
        try fail()
        try inner.keep(inFlightBatch, attempt, owner: owner)
    }
    func settle(
        _ inFlightBatch: InFlightBatchID, _ reports: [OutboxID], dead reason: DeadReason?, answer: SendAnswer,
        now: Timestamp
    ) throws {
        try fail()
        try inner.settle(inFlightBatch, reports, dead: reason, answer: answer, now: now)
    }
    func end(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws {
        try fail()
        try inner.end(inFlightBatch, owner: owner)
    }
    func release(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws {
        try fail()
        try inner.release(inFlightBatch, owner: owner)
    }
    func claim(_ target: TargetID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [StoredInFlightBatch] {
        try fail()
        return try inner.claim(target, owner: owner, limit: limit, now: now)
    }
    func nextInFlightBatch(_ target: TargetID) throws -> RetryWait? { try inner.nextInFlightBatch(target) }
    func correct(bootID: String, epoch: Timestamp) throws -> Int { try inner.correct(bootID: bootID, epoch: epoch) }
}
