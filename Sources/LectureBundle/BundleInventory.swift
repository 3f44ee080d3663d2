import LectureFormats
package import LectureModel

/// What the target of a bundle has already: the output of `lecturectl list --json` there.
package struct BundleInventory: Sendable, Hashable {
    /// The digests of complete lectures by the bytes of their keys: to Swift, texts of other bytes may be equal.
    private var digests: [[UInt8]: String] = [:]

    /// Knows of nothing.
    package init() {}

    /// Takes a line.
    ///
    /// - Parameter line: a record of a lecture. Others, such as events, are left out, so that the output of any command
    ///   may be passed on.
    /// - Throws: ``LectureError`` with ``LectureError/Code/json`` for what is no JSON object.
    package mutating func add(_ line: [UInt8]) throws(LectureError) {
        let value: JSONValue
        do throws(FormatError) { value = try JSONScanner.scan(line) } catch { throw LectureError(.json) }
        guard value.members != nil else { throw LectureError(.json) }
        guard value["record"]?.string == "content", value["playable"]?.bool == true, value["outdated"] == nil,
            let key = value["key"]?.string, let digest = value["sha256"]?.string
        else { return }
        digests[Array(key.utf8)] = digest
    }

    /// Whether the target has some version of a lecture.
    ///
    /// - Parameter key: the lecture.
    /// - Returns: whether it does.
    package func knows(_ key: ContentKey) -> Bool { digests[Array(key.text.utf8)] != nil }

    /// Whether the target has a lecture with the same bytes.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - sha256: of its media.
    /// - Returns: whether it does.
    package func has(_ key: ContentKey, sha256: [UInt8]) -> Bool {
        digests[Array(key.text.utf8)] == Hexadecimal.text(sha256)
    }
}
