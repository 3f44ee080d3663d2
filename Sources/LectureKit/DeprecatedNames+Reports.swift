public import LectureModel

// Names of the last release that ``LectureManager/reports`` has replaced.

extension LectureManager {
    /// The former name of ``Reports/add(_:)-(LearningReport)``.
    @available(*, deprecated, renamed: "reports.add(_:)")
    @discardableResult
    public func addReport(_ report: LearningReport) throws(LectureError) -> [StoredReportID] {
        try LectureError.only { try reports.assumeIsolated { try $0.add(report) } }
    }

    /// The former name of ``Reports/add(_:)-([LearningReport])``.
    @available(*, deprecated, renamed: "reports.add(_:)")
    public func addReports(_ reports: [LearningReport]) throws(LectureError) -> [Result<[StoredReportID], LectureError>]
    {
        try LectureError.only { try self.reports.assumeIsolated { try $0.add(reports) } }
    }

    /// The former name of ``Reports/send(options:)``.
    @available(*, deprecated, renamed: "reports.send(options:)")
    public func sendReports(_ options: SendOptions = SendOptions()) async throws -> ReportSendResult {
        try await reports.send(options: options)
    }

    /// The former name of ``Reports/stopSending()``.
    @available(*, deprecated, renamed: "reports.stopSending()")
    public func stopSending() async { await reports.stopSending() }

    /// The former name of ``Reports/retry(matching:)``.
    @available(*, deprecated, renamed: "reports.retry(matching:)")
    @discardableResult
    public func retryReports(_ query: ReportQuery) throws(LectureError) -> Int {
        try LectureError.only { try reports.assumeIsolated { try $0.retry(matching: query) } }
    }

    /// The former name of ``Reports/list(_:from:limit:)``.
    @available(*, deprecated, renamed: "reports.list(_:from:limit:)")
    public func reports(
        _ query: ReportQuery = ReportQuery(), from place: ReportPage.Place? = nil, limit: Int = 1000
    ) throws(LectureError) -> ReportPage {
        try LectureError.only { try reports.assumeIsolated { try $0.list(query, from: place, limit: limit) } }
    }

    /// The former name of ``Reports/summary()``.
    @available(*, deprecated, renamed: "reports.summary()")
    public func reportSummary() throws(LectureError) -> ReportSummary {
        try LectureError.only { try reports.assumeIsolated { try $0.summary() } }
    }

    /// The former name of ``Reports/export(to:format:filter:pseudonymKey:)``.
    @available(*, deprecated, renamed: "reports.export(to:format:filter:pseudonymKey:)")
    public nonisolated func exportReports(
        to destination: ReportExportDestination, format: ReportExportFormat = .jsonLines,
        filter: ReportExportFilter = ReportExportFilter(), pseudonymKey: PseudonymKey? = nil
    ) async throws -> ReportExportResult {
        try await reports.export(to: destination, format: format, filter: filter, pseudonymKey: pseudonymKey)
    }

    /// The former name of ``Reports/import(from:format:onError:)``.
    @available(*, deprecated, renamed: "reports.import(from:format:onError:)")
    public func importReports(
        from path: String, format: ReportImportFormat? = nil, onError: sending (LectureError) async throws -> Void
    ) async throws -> ReportImportResult {
        try await reports.import(from: path, format: format, onError: onError)
    }

    /// The former name of ``Reports/eraseLearner(_:isForced:isDryRun:)``.
    @available(*, deprecated, renamed: "reports.eraseLearner(_:isForced:isDryRun:)")
    public func eraseLearner(_ user: String, isForced: Bool = false, isDryRun: Bool = false) throws(LectureError)
        -> ErasureReceipt
    {
        try LectureError.only {
            try reports.assumeIsolated { try $0.eraseLearner(user, isForced: isForced, isDryRun: isDryRun) }
        }
    }

    /// The former name of ``Reports/forgetCopy(at:)``.
    @available(*, deprecated, renamed: "reports.forgetCopy(at:)")
    public func forgetCopy(_ path: String) throws(LectureError) {
        try LectureError.only { try reports.assumeIsolated { try $0.forgetCopy(at: path) } }
    }

    /// The former name of ``Reports/recordPlay(of:user:duration:blocks:target:)``.
    @available(*, deprecated, renamed: "reports.recordPlay(of:user:duration:blocks:target:)")
    public func recordPlay(
        of key: ContentKey, user: String? = nil, duration: Duration? = nil, blocks: Int = 100,
        target: ReportTarget? = nil
    ) throws(LectureError) -> PlayRecorder {
        try LectureError.only {
            try reports.assumeIsolated {
                try $0.recordPlay(of: key, user: user, duration: duration, blocks: blocks, target: target)
            }
        }
    }

    /// The former name of ``Reports/playValues(_:content:user:startAt:duration:blocks:)``.
    @available(*, deprecated, renamed: "Reports.playValues(_:content:user:startAt:duration:blocks:)")
    public nonisolated static func playValues(
        _ intervals: [PlayedInterval], content: String, user: String, startAt: Timestamp, duration: Duration,
        blocks: Int
    ) -> String {
        Reports.playValues(
            intervals, content: content, user: user, startAt: startAt, duration: duration, blocks: blocks)
    }
}
