package import LectureEngine
package import LectureModel

/// What a call that sends wants.
package struct WebhookOrder: Hashable, Sendable {
    /// Numbers the order.
    package var id: Int
    /// Where it sends; nil for every endpoint.
    package var endpoints: Set<WebhookID>?
    /// After how many failures in a row it leaves an endpoint.
    package var attempts = 5
    /// What waits longer than this is left.
    package var longestWait = Duration.seconds(30)
    /// Whether waits that no server asked for end: the network is another one, or a person asks.
    package var endsWaits = true

    /// An order for every endpoint.
    package init(id: Int) { self.id = id }
}

/// What has become of an order.
package struct WebhookResult: Hashable, Sendable {
    /// Why something is left for an endpoint.
    package struct Obstacle: Hashable, Sendable {
        /// The endpoint.
        package var endpoint: WebhookID
        /// Where it is.
        package var url: String
        /// What it answered, or why it was not reached.
        package var error: LectureError
        /// When the next attempt is possible; nil for now, or for never.
        package var again: Timestamp?

        /// Makes an obstacle.
        package init(endpoint: WebhookID, url: String, error: LectureError, again: Timestamp?) {
            (self.endpoint, self.url, self.error, self.again) = (endpoint, url, error, again)
        }
    }

    /// Events that arrived; an event for two endpoints counts twice.
    package var delivered = 0
    /// Events that were refused for good.
    package var dead = 0
    /// Events that are left.
    package var left = 0
    /// Requests.
    package var requests = 0
    /// Why something is left.
    package var obstacles: [Obstacle] = []

    /// Nothing.
    package init() {}
}

/// What the machine needs of other modules.
package struct WebhookFunctions: Sendable {
    /// Signs bytes with the secrets of an endpoint: the value of `webhook-signature`.
    let sign: @Sendable (_ url: String, _ bytes: [UInt8]) throws(LectureError) -> String

    /// Collects the functions.
    ///
    /// - Parameter sign: signs bytes with the secrets of an endpoint; throws `webhookUnknown` for one that is not
    ///   configured, and why a secret cannot be used.
    package init(sign: @escaping @Sendable (_ url: String, _ bytes: [UInt8]) throws(LectureError) -> String) {
        self.sign = sign
    }
}

/// What the machine takes note of.
package enum WebhookMachineEvent: Sendable {
    /// Sends what waits; ``WebhookNotice/ended(order:_:)`` follows.
    case send(WebhookOrder)
    /// An exchange is over.
    case answered(TransferID, ExchangeReply)
}

/// What a step led to, after the commit that makes it true.
package enum WebhookNotice: StateMachineNotice, Hashable {
    /// An order is over.
    case ended(order: Int, WebhookResult)
    /// The store could not be written; the step is repeated.
    case failure(LectureError)
    /// All work has ended.
    case stopped
}
