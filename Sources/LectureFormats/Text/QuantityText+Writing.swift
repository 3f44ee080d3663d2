// Numbers with units, as people read them. Integer arithmetic, no locale: the same everywhere.
extension QuantityText {
    /// A number of bytes with three significant digits: `0 B`, `999 B`, `1.50 KiB`, `12.3 MiB`, `157 GiB`.
    ///
    /// - Parameter bytes: the number.
    /// - Returns: at most 8 characters for anything below an exbibyte.
    package static func text(byteCount bytes: Int64) -> String {
        var text: [UInt8] = []
        append(byteCount: bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends what ``text(byteCount:)`` returns.
    ///
    /// - Parameters:
    ///   - bytes: the number.
    ///   - text: what it is appended to.
    package static func append(byteCount bytes: Int64, to text: inout [UInt8]) {
        guard bytes >= 1000 else {
            DecimalText.append(max(0, bytes), to: &text)
            return text.append(contentsOf: " B".utf8)
        }
        var unit = -1
        var whole = bytes
        // Up to 999.5 of a unit; 1000 KiB reads better as 0.98 MiB.
        var divisor: Int64 = 1
        while whole >= 1000, unit < 5 {
            unit += 1
            divisor <<= 10
            whole = bytes / divisor
        }
        let hundredths = hundredfold(bytes, over: divisor)
        DecimalText.append(hundredths / 100, to: &text)
        let decimal = UInt8(hundredths % 100 / 10)
        switch hundredths {
        case ..<1000: text += [UInt8(ascii: "."), 0x30 + decimal, 0x30 + UInt8(hundredths % 10)]
        case ..<10_000: text += [UInt8(ascii: "."), 0x30 + decimal]
        default: break
        }
        text += [UInt8(ascii: " "), units[unit], UInt8(ascii: "i"), UInt8(ascii: "B")]
    }

    /// The first letters of the units from KiB on.
    private static let units = Array("KMGTPE".utf8)

    /// A length of time in a sentence, in one unit, rounded down: `1 second`, `119 seconds`, `2 minutes`, `47 hours`,
    /// `2 days`.
    ///
    /// - Parameter seconds: the length; negative counts as 0.
    /// - Returns: the text.
    package static func text(seconds: Int64) -> String {
        switch max(0, seconds) {
        case 1: "1 second"
        case ..<120: "\(max(0, seconds)) seconds"
        case ..<7200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3600) hours"
        default: "\(seconds / 86_400) days"
        }
    }

    /// 100 × part / whole, rounded down, without overflow on the way; the quotient must fit, `part` not be negative.
    package static func hundredfold(_ part: Int64, over whole: Int64) -> Int64 {
        Int64(whole.magnitude.dividingFullWidth(part.magnitude.multipliedFullWidth(by: 100)).quotient)
    }
}
