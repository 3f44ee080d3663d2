package import LectureModel

/// Asks licence servers, and keeps what they say: grants before downloads, checks before plays, batch renewals, debts.
///
/// Confined to one executor, the one on which the store's writer lives. Everything that comes from other threads comes
/// as a ``LicenceEvent`` through the ``LicenceInbox``. ``step()`` handles all waiting events and decides what is asked
/// next, in one transaction of the ledger; requests, anchors and notices follow only after its commit, so that what the
/// outside was told is never ahead of the disk. There is no `await`, no clock and no chance of its own.
///
/// What is stored when is written in docs/licences.md.
package final class LicenceEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// What is kept.
        package var ledger: any LicenceLedger
        /// The contents that the licences are for.
        package var contents: any LicensedContents
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// Checks the tokens of answers.
        package var verifier: any AnswerVerifier
        /// Keeps the newest row of the time ledger outside the store.
        package var anchors: any AnchorKeeper
        /// Both clocks.
        package var clock: any LectureClock
        /// Chance: jitter, and session keys, which must not be guessed.
        package var random: any RandomSource
        /// Runs what blocks on another thread, soon and in order.
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
    /// How to work.
    package internal(set) var settings: LicenceSettings
    /// Takes events from any thread.
    package let inbox: LicenceInbox
    /// This program's row, under which it claims work.
    package let owner: OwnerID
    /// How often servers are asked; shared by everything in this process.
    package internal(set) var pace: CallbackPace

    /// What a step changes, and what a step that fails has not changed.
    struct Work {
        /// What was asked for since the last step.
        var wishes: [Asked] = []
        var selections: [(selection: RenewalSelection, kind: RenewalKind)] = []
        var lanes: [Lane: [Asked]] = [:]
        var exchanges: [TransferID: CallbackExchange] = [:]
        var runs: [RenewalRunID: RunWork] = [:]
        /// Contents whose removal was ordered, with the server's sentence.
        var removals: [ContentKey: String?] = [:]
        /// Exchanges that wait for those.
        var held: [HeldExchange] = []
        /// When the last lecture that was ordered away went.
        var removedAt: BootInstant?
        /// Plays that a server has permitted, until when.
        var permits: [ContentKey: BootInstant] = [:]
        /// Debts of this owner that wait for a request or an answer.
        var heldDebts: [DebtID: LicenceDebt] = [:]
        /// When debts are looked for again; nil at once.
        var debtsAt: BootInstant?
        /// Claims of a step that failed: they stand in the store and nobody works on them.
        var orphans: [(run: RenewalRunID, key: ContentKey)] = []
        var orphanedDebts: [LicenceDebt] = []
        /// A download's transaction has stored licences; its row of the chain is not anchored.
        var mustAppend = false
    }

    var work = Work()
    /// What had become of the runs that ``stop()`` has ended.
    package private(set) var stoppedTallies: [RenewalRunID: RenewalTally] = [:]
    /// Servers that answer only the first item of a request.
    var singles: Set<Origin> = []
    /// How the last exchange with a server failed.
    var faults: [Origin: LectureError] = [:]
    /// Notices that wait for the next step.
    var told: [LicenceNotice] = []
    /// The newest anchor that is not kept yet, and whether one is being kept.
    var anchorDue: LedgerAnchor?
    var isAnchoring = false
    var anchorFailedAt: BootInstant?
    var effects: [() -> Void] = []
    var notices: [LicenceNotice] = []
    /// When the next step is due at the latest.
    var wake: BootInstant?
    var troubledUntil: BootInstant?
    var troubles = 0
    var isStopping = false
    var isAtRest = false
    /// Numbers of exchanges are those of the whole transport, which downloads use too: theirs begin at 1.
    var nextID: UInt64 = 1 << 62

    /// Makes an engine. Nothing moves before the first ``step()``, except ``open()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: how to work.
    ///   - owner: the row of this program's run.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: LicenceSettings, owner: OwnerID, inbox: LicenceInbox) {
        (self.ports, self.settings, self.owner, self.inbox) = (ports, settings, owner, inbox)
        pace = CallbackPace(limits: settings.pace)
    }

    // MARK: Entry points

    /// Asks whether a content may be downloaded (kind 1). The answer is one notice
    /// ``LicenceNotice/granted(_:)``.
    package func grant(_ content: ContentID, key: ContentKey) {
        work.wishes.append(Asked(key: key, purpose: .grant(content)))
        inbox.post(.poked)
    }

    /// Asks whether a content may be played now (kind 3). The answer is one notice
    /// ``LicenceNotice/checked(_:_:)``.
    ///
    /// - Parameters:
    ///   - key: the content.
    ///   - time: how long a person waits for it.
    package func check(_ key: ContentKey, within time: Duration) {
        work.wishes.append(Asked(key: key, purpose: .check(deadline: ports.clock.boot() + time)))
        inbox.post(.poked)
    }

    /// Renews a selection of licences, or goes on with a run of the same selection that was not ended.
    ///
    /// - Parameters:
    ///   - selection: which licences.
    ///   - kind: whether new bounds are asked for, or new grants for what is not believed.
    package func renew(_ selection: RenewalSelection, _ kind: RenewalKind = .renewal) {
        work.selections.append((selection, kind))
        pace.forgive()
        inbox.post(.poked)
    }

    /// A content is gone from the disk; tells of it when a server has ordered that.
    package func contentRemoved(_ key: ContentKey) {
        guard let message = work.removals.removeValue(forKey: key) else { return }
        told += releaseExchanges(without: key)
        told.append(.deleted(key, message: message))
        inbox.post(.poked)
    }

    /// Changes the bounds of the pace; holds for what begins from now on.
    package func configure(pace limits: CallbackPace.Limits) {
        pace.limits = limits
        inbox.post(.poked)
    }

    /// Changes how often a licence is asked for within a run before it has failed.
    package func configure(attempts: Int) { settings.attempts = max(1, attempts) }

    /// Changes what the application adds to every request; those that begin from now on carry it, also repeated ones.
    package func configure(extra text: String?) { settings.extra = text }

    /// Changes how long servers are waited for; holds for requests that begin from now on.
    ///
    /// - Parameters:
    ///   - stallTimeout: how long without a byte is too long.
    ///   - totalTimeout: how long an exchange may take.
    package func configure(stallTimeout: Duration, totalTimeout: Duration) {
        (settings.stallTimeout, settings.totalTimeout) = (stallTimeout, totalTimeout)
    }

    /// Looks for debts in the next step, whenever the next one would be due.
    package func lookForDebts() {
        work.debtsAt = nil
        inbox.post(.poked)
    }

    /// Ends all work: requests are cancelled, claims given back. The notice ``LicenceNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        (troubledUntil, troubles) = (nil, 0)
        inbox.post(.poked)
    }

    /// Whether anything is asked for, or waits to be.
    package var isBusy: Bool {
        !work.exchanges.isEmpty || !work.lanes.isEmpty || !work.runs.isEmpty || !work.wishes.isEmpty
            || !work.selections.isEmpty || isAnchoring
    }

    /// Handles what has come, decides what is asked next, commits, and lets the effects follow.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can bring
    ///   something new.
    package func step() -> (notices: [LicenceNotice], next: BootInstant?) {
        let boot = ports.clock.boot()
        if let until = troubledUntil, boot < until { return ([], until) }
        troubledUntil = nil
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
            troubles = 0
            work.mustAppend = false
            if let anchor { anchorDue = anchor }
        } catch {
            collapse(error as? LectureError ?? LectureError(.bug), to: before, losing: events, boot: boot)
        }
        let due = effects
        effects = []
        for effect in due { effect() }
        keepAnchor(boot: boot)
        defer { (notices, told) = ([], []) }
        return (told + notices, troubledUntil ?? wake)
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
            notices.append(.trouble(error))
        case .poked: break
        }
    }

    private func decide(_ turn: inout Turn) throws {
        if isStopping { return try windDown(&turn) }
        try enqueueWishes(&turn)
        for wish in work.selections { try beginRun(wish.selection, wish.kind, turn) }
        work.selections = []
        try fillRuns(turn)
        try fillDebts(&turn)
        try startRequests(&turn)
        tellOverdue(turn)
        // Items that failed without being asked for may have emptied a run.
        guard work.runs.values.contains(where: { $0.claimed.isEmpty }) else { return }
        try fillRuns(turn)
        if work.runs.values.contains(where: { !$0.claimed.isEmpty }) { wake(at: turn.boot) }
    }

    /// Gives everything back.
    private func windDown(_ turn: inout Turn) throws {
        for asked in work.wishes + work.lanes.values.flatMap(\.self) { try giveBack(asked, turn) }
        (work.wishes, work.selections, work.lanes) = ([], [], [:])
        if work.mustAppend { turn.mustAppend = true }
        let ids = work.exchanges.keys.sorted { $0.value < $1.value }
        effects.append { [ports] in for id in ids { ports.transport.cancel(id) } }
        let isAnchored = anchorFailedAt != nil || anchorDue == nil && !isAnchoring && !turn.mustAppend
        guard work.exchanges.isEmpty, isAnchored, !isAtRest else { return }
        stoppedTallies = work.runs.mapValues(\.tally)
        work.runs = [:]
        isAtRest = true
        // What was ordered away goes with the next program.
        notices += giveUpHeld()
        notices.append(.stopped)
    }

    // MARK: Transactions

    /// What holds for the length of one transaction.
    struct Turn {
        let now: Timestamp
        let boot: BootInstant
        let reading: ClockReading
        /// The time ledger as it goes on from its newest row.
        var time: TimeLedger
        /// Where the newest thing about the time came from.
        var source = TimeRow.Source.clocks
        /// Whether a licence was stored, or a time heard.
        var mustAppend = false
    }

    /// Runs `body` in a transaction that ends with a row of the chain where that is due.
    ///
    /// - Returns: the anchor that fits, when a row was appended.
    func writing(_ body: (inout Turn) throws -> Void) throws -> LedgerAnchor? {
        try ledger.transaction {
            var turn = try turn()
            try body(&turn)
            return turn.mustAppend ? try ledger.append(turn.time.row, source: turn.source) : nil
        }
    }

    func turn() throws -> Turn {
        let (now, boot) = (ports.clock.now(), ports.clock.boot())
        let reading = ClockReading(wall: now, boot: boot, bootID: settings.bootID)
        var time = try ledger.newestTime().map { TimeLedger($0) } ?? TimeLedger(first: reading)
        time.look(at: reading)
        return Turn(now: now, boot: boot, reading: reading, time: time)
    }

    /// Stores a licence; its row of the chain follows with the end of the transaction.
    func store(_ entry: LicenceEntry, _ turn: inout Turn) throws {
        try ledger.store(entry)
        turn.mustAppend = true
    }

    // MARK: Failed transactions

    /// The store could not be written (a full disk, say). A failed commit is handled like a crash: memory goes back to
    /// what was true before the step, requests are given up, and what was claimed is given back later. Who waits for a
    /// grant or a check is told.
    private func collapse(_ error: LectureError, to before: Work, losing events: [LicenceEvent], boot: BootInstant) {
        let ids = Set(work.exchanges.keys).union(before.exchanges.keys).sorted { $0.value < $1.value }
        effects = [{ [ports] in for id in ids { ports.transport.cancel(id) } }]
        notices = [.trouble(error)]
        if events.contains(where: { if case .anchored = $0 { true } else { false } }) { isAnchoring = false }
        work = before
        for asked in work.wishes + work.lanes.values.flatMap(\.self) + work.exchanges.values.flatMap(\.items) {
            switch asked.purpose {
            case .check: notices.append(.checked(asked.key, .unreachable(error)))
            case .grant(let content):
                notices.append(.granted(GrantOutcome(content: content, key: asked.key, error: error)))
            case .renewal, .regrant, .debt: break
            }
        }
        // Only what was claimed before the step: what it claimed itself was rolled back and may be another's by now.
        for run in work.runs.keys {
            work.orphans += (work.runs[run]?.claimed ?? []).map { (run, $0) }
            work.runs[run]?.claimed = []
            work.runs[run]?.claimAt = nil
        }
        work.orphanedDebts += work.heldDebts.values
        (work.heldDebts, work.debtsAt) = ([:], nil)
        (work.wishes, work.lanes, work.exchanges) = ([], [:], [:])
        pace.forget()
        troubles += 1
        troubledUntil = boot + .seconds(min(60, 1 << min(troubles, 6)))
        // A store that will not be written any more is left to the next program, which finds it as after a crash.
        guard isStopping, troubles >= 3, !isAtRest else { return }
        isAtRest = true
        notices += giveUpHeld()
        notices.append(.stopped)
    }

    private func giveBackOrphans(_ turn: Turn) throws {
        for (run, key) in work.orphans { try ledger.releaseRenewal(run, key) }
        for debt in work.orphanedDebts {
            try ledger.postponeDebt(
                debt.id, attempts: debt.attempts, until: turn.now, now: turn.now,
                error: debt.error ?? LectureError(.interrupted))
        }
        (work.orphans, work.orphanedDebts) = ([], [])
    }

    // MARK: Small things

    /// The next step is due at this moment at the latest.
    func wake(at moment: BootInstant) { wake = min(wake ?? moment, moment) }

    /// A moment of the wall clock on the boot clock.
    func boot(of moment: Timestamp, _ turn: Turn) -> BootInstant {
        turn.boot + min(max(.zero, moment - turn.now), RetryAfter.maximum)
    }
}
