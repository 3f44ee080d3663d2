/// The result of sending the reports that were due. Numbers of reports, except for ``requests``.
public struct ReportSendResult: Sendable, Hashable {
    /// Delivered to an LMS.
    public var delivered = 0
    /// Refused for good; kept as dead letters.
    public var refused = 0
    /// A newer report of the same session made them unnecessary.
    public var superseded = 0
    /// Still open: pending, or in a request whose result is unknown.
    public var left = 0
    /// Requests sent.
    public var requests = 0
    /// The obstacles for the remaining ones.
    public var obstacles: [ReportObstacle] = []

    /// Creates an empty result.
    public init() {}
}

/// Why reports for a target are left.
public struct ReportObstacle: Sendable, Hashable {
    /// The target's URL; empty for reports that have none.
    public var url: String
    /// What happened: `reportTargetRefuses`, `reportTargetWaits`, `reportAnswerUnexpected`, `reportTargetMissing`, or
    /// why it could not be reached.
    public var error: LectureError
    /// When it may be retried; nil when an operator has to act first.
    public var again: Timestamp?

    /// Creates an obstacle.
    ///
    /// - Parameters:
    ///   - url: the target's URL.
    ///   - error: what happened.
    ///   - again: when it may be retried.
    package init(url: String, error: LectureError, again: Timestamp?) {
        (self.url, self.error, self.again) = (url, error, again)
    }
}

/// One exchange with an LMS, for showing what was sent and returned.
public struct ReportExchange: Sendable, Hashable {
    /// The target's URL.
    public var url: String
    /// The reports that were in the request, in their order.
    public var reports: [String]
    /// The data of each report: the JSON text in the store, or that of `{JSON_DATA}` where a script stored single
    /// values. As many as ``reports``.
    public var data: [String]
    /// The HTTP status; nil without one.
    public var status: Int?
    /// The body of the answer as text, at most 64 KiB; nil without one. Text that is neither UTF-8 nor UTF-16 has
    /// question marks in place of its bytes above 127.
    public var answer: String?
    /// Whether the LMS has accepted the reports.
    public var isDelivered: Bool

    /// Creates an exchange.
    package init(url: String, reports: [String], data: [String]) {
        (self.url, self.reports, self.data, isDelivered) = (url, reports, data, false)
    }
}
