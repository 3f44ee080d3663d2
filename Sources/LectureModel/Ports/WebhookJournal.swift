/// The table of endpoints.
package enum WebhookTable {}
/// The table of deliveries.
package enum WebhookDeliveryTable {}
/// A row of `webhook`.
package typealias WebhookID = RowID<WebhookTable>
/// A row of `webhook_delivery`.
package typealias WebhookDeliveryID = RowID<WebhookDeliveryTable>

/// What happened, as it was stored by the statement that made it true.
package struct WebhookEvent: Hashable, Sendable {
    /// The row; with the store's UUID and the time it names the event for its receiver.
    package var id: Int64
    /// What it is about.
    package var kind: WebhookKind
    /// When it happened.
    package var happened: Timestamp
    /// The lecture; empty for a report about none.
    package var key = ""
    /// The lecture's course.
    package var course = ""
    /// The lecture's title.
    package var title = ""
    /// The size of a complete lecture in bytes.
    package var bytes: Int64?
    /// The number of the error.
    package var error: Int?
    /// The report's id.
    package var report: String?
    /// Why the report is dead.
    package var deadReason: DeadReason?
    /// The HTTP status of the answer that refused the report.
    package var status: Int?

    /// Creates an event without details.
    package init(id: Int64, kind: WebhookKind, happened: Timestamp) {
        (self.id, self.kind, self.happened) = (id, kind, happened)
    }
}

/// What an endpoint has done lately.
package struct WebhookCondition: Hashable, Sendable {
    /// Failures in a row.
    package var failures = 0
    /// When it may be tried again; nil for now.
    package var wait: RetryWait?
    /// Whether it has answered that it is gone.
    package var isSuspended = false
    /// The last answer that was no success, or none: when.
    package var answered: Timestamp?
    /// Its status; nil when there was no answer.
    package var status: Int?

    /// One that was not tried.
    package init() {}
}

/// An endpoint and what waits for it.
package struct WebhookEntry: Hashable, Sendable {
    /// Its row.
    package var id: WebhookID
    /// Where it is.
    package var url: String
    /// What it wants.
    package var kinds: WebhookKinds
    /// What it has done lately.
    package var condition = WebhookCondition()
    /// How many deliveries were ever made for it.
    package var created = 0
    /// How many wait.
    package var waiting = 0
    /// How many it has refused for good.
    package var dead = 0
    /// How many have arrived.
    package var delivered = 0
    /// How many were given up because of their age or number.
    package var expired = 0
    /// When one arrived last.
    package var lastDelivered: Timestamp?
    /// When what waits longest happened.
    package var oldestWaiting: Timestamp?

    /// An endpoint for which nothing waits.
    package init(id: WebhookID, url: String, kinds: WebhookKinds) {
        (self.id, self.url, self.kinds) = (id, url, kinds)
    }
}

/// An event on its way to an endpoint.
package struct WebhookDelivery: Hashable, Sendable {
    /// The states. Raw values are stored: frozen, never reused.
    package enum State: Int, Sendable, CaseIterable {
        /// It waits, or is being sent.
        case waiting = 0
        /// It was refused for good.
        case dead = 1
        /// It was given up because of its age or number; deleted at once.
        case expired = 2
    }

    /// Its row.
    package var id: WebhookDeliveryID
    /// Where it goes.
    package var endpoint: WebhookID
    /// What happened.
    package var event: WebhookEvent
    /// Its state.
    package var state = State.waiting
    /// How often it was sent.
    package var attempts = 0
    /// How often it was refused.
    package var refusals = 0
    /// When it may be sent again; nil for now.
    package var wait: RetryWait?
    /// When it was answered last, or not.
    package var answered: Timestamp?
    /// The status of that answer; nil when there was none.
    package var status: Int?

    /// A delivery that was not tried.
    package init(id: WebhookDeliveryID, endpoint: WebhookID, event: WebhookEvent) {
        (self.id, self.endpoint, self.event) = (id, endpoint, event)
    }
}

/// What may be sent to an endpoint, besides its own wait.
package struct WebhookOutlook: Hashable, Sendable {
    /// After how long the first delivery may be sent; nil when none waits for a time.
    package var next: Duration?
    /// Whether another process has claimed some.
    package var isHeldElsewhere = false

    /// Nothing waits.
    package init() {}
}

/// What of webhooks is stored: the endpoints, and the events on their way. Confined to the executor of the writer.
package protocol WebhookJournal {
    /// All endpoints, in the order of their rows.
    func endpoints() throws -> [WebhookEntry]
    /// Stores what an endpoint has done.
    func store(_ condition: WebhookCondition, of endpoint: WebhookID) throws
    /// Claims deliveries that may be sent now: the first of each lane, the oldest first.
    ///
    /// - Parameters:
    ///   - endpoint: where they go.
    ///   - owner: this process.
    ///   - limit: how many at the most.
    ///   - now: the wall clock.
    /// - Returns: those that were claimed.
    /// - Throws: ``LectureError``.
    func claim(_ endpoint: WebhookID, owner: OwnerID, limit: Int, now: Timestamp) throws -> [WebhookDelivery]
    /// When something may be sent next. What this process has claimed does not count.
    func outlook(_ endpoint: WebhookID, owner: OwnerID?, now: Timestamp) throws -> WebhookOutlook
    /// It has arrived, even if the claim was lost meanwhile: the row is deleted.
    func delivered(_ delivery: WebhookDeliveryID, now: Timestamp) throws
    /// Stores the attempts, the refusals, the wait and the answer of a claimed delivery, and its state; the claim ends.
    /// One that another process has settled or claimed stays as it is.
    func settle(_ delivery: WebhookDelivery, owner: OwnerID) throws
    /// Ends a claim.
    func release(_ delivery: WebhookDeliveryID, owner: OwnerID) throws
    /// Gives up what has waited, or is dead, since before a time, and beyond a number; claimed ones stay.
    ///
    /// - Parameters:
    ///   - before: the time.
    ///   - limit: how many an endpoint may have.
    /// - Returns: how many were given up.
    /// - Throws: ``LectureError``.
    func expire(before: Timestamp, limit: Int) throws -> Int
    /// Dead ones wait again, waits end, and the endpoint is asked again.
    ///
    /// - Parameter endpoint: which.
    /// - Returns: how many dead ones there were.
    /// - Throws: ``LectureError``.
    func revive(_ endpoint: WebhookID) throws -> Int
    /// Makes the endpoints those of a configuration; what waits for others is deleted.
    ///
    /// - Parameter endpoints: the URL and the selection of each.
    /// - Returns: the endpoints that were removed.
    /// - Throws: ``LectureError``.
    func follow(_ endpoints: [(url: String, kinds: WebhookKinds)]) throws -> [WebhookEntry]
    /// Deliveries in a state, in the order of their rows.
    ///
    /// - Parameters:
    ///   - endpoint: where they go.
    ///   - state: their state.
    ///   - last: only those after this one; nil from the start.
    ///   - limit: how many at the most.
    /// - Returns: the deliveries.
    /// - Throws: ``LectureError``.
    func deliveries(
        _ endpoint: WebhookID, in state: WebhookDelivery.State, after last: WebhookDeliveryID?, limit: Int
    ) throws -> [WebhookDelivery]
}
