package import LectureFormats
package import LectureModel

/// Objects of bundles in their one form: members in the order of their names, no spaces, no member twice, as
/// ``JSONWriter`` writes strings and numbers. So one content has one digest, and a reader that takes the first of two
/// equal members sees the same as one that takes the last.
package enum CanonicalJSON {
    /// Writes a value.
    ///
    /// - Parameter value: of any kind; numbers are integers.
    /// - Returns: its one form.
    package static func bytes(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.element(json: sorted(value))
        return writer.bytes
    }

    /// Reads an object that must be in its one form.
    ///
    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - what: what it is, for the refusal.
    /// - Returns: the object.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bundleRefused``.
    package static func object(_ bytes: [UInt8], _ what: String) throws(LectureError) -> JSONValue {
        let value: JSONValue
        do throws(FormatError) {
            value = try JSONScanner.scan(bytes, limits: JSONScanner.Limits(depth: 8, items: 10_000))
        } catch { throw .refusedBundle("\(what) is no JSON") }
        guard value.members != nil, Self.bytes(value) == bytes else {
            throw .refusedBundle("\(what) is not in canonical form")
        }
        return value
    }

    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map(sorted))
        case .object(let members):
            .object(
                members.map { JSONMember($0.name, sorted($0.value)) }.sorted {
                    $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
                })
        default: value
        }
    }
}

/// Reads the members of an object, each once; what is left over is unknown.
struct MemberReading {
    private let what: String
    private let members: [JSONMember]
    private var taken: Set<String> = []

    init(_ value: JSONValue, _ what: String) throws(LectureError) {
        self.what = what
        members = value.members ?? []
        guard value.members != nil, Set(members.map { Array($0.name.utf8) }).count == members.count else {
            throw .refusedBundle("\(what) is no object, or has a member twice")
        }
    }

    private mutating func take(_ name: String) -> JSONValue? {
        taken.insert(name)
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    mutating func text(_ name: String, atMost limit: Int) throws(LectureError) -> String? {
        guard let value = take(name) else { return nil }
        guard let text = value.string, !text.isEmpty, text.utf8.count <= limit, !text.utf8.contains(0) else {
            throw fault(name)
        }
        return text
    }

    mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(LectureError) -> Int64 {
        guard let value = take(name)?.integer, range.contains(value) else { throw fault(name) }
        return value
    }

    mutating func bool(_ name: String) throws(LectureError) -> Bool {
        guard let value = take(name) else { return false }
        // False is no member, so that there is one form.
        guard value.bool == true else { throw fault(name) }
        return true
    }

    mutating func digest(_ name: String) throws(LectureError) -> [UInt8]? {
        guard let text = try text(name, atMost: 2 * BundleFormat.digestBytes) else { return nil }
        guard let bytes = Hexadecimal.bytes(text), bytes.count == BundleFormat.digestBytes,
            Hexadecimal.text(bytes) == text
        else { throw fault(name) }
        return bytes
    }

    mutating func elements(_ name: String, atMost limit: Int) throws(LectureError) -> [JSONValue] {
        guard let value = take(name) else { return [] }
        guard let elements = value.elements, !elements.isEmpty, elements.count <= limit else { throw fault(name) }
        return elements
    }

    mutating func object(_ name: String) throws(LectureError) -> JSONValue {
        guard let value = take(name), value.members != nil else { throw fault(name) }
        return value
    }

    func require<Value>(_ value: Value?, _ name: String) throws(LectureError) -> Value {
        guard let value else { throw fault(name) }
        return value
    }

    /// Ends the reading: an unknown member of a known version is nothing that was meant.
    func finish() throws(LectureError) {
        if let other = members.first(where: { !taken.contains($0.name) }) { throw fault(other.name) }
    }

    func fault(_ name: String) -> LectureError { .refusedBundle("\(what): member '\(name)' is missing or wrong") }
}
