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
