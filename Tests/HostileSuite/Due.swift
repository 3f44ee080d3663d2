/// What a client owes its user after it has met a server.
package enum Due: String, Sendable, CaseIterable {
    /// The right bytes, and success.
    case rightBytes = "right"
    /// The right bytes or a refusal; never other bytes with success.
    case rightOrRefusal = "right or refused"
    /// The right bytes are not available: a refusal.
    case refusal = "refused"
    /// Any: undecidable without a digest.
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
    /// A failure was reported, and no file has the final name.
    case refused = "refused"
    /// A failure was reported, and a part of the file has the final name.
    case half = "half"
    /// Success was reported, and the file under the final name is wrong or missing.
    case corrupt = "CORRUPT"
    /// It did not end within its time limit.
    case hung = "hung"
    /// It was ended by a signal of its own.
    case crashed = "crashed"
    /// It wrote more than twice the lecture and 256 MiB, and was stopped.
    case flooded = "flooded"
}
