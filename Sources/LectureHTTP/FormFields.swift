import LectureFormats

/// The fields of a form (`application/x-www-form-urlencoded`).
package struct FormFields: Sendable {
    private var fields: [(name: String, value: String)] = []

    /// Reads a body; what is no field is left out.
    ///
    /// - Parameter bytes: the body.
    package init(_ bytes: [UInt8]) {
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let ends = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields.append((Self.decoded(ends[0]), ends.count > 1 ? Self.decoded(ends[1]) : ""))
        }
    }

    /// How many fields there are.
    package var count: Int { fields.count }

    /// How many fields have a name.
    package func count(_ name: String) -> Int { fields.count { $0.name == name } }

    /// The first value of a field.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Writes fields as a query or a body.
    ///
    /// - Parameter fields: names and values.
    /// - Returns: the text; every byte besides letters, digits, `*`, `-`, `.` and `_` is escaped.
    package static func text(_ fields: [(String, String)]) -> String {
        fields.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    }

    /// A text as a name, a value, or one segment of a path.
    ///
    /// - Parameter text: any text.
    /// - Returns: every byte besides letters, digits, `*`, `-`, `.` and `_` is escaped.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        FormEncoding.append(text, to: &bytes)
        // A plus is a plus in a path.
        return String(decoding: bytes, as: UTF8.self).split(separator: "+", omittingEmptySubsequences: false)
            .joined(separator: "%20")
    }

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
