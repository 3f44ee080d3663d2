package import LectureModel

/// The states of one item while an engine works on it. No input or output, no clock: times come in as parameters.
///
///                 claimed                       sourceKnown           allCommitted
///     queued ───────────────▶ loading ─────────────────────▶ downloading ───────▶ verifying
///       ▲  │                     │                              │    ▲               │  │
///       │  └──── claimed (source known, bytes there) ───────────┼────┼───────────────┘  │ finalized
///       │                        │                              │    └─ restarted ───┘  ▼
///       └──── retryLater ────────┴──────────────────────────────┘                    completed
///
///     every working state ── stopped(reason) ──▶ stopped      (user, network, space, schedule, …)
///     every working state ── failed(error) ────▶ failed
///     every state ────────── removalBegan ─────▶ removing ──▶ (the row is deleted)
///     completed ──────────── damaged ──────────▶ queued       (a repair)
///
/// | event | function | legal in |
/// |---|---|---|
/// | the engine leased it | ``claimed(sourceKnown:)`` | queued |
/// | the source is known | ``sourceKnown()`` | loading, downloading |
/// | bytes became durable | ``gainedBytes()`` | every working state |
/// | every chunk is committed | ``allCommitted()`` | downloading, verifying |
/// | the bytes were wrong | ``restarted()`` | downloading, verifying, loading |
/// | it has its final name | ``finalized()`` | verifying |
/// | an attempt failed without progress | ``attemptFailed()`` | working states |
/// | the next attempt is postponed | ``retryLater(error:until:now:)`` | working states |
/// | it cannot go on for now | ``stopped(_:error:until:now:)`` | every state but removing |
/// | it cannot go on | ``failed(_:)`` | every state but removing |
/// | it is to be deleted | ``removalBegan()`` | every state |
/// | its work has ended, its target state may have changed | ``settled(wanting:)`` | queued, stopped, removing |
///
/// An event that is not legal comes late (after a stop, say): it changes nothing and returns ``Action/nothing``.
package struct ItemMachine: Sendable {
    /// What the owner of the machine has to do.
    package enum Action: Sendable, Hashable {
        /// Store the new status.
        case store
        /// End all work on the item, then store the new status and release the lease.
        case endWork
        /// The event came late.
        case nothing
    }

    /// The status as it is to be stored.
    package private(set) var status: ItemStatus

    /// Resumes an item from its stored status.
    ///
    /// - Parameter status: as stored.
    package init(_ status: ItemStatus) { self.status = status }

    private var isWorking: Bool {
        switch status.state {
        case .loading, .downloading, .verifying: true
        case .queued, .completed, .stopped, .failed, .removing: false
        }
    }

    /// The engine leased the item.
    ///
    /// - Parameter sourceKnown: whether its resources are known, so that loading is skipped.
    /// - Returns: what to do.
    package mutating func claimed(sourceKnown: Bool) -> Action {
        guard status.state == .queued else { return .nothing }
        status = ItemStatus(sourceKnown ? .downloading : .loading, attempts: status.attempts)
        return .store
    }

    /// The source is known.
    package mutating func sourceKnown() -> Action {
        switch status.state {
        case .loading:
            status = ItemStatus(.downloading, attempts: status.attempts)
            return .store
        case .downloading, .verifying, .queued, .completed, .stopped, .failed, .removing:
            return .nothing
        }
    }

    /// Bytes became durable: resets the count of attempts without progress.
    package mutating func gainedBytes() -> Action {
        guard isWorking, status.attempts != 0 else { return .nothing }
        status.attempts = 0
        return .store
    }

    /// Every chunk is committed.
    package mutating func allCommitted() -> Action {
        switch status.state {
        case .downloading, .loading:
            status = ItemStatus(.verifying, attempts: status.attempts)
            return .store
        case .verifying, .queued, .completed, .stopped, .failed, .removing:
            return .nothing
        }
    }

    /// The bytes were wrong; another version is fetched.
    package mutating func restarted() -> Action {
        guard isWorking else { return .nothing }
        status = ItemStatus(.downloading, attempts: status.attempts)
        return .store
    }

    /// It has its final name.
    package mutating func finalized() -> Action {
        guard status.state == .verifying else { return .nothing }
        status = ItemStatus(.completed)
        return .endWork
    }

    /// An attempt failed without progress; the work continues.
    package mutating func attemptFailed() -> Action {
        guard isWorking else { return .nothing }
        status.attempts += 1
        return .store
    }

    /// The work is postponed; ``attemptFailed()`` has counted the failed attempt.
    ///
    /// - Parameters:
    ///   - error: why it failed.
    ///   - until: when the next one is due.
    ///   - now: the wall clock.
    /// - Returns: what to do.
    package mutating func retryLater(error: LectureError, until: Timestamp, now: Timestamp) -> Action {
        guard isWorking else { return .nothing }
        status = ItemStatus(
            .queued, error: error, attempts: status.attempts, nextAttempt: until, waitSet: now)
        return .endWork
    }

    /// It cannot go on for now.
    ///
    /// - Parameters:
    ///   - reason: why.
    ///   - error: what went wrong, if something did.
    ///   - until: when to retry; nil waits for a person or a program.
    ///   - now: the wall clock.
    /// - Returns: what to do.
    package mutating func stopped(
        _ reason: StopReason, error: LectureError?, until: Timestamp?, now: Timestamp
    ) -> Action {
        switch status.state {
        case .queued, .loading, .downloading, .verifying, .failed, .stopped:
            status = ItemStatus(
                .stopped, stopReason: reason, error: error, attempts: status.attempts, nextAttempt: until,
                waitSet: until == nil ? nil : now)
            return .endWork
        case .completed, .removing:
            return .nothing
        }
    }

    /// It cannot go on.
    ///
    /// - Parameter error: why.
    /// - Returns: what to do.
    package mutating func failed(_ error: LectureError) -> Action {
        switch status.state {
        case .queued, .loading, .downloading, .verifying, .stopped:
            status = ItemStatus(.failed, error: error, attempts: status.attempts)
            return .endWork
        case .completed, .failed, .removing:
            return .nothing
        }
    }

    /// It returns to its position in the queue, for a clean stop of the engine.
    package mutating func setBack() -> Action {
        guard isWorking else { return .nothing }
        status = ItemStatus(.queued, error: status.error, attempts: status.attempts)
        return .endWork
    }

    /// All work has ended: the current target state decides the final state, since a target state that changed
    /// meanwhile found the item leased and left it unchanged.
    ///
    /// - Parameter targetState: the item's target state.
    package mutating func settled(wanting targetState: TargetState) {
        switch (targetState, status.state) {
        case (.fetch, .removing):
            status = ItemStatus(.queued)
        case (.fetch, .stopped) where status.stopReason == .user:
            status = ItemStatus(.queued, attempts: status.attempts)
        case (.pause, .queued), (.pause, .removing), (.cancel, .queued), (.cancel, .removing),
            (.pause, .stopped) where status.stopReason != .user,
            (.cancel, .stopped) where status.stopReason != .user:
            let error = targetState == .cancel ? LectureError(.cancelled) : nil
            status = ItemStatus(.stopped, stopReason: .user, error: error, attempts: status.attempts)
        case (.fetch, _), (.pause, _), (.cancel, _), (.remove, _):
            return
        }
    }

    /// It is to be deleted.
    package mutating func removalBegan() -> Action {
        guard status.state != .removing else { return .nothing }
        status = ItemStatus(.removing)
        return .endWork
    }
}
