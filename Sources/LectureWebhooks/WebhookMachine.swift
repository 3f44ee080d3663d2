package import LectureEngine
package import LectureFormats
package import LectureModel

/// Sends events to the endpoints of webhooks, and stores what has become of them.
///
/// An event on its way:
///
///     waiting ── claimed ──▶ running ── 2xx ──▶ deleted: it has arrived
///        ▲                      │
///        ├── its wait ── 4xx ───┤── 4xx for the tenth time ──▶ dead ── retry ──▶ waiting
///        └── none, 5xx, 410 ────┘
///
/// An endpoint:
///
///     open ── none, 408, 425, 429, 5xx, 4xx ──▶ failing ── 2xx ──▶ open
///     open, failing ── 410 ──▶ gone ── another selection, retry ──▶ open
///
/// While it is open, ``window`` requests run at once, each about another lecture: what happened to one lecture goes out
/// in its order. While it fails, one request runs at a time, after a wait that grows (``WebhookWaits``). Claims, waits
/// and answers are stored with each step: another process goes on where this one ended.
///
/// An order is over when nothing of its endpoints runs and what is left waits longer than it wants to, or has failed as
/// often as it tries.
package struct WebhookMachine: StateMachine {
    /// Replies, and requests of the application.
    package typealias Event = WebhookMachineEvent
    /// Requests to endpoints.
    package typealias Effect = ExchangeEffect
    /// Results.
    package typealias Notice = WebhookNotice
    /// Nothing.
    package typealias Environment = Void
    /// The stored endpoints and events.
    package typealias Store = any WebhookJournal

    /// Requests to one endpoint at once.
    package static let window = 4

    /// An order that is worked on.
    struct Work: Sendable {
        var order: WebhookOrder
        var result = WebhookResult()
        /// Failures of each endpoint since the order began.
        var failures: [WebhookID: Int] = [:]
        /// The last failure of each endpoint.
        var lastErrors: [WebhookID: LectureError] = [:]
        /// Why nothing can be sent to each endpoint.
        var errors: [WebhookID: LectureError] = [:]
        /// Whether it has ended the waits that it ends.
        var isStarted = false

        func concerns(_ endpoint: WebhookID) -> Bool { order.endpoints?.contains(endpoint) ?? true }
    }

    /// A request that runs.
    struct Running: Sendable {
        var delivery: WebhookDelivery
        let url: String
    }

    /// This program's row, under which it claims events.
    let owner: OwnerID
    /// The UUID of the store.
    let store: String
    let functions: WebhookFunctions
    var orders: [Work] = []
    var running: [TransferID: Running] = [:]
    /// Claimed events whose steps have failed.
    private var orphans: [WebhookDeliveryID] = []

    /// Creates a machine without work.
    ///
    /// - Parameters:
    ///   - owner: the row of this program's run.
    ///   - store: the UUID of the store.
    ///   - functions: what it needs of other modules.
    package init(owner: OwnerID, store: String, _ functions: WebhookFunctions) {
        (self.owner, self.store, self.functions) = (owner, store, functions)
    }

    // MARK: Machine

    /// The rows of webhooks.
    package static func store(_: Void, in transaction: any StoreTransaction) throws -> any WebhookJournal {
        try transaction.webhooks
    }

    /// Whether no order works or waits to.
    package var isIdle: Bool { orders.isEmpty && running.isEmpty && orphans.isEmpty }

    /// Applies a reply, or accepts an order.
    package mutating func handle(_ event: WebhookMachineEvent, _ step: inout Step<Self>) throws {
        switch event {
        case .send(let order): orders.append(Work(order: order))
        case .answered(let id, let reply):
            guard let request = running.removeValue(forKey: id) else { return }
            try answered(request, reply, &step)
        }
    }

    /// Sends what may be sent now, and ends the orders that have nothing left to do.
    package mutating func reconcile(_ step: inout Step<Self>) throws {
        for delivery in orphans { try step.store.release(delivery, owner: owner) }
        orphans = []
        if step.isStopping { return try windDown(&step) }
        guard !orders.isEmpty else { return }
        var entries = try step.store.endpoints()
        for index in orders.indices where !orders[index].isStarted { try begin(index, &entries, step) }
        for entry in entries { try fill(entry, &step) }
        try endOrders(try step.store.endpoints(), &step)
    }

    /// Requests are cancelled, and their events released later, so that they are sent again. Orders continue.
    package mutating func recover(
        losing events: [WebhookMachineEvent], after error: LectureError, at boot: BootInstant
    ) -> (effects: [ExchangeEffect], notices: [WebhookNotice]) {
        for case .send(let order) in events { orders.append(Work(order: order)) }
        let cancelling = ExchangeEffect.cancelling(running.keys)
        orphans += running.values.map(\.delivery.id)
        running = [:]
        return (cancelling.map { [$0] } ?? [], [])
    }

    /// Ends all orders where they are.
    package mutating func abandon() -> [WebhookNotice] {
        let ended = orders.map { WebhookNotice.ended(order: $0.order.id, $0.result) }
        (orders, running, orphans) = ([], [:], [])
        return ended
    }

    private mutating func windDown(_ step: inout Step<Self>) throws {
        if let cancelling = ExchangeEffect.cancelling(running.keys) { step.effects.append(cancelling) }
        // What was sent may have arrived: it is sent again under the same id.
        for request in running.values { try step.store.release(request.delivery.id, owner: owner) }
        let entries = try step.store.endpoints()
        for work in orders { end(work, entries, &step) }
        (orders, running) = ([], [:])
        step.finish()
    }
}
