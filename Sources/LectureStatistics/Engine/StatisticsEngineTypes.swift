package import LectureModel

/// What is configured for a target.
package struct TargetSettings: Sendable {
    /// What a success looks like.
    package var form: AnswerForm
    /// How much it takes at once.
    package var limits: BatchLimits
    /// How often it is asked.
    package var pace: TargetPace.Limits
    /// `Content-Encoding` of bodies, `gzip` or empty: only where the configuration says that the target takes it.
    package var encoding = ""
    /// Sent with each request to the target's own host, for instance credentials. Never stored, never told.
    package var headers = HeaderFields()

    /// What a target gets unless it is configured otherwise.
    package init(_ format: ReportFormat) {
        (form, limits, pace) = (AnswerForm(format), BatchLimits(format), TargetPace.Limits())
    }
}

/// How the engine works.
package struct StatisticsSettings: Sendable {
    /// What is configured for a target.
    package var target: @Sendable (ReportRecord.Target) -> TargetSettings = { TargetSettings($0.format) }
    /// The run of the machine that the boot clock belongs to.
    package var bootID: String
    /// What names the learners' accounts in xAPI, an IRI.
    package var homePage = "https://lecturekit.invalid/"
    /// What stands before the content key in an activity's id in xAPI.
    package var activityPrefix = "https://lecturekit.invalid/content/"
    /// How long without a byte is too long.
    package var stallTimeout = Duration.seconds(30)
    /// How long a whole exchange may take.
    package var totalTimeout = Duration.seconds(60)

    /// Settings.
    package init(bootID: String) { self.bootID = bootID }
}

/// One `lms send`: everything that is due goes out, and the end is told.
package struct SendOrder: Hashable, Sendable {
    /// Tells orders apart.
    package var id: Int
    /// Everything that is open goes there; nil sends each report to where it belongs.
    package var target: TargetID?
    /// How often in a row a target may fail before the order gives it up.
    package var attempts = 5
    /// A wait that is longer ends the order for its target.
    package var longestWait = Duration.seconds(30)
    /// Whether ``StatisticsNotice/delivered(_:)`` is told while it works.
    package var namesDelivered = false

    /// An order.
    package init(id: Int) { self.id = id }
}

/// How far an order is, and what became of it at its end. Numbers of reports.
package struct SendSummary: Hashable, Sendable {
    /// Delivered since the order began.
    package var delivered = 0
    /// Refused for good since the order began.
    package var dead = 0
    /// Became unnecessary since the order began.
    package var superseded = 0
    /// Open for targets that the order is about. At the end of an order: left, because a target waits, refuses or is
    /// missing.
    package var open = 0
    /// Requests that went out.
    package var requests = 0
    /// What stands in the way of each target that still has open reports.
    package var obstacles: [TargetObstacle] = []

    /// Nothing yet.
    package init() {}
}

/// Why a target has reports left.
package struct TargetObstacle: Hashable, Sendable {
    /// Where.
    package var target: TargetID
    /// `reportTargetRefuses`, `reportTargetWaits`, `reportAnswerUnexpected`, or how it could not be reached.
    package var error: LectureError
    /// When it may be asked again; nil when somebody has to see to it first.
    package var again: Timestamp?

    /// An obstacle.
    package init(target: TargetID, error: LectureError, again: Timestamp?) {
        (self.target, self.error, self.again) = (target, error, again)
    }
}

/// What became true.
package enum StatisticsNotice: Hashable, Sendable {
    /// Reports were settled or requests went out for an order; not more often than each 100 ms.
    case progress(order: Int, SendSummary)
    /// Reports were delivered; told only while an order asks for it.
    case delivered([String])
    /// A request was answered, or could not be; once for each that went out and was not given up.
    case exchange(ReportExchange)
    /// A report became a dead letter.
    case refused(String, DeadReason, SendAnswer)
    /// A target answered something that is no success.
    case obstacle(TargetObstacle)
    /// An order is over.
    case ended(order: Int, SendSummary)
    /// The store could not be written; it is tried again by itself.
    case trouble(LectureError)
    /// The engine has come to its end.
    case stopped
}
