/// A range of bytes of an object, half open and never empty.
package struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte.
    package let start: UInt64
    /// The offset after the last byte.
    package let end: UInt64

    /// Creates a range; nil when it would be empty or inverted.
    ///
    /// - Parameters:
    ///   - start: the offset of the first byte.
    ///   - end: the offset after the last byte.
    package init?(start: UInt64, end: UInt64) {
        guard start < end else { return nil }
        self.start = start
        self.end = end
    }

    /// Creates a range from its first byte and its length; nil when it is empty or its end does not fit.
    ///
    /// - Parameters:
    ///   - start: the offset of the first byte.
    ///   - count: the number of bytes.
    package init?(start: UInt64, count: UInt64) {
        let (end, overflow) = start.addingReportingOverflow(count)
        if overflow { return nil }
        self.init(start: start, end: end)
    }

    /// The number of bytes, at least 1.
    package var count: UInt64 { end - start }

    /// Whether the other range is entirely inside this one.
    ///
    /// - Parameter other: the candidate.
    /// - Returns: true when every byte of it is in this range.
    package func contains(_ other: ByteRange) -> Bool { start <= other.start && other.end <= end }
}

/// What a `Range` field requests.
package enum RangeRequest: Hashable, Sendable {
    /// Everything from this offset to the end.
    case from(UInt64)
    /// Exactly these bytes.
    case closed(ByteRange)

    /// The offset of the first requested byte.
    package var first: UInt64 {
        switch self {
        case .from(let first): first
        case .closed(let range): range.start
        }
    }

    /// The offset after the last requested byte; nil when everything to the end is requested.
    package var end: UInt64? {
        switch self {
        case .from: nil
        case .closed(let range): range.end
        }
    }

    /// The value of the `Range` field (RFC 9110 section 14.2): `bytes=5-9`, `bytes=5-`.
    package var headerValue: String {
        switch self {
        case .from(let first): "bytes=\(first)-"
        case .closed(let range): "bytes=\(range.start)-\(range.end - 1)"
        }
    }
}
