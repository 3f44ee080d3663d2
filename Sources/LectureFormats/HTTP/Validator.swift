/// What distinguishes two versions of an object: entity tag, modification date, length (RFC 9110 section 8.8).
///
/// Weak validators are kept as well. They never prove that bytes belong together, but when they differ the object has
/// changed. Each property is one column of the store.
package struct Validator: Hashable, Sendable {
    /// The entity tag as written in a header, weak ones with their `W/`; nil without a well-formed one.
    package let etag: String?
    /// The `Last-Modified` value as the server wrote it, because `If-Range` must repeat it exactly; with `W/` before it
    /// when the date is weak (our own notation); nil without a well-formed one.
    package let lastModified: String?
    /// The length of the whole object in bytes, nil when it is not known.
    package let total: UInt64?

    /// The result of a comparison.
    package enum Agreement: Hashable, Sendable {
        /// A strong validator is the same on both sides, and nothing differs: bytes may be combined.
        case same
        /// It is another version.
        case different
        /// Nothing differs, and nothing proves equality.
        case unknown
    }

    /// How much older than the answer a modification date must be to count as strong.
    ///
    /// RFC 9110 section 8.8.2.2 asks for one second when both dates come from the same clock, and otherwise for enough
    /// difference "to make clock synchronization issues unlikely". A client cannot see whether a cache added its own
    /// `Date` to the origin's `Last-Modified`, so the second clause applies, with the 60 seconds of its predecessor RFC
    /// 7232.
    package static let dateMargin = Duration.seconds(60)

    /// Creates a validator from stored columns.
    ///
    /// - Parameters:
    ///   - etag: as ``etag``.
    ///   - lastModified: as ``lastModified``.
    ///   - total: in bytes.
    package init(etag: String?, lastModified: String?, total: UInt64?) {
        self.etag = etag
        self.lastModified = lastModified
        self.total = total
    }

    /// Reads the validator of an answer.
    ///
    /// - Parameters:
    ///   - head: the head of a 200 or 206.
    ///   - total: the length of the whole object in bytes, as the answer announces it.
    package init(_ head: ResponseHead, total: UInt64?) {
        let tag = head.fields["ETag"].flatMap(EntityTag.init)
        self.init(etag: tag?.headerValue, lastModified: Self.modified(head), total: total)
    }

    /// The value for `If-Range`: the strong entity tag; without any tag, the strong date (RFC 9110 section 13.1.5).
    ///
    /// Nil when there is no strong validator, and then no `If-Range` may be sent.
    package var ifRangeValue: String? {
        if let etag { return Self.isWeak(etag) ? nil : etag }
        return lastModified.flatMap { Self.isWeak($0) ? nil : $0 }
    }

    /// Whether equality proves that bytes belong together.
    package var isStrong: Bool { ifRangeValue != nil }

    /// Compares with the validator of another answer.
    ///
    /// An entity tag takes precedence over a date, since it is more exact (section 8.8.1).
    ///
    /// - Parameter other: the other validator.
    /// - Returns: the result of the comparison.
    package func agrees(with other: Validator) -> Agreement {
        if let total, let otherTotal = other.total, total != otherTotal { return .different }
        if let mine = etag, let theirs = other.etag {
            if Self.strengthened(mine) != Self.strengthened(theirs) { return .different }
            return Self.isWeak(mine) || Self.isWeak(theirs) ? agreesByDate(other) : .same
        }
        return agreesByDate(other)
    }

    /// Compares the dates, where no pair of strong tags decides.
    ///
    /// Equal strong dates beside weak tags prove nothing: the server itself declares its notion of equality to be
    /// loose.
    private func agreesByDate(_ other: Validator) -> Agreement {
        guard let mine = lastModified, let theirs = other.lastModified else { return .unknown }
        if Self.strengthened(mine) != Self.strengthened(theirs) { return .different }
        let isProof = etag == nil && other.etag == nil && !Self.isWeak(mine) && !Self.isWeak(theirs)
        return isProof ? .same : .unknown
    }

    private static func modified(_ head: ResponseHead) -> String? {
        guard let text = head.fields["Last-Modified"],
            let modified = HTTPDate(text, now: head.receivedAt)?.time
        else { return nil }
        // Without a Date (an origin without a clock) the age of the modification is unknown.
        guard let date = head.date, date - modified >= dateMargin else { return "W/\(text)" }
        return text
    }

    private static func isWeak(_ text: String) -> Bool { text.utf8.starts(with: "W/".utf8) }

    private static func strengthened(_ text: String) -> Substring {
        isWeak(text) ? Substring(text.utf8.dropFirst(2)) : text[...]
    }
}
