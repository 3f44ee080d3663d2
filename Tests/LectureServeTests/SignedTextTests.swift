import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureModel
import Testing

@testable import LectureServe

/// Sessions as texts, and forms as texts.
struct SignedTextTests {
    private static func sessions(_ byte: UInt8 = 7) throws -> SignedSessions {
        SignedSessions(key: try SecretBytes(copying: Array(repeating: byte, count: 32)))
    }

    private static func session(
        _ name: String = "ada", _ role: SiteRole = .operator, lecture: String? = nil, expiry: Int64 = 100
    ) -> SignedSessions.Session {
        let person = SitePerson(name: name, role: role, lecture: lecture)
        return SignedSessions.Session(person: person, fingerprint: "f-1", expiry: expiry)
    }

    @Test(arguments: [
        session(), session("김철수", .viewer), session("hq", .peer), session("kim", .viewer, lecture: "algebra-01"),
        session("a.b", .viewer, lecture: "x.y/z"), session("", .viewer), session("line\nend", .operator),
    ])
    func `a session is read as it was written`(session: SignedSessions.Session) throws {
        let sessions = try Self.sessions()
        let text = try sessions.text(session)
        #expect(try sessions.session(text, now: Timestamp(milliseconds: 99_999)) == session)
        let permitted = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        #expect(text.allSatisfy { permitted.contains($0) })
        #expect(try Self.sessions(8).session(text, now: Timestamp(milliseconds: 0)) == nil, "another key")
    }

    @Test(arguments: [(0, true), (99_999, true), (100_000, false), (100_001, false), (Int64.max / 2, false)])
    func `a session ends at its second`(now: Int64, isValid: Bool) throws {
        let sessions = try Self.sessions()
        let text = try sessions.text(Self.session())
        #expect((try sessions.session(text, now: Timestamp(milliseconds: now)) != nil) == isValid)
    }

    @Test func `no part of a session can be exchanged`() throws {
        let sessions = try Self.sessions()
        let one = try sessions.text(Self.session()).split(separator: ".").map(String.init)
        let others = [
            Self.session("eve"), Self.session("ada", .viewer), Self.session(lecture: "x"), Self.session(expiry: 101),
        ]
        for other in others {
            // An empty part stands for no lecture.
            let parts = try sessions.text(other).split(separator: ".", omittingEmptySubsequences: false).map(
                String.init)
            let own = try sessions.text(Self.session()).split(separator: ".", omittingEmptySubsequences: false)
                .map(String.init)
            for place in parts.indices where parts[place] != own[place] {
                var mixed = own
                mixed[place] = parts[place]
                let text = mixed.joined(separator: ".")
                #expect(try sessions.session(text, now: Timestamp(milliseconds: 0)) == nil, "part \(place)")
            }
        }
        #expect(one.count == 5)
    }

    @Test(arguments: [
        "", ".", ".....", "a.b.c.d.e", "a.b.c.d.e.f", "a.b.c.d.e.f.g", "......", "=.=.=.=.=.=",
        String(repeating: "A", count: 5000),
    ])
    func `what is no session opens nothing`(text: String) throws {
        #expect(try Self.sessions().session(text, now: Timestamp(milliseconds: 0)) == nil)
    }

    @Test func `a signature is for one purpose`() throws {
        let sessions = try Self.sessions()
        let texts = try ["session/1", "form/1", "link/1"].map { try sessions.signature($0, "x") }
        #expect(Set(texts).count == 3)
        #expect(try sessions.formToken("x") == texts[1])
        #expect(try sessions.signature("form/1", "y") != texts[1])
        #expect(texts.allSatisfy { $0.utf8.count == 43 })
    }

    @Test(arguments: [
        ([("a", "b")], "a=b"), ([("a", "b c")], "a=b%20c"), ([("a", "1"), ("b", "2")], "a=1&b=2"), ([("a", "")], "a="),
        ([("a&b", "c=d")], "a%26b=c%3Dd"), ([("ä", "€")], "%C3%A4=%E2%82%AC"), ([("x", "a-b.c_d~e")], "x=a-b.c_d%7Ee"),
        ([("x", "a+b")], "x=a%2Bb"), ([("x", "\u{0}\n")], "x=%00%0A"), ([], ""),
        ([("x", "강의")], "x=%EA%B0%95%EC%9D%98"),
    ])
    func `fields are written and read alike`(fields: [(String, String)], text: String) {
        #expect(FormFields.text(fields) == text)
        let read = FormFields(Array(text.utf8))
        #expect(read.count == fields.count)
        for (name, value) in fields { #expect(read[name] == value) }
    }

    @Test(arguments: [
        ("a=b+c", "a", "b c"), ("a=%41", "a", "A"), ("a=%4", "a", "%4"), ("a=%zz", "a", "%zz"), ("a", "a", ""),
        ("a=1=2", "a", "1=2"), ("&&a=1&&", "a", "1"), ("a=1&a=2", "a", "1"), ("%61=1", "a", "1"), ("=1", "", "1"),
        ("a=%e2%82%ac", "a", "€"), ("a=%2", "a", "%2"), ("a=%", "a", "%"), ("a=%25", "a", "%"), ("a=%2525", "a", "%25"),
    ])
    func `what others write is read`(text: String, name: String, value: String) {
        #expect(FormFields(Array(text.utf8))[name] == value)
    }

    @Test func `fields that are there twice are counted`() {
        let fields = FormFields(Array("a=1&b=2&a=3&c".utf8))
        #expect(fields.count == 4 && fields.count("a") == 2 && fields.count("c") == 1 && fields.count("d") == 0)
        #expect(fields["d"] == nil)
    }

    @Test(arguments: [
        ("Cookie", "lecturekit", false), ("Cookie", "lecturekit=", false), ("Cookie", "x=1; y=2", false),
        ("Authorization", "Bearer", false), ("Authorization", "", false), ("X-Token", "token-1", false),
        ("Authorization", "Bearer token-1", true), ("Authorization", "bEARER token-1", true),
        ("Authorization", "Bearer  token-1", false), ("Authorization", "Token token-1", false),
        ("Authorization", "Basic YWRhOnRva2VuLTE=", true), ("Authorization", "Basic YWRhOg==", false),
        ("Authorization", "Basic YWRh", false), ("Authorization", "Basic ZXZlOnRva2VuLTE=", false),
    ])
    func `only a proof proves something`(field: String, value: String, isProof: Bool) throws {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        let digest = Hexadecimal.text(try digests.sha256(of: Array("token-1".utf8)))
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        let access = try SiteAccess(AccessList("operator ada sha256:\(digest)"), key: key, isSecure: true) {
            Timestamp(milliseconds: 0)
        }
        #expect((try access.proof(SiteRulesTests.head([(field, value)])) != nil) == isProof)
        let cookie = try #require(try access.signIn(token: "token-1")).cookie
        #expect(cookie.hasSuffix("; Secure"))
        #expect(access.endingCookie.contains("Max-Age=0"))
    }

    @Test func `a session of a link is for its lecture, and needs no line of the access file`() throws {
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        let access = try SiteAccess(AccessList(""), key: key, isSecure: false) { Timestamp(milliseconds: 0) }
        let viewer = SitePerson(name: "kim", role: .viewer, lecture: "algebra-01")
        let cookie = try access.admit(viewer, lasting: .seconds(60))
        #expect(cookie.contains("; Max-Age=60;"))
        let pair = String(cookie.prefix { $0 != ";" })
        #expect(try access.proof(SiteRulesTests.head([("Cookie", pair)]))?.person == viewer)
        // Without a lecture it would be a session for everything.
        let all = try access.admit(SitePerson(name: "kim", role: .operator), lasting: .seconds(60))
        #expect(try access.proof(SiteRulesTests.head([("Cookie", String(all.prefix { $0 != ";" }))])) == nil)
    }
}
