/// Bytes as hexadecimal digits.
package enum Hexadecimal {
    /// Reads hexadecimal digits of either case.
    ///
    /// - Parameter text: an even number of digits, nothing else.
    /// - Returns: the bytes, or nil when the text holds anything else.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for byte in text.utf8 {
            guard let digit = digit(byte) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// Writes lower-case hexadecimal digits, two per byte.
    ///
    /// - Parameter bytes: any bytes.
    /// - Returns: the digits.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        for byte in bytes {
            digits.append(digit(of: byte >> 4))
            digits.append(digit(of: byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The value of a hexadecimal digit.
    ///
    /// - Parameter byte: an ASCII byte.
    /// - Returns: 0…15, or nil for any other byte.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}

/// Base 64 as in RFC 4648 section 4, read strictly: padding is required, and its unused bits must be zero, so that one
/// sequence of bytes has exactly one spelling.
package enum Base64 {
    /// Reads a text.
    ///
    /// - Parameter text: the digits with their padding, without white space.
    /// - Returns: the bytes, or nil when the text is not in the one permitted spelling.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var bits: UInt32 = 0
        var count = 0
        for byte in digits.dropLast(padding) {
            guard let value = value(byte) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
