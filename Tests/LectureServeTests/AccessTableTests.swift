import Foundation
import LectureCrypto
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureHTTP
@testable import LectureServe

/// The access file, wrong tokens and the rules of hosts and paths, as tables.
struct AccessTableTests {
    private static let digest = String(repeating: "0a", count: 32)

    @Test(arguments: [
        ("", 0), ("\n\n", 0), ("# only a comment", 0), ("   \t ", 0), ("viewer bo sha256:\(digest)", 1),
        ("viewer bo sha256:\(digest)\r\n", 1), ("\tviewer\tbo\tsha256:\(digest)", 1),
        ("viewer bo sha256:\(digest) # a person", 1), ("viewer bo sha256:\(digest)#x", 1),
        ("viewer bo sha256:\(digest)\npeer hq sha256:\(digest)\n", 2), ("operator 김철수 sha256:\(digest)", 1),
    ])
    func `lines are read with blanks and comments`(text: String, count: Int) throws {
        #expect(try AccessList(text).entries.count == count)
    }

    @Test(arguments: [
        "viewer", "viewer bo", "viewer bo sha256:", "viewer bo sha256:\(digest)00", "viewer bo sha512:\(digest)",
        "Viewer bo sha256:\(digest)", "admin bo sha256:\(digest)", "viewer bo \(digest)", "viewer bo sha256: \(digest)",
        "viewer b o sha256:\(digest)", "viewer bo sha256:\(digest.dropLast())",
        "viewer bo sha256:\(digest.dropLast())g",
        "viewer bo sha256:\(digest) more", "viewer # bo sha256:\(digest)",
    ])
    func `a line that cannot be used refuses the file, with its number`(line: String) {
        #expect {
            try AccessList("# first\n\n\(line)\n")
        } throws: { error in
            let error = error as? LectureError
            return error?.code == .configuration && error?.detail == "line 3"
        }
    }

    @Test func `entries with one token are one proof, and another digest is another session`() throws {
        let text = "viewer bo sha256:\(Self.digest)\npeer hq sha256:\(String(repeating: "0b", count: 32))"
        let list = try AccessList(text)
        let sent = Array(repeating: UInt8(0x0A), count: 32)
        #expect(list.entry(digest: sent, name: nil)?.person == SitePerson(name: "bo", role: .viewer))
        #expect(list.entry(digest: sent, name: "bo") != nil)
        for name in ["hq", "Bo", "", "bo "] { #expect(list.entry(digest: sent, name: name) == nil, "\(name)") }
        #expect(list.entry(digest: Array(sent.dropLast()), name: nil) == nil)
        #expect(list.entry(digest: [], name: nil) == nil)
        #expect(list.entries[0].fingerprint != list.entries[1].fingerprint)
        #expect(list.entries[0].fingerprint.utf8.count == 16)
    }

    @Test func `a list that is replaced counts at once, and says whether it is another`() throws {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        func list(_ tokens: [String]) throws -> AccessList {
            let lines = try tokens.map { token in
                "viewer \(token) sha256:\(Hexadecimal.text(try digests.sha256(of: Array(token.utf8))))\n"
            }
            return try AccessList(lines.joined())
        }
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        let access = try SiteAccess(try list(["one"]), key: key, isSecure: false) { Timestamp(milliseconds: 0) }
        func isKnown(_ token: String) throws -> Bool {
            try access.proof(SiteRulesTests.head([("Authorization", "Bearer \(token)")])) != nil
        }
        let steps: [([String], Bool, [String], [String])] = [
            (["one"], false, ["one"], ["two"]), (["one", "two"], true, ["one", "two"], ["three"]),
            (["two"], true, ["two"], ["one"]), (["two"], false, ["two"], ["one"]), ([], true, [], ["one", "two"]),
        ]
        for (tokens, isOther, known, unknown) in steps {
            #expect(access.replace(try list(tokens)) == isOther, "\(tokens)")
            for token in known { #expect(try isKnown(token), "\(token)") }
            for token in unknown { #expect(try !isKnown(token), "\(token)") }
        }
    }

    // MARK: Wrong tokens

    @Test func `each address has its own minute`() {
        let wrong = WrongTokens()
        let start = Timestamp(milliseconds: 1_000_000)
        for _ in 0..<10 { #expect(wrong.add("192.0.2.1", now: start) == nil) }
        #expect(wrong.add("192.0.2.1", now: start) == 60)
        #expect(wrong.add("192.0.2.2", now: start) == nil, "another address")
        let later: [(Int64, Int?)] = [(1, 60), (1000, 59), (30_000, 30), (59_000, 1), (59_999, 1), (60_000, nil)]
        for (milliseconds, seconds) in later {
            #expect(wrong.add("192.0.2.1", now: start + .milliseconds(milliseconds)) == seconds, "\(milliseconds)")
        }
        #expect(wrong.add("192.0.2.1", now: start + .seconds(-5)) == nil, "the clock was set back")
        #expect(wrong.addressCount == 2)
    }

    // MARK: Hosts and paths

    @Test(arguments: [
        ("school.example", true, true), ("SCHOOL.example", true, true), ("localhost", true, true),
        ("10.0.0.1", true, true), ("255.255.255.255", true, true), ("256.0.0.1", false, false), ("1.2.3", false, false),
        ("1.2.3.4.5", false, false), ("[::1]", false, false), ("school.example.", false, false),
        ("xschool.example", false, false), ("school.example.evil", false, false), ("", false, false),
        ("school.example@evil", false, false), ("0x7f.0.0.1", false, false), ("2130706433", false, false),
    ])
    func `names and addresses in digits lead here, and others do not`(host: String, isOwn: Bool, isProxied: Bool) {
        var rules = SiteRules(port: 443)
        (rules.isSecure, rules.names) = (true, ["school.example"])
        func passes(_ rules: SiteRules, _ host: String) -> Bool {
            (try? rules.checkHost(SiteRulesTests.head([("Host", host)]))) != nil
        }
        #expect(passes(rules, host) == isOwn && passes(rules, "\(host):443") == isOwn)
        #expect(!passes(rules, "\(host):80") && !passes(rules, "\(host):4430"))
        rules.isBehindProxy = true
        #expect(passes(rules, host) == isProxied && passes(rules, "\(host):8443") == isProxied)
    }

    @Test(arguments: [
        ("https://school.example", false), ("HTTPS://School.Example", false), ("http://school.example", true),
        ("https://school.example:8443", true), ("https://evil.example", true), ("https://school.example.evil", true),
        ("", true), ("null", true), ("school.example", true),
    ])
    func `over TLS only a page over TLS is this site's`(origin: String, isForeign: Bool) {
        var rules = SiteRules(port: 443)
        (rules.isSecure, rules.names) = (true, ["school.example"])
        let head = SiteRulesTests.head([("Host", "school.example"), ("Origin", origin)])
        #expect(rules.isFromOtherSite(head) == isForeign)
    }

    @Test(
        arguments: [
            ([], "192.0.2.7", "192.0.2.7"), (["203.0.113.9"], "192.0.2.7", "203.0.113.9"),
            (["198.51.100.1, 203.0.113.9"], "192.0.2.7", "203.0.113.9"),
            ([" 203.0.113.9 "], "192.0.2.7", "203.0.113.9"),
        ] as [([String], String, String)])
    func `behind a proxy the client is the one that the proxy names`(
        forwarded: [String], peer: String, client: String
    ) throws {
        let address = try #require(HTTPPeer.address(peer))
        let head = SiteRulesTests.head(forwarded.map { ("X-Forwarded-For", $0) })
        var rules = SiteRules(port: 8080)
        let direct = rules.address(of: head, HTTPPeer(address: address, port: 1))
        #expect(direct == rules.address(of: SiteRulesTests.head([]), HTTPPeer(address: address, port: 1)))
        rules.isBehindProxy = true
        let proxied = rules.address(of: head, HTTPPeer(address: address, port: 1))
        #expect(forwarded.isEmpty ? proxied == direct : proxied == client)
    }

    @Test(
        arguments: [
            ("127.0.0.1", 0x7F00_0001), ("0.0.0.0", 0), ("255.255.255.255", 0xFFFF_FFFF), ("10.1.2.3", 0x0A01_0203),
            ("1.2.3", nil), ("1.2.3.4.5", nil), ("256.1.1.1", nil), ("a.b.c.d", nil), ("", nil), ("1..2.3", nil),
            ("-1.2.3.4", nil), ("1.2.3.4 ", nil),
        ] as [(String, UInt32?)])
    func `an address in digits is read`(text: String, address: UInt32?) {
        #expect(HTTPPeer.address(text) == address)
        if let address { #expect(HTTPPeer(address: address, port: 1).isLoopback == text.hasPrefix("127.")) }
    }

    @Test(arguments: [
        ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("//", ["", ""]), ("/a b/c", ["a b", "c"]),
        ("/강의", ["강의"]), ("/...", ["..."]), ("/a%2fb", ["a%2fb"]),
    ])
    func `a path has its segments`(path: String, segments: [String]) throws {
        #expect(try SiteRules(port: 1).path(SiteRulesTests.head([], path: path)) == segments)
    }

    @Test(
        arguments: [
            ("GET", "/", nil), ("HEAD", "/a?b", nil), ("get", "/", nil),
        ] as [(String, String, String?)])
    func `a head has its fields without regard to case, and its query with it`(
        method: String, path: String, value: String?
    ) {
        let fields = [HTTPField(name: "X-One", value: "1"), HTTPField(name: "x-one", value: "2")]
        let query = [
            HTTPField(name: "q", value: "1"), HTTPField(name: "q", value: "2"), HTTPField(name: "Q", value: "3"),
        ]
        let head = HTTPRequestHead(method: method, path: path, fields: fields, query: query)
        #expect(head.value("x-one") == "1" && head.values("x-one") == ["1", "2"] && head.value("x-two") == value)
        #expect(head.parameter("q") == "1" && head.parameter("Q") == "3" && head.parameter("r") == nil)
    }
}
