/// The head of a final answer: everything that is known before its first body byte.
package struct ResponseHead: Hashable, Sendable {
    /// The status code.
    package var status: Int
    /// The header fields.
    package var fields: HeaderFields
    /// Where a redirect leads, already resolved against the request's URL; nil without a usable `Location`.
    package var redirectURL: String?
    /// When the head was complete, by the wall clock.
    package var receivedAt: Timestamp
    /// Whether it came over HTTP/2.
    package var isHTTP2: Bool
    /// How far the server is: how long TCP needed to connect to it (the first round trip). Nil when the connection was
    /// there already. With a proxy it is the way to that.
    package var distance: Duration?
    /// How long the answer took to begin after the request was sent; nil when that is not known.
    package var delay: Duration?

    /// Creates a head.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - fields: the header fields.
    ///   - redirectURL: where a redirect leads, absolute.
    ///   - receivedAt: when the head was complete.
    ///   - isHTTP2: whether it came over HTTP/2.
    package init(
        status: Int, fields: HeaderFields, redirectURL: String? = nil, receivedAt: Timestamp, isHTTP2: Bool = false
    ) {
        self.status = status
        self.fields = fields
        self.redirectURL = redirectURL
        self.receivedAt = receivedAt
        self.isHTTP2 = isHTTP2
    }

    /// When the server generated the answer (`Date`, RFC 9110 section 6.6.1), nil when it does not say.
    package var date: Timestamp? {
        fields["Date"].flatMap { HTTPDate($0, now: receivedAt)?.time }
    }
}
