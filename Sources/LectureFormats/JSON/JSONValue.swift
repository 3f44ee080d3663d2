/// A JSON text as a value (RFC 8259).
package enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits, exact.
    case integer(Int64)
    /// Any other number.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object, its members in their order.
    case object([JSONMember])
}

/// A number that is not a 64-bit integer: its source text, because `Double` cannot hold every decimal.
package struct JSONNumber: Hashable, Sendable {
    /// The number as written.
    package let text: String
    /// The nearest `Double`, always finite.
    package let value: Double

    /// Creates a number; nil when the text is not a finite number.
    ///
    /// - Parameter text: a number in the grammar of RFC 8259 section 6.
    package init?(_ text: String) {
        guard let value = Double(text), value.isFinite else { return nil }
        self.text = text
        self.value = value
    }
}

/// One member of an object.
package struct JSONMember: Hashable, Sendable {
    /// The name.
    package let name: String
    /// The value.
    package let value: JSONValue
    /// Where its name begins in the text it was read from, in bytes; 0 for one that was not read.
    package let offset: Int
    /// The mark of the name.
    let mark: NameMark

    /// Creates a member.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - value: the value.
    ///   - offset: where its name begins in the text, in bytes.
    package init(_ name: String, _ value: JSONValue, at offset: Int = 0) {
        self.init(name, NameMark(name), value, at: offset)
    }

    /// Creates a member from a name whose mark is known.
    init(_ name: String, _ mark: NameMark, _ value: JSONValue, at offset: Int) {
        (self.name, self.mark, self.value, self.offset) = (name, mark, value, offset)
    }

    /// Two members are equal that say the same, wherever they were read.
    package static func == (one: Self, other: Self) -> Bool { one.name == other.name && one.value == other.value }

    /// Hashes what is compared.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }
}

extension JSONValue {
    /// The member with this name; nil when there is none, or when this is not an object.
    ///
    /// - Parameter name: compared byte by byte, so that two spellings of one letter are two names.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.place(of: name, NameMark(name)).map { members[$0].value }
    }

    /// The members, nil when this is not an object.
    package var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements, nil when this is not an array.
    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, nil when this is not a string.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer, nil when this is not one.
    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// The number as `Double`, integers included; nil when this is not a number.
    package var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number.value
        default: nil
        }
    }

    /// The truth value, nil when this is not one.
    package var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// Whether this is `null`.
    package var isNull: Bool { if case .null = self { true } else { false } }

    /// What kind of value this is, for error messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
