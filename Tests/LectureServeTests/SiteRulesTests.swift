import LectureHTTP
import Testing

@testable import LectureServe

@Suite
struct SiteRulesTests {
    static func head(_ fields: [(String, String)], path: String = "/") -> HTTPRequestHead {
        HTTPRequestHead(method: "GET", path: path, fields: fields.map { HTTPField(name: $0.0, value: $0.1) })
    }

    @Test(arguments: [
        ("127.0.0.1:8080", true), ("localhost:8080", true), ("LOCALHOST:8080", true), ("192.168.1.9:8080", true),
        ("hq.school.example:8080", true), ("HQ.School.Example:8080", true), ("hq.school.example", false),
        ("127.0.0.1:8081", false), ("evil.example:8080", false), ("127.0.0.1.evil.example:8080", false), ("", false),
        ("127.0.0.1:8080@evil.example", false), ("127.1:8080", false), ("127.0.0.1:080", false),
    ])
    func `Host must name this server`(host: String, isKnown: Bool) {
        var rules = SiteRules(port: 8080)
        rules.names = ["hq.school.example"]
        #expect(Self.passes(rules, [("Host", host)]) == isKnown)
        #expect(!Self.passes(rules, [("Host", host), ("Host", host)]))
        #expect(!Self.passes(rules, []))
    }

    private static func passes(_ rules: SiteRules, _ fields: [(String, String)]) -> Bool {
        (try? rules.checkHost(head(fields))) != nil
    }

    @Test func `behind a proxy the port is the proxy's`() {
        var rules = SiteRules(port: 8080)
        (rules.names, rules.isBehindProxy) = (["hq.school.example"], true)
        for host in ["hq.school.example", "hq.school.example:8443"] {
            #expect(Self.passes(rules, [("Host", host)]), "\(host)")
            for scheme in ["http", "https"] {
                #expect(!rules.isFromOtherSite(Self.head([("Host", host), ("Origin", "\(scheme)://\(host)")])))
            }
        }
        for host in ["evil.example", "hq.school.example:", "hq.school.example:999999", "hq.school.example:x"] {
            #expect(!Self.passes(rules, [("Host", host)]), "\(host)")
        }
    }

    @Test(arguments: [
        ([], false), ([("Origin", "http://127.0.0.1:8080")], false), ([("Origin", "https://127.0.0.1:8080")], true),
        ([("Origin", "null")], true), ([("Origin", "http://evil.example")], true),
        ([("Origin", "http://127.0.0.1:8080"), ("Origin", "http://evil.example")], true),
        ([("Sec-Fetch-Site", "none")], false), ([("Sec-Fetch-Site", "same-origin")], false),
        ([("Sec-Fetch-Site", "same-site")], true), ([("Sec-Fetch-Site", "cross-site")], true),
    ])
    func `fields of a browser show whose page sends`(fields: [(String, String)], isForeign: Bool) {
        let head = Self.head([("Host", "127.0.0.1:8080")] + fields)
        #expect(SiteRules(port: 8080).isFromOtherSite(head) == isForeign)
    }

    @Test func `only a document that is navigated to is a link of another site`() {
        let rules = SiteRules(port: 8080)
        let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
        #expect(rules.isNavigation(Self.head(link)))
        #expect(!rules.isNavigation(Self.head(link + [("Origin", "http://evil.example")])))
        #expect(!rules.isNavigation(Self.head([link[0], link[1], ("Sec-Fetch-Dest", "iframe")])))
        #expect(!rules.isNavigation(Self.head([link[0], ("Sec-Fetch-Mode", "cors"), link[2]])))
    }

    @Test func `paths that lead elsewhere are refused`() throws {
        let rules = SiteRules(port: 8080)
        #expect(try rules.path(Self.head([], path: "/")) == [""])
        #expect(try rules.path(Self.head([], path: "/lectures/a b")) == ["lectures", "a b"])
        let refused = [
            "", "*", "a", "/..", "/a/../b", "/./a", "/a\\b", "/a\u{0}", "/a\n",
            "/" + String(repeating: "a", count: 1025),
            String(repeating: "/a", count: 17),
        ]
        for path in refused {
            #expect(throws: SiteRefusal.path, "\(path)") { try rules.path(Self.head([], path: path)) }
        }
    }
}
