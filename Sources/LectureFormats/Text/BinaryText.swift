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
        return unsafe digits.dropLast(padding).withUnsafeBufferPointer { unsafe Base64Digits.bytes($0, values) }
    }

    private static let values = Base64Digits.values(plus: UInt8(ascii: "+"), slash: UInt8(ascii: "/"))
}

/// Reads the digits of base 64 in any alphabet.
enum Base64Digits {
    /// What stands in a table for a byte that is no digit: no value of a digit has its upper bits.
    private static let none: UInt8 = 0xFF

    /// The values of all bytes in an alphabet.
    ///
    /// - Parameters:
    ///   - plus: the digit 62.
    ///   - slash: the digit 63.
    /// - Returns: 256 values; 255 for bytes that are no digits.
    static func values(plus: UInt8, slash: UInt8) -> [UInt8] {
        var values = [UInt8](repeating: none, count: 256)
        let digits = Array(0x41...0x5A) + Array(0x61...0x7A) + Array(0x30...0x39) + [plus, slash]
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }

    /// Reads digits, four at a time: that is several times as fast as one by one with a test for each.
    ///
    /// - Parameters:
    ///   - digits: the digits without padding.
    ///   - values: the alphabet, as ``values(plus:slash:)`` makes it.
    /// - Returns: the bytes; nil for any other byte among the digits, for a digit that starts no byte, or for bits that
    ///   are left over and not zero.
    static func bytes(_ digits: UnsafeBufferPointer<UInt8>, _ values: [UInt8]) -> [UInt8]? {
        let rest = digits.count % 4
        // Six remaining bits are a digit that starts no byte.
        guard rest != 1 else { return nil }
        // All values together: one that is no digit's shows in the upper bits.
        var seen: UInt8 = 0
        var leftOver: UInt32 = 0
        let capacity = digits.count / 4 * 3 + 2
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            unsafe values.withUnsafeBufferPointer { values in
                // proof: the index is a byte, and there are 256 values.
                func value(_ place: Int) -> UInt32 {
                    let value = unsafe values[Int(digits[place])]
                    seen |= value
                    return UInt32(value)
                }
                var place = 0
                while place < digits.count - rest {
                    let bits = value(place) << 18 | value(place + 1) << 12 | value(place + 2) << 6 | value(place + 3)
                    unsafe output[count] = UInt8(truncatingIfNeeded: bits >> 16)
                    unsafe output[count + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                    unsafe output[count + 2] = UInt8(truncatingIfNeeded: bits)
                    count += 3
                    place += 4
                }
                if rest == 0 { return }
                let bits = value(place) << 12 | value(place + 1) << 6 | (rest == 3 ? value(place + 2) : 0)
                unsafe output[count] = UInt8(truncatingIfNeeded: bits >> 10)
                if rest == 3 { unsafe output[count + 1] = UInt8(truncatingIfNeeded: bits >> 2) }
                leftOver = bits & (rest == 3 ? 3 : 0x3FF)
                count += rest - 1
            }
        }
        return seen < 64 && leftOver == 0 ? bytes : nil
    }
}
