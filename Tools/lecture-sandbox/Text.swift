/// Small encodings: hex, base64, percent and JSON.
enum Text {
    private static let hexDigits = Array("0123456789abcdef".utf8)
    private static let base64Digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let base64URLDigits = base64Digits.dropLast(2) + Array("-_".utf8)

    static func hex(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(hexDigits[Int(byte >> 4)])
            text.append(hexDigits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Standard base64 with padding (RFC 4648 section 4).
    static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            var four: [UInt8] = []
            for _ in 0..<4 {
                four.insert(base64Digits[word & 63], at: 0)
                word >>= 6
            }
            for index in (group.count + 1)..<4 where index < 4 { four[index] = UInt8(ascii: "=") }
            text += four
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Base64 for URLs, without padding (RFC 4648 section 5).
    static func base64URL(_ bytes: [UInt8]) -> String {
        let text = base64(bytes).utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads base64 for URLs; `nil` for anything else, padding included.
    static func fromBase64URL(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var word = 0
        var bits = 0
        for byte in text.utf8 {
            guard let value = base64URLDigits.firstIndex(of: byte) else { return nil }
            word = (word << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return text.utf8.count % 4 == 1 ? nil : bytes
    }

    /// Decodes %XX; a broken escape stays as it is.
    static func percentDecoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.count >= 2
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads `application/x-www-form-urlencoded` strictly.
    ///
    /// - Parameter bytes: the body of a request.
    /// - Returns: names and the bytes of their values, in their order.
    /// - Throws: ``Problem`` for a broken escape.
    static func form(_ bytes: [UInt8]) throws -> [(name: String, value: [UInt8])] {
        try bytes.split(separator: UInt8(ascii: "&")).map { field in
            let pair = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try formDecoded(pair[0])
            return (String(decoding: name, as: UTF8.self), pair.count > 1 ? try formDecoded(pair[1]) : [])
        }
    }

    private static func formDecoded(_ text: ArraySlice<UInt8>) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = text.startIndex
        while index < text.endIndex {
            switch text[index] {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < text.endIndex, let high = hexValue(text[index + 1]),
                    let low = hexValue(text[index + 2])
                else { throw Problem.input("a form with a broken escape") }
                bytes.append(high << 4 | low)
                index += 2
            default: bytes.append(text[index])
            }
            index += 1
        }
        return bytes
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Encodes everything except unreserved characters (RFC 3986 section 2.3).
    static func percentEncoded(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.append(byte)
            default:
                result += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// A JSON value; members keep their order.
indirect enum JSON: Sendable {
    case object([(String, JSON)])
    case array([JSON])
    case string(String)
    case integer(Int64)
    /// A number that is not an integer of 64 bits, as written.
    case number(String)
    case boolean(Bool)
    case null

    /// The value as one line.
    var text: String {
        switch self {
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .string(let text): Self.quoted(text)
        case .integer(let number): String(number)
        case .number(let text): text
        case .boolean(let truth): truth ? "true" : "false"
        case .null: "null"
        }
    }

    /// The member of an object.
    subscript(name: String) -> JSON? { members?.first { $0.0 == name }?.1 }

    /// The members, of an object.
    var members: [(String, JSON)]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements, of an array.
    var elements: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, of a string.
    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, of an integer.
    var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// A text, or null.
    static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
