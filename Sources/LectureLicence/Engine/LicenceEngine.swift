package import LectureEngine
package import LectureModel

/// Sends requests to licence servers and stores their answers: grants before downloads, checks before plays, batch
/// renewals and pending completion callbacks.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send a ``LicenceEvent`` through
/// the ``inbox``. ``step()`` handles all waiting events and decides what to request next, in one transaction of
/// the ledger; requests, anchors and notices follow only after its commit, so that notices are never ahead of the disk.
/// There is no `await`, no clock and no randomness of its own.
///
/// docs/licences.md describes what is stored when.
package final class LicenceEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// The stored licences.
        package var ledger: any LicenceLedger
        /// The lectures that the licences are for.
        package var contents: any LicensedContents
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// The numbers of exchanges on that transport.
        package var numbers = TransferNumbers()
        /// Checks the tokens of answers.
        package var verifier: any AnswerVerifier
        /// Stores the newest row of the time ledger outside the store.
        package var anchors: any AnchorKeeper
        /// Both clocks.
        package var clock: any LectureClock
        /// Randomness: jitter, and session keys, which must not be guessable.
        package var random: any RandomSource
        /// Runs blocking work on another thread, soon and in order.
        package var offload: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// Collects the ports.
        package init(
            ledger: any LicenceLedger, contents: any LicensedContents, transport: any Transport,
            verifier: any AnswerVerifier, anchors: any AnchorKeeper, clock: any LectureClock,
            random: any RandomSource, offload: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
        ) {
            (self.ledger, self.contents, self.transport) = (ledger, contents, transport)
            (self.verifier, self.anchors, self.clock) = (verifier, anchors, clock)
            (self.random, self.offload) = (random, offload)
        }
    }

    let ports: Ports
    var ledger: any LicenceLedger { ports.ledger }
    /// The engine's settings.
    package internal(set) var settings: LicenceSettings
    /// Takes events from any thread.
    package let inbox: Inbox<LicenceEvent>
    /// This program's row, under which it claims work.
    package let owner: OwnerID
    /// The pace of requests; shared by everything in this process.
    package internal(set) var pace: CallbackPace

    /// The state that a step changes; a failed step restores it.
    struct Work {
        /// What was requested since the last step.
        var requests: [Asked] = []
        var selections: [(selection: RenewalSelection, kind: RenewalKind)] = []
        var queues: [BatchQueue: [Asked]] = [:]
        var exchanges: [TransferID: CallbackExchange] = [:]
        var runs: [RenewalRunID: RunWork] = [:]
        /// Lectures whose removal was ordered, with the server's message.
        var removals: [ContentKey: String?] = [:]
        /// Exchanges whose notice waits for these removals.
        var held: [HeldExchange] = []
        /// When the last of these lectures was removed.
        var removedAt: BootInstant?
        /// Plays that a server has permitted, and until when.
        var permits: [ContentKey: BootInstant] = [:]
        /// Pending callbacks of this owner that wait for a request or an answer.
        var heldCallbacks: [PendingCallbackID: PendingCallback] = [:]
        /// When pending callbacks are looked up again; nil at once.
        var callbacksAt: BootInstant?
        /// Claims of a failed step: they are in the store, but no work is being done on them.
        var orphans: [(run: RenewalRunID, key: ContentKey)] = []
        var orphanedCallbacks: [PendingCallback] = []
        /// A download's transaction has stored licences; its row of the chain is not anchored yet.
        var mustAppend = false
    }

    var work = Work()
    /// The tallies of the runs that ``stop()`` has ended.
    package private(set) var stoppedTallies: [RenewalRunID: RenewalTally] = [:]
    /// Servers that answer only the first item of a request.
    var singles: Set<Origin> = []
    /// The error of the last exchange with a server.
    var faults: [Origin: LectureError] = [:]
    /// Notices that wait for the next step.
    var reported: [LicenceNotice] = []
    /// The newest anchor that is not stored yet, and whether one is being stored.
    var anchorDue: LedgerAnchor?
    var isAnchoring = false
    var anchorFailedAt: BootInstant?
    var effects: [LicenceEffect] = []
    var notices: [LicenceNotice] = []
    /// When the next step is due at the latest.
    var wake: BootInstant?
    var failedUntil: BootInstant?
    var failedSteps = 0
    var isStopping = false
    var isStopped = false

    /// Makes an engine. Nothing happens before the first ``step()``, except ``open()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: LicenceSettings, owner: OwnerID, inbox: Inbox<LicenceEvent>) {
        (self.ports, self.settings, self.owner, self.inbox) = (ports, settings, owner, inbox)
        pace = CallbackPace(limits: settings.pace)
    }

    // MARK: Entry points

    /// Asks whether a lecture may be downloaded (kind 1). The answer is one notice ``LicenceNotice/granted(_:)``.
    package func grant(_ content: ContentID, key: ContentKey) {
        work.requests.append(Asked(key: key, purpose: .grant(content)))
        inbox.post(.poked)
    }

    /// Asks whether a lecture may be played now (kind 3). The answer is one notice ``LicenceNotice/checked(_:_:)``.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - time: how long a person waits for it.
    package func check(_ key: ContentKey, within time: Duration) {
        work.requests.append(Asked(key: key, purpose: .check(deadline: ports.clock.boot() + time)))
        inbox.post(.poked)
    }

    /// Renews a selection of licences, or continues an unfinished run of the same selection.
    ///
    /// - Parameters:
    ///   - selection: which licences.
    ///   - kind: whether new bounds are requested, or new grants for untrusted licences.
    package func renew(_ selection: RenewalSelection, _ kind: RenewalKind = .renewal) {
        work.selections.append((selection, kind))
        pace.resetBreakers()
        inbox.post(.poked)
    }

    /// A lecture was removed from the disk; reports it when a server has ordered that.
    package func contentRemoved(_ key: ContentKey) {
        guard let message = work.removals.removeValue(forKey: key) else { return }
        reported += releaseExchanges(without: key)
        reported.append(.deleted(key, message: message))
        inbox.post(.poked)
    }

    /// Changes the bounds of the pace; they apply to requests that start from now on.
    package func configure(pace limits: CallbackPace.Limits) {
        pace.limits = limits
        inbox.post(.poked)
    }

    /// Changes how often a licence is requested within a run before it fails.
    package func configure(attempts: Int) { settings.attempts = max(1, attempts) }

    /// Changes what the application adds to every request; it applies to requests that start from now on, including
    /// repeated ones.
    package func configure(extra text: String?) { settings.extra = text }

    /// Changes the time limits of exchanges; they apply to requests that start from now on.
    ///
    /// - Parameters:
    ///   - stallTimeout: how long an exchange may go without a byte.
    ///   - totalTimeout: how long an exchange may take.
    package func configure(stallTimeout: Duration, totalTimeout: Duration) {
        (settings.stallTimeout, settings.totalTimeout) = (stallTimeout, totalTimeout)
    }

    /// Looks up pending callbacks in the next step, whenever the next one would be due.
    package func checkPendingCallbacks() {
        work.callbacksAt = nil
        inbox.post(.poked)
    }

    /// Ends all work: requests are cancelled, claims released. The notice ``LicenceNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        (failedUntil, failedSteps) = (nil, 0)
        inbox.post(.poked)
    }

    /// Whether any request is running or waiting.
    package var isBusy: Bool {
        !work.exchanges.isEmpty || !work.queues.isEmpty || !work.runs.isEmpty || !work.requests.isEmpty
            || !work.selections.isEmpty || isAnchoring
    }

    /// Handles waiting events, decides what to request next, commits, and then performs the effects.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can change
    ///   something.
    package func step() -> (notices: [LicenceNotice], next: BootInstant?) {
        let step = commit()
        for effect in step.effects { effect.perform(for: self) }
        return (step.notices, step.next)
    }

    /// ``step()`` without the effects, which are returned. Those of a failed commit are dropped; all requests are
    /// cancelled instead.
    package func commit() -> CommittedStep<LicenceEffect, LicenceNotice> {
        let boot = ports.clock.boot()
        if let until = failedUntil, boot < until { return CommittedStep(next: until) }
        failedUntil = nil
        wake = nil
        let events = inbox.take()
        let before = work
        do {
            let anchor = try writing { turn in
                try giveBackOrphans(turn)
                for event in events { try handle(event, &turn) }
                try decide(&turn)
                if work.mustAppend { turn.mustAppend = true }
            }
            failedSteps = 0
            work.mustAppend = false
            if let anchor { anchorDue = anchor }
        } catch {
            collapse(error as? LectureError ?? LectureError(.bug), to: before, losing: events, boot: boot)
        }
        if let anchor = takeAnchor(boot: boot) { effects.append(.keepAnchor(anchor)) }
        defer { (effects, notices, reported) = ([], [], []) }
        return CommittedStep(effects: effects, notices: reported + notices, next: failedUntil ?? wake)
    }

    private func handle(_ event: LicenceEvent, _ turn: inout Turn) throws {
        switch event {
        case .answered(let id, let reply):
            guard let exchange = work.exchanges.removeValue(forKey: id) else { return }
            try answered(exchange, reply, &turn)
        case .anchored(let error):
            isAnchoring = false
            guard let error else { return }
            anchorFailedAt = turn.boot
            notices.append(.failure(error))
        case .witnessed(let date, let boot): witnessed(date, at: boot, &turn)
        case .poked: break
        }
    }

    private func decide(_ turn: inout Turn) throws {
        if isStopping { return try windDown(&turn) }
        try enqueueRequests(&turn)
        for request in work.selections { try beginRun(request.selection, request.kind, turn) }
        work.selections = []
        try fillRuns(turn)
        try fillCallbacks(&turn)
        try startRequests(&turn)
        reportOverdue(turn)
        // Items that failed without a request may have emptied a run.
        guard work.runs.values.contains(where: { $0.claimed.isEmpty }) else { return }
        try fillRuns(turn)
        if work.runs.values.contains(where: { !$0.claimed.isEmpty }) { wake(at: turn.boot) }
    }

    /// Releases everything.
    private func windDown(_ turn: inout Turn) throws {
        for asked in work.requests + work.queues.values.flatMap(\.self) { try giveBack(asked, turn) }
        (work.requests, work.selections, work.queues) = ([], [], [:])
        if work.mustAppend { turn.mustAppend = true }
        let ids = work.exchanges.keys.sorted { $0.value < $1.value }
        if !ids.isEmpty { effects.append(.exchange(.cancel(ids))) }
        let isAnchored = anchorFailedAt != nil || anchorDue == nil && !isAnchoring && !turn.mustAppend
        guard work.exchanges.isEmpty, isAnchored, !isStopped else { return }
        stoppedTallies = work.runs.mapValues(\.tally)
        work.runs = [:]
        isStopped = true
        // The next program completes the ordered removals.
        notices += abandonHeld()
        notices.append(.stopped)
    }

    // MARK: Transactions

    /// Values that are constant within one transaction, and its changes.
    struct Turn {
        let now: Timestamp
        let boot: BootInstant
        let reading: ClockReading
        /// The time ledger, continued from its newest row.
        var time: TimeLedger
        /// Whether the ledger has no row yet.
        var isFirst = false
        /// Where the newest information about the time came from.
        var source = TimeRow.Source.clocks
        /// Whether a licence was stored or a time observed.
        var mustAppend = false
    }

    /// Runs `body` in a transaction that ends with a row of the chain if one is due.
    ///
    /// - Returns: the matching anchor, when a row was appended.
    func writing(_ body: (inout Turn) throws -> Void) throws -> LedgerAnchor? {
        try ledger.transaction {
            var turn = try turn()
            try body(&turn)
            return turn.mustAppend ? try append(turn) : nil
        }
    }

    /// Appends a row to the chain. Before the first one the store gets its first anchor: without it, a copy of the
    /// store from before the first anchor could be put back.
    func append(_ turn: Turn) throws -> LedgerAnchor {
        guard turn.isFirst else { return try ledger.append(turn.time.row, source: turn.source) }
        let first = LedgerAnchor.beforeFirst((0..<4).flatMap { _ in ports.random.next().bigEndianBytes })
        try ports.anchors.keep(first, of: settings.store)
        return try ledger.append(turn.time.row, source: turn.source, after: first)
    }

    func turn() throws -> Turn {
        // Before the clocks: the boot clock is never behind that of a row written by another process.
        let newest = try ledger.newestTime()
        let (now, boot) = (ports.clock.now(), ports.clock.boot())
        let reading = ClockReading(wall: now, boot: boot, bootID: settings.bootID)
        guard let newest else {
            let times = try ports.anchors.newestTimes()
            let time = TimeLedger(first: reading, noEarlierThan: times)
            return Turn(now: now, boot: boot, reading: reading, time: time, isFirst: true)
        }
        var time = TimeLedger(newest)
        time.update(at: reading)
        return Turn(now: now, boot: boot, reading: reading, time: time)
    }

    /// Stores a licence; its row of the chain follows with the end of the transaction.
    func store(_ entry: LicenceEntry, _ turn: inout Turn) throws {
        try ledger.store(entry)
        turn.mustAppend = true
    }

    // MARK: Failed transactions

    /// The store could not be written (a full disk, say). A failed commit is handled like a crash: memory returns to
    /// the state before the step, requests are cancelled, and claims are released later. Pending grants and checks are
    /// reported as failed.
    private func collapse(_ error: LectureError, to before: Work, losing events: [LicenceEvent], boot: BootInstant) {
        let ids = Set(work.exchanges.keys).union(before.exchanges.keys).sorted { $0.value < $1.value }
        effects = ids.isEmpty ? [] : [.exchange(.cancel(ids))]
        notices = [.failure(error)]
        if events.contains(where: { if case .anchored = $0 { true } else { false } }) { isAnchoring = false }
        work = before
        for asked in work.requests + work.queues.values.flatMap(\.self) + work.exchanges.values.flatMap(\.items) {
            switch asked.purpose {
            case .check: notices.append(.checked(asked.key, .unreachable(error)))
            case .grant(let content):
                notices.append(.granted(GrantOutcome(content: content, key: asked.key, error: error)))
            case .renewal, .regrant, .pendingCallback: break
            }
        }
        // Only claims from before the step: its own were rolled back and may be another process's by now.
        for run in work.runs.keys {
            work.orphans += (work.runs[run]?.claimed ?? []).map { (run, $0) }
            work.runs[run]?.claimed = []
            work.runs[run]?.claimAt = nil
        }
        work.orphanedCallbacks += work.heldCallbacks.values
        (work.heldCallbacks, work.callbacksAt) = ([:], nil)
        (work.requests, work.queues, work.exchanges) = ([], [:], [:])
        pace.forget()
        failedSteps += 1
        failedUntil = boot + .seconds(min(60, 1 << min(failedSteps, 6)))
        // A store that can no longer be written is left to the next program, which recovers it as after a crash.
        guard isStopping, failedSteps >= 3, !isStopped else { return }
        isStopped = true
        notices += abandonHeld()
        notices.append(.stopped)
    }

    private func giveBackOrphans(_ turn: Turn) throws {
        for (run, key) in work.orphans { try ledger.releaseRenewal(run, key) }
        for callback in work.orphanedCallbacks {
            try ledger.postponeCallback(
                callback.id, attempts: callback.attempts, until: turn.now, now: turn.now,
                error: callback.error ?? LectureError(.interrupted))
        }
        (work.orphans, work.orphanedCallbacks) = ([], [])
    }

    // MARK: Helpers

    /// The next step is due at this moment at the latest.
    func wake(at moment: BootInstant) { wake = min(wake ?? moment, moment) }

    /// A moment of the wall clock on the boot clock.
    func boot(of moment: Timestamp, _ turn: Turn) -> BootInstant {
        turn.boot + min(max(.zero, moment - turn.now), RetryAfter.maximum)
    }
}
