import LectureModel

// Public names of the last release. Each is removed in the release after the one that deprecates it.

/// The former name of ``PendingCallbackStatus``.
@available(*, deprecated, renamed: "PendingCallbackStatus")
public typealias DebtStatus = PendingCallbackStatus

extension LectureManager {
    /// The former name of ``Downloads/waitUntilIdle(longestWait:deadline:)``.
    ///
    /// - Parameters:
    ///   - longestWait: longer delays requested by a server are not waited for.
    ///   - deadline: stop waiting after this time; nil never stops.
    /// - Returns: whether everything became idle before the deadline.
    /// - Throws: `CancellationError` when the task is cancelled, and nothing else.
    @available(*, deprecated, renamed: "downloads.waitUntilIdle(longestWait:deadline:)")
    @discardableResult
    public func untilRest(longestWait: Duration = .seconds(600), deadline: Duration? = nil) async throws -> Bool {
        try await downloads.waitUntilIdle(longestWait: longestWait, deadline: deadline)
    }

    /// The former name of ``Licences/pendingCallbacks()``.
    ///
    /// - Returns: all of them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    @available(*, deprecated, renamed: "licences.pendingCallbacks()")
    public func debts() throws(LectureError) -> [PendingCallbackStatus] {
        try LectureError.only { try licences.assumeIsolated { try $0.pendingCallbacks() } }
    }

    /// The former name of ``Licences/sendPendingCallbacks()``.
    ///
    /// - Throws: as ``Licences/sendPendingCallbacks()``.
    @available(*, deprecated, renamed: "licences.sendPendingCallbacks()")
    public func payDebts() async throws { try await licences.sendPendingCallbacks() }
}

extension FetchSummary {
    /// The former name of ``committedBytes``.
    @available(*, deprecated, renamed: "committedBytes")
    public var provenBytes: Int64 {
        get { committedBytes }
        set { committedBytes = newValue }
    }
}
