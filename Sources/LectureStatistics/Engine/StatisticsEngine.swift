package import LectureModel

/// Sends stored reports to their targets, and stores the results.
///
/// Confined to one executor, the one on which the store's writer lives. Other threads send a ``StatisticsEvent``
/// through the ``StatisticsInbox``. ``step()`` handles all waiting events and decides what to send next, in one
/// transaction of the outbox; requests and notices follow only after its commit, so that no byte is sent that is not
/// stored under its id, and nothing is reported that a crash could undo. There is no `await`, no clock and no
/// randomness of its own.
///
/// docs/statistics.md describes what is stored when.
package final class StatisticsEngine {
    /// Everything outside the rules.
    package struct Ports {
        /// The stored reports and requests.
        package var outbox: any StatisticsOutbox
        /// Carries out HTTP exchanges.
        package var transport: any Transport
        /// Both clocks.
        package var clock: any LectureClock
        /// Randomness for jitter.
        package var random: any RandomSource
        /// A fresh UUIDv7 for a request.
        package var newID: @Sendable () -> String
        /// Encodes bodies; nil when nothing is ever encoded.
        package var compress: (@Sendable (_ encoding: String, _ bytes: [UInt8]) throws -> [UInt8])?
        /// SHA-256, for the names in xAPI.
        package var hash: @Sendable ([UInt8]) -> [UInt8]
        /// Whether there are listeners to ``StatisticsNotice/exchange(_:)``. Otherwise nothing is kept for it.
        package var wantsExchanges: @Sendable () -> Bool = { false }

        /// Collects the ports.
        package init(
            outbox: any StatisticsOutbox, transport: any Transport, clock: any LectureClock,
            random: any RandomSource, newID: @escaping @Sendable () -> String,
            compress: (@Sendable (_ encoding: String, _ bytes: [UInt8]) throws -> [UInt8])?,
            hash: @escaping @Sendable ([UInt8]) -> [UInt8]
        ) {
            (self.outbox, self.transport, self.clock, self.random) = (outbox, transport, clock, random)
            (self.newID, self.compress, self.hash) = (newID, compress, hash)
        }
    }

    let ports: Ports
    var outbox: any StatisticsOutbox { ports.outbox }
    private(set) var settings: StatisticsSettings
    /// This program's row, under which it claims work.
    let owner: OwnerID
    /// Takes events from any thread.
    package let inbox: StatisticsInbox
    let statement: XAPIStatement

    /// The state that a step changes; a failed step restores it.
    struct Work {
        /// What was requested since the last step.
        var requests: [SendOrder] = []
        var orders: [OrderWork] = []
        var targets: [TargetID: TargetWork] = [:]
        var inFlightBatches: [InFlightBatchID: InFlightBatchWork] = [:]
        /// Requests that this engine has claimed and that no order tries any more; without their bytes.
        var aside: [InFlightBatchID: TargetID] = [:]
        var exchanges: [TransferID: InFlightBatchID] = [:]
        /// Requests of a failed step: they are in the store, but no work is being done on them.
        var orphans: Set<InFlightBatchID> = []
        /// The time at which the boot clock was 0, as last stored, and whether this order stored it.
        var epoch: Timestamp?
        var isEpochReported = false

        var isIdle: Bool {
            requests.isEmpty && orders.isEmpty && inFlightBatches.isEmpty && aside.isEmpty && orphans.isEmpty
        }
    }

    var work = Work()
    var effects: [TransferEffect] = []
    var notices: [StatisticsNotice] = []
    /// When the next step is due at the latest.
    var wake: BootInstant?
    private var failedUntil: BootInstant?
    private var failedSteps = 0
    private(set) var isStopping = false
    private var isStopped = false
    /// Exchange numbers are shared with the whole transport: downloads start at 1, licences at 2^62.
    private var nextID: UInt64 = 1 << 62 | 1 << 61

    /// Makes an engine. Nothing happens before the first ``step()``.
    ///
    /// - Parameters:
    ///   - ports: everything outside the rules.
    ///   - settings: the initial settings.
    ///   - owner: the row of this program's run.
    ///   - inbox: takes events from any thread.
    package init(ports: Ports, settings: StatisticsSettings, owner: OwnerID, inbox: StatisticsInbox) {
        (self.ports, self.settings, self.owner, self.inbox) = (ports, settings, owner, inbox)
        statement = XAPIStatement(
            homePage: settings.homePage, activityPrefix: settings.activityPrefix, hash: ports.hash)
    }

    // MARK: Entry points

    /// Sends everything that is due; the notice ``StatisticsNotice/ended(order:_:)`` follows. An order that arrives
    /// while another works joins it.
    package func send(_ order: SendOrder) {
        work.requests.append(order)
        inbox.post(.poked)
    }

    /// Changes the time limits of exchanges; they apply to requests that start from now on.
    ///
    /// - Parameters:
    ///   - stallTimeout: how long an exchange may go without a byte.
    ///   - totalTimeout: how long an exchange may take.
    package func configure(stallTimeout: Duration, totalTimeout: Duration) {
        (settings.stallTimeout, settings.totalTimeout) = (stallTimeout, totalTimeout)
    }

    /// Ends all work: requests are cancelled and released, orders end where they are. The notice
    /// ``StatisticsNotice/stopped`` follows.
    package func stop() {
        isStopping = true
        (failedUntil, failedSteps) = (nil, 0)
        inbox.post(.poked)
    }

    /// Whether an order works, or waits to.
    package var isBusy: Bool { !work.isIdle }

    /// Handles waiting events, decides what to send next, commits, and then performs the effects.
    ///
    /// - Returns: what became true, and when the next step is due at the latest; nil when only an event can change
    ///   something.
    package func step() -> (notices: [StatisticsNotice], next: BootInstant?) { commit().perform(on: ports.transport) }

    /// ``step()`` without its effects; those of a failed commit are dropped, and all requests cancelled instead.
    package func commit() -> CommittedStep<TransferEffect, StatisticsNotice> {
        let boot = ports.clock.boot()
        if let until = failedUntil, boot < until { return CommittedStep(next: until) }
        failedUntil = nil
        wake = nil
        let events = inbox.take()
        guard !isStopped, isStopping || !work.isIdle else { return CommittedStep() }
        let before = work
        do {
            try outbox.transaction {
                let turn = Turn(now: ports.clock.now(), boot: boot)
                try giveBackOrphans()
                for event in events { try handle(event, turn) }
                try decide(turn)
                try storeConditions()
            }
            failedSteps = 0
        } catch {
            collapse(error as? LectureError ?? LectureError(.bug), to: before, boot: boot)
        }
        defer { (effects, notices) = ([], []) }
        return CommittedStep(effects: effects, notices: notices, next: failedUntil ?? wake)
    }

    private func handle(_ event: StatisticsEvent, _ turn: Turn) throws {
        switch event {
        case .answered(let id, let reply):
            guard let inFlightBatch = work.exchanges.removeValue(forKey: id) else { return }
            try answered(inFlightBatch, reply, turn)
        case .poked: break
        }
    }

    private func decide(_ turn: Turn) throws {
        if isStopping { return try windDown() }
        for order in work.requests { try begin(order, turn) }
        work.requests = []
        for target in work.targets.keys.sorted() { try fill(target, turn) }
        try endOrders(turn)
    }

    /// Releases everything.
    private func windDown() throws {
        let ids = work.exchanges.keys.sorted { $0.value < $1.value }
        if !ids.isEmpty { effects.append(.cancel(ids)) }
        for inFlightBatch in work.inFlightBatches.values where !inFlightBatch.isRunning {
            try release(inFlightBatch.id)
        }
        for inFlightBatch in work.aside.keys { try release(inFlightBatch) }
        guard work.inFlightBatches.isEmpty, !isStopped else { return }
        for order in work.orders { try end(order) }
        for order in work.requests { notices.append(.ended(order: order.id, SendSummary())) }
        // The conditions are stored with this transaction; after it the state is empty.
        try storeConditions()
        work = Work()
        isStopped = true
        notices.append(.stopped)
    }

    /// Values that are constant within one step.
    struct Turn {
        let now: Timestamp
        let boot: BootInstant
    }

    /// A number for an exchange. Never reused, even if the step fails.
    func newTransfer() -> TransferID {
        nextID += 1
        return TransferID(nextID)
    }

    /// The next step is due at this moment at the latest.
    func wake(at moment: BootInstant) { wake = min(wake ?? moment, moment) }

    // MARK: Failed transactions

    /// The store could not be written (a full disk, say). A failed commit is handled like a crash: memory returns to
    /// the state before the step, and requests are cancelled and released later, so that they are sent again under
    /// their ids.
    private func collapse(_ error: LectureError, to before: Work, boot: BootInstant) {
        let ids = Set(work.exchanges.keys).union(before.exchanges.keys).sorted { $0.value < $1.value }
        effects = ids.isEmpty ? [] : [.cancel(ids)]
        notices = [.failure(error)]
        isStopped = false
        work = before
        // Only requests from before the step: its own were rolled back.
        work.orphans.formUnion(work.inFlightBatches.keys)
        work.orphans.formUnion(work.aside.keys)
        (work.inFlightBatches, work.aside, work.exchanges) = ([:], [:], [:])
        for target in work.targets.keys { work.targets[target]?.forgetRequests() }
        failedSteps += 1
        failedUntil = boot + .seconds(min(60, 1 << min(failedSteps, 6)))
        // A store that can no longer be written is left to the next program, which recovers it as after a crash.
        guard isStopping, failedSteps >= 3 else { return }
        for order in work.orders { notices.append(.ended(order: order.order.id, order.summary)) }
        for order in work.requests { notices.append(.ended(order: order.id, SendSummary())) }
        (work, isStopped, failedUntil) = (Work(), true, nil)
        notices.append(.stopped)
    }

    private func giveBackOrphans() throws {
        for inFlightBatch in work.orphans.sorted() { try release(inFlightBatch) }
        work.orphans = []
    }

    private func storeConditions() throws {
        for target in work.targets.values {
            let condition = target.condition
            guard condition != target.stored else { continue }
            try outbox.store(condition, of: target.id)
            work.targets[target.id]?.stored = condition
        }
    }

    // MARK: Releasing requests

    /// Releases a request, even if it is no longer ours.
    func release(_ inFlightBatch: InFlightBatchID) throws {
        try whileOurs(inFlightBatch) { try outbox.release(inFlightBatch, owner: owner) }
        work.inFlightBatches[inFlightBatch] = nil
        work.aside[inFlightBatch] = nil
    }

    /// Does something with a request unless another process took or dissolved it; then it is forgotten here.
    ///
    /// - Returns: whether it was ours.
    @discardableResult
    func whileOurs(_ inFlightBatch: InFlightBatchID, _ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as LectureError where error.code == .leaseLost {
            work.inFlightBatches[inFlightBatch] = nil
            return false
        }
    }
}
