/// Base 64 with the alphabet for URLs and without padding (RFC 4648 section 5, RFC 7515 section 2), read strictly: no
/// padding, no white space, and the bits it leaves over must be zero, so that one sequence of bytes has exactly one
/// spelling. A token must not be changeable without invalidating its signature.
package enum Base64URL {
    /// Reads a text. Not generic: the caller is in another module, which would call each step through a witness table.
    ///
    /// - Parameter text: ASCII bytes of the digits.
    /// - Returns: the bytes, or nil when the text is not in the one permitted spelling.
    package static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let rest = text.count % 4
        // A digit alone starts no byte.
        if rest == 1 { return nil }
        let whole = text.count - rest
        let count = whole / 4 * 3 + (rest == 0 ? 0 : rest - 1)
        // The bits of all values; what is no digit sets the highest of a byte.
        var seen: UInt8 = 0
        // The bits that are left over at the end.
        var excess: UInt32 = 0
        // Sound: exactly `count` bytes are written, three for each four digits and one less than the rest of them.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            unsafe text.withUnsafeBufferPointer { digits in
                unsafe values.withUnsafeBufferPointer { values in
                    func value(_ place: Int) -> UInt32 {
                        let value = unsafe values[Int(digits[place])]
                        seen |= value
                        return UInt32(value)
                    }
                    var (from, to) = (0, 0)
                    while from < whole {
                        let bits = value(from) << 18 | value(from + 1) << 12 | value(from + 2) << 6 | value(from + 3)
                        unsafe buffer[to] = UInt8(truncatingIfNeeded: bits >> 16)
                        unsafe buffer[to + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                        unsafe buffer[to + 2] = UInt8(truncatingIfNeeded: bits)
                        (from, to) = (from + 4, to + 3)
                    }
                    if rest > 1 {
                        let last = rest == 3 ? value(from + 2) : 0
                        let bits = value(from) << 18 | value(from + 1) << 12 | last << 6
                        unsafe buffer[to] = UInt8(truncatingIfNeeded: bits >> 16)
                        if rest == 3 { unsafe buffer[to + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
                        excess = rest == 3 ? bits & 0xFF : bits & 0xFFFF
                    }
                }
            }
            written = count
        }
        return seen < 0x80 && excess == 0 ? bytes : nil
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

    /// The value of each byte as a digit; 0xFF for what is none.
    private static let values: [UInt8] = (0...255).map { byte in
        switch UInt8(byte) {
        case 0x41...0x5A: UInt8(byte) - 0x41
        case 0x61...0x7A: UInt8(byte) - 0x61 + 26
        case 0x30...0x39: UInt8(byte) - 0x30 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: 0xFF
        }
    }
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
