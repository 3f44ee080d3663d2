package import LectureEngine
package import LectureModel

/// Sends stored reports to their targets, and stores the results.
///
/// Requests are frozen in the store with their ids before they are sent, so that they are sent again with the same
/// bytes after a crash, and each report is settled by the answer to its request. docs/statistics.md describes what is
/// stored when.
///
///     order ─► targets ─► requests: ready ─► running ─► settled
///                                     ▲         │
///                                     └─ waits ─┘  kept: sent again later; halved: a part is sent next
package struct ReportMachine: StateMachine {
    /// Replies, and requests of the application.
    package typealias Event = ReportEvent
    /// Requests to targets.
    package typealias Effect = ExchangeEffect
    /// Results.
    package typealias Notice = ReportNotice
    /// Nothing.
    package typealias Environment = Void
    /// The stored reports and requests.
    package typealias Store = any StatisticsOutbox

    private(set) var settings: StatisticsSettings
    /// This program's row, under which it claims work.
    let owner: OwnerID
    let maker: BatchMaker
    /// Orders that no step has seen.
    var requests: [SendOrder] = []
    var orders: [OrderWork] = []
    var targets: [TargetID: TargetWork] = [:]
    var inFlightBatches: [InFlightBatchID: InFlightBatchWork] = [:]
    /// Requests that this program has claimed and that no order tries any more; without their bytes.
    var aside: [InFlightBatchID: TargetID] = [:]
    var exchanges: [TransferID: InFlightBatchID] = [:]
    /// Requests whose steps have failed: they are in the store, but no work is being done on them.
    var orphans: Set<InFlightBatchID> = []
    /// The time at which the boot clock was 0, as last stored, and whether this order stored it.
    var epoch: Timestamp?
    var isEpochReported = false

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - settings: the initial settings.
    ///   - functions: pure functions of other modules.
    ///   - hash: SHA-256, for the names in xAPI.
    ///   - owner: the row of this program's run.
    package init(
        _ settings: StatisticsSettings, _ functions: ReportFunctions, hash: @escaping @Sendable ([UInt8]) -> [UInt8],
        owner: OwnerID
    ) {
        (self.settings, self.owner) = (settings, owner)
        maker = BatchMaker(
            functions: functions,
            statement: XAPIStatement(
                homePage: settings.homePage, activityPrefix: settings.activityPrefix, hash: hash))
    }

    // MARK: Machine

    /// The requests that run.
    package var traffic: OriginBudgets { OriginBudgets(targets.values.map { ($0.origin, $0.pacer) }) }

    /// The rows of reports.
    package static func store(_: Void, in transaction: any StoreTransaction) throws -> any StatisticsOutbox {
        try transaction.reports
    }

    /// Whether no order works or waits to.
    package var isIdle: Bool {
        requests.isEmpty && orders.isEmpty && inFlightBatches.isEmpty && aside.isEmpty && orphans.isEmpty
    }

    /// Applies a reply, or accepts a request of the application.
    package mutating func handle(_ event: ReportEvent, _ step: inout Step<Self>) throws {
        switch event {
        case .send, .setTimeouts: accept(event)
        case .answered(let id, let reply):
            guard let inFlightBatch = exchanges.removeValue(forKey: id) else { return }
            try answered(inFlightBatch, reply, &step)
        }
    }

    /// Applies what needs no row.
    private mutating func accept(_ event: ReportEvent) {
        switch event {
        case .send(let order): requests.append(order)
        case .setTimeouts(let stall, let total): (settings.stallTimeout, settings.totalTimeout) = (stall, total)
        case .answered: break
        }
    }

    /// Starts what may be sent now, and ends orders that have nothing left to do.
    package mutating func reconcile(_ step: inout Step<Self>) throws {
        for inFlightBatch in orphans.sorted() { try release(inFlightBatch, step) }
        orphans = []
        if step.isStopping {
            try windDown(&step)
        } else {
            for order in requests { try begin(order, &step) }
            requests = []
            for target in targets.keys.sorted() { try fill(target, &step) }
            try endOrders(&step)
        }
        try storeConditions(step)
    }

    /// Requests are cancelled, and released later, so that they are sent again under their ids. Orders continue.
    package mutating func recover(
        losing events: [ReportEvent], after error: LectureError, at boot: BootInstant
    ) -> (effects: [ExchangeEffect], notices: [ReportNotice]) {
        for event in events { accept(event) }
        let cancelling = ExchangeEffect.cancelling(exchanges.keys)
        orphans.formUnion(inFlightBatches.keys)
        orphans.formUnion(aside.keys)
        (inFlightBatches, aside, exchanges) = ([:], [:], [:])
        for target in targets.keys { targets[target]?.forgetRequests() }
        return (cancelling.map { [$0] } ?? [], [])
    }

    /// Ends all orders where they are.
    package mutating func abandon() -> [ReportNotice] {
        let ended = orders.map { ReportNotice.ended(order: $0.order.id, $0.result) }
        let unseen = requests.map { ReportNotice.ended(order: $0.id, ReportSendResult()) }
        forgetAll()
        return ended + unseen
    }

    // MARK: Ending

    /// Releases everything.
    private mutating func windDown(_ step: inout Step<Self>) throws {
        if let cancelling = ExchangeEffect.cancelling(exchanges.keys) { step.effects.append(cancelling) }
        for inFlightBatch in inFlightBatches.values where !inFlightBatch.isRunning {
            try release(inFlightBatch.id, step)
        }
        for inFlightBatch in aside.keys { try release(inFlightBatch, step) }
        guard inFlightBatches.isEmpty else { return }
        for order in orders { try end(order, &step) }
        for order in requests { step.notices.append(.ended(order: order.id, ReportSendResult())) }
        try storeConditions(step)
        forgetAll()
        step.finish()
    }

    private mutating func forgetAll() {
        (requests, orders, targets, inFlightBatches) = ([], [], [:], [:])
        (aside, exchanges, orphans, epoch, isEpochReported) = ([:], [:], [], nil, false)
    }

    private mutating func storeConditions(_ step: Step<Self>) throws {
        for target in targets.values {
            let condition = target.condition
            guard condition != target.stored else { continue }
            try step.store.store(condition, of: target.id)
            targets[target.id]?.stored = condition
        }
    }

    // MARK: Releasing requests

    /// Releases a request, even if it is no longer ours.
    mutating func release(_ inFlightBatch: InFlightBatchID, _ step: Step<Self>) throws {
        try whileOurs(inFlightBatch) { [owner] in try step.store.release(inFlightBatch, owner: owner) }
        inFlightBatches[inFlightBatch] = nil
        aside[inFlightBatch] = nil
    }

    /// Does something with a request unless another process took or dissolved it; then it is forgotten here.
    ///
    /// - Returns: whether it was ours.
    @discardableResult
    mutating func whileOurs(_ inFlightBatch: InFlightBatchID, _ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as LectureError where error.code == .leaseLost {
            inFlightBatches[inFlightBatch] = nil
            return false
        }
    }
}
