import LectureCrypto
import LectureFormats
package import LectureModel

/// Who may use the site: the lines of the access file, as a value.
///
/// A line is `ROLE NAME sha256:HEX`: the role, a name without spaces, and the SHA-256 of a token. `#` begins a comment.
/// The token itself is in no file of the server: it was shown once, when it was made. It has 256 bits of the system's
/// generator, so a plain digest is enough.
package struct AccessList: Sendable, Hashable {
    /// One line.
    package struct Entry: Sendable, Hashable {
        /// Who, and what they may do.
        package let person: SitePerson
        /// The SHA-256 of the token.
        package let digest: [UInt8]

        /// What a session of it has: another token is another entry, so sessions end with the token.
        package var fingerprint: String { Base64URL.text(Array(digest.prefix(12))) }
    }

    /// The lines in their order.
    package private(set) var entries: [Entry] = []

    /// Creates an empty list.
    package init() {}

    /// Reads the text of an access file.
    ///
    /// - Parameter text: the text.
    /// - Throws: `LectureError` with `configuration`; its cause has the number of the line, and nothing of its text.
    package init(_ text: String) throws(LectureError) {
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            if words.isEmpty { continue }
            guard words.count == 3, let role = SiteRole(rawValue: words[0]), words[2].hasPrefix("sha256:"),
                let digest = Hexadecimal.bytes(String(words[2].dropFirst(7))), digest.count == 32,
                !entries.contains(where: { $0.person.name == words[1] })
            else {
                throw LectureError(
                    .configuration, detail: "line \(index + 1)",
                    cause: "a line is a role, a name that no other line has, and sha256: with the digest of a token")
            }
            entries.append(Entry(person: SitePerson(name: words[1], role: role), digest: digest))
        }
    }

    /// Finds whose token this is. Every line is compared, in constant time.
    ///
    /// - Parameters:
    ///   - digest: the SHA-256 of what was sent.
    ///   - name: the name that was sent with it; nil for a token alone.
    /// - Returns: nil when no line has it, or it is another name's.
    func entry(digest: [UInt8], name: String?) -> Entry? {
        var found: Entry?
        for entry in entries where OpenSSLDigests.equal(entry.digest, digest) { found = entry }
        guard let found, name == nil || name == found.person.name else { return nil }
        return found
    }
}
