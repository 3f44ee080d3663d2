/// Small parsers of ASCII protocol text.
///
/// Everything works on bytes, so that no Unicode rule (case folding, combining marks, other digits) can make two
/// different protocol texts look alike.
package enum FieldText {
    /// The value of a run of digits.
    package enum Decimal: Hashable, Sendable {
        /// A number that fits.
        case value(UInt64)
        /// Digits only, but the number exceeds 2^63 − 1: files, SQLite and libcurl count with 63 bits.
        case overflow
        /// Empty, or not digits only (a sign and white space are refused too).
        case malformed
    }

    /// Reads an unsigned decimal number, digits only (RFC 9110 section 8.6).
    ///
    /// - Parameter text: the digits.
    /// - Returns: the number, or why there is none.
    package static func decimal(_ text: some StringProtocol) -> Decimal {
        var value: UInt64 = 0
        var overflowed = false
        var count = 0
        for byte in text.utf8 {
            guard let digit = digit(byte) else { return .malformed }
            count += 1
            let (product, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            if over || carry || sum > UInt64(Int64.max) { overflowed = true } else { value = sum }
        }
        if count == 0 { return .malformed }
        return overflowed ? .overflow : .value(value)
    }

    /// The value of an ASCII digit.
    ///
    /// - Parameter byte: a byte of protocol text.
    /// - Returns: 0…9, or nil for any other byte.
    package static func digit(_ byte: UInt8) -> UInt8? {
        byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : nil
    }

    /// Whether the text is a token: one or more `tchar` (RFC 9110 section 5.6.2).
    ///
    /// - Parameter text: the candidate.
    /// - Returns: true for a token.
    package static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    /// Compares two texts, ignoring the case of ASCII letters and comparing every other byte exactly.
    ///
    /// - Parameters:
    ///   - left: one text.
    ///   - right: the other.
    /// - Returns: whether they are equal.
    package static func equal(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    /// The text with ASCII letters in lower case.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text; other letters are left alone.
    package static func lowercased(_ text: some StringProtocol) -> String {
        // Only bytes below 0x80 change, so valid UTF-8 stays valid.
        String(decoding: text.utf8.map(lowercased), as: UTF8.self)
    }

    /// The text without spaces and tabs at both ends (OWS, RFC 9110 section 5.6.3).
    ///
    /// - Parameter text: a field value or a list element.
    /// - Returns: the part without them.
    package static func trimmed(_ text: some StringProtocol) -> Substring {
        let whole = Substring(text)
        let bytes = whole.utf8
        var start = bytes.startIndex
        var end = bytes.endIndex
        while start < end, isBlank(bytes[start]) { start = bytes.index(after: start) }
        while start < end {
            let last = bytes.index(before: end)
            guard isBlank(bytes[last]) else { break }
            end = last
        }
        return whole[start..<end]
    }

    /// The elements of a comma-separated list, trimmed, empty ones dropped; commas in quoted strings do not separate
    /// (RFC 9110 section 5.6.1).
    ///
    /// - Parameter text: one field value.
    /// - Returns: the elements in their order.
    package static func elements(ofList text: String) -> [Substring] {
        split(text, at: UInt8(ascii: ","))
    }

    /// Splits at a byte outside quoted strings.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - separator: an ASCII byte.
    /// - Returns: the parts, trimmed, empty ones dropped.
    package static func split(_ text: String, at separator: UInt8) -> [Substring] {
        var parts: [Substring] = []
        var quoted = false
        var escaped = false
        var start = text.utf8.startIndex
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if escaped {
                escaped = false
            } else if quoted && byte == UInt8(ascii: "\\") {
                escaped = true
            } else if byte == UInt8(ascii: "\"") {
                quoted.toggle()
            } else if byte == separator && !quoted {
                parts.append(trimmed(text[start..<index]))
                start = text.utf8.index(after: index)
            }
        }
        parts.append(trimmed(text[start...]))
        return parts.filter { !$0.isEmpty }
    }

    /// Whether the text holds an ASCII control character (below 0x20, or DEL).
    ///
    /// - Parameter text: any text.
    /// - Returns: true when there is one.
    package static func hasControls(_ text: some StringProtocol) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
