import Foundation
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// Signed links, and the segments of paths that they are made of.
struct ClassroomLinkTests {
    /// A server that signs, and its time.
    private struct Signer {
        let time = Guarded(Timestamp(milliseconds: 1_000_000))
        let access: SiteAccess
        let links: LectureLinks

        init() throws {
            let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
            access = try SiteAccess(AccessList(), key: key, isSecure: false) { [time] in time.withLock(\.self) }
            links = LectureLinks(access) { [time] in time.withLock(\.self) }
        }

        func set(seconds: Int64) { time.withLock { $0 = Timestamp(milliseconds: seconds * 1000) } }

        /// The last four segments of a link, percent-decoded as the server decodes them.
        func parts(_ key: String, _ user: String, until: Int64) throws -> [String] {
            let url = try links.make(try ContentKey(key), user: user, until: until)
            return try url.split(separator: "/").dropFirst(2).map { try #require(String($0).removingPercentEncoding) }
        }

        func open(_ parts: [String]) throws -> HTTPAnswer {
            try links.open(parts[0], user: parts[1], until: parts[2], parts[3])
        }

        /// Whom the cookie of an answer proves.
        func person(_ answer: HTTPAnswer) throws -> SitePerson? {
            let cookie = try #require(answer.fields.first { $0.name == "Set-Cookie" }?.value)
            let field = HTTPField(name: "Cookie", value: String(cookie.prefix { $0 != ";" }))
            return try access.proof(HTTPRequestHead(method: "GET", path: "/", fields: [field]))?.person
        }
    }

    private static let changes: [(Int, String)] = [
        // The lecture.
        (0, "other"), (0, "Film"), (0, "film "), (0, ""), (0, "film.kim"), (0, "~!"),
        // The person.
        (1, "lee"), (1, "KIM"), (1, ""), (1, "kim\u{0301}"), (1, "~_w"),
        // The time, which is signed as it is written.
        (2, "1061"), (2, "+1060"), (2, "01060"), (2, " 1060"), (2, "1060.0"), (2, "1e9"), (2, ""), (2, "-1"),
        (2, "9223372036854775807"), (2, "99999999999999999999"),
        // The signature.
        (3, ""), (3, "="), (3, String(repeating: "A", count: 43)),
    ]

    @Test(arguments: changes)
    func `a link with another part is refused`(place: Int, text: String) throws {
        let signer = try Signer()
        var parts = try signer.parts("film", "kim", until: 1060)
        #expect(try signer.open(parts).status == 303)
        parts[place] = text
        #expect(throws: ClassroomRefusal.link) { try signer.open(parts) }
    }

    @Test func `a signature is whole, and of no other link`() throws {
        let signer = try Signer()
        let parts = try signer.parts("film", "kim", until: 1060)
        let signature = parts[3]
        for changed in [String(signature.dropLast()), "\(signature)A", "\(signature)=", signature.lowercased()] {
            #expect(throws: ClassroomRefusal.link) { try signer.open(parts.dropLast() + [changed]) }
        }
        for place in signature.indices {
            var changed = signature
            changed.replaceSubrange(place...place, with: changed[place] == "A" ? "B" : "A")
            #expect(throws: ClassroomRefusal.link) { try signer.open(parts.dropLast() + [changed]) }
        }
        // Texts that are the same when they are written one after another.
        let others = [("fil", "mkim", 1060), ("film.kim", "1060", 1060), ("kim", "film", 1060), ("film", "kim1", 1061)]
        for (key, user, until) in others {
            let other = try signer.parts(key, user, until: Int64(until))
            #expect(throws: ClassroomRefusal.link) { try signer.open(parts.dropLast() + [other[3]]) }
            #expect(throws: ClassroomRefusal.link) { try signer.open(other.dropLast() + [signature]) }
        }
    }

    @Test(arguments: [
        ("film", "kim", "/classroom/lectures/film"), ("a/b", "김 민", "/classroom/lectures/~YS9i"),
        ("강의 1", "~kim", "/classroom/lectures/%EA%B0%95%EC%9D%98%201"), ("..", "../ada", "/classroom/lectures/~Li4"),
    ])
    func `a link begins the session of its person, for its lecture`(key: String, user: String, place: String) throws {
        let signer = try Signer()
        let answer = try signer.open(try signer.parts(key, user, until: 1060))
        #expect(answer.status == 303 && answer.fields.first { $0.name == "Location" }?.value == place)
        #expect(try signer.person(answer) == SitePerson(name: user, role: .viewer, lecture: key))
        // The session ends with its link.
        signer.set(seconds: 1059)
        #expect(try signer.person(answer) != nil)
        signer.set(seconds: 1060)
        #expect(try signer.person(answer) == nil)
    }

    private static let lifetimes: [(Int64, Int)] = [
        (1001, 1), (1060, 60), (1000 + 43_200, 43_200), (1000 + 43_201, 43_200), (1 << 39, 43_200),
    ]

    @Test(arguments: lifetimes)
    func `a session lasts as long as its link, and twelve hours at most`(until: Int64, seconds: Int) throws {
        let signer = try Signer()
        let answer = try signer.open(try signer.parts("film", "kim", until: until))
        let cookie = try #require(answer.fields.first { $0.name == "Set-Cookie" }?.value)
        #expect(cookie.contains("; Max-Age=\(seconds);"), "\(cookie)")
    }

    @Test func `a link is valid until the second at which it ends`() throws {
        let signer = try Signer()
        let parts = try signer.parts("film", "kim", until: 1060)
        for (seconds, isValid) in [(0, true), (1059, true), (1060, false), (1061, false), (1 << 40, false)] {
            signer.set(seconds: Int64(seconds))
            #expect(((try? signer.open(parts)) != nil) == isValid, "\(seconds)")
        }
    }

    private static let limits: [(String, Int64, Bool)] = [
        ("kim", 1001, true), ("kim", 1000, false), ("kim", 0, false), ("kim", -1, false), ("kim", Int64.min, false),
        ("kim", (1 << 40) - 1, true), ("kim", 1 << 40, false), ("kim", Int64.max, false), ("", 2000, false),
        (String(repeating: "x", count: 128), 2000, true), (String(repeating: "x", count: 129), 2000, false),
        (String(repeating: "김", count: 42), 2000, true), (String(repeating: "김", count: 43), 2000, false),
        ("a\tb", 2000, false), ("a\u{7F}", 2000, false), ("a\0", 2000, false), ("<b>", 2000, true),
    ]

    @Test(arguments: limits)
    func `names and times have limits`(user: String, until: Int64, isTaken: Bool) throws {
        let signer = try Signer()
        let key = try ContentKey("film")
        if isTaken {
            #expect(try signer.links.make(key, user: user, until: until).hasPrefix("/classroom/open/film/"))
        } else {
            #expect(throws: LectureError(.parameter)) { try signer.links.make(key, user: user, until: until) }
        }
    }

    private static let segments: [(String, String)] = [
        ("plain", "plain"), ("A-z_0.9*", "A-z_0.9*"), ("with space", "with%20space"), ("a+b", "a%2Bb"),
        ("100%", "100%25"), ("?x=1&y#z", "%3Fx%3D1%26y%23z"), ("강", "%EA%B0%95"), ("<i>'\"", "%3Ci%3E%27%22"),
        ("a/b", "~YS9i"), ("a\\b", "~YVxi"), (".", "~Lg"), ("..", "~Li4"), ("~", "~fg"), ("~Lg", "~fkxn"),
        ("...", "..."), ("a~", "a%7E"), (".hidden", ".hidden"), ("tab\t", "~dGFiCQ"), ("\u{7F}", "~fw"),
    ]

    @Test(arguments: segments)
    func `a text has one segment, which is read back`(text: String, segment: String) throws {
        #expect(LectureSegment.text(text) == segment)
        #expect(LectureSegment.key(try #require(segment.removingPercentEncoding)) == text)
    }

    private static let tildes: [(String, String?)] = [
        ("~YS9i", "a/b"), ("~", ""), ("~YS9i=", nil), ("~YS9i==", nil), ("~YS9", nil), ("~YS 9i", nil), ("~_w", nil),
        ("~gICA", nil), ("~a", nil), ("film", "film"), ("", ""),
    ]

    @Test(arguments: tildes)
    func `only base64url of UTF-8 follows a tilde`(segment: String, text: String?) {
        #expect(LectureSegment.key(segment) == text)
    }

    @Test func `the longest key still has a segment that paths may have`() throws {
        let key = "/" + String(repeating: "k", count: 511)
        #expect(try ContentKey(key).text == key)
        let segment = LectureSegment.text(key)
        #expect(segment.utf8.count <= 1024 && LectureSegment.key(segment) == key)
    }
}
