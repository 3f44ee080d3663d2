package import LectureEngine
package import LectureFormats
package import LectureModel

/// What is configured for a target.
package struct TargetSettings: Sendable {
    /// What a success looks like.
    package var form: AnswerForm
    /// How much it accepts in one request.
    package var limits: BatchLimits
    /// The pace of requests to it.
    package var pace: OriginPacer.Rules
    /// The waits after failures of one batch.
    package var backoff: Backoff { pace.breaker?.backoff ?? Backoff() }
    /// `Content-Encoding` of bodies, `gzip` or empty: only if the configuration says that the target accepts it.
    package var encoding = ""
    /// Sent with each request to the target's own host, for instance credentials. Never stored or reported.
    package var headers = HeaderFields()

    /// The defaults for a target.
    package init(_ format: ReportFormat) {
        (form, limits, pace) = (AnswerForm(format), BatchLimits(format), .reports)
    }
}

/// The settings of the machine.
package struct StatisticsSettings: Sendable {
    /// What is configured for a target.
    package var target: @Sendable (ReportRecord.Target) -> TargetSettings = { TargetSettings($0.format) }
    /// The boot of the machine that the boot clock belongs to.
    package var bootID: String
    /// What names the learners' accounts in xAPI, an IRI.
    package var homePage = "https://lecturekit.invalid/"
    /// The prefix of the content key in an activity's id in xAPI.
    package var activityPrefix = "https://lecturekit.invalid/content/"
    /// How long an exchange may go without a byte.
    package var stallTimeout = Duration.seconds(30)
    /// How long a whole exchange may take.
    package var totalTimeout = Duration.seconds(60)

    /// Settings.
    package init(bootID: String) { self.bootID = bootID }
}

/// What an order changes about targets that wait or are suspended. A wait that a server has asked for stays.
package enum SendResumption: Hashable, Sendable {
    /// Waits end, and suspended targets are asked again: a person asks to send.
    case everything
    /// Waits end: the network is another one.
    case waits
    /// Nothing.
    case nothing
}

/// One `lms send`, or a run of the automatic delivery: sends everything that is due, and reports the end.
package struct SendOrder: Hashable, Sendable {
    /// Identifies the order.
    package var id: Int
    /// The target for all open reports; nil sends each report to its own target.
    package var target: TargetID?
    /// How often in a row a target may fail before the order abandons it.
    package var attempts = 5
    /// A wait that is longer ends the order for its target.
    package var longestWait = Duration.seconds(30)
    /// Whether ``LectureEvent/reportsDelivered(_:)`` is published while it works.
    package var namesDelivered = false
    /// What it changes about targets that wait or are suspended.
    package var resumption = SendResumption.everything

    /// An order.
    package init(id: Int) { self.id = id }
}

/// What reports have to take note of: replies, and requests of the application.
package enum ReportEvent: Sendable {
    /// Sends everything that is due; the notice ``ReportNotice/ended(order:_:)`` follows. An order that arrives while
    /// another works joins it.
    case send(SendOrder)
    /// Changes the time limits of exchanges; they apply to requests that start from now on.
    case setTimeouts(stall: Duration, total: Duration)
    /// An exchange is over.
    case answered(TransferID, ExchangeReply)
}

/// What a step led to, after the commit that makes it true.
package enum ReportNotice: StateMachineNotice, Hashable {
    /// What applications are informed of. ``LectureEvent/reportsProgress(_:)`` at most every 100 ms for an order,
    /// ``LectureEvent/reportsDelivered(_:)`` only while an order asks for it.
    case event(LectureEvent)
    /// So many reports were delivered.
    case delivered(Int)
    /// An order is over.
    case ended(order: Int, ReportSendResult)
    /// The store could not be written; the step is repeated.
    case failure(LectureError)
    /// All work has ended.
    case stopped
}
