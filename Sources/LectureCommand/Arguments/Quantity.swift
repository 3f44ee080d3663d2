import LectureFormats
package import LectureModel

/// Numbers with units, as typed. All arithmetic is checked: a number that overflows is refused.
package enum Quantity {
    /// Reads a length of time: parts of a whole number and a unit (`s`, `m`, `h`, `d`, `w`), from large to small; a
    /// bare number is seconds.
    ///
    /// - Parameter text: for example `90`, `15m`, `1h30m`.
    /// - Returns: the length, at least a second, or nil.
    package static func duration(_ text: String) -> Duration? { QuantityText.duration(text) }

    /// Reads a moment: whole seconds since 1970, or a date and time of RFC 3339.
    ///
    /// - Parameter text: for example `1772352000` or `2026-03-01T08:00:00Z`.
    /// - Returns: the moment, or nil.
    package static func moment(_ text: String) -> Timestamp? { MomentText.moment(text) }

    /// Reads a number of bytes: a number with at most three decimals and an optional unit `K`, `M`, `G`, `T` (powers
    /// of 1024), with or without `B` or `iB`.
    ///
    /// - Parameter text: for example `157286400`, `150M`, `1.5GiB`.
    /// - Returns: the bytes, rounded down, or nil.
    package static func byteCount(_ text: String) -> Int64? { QuantityText.byteCount(text) }

    /// Reads bytes per second: as ``byteCount(_:)``, with an optional `/s`.
    ///
    /// - Parameter text: for example `500K`, `2M/s`.
    /// - Returns: bytes per second, at least 1, or nil.
    package static func rate(_ text: String) -> Int64? {
        let bytes = byteCount(text.hasSuffix("/s") ? String(text.dropLast(2)) : text)
        return bytes.flatMap { $0 > 0 ? $0 : nil }
    }
}

/// A limit on a number of things: `10`, or `10%` of all.
package enum CountLimit: Sendable, Equatable {
    /// At most this many.
    case count(Int)
    /// At most this share, 0 to 100.
    case percent(Int)

    /// Reads a limit.
    ///
    /// - Parameter text: as typed.
    package init?(_ text: String) {
        let digits = text.hasSuffix("%") ? text.dropLast() : Substring(text)
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits),
            number <= 1_000_000_000
        else { return nil }
        guard text.hasSuffix("%") else {
            self = .count(number)
            return
        }
        guard number <= 100 else { return nil }
        self = .percent(number)
    }

    /// The limit as it would be typed.
    package var text: String {
        switch self {
        case .count(let number): "\(number)"
        case .percent(let share): "\(share)%"
        }
    }

    /// How many are allowed.
    ///
    /// - Parameter total: the number of all.
    /// - Returns: the number, rounded down.
    package func allowed(of total: Int) -> Int {
        switch self {
        case .count(let number): number
        case .percent(let share): total * share / 100
        }
    }
}

/// A byte range as typed with `--range`, in the grammar of RFC 9110, section 14.1.2.
package enum ByteRangeRequest: Sendable, Equatable {
    /// From the first byte (counted from 0) to the last one, both included; nil means to the end.
    case from(Int64, through: Int64?)
    /// The last bytes.
    case last(Int64)

    /// Reads `A-B`, `A-` or `-N`.
    ///
    /// - Parameter text: as typed.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        // Int64 would also accept a sign.
        guard parts.count == 2, text.utf8.allSatisfy({ FieldText.digit($0) != nil || $0 == UInt8(ascii: "-") }) else {
            return nil
        }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (let first?, nil) where parts[1].isEmpty: self = .from(first, through: nil)
        case (nil, let count?) where parts[0].isEmpty && count > 0: self = .last(count)
        case (let first?, let last?) where first <= last: self = .from(first, through: last)
        default: return nil
        }
    }

    /// The bytes meant in a file of this length.
    ///
    /// - Parameter byteCount: the file's length in bytes.
    /// - Returns: a half-open range clipped to the file, or nil when the first byte is beyond the end. For an empty
    ///   file a range from its beginning or up to its end is empty, which is not an error.
    package func resolved(byteCount: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < max(1, byteCount) else { return nil }
            return first..<(last.map { min($0, byteCount - 1) + 1 } ?? byteCount)
        case .last(let count):
            return max(0, byteCount - count)..<byteCount
        }
    }
}
