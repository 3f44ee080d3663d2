package import LectureEngine
import LectureFormats
package import LectureModel

/// Sends requests to licence servers and stores their answers: grants before downloads, checks before plays, batch
/// renewals and pending completion callbacks.
///
/// docs/licences.md describes what is stored when. An item on its way:
///
///     asked ─► queue ─► exchange ─► answered ─► done
///               ▲          │
///               └─ again ──┘  failed: a renewal or a callback is asked again later, a grant or a check is not
package struct LicenceMachine: StateMachine {
    /// Replies, and requests of the application.
    package typealias Event = LicenceEvent
    /// Requests to licence servers, and anchors.
    package typealias Effect = LicenceEffect
    /// Results.
    package typealias Notice = LicenceNotice
    /// What is needed besides the rows.
    package typealias Environment = LicenceEnvironment
    /// The stored licences.
    package typealias Store = LicenceStore
    /// The time, and what is added to the chain.
    package typealias Context = LicenceTransaction

    private(set) var settings: LicenceSettings
    /// This program's row, under which it claims work.
    let owner: OwnerID
    /// The pace of requests to all servers.
    var pacer: TrafficPacer
    /// The error of the last exchange with a server.
    var faults: [Origin: LectureError] = [:]
    /// Items whose request waits.
    var queues = RequestQueues()
    /// Requests that are running.
    var exchanges: [TransferID: CallbackExchange] = [:]
    /// Renewals of this process.
    var runs = RenewalRuns()
    /// Pending callbacks that this process has claimed.
    var callbacks = CallbackClaims()
    /// What servers have ordered to be removed.
    var removals = OrderedRemovals()
    private var anchors = AnchorQueue()

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    package init(_ settings: LicenceSettings, owner: OwnerID) {
        (self.settings, self.owner) = (settings, owner)
        pacer = TrafficPacer(settings.pace)
    }

    /// Whether any request is running or waiting.
    var isBusy: Bool { !exchanges.isEmpty || !queues.isEmpty || runs.isBusy || anchors.isBusy }

    // MARK: Machine

    /// The requests that run.
    package var traffic: OriginBudgets { pacer.budgets }

    /// Never: a callback or a licence of another process may be due.
    package var isIdle: Bool { false }

    /// The rows of licences.
    package static func store(
        _ environment: LicenceEnvironment, in transaction: any StoreTransaction
    ) throws -> LicenceStore { try LicenceStore(environment, transaction) }

    /// Reads the time.
    package static func begin(
        _ store: LicenceStore, now: Timestamp, boot: BootInstant
    ) throws -> LicenceTransaction {
        try LicenceTransaction(store, newest: store.ledger.newestTime(), now: now, boot: boot)
    }

    /// Applies a reply, or accepts a request of the application.
    package mutating func handle(_ event: LicenceEvent, _ step: inout Step<Self>) throws {
        switch event {
        case .answered(let id, let reply):
            guard let exchange = exchanges.removeValue(forKey: id) else { return }
            try answered(exchange, reply, &step)
        case .witnessed(let date, let boot): step.context.witnessed(date, at: boot)
        case .licencesChanged: step.context.mustAppend = true
        case .grant, .check: if let asked = event.asked { try ask(asked, &step) }
        case .anchored, .rowAppended, .suspected, .renew, .removed, .callbacksAdded, .change:
            step.notices += accept(event, at: step.boot)
        }
    }

    /// Starts what may be requested now, ends renewals that have nothing left to do, and adds a row to the chain where
    /// something was changed.
    package mutating func reconcile(_ step: inout Step<Self>) throws {
        try runs.releaseAbandoned(step)
        try callbacks.releaseAbandoned(step)
        if step.isStopping {
            try windDown(&step)
        } else {
            try decide(&step)
        }
        if let anchor = try step.context.end(step.random) { anchors.add(anchor) }
        let anchor = anchors.take(at: step.boot) { step.wake(at: $0) }
        if let anchor { step.effects.append(.keepAnchor(anchor)) }
        guard step.isStopping, exchanges.isEmpty, anchors.isSettled else { return }
        step.notices += abandon()
        step.finish()
    }

    /// Requests are cancelled, and claims released later. Checks and grants are reported as failed, since someone waits
    /// for them; renewals continue.
    package mutating func recover(
        losing events: [LicenceEvent], after error: LectureError, at boot: BootInstant
    ) -> (effects: [LicenceEffect], notices: [LicenceNotice]) {
        let cancelling = ExchangeEffect.cancelling(exchanges.keys)
        var waiting: [Asked] = []
        let lost = events.compactMap(\.asked)
        for asked in queues.items + exchanges.values.flatMap(\.items) + lost {
            // Two equal requests get one answer.
            if asked.isAwaited, !waiting.contains(where: { $0.isSame(asked) }) { waiting.append(asked) }
        }
        let notices = waiting.compactMap { $0.failure(error) } + events.flatMap { accept($0, at: boot) }
        runs.abandonClaims()
        callbacks.abandon()
        queues.removeAll()
        exchanges = [:]
        pacer.forgetRunning()
        return (cancelling.map { [.exchange($0)] } ?? [], notices)
    }

    /// Reports what was held back; the next program continues the renewals and completes the ordered removals.
    package mutating func abandon() -> [LicenceNotice] {
        runs.stop() + removals.release().map(LicenceNotice.event)
    }

    // MARK: Parts

    private mutating func apply(_ change: LicenceSettingsChange) {
        switch change {
        case .pace(let rules): pacer.rules = rules
        case .attempts(let attempts): settings.attempts = max(1, attempts)
        case .extra(let text): settings.extra = text
        case .timeouts(let stall, let total): (settings.stallTimeout, settings.totalTimeout) = (stall, total)
        }
    }

    /// Applies what needs no row.
    private mutating func accept(_ event: LicenceEvent, at boot: BootInstant) -> [LicenceNotice] {
        switch event {
        case .answered, .witnessed, .licencesChanged, .grant, .check: break
        case .anchored(let error):
            anchors.stored(error, at: boot)
            if let error { return [.event(.trouble(error))] }
        case .rowAppended(let anchor): anchors.add(anchor)
        case .suspected(let doubt): return [.event(.trouble(LectureError(doubt.code)))]
        case .renew(let selection, let kind):
            runs.request(selection, kind)
            pacer.resetBreakers()
        case .removed(let key): return removals.removed(key, at: boot).map(LicenceNotice.event)
        case .callbacksAdded: callbacks.lookUpAt = nil
        case .change(let change): apply(change)
        }
        return []
    }

    private mutating func decide(_ step: inout Step<Self>) throws {
        try runs.begin(&step)
        try runs.fill(&queues, owner: owner, settings, &step)
        try fillCallbacks(&step)
        try startRequests(&step)
        reportOverdue(&step)
        // Items that failed without a request may have emptied a run.
        guard runs.hasIdleRun else { return }
        try runs.fill(&queues, owner: owner, settings, &step)
        if runs.hasClaims { step.wake(at: step.boot) }
    }

    /// Releases everything.
    private mutating func windDown(_ step: inout Step<Self>) throws {
        for asked in queues.items { try giveBack(asked, &step) }
        runs.cancelRequests()
        queues.removeAll()
        if let cancelling = ExchangeEffect.cancelling(exchanges.keys) { step.effects.append(.exchange(cancelling)) }
    }

    /// Reports exchanges whose removals take too long.
    private mutating func reportOverdue(_ step: inout Step<Self>) {
        guard let moment = removals.overdue(settings.removalPatience) else { return }
        guard moment <= step.boot else { return step.wake(at: moment) }
        let delays = removals.waiting.map { LectureEvent.trouble(LectureError(.removalWaits, detail: $0.text)) }
        step.notices += (delays + removals.release()).map(LicenceNotice.event)
    }
}

extension Step<LicenceMachine> {
    /// A moment of the wall clock on the boot clock.
    func boot(of moment: Timestamp) -> BootInstant { boot + min(max(.zero, moment - now), RetryAfter.maximum) }
}

extension ClockDoubt {
    /// The error that applications get.
    fileprivate var code: LectureError.Code {
        switch self {
        case .storeRolledBack: .storeRolledBack
        case .storeCopied: .storeCopied
        case .ledgerForged: .ledgerForged
        case .setBack, .forwardThenBack, .neverSet: .clockUntrusted
        }
    }
}
