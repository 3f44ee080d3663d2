/// Base 64 with the alphabet for URLs and without padding (RFC 4648 section 5, RFC 7515 section 2), read strictly: no
/// padding, no white space, and the bits it leaves over must be zero, so that one sequence of bytes has exactly one
/// spelling. A token must not be changeable without invalidating its signature.
package enum Base64URL {
    /// Reads a text. Not generic: the caller is in another module, which would call each step through a witness table.
    ///
    /// - Parameter text: ASCII bytes of the digits.
    /// - Returns: the bytes, or nil when the text is not in the one permitted spelling.
    package static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        unsafe text.withUnsafeBufferPointer { unsafe Base64Digits.bytes($0, values) }
    }

    /// Reads a text.
    ///
    /// - Parameter text: the digits.
    /// - Returns: the bytes, or nil when the text is not in the one permitted spelling.
    package static func bytes(_ text: String) -> [UInt8]? { bytes(Array(text.utf8)[...]) }

    /// Writes digits without padding.
    ///
    /// - Parameter bytes: any bytes.
    /// - Returns: the digits.
    package static func text(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.digits(bytes, plus: UInt8(ascii: "-"), slash: UInt8(ascii: "_")), as: UTF8.self)
    }

    private static let values = Base64Digits.values(plus: UInt8(ascii: "-"), slash: UInt8(ascii: "_"))
}

extension Base64 {
    /// Writes digits with padding (RFC 4648 section 4).
    ///
    /// - Parameter bytes: any bytes.
    /// - Returns: the digits, a multiple of four.
    package static func text(_ bytes: [UInt8]) -> String {
        var digits = digits(bytes, plus: UInt8(ascii: "+"), slash: UInt8(ascii: "/"))
        while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
        return String(decoding: digits, as: UTF8.self)
    }

    fileprivate static func digits(_ bytes: [UInt8], plus: UInt8, slash: UInt8) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                digits.append(digit(bits >> count & 63, plus, slash))
            }
        }
        if count > 0 { digits.append(digit(bits << (6 - count) & 63, plus, slash)) }
        return digits
    }

    private static func digit(_ value: UInt32, _ plus: UInt8, _ slash: UInt8) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: 0x41 + value
        case 26..<52: 0x61 + value - 26
        case 52..<62: 0x30 + value - 52
        case 62: plus
        default: slash
        }
    }
}
