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
