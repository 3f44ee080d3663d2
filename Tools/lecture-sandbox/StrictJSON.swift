/// Reads JSON (RFC 8259) strictly: no duplicate member, no byte order mark, nothing after the value, at most
/// 32 levels.
struct StrictJSON {
    private static let depthLimit = 32
    private let bytes: [UInt8]
    private var index = 0

    /// Reads a whole text.
    ///
    /// - Parameter bytes: UTF-8.
    /// - Returns: the value; a number that is not an integer keeps its text.
    /// - Throws: ``Problem`` with the position of the error.
    static func value(of bytes: [UInt8]) throws -> JSON {
        var reader = StrictJSON(bytes: bytes)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.index == bytes.count else { throw reader.wrong("something follows the value") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func wrong(_ what: String) -> Problem { .input("JSON: \(what) at byte \(index)") }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value(depth: Int) throws -> JSON {
        guard depth <= Self.depthLimit else { throw wrong("too deep") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth))
        case UInt8(ascii: "["): return .array(try elements(depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func word(_ text: String, _ value: JSON) throws -> JSON {
        guard bytes[index...].starts(with: text.utf8) else { throw wrong("no value") }
        index += text.utf8.count
        return value
    }

    private mutating func members(_ depth: Int) throws -> [(String, JSON)] {
        index += 1
        var members: [(String, JSON)] = []
        var names: Set<String> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return members }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw wrong("a member needs a name") }
            let name = try string()
            guard names.insert(name).inserted else { throw wrong("duplicate member '\(name)'") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw wrong("expected a colon") }
            members.append((name, try value(depth: depth + 1)))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw wrong("an object does not end") }
        return members
    }

    private mutating func elements(_ depth: Int) throws -> [JSON] {
        index += 1
        var elements: [JSON] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw wrong("an array does not end") }
        return elements
    }

    private mutating func string() throws -> String {
        index += 1
        var text: [UInt8] = []
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else { throw wrong("not UTF-8") }
                return string
            case UInt8(ascii: "\\"): text += String(try escaped()).utf8
            case 0..<0x20: throw wrong("a control character in a string")
            default: text.append(byte)
            }
        }
        throw wrong("a string does not end")
    }

    private mutating func escaped() throws -> Unicode.Scalar {
        guard let byte = next else { throw wrong("a string does not end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw wrong("no such escape")
        }
        let unit = try hexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800..<0xDC00).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw wrong("half a surrogate pair")
        }
        let low = try hexUnit()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw wrong("half a surrogate pair") }
        return scalar
    }

    private mutating func hexUnit() throws -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw wrong("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }

    private mutating func number() throws -> JSON {
        let start = index
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            if isDigit(next) { throw wrong("a number begins with 0") }
        } else {
            try digits()
        }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        return .number(text)
    }

    private mutating func digits() throws {
        guard isDigit(next) else { throw wrong("no value") }
        while isDigit(next) { index += 1 }
    }

    private func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
}
