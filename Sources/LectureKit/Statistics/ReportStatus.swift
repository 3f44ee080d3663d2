public import LectureModel

/// A stored report and its delivery state.
public struct ReportStatus: Sendable, Hashable {
    /// Its identity.
    public let id: String
    /// The media content key; empty when it is not about a lecture.
    public let content: String
    /// The course; nil when none is known.
    public let course: String?
    /// The learner.
    public let user: String
    /// The session.
    public let session: String
    /// The number in the session.
    public let sequence: Int64
    /// When it happened, as well as is known: corrected once a server has sent the time.
    public let time: Timestamp
    /// Whether ``time`` is corrected.
    public let isCorrected: Bool
    /// The delivery state.
    public let state: ReportState
    /// How often it was sent.
    public let attempts: Int64
    /// Why it is a dead letter; nil when it is not one.
    public let reason: DeadReason?
    /// The last answer, when it was not a success.
    public let answer: ReportAnswer?
    /// When it last changed its state.
    public let changed: Timestamp
    /// An attached text.
    public let note: String?
    /// Where it goes; nil when it waits for a target.
    public let target: ReportTarget?
    /// The report itself, a JSON object.
    public let values: String

    init(_ stored: StoredReport) {
        let record = stored.record
        (id, content, course, user, session) = (
            record.id, record.content, record.course, record.user, record.session
        )
        (sequence, time, isCorrected) = (record.sequence, record.time, record.corrected != nil)
        (state, attempts, note, changed) = (record.state, record.attempts, record.note, stored.changed)
        reason = record.state == .dead ? record.reason.flatMap { DeadReason(name: $0) } : nil
        answer = stored.answer.map(ReportAnswer.init)
        target = record.target.map(ReportTarget.init)
        values = record.values.text
    }
}

/// An unsuccessful answer of a target.
public struct ReportAnswer: Sendable, Hashable {
    /// When it was received.
    public let at: Timestamp
    /// The status; nil when there was none.
    public let status: Int?
    /// The first 1,024 bytes of the body, or the connection's error.
    public let text: String

    init(_ answer: SendAnswer) { (at, status, text) = (answer.at, answer.status, answer.text) }
}

/// Which reports. All given conditions must hold.
public struct ReportQuery: Sendable, Hashable {
    /// These ids; empty for all.
    public var ids: [String] = []
    /// These states; empty for all.
    public var states: Set<ReportState> = []
    /// Dead for this reason.
    public var reason: DeadReason?
    /// This course.
    public var course: String?
    /// This learner.
    public var user: String?
    /// Targets with this URL.
    public var targetURL: String?
    /// Only reports from this time on.
    public var since: Timestamp?
    /// Only reports before this time.
    public var until: Timestamp?

    /// Everything.
    public init() {}

    /// The store's selection; the target is looked up elsewhere.
    var selection: ReportSelection {
        var selection = ReportSelection()
        (selection.ids, selection.states, selection.reason) = (ids, states, reason)
        (selection.course, selection.user) = (course, user)
        (selection.since, selection.until) = (since, until)
        return selection
    }
}

/// Some reports in the order in which they were stored.
public struct ReportPage: Sendable {
    /// Where the next page starts.
    public struct Place: Sendable, Hashable {
        let last: OutboxID
    }

    /// The reports.
    public let rows: [ReportStatus]
    /// The start of the next page; nil after the last one.
    public let next: Place?
}

/// The state of all reports ever stored: created = the counts + pruned + erased.
public struct ReportSummary: Sendable, Hashable {
    /// How many were ever stored.
    public let created: Int
    /// How many are in each state; states without any are left out.
    public let counts: [ReportState: Int]
    /// Deleted because their retention time was over.
    public let pruned: Int
    /// Deleted with their learner.
    public let erased: Int
    /// Whether the sum is right: nothing is lost.
    public let isConserved: Bool
    /// Open reports that wait for a target.
    public let withoutTarget: Int
    /// All targets.
    public let targets: [ReportTargetStatus]

    init(_ account: ReportAccount, _ targets: [TargetEntry]) {
        (created, pruned, erased) = (account.created, account.pruned, account.erased)
        counts = account.rows.filter { $0.value > 0 }
        isConserved = account.isConserved
        let open = (account.rows[.pending] ?? 0) + (account.rows[.leased] ?? 0)
        withoutTarget = max(0, open - targets.reduce(0) { $0 + $1.open })
        self.targets = targets.map(ReportTargetStatus.init)
    }
}

/// A target, with what waits for it and why.
public struct ReportTargetStatus: Sendable, Hashable {
    /// Where.
    public let target: ReportTarget
    /// Reports that wait for it or are being sent.
    public let open: Int
    /// Failures in a row.
    public let failures: Int
    /// No request before this time; nil when it may be contacted.
    public let waitsUntil: Timestamp?
    /// Why nothing is sent until an operator acts; nil when it is not suspended.
    public let suspension: SuspendReason?
    /// Its last unsuccessful answer.
    public let answer: ReportAnswer?

    init(_ entry: TargetEntry) {
        (target, open) = (ReportTarget(entry.address), entry.open)
        (failures, suspension) = (entry.condition.failures, entry.condition.suspension)
        waitsUntil = entry.condition.wait?.due
        answer = entry.condition.lastFailure.map(ReportAnswer.init)
    }
}

/// How reports are sent.
public struct SendOptions: Sendable, Hashable {
    /// Sends every open report there; nil sends each to its own target.
    public var target: ReportTarget?
    /// Requests a second to one target at the most; nil for the configured rate.
    public var requestsPerSecond: Int?
    /// A target that failed this many times in a row is skipped for this call; nil for 5, or one more than the retries
    /// of ``LectureManager/setPatience(timeout:retries:)``.
    public var attempts: Int?
    /// A target that needs a longer wait is left to the next call.
    public var longestWait: Duration = .seconds(30)
    /// Whether ``LectureEvent/reportsDelivered(_:)`` lists the delivered reports.
    public var namesDelivered = false

    /// Creates the default options.
    public init() {}
}
