/// Names that come from outside (a course list, a descriptor) and may end up in a directory.
package enum SafeName {
    /// The longest name in bytes: `NAME_MAX` of Linux file systems.
    package static let limit = 255

    /// Checks one part of a path.
    ///
    /// - Parameter name: the candidate.
    /// - Throws: `LectureError(.nameRefused)` when it is empty, `.`, `..`, longer than 255 bytes, or holds `/`, NUL or
    ///   another control character.
    package static func check(_ name: String) throws(LectureError) {
        if let fault = fault(in: name) { throw LectureError(.nameRefused, detail: "a name \(fault)") }
    }

    /// Checks a virtual folder: parts separated by single slashes, each a safe name, 1,024 bytes together.
    ///
    /// - Parameter folder: the candidate, for example `a/b/c`.
    /// - Throws: `LectureError(.nameRefused)` as ``check(_:)``.
    package static func check(folder: String) throws(LectureError) {
        if folder.utf8.count > 1024 { throw LectureError(.nameRefused, detail: "a folder is longer than 1024 bytes") }
        for part in folder.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if let fault = fault(in: String(Substring(part))) {
                throw LectureError(.nameRefused, detail: "a part of a folder \(fault)")
            }
        }
    }

    /// Checks an opaque key: not empty, at most 255 bytes, no control characters.
    ///
    /// - Parameter key: the candidate.
    /// - Throws: `LectureError(.nameRefused)`.
    package static func check(key: String) throws(LectureError) {
        if key.isEmpty { throw LectureError(.nameRefused, detail: "a key is empty") }
        if key.utf8.count > limit { throw LectureError(.nameRefused, detail: "a key is longer than 255 bytes") }
        if hasControls(key) { throw LectureError(.nameRefused, detail: "a key holds a control character") }
    }

    private static func fault(in name: String) -> String? {
        if name.isEmpty { return "is empty" }
        if name == "." || name == ".." { return "is '\(name)'" }
        if name.utf8.count > limit { return "is longer than 255 bytes" }
        if name.utf8.contains(UInt8(ascii: "/")) { return "holds '/'" }
        if hasControls(name) { return "holds a control character" }
        return nil
    }

    /// Also the C1 controls (U+0080…U+009F): terminals obey them like escape sequences.
    private static func hasControls(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
