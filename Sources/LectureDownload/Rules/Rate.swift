import LectureFormats
package import LectureModel

/// A bandwidth limit.
package enum Rate: Hashable, Sendable {
    /// Unlimited.
    case full
    /// At most this many bytes a second, at least 1.
    case limited(bytesPerSecond: UInt64)
    /// No downloads.
    case off

    /// Reads a rate: `full`, `off`, `0`, or bytes a second with a unit of 1024: `500K`, `2M`, `1.5M`, `1G`.
    ///
    /// - Parameter text: the rate; letters of either case.
    /// - Throws: `LectureError(.parameter)`.
    package init(_ text: String) throws(LectureError) {
        let lower = FieldText.lowercased(text)
        if lower == "full" {
            self = .full
        } else if lower == "off" {
            self = .off
        } else {
            let bytes = try Self.bytes(lower, in: text)
            self = bytes == 0 ? .off : .limited(bytesPerSecond: bytes)
        }
    }

    /// The rate in the form that is read: `full`, `off`, `2M`, `500K`, `1234`.
    package var text: String {
        switch self {
        case .full: return "full"
        case .off: return "off"
        case .limited(let bytes):
            for (unit, power) in [("G", 30), ("M", 20), ("K", 10)] as [(String, UInt64)]
            where bytes.trailingZeroBitCount >= Int(power) {
                return "\(bytes >> power)\(unit)"
            }
            return "\(bytes)"
        }
    }

    /// Fractions are read digit by digit: 1.1M must be the same number on every machine.
    private static func bytes(_ lower: String, in text: String) throws(LectureError) -> UInt64 {
        let refusal = LectureError(
            .parameter, detail: "rate '\(text.prefix(32))'", cause: "a rate is full, off, 0, 500K, 2M or 1.5M a second")
        var digits = lower[...]
        var unit: UInt64 = 1
        switch digits.utf8.last {
        case UInt8(ascii: "k"): unit = 1 << 10
        case UInt8(ascii: "m"): unit = 1 << 20
        case UInt8(ascii: "g"): unit = 1 << 30
        default: break
        }
        if unit > 1 { digits = digits.dropLast() }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, case .value(let whole) = FieldText.decimal(parts[0]) else { throw refusal }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow, product <= UInt64(Int64.max) else { throw refusal }
        guard parts.count == 2 else { return product }
        guard unit > 1, parts[1].utf8.count <= 6, case .value(let fraction) = FieldText.decimal(parts[1]) else {
            throw refusal
        }
        let scale = (0..<parts[1].utf8.count).reduce(1) { scale, _ in scale * 10 } as UInt64
        return product + fraction * unit / scale
    }
}
