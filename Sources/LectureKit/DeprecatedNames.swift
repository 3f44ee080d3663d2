import LectureModel

// Public names of the last release. Each is removed in the release after the one that deprecates it.

/// The former name of ``PendingCallbackStatus``.
@available(*, deprecated, renamed: "PendingCallbackStatus")
public typealias DebtStatus = PendingCallbackStatus

extension LectureManager {
    /// The former name of ``pendingCallbacks()``.
    ///
    /// - Returns: all of them.
    /// - Throws: ``LectureError`` when the store cannot be read.
    @available(*, deprecated, renamed: "pendingCallbacks()")
    public func debts() throws -> [PendingCallbackStatus] { try pendingCallbacks() }

    /// The former name of ``sendPendingCallbacks()``.
    ///
    /// - Throws: as ``sendPendingCallbacks()``.
    @available(*, deprecated, renamed: "sendPendingCallbacks()")
    public func payDebts() async throws { try await sendPendingCallbacks() }
}
