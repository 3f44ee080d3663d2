/// What a client owes its user when it has met a server.
package enum Due: String, Sendable, CaseIterable {
    /// The right bytes, and success.
    case rightBytes = "right"
    /// The right bytes or a refusal; never wrong bytes with success.
    case rightBytesOrRefusal = "right or refused"
    /// There are no right bytes to be had: a refusal that says why.
    case refusal = "refused"
}
