/// The `Range` field (RFC 9110 section 14).
enum RangeField: Equatable {
    /// Missing, in another unit, or not well formed: treated as missing.
    case ignored
    /// Well formed, but no byte of it exists.
    case unsatisfiable
    /// The ranges that exist, in the order of the request.
    case ranges([Range<Int>])

    /// Reads the field.
    ///
    /// - Parameters:
    ///   - text: its value; `nil` when it is missing.
    ///   - count: how many bytes the representation has.
    init(_ text: String?, count: Int) {
        guard let text, text.lowercased().hasPrefix("bytes=") else {
            self = .ignored
            return
        }
        var ranges: [Range<Int>] = []
        for part in text.dropFirst("bytes=".count).split(separator: ",", omittingEmptySubsequences: false) {
            let specification = part.filter { $0 != " " && $0 != "\t" }
            if specification.isEmpty { continue }
            guard let range = Self.range(specification, count: count) else {
                self = .ignored
                return
            }
            if !range.isEmpty { ranges.append(range) }
        }
        self = ranges.isEmpty ? .unsatisfiable : .ranges(ranges)
    }

    /// One range; empty when well formed without an existing byte, `nil` when not well formed.
    private static func range(_ text: String, count: Int) -> Range<Int>? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let suffix = number(parts[1]) else { return nil }
            return (count - min(suffix, count))..<count
        }
        guard let first = number(parts[0]) else { return nil }
        var last = Int.max
        if !parts[1].isEmpty {
            guard let number = number(parts[1]) else { return nil }
            last = number
        }
        guard first <= last else { return nil }
        return first >= count ? count..<count : first..<(min(last, count - 1) + 1)
    }

    /// Digits; a number that is too large counts as the largest.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text) ?? Int.max
    }
}
