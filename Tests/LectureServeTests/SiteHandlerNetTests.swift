import Foundation
import LectureCrypto
import LectureFormats
import LectureHTTP
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// The way of a request, through a real server with small parts.
struct SiteHandlerNetTests {
    /// A part with a path for each need, which answers with what it was given.
    private struct EchoPart: SitePart {
        let name: String
        let ticks = Guarded(0)

        func routes(_ path: [String]) -> [String: SiteRoute]? {
            switch path {
            case ["open"]: ["GET": echo(.nothing), "POST": echo(.nothing)]
            case ["page"]: ["GET": echo(.role(.operator), isPage: true)]
            case ["viewer"]: ["GET": echo(.role(.viewer)), "PUT": echo(.role(.viewer))]
            case ["peer"]: ["GET": echo(.role(.peer))]
            case ["operator"]: ["GET": echo(.role(.operator)), "DELETE": echo(.role(.operator))]
            case ["later"]:
                [
                    "GET": SiteRoute(.nothing) { _, exchange in
                        exchange.answer(.text(200, "later\n"))
                        return nil
                    }
                ]
            case ["own"]:
                [
                    "GET": SiteRoute(.nothing) { _, _ in
                        .text(200, "own\n", [("Cache-Control", "max-age=60"), ("Content-Security-Policy", "none")])
                    }
                ]
            default: nil
            }
        }

        private func echo(_ need: SiteRoute.Need, isPage: Bool = false) -> SiteRoute {
            SiteRoute(need, isPage: isPage) { [name] request, _ in
                let person = request.person.map { "\($0.name) \($0.role.rawValue)" } ?? "-"
                let words = [name, request.head.method, person, request.form["a"] ?? "-", "\(request.body.count)"]
                return .text(200, words.joined(separator: "|"))
            }
        }

        func tick() { ticks.withLock { $0 += 1 } }
    }

    /// A part that is behind the other one.
    private struct LastPart: SitePart {
        func routes(_ path: [String]) -> [String: SiteRoute]? {
            guard let last = path.last, ["open", "last"].contains(last) else { return nil }
            return ["GET": SiteRoute(.nothing) { _, _ in .text(200, "last") }]
        }
    }

    private static let people = [("operator", "ada"), ("viewer", "bo"), ("peer", "hq")]

    private static func access() throws -> SiteAccess {
        let digests = try OpenSSLDigests(proofKey: Array(repeating: 1, count: 32))
        let lines = try people.map { role, name in
            "\(role) \(name) sha256:\(Hexadecimal.text(try digests.sha256(of: Array("token-\(name)".utf8))))\n"
        }
        let key = try SecretBytes(copying: Array(repeating: 7, count: 32))
        return try SiteAccess(AccessList(lines.joined()), key: key, isSecure: false) { Timestamp(milliseconds: 0) }
    }

    /// Runs a server with the parts.
    private static func serve(_ body: (_ ask: Ask, SiteAccess) async throws -> Void) async throws {
        let server = try HTTPServer(
            {
                var options = HTTPServerOptions()
                options.bodyLimit = 1000
                return options
            }())
        let access = try access()
        let handler = SiteHandler(SiteRules(port: server.port), access, [EchoPart(name: "first"), LastPart()])
        try server.serve(by: handler)
        do {
            try await body(Ask(port: server.port), access)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Asks with curl.
    private struct Ask {
        let port: UInt16

        func callAsFunction(_ path: String, _ words: String...) async throws -> Answer {
            let all = ["-q", "-s", "-S", "-i", "--max-time", "30"] + words + ["http://127.0.0.1:\(port)\(path)"]
            let ending = try await ChildProcess.run("/usr/bin/curl", all)
            return Answer(ending.output, errors: ending.errorText)
        }
    }

    private static func bearer(_ name: String) -> String { "Authorization: Bearer token-\(name)" }

    @Test func `the first part that has a path answers it`() async throws {
        try await Self.serve { ask, _ in
            let cases = [("/open", "first|GET|-|-|0"), ("/last", "last"), ("/a/open", "last"), ("/later", "later\n")]
            for (path, text) in cases {
                let answer = try await ask(path)
                #expect(answer.status == 200 && answer.text == text, "\(path): \(answer.text)")
            }
            let answer = try await ask("/nothing")
            #expect(answer.status == 404 && answer.name == "unknown_path")
        }
    }

    @Test func `HEAD is GET without the body, and other methods are named`() async throws {
        try await Self.serve { ask, _ in
            let head = try await ask("/open", "-I")
            #expect(head.status == 200 && head.field("content-length") == "15" && head.text.isEmpty)
            let cases = [
                ("/open", "DELETE", "GET, POST, HEAD"), ("/viewer", "POST", "GET, PUT, HEAD"),
                ("/operator", "PATCH", "DELETE, GET, HEAD"), ("/page", "OPTIONS", "GET, HEAD"),
            ]
            for (path, method, allowed) in cases {
                let answer = try await ask(path, "-X", method)
                #expect(answer.status == 405 && answer.name == "method", "\(path)")
                #expect(answer.field("allow") == allowed.lowercased(), "\(answer.head)")
            }
        }
    }

    @Test func `each role opens what it may`() async throws {
        try await Self.serve { ask, _ in
            let rights = [
                ("/viewer", ["ada", "bo"]), ("/peer", ["ada", "hq"]), ("/operator", ["ada"]),
                ("/open", ["ada", "bo", "hq"]),
            ]
            for (path, names) in rights {
                for (role, name) in Self.people {
                    let answer = try await ask(path, "-H", Self.bearer(name))
                    #expect(answer.status == (names.contains(name) ? 200 : 403), "\(path) \(name)")
                    let text = names.contains(name) ? "first|GET|\(name) \(role)|-|0" : ""
                    #expect(text.isEmpty ? answer.name == "not_permitted" : answer.text == text)
                }
                let basic = try await ask(path, "-u", "ada:token-ada")
                #expect(basic.status == 200)
            }
        }
    }

    @Test func `a client that has proved nothing is asked for a proof, and a page for a session`() async throws {
        try await Self.serve { ask, _ in
            let program = try await ask("/viewer")
            #expect(program.status == 401 && program.name == "not_signed_in")
            #expect(program.head.contains("www-authenticate: bearer") && program.head.contains("basic realm"))
            let browser = try await ask("/viewer", "-H", "Sec-Fetch-Mode: cors", "-H", "Sec-Fetch-Site: same-origin")
            #expect(browser.status == 401 && !browser.head.contains("basic realm"))
            let page = try await ask("/page")
            #expect(page.status == 303 && page.field("location") == "/sign-in?next=%2fpage")
            let filtered = try await ask("/page?state=failed&search=a%20b")
            let place = "/sign-in?next=%2fpage%3fstate%3dfailed%26search%3da%2520b"
            #expect(filtered.status == 303 && filtered.field("location") == place)
            let wrong = try await ask("/page", "-H", "Authorization: Bearer wrong")
            #expect(wrong.status == 401)
        }
    }

    @Test func `what changes something needs the session's own token`() async throws {
        try await Self.serve { ask, access in
            let cookie = try #require(try access.signIn(token: "token-ada")).cookie.prefix { $0 != ";" }
            let other = try #require(try access.signIn(token: "token-bo")).cookie.prefix { $0 != ";" }
            let session = "Cookie: \(cookie)"
            func token(_ cookie: Substring) throws -> String {
                let head = HTTPRequestHead(
                    method: "GET", path: "/", fields: [HTTPField(name: "Cookie", value: String(cookie))])
                return try #require(try access.proof(head)?.formToken)
            }
            let mine = try token(cookie)
            #expect(try await ask("/operator", "-H", session).text == "first|GET|ada operator|-|0")
            let refused: [[String]] = [
                [], ["-H", "X-Form-Token: \(try token(other))"], ["-H", "X-Form-Token: \(mine)x"],
                ["-d", "form_token="], ["-d", "form_token=\(try token(other))"],
                ["-H", "Content-Type: text/plain", "-d", "form_token=\(mine)"],
            ]
            for words in refused {
                let answer = try await ask2(ask, ["-X", "DELETE", "-H", session] + words)
                #expect(answer.status == 403 && answer.name == "form_token", "\(words)")
            }
            for words in [["-H", "X-Form-Token: \(mine)"], ["--data-urlencode", "form_token=\(mine)"]] {
                let answer = try await ask2(ask, ["-X", "DELETE", "-H", session] + words)
                #expect(answer.status == 200, "\(answer.text)")
            }
            // A token that no browser adds by itself is proof enough.
            #expect(try await ask("/operator", "-X", "DELETE", "-H", Self.bearer("ada")).status == 200)
        }
    }

    private func ask2(_ ask: Ask, _ words: [String]) async throws -> Answer {
        let all = ["-q", "-s", "-S", "-i", "--max-time", "30"] + words + ["http://127.0.0.1:\(ask.port)/operator"]
        let ending = try await ChildProcess.run("/usr/bin/curl", all)
        return Answer(ending.output, errors: ending.errorText)
    }

    @Test func `pages of other sites get nothing but links to pages`() async throws {
        try await Self.serve { ask, _ in
            let link = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]
            let known = Self.bearer("ada")
            let page = try await ask("/page", "-H", link[0], "-H", link[1], "-H", link[2], "-H", known)
            #expect(page.status == 200)
            let cases: [[String]] = [
                ["/operator", link[0], link[1], link[2]], ["/page", link[0], link[1], "Sec-Fetch-Dest: iframe"],
                ["/page", link[0], "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
                ["/open", "Origin: http://evil.example", "A: b", "C: d"], ["/open", "Origin: null", "A: b", "C: d"],
            ]
            for words in cases {
                let answer = try await ask(words[0], "-H", words[1], "-H", words[2], "-H", words[3], "-H", known)
                #expect(answer.status == 403 && answer.name == "foreign_origin", "\(words)")
            }
            let own = "Origin: http://127.0.0.1:\(ask.port)"
            #expect(try await ask("/open", "-H", own, "-d", "a=1").text == "first|POST|-|1|3")
        }
    }

    @Test func `every answer forbids what the site does not need`() async throws {
        try await Self.serve { ask, _ in
            for path in ["/open", "/nothing", "/viewer", "/page", "/a\u{5C}b"] {
                let answer = try await ask(path)
                #expect(answer.field("x-content-type-options") == "nosniff", "\(path)")
                #expect(answer.field("referrer-policy") == "same-origin")
                #expect(answer.field("x-frame-options") == "deny")
                #expect(answer.field("cache-control") == "no-store")
                #expect(answer.field("cross-origin-resource-policy") == "same-origin")
                let policy = try #require(answer.field("content-security-policy"))
                for word in ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"] {
                    #expect(policy.contains(word))
                }
                #expect(!policy.contains("unsafe"))
            }
            let own = try await ask("/own")
            #expect(own.field("cache-control") == "max-age=60" && own.field("content-security-policy") == "none")
        }
    }

    @Test func `forms are read, other bodies are not, and long ones are refused`() async throws {
        try await Self.serve { ask, _ in
            let cases: [([String], String)] = [
                (["-d", "a=x%20y"], "first|POST|-|x y|7"), (["-d", "b=1"], "first|POST|-|-|3"),
                (["-H", "Content-Type: application/json", "-d", "a=1"], "first|POST|-|-|3"),
                (
                    ["-H", "Content-Type: application/x-www-form-urlencoded; charset=utf-8", "-d", "a=1"],
                    "first|POST|-|1|3"
                ),
            ]
            for (words, text) in cases {
                let answer =
                    words.count == 2
                    ? try await ask("/open", words[0], words[1])
                    : try await ask("/open", words[0], words[1], words[2], words[3])
                #expect(answer.text == text, "\(words)")
            }
            let long = "a=" + String(repeating: "x", count: 999)
            #expect(try await ask("/open", "-d", long).status == 413)
        }
    }

    @Test(arguments: [
        (SiteRefusal.foreignHost, 421, "foreign_host"), (.foreignOrigin, 403, "foreign_origin"), (.path, 400, "path"),
        (.unknownPath, 404, "unknown_path"), (.method, 405, "method"), (.notSignedIn, 401, "not_signed_in"),
        (.notPermitted, 403, "not_permitted"), (.formToken, 403, "form_token"), (.wrongTokens, 429, "wrong_tokens"),
    ])
    func `a refusal has a status, a name and a sentence`(refusal: SiteRefusal, status: Int, name: String) throws {
        let answer = refusal.answer([("Extra", "1")])
        #expect(answer.status == status && refusal.rawValue == name)
        guard case .bytes(let bytes) = answer.body else {
            Issue.record("no body")
            return
        }
        let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String]
        #expect(object == ["event": "error", "name": name, "message": refusal.sentence])
        #expect(refusal.sentence.hasSuffix(".") && answer.fields.contains(HTTPField(name: "Extra", value: "1")))
        #expect(SiteRefusal.allCases.filter { $0.sentence == refusal.sentence } == [refusal])
    }

    @Test func `errors of the store are answered with what they mean`() {
        let cases: [(LectureError.Code, Int)] = [
            (.parameter, 400), (.closing, 503), (.cancelled, 503), (.bug, 500), (.readFile, 500),
        ]
        for (code, status) in cases { #expect(HTTPAnswer.failure(LectureError(code)).status == status, "\(code.name)") }
        #expect(LectureError.known(CancellationError()).code == .cancelled)
        #expect(LectureError.known(LectureError(.parameter)).code == .parameter)
        #expect(LectureError.known(SiteRefusal.path).code == .bug)
    }
}
