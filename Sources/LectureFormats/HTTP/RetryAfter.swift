/// How long a server asks to wait (RFC 9110 section 10.2.3).
package struct RetryAfter: Hashable, Sendable {
    /// The longest wait that is accepted, since more cannot be intended and would overflow calendars: 366 days.
    package static let maximum = Duration.seconds(366 * 86_400)

    /// How long to wait from the receipt of the answer, between zero and ``maximum``.
    package let delay: Duration

    /// Creates a wait.
    ///
    /// - Parameter delay: clamped to zero and ``maximum``.
    package init(delay: Duration) { self.delay = min(max(delay, .zero), Self.maximum) }

    /// Reads a number of seconds or a date, nothing else; a date that has passed is a wait of zero.
    ///
    /// A date is read relative to the answer's own `Date`, when there is one: then a wrong clock on this machine does
    /// not change the wait.
    ///
    /// - Parameters:
    ///   - value: the field value.
    ///   - now: when the answer was received.
    ///   - serverDate: the answer's `Date`.
    package init?(_ value: String, now: Timestamp, serverDate: Timestamp? = nil) {
        switch FieldText.decimal(value) {
        case .value(let seconds): self.init(delay: .seconds(Int64(min(seconds, 1 << 40))))
        case .overflow: self.init(delay: Self.maximum)
        case .malformed:
            guard let date = HTTPDate(value, now: now) else { return nil }
            self.init(delay: date.time - (serverDate ?? now))
        }
    }

    /// The wait an answer asks for, nil when it asks for none or for an invalid one.
    ///
    /// - Parameter head: the head of an answer.
    package init?(_ head: ResponseHead) {
        guard let value = head.fields["Retry-After"] else { return nil }
        self.init(value, now: head.receivedAt, serverDate: head.date)
    }
}
