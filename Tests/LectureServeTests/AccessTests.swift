import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureModel
import Testing

@testable import LectureServe

@Suite
struct AccessTests {
    private let key = try? SecretBytes(copying: (0..<32).map { UInt8($0) })

    private static func line(_ role: String, _ name: String, _ token: String) throws -> String {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        return "\(role) \(name) sha256:\(Hexadecimal.text(try digests.sha256(of: Array(token.utf8))))\n"
    }

    private func access(_ text: String, now: Guarded<Timestamp> = Guarded(Timestamp(milliseconds: 0))) throws
        -> SiteAccess
    {
        try SiteAccess(AccessList(text), key: try #require(key), isSecure: false) { now.withLock(\.self) }
    }

    private static func head(_ field: String, _ value: String) -> HTTPRequestHead {
        SiteRulesTests.head([(field, value)])
    }

    @Test func `a token is accepted alone, with its name, and not with another`() throws {
        let text = try Self.line("operator", "ada", "secret-1") + Self.line("viewer", "bo", "secret-2")
        let access = try access("# people\n\n" + text)
        let cases: [(String, String?)] = [
            ("Bearer secret-1", "ada"), ("bearer secret-2", "bo"), ("Bearer secret-3", nil), ("Bearer ", nil),
            ("Bearer", nil), ("Basic \(Base64.text(Array("bo:secret-2".utf8)))", "bo"),
            ("Basic \(Base64.text(Array("ada:secret-2".utf8)))", nil), ("Basic !", nil), ("Digest x", nil),
        ]
        for (field, name) in cases {
            let proof = try access.proof(Self.head("Authorization", field))
            #expect(proof?.person.name == name, "\(field)")
            #expect(proof?.formToken == nil)
        }
    }

    @Test func `a session lasts until it expires, its token is withdrawn, or it is changed`() throws {
        let now = Guarded(Timestamp(milliseconds: 0))
        let text = try Self.line("operator", "ada", "secret-1")
        let access = try access(text, now: now)
        #expect(try access.signIn(token: "secret-2") == nil)
        let cookie = try #require(try access.signIn(token: "secret-1")).cookie
        #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Lax"))
        let pair = String(cookie.prefix { $0 != ";" })
        let proof = try #require(try access.proof(Self.head("Cookie", "other=1; \(pair)")))
        #expect(proof.person == SitePerson(name: "ada", role: .operator))
        #expect(proof.formToken != nil)
        for place in pair.indices.dropFirst("lecturekit=".utf8.count) {
            var changed = pair
            changed.replaceSubrange(place...place, with: pair[place] == "A" ? "B" : "A")
            #expect(try access.proof(Self.head("Cookie", changed)) == nil, "\(changed)")
        }
        now.withLock { $0 = Timestamp(milliseconds: 43_199_999) }
        #expect(try access.proof(Self.head("Cookie", pair)) != nil)
        access.replace(try AccessList(Self.line("operator", "ada", "secret-9")))
        #expect(try access.proof(Self.head("Cookie", pair)) == nil)
        access.replace(try AccessList(text))
        now.withLock { $0 = Timestamp(milliseconds: 43_200_000) }
        #expect(try access.proof(Self.head("Cookie", pair)) == nil)
    }

    @Test(arguments: [
        "owner ada sha256:00", "operator ada", "operator ada md5:00", "operator ada sha256:zz", "operator a b c",
        "operator ada secret",
    ])
    func `a line that is none is refused with its number, and nothing of it is shown`(line: String) throws {
        let good = try Self.line("peer", "branch", "secret-1")
        #expect {
            try AccessList(good + line)
        } throws: { error in
            let error = error as? LectureError
            return error?.code == .configuration && error?.detail == "line 2"
                && error?.message.contains("secret") == false
        }
        #expect(throws: LectureError.self, "a name twice") { try AccessList(good + good) }
    }

    @Test func `roles include each other as documented`() {
        for role in SiteRole.allCases {
            for other in SiteRole.allCases {
                #expect(role.includes(other) == (role == other || role == .operator))
            }
        }
    }
}
