/// What became of the reports that were due. Numbers of reports, except for ``requests``.
public struct ReportSendResult: Sendable, Hashable {
    /// An LMS has them.
    public var delivered = 0
    /// Refused for good; kept as dead letters.
    public var refused = 0
    /// A newer report of the same session made them unnecessary.
    public var superseded = 0
    /// Still open: pending, or in a request whose end is not known.
    public var left = 0
    /// Requests that went out.
    public var requests = 0
    /// What stands in the way of those that are left.
    public var obstacles: [ReportObstacle] = []

    /// Nothing yet.
    public init() {}
}

/// Why reports for a target are left.
public struct ReportObstacle: Sendable, Hashable {
    /// The target's URL; empty for reports that have none.
    public var url: String
    /// What happened: `reportTargetRefuses`, `reportTargetWaits`, `reportAnswerUnexpected`, `reportTargetMissing`, or
    /// how it could not be reached.
    public var error: LectureError
    /// When it may be asked again; nil when somebody has to see to it first.
    public var again: Timestamp?

    /// An obstacle.
    ///
    /// - Parameters:
    ///   - url: the target's URL.
    ///   - error: what happened.
    ///   - again: when it may be asked again.
    package init(url: String, error: LectureError, again: Timestamp?) {
        (self.url, self.error, self.again) = (url, error, again)
    }
}

/// One exchange with an LMS, for those who want to see what was sent and what came back.
public struct ReportExchange: Sendable, Hashable {
    /// The target's URL.
    public var url: String
    /// The reports that were in the request, in their order.
    public var reports: [String]
    /// What each report said: the JSON text that stands in the store, or that `{JSON_DATA}` is made of where a script
    /// stored single values. As many as ``reports``.
    public var data: [String]
    /// The HTTP status; nil when none came.
    public var status: Int?
    /// The body of the answer as text, at most 64 KiB; nil when none came. What is neither UTF-8 nor UTF-16 stands
    /// there with question marks in place of its bytes above 127.
    public var answer: String?
    /// Whether the LMS has taken the reports.
    public var isDelivered: Bool

    /// An exchange.
    package init(url: String, reports: [String], data: [String]) {
        (self.url, self.reports, self.data, isDelivered) = (url, reports, data, false)
    }
}
