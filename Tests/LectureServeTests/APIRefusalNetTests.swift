import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureServe

/// Who may ask, and what no honest client sends. Nothing of it changes the store.
@Suite(.timeLimit(.minutes(4))) struct APIRefusalNetTests {
    /// The members that every problem has.
    private static func expectProblem(
        _ answer: Answer, _ status: Int, _ name: String?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            answer.status == status && answer.field("content-type") == "application/problem+json"
                && answer.json["status"] as? Int == status && answer.json["event"] as? String == "error"
                && (name == nil || answer.name == name),
            "\(answer.head) \(answer.text.prefix(300))", sourceLocation: sourceLocation)
        let (detail, remedy) = (answer.json["detail"] as? String ?? "", answer.json["remedy"] as? String)
        let message = remedy.map { "\(detail) \($0)" } ?? detail
        #expect(answer.json["message"] as? String == message, sourceLocation: sourceLocation)
        #expect(answer.field("x-content-type-options") == "nosniff", sourceLocation: sourceLocation)
    }

    @Test func `every operation is for operators, with either kind of token`() async throws {
        try await APIRig.with { rig in
            #expect(rig.document.operations.count == 23)
            for (method, path) in rig.document.operations {
                let below = path.dropFirst("/api/v1/".count).replacing("{key}", with: "one")
                    .replacing("{day}", with: "2001-01-01")
                Self.expectProblem(try await rig.ask(method, String(below), role: nil), 401, "not_signed_in")
                for role in ["viewer", "peer"] {
                    Self.expectProblem(try await rig.ask(method, String(below), role: role), 403, "not_permitted")
                }
            }
            let challenges = try await rig.raw("/api/v1/status", role: nil).head
            #expect(challenges.contains("www-authenticate: bearer") && challenges.contains("www-authenticate: basic"))
            let basic = ["-u", "operator:operator-token-1"]
            #expect(try await rig.ask("GET", "status", nil, basic, role: nil).status == 200)
            let wrong = try await rig.ask("GET", "status", nil, ["-u", "viewer:operator-token-1"], role: nil)
            Self.expectProblem(wrong, 401, "not_signed_in")
            for _ in 1...12 {
                _ = try await rig.ask("GET", "status", nil, ["-H", "Authorization: Bearer wrong"], role: nil)
            }
            let many = try await rig.ask("GET", "status", nil, ["-H", "Authorization: Bearer wrong"], role: nil)
            Self.expectProblem(many, 429, "wrong_tokens")
            #expect(many.field("retry-after") != nil && !many.text.contains("wrong\""))
            #expect(try await rig.ask("GET", "status").status == 200)
        }
    }

    @Test func `a session changes something only with the form's token`() async throws {
        try await APIRig.with { rig in
            let signed = try await rig.raw("/sign-in", "--data-urlencode", "token=operator-token-1", role: nil)
            let cookie = try #require(signed.field("set-cookie")).prefix { $0 != ";" }
            // Fields of the head are in lower case here, and a session is not: ask again for it as it is.
            let whole = try await ChildProcess.run(
                "/usr/bin/curl",
                ["-s", "-i", "--data-urlencode", "token=operator-token-1", "\(rig.server.url)/sign-in"])
            let line = try #require(whole.text.split(separator: "\r\n").first { $0.hasPrefix("Set-Cookie: ") })
            let session = line.dropFirst(12).prefix { $0 != ";" }
            #expect(session.lowercased().prefix(20) == cookie.prefix(20))
            let words = ["-H", "Cookie: \(session)"]
            #expect(try await rig.ask("GET", "status", nil, words, role: nil).status == 200)
            Self.expectProblem(try await rig.ask("POST", "reports/retry", nil, words, role: nil), 403, "form_token")
            let page = try await rig.raw("/lectures/three", "-H", "Cookie: \(session)", role: nil).text
            let start = try #require(page.range(of: #"name="form_token" value=""#))
            let token = page[start.upperBound...].prefix { $0 != "\"" }
            let all = words + ["-H", "X-Form-Token: \(token)"]
            #expect(try await rig.ask("POST", "reports/retry", nil, all, role: nil).status == 200)
            let foreign = all + ["-H", "Origin: http://evil.example"]
            Self.expectProblem(
                try await rig.ask("POST", "reports/retry", nil, foreign, role: nil), 403, "foreign_origin")
        }
    }

    @Test func `bodies that are wrong are refused by name`() async throws {
        try await APIRig.with { rig in
            let many = "[\(String(repeating: "[", count: 200_000))"
            let rows: [(String, Int, String)] = [
                ("{}", 400, "url"), ("[", 400, "body"), ("[]", 400, "body"), ("null", 400, "body"), ("", 415, "json"),
                (#"{"url": 1}"#, 400, "url"), (#"{"url": null}"#, 400, "url"),
                (#"{"url": ["http://h/a"]}"#, 400, "url"),
                (#"{"url": "ftp://h/a"}"#, 400, "url"), (#"{"url": "file:///etc/passwd"}"#, 400, "url"),
                (#"{"url": "http://h/a b"}"#, 400, "url"), (#"{"url": "http://h/\u0000"}"#, 400, "url"),
                (#"{"url": "http://"}"#, 400, "body"), (#"{"url": "http://h/a", "headers": {}}"#, 400, "headers"),
                (#"{"url": "http://h/a", "URL": "x"}"#, 400, "URL"),
                (#"{"url": "http://h/a", "url": "http://h/b"}"#, 400, "body"),
                (#"{"url": "http://h/a", "priority": 101}"#, 400, "priority"),
                (#"{"url": "http://h/a", "priority": 1.5}"#, 400, "priority"),
                (#"{"url": "http://h/a", "priority": "1"}"#, 400, "priority"),
                (#"{"url": "http://h/a", "priority": true}"#, 400, "priority"),
                (#"{"url": "http://h/a", "priority": 1e400}"#, 400, "body"),
                (#"{"url": "http://h/a", "priority": 99999999999999999999999999}"#, 400, "priority"),
                (#"{"url": "http://h/a", "sha256": "00"}"#, 400, "sha256"),
                (#"{"url": "http://h/a", "sha256": "\#(String(repeating: "g", count: 64))"}"#, 400, "sha256"),
                (#"{"url": "http://h/a", "key": ""}"#, 400, "key"),
                (#"{"url": "http://h/a", "key": "a\u0000"}"#, 400, "key"),
                (#"{"url": "http://h/a", "title": "a\u001b[2J"}"#, 400, "title"),
                (#"{"url": "http://h/a", "title": "a\ud800"}"#, 400, "body"),
                (#"{"url": "http://h/a", "title": "\#(String(repeating: "x", count: 513))"}"#, 400, "title"),
                (many, 413, "too long"),
            ]
            for (body, status, word) in rows {
                // Longer than a word of the command line may be.
                let file = try rig.directory.write(body, to: "body.json")
                let words = ["-H", "Content-Type: application/json", "--data-binary", "@\(file)"]
                let answer = try await rig.ask("POST", "lectures", nil, body.isEmpty ? [] : words)
                Self.expectProblem(answer, status, nil)
                #expect(answer.text.contains(word), "\(body.prefix(80)): \(answer.text)")
            }
            for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
                let words = ["-H", "Content-Type: \(type)", "--data-binary", #"{"priority": 1}"#]
                Self.expectProblem(try await rig.ask("PUT", "lectures/one/priority", nil, words), 415, "content_type")
            }
            let typed = ["-H", "Content-Type: Application/JSON; charset=utf-8", "--data-binary", #"{"priority": 1}"#]
            #expect(try await rig.ask("PUT", "lectures/one/priority", nil, typed).status == 200)
            Self.expectProblem(try await rig.ask("POST", "lectures/three/retry", "{}"), 400, "parameter")
            let huge = try rig.directory.write([UInt8](repeating: 0x20, count: 1 << 21), to: "huge")
            for words in [
                ["--data-binary", "@\(huge)"],
                ["-H", "Transfer-Encoding: chunked", "-H", "Expect:", "--data-binary", "@\(huge)"],
            ] {
                Self.expectProblem(try await rig.ask("POST", "lectures", nil, words), 413, "body_too_long")
            }
            #expect(try await rig.keys("") == ["one", "two/2", "three", "bytes-300K-3"])
        }
    }

    @Test func `queries that are wrong are refused by name`() async throws {
        try await APIRig.with { rig in
            let rows: [(String, [String])] = [
                (
                    "lectures",
                    [
                        "limit=0", "limit=201", "limit=x", "limit=01", "limit=%2B1", "limit=1&limit=2", "limit=1.0",
                        "limit=99999999999999999999", "limit=-1", "limit=", "state=odd", "state=", "sort=",
                        "sort=Title",
                        "odd=1", "search=", "search=%0A", "search=%1b%5B2J",
                        "search=\(String(repeating: "x", count: 513))",
                        "course=%C2%85", "after=", "after=%07", "form_token=x", "Limit=1", "type=0", "folder=",
                    ]
                ),
                (
                    "licences",
                    ["within=-1", "within=1e3", "within=31622401", "after=x", "after=1_", "after=_%01", "limit=1 "]
                ),
                ("reports", ["state=gone", "after=-1", "after=x", "after=99999999999999999999", "user=", "reason=x"]),
                ("status", ["a=b", "a"]), ("events", ["seconds=0", "seconds=3601", "last=1"]),
            ]
            for (path, queries) in rows {
                for query in queries {
                    let address = "\(path)?\(query.replacing(" ", with: "%20"))"
                    let answer = try await rig.ask("GET", address)
                    Self.expectProblem(answer, 400, "parameter")
                    #expect(answer.text.contains(query.split(separator: "=")[0]), "\(address): \(answer.text)")
                    #expect(answer.json["remedy"] as? String == "See /api/v1/openapi.json.")
                }
            }
        }
    }

    @Test func `paths and methods that are not there are problems, too`() async throws {
        try await APIRig.with { rig in
            let missing = [
                "/api/", "/api/v1", "/api/v1/", "/api/v2/status", "/api/v1/odd", "/api/v1/lectures/",
                "/api/v1/lectures/one/",
                "/api/v1/lectures/one/odd", "/api/v1/lectures/one/why/x", "/api/v1//status", "/api/v1/Status",
                "/api/v1/licences/days/2001-01-01", "/api/v1/lectures/a%2Fb",
            ]
            for path in missing { Self.expectProblem(try await rig.raw(path), 404, "unknown_path") }
            for path in ["/api/v1/lectures/..", "/api/%2e%2e/x", "/api/v1/lectures/a%5Cb", "/api/v1/lectures/%0A"] {
                Self.expectProblem(try await rig.raw(path), 400, "path")
            }
            let rows = [
                ("lectures", "get, post, head"), ("lectures/one", "delete, get, head"), ("lectures/one/pause", "post"),
                ("lectures/one/priority", "put"), ("events", "get, head"), ("licences/days/2001-01-01/renew", "post"),
            ]
            for (path, allowed) in rows {
                let answer = try await rig.raw("/api/v1/\(path)", "-X", "PATCH")
                Self.expectProblem(answer, 405, "method")
                #expect(answer.field("allow") == allowed, "\(path)")
            }
            Self.expectProblem(try await rig.raw("/api/v1/status", "-H", "Host: evil.example"), 421, "foreign_host")
            // Other parts answer as before.
            #expect(try await rig.raw("/odd").field("content-type") == "application/json")
            for path in ["lectures/%00", "lectures/%ff", "lectures/\(String(repeating: "x", count: 1000))"] {
                let answer = try await rig.raw("/api/v1/\(path)")
                #expect(answer.status == 404 && answer.name == "unknown_content", "\(path.prefix(30))")
            }
        }
    }
}
