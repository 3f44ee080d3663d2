/// One header field, name and value as in the message.
package struct HeaderField: Hashable, Sendable {
    /// The field name; names are compared without regard to case.
    package var name: String
    /// The value without the white space around it.
    package var value: String

    /// Creates a field from parts that are known to be valid, or that came from a server.
    ///
    /// - Parameters:
    ///   - name: the field name.
    ///   - value: the value.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Checks and reads a header to be sent (RFC 9110 sections 5.1 and 5.5).
    ///
    /// The name must be a token. The value may hold visible characters, spaces, tabs and bytes above 0x7F; CR, LF, NUL
    /// and the other control characters are refused, because they end the field early or truncate it on some servers
    /// (request smuggling).
    ///
    /// - Parameter line: `Name: value`, at most 8,192 bytes.
    /// - Throws: `FormatError(.header)` or `FormatError(.headerReserved)`; the detail never repeats the value,
    ///   which may be a credential.
    package init(parsing line: String) throws(FormatError) {
        guard line.utf8.count <= 8192 else {
            throw FormatError(.header, "a header is longer than 8192 bytes")
        }
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw FormatError(.header, "a header holds no ':'")
        }
        try self.init(checking: String(line[..<colon]), value: String(line[line.utf8.index(after: colon)...]))
    }

    /// Checks a header to be sent, passed as name and value.
    ///
    /// - Parameters:
    ///   - name: a token.
    ///   - value: the value; spaces and tabs around it are dropped.
    /// - Throws: `FormatError(.header)` or `FormatError(.headerReserved)` as ``init(parsing:)``.
    package init(checking name: String, value: String) throws(FormatError) {
        guard FieldText.isToken(name) else {
            throw FormatError(.header, "a header's name is empty or holds a refused character")
        }
        let trimmed = FieldText.trimmed(value)
        guard trimmed.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw FormatError(.header, "the value of '\(name)' holds a control character")
        }
        if Self.isReserved(name) { throw FormatError(.headerReserved, name) }
        self.init(name: name, value: String(trimmed))
    }

    /// Fields that frame a message, choose its server or connection, or make it conditional or partial (RFC 9110
    /// sections 7, 8.6, 10.1, 13 and 14, RFC 9112): with another value the answer is not the one that was requested.
    private static let reserved = [
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "range", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    private static func isReserved(_ name: String) -> Bool {
        let lower = name.lowercased()
        return lower.hasPrefix("if-") || reserved.contains(lower)
    }

    /// The field as libcurl wants it: `Name: value`, or `Name;` for an empty value (`Name:` would remove the field).
    package var line: String { value.isEmpty ? "\(name);" : "\(name): \(value)" }
}

/// The header fields of one message, in their order.
package struct HeaderFields: Hashable, Sendable {
    /// The fields in their order.
    package private(set) var elements: [HeaderField]

    /// Creates a list.
    ///
    /// - Parameter elements: the fields in their order.
    package init(_ elements: [HeaderField] = []) { self.elements = elements }

    /// The value of the first field with this name.
    ///
    /// - Parameter name: the name, in any case.
    package subscript(name: String) -> String? {
        elements.first { FieldText.equal($0.name, name) }?.value
    }

    /// The values of all fields with this name, in their order.
    ///
    /// - Parameter name: the name, in any case.
    /// - Returns: the values, none when there is no such field.
    package func values(of name: String) -> [String] {
        elements.lazy.filter { FieldText.equal($0.name, name) }.map(\.value)
    }

    /// The elements of a field that is a comma-separated list, over all its lines (RFC 9110 section 5.3).
    ///
    /// - Parameter name: the name, in any case.
    /// - Returns: the elements, trimmed, empty ones dropped.
    package func list(of name: String) -> [Substring] {
        values(of: name).flatMap(FieldText.elements(ofList:))
    }

    /// Adds a field at the end.
    ///
    /// - Parameter field: the field.
    package mutating func append(_ field: HeaderField) { elements.append(field) }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
    /// Creates a list from names and values; equal names are kept, in order.
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { HeaderField(name: $0.0, value: $0.1) })
    }
}
