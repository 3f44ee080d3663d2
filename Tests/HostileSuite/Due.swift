/// What a client owes its user when it has met a server.
package enum Due: String, Sendable, CaseIterable {
    /// The right bytes, and success.
    case rightBytes = "right"
    /// The right bytes or a refusal; never other bytes with success.
    case rightOrRefusal = "right or refused"
    /// There are no right bytes to be had: a refusal.
    case refusal = "refused"
    /// Any: without a digest nobody could know.
    case unknowable = "unknowable"

    /// Whether a verdict satisfies what is due.
    ///
    /// - Parameter verdict: how a client did.
    /// - Returns: true when it is good enough.
    package func accepts(_ verdict: Verdict) -> Bool {
        switch (self, verdict) {
        case (_, .hung), (_, .crashed), (_, .flooded): false
        case (.unknowable, _): true
        case (.rightBytes, .right): true
        case (.rightOrRefusal, .right), (.rightOrRefusal, .refused): true
        case (.refusal, .refused): true
        default: false
        }
    }
}

/// How a client did.
package enum Verdict: String, Sendable, CaseIterable {
    /// Success, and the right bytes under the final name.
    case right = "right"
    /// A failure was told, and nothing stands under the final name.
    case refused = "refused"
    /// A failure was told, and a part of the file stands under the final name.
    case half = "half"
    /// Success was told, and other bytes stand under the final name, or nothing.
    case corrupt = "CORRUPT"
    /// It did not end in the time it had.
    case hung = "hung"
    /// It was ended by a signal of its own.
    case crashed = "crashed"
    /// It wrote more than twice the lecture and 256 MiB, and was stopped.
    case flooded = "flooded"
}
