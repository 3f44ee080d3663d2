/// A session queue, whose reports keep their order: one session of one learner for one target.
package struct SessionQueue: Hashable, Sendable {
    /// The target, by its number in the store.
    package let target: TargetID
    /// The learner.
    package let user: String
    /// The session, as named in the reports; usually its start time (`start_at`).
    package let session: String

    /// Creates a session queue.
    package init(target: TargetID, user: String, session: String) {
        (self.target, self.user, self.session) = (target, user, session)
    }
}

/// A row of the outbox as the plan sees it.
package struct PlanRow: Hashable, Sendable {
    /// The row.
    package var id: OutboxID
    /// Its session queue.
    package var queue: SessionQueue
    /// Its number in the session.
    package var sequence: Int64
    /// Its size on the wire in bytes.
    package var bytes: Int
    /// Its state. Only states that hold up the session matter.
    package var state: ReportState
    /// Whether it is in a batch that may have been accepted, so that it is sent with that batch only.
    package var isSealed: Bool
    /// Whether its wait is over.
    package var isDue: Bool
    /// Whether a newer one like it includes everything in it, and the channel allows leaving it out.
    package var isCumulative: Bool

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - queue: its session queue.
    ///   - sequence: its number in the session.
    ///   - bytes: its size on the wire.
    ///   - state: its state.
    ///   - isSealed: whether it is in a batch that may have been accepted.
    ///   - isDue: whether its wait is over.
    ///   - isCumulative: whether a newer one may make it unnecessary.
    package init(
        id: OutboxID, queue: SessionQueue, sequence: Int64, bytes: Int, state: ReportState = .pending,
        isSealed: Bool = false, isDue: Bool = true, isCumulative: Bool = false
    ) {
        (self.id, self.queue, self.sequence, self.bytes) = (id, queue, sequence, bytes)
        (self.state, self.isSealed, self.isDue, self.isCumulative) = (state, isSealed, isDue, isCumulative)
    }
}
