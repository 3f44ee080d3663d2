public import LectureModel
import LectureWebhooks

/// An endpoint of a webhook, and what waits for it.
public struct WebhookStatus: Sendable, Hashable {
    /// Its number in this store; never given again.
    public let id: Int64
    /// Where it is. Parts of it may be a secret of the receiver.
    public let url: String
    /// Scheme, host and port.
    public let server: String
    /// What it wants, in the order of ``WebhookKind``.
    public let kinds: [WebhookKind]
    /// Whether the configuration in use names it: only then is something sent to it.
    public let isConfigured: Bool
    /// Events that wait for it, or are being sent.
    public let waiting: Int
    /// Events that it has refused for good.
    public let dead: Int
    /// Events that have arrived.
    public let delivered: Int
    /// Events that were given up because of their age or number.
    public let expired: Int
    /// When the event happened that waits longest; nil when none waits.
    public let oldestWaiting: Timestamp?
    /// When an event arrived last.
    public let lastDelivered: Timestamp?
    /// Failures in a row.
    public let failures: Int
    /// When it is tried again; nil for now.
    public let waitsUntil: Timestamp?
    /// Whether its receiver has switched it off (410).
    public let isGone: Bool
    /// The last answer that was no success: when, and its status; nil for none, or no answer.
    public let answer: Answer?

    /// An answer that was no success.
    public struct Answer: Sendable, Hashable {
        /// When it came, or did not.
        public let at: Timestamp
        /// Its status; nil without an answer.
        public let status: Int?
    }

    /// Makes the status of a stored endpoint.
    package init(_ entry: WebhookEntry, isConfigured: Bool, now: Timestamp) {
        server = WebhookConfiguration.server(of: entry.url)
        (id, url, kinds) = (entry.id.value, entry.url, entry.kinds.all)
        self.isConfigured = isConfigured
        (waiting, dead, delivered, expired) = (entry.waiting, entry.dead, entry.delivered, entry.expired)
        (oldestWaiting, lastDelivered) = (entry.oldestWaiting, entry.lastDelivered)
        failures = entry.condition.failures
        waitsUntil = entry.condition.wait.flatMap { $0.remaining(at: now) > .zero ? $0.due : nil }
        isGone = entry.condition.isSuspended
        answer = entry.condition.answered.map { Answer(at: $0, status: entry.condition.status) }
    }
}

/// An event that has not arrived yet.
public struct PendingWebhookEvent: Sendable, Hashable {
    /// The `webhook-id` that its receiver gets.
    public let id: String
    /// The number of the endpoint.
    public let endpoint: Int64
    /// What it is about.
    public let kind: WebhookKind
    /// When it happened.
    public let happened: Timestamp
    /// The lecture; empty for a report about none.
    public let key: String
    /// Whether it was refused for good.
    public let isDead: Bool
    /// How often it was sent.
    public let attempts: Int
    /// When it may be sent again; nil for now.
    public let waitsUntil: Timestamp?
    /// The status of the last answer; nil without one.
    public let status: Int?
    let row: WebhookDeliveryID

    /// Makes the status of a stored delivery.
    package init(_ delivery: WebhookDelivery, store: String) {
        (id, endpoint) = (WebhookBody.id(of: delivery.event, store: store), delivery.endpoint.value)
        (kind, happened, key) = (delivery.event.kind, delivery.event.happened, delivery.event.key)
        (isDead, attempts) = (delivery.state == .dead, delivery.attempts)
        (waitsUntil, status, row) = (delivery.wait?.due, delivery.status, delivery.id)
    }
}

/// A page of events that have not arrived.
public struct WebhookEventPage: Sendable, Hashable {
    /// A place in a list.
    public struct Place: Sendable, Hashable {
        let last: WebhookDeliveryID
    }

    /// The events, the oldest first.
    public let events: [PendingWebhookEvent]
    /// Where the next page begins; nil when this was the last one.
    public let next: Place?
}

/// How webhooks are sent.
public struct WebhookSendOptions: Sendable, Hashable {
    /// Only to this endpoint, by its URL; nil for all.
    public var url: String?
    /// After how many failures in a row an endpoint is left alone.
    public var attempts = 5
    /// An endpoint that waits longer is left alone.
    public var longestWait = Duration.seconds(30)

    /// Sends to all endpoints.
    public init() {}
}

/// What has become of what waited for webhooks.
public struct WebhookSendResult: Sendable, Hashable {
    /// Events that arrived.
    public var delivered = 0
    /// Events that were refused for good.
    public var dead = 0
    /// Events that still wait.
    public var left = 0
    /// Requests.
    public var requests = 0
    /// Why events are left.
    public var obstacles: [WebhookObstacle] = []

    /// Nothing was sent.
    public init() {}

    init(_ result: WebhookResult) {
        (delivered, dead, left, requests) = (result.delivered, result.dead, result.left, result.requests)
        obstacles = result.obstacles.map { WebhookObstacle(url: $0.url, error: $0.error, again: $0.again) }
    }
}

/// Why events are left for an endpoint.
public struct WebhookObstacle: Sendable, Hashable {
    /// Where it is.
    public let url: String
    /// Scheme, host and port of it.
    public let server: String
    /// What it answered, or why it was not reached or asked.
    public let error: LectureError
    /// When the next attempt is possible; nil for now, or for never.
    public let again: Timestamp?

    /// Makes an obstacle.
    package init(url: String, error: LectureError, again: Timestamp?) {
        (self.url, server) = (url, WebhookConfiguration.server(of: url))
        (self.error, self.again) = (error, again)
    }
}

/// The answer to a test.
public struct WebhookTestResult: Sendable, Hashable {
    /// Where the test went.
    public let url: String
    /// Scheme, host and port of it.
    public let server: String
    /// The HTTP status; nil without an answer.
    public let status: Int?
    /// How long it took.
    public let duration: Duration
    /// Why it is no success; nil for one.
    public let error: LectureError?

    /// Makes a result.
    package init(url: String, status: Int?, duration: Duration, error: LectureError?) {
        (self.url, server) = (url, WebhookConfiguration.server(of: url))
        (self.status, self.duration, self.error) = (status, duration, error)
    }
}
