/// The store's interface for reports. Confined to the executor of the store's writer and on its connection, so that a
/// report and the play state it describes change in one transaction. Every method throws ``LectureError``.
///
/// docs/statistics.md describes what is stored when, and what each number means.
package protocol StatisticsOutbox: AnyObject {
    // MARK: Targets

    /// All targets, by their numbers.
    func targets() throws -> [TargetEntry]
    /// Stores the condition of a target: failures, wait, suspension, limit of bytes and last answer.
    func store(_ condition: TargetCondition, of target: TargetID) throws
    /// Redirects everything open to another target: pending reports that are in no request, including those without a
    /// target, and requests whose result is unknown, which keep their id and their bytes when the format is the same
    /// and are dissolved otherwise. What a live owner is sending stays.
    ///
    /// - Returns: how many reports.
    func readdress(to target: TargetID) throws -> Int

    // MARK: Planning

    /// The rows for planning a target: from the session queues that are in no request, the oldest first, the open rows
    /// with the lowest numbers.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - queues: the maximum number of session queues.
    ///   - rows: how many rows of each.
    /// - Returns: rows as ``PlanRow`` requires; `bytes` is the stored size of the report.
    /// - Throws: ``LectureError``.
    func planRows(_ target: TargetID, queues: Int, rows: Int) throws -> [PlanRow]
    /// Reports, in the requested order.
    func reports(_ ids: [OutboxID]) throws -> [ReportRecord]
    /// Marks pending reports as superseded.
    func supersede(_ reports: [OutboxID], now: Timestamp) throws
    /// Every row of the session queues of these reports that may be cumulative or superseded, for
    /// ``BatchPlan/uncovered(_:)``.
    func queueRows(of reports: [OutboxID]) throws -> [PlanRow]
    /// Makes superseded reports pending again.
    func restore(_ reports: [OutboxID]) throws

    // MARK: Requests

    /// Starts a request: its reports are leased, and those of its first request body are frozen with their bytes.
    ///
    /// - Parameters:
    ///   - frozen: the reports of the body and the exact request, before its first byte is sent.
    ///   - rest: the remaining reports of the same request, in order; they are leased but in no body yet.
    ///   - target: where it goes.
    ///   - owner: this program's row.
    ///   - now: the wall clock.
    /// - Returns: the request's row.
    /// - Throws: ``LectureError``.
    func begin(
        _ frozen: FrozenRequest, rest: [OutboxID], target: TargetID, owner: OwnerID, now: Timestamp
    ) throws -> InFlightBatchID
    /// Replaces the current body of a request, which was settled or divided, by the next one.
    ///
    /// - Throws: ``LectureError/Code/leaseLost`` when the request is no longer this owner's.
    func advance(_ inFlightBatch: InFlightBatchID, to frozen: FrozenRequest, owner: OwnerID, now: Timestamp) throws
    /// Records an inconclusive attempt to send the current body.
    ///
    /// - Parameters:
    ///   - inFlightBatch: the request.
    ///   - attempt: its result, and until when to wait.
    ///   - owner: this program's row.
    /// - Throws: ``LectureError/Code/leaseLost``.
    func keep(_ inFlightBatch: InFlightBatchID, _ attempt: InFlightBatchAttempt, owner: OwnerID) throws
    /// Settles reports of a request: delivered, or dead with the reason.
    ///
    /// They leave the request; its row is deleted by ``end(_:owner:)``. An acceptance is valid even when the lease is
    /// lost.
    ///
    /// - Parameters:
    ///   - inFlightBatch: the request.
    ///   - reports: which of its reports.
    ///   - reason: why they are dead; nil when they are delivered.
    ///   - answer: the answer.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func settle(
        _ inFlightBatch: InFlightBatchID, _ reports: [OutboxID], dead reason: DeadReason?, answer: SendAnswer,
        now: Timestamp
    ) throws
    /// Ends a request without remaining reports. Its session queues are free.
    func end(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws
    /// Releases a request: its frozen body is kept for the next owner, with its id and bytes; its other reports are
    /// pending again.
    func release(_ inFlightBatch: InFlightBatchID, owner: OwnerID) throws
    /// Claims requests of a target that no live owner has and whose wait is over, the oldest first. What a dead owner
    /// had leased without freezing it is pending again.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - owner: this program's row.
    ///   - limit: how many.
    ///   - now: the wall clock; a wait that a clock set back would lengthen counts as over.
    /// - Returns: the requests, now claimed by this owner.
    /// - Throws: ``LectureError``.
    func claim(_ target: TargetID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [StoredInFlightBatch]
    /// When the next unclaimed request is due; nil when none waits.
    func nextInFlightBatch(_ target: TargetID) throws -> RetryWait?

    // MARK: Time

    /// Corrects the time of reports created since one boot of the machine.
    ///
    /// - Parameters:
    ///   - bootID: the boot.
    ///   - epoch: the time at which that boot clock was 0.
    /// - Returns: how many reports got a corrected time.
    /// - Throws: ``LectureError``.
    func correct(bootID: String, epoch: Timestamp) throws -> Int
}

// MARK: - Values

/// A report to be stored.
package struct NewReport: Hashable, Sendable {
    /// What to store; `attempts` and `state` are ignored. An empty `id` is not permitted.
    package var record: ReportRecord
    /// Whether the number in the session is the next one instead of the record's.
    package var takesNextSequence = false
    /// Whether a newer one of the same session includes everything in it, and its target allows leaving it out.
    package var isCumulative = false

    /// Creates a report.
    package init(_ record: ReportRecord) { self.record = record }
}

/// The result of storing a report.
package struct ReportAddition: Hashable, Sendable {
    /// False when it was known with the same payload.
    package var isNew: Bool
    /// Its number in its session.
    package var sequence: Int64

    /// Creates a result.
    package init(isNew: Bool, sequence: Int64) { (self.isNew, self.sequence) = (isNew, sequence) }
}

/// The stored condition of a target.
package struct TargetCondition: Hashable, Sendable {
    /// Failures in a row.
    package var failures = 0
    /// The wait after the last of them.
    package var wait: RetryWait?
    /// Why nothing is sent to it.
    package var suspension: SuspendReason?
    /// The body size limit, lowered after it refused a body as too large; nil when it never did.
    package var bytesLimit: Int?
    /// The last unsuccessful answer, and when.
    package var lastFailure: SendAnswer?

    /// Creates the condition of a healthy target.
    package init() {}
}

/// A target with what waits for it.
package struct TargetEntry: Hashable, Sendable {
    /// The row.
    package var id: TargetID
    /// Where.
    package var address: ReportRecord.Target
    /// Its condition.
    package var condition: TargetCondition
    /// Reports that are pending or leased.
    package var open: Int

    /// Creates an entry.
    package init(id: TargetID, address: ReportRecord.Target, condition: TargetCondition, open: Int) {
        (self.id, self.address, self.condition, self.open) = (id, address, condition, open)
    }
}

/// The result of a request, for `lms list` and for people.
package struct SendAnswer: Hashable, Sendable {
    /// When it was received.
    package var at: Timestamp
    /// The status; nil when there was none.
    package var status: Int?
    /// Why the reports are kept; nil when they are not.
    package var reason: KeepReason?
    /// The first 1,024 bytes of the body as text, or the transport's message. Never a URL with its query.
    package var text: String

    /// Creates an answer.
    package init(at: Timestamp, status: Int?, reason: KeepReason? = nil, text: String) {
        (self.at, self.status, self.reason, self.text) = (at, status, reason, text)
    }
}

/// The exact frozen request for one body: under this id exactly these bytes are sent.
package struct FrozenRequest: Hashable, Sendable {
    /// `Idempotency-Key`: for one report its own id, for several a new one.
    package var id: String
    /// The reports in order.
    package var reports: [OutboxID]
    /// The method, `GET` or `POST`.
    package var method: String
    /// The end of the URL in a `GET`, with its question mark; else empty.
    package var query: String
    /// `Content-Type`; empty for `GET`.
    package var mediaType: String
    /// `Content-Encoding`; empty for none.
    package var encoding: String
    /// The body as it goes over the wire, encoded.
    package var body: [UInt8]

    /// Creates a frozen request.
    package init(
        id: String, reports: [OutboxID], method: String = "POST", query: String = "", mediaType: String,
        encoding: String = "", body: [UInt8]
    ) {
        (self.id, self.reports, self.method, self.query) = (id, reports, method, query)
        (self.mediaType, self.encoding, self.body) = (mediaType, encoding, body)
    }
}

/// A request with a frozen body, as stored.
package struct StoredInFlightBatch: Hashable, Sendable {
    /// The row.
    package var id: InFlightBatchID
    /// Where it goes.
    package var target: TargetID
    /// What is sent.
    package var frozen: FrozenRequest
    /// How often the body was sent.
    package var tries: Int
    /// How often it was answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// Until when it waits.
    package var wait: RetryWait?

    /// Creates a request.
    package init(
        id: InFlightBatchID, target: TargetID, frozen: FrozenRequest, tries: Int, boundedTries: Int,
        wait: RetryWait?
    ) {
        (self.id, self.target, self.frozen) = (id, target, frozen)
        (self.tries, self.boundedTries, self.wait) = (tries, boundedTries, wait)
    }
}

/// An inconclusive attempt to send.
package struct InFlightBatchAttempt: Hashable, Sendable {
    /// How often the body was sent, including this attempt.
    package var tries: Int
    /// How often it was answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// Until when this request waits; nil when only its target does.
    package var wait: RetryWait?
    /// What came back.
    package var answer: SendAnswer

    /// Creates an attempt.
    package init(tries: Int, boundedTries: Int, wait: RetryWait?, answer: SendAnswer) {
        (self.tries, self.boundedTries, self.wait, self.answer) = (tries, boundedTries, wait, answer)
    }
}

/// Which reports. All given conditions must hold.
package struct ReportSelection: Hashable, Sendable {
    /// These ids; empty for all.
    package var ids: [String] = []
    /// These states; empty for all.
    package var states: Set<ReportState> = []
    /// Dead for this reason.
    package var reason: DeadReason?
    /// This course.
    package var course: String?
    /// This learner.
    package var user: String?
    /// This target.
    package var target: TargetID?
    /// Only reports from this time on; by the corrected time where it is known.
    package var since: Timestamp?
    /// Only reports before this time.
    package var until: Timestamp?

    /// Everything.
    package init() {}
}

/// A report as listed and exported.
package struct StoredReport: Hashable, Sendable {
    /// The row.
    package var id: OutboxID
    /// What was reported.
    package var record: ReportRecord
    /// The last answer, when it was not a success.
    package var answer: SendAnswer?
    /// When it last changed its state.
    package var changed: Timestamp

    /// Creates a report.
    package init(id: OutboxID, record: ReportRecord, answer: SendAnswer?, changed: Timestamp) {
        (self.id, self.record, self.answer, self.changed) = (id, record, answer, changed)
    }
}

/// The invariant: created = pending + leased + delivered + dead + superseded + expired + pruned + erased.
package struct ReportAccount: Hashable, Sendable {
    /// How many were ever stored.
    package var created = 0
    /// How many rows are in each state, counted in the table.
    package var rows: [ReportState: Int] = [:]
    /// How many rows were deleted because their retention time was over.
    package var pruned = 0
    /// How many rows were deleted with their learner.
    package var erased = 0

    /// Creates an empty account.
    package init() {}

    /// Whether the invariant holds.
    package var isConserved: Bool { created == rows.values.reduce(0, +) + pruned + erased }
}

/// What was deleted with a learner.
package struct ErasedReports: Hashable, Sendable {
    /// Reports by the state they were in.
    package var reports: [ReportState: Int] = [:]
    /// Sessions.
    package var sessions = 0
    /// Requests that were dissolved.
    package var inFlightBatches = 0

    /// Creates an empty value.
    package init() {}
}
