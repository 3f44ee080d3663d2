/// The store as everything about reports needs it. Confined to the executor of the store's writer and on its
/// connection, so that a report and the play state it tells about change in one transaction. Every method throws
/// ``LectureError``.
///
/// What is stored when, and what each number means, is in docs/statistics.md.
package protocol StatisticsOutbox: AnyObject {
    /// Runs `body` as one durable transaction.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result

    // MARK: Keeping

    /// Stores a report. An id that is known with the same content is passed by, so that whoever did not see the
    /// acknowledgement may ask again.
    ///
    /// - Parameters:
    ///   - report: what to store.
    ///   - now: the wall clock.
    /// - Returns: whether it was stored, and the number it has in its session.
    /// - Throws: ``LectureError`` with ``LectureError/Code/reportConflict`` when the id is known with another content.
    func add(_ report: NewReport, now: Timestamp) throws -> ReportAddition

    // MARK: Targets

    /// The number of a target, which is made when it is new.
    func target(_ address: ReportRecord.Target) throws -> TargetID
    /// All targets, by their numbers.
    func targets() throws -> [TargetEntry]
    /// Stores how a target is: failures, wait, suspension, limit of bytes and last answer.
    func store(_ condition: TargetCondition, of target: TargetID) throws
    /// Has everything that is open go to another target: pending reports that no request holds, those without a target
    /// included, and requests whose end is not known, which keep their id and their bytes when the format is the same
    /// and are dissolved otherwise. What a living owner is sending stays.
    ///
    /// - Returns: how many reports.
    func readdress(to target: TargetID) throws -> Int

    // MARK: Planning

    /// What the plan of a target needs: of the lanes that no request holds, the oldest first, the open rows with the
    /// lowest numbers.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - lanes: how many lanes at the most.
    ///   - rows: how many rows of each.
    /// - Returns: rows as ``PlanRow`` wants them; `bytes` is the stored size of the report.
    /// - Throws: ``LectureError``.
    func planRows(_ target: TargetID, lanes: Int, rows: Int) throws -> [PlanRow]
    /// Reports, in the order asked for.
    func reports(_ ids: [OutboxID]) throws -> [ReportRecord]
    /// Pending reports become unnecessary.
    func supersede(_ reports: [OutboxID], now: Timestamp) throws
    /// Every row of the lanes of these reports that may be cumulative or superseded, for ``BatchPlan/uncovered(_:)``.
    func laneRows(of reports: [OutboxID]) throws -> [PlanRow]
    /// Superseded reports count again.
    func restore(_ reports: [OutboxID]) throws

    // MARK: Requests

    /// Begins a request: its reports are leased, and those of its first piece sealed with their bytes.
    ///
    /// - Parameters:
    ///   - piece: the reports of the piece and the exact request, before its first byte goes out.
    ///   - rest: reports of the same request behind the piece, in order; they are leased and in no bytes.
    ///   - target: where it goes.
    ///   - owner: this program's row.
    ///   - now: the wall clock.
    /// - Returns: the request's row.
    /// - Throws: ``LectureError``.
    func begin(
        _ piece: SealedPiece, rest: [OutboxID], target: TargetID, owner: OwnerID, now: Timestamp
    ) throws -> FlightID
    /// The next piece of a request takes the place of the last one, which has its end or was divided.
    ///
    /// - Throws: ``LectureError/Code/leaseLost`` when the request is no longer this owner's.
    func advance(_ flight: FlightID, to piece: SealedPiece, owner: OwnerID, now: Timestamp) throws
    /// A try of the current piece came to nothing that is final.
    ///
    /// - Parameters:
    ///   - flight: the request.
    ///   - attempt: what came of it, and until when it waits.
    ///   - owner: this program's row.
    /// - Throws: ``LectureError/Code/leaseLost``.
    func keep(_ flight: FlightID, _ attempt: FlightAttempt, owner: OwnerID) throws
    /// Reports of a request have their end: delivered, or dead with the reason.
    ///
    /// They leave the request; its row goes with ``end(_:owner:)``. An acceptance holds even when the lease is lost.
    ///
    /// - Parameters:
    ///   - flight: the request.
    ///   - reports: which of its reports.
    ///   - reason: why they are dead; nil when they are delivered.
    ///   - answer: what was answered.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func settle(
        _ flight: FlightID, _ reports: [OutboxID], dead reason: DeadReason?, answer: SendAnswer, now: Timestamp
    ) throws
    /// The request is over; no report is in it any more. Its lanes are free.
    func end(_ flight: FlightID, owner: OwnerID) throws
    /// Gives a request back: its sealed piece waits for whoever comes next, with its id and bytes; its other reports
    /// are pending again.
    func release(_ flight: FlightID, owner: OwnerID) throws
    /// Takes requests of a target that no living owner has and whose wait is over, the oldest first. What only a dead
    /// owner had leased without sealing is pending again.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - owner: this program's row.
    ///   - limit: how many.
    ///   - now: the wall clock; a wait that a clock set back would lengthen counts as over.
    /// - Returns: the requests, which are this owner's now.
    /// - Throws: ``LectureError``.
    func claim(_ target: TargetID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [StoredFlight]
    /// When the next request that nobody has is due; nil when none waits.
    func nextFlight(_ target: TargetID) throws -> PersistedWait?

    // MARK: Time

    /// The time of reports that were made in a run of the machine is known now.
    ///
    /// - Parameters:
    ///   - bootID: which run.
    ///   - epoch: the time at which that run's boot clock stood at 0.
    /// - Returns: how many reports got a corrected time.
    /// - Throws: ``LectureError``.
    func correct(bootID: String, epoch: Timestamp) throws -> Int

    // MARK: Operators

    /// Reports that are dead letters are pending again.
    ///
    /// - Returns: how many.
    func revive(_ selection: ReportSelection, now: Timestamp) throws -> Int
    /// Deletes delivered, superseded and expired reports that have been so for longer than until then, at most `limit`.
    func prune(before: Timestamp, limit: Int) throws -> Int
    /// Ends pending reports that are older than the policy allows; what a request holds is left out.
    func expire(before: Timestamp, now: Timestamp) throws -> Int
    /// Stores rows of an export. Known ids are passed by when their content is the same; leased ones become pending.
    ///
    /// - Returns: whether it was stored.
    /// - Throws: ``LectureError/Code/reportConflict``.
    func add(imported report: ReportRecord, now: Timestamp) throws -> Bool
    /// Deletes everything about a learner: reports in every state, sessions, bytes of requests, answers.
    ///
    /// - Parameters:
    ///   - user: the learner, byte by byte.
    ///   - isForced: dissolves requests with a report of the learner whose end is not known, so that the others in them
    ///     go out again under another id; else they stop everything.
    /// - Returns: what was deleted.
    /// - Throws: ``LectureError/Code/reportsUnderWay`` when such a request is in the way; nothing is deleted then.
    func erase(user: String, isForced: Bool) throws -> ErasedReports
}

/// Questions about reports that change nothing. On a connection of its own, any thread's.
package protocol StatisticsQueries: AnyObject {
    /// How many reports there are in each state; the law that none disappears can be checked with it.
    func account() throws -> ReportAccount
    /// All targets, with what waits for each.
    func targets() throws -> [TargetEntry]
    /// Reports in the order in which they were stored.
    ///
    /// - Parameters:
    ///   - selection: which.
    ///   - id: only those behind this one; nil from the beginning.
    ///   - limit: how many at the most.
    /// - Returns: the reports.
    /// - Throws: ``LectureError``.
    func reports(_ selection: ReportSelection, after id: OutboxID?, limit: Int) throws -> [StoredReport]
    /// Every place outside of the tables of reports where a learner is named.
    func otherTraces(of user: String) throws -> [String]
}

// MARK: - Values

/// A report to be stored.
package struct NewReport: Hashable, Sendable {
    /// What to store; `attempts` and `state` are not looked at. An empty `id` is not permitted.
    package var record: ReportRecord
    /// The number in the session is the next one instead of the record's.
    package var takesNextSequence = false
    /// A newer one of the same session says all that it says, and its target allows to leave it out.
    package var isCumulative = false

    /// A report.
    package init(_ record: ReportRecord) { self.record = record }
}

/// What became of a report that was to be stored.
package struct ReportAddition: Hashable, Sendable {
    /// False when it was known with the same content.
    package var isNew: Bool
    /// The number it has in its session.
    package var sequence: Int64

    /// An addition.
    package init(isNew: Bool, sequence: Int64) { (self.isNew, self.sequence) = (isNew, sequence) }
}

/// How a target is, as it is stored.
package struct TargetCondition: Hashable, Sendable {
    /// Failures in a row.
    package var failures = 0
    /// The wait after the last of them.
    package var wait: PersistedWait?
    /// Why it gets nothing.
    package var suspension: SuspendReason?
    /// The largest body it took to be too large was lowered to this; nil when it never said so.
    package var bytesLimit: Int?
    /// What was answered last that was no success, and when.
    package var lastTrouble: SendAnswer?

    /// Nothing known against it.
    package init() {}
}

/// A target with what waits for it.
package struct TargetEntry: Hashable, Sendable {
    /// The row.
    package var id: TargetID
    /// Where.
    package var address: ReportRecord.Target
    /// How it is.
    package var condition: TargetCondition
    /// Reports that are pending or leased.
    package var open: Int

    /// A target.
    package init(id: TargetID, address: ReportRecord.Target, condition: TargetCondition, open: Int) {
        (self.id, self.address, self.condition, self.open) = (id, address, condition, open)
    }
}

/// What a request came back with, for `lms list` and for a person.
package struct SendAnswer: Hashable, Sendable {
    /// When.
    package var at: Timestamp
    /// The status; nil when there was none.
    package var status: Int?
    /// Why it is kept; nil when that is no matter of keeping.
    package var reason: KeepReason?
    /// The first 1,024 bytes of the body as text, or what the transport said. Never a URL with its query.
    package var text: String

    /// An answer.
    package init(at: Timestamp, status: Int?, reason: KeepReason? = nil, text: String) {
        (self.at, self.status, self.reason, self.text) = (at, status, reason, text)
    }
}

/// The exact request of one piece, sealed: under this id these bytes go out and no others.
package struct SealedPiece: Hashable, Sendable {
    /// `Idempotency-Key`: of one report its own id, of several a new one.
    package var id: String
    /// The reports in their order.
    package var reports: [OutboxID]
    /// The method, `GET` or `POST`.
    package var method: String
    /// What the URL ends with in a `GET`, with its question mark; else empty.
    package var query: String
    /// `Content-Type`; empty for `GET`.
    package var mediaType: String
    /// `Content-Encoding`; empty for none.
    package var encoding: String
    /// The body as it goes over the wire, encoded.
    package var body: [UInt8]

    /// A piece.
    package init(
        id: String, reports: [OutboxID], method: String = "POST", query: String = "", mediaType: String,
        encoding: String = "", body: [UInt8]
    ) {
        (self.id, self.reports, self.method, self.query) = (id, reports, method, query)
        (self.mediaType, self.encoding, self.body) = (mediaType, encoding, body)
    }
}

/// A request with a sealed piece, as it is stored.
package struct StoredFlight: Hashable, Sendable {
    /// The row.
    package var id: FlightID
    /// Where it goes.
    package var target: TargetID
    /// What goes out.
    package var piece: SealedPiece
    /// How often the piece was sent.
    package var tries: Int
    /// How often it was answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// Until when it waits.
    package var wait: PersistedWait?

    /// A request.
    package init(
        id: FlightID, target: TargetID, piece: SealedPiece, tries: Int, boundedTries: Int, wait: PersistedWait?
    ) {
        (self.id, self.target, self.piece) = (id, target, piece)
        (self.tries, self.boundedTries, self.wait) = (tries, boundedTries, wait)
    }
}

/// A try that came to nothing that is final.
package struct FlightAttempt: Hashable, Sendable {
    /// How often the piece was sent, this try included.
    package var tries: Int
    /// How often it was answered with a status that allows a bounded number of tries.
    package var boundedTries: Int
    /// Until when this request waits; nil when only its target does.
    package var wait: PersistedWait?
    /// What came back.
    package var answer: SendAnswer

    /// A try.
    package init(tries: Int, boundedTries: Int, wait: PersistedWait?, answer: SendAnswer) {
        (self.tries, self.boundedTries, self.wait, self.answer) = (tries, boundedTries, wait, answer)
    }
}

/// Which reports. Every rule that is given has to hold.
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
    /// Nothing that happened before; by the corrected time where it is known.
    package var since: Timestamp?
    /// Nothing that happened then or later.
    package var until: Timestamp?

    /// Everything.
    package init() {}
}

/// A report as it is listed and exported.
package struct StoredReport: Hashable, Sendable {
    /// The row.
    package var id: OutboxID
    /// What was reported.
    package var record: ReportRecord
    /// What was answered last, when it was no success.
    package var answer: SendAnswer?
    /// When it last changed its state.
    package var changed: Timestamp

    /// A report.
    package init(id: OutboxID, record: ReportRecord, answer: SendAnswer?, changed: Timestamp) {
        (self.id, self.record, self.answer, self.changed) = (id, record, answer, changed)
    }
}

/// The law: created = pending + leased + delivered + dead + superseded + expired + pruned + erased.
package struct ReportAccount: Hashable, Sendable {
    /// How many were ever stored.
    package var created = 0
    /// How many rows are in each state, counted in the table.
    package var rows: [ReportState: Int] = [:]
    /// How many rows were deleted because their time to be kept was over.
    package var pruned = 0
    /// How many rows were deleted with their learner.
    package var erased = 0

    /// No reports.
    package init() {}

    /// Whether the law holds.
    package var isConserved: Bool { created == rows.values.reduce(0, +) + pruned + erased }
}

/// What was deleted with a learner.
package struct ErasedReports: Hashable, Sendable {
    /// Reports by the state they were in.
    package var reports: [ReportState: Int] = [:]
    /// Sessions.
    package var sessions = 0
    /// Requests that were dissolved.
    package var flights = 0

    /// Nothing.
    package init() {}
}
