/// The value of a `Content-Range` field (RFC 9110 section 14.4), in the unit `bytes`.
package enum ContentRange: Hashable, Sendable {
    /// The body is this part of an object whose whole length is `total`, or is not known (`*`).
    case part(ByteRange, total: UInt64?)
    /// The requested range does not exist; the object has this length (`bytes */n`, with status 416).
    case unsatisfied(total: UInt64)

    /// Why a value cannot be used.
    package enum Fault: Error, Hashable, Sendable, CaseIterable {
        /// Another unit than `bytes`.
        case otherUnit
        /// White space where the grammar allows none: parsers disagree about it.
        case whiteSpace
        /// Not of the form `bytes first-last/total`, `bytes first-last/*` or `bytes */total`.
        case malformed
        /// A number above 2^63 − 1.
        case overflow
        /// The last position is before the first one.
        case inverted
        /// The last position is past the announced end.
        case beyondTotal
    }

    /// Reads a value strictly.
    ///
    /// - Parameter value: the field value without white space around it.
    /// - Throws: ``Fault``.
    package init(_ value: String) throws(Fault) {
        let parts = value.utf8.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw value.utf8.contains(0x09) ? .whiteSpace : .malformed }
        // "All range unit names are case-insensitive" (section 14.1).
        guard FieldText.equal(Substring(parts[0]), "bytes") else { throw .otherUnit }
        let rest = Substring(parts[1])
        guard !rest.utf8.contains(where: { $0 == 0x20 || $0 == 0x09 }) else { throw .whiteSpace }
        let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw .malformed }
        let total = halves[1] == "*" ? nil : try Self.number(halves[1])
        if halves[0] == "*" {
            guard let total else { throw .malformed }
            self = .unsatisfied(total: total)
            return
        }
        let positions = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard positions.count == 2 else { throw .malformed }
        let (first, last) = (try Self.number(positions[0]), try Self.number(positions[1]))
        guard last >= first else { throw .inverted }
        guard last < UInt64(Int64.max), let range = ByteRange(start: first, end: last + 1) else { throw .overflow }
        if let total, range.end > total { throw .beyondTotal }
        self = .part(range, total: total)
    }

    private static func number(_ text: Substring) throws(Fault) -> UInt64 {
        switch FieldText.decimal(text) {
        case .value(let value): return value
        case .overflow: throw .overflow
        case .malformed: throw .malformed
        }
    }
}
