/// What counts as the play time of a play, where the licence limits it.
public enum PlayTimeCounting: Sendable, Hashable, CaseIterable {
    /// The bytes that are read, and what the application reports: whichever is more.
    case reading
    /// What the application reports. If it reports nothing, the bytes that were read.
    case reported
}
