import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl serve` and `lecturectl access`, as programs.
@Suite(.timeLimit(.minutes(3))) struct ServeCommandNetTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `it serves until it is stopped, and the service manager learns both`(signal: Int32) async throws {
        let me = try BadDay()
        let socket = try NotifySocket(me.home.file("notify"))
        let served = try await ServedStore(me, environment: ["NOTIFY_SOCKET": socket.name])
        #expect(socket.message() == "READY=1")
        #expect(try await served.ask("/none").name == "unknown_path")
        await served.stop(signal)
        #expect(socket.message() == "STOPPING=1")
        try await me.expectSound()
    }

    @Test func `without an access file it names what makes one, and that works`() async throws {
        let me = try BadDay()
        let refused = try await me("serve", "--listen", "127.0.0.1:0")
        #expect(refused.status == 78 && !refused.errorText.contains("--config"), "\(refused.errorText)")
        let remedy = try #require(refused.errorText.firstMatch(of: /'lecturectl (access add NAME --role operator)'/))
        let words = remedy.1.replacing("NAME", with: "ada").split(separator: " ").map(String.init)
        #expect(try await me.run(words).status == 0)
        let process = try me.start("serve", "--listen", "127.0.0.1:0")
        #expect(
            try await process.firstLine().wholeMatch(of: /The store is served at http:\/\/127.0.0.1:\d+\/\./) != nil)
        #expect(await process.terminate().status == 0)
    }

    @Test(arguments: [
        (["--listen", "0.0.0.0:0"], 78, "--behind-proxy"), (["--listen", "192.0.2.1:80"], 78, "--tls-cert"),
        (["--listen", "127.0.0.1"], 64, "IPv4"), (["--listen", "localhost:80"], 64, "IPv4"),
        (["--listen", "127.0.0.1:99999"], 64, "IPv4"), (["--listen", "[::1]:80"], 64, "IPv4"),
        (["--tls-cert", "cert.pem"], 78, "--tls-key"), (["--tls-key", "key.pem"], 78, "--tls-cert"),
        (["--listen", "192.0.2.1:80", "--behind-proxy"], 73, "192.0.2.1"),
    ])
    func `a place that it cannot use is refused with the remedy`(words: [String], status: Int32, text: String)
        async throws
    {
        let me = try BadDay()
        #expect(try await me("access", "add", "ada", "--role", "viewer").status == 0)
        let ending = try await me.run(["serve"] + words)
        #expect(ending.status == status, "\(ending.errorText)")
        #expect(ending.errorText.contains(text), "\(ending.errorText)")
        #expect(!ending.errorText.contains("--config"), "the remedy is another one")
    }

    @Test func `a port that is in use is named`() async throws {
        let served = try await ServedStore(try BadDay())
        let ending = try await served.me("serve", "--listen", "127.0.0.1:\(served.port)")
        #expect(ending.status == 73 && ending.errorText.contains("\(served.port)"), "\(ending.errorText)")
        await served.stop()
    }

    @Test func `access commands list, add and remove, and say so in JSON`() async throws {
        let me = try BadDay()
        #expect(try await me("access", "list").status != 0, "there is no file")
        for role in ["viewer", "peer", "operator"] {
            let ending = try await me("access", "add", "my-\(role)", "--role", role, "--json")
            let line = try #require(ending.text.split(separator: "\n").first.map(String.init))
            #expect(try JSONSchema(describing: line).faults(in: Data(line.utf8)).isEmpty)
        }
        #expect(try await me("access", "add", "my-peer", "--role", "peer").status == 64)
        #expect(try await me("access", "add", "other").status == 64, "no role")
        #expect(try await me("access", "remove", "my-peer").status == 0)
        #expect(try await me("access", "remove", "my-peer").status == 64)
        let listed = try await me("access", "list", "--json")
        let lines = listed.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 && lines[0].contains("my-viewer") && lines[1].contains("my-operator"))
        for line in lines { #expect(try JSONSchema(describing: line).faults(in: Data(line.utf8)).isEmpty) }
        #expect(try await me("access", "list").text.contains("my-operator"))
    }

    @Test func `a changed access file counts at once, and a broken one changes nothing`() async throws {
        let served = try await ServedStore(try BadDay())
        let added = try await served.me("access", "add", "bo", "--role", "viewer")
        try await served.process.wait(for: .errors) { Self.times("was read again", $0) >= 1 }
        let token = added.text.trimmingCharacters(in: .newlines)
        let good = try Data(contentsOf: URL(filePath: served.access))
        try Data("operator ada\n".utf8).write(to: URL(filePath: served.access))
        try await served.process.wait(for: .errors) { Self.times("line 1", $0) >= 1 }
        served.process.send(SIGHUP)
        try await served.process.wait(for: .errors) { Self.times("line 1", $0) >= 2 }
        for token in [token, served.token] { #expect(try await served.ask("/metrics", token: token).status != 401) }
        try good.write(to: URL(filePath: served.access))
        #expect(try await served.me("access", "remove", "bo").status == 0)
        try await served.process.wait(for: .errors) { Self.times("was read again", $0) >= 2 }
        #expect(try await served.ask("/metrics", token: token).status == 401)
        #expect(try await served.ask("/metrics").status != 401)
        await served.stop()
    }

    private static func times(_ text: String, _ output: Data) -> Int {
        String(decoding: output, as: UTF8.self).components(separatedBy: text).count - 1
    }

    @Test func `more than ten wrong tokens wait, and a right one is taken`() async throws {
        let served = try await ServedStore(try BadDay())
        for _ in 0..<10 { #expect(try await served.ask("/metrics", token: "wrong").status == 401) }
        let answer = try await served.ask("/metrics", token: "wrong")
        #expect(answer.status == 429 && answer.name == "wrong_tokens")
        #expect((1...60).contains(answer.field("retry-after").flatMap(Int.init) ?? 0))
        #expect(try await served.ask("/metrics").status == 200)
        #expect(try await served.ask("/metrics", token: "").status == 401, "none is not a wrong one")
        await served.stop()
    }

    @Test func `settings of the configuration file are used, and options go before them`() async throws {
        let me = try BadDay()
        let port = try Places.freePort()
        try FileManager.default.createDirectory(
            atPath: me.home.file(".config/lecturekit"), withIntermediateDirectories: true)
        try me.home.write(
            #"{"serve": {"listen": "127.0.0.1:\#(port)", "names": ["hq.example"], "access_file": "people"}}"#,
            to: ".config/lecturekit/config.json")
        _ = unsafe chmod(me.home.file(".config/lecturekit/config.json"), 0o600)
        #expect(try await me("access", "add", "ada", "--role", "operator").status == 0)
        #expect(FileManager.default.fileExists(atPath: me.home.file(".config/lecturekit/people")))
        let process = try me.start("serve", "--json")
        #expect(try await process.firstLine().contains(":\(port)\""))
        let words = ["-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H"]
        for (host, status) in [("hq.example:\(port)", "404"), ("other.example:\(port)", "421")] {
            let ending = try await ChildProcess.run(
                "/usr/bin/curl", words + ["Host: \(host)", "http://127.0.0.1:\(port)/none"])
            #expect(ending.text == status)
        }
        #expect(await process.terminate().status == 0)
        let shown = try await me("config", "show", "--listen", "127.0.0.1:1")
        #expect(shown.status == 64 || shown.text.contains("serve.listen"))
    }
}
