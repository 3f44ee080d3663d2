/// What keeps its order: the reports of one session of one learner for one target.
package struct SessionLane: Hashable, Sendable {
    /// The target, by its number in the store.
    package let target: TargetID
    /// The learner.
    package let user: String
    /// The session, as the reports name it; usually when it began (`start_at`).
    package let session: String

    /// A lane.
    package init(target: TargetID, user: String, session: String) {
        (self.target, self.user, self.session) = (target, user, session)
    }
}

/// A row of the outbox as the plan sees it.
package struct PlanRow: Hashable, Sendable {
    /// The row.
    package var id: OutboxID
    /// What keeps its order.
    package var lane: SessionLane
    /// Its number in the session.
    package var sequence: Int64
    /// Its size on the wire in bytes.
    package var bytes: Int
    /// Where it is. Only what holds its session counts.
    package var state: ReportState
    /// Whether a batch that may have been accepted holds it, so that it goes out with that one and no other.
    package var isSealed: Bool
    /// Whether its wait is over.
    package var isDue: Bool
    /// Whether a newer one like it says all that it says, and the channel allows to leave it out.
    package var isCumulative: Bool

    /// A row.
    ///
    /// - Parameters:
    ///   - id: the row.
    ///   - lane: what keeps its order.
    ///   - sequence: its number in the session.
    ///   - bytes: its size on the wire.
    ///   - state: where it is.
    ///   - isSealed: whether a batch that may have been accepted holds it.
    ///   - isDue: whether its wait is over.
    ///   - isCumulative: whether a newer one may make it unnecessary.
    package init(
        id: OutboxID, lane: SessionLane, sequence: Int64, bytes: Int, state: ReportState = .pending,
        isSealed: Bool = false, isDue: Bool = true, isCumulative: Bool = false
    ) {
        (self.id, self.lane, self.sequence, self.bytes) = (id, lane, sequence, bytes)
        (self.state, self.isSealed, self.isDue, self.isCumulative) = (state, isSealed, isDue, isCumulative)
    }
}
