/// Writes JSON on one line, without spaces, members in the given order (RFC 8259).
///
/// ```swift
/// var writer = JSONWriter()
/// writer.object { writer in
///     writer.member("event", "progress")
///     writer.member("bytes", 12)
/// }
/// writer.text  // {"event":"progress","bytes":12}
/// ```
package struct JSONWriter {
    /// What was written so far; valid UTF-8.
    package private(set) var bytes: [UInt8] = []
    /// Whether the next item of the open container needs a comma before it.
    private var needsComma = false

    /// Creates an empty writer.
    ///
    /// - Parameter capacity: how many bytes to reserve.
    package init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// What was written so far.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes one object as a text of its own.
    ///
    /// - Parameter body: writes the members.
    /// - Returns: the text, without a line end.
    package static func object(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return writer.text
    }

    /// Clears the text and keeps the memory, for the next line.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends a line, so that the next value starts a new one.
    package mutating func endLine() {
        bytes.append(0x0A)
        needsComma = false
    }

    // MARK: Containers

    /// Writes an object, at the top or as an element of an array.
    ///
    /// - Parameter body: writes the members.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        container(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    /// Writes an array, at the top or as an element of an array.
    ///
    /// - Parameter body: writes the elements.
    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        container(UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    /// Writes a member that is an object.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - body: writes the members of the object.
    package mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    /// Writes a member that is an array.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - body: writes the elements.
    package mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
        key(name)
        array(body)
    }

    // MARK: Members

    /// Writes a string member, or nothing for nil.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// Writes an integer member, or nothing for nil.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// Writes an integer member, or nothing for nil. A caller in another module would call each step of the generic
    /// function through a witness table.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, _ value: Int?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// As for `Int`.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, _ value: Int64?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// Writes a number member, or nothing for nil.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value; JSON has no infinities and no NaN, `null` stands for them.
    package mutating func member(_ name: String, _ value: Double?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// Writes a truth member, or nothing for nil.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, _ value: Bool?) {
        guard let value else { return }
        key(name)
        element(value)
    }

    /// Writes a member of any kind, `null` included.
    ///
    /// - Parameters:
    ///   - name: the member's name.
    ///   - value: its value.
    package mutating func member(_ name: String, json value: JSONValue) {
        key(name)
        element(json: value)
    }

    // MARK: Elements

    /// Writes a string.
    ///
    /// - Parameter value: any string.
    package mutating func element(_ value: String) {
        separate()
        append(quoted: value)
    }

    /// Writes an integer.
    ///
    /// - Parameter value: any integer.
    package mutating func element(_ value: some BinaryInteger) {
        separate()
        bytes.append(contentsOf: String(value).utf8)
    }

    /// Writes an integer.
    ///
    /// - Parameter value: any integer.
    package mutating func element(_ value: Int) { element(Int64(value)) }

    /// Writes an integer.
    ///
    /// - Parameter value: any integer.
    package mutating func element(_ value: Int64) {
        separate()
        DecimalText.append(value, to: &bytes)
    }

    /// Writes a number in the shortest form that reads back as the same value.
    ///
    /// - Parameter value: a number; `null` stands for infinities and NaN.
    package mutating func element(_ value: Double) {
        separate()
        bytes.append(contentsOf: value.isFinite ? value.description.utf8 : "null".utf8)
    }

    /// Writes a truth value.
    ///
    /// - Parameter value: the value.
    package mutating func element(_ value: Bool) {
        separate()
        bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
    }

    /// Writes a value of any kind.
    ///
    /// - Parameter value: the value; its depth is bounded by the scanner's limit.
    package mutating func element(json value: JSONValue) {
        switch value {
        case .null:
            separate()
            bytes.append(contentsOf: "null".utf8)
        case .bool(let bool): element(bool)
        case .integer(let integer): element(integer)
        case .number(let number):
            separate()
            bytes.append(contentsOf: number.text.utf8)
        case .string(let text): element(text)
        case .array(let elements):
            array { writer in for element in elements { writer.element(json: element) } }
        case .object(let members):
            object { writer in for member in members { writer.member(member.name, json: member.value) } }
        }
    }

    // MARK: Bytes

    private mutating func container(_ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(opening)
        needsComma = false
        body(&self)
        bytes.append(closing)
        needsComma = true
    }

    private mutating func key(_ name: String) {
        separate()
        append(quoted: name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func append(quoted text: String) {
        bytes.append(UInt8(ascii: "\""))
        // Nearly no text needs an escape, and copying it whole is several times faster than byte by byte.
        var text = text
        let isPlain = text.withUTF8 { utf8 in
            guard unsafe utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 != 0x7F }) else { return false }
            unsafe bytes.append(contentsOf: utf8)
            return true
        }
        if isPlain { return bytes.append(UInt8(ascii: "\"")) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            // DEL as well: it is legal in JSON, but these lines are also read on terminals.
            case 0..<0x20, 0x7F: bytes.append(contentsOf: "\\u00\(Hexadecimal.text(CollectionOfOne(byte)))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONValue {
    /// The value as JSON on one line; numbers that are not 64-bit integers as they were written.
    package var text: String {
        var writer = JSONWriter()
        writer.element(json: self)
        return writer.text
    }
}
