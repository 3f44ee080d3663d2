import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The built program against requests that no honest client sends.
@Suite(.timeLimit(.minutes(4))) struct HostileServeNetTests {
    @Test(arguments: [
        "/../healthz", "/%2e%2e/healthz", "/healthz/..%2f", "/a%5cb", "/%00", "/a%0ab", "/a%7f",
        "/" + String(repeating: "a", count: 1025), String(repeating: "/a", count: 17),
    ])
    func `a path that leads elsewhere is refused`(path: String) async throws {
        let served = try await ServedStore(try BadDay())
        let answer = try await served.ask(path)
        #expect([400, 404].contains(answer.status), "\(answer.head)")
        #expect(try await served.ask("/healthz").status == 200)
        await served.stop()
    }

    @Test func `methods, hosts and other sites are judged before anything is looked at`() async throws {
        let served = try await ServedStore(try BadDay())
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
            let answer = try await served.ask("/metrics", "-X", method)
            #expect(answer.status >= 400 && answer.status < 500, "\(method): \(answer.head)")
        }
        #expect(try await served.ask("/metrics", "-X", "DELETE").field("allow") == "get, head")
        let head = try await served.ask("/metrics", "-I")
        #expect(head.status == 200 && head.body.isEmpty)
        for host in ["evil.example", "evil.example:\(served.port)", "127.0.0.1.evil.example:\(served.port)", "["] {
            #expect(try await served.ask("/metrics", "-H", "Host: \(host)").status == 421, "\(host)")
        }
        for field in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
            #expect(try await served.ask("/metrics", "-H", field).name == "foreign_origin", "\(field)")
        }
        let allowed = try await served.ask("/metrics")
        for field in ["content-security-policy", "x-content-type-options", "x-frame-options", "cache-control"] {
            #expect(allowed.field(field) != nil, "\(field)")
        }
        #expect(allowed.field("access-control-allow-origin") == nil)
        await served.stop()
    }

    @Test func `roles, wrong tokens and tokens of others open nothing, and no answer repeats one`() async throws {
        let served = try await ServedStore(try BadDay())
        var tokens: [String: String] = [:]
        for role in ["viewer", "peer"] {
            tokens[role] = try await served.me("access", "add", role, "--role", role).text
                .trimmingCharacters(in: .newlines)
        }
        served.process.send(SIGHUP)
        try await served.process.wait(for: .errors) { output in
            String(decoding: output, as: UTF8.self).contains("was read again")
        }
        for (role, token) in tokens {
            let answer = try await served.ask("/metrics", token: token)
            #expect(answer.status == 403 && answer.name == "not_permitted", "\(role)")
            #expect(!answer.text.contains(token) && !answer.head.contains(token.lowercased()))
        }
        let wrong = "wrong-\(served.token)"
        for field in ["Bearer \(wrong)", "Basic !!!", "Basic", "Bearer", "Digest a", "Bearer \(served.token) x"] {
            let answer = try await served.ask("/metrics", "-H", "Authorization: \(field)", token: "")
            #expect(answer.status == 401 && answer.name == "not_signed_in", "\(field)")
            #expect(!answer.text.contains(served.token))
        }
        // A program that guesses gets no session by a cookie, either.
        #expect(try await served.ask("/metrics", "-H", "Cookie: lecturekit=a.b.c.d.e.f", token: "").status == 401)
        await served.stop()
    }

    @Test func `heads without end, bodies that are too long and requests that are none cost only themselves`()
        async throws
    {
        let served = try await ServedStore(try BadDay())
        let long = String(repeating: "x", count: 40_000)
        let wholes = [
            "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nX: \(long)\r\n\r\n",
            "GET /\(long) HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n" + (0..<4000).map { "X\($0): y\r\n" }.joined() + "\r\n",
            "\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET /healthz\r\n\r\n", "GET /healthz HTTP/9.9\r\n\r\n",
            "POST /metrics HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nContent-Length: 99999999\r\n\r\n",
            "POST /metrics HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nContent-Length: -1\r\n\r\n",
        ]
        for whole in wholes {
            let peer = try #require(RawPeer(port: served.port))
            peer.send(whole)
            peer.endSending()
            let answer = peer.read()
            #expect(!answer.hasPrefix("HTTP/1.1 2"), "\(whole.prefix(60)): \(answer.prefix(80))")
            #expect(try await served.ask("/healthz").status == 200)
        }
        await served.stop()
    }

    @Test func `hundreds of connections that say nothing, or little, keep no client away`() async throws {
        let served = try await ServedStore(try BadDay())
        let silent = (0..<900).compactMap { _ in RawPeer(port: served.port) }
        #expect(silent.count == 900)
        for peer in silent.prefix(100) { peer.send("GET /healthz HTTP/1.1\r\nX: ") }
        for _ in 0..<20 { #expect(try await served.ask("/healthz").text == "ok\n") }
        // What comes byte by byte is cut by the server, which other tests measure; here they go by themselves.
        for peer in silent { peer.end() }
        #expect(try await served.ask("/readyz").status == 200)
        await served.stop()
    }
}

/// Health and figures of the built program.
@Suite(.timeLimit(.minutes(3))) struct HealthNetTests {
    @Test func `a store that works is ready, and everybody may ask`() async throws {
        let served = try await ServedStore(try BadDay())
        #expect(try await served.ask("/healthz", token: "").text == "ok\n")
        let ready = try await served.ask("/readyz", token: "")
        #expect(ready.status == 200 && ready.json["ready"] as? Bool == true)
        #expect(try await served.ask("/metrics", token: "").status == 401)
        await served.stop()
    }

    @Test func `a disk below its reserve is named`() async throws {
        let served = try await ServedStore(try BadDay(), "--reserve", "1000T")
        let answer = try await served.ask("/readyz", token: "")
        #expect(answer.status == 503 && answer.json["reasons"] as? [String] == ["storage_full"], "\(answer.text)")
        #expect(try await served.ask("/healthz", token: "").status == 200)
        await served.stop()
    }

    @Test(.enabled(if: PrometheusServer.isInstalled, "Tools/setup installs Prometheus"))
    func `promtool finds nothing, and Prometheus scrapes with a token`() async throws {
        let me = try BadDay()
        let served = try await ServedStore(me)
        let figures = try await served.ask("/metrics")
        #expect(figures.field("content-type")?.hasPrefix("application/openmetrics-text; version=1.0.0") == true)
        #expect(figures.text.contains("lecturekit_build_info{version=") && figures.text.hasSuffix("# EOF\n"))
        let text = try me.home.write(figures.text, to: "figures")
        let checked = try await ChildProcess.run(
            "/bin/bash", ["-c", "promtool check metrics <\"$0\"", text], environment: ["PATH": "/usr/bin:/bin"])
        #expect(checked.status == 0 || checked.status == 3, "\(checked.text) \(checked.errorText)")
        let rules = try me.home.write("groups: []\n", to: "rules.yml")
        let token = try me.home.write(served.token, to: "token")
        let prometheus = try await PrometheusServer.start(
            scraping: ["lectures": "127.0.0.1:\(served.port)/metrics"], rules: rules, tokenFile: token)
        var value: String?
        // It scrapes twice a second; each question is answered at once.
        for _ in 0..<2000 where value != "1" {
            let data = try await prometheus.ask("query", ["query": "up{job=\"lectures\"}"]) as? [String: Any]
            let result = (data?["result"] as? [[String: Any]])?.first?["value"] as? [Any]
            value = result?.last as? String
        }
        #expect(value == "1")
        await prometheus.stop()
        await served.stop()
    }
}
