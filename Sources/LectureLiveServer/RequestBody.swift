import LectureFormats

/// A body that is one JSON object.
struct RequestBody {
    let value: JSONValue

    /// Reads a body; an empty one is an object without members.
    ///
    /// - Parameter bytes: the body.
    /// - Throws: ``LiveRefusal``.
    init(_ bytes: [UInt8]) throws {
        if bytes.isEmpty {
            value = .object([])
        } else {
            guard let value = try? JSONScanner.scan(bytes), value.members != nil else { throw LiveRefusal.body }
            self.value = value
        }
    }

    /// A member that is a text; nil when it is missing or null.
    ///
    /// - Parameter name: of the member.
    /// - Returns: the text.
    /// - Throws: ``LiveRefusal`` for another kind.
    func text(_ name: String) throws -> String? {
        guard let value = value[name], !value.isNull else { return nil }
        guard let text = value.string else { throw LiveRefusal.body }
        return text
    }
}

/// The fields of a form (`application/x-www-form-urlencoded`).
struct FormFields {
    private var fields: [(name: String, value: String)] = []

    /// Reads a body; what is no field is left out.
    ///
    /// - Parameter bytes: the body.
    init(_ bytes: [UInt8]) {
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let ends = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields.append((Self.decoded(ends[0]), ends.count > 1 ? Self.decoded(ends[1]) : ""))
        }
    }

    /// How many fields there are.
    var count: Int { fields.count }

    /// How many fields have a name.
    func count(_ name: String) -> Int { fields.count { $0.name == name } }

    /// The first value of a field.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(0x20)
            case UInt8(ascii: "%"):
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                if digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                    decoded.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default: decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
