/// A mistake in a line; the reader adds the number of the line.
struct LineFault: Error {
    let kind: PlaylistError.Kind
    let reason: String

    init(_ reason: String, kind: PlaylistError.Kind = .malformed) {
        self.kind = kind
        self.reason = reason
    }
}

/// Parts of lines, as bytes.
enum PlaylistText {
    /// Without spaces, tabs and carriage returns at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var start = bytes.startIndex
        var end = bytes.endIndex
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return bytes[start..<end]
    }

    /// The bytes as text.
    ///
    /// - Throws: ``LineFault`` for bytes that are not UTF-8: to replace them would change a URL.
    static func string(_ bytes: ArraySlice<UInt8>) throws(LineFault) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw LineFault("the text is not UTF-8") }
        return text
    }

    /// Whether there is a control character other than a tab (RFC 8216 section 4.1).
    static func hasControls(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
    }

    /// Whether the bytes, as a line of their own, are a URI: not empty, no comment, nothing that is trimmed.
    static func isURILine(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let last = bytes.last else { return false }
        return first != UInt8(ascii: "#") && !isBlank(first) && !isBlank(last) && !hasControls(bytes)
    }

    /// Whether the bytes are one value without quotes.
    static func isPlainValue(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let last = bytes.last else { return true }
        return first != UInt8(ascii: "\"") && !isBlank(first) && !isBlank(last) && !hasControls(bytes)
            && !bytes.contains(UInt8(ascii: ","))
    }

    /// Whether the bytes can stand between quotes.
    static func isQuotable(_ bytes: ArraySlice<UInt8>) -> Bool {
        !hasControls(bytes) && !bytes.contains(UInt8(ascii: "\""))
    }

    /// Whether the bytes are the name of an attribute; lower case is not in the grammar, but in use.
    static func isAttributeName(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { isNameByte($0) }
    }

    /// Whether a byte may be in the name of a variable (rfc8216bis section 4.4.2.3).
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

/// Numbers of playlists (RFC 8216 section 4.2).
enum PlaylistNumber {
    /// A decimal integer below 2^63; nil for anything else.
    static func integer(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard !bytes.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in bytes {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            let (product, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - 0x30))
            if over || carry { return nil }
            value = sum
        }
        return value
    }

    /// A decimal number of seconds as nanoseconds, further digits rounded; nil for anything else, also for a sign.
    static func nanoseconds(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        guard let whole = point == bytes.startIndex ? 0 : integer(bytes[..<point]) else { return nil }
        var fraction: Int64 = 0
        var scale: Int64 = 100_000_000
        var rounding: Int64 = 0
        let digits = bytes[point...].dropFirst()
        for (place, byte) in digits.enumerated() {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            fraction += Int64(byte - 0x30) * scale
            scale /= 10
            if place == 9, byte >= 0x35 { rounding = 1 }
        }
        if point == bytes.startIndex, digits.isEmpty { return nil }
        let (product, over) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = product.addingReportingOverflow(fraction + rounding)
        return over || carry ? nil : sum
    }
}

/// Variables of a playlist (rfc8216bis sections 4.3 and 4.4.2.3).
struct VariableTable {
    /// What is defined, in order.
    private(set) var definitions: [PlaylistDefinition] = []
    private var values: [String: [UInt8]] = [:]
    /// The most bytes that a line or a value may have once its variables are replaced.
    let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Defines a variable.
    ///
    /// - Throws: ``LineFault`` when it exists, or when its value could not be in a quoted string or is a reference
    ///   itself: references are replaced once, so such a value could not be written.
    mutating func define(_ name: String, _ value: String) throws(LineFault) {
        let bytes = Array(value.utf8)
        guard PlaylistText.isAttributeName(Array(name.utf8)[...]) else {
            throw LineFault("a variable has no usable name")
        }
        guard values[name] == nil else { throw LineFault("a variable is defined twice") }
        guard PlaylistText.isQuotable(bytes[...]), Self.reference(in: bytes[...]) == nil else {
            throw LineFault("the value of a variable has a quote, a control character or a reference")
        }
        guard bytes.count <= limit else { throw LineFault("the value of a variable is too long", kind: .limit) }
        values[name] = bytes
        definitions.append(PlaylistDefinition(name: name, value: value))
    }

    /// The bytes with the values of variables in the place of their references.
    ///
    /// - Throws: ``LineFault`` for a variable that is not defined, for a result that is too long, and for a result
    ///   that is a reference again.
    func expanded(_ bytes: ArraySlice<UInt8>) throws(LineFault) -> ArraySlice<UInt8> {
        guard var found = Self.reference(in: bytes) else { return bytes }
        var result: [UInt8] = []
        var rest = bytes
        while true {
            result += rest[..<found.lowerBound]
            let name = String(decoding: rest[(found.lowerBound + 2)..<(found.upperBound - 1)], as: UTF8.self)
            guard let value = values[name] else { throw LineFault("a variable is not defined") }
            result += value
            guard result.count <= limit else { throw LineFault("variables make the text too long", kind: .limit) }
            rest = rest[found.upperBound...]
            guard let next = Self.reference(in: rest) else { break }
            found = next
        }
        result += rest
        guard Self.reference(in: result[...]) == nil else { throw LineFault("variables make a reference") }
        return result[...]
    }

    /// The first `{$NAME}`.
    static func reference(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        var start = bytes.startIndex
        while start + 3 < bytes.endIndex {
            guard let open = bytes[start...].firstIndex(of: UInt8(ascii: "{")) else { return nil }
            start = open + 1
            guard start < bytes.endIndex, bytes[start] == UInt8(ascii: "$") else { continue }
            let end = bytes[(start + 1)...].firstIndex { !PlaylistText.isNameByte($0) }
            if let end, end > start + 1, bytes[end] == UInt8(ascii: "}") { return open..<(end + 1) }
        }
        return nil
    }
}
