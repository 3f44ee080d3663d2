/// The combined meaning of the `Content-Length` fields of an answer (RFC 9110 section 8.6).
package enum ContentLength: Hashable, Sendable {
    /// No field.
    case absent
    /// This many bytes.
    case known(UInt64)

    /// Why the fields cannot be used.
    package enum Fault: Error, Hashable, Sendable, CaseIterable {
        /// Two different lengths: one of them was injected.
        case conflict
        /// A negative number, or not a number.
        case malformed
        /// Above 2^63 − 1.
        case overflow
    }

    /// Reads all values; equal ones count once, as in `Content-Length: 42, 42`.
    ///
    /// - Parameter values: the values of all `Content-Length` fields.
    /// - Throws: ``Fault``.
    package init(_ values: [String]) throws(Fault) {
        var found: UInt64?
        for value in values {
            for part in value.split(separator: ",", omittingEmptySubsequences: false) {
                let length = try Self.number(FieldText.trimmed(part))
                if let found, found != length { throw .conflict }
                found = length
            }
        }
        self = found.map { .known($0) } ?? .absent
    }

    /// The length, nil when none is announced.
    package var count: UInt64? {
        if case .known(let count) = self { count } else { nil }
    }

    private static func number(_ text: Substring) throws(Fault) -> UInt64 {
        switch FieldText.decimal(text) {
        case .value(let value): return value
        case .overflow: throw .overflow
        case .malformed: throw .malformed
        }
    }
}
