package import LectureModel

/// The states of one item while an engine works on it. No input or output, no clock: times come in as parameters.
///
///                 claimed                       sourceKnown            allProven
///     queued ───────────────▶ loading ─────────────────────▶ downloading ───────▶ verifying
///       ▲  │                     │                              │    ▲               │  │
///       │  └──── claimed (source known, bytes there) ───────────┼────┼───────────────┘  │ placed
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
/// | the source told what it is | ``sourceKnown()`` | loading, downloading |
/// | bytes became durable | ``gainedBytes()`` | every working state |
/// | every chunk is proven | ``allProven()`` | downloading, verifying |
/// | the bytes were not the right ones | ``restarted()`` | downloading, verifying, loading |
/// | it stands under its final name | ``placed()`` | verifying |
/// | an attempt failed without gaining a byte | ``attemptFailed()`` | working states |
/// | the next attempt is put off | ``retryLater(error:until:now:)`` | working states |
/// | it cannot go on for now | ``stopped(_:error:until:now:)`` | every state but removing |
/// | it cannot go on | ``failed(_:)`` | every state but removing |
/// | it is to be deleted | ``removalBegan()`` | every state |
/// | its work has ended, its wish may have changed | ``cameToRest(wanting:)`` | queued, stopped, removing |
///
/// An event that is not legal comes late (after a stop, say): it changes nothing and answers ``Action/nothing``.
package struct ItemMachine: Sendable {
    /// What the owner of the machine has to do.
    package enum Action: Sendable, Hashable {
        /// Store the new status.
        case store
        /// End all work on the item, then store the new status and give the lease back.
        case endWork
        /// The event came late.
        case nothing
    }

    /// The status as it is to be stored.
    package private(set) var status: ItemStatus

    /// Takes up an item where the store left it.
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
    /// - Parameter sourceKnown: whether its resources are known, so that loading is passed by.
    /// - Returns: what is to be done.
    package mutating func claimed(sourceKnown: Bool) -> Action {
        guard status.state == .queued else { return .nothing }
        status = ItemStatus(sourceKnown ? .downloading : .loading, attempts: status.attempts)
        return .store
    }

    /// The source told what it is.
    package mutating func sourceKnown() -> Action {
        switch status.state {
        case .loading:
            status = ItemStatus(.downloading, attempts: status.attempts)
            return .store
        case .downloading, .verifying, .queued, .completed, .stopped, .failed, .removing:
            return .nothing
        }
    }

    /// Bytes became durable: the count of attempts without progress begins anew.
    package mutating func gainedBytes() -> Action {
        guard isWorking, status.attempts != 0 else { return .nothing }
        status.attempts = 0
        return .store
    }

    /// Every chunk is proven.
    package mutating func allProven() -> Action {
        switch status.state {
        case .downloading, .loading:
            status = ItemStatus(.verifying, attempts: status.attempts)
            return .store
        case .verifying, .queued, .completed, .stopped, .failed, .removing:
            return .nothing
        }
    }

    /// The bytes were not the right ones; another version is fetched.
    package mutating func restarted() -> Action {
        guard isWorking else { return .nothing }
        status = ItemStatus(.downloading, attempts: status.attempts)
        return .store
    }

    /// It stands under its final name.
    package mutating func placed() -> Action {
        guard status.state == .verifying else { return .nothing }
        status = ItemStatus(.completed)
        return .endWork
    }

    /// An attempt failed without gaining a byte; the work goes on.
    package mutating func attemptFailed() -> Action {
        guard isWorking else { return .nothing }
        status.attempts += 1
        return .store
    }

    /// The work is put off; the attempt that failed was counted by ``attemptFailed()``.
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
    ///   - until: when to look again; nil waits for a person or a program.
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

    /// It goes back to its place in the queue, for a clean stop of the engine.
    package mutating func setBack() -> Action {
        guard isWorking else { return .nothing }
        status = ItemStatus(.queued, error: status.error, attempts: status.attempts)
        return .endWork
    }

    /// All work has ended: the wish as it is now decides where the item comes to rest, since a wish that changed
    /// meanwhile found the item still leased and left it alone.
    ///
    /// - Parameter desire: what is wanted of the item.
    package mutating func cameToRest(wanting desire: Desire) {
        switch (desire, status.state) {
        case (.fetch, .removing):
            status = ItemStatus(.queued)
        case (.fetch, .stopped) where status.stopReason == .user:
            status = ItemStatus(.queued, attempts: status.attempts)
        case (.pause, .queued), (.pause, .removing), (.cancel, .queued), (.cancel, .removing),
            (.pause, .stopped) where status.stopReason != .user,
            (.cancel, .stopped) where status.stopReason != .user:
            let error = desire == .cancel ? LectureError(.cancelled) : nil
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
