/// The value of an attribute, as it is spelled (RFC 8216 section 4.2).
package enum AttributeValue: Sendable {
    /// A quoted string, without its quotes.
    case quoted(String)
    /// A number, a hexadecimal sequence, an enumerated string or a resolution.
    case plain(String)

    /// The value without quotes.
    package var text: String {
        switch self {
        case .quoted(let text), .plain(let text): text
        }
    }
}

/// By bytes: two spellings of one letter are two URLs.
extension AttributeValue: Hashable {
    /// Compares spelling and bytes.
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.quoted(let left), .quoted(let right)), (.plain(let left), .plain(let right)):
            left.utf8.elementsEqual(right.utf8)
        default: false
        }
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// The attributes of a tag in their order, unknown ones included, so that nothing is lost when it is written.
package struct AttributeList: Hashable, Sendable {
    /// One attribute.
    package struct Element: Hashable, Sendable {
        /// Its name: letters, digits and `-`.
        package let name: String
        /// Its value.
        package var value: AttributeValue
    }

    /// All attributes in their order.
    package private(set) var elements: [Element] = []

    /// Creates an empty list.
    package init() {}

    /// The value of an attribute; one that is set goes to its place or to the end, nil removes it.
    ///
    /// - Parameter name: the name as in the RFC.
    package subscript(name: String) -> AttributeValue? {
        get { elements.first { $0.name == name }?.value }
        set {
            let place = elements.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let value?): elements[place].value = value
            case (let place?, nil): elements.remove(at: place)
            case (nil, let value?): elements.append(Element(name: name, value: value))
            case (nil, nil): break
            }
        }
    }

    /// The value of an attribute without quotes, whether or not it was quoted: playlists in use forget them.
    ///
    /// - Parameter name: the name as in the RFC.
    /// - Returns: the text, nil without the attribute.
    package func text(_ name: String) -> String? { self[name]?.text }

    /// Whether an attribute is `YES`.
    ///
    /// - Parameter name: the name as in the RFC.
    /// - Returns: false for any other value, and without the attribute.
    package func isYes(_ name: String) -> Bool { text(name) == "YES" }

    /// A decimal integer.
    ///
    /// - Parameter name: the name as in the RFC.
    /// - Returns: the number; nil without the attribute, or when it is no number below 2^63.
    package func integer(_ name: String) -> Int64? {
        text(name).flatMap { PlaylistNumber.integer(Array($0.utf8)[...]) }
    }
}

/// Reads attribute lists.
enum AttributeScanner {
    /// Reads a list. Blanks around names and values are ignored, as players do.
    ///
    /// - Parameters:
    ///   - bytes: what is after the colon of a tag.
    ///   - variables: for quoted strings and hexadecimal sequences (rfc8216bis section 4.3).
    /// - Returns: the attributes.
    /// - Throws: ``LineFault`` for an attribute without a name or a value, an open quote, a name that appears twice
    ///   (rfc8216bis section 4.2), or an unusable variable.
    static func list(_ bytes: ArraySlice<UInt8>, _ variables: VariableTable) throws(LineFault) -> AttributeList {
        var list = AttributeList()
        var rest = PlaylistText.trimmed(bytes)
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else {
                throw LineFault("an attribute has no value")
            }
            let name = PlaylistText.trimmed(rest[..<equals])
            guard PlaylistText.isAttributeName(name) else { throw LineFault("an attribute has no usable name") }
            let text = String(decoding: name, as: UTF8.self)
            guard list[text] == nil else { throw LineFault("an attribute appears twice") }
            rest = PlaylistText.trimmed(rest[(equals + 1)...])
            list[text] = try value(&rest, variables)
        }
        return list
    }

    /// Takes a value and the comma behind it.
    private static func value(
        _ rest: inout ArraySlice<UInt8>, _ variables: VariableTable
    ) throws(LineFault) -> AttributeValue {
        if rest.first == UInt8(ascii: "\"") {
            guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
                throw LineFault("a quoted string has no end")
            }
            let text = try variables.expanded(rest[(rest.startIndex + 1)..<end])
            rest = PlaylistText.trimmed(rest[(end + 1)...])
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else {
                throw LineFault("there is text after a quoted string")
            }
            rest = PlaylistText.trimmed(rest.dropFirst())
            return .quoted(try PlaylistText.string(text))
        }
        let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
        let text = try variables.expanded(PlaylistText.trimmed(rest[..<end]))
        guard PlaylistText.isPlainValue(text) else { throw LineFault("a variable makes more than one value") }
        rest = end < rest.endIndex ? PlaylistText.trimmed(rest[(end + 1)...]) : []
        return .plain(try PlaylistText.string(text))
    }
}
