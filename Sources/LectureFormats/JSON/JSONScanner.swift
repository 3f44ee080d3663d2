/// Reads one JSON text strictly (RFC 8259).
///
/// Licences and descriptors are read with it, so two readers must never see two meanings: UTF-8 only, no byte order
/// mark, no duplicate names, no lone surrogates, exact integers, nothing after the value. Depth and number of items are
/// limited, so that a hostile text costs no more than its length.
package struct JSONScanner {
    /// The limits of a text.
    package struct Limits: Hashable, Sendable {
        /// How deeply arrays and objects may be nested.
        package var depth: Int
        /// How many elements and members there may be in all.
        package var items: Int

        /// Creates limits.
        ///
        /// - Parameters:
        ///   - depth: how deeply containers may be nested.
        ///   - items: how many elements and members there may be in all.
        package init(depth: Int = 32, items: Int = 10_000) {
            self.depth = depth
            self.items = items
        }
    }

    /// Above this many members a set finds duplicates; below it comparing pairs is faster and needs no memory.
    private static let pairwiseMembers = 12

    private let bytes: [UInt8]
    private let limits: Limits
    private var position = 0
    private var itemCount = 0

    private init(_ bytes: [UInt8], _ limits: Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - limits: its limits.
    /// - Returns: its value.
    /// - Throws: `FormatError(.json)`; the detail names the byte offset and what is wrong, never the text itself.
    package static func scan(_ bytes: [UInt8], limits: Limits = Limits()) throws(FormatError) -> JSONValue {
        var scanner = JSONScanner(bytes, limits)
        scanner.skipSpace()
        let value = try scanner.value(depth: 0)
        scanner.skipSpace()
        if scanner.position < bytes.count { throw scanner.fault("text after the value") }
        return value
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - text: the whole text.
    ///   - limits: its limits.
    /// - Returns: its value.
    /// - Throws: `FormatError(.json)`.
    package static func scan(_ text: String, limits: Limits = Limits()) throws(FormatError) -> JSONValue {
        try scan(Array(text.utf8), limits: limits)
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(FormatError) -> JSONValue {
        guard let byte = peek else { throw fault("the text ends too early") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        default: throw fault("no value")
        }
    }

    private mutating func object(depth: Int) throws(FormatError) -> JSONValue {
        try enter(depth)
        var members: [JSONMember] = []
        var names: Set<[UInt8]> = []
        if take(UInt8(ascii: "}")) { return .object([]) }
        // Once for a text: for each object it would be much more than the text of small ones.
        if depth == 1 { members.reserveCapacity(Self.pairwiseMembers) }
        repeat {
            try countItem()
            guard peek == UInt8(ascii: "\"") else { throw fault("no member name") }
            let start = position
            let name = try string()
            let mark = NameMark(name)
            if isDuplicate(name, mark, members, &names) { throw fault("a duplicate member name", at: start) }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw fault("no ':' after a member name") }
            skipSpace()
            members.append(JSONMember(name, mark, try value(depth: depth), at: start))
        } while try continues(closing: UInt8(ascii: "}"))
        return .object(members)
    }

    private mutating func array(depth: Int) throws(FormatError) -> JSONValue {
        try enter(depth)
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat {
            try countItem()
            elements.append(try value(depth: depth))
        } while try continues(closing: UInt8(ascii: "]"))
        return .array(elements)
    }

    private mutating func enter(_ depth: Int) throws(FormatError) {
        if depth > limits.depth { throw fault("more than \(limits.depth) levels") }
        position += 1
        skipSpace()
    }

    /// Takes `,` or the closing bracket.
    private mutating func continues(closing: UInt8) throws(FormatError) -> Bool {
        skipSpace()
        if take(UInt8(ascii: ",")) {
            skipSpace()
            return true
        }
        guard take(closing) else {
            throw fault(position < bytes.count ? "no ',' and no end" : "the text ends too early")
        }
        return false
    }

    private mutating func countItem() throws(FormatError) {
        itemCount += 1
        if itemCount > limits.items { throw fault("more than \(limits.items) items") }
    }

    /// Names are compared by their bytes: `String` treats two normalisations of a letter as equal.
    private func isDuplicate(
        _ name: String, _ mark: NameMark, _ members: [JSONMember], _ names: inout Set<[UInt8]>
    ) -> Bool {
        if members.count < Self.pairwiseMembers { return members.place(of: name, mark) != nil }
        if names.isEmpty { names = Set(members.map { Array($0.name.utf8) }) }
        return !names.insert(Array(name.utf8)).inserted
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(FormatError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw fault("no value") }
        position += word.utf8.count
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(FormatError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let firstDigit = position
        let integer = digits(isNegative)
        let count = position - firstDigit
        if count == 0 { throw fault("no digit in a number") }
        if count > 1, bytes[firstDigit] == 0x30 { throw fault("a number starts with 0", at: start) }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            try requireDigits()
        }
        if let byte = peek, byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try requireDigits()
        }
        // −0 is kept as text: the integer 0 has no sign.
        if isInteger, let integer, !(isNegative && integer == 0) { return .integer(integer) }
        guard let number = JSONNumber(String(decoding: bytes[start..<position], as: UTF8.self)) else {
            throw fault("a number out of range", at: start)
        }
        return .number(number)
    }

    /// Reads a run of digits; counting downwards for negative numbers reaches `Int64.min` without overflow.
    private mutating func digits(_ isNegative: Bool) -> Int64? {
        var value: Int64? = 0
        while let byte = peek, let digit = FieldText.digit(byte) {
            position += 1
            guard let (product, over) = value?.multipliedReportingOverflow(by: 10) else { continue }
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(Int64(digit)) : product.addingReportingOverflow(Int64(digit))
            value = over || carry ? nil : sum
        }
        return value
    }

    private mutating func requireDigits() throws(FormatError) {
        let start = position
        while let byte = peek, FieldText.digit(byte) != nil { position += 1 }
        if position == start { throw fault("no digit in a number") }
    }

    // MARK: Strings

    private mutating func string() throws(FormatError) -> String {
        let opening = position
        position += 1
        let start = position
        let (end, isASCII) = plainRun(from: start)
        position = end
        guard let byte = peek else { throw fault("a string does not end", at: opening) }
        switch byte {
        case UInt8(ascii: "\""):
            position += 1
            // ASCII is always UTF-8, and creating a string without the check takes half the time; a slice of the array
            // would retain it.
            if isASCII {
                return unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0[start..<end], as: UTF8.self) }
            }
            return try text(bytes[start..<end], at: opening)
        case UInt8(ascii: "\\"): return try escapedString(start, opening)
        default: throw fault("a control character in a string")
        }
    }

    /// Where the bytes of a string end that stand for themselves, and whether all of them are ASCII.
    ///
    /// Eight at a time: most of a text is within its strings, and one of them may be a token of a thousand bytes.
    private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
        unsafe bytes.withUnsafeBytes { buffer in
            var end = start
            var seen: UInt64 = 0
            while end + 8 <= buffer.count {
                let word = unsafe buffer.loadUnaligned(fromByteOffset: end, as: UInt64.self)
                if ByteWord.endsPlainText(word) { break }
                seen |= word
                end += 8
            }
            while end < buffer.count {
                let byte = unsafe buffer[end]
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
                seen |= UInt64(byte)
                end += 1
            }
            return (end, seen & ByteWord.tops == 0)
        }
    }

    /// Continues reading from the first backslash.
    private mutating func escapedString(_ start: Int, _ opening: Int) throws(FormatError) -> String {
        var buffer = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return try text(buffer[...], at: opening)
            case UInt8(ascii: "\\"): try escape(into: &buffer)
            case 0..<0x20: throw fault("a control character in a string")
            default:
                buffer.append(byte)
                position += 1
            }
        }
        throw fault("a string does not end", at: opening)
    }

    private mutating func escape(into buffer: inout [UInt8]) throws(FormatError) {
        let start = position
        position += 1
        guard let byte = peek else { throw fault("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
        case UInt8(ascii: "b"): buffer.append(0x08)
        case UInt8(ascii: "f"): buffer.append(0x0C)
        case UInt8(ascii: "n"): buffer.append(0x0A)
        case UInt8(ascii: "r"): buffer.append(0x0D)
        case UInt8(ascii: "t"): buffer.append(0x09)
        case UInt8(ascii: "u"): buffer.append(contentsOf: String(Character(try escapedScalar(start))).utf8)
        default: throw fault("an unknown escape", at: start)
        }
    }

    /// Reads the digits after `\u`, and those of the second half of a surrogate pair (RFC 8259 section 7).
    private mutating func escapedScalar(_ start: Int) throws(FormatError) -> Unicode.Scalar {
        let first = try fourDigits(start)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("half of a surrogate pair", at: start)
        }
        let second = try fourDigits(start)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("half of a surrogate pair", at: start) }
        return scalar
    }

    private mutating func fourDigits(_ start: Int) throws(FormatError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hexadecimal.digit(byte) else {
                throw fault("an unknown escape", at: start)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func text(_ slice: ArraySlice<UInt8>, at offset: Int) throws(FormatError) -> String {
        guard let text = String(validating: slice, as: UTF8.self) else { throw fault("not UTF-8", at: offset) }
        return text
    }

    // MARK: Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func fault(_ what: String, at offset: Int? = nil) -> FormatError {
        FormatError(.json, "byte \(offset ?? position): \(what)")
    }
}
