package import LectureFormats

/// Reads the members of a JSON object by their kinds: missing and `null` are nil, another kind is an error that names
/// the member.
package struct MemberReader {
    /// The object.
    package let value: JSONValue

    /// Creates a reader.
    ///
    /// - Parameter value: the object.
    /// - Throws: `LectureError(.json)` when it is not an object.
    package init(_ value: JSONValue) throws(LectureError) {
        guard value.members != nil else {
            throw LectureError(.json, detail: "\(value.kind) where an object is expected")
        }
        self.value = value
    }

    /// The names of unknown members.
    ///
    /// - Parameter known: the known names.
    /// - Returns: the others, in the order of the text.
    package func unknown(besides known: [String]) -> [String] {
        (value.members ?? []).map(\.name).filter { name in !known.contains { $0.utf8.elementsEqual(name.utf8) } }
    }

    /// Text.
    package func string(_ name: String) throws(LectureError) -> String? {
        try read(name, "a string", \.string)
    }

    /// A truth value.
    package func bool(_ name: String) throws(LectureError) -> Bool? {
        try read(name, "true or false", \.bool)
    }

    /// The members of an object.
    package func object(_ name: String) throws(LectureError) -> [JSONMember]? {
        try read(name, "an object", \.members)
    }

    /// The elements of an array.
    package func array(_ name: String) throws(LectureError) -> [JSONValue]? {
        try read(name, "an array", \.elements)
    }

    /// Texts.
    package func strings(_ name: String) throws(LectureError) -> [String]? {
        guard let elements = try array(name) else { return nil }
        let strings = elements.compactMap(\.string)
        if strings.count != elements.count { throw fault(name, "an array of strings") }
        return strings
    }

    /// An integer in a range.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(LectureError) -> Int? {
        guard let integer = try read(name, "an integer", \.integer) else { return nil }
        guard range.contains(integer) else { throw fault(name, "\(range.lowerBound)…\(range.upperBound)") }
        return Int(integer)
    }

    /// A number of bytes.
    package func size(_ name: String) throws(LectureError) -> UInt64? {
        guard let integer = try read(name, "a number of bytes", \.integer) else { return nil }
        guard integer >= 0 else { throw fault(name, "a number of bytes") }
        return UInt64(integer)
    }

    /// A number of seconds.
    package func seconds(_ name: String) throws(LectureError) -> Double? {
        guard let seconds = try read(name, "a number of seconds", \.double) else { return nil }
        // A hundred years: `Duration` traps for a number that it cannot hold.
        guard (0...3_153_600_000).contains(seconds) else { throw fault(name, "a number of seconds") }
        return seconds
    }

    /// 32 bytes in hexadecimal digits.
    package func digest(_ name: String) throws(LectureError) -> [UInt8]? {
        guard let text = try string(name) else { return nil }
        guard let bytes = Hexadecimal.bytes(text), bytes.count == 32 else { throw fault(name, "64 hexadecimal digits") }
        return bytes
    }

    /// A usable http or https URL.
    package func url(_ name: String) throws(LectureError) -> String? {
        guard let url = try string(name) else { return nil }
        do throws(LectureError) {
            _ = try Origin(url: url)
        } catch {
            throw LectureError(error.code, detail: "member '\(name)'", cause: error.detail)
        }
        return url
    }

    private func read<T>(_ name: String, _ due: String, _ kind: (JSONValue) -> T?) throws(LectureError) -> T? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let read = kind(member) else { throw fault(name, due) }
        return read
    }

    private func fault(_ name: String, _ due: String) -> LectureError {
        LectureError(.json, detail: "member '\(name)' is not \(due)")
    }
}
