public import LectureModel

/// A stored report, and where it is on its way.
public struct ReportStatus: Sendable, Hashable {
    /// Its identity.
    public let id: String
    /// The media content key; empty when it is about no content.
    public let content: String
    /// The course; nil when none is known.
    public let course: String?
    /// The learner.
    public let user: String
    /// The session.
    public let session: String
    /// The number in the session.
    public let sequence: Int64
    /// When it happened, as well as it is known: corrected once a server has told the time.
    public let time: Timestamp
    /// Whether ``time`` is corrected.
    public let isCorrected: Bool
    /// Where it is on its way.
    public let state: ReportState
    /// How often it was sent.
    public let attempts: Int64
    /// Why it is a dead letter; nil when it is none.
    public let reason: DeadReason?
    /// What was answered last, when it was no success.
    public let answer: ReportAnswer?
    /// When it last changed its state.
    public let changed: Timestamp
    /// A text that goes along.
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

/// What a target answered that was no success.
public struct ReportAnswer: Sendable, Hashable {
    /// When.
    public let at: Timestamp
    /// The status; nil when there was none.
    public let status: Int?
    /// The first 1,024 bytes of the body, or what the connection said.
    public let text: String

    init(_ answer: SendAnswer) { (at, status, text) = (answer.at, answer.status, answer.text) }
}

/// Which reports. Every rule that is given has to hold.
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
    /// Nothing that happened before.
    public var since: Timestamp?
    /// Nothing that happened then or later.
    public var until: Timestamp?

    /// Everything.
    public init() {}

    /// As the store asks; the target is looked up elsewhere.
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
    /// Where the next page begins.
    public struct Place: Sendable, Hashable {
        let last: OutboxID
    }

    /// The reports.
    public let rows: [ReportStatus]
    /// Asks for what follows; nil behind the last page.
    public let next: Place?
}

/// Where all reports are that were ever stored: created = the counts + pruned + erased.
public struct ReportSummary: Sendable, Hashable {
    /// How many were ever stored.
    public let created: Int
    /// How many are in each state; states without any are left out.
    public let counts: [ReportState: Int]
    /// Deleted because their time to be kept was over.
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
    /// Reports that wait for it or are under way.
    public let open: Int
    /// Failures in a row.
    public let failures: Int
    /// Until when it is left alone; nil when it may be asked.
    public let waitsUntil: Timestamp?
    /// Why it gets nothing until somebody sees to it; nil when it does.
    public let suspension: SuspendReason?
    /// What it answered last that was no success.
    public let answer: ReportAnswer?

    init(_ entry: TargetEntry) {
        (target, open) = (ReportTarget(entry.address), entry.open)
        (failures, suspension) = (entry.condition.failures, entry.condition.suspension)
        waitsUntil = entry.condition.wait?.due
        answer = entry.condition.lastTrouble.map(ReportAnswer.init)
    }
}

/// How reports are sent.
public struct SendOptions: Sendable, Hashable {
    /// Everything that is open goes there; nil sends each report to where it belongs.
    public var target: ReportTarget?
    /// Requests a second to one target at the most; nil for what is configured.
    public var requestsPerSecond: Int?
    /// A target that failed so many times in a row is given up for this call; nil for 5, or one more than the retries
    /// of ``LectureManager/setPatience(timeout:retries:)``.
    public var attempts: Int?
    /// A target that has to be waited for longer is left to the next call.
    public var longestWait: Duration = .seconds(30)
    /// Whether ``LectureEvent/reportsDelivered(_:)`` names what arrived.
    public var namesDelivered = false

    /// The usual way.
    public init() {}
}
