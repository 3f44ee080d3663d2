import LectureFormats
import LectureHTTP
import LectureModel

/// Links that let one person watch one lecture until a time, without a token: signed, so that the server keeps no list
/// of them.
struct LectureLinks: Sendable {
    private let access: SiteAccess
    private let now: @Sendable () -> Timestamp

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - access: signs.
    ///   - now: the time.
    init(_ access: SiteAccess, now: @escaping @Sendable () -> Timestamp) { (self.access, self.now) = (access, now) }

    /// Makes a link.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - user: the name of the person, 1…128 bytes, as it is in reports.
    ///   - until: when it ends, in seconds since 1970.
    /// - Returns: the path.
    /// - Throws: `LectureError`: `parameter`, `cryptography`.
    func make(_ key: ContentKey, user: String, until: Int64) throws(LectureError) -> String {
        let isPlain = user.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        guard !user.isEmpty, user.utf8.count <= 128, isPlain else {
            throw LectureError(.parameter, detail: "user", cause: "1 to 128 bytes without control characters")
        }
        guard until > now().milliseconds / 1000, until < 1 << 40 else {
            throw LectureError(.parameter, detail: "until", cause: "a time to come, in seconds since 1970")
        }
        let signature = try access.linkSignature(Self.claim(key.text, user, "\(until)"))
        let segments = [LectureSegment.text(key.text), LectureSegment.text(user), "\(until)", signature]
        return "/classroom/open/\(segments.joined(separator: "/"))"
    }

    /// Begins the session of a person who has come by a link.
    ///
    /// - Parameters:
    ///   - key: the segment of the lecture.
    ///   - user: the segment of the person.
    ///   - until: when it ends.
    ///   - signature: of these three.
    /// - Returns: leads to the watch page.
    /// - Throws: ``ClassroomRefusal/link``; `LectureError` with `cryptography`.
    func open(_ key: String, user: String, until: String, _ signature: String) throws -> HTTPAnswer {
        guard let key = LectureSegment.key(key), let user = LectureSegment.key(user), let end = Int64(until),
            SiteAccess.isSame(try access.linkSignature(Self.claim(key, user, until)), signature)
        else { throw ClassroomRefusal.link }
        let left = end - now().milliseconds / 1000
        guard left > 0 else { throw ClassroomRefusal.link }
        let viewer = SitePerson(name: user, role: .viewer, lecture: key)
        let cookie = try access.admit(viewer, lasting: min(SiteAccess.lifetime, .seconds(left)))
        let place = "/classroom/lectures/\(LectureSegment.text(key))"
        return HTTPAnswer(303, [("Location", place), ("Set-Cookie", cookie)])
    }

    /// What is signed: no two different links have the same text.
    private static func claim(_ key: String, _ user: String, _ until: String) -> String {
        [key, user, until].map { Base64URL.text(Array($0.utf8)) }.joined(separator: ".")
    }
}

/// A text as one segment of a path. One that no segment can be, for instance with a slash, is `~` and its base64url.
enum LectureSegment {
    /// Writes a segment, percent-encoded.
    ///
    /// - Parameter text: a key or a name.
    /// - Returns: the segment.
    static func text(_ text: String) -> String {
        let isPlain =
            !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7F }
            && text != "." && text != ".." && text.utf8.first != UInt8(ascii: "~")
        guard isPlain else { return "~\(Base64URL.text(Array(text.utf8)))" }
        return FormFields.encoded(text)
    }

    /// Reads a segment that was percent-decoded.
    ///
    /// - Parameter segment: of a path.
    /// - Returns: the text; nil for base64url that is none.
    static func key(_ segment: String) -> String? {
        guard segment.utf8.first == UInt8(ascii: "~") else { return segment }
        return Base64URL.bytes(String(segment.dropFirst())).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
