import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Options of `precache` whose effect only a server sees.
@Suite(.timeLimit(.minutes(2))) struct OptionNetTests {
    @Test func `a repeated run sends no request`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-1M-1.mp4"
        #expect(try await me("precache", url).status == 0)
        let before = try await sandbox.requests().count
        let again = try await me("precache", "--json", url)
        #expect(again.status == 0)
        #expect(try Line.summary(again.text).skipped == 1)
        #expect(try await sandbox.requests().count == before)
    }

    @Test func `a fresh signature continues the same lecture from the new URL`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/media/bytes-16M-2.mp4"
        let url = "\(sandbox.http)\(path)?fault=stall:4000000&signature="
        let first = try me.start("precache", "--json", "--connections", "1", "\(url)old")
        while try await me.list().first?.bytes ?? 0 == 0 {}
        first.send(SIGTERM)
        #expect(await first.ending().status == 143)
        let asked = try await sandbox.requests(for: path).count
        let proven = try #require(try await me.list().first?.bytes)
        let second = try me.start("precache", "--json", "--connections", "1", "\(url)new")
        // A resumed lecture is downloading, not loading: its progress is reported.
        try await second.wait(forOutput: #""event":"progress""#)
        while try await me.list().first?.bytes ?? 0 == proven {}
        second.send(SIGTERM)
        #expect(await second.ending().status == 143)
        let later = try await sandbox.requests(for: path).dropFirst(asked)
        #expect(!later.isEmpty)
        #expect(later.allSatisfy { $0.target.contains("signature=new") })
        let third = try await me("precache", "--json", "\(sandbox.http)\(path)?signature=newest")
        let summary = try Line.summary(third.text)
        #expect(summary.bytesReused ?? 0 > proven)
        #expect((summary.bytesFetched ?? 0) + (summary.bytesReused ?? 0) == 16 << 20)
        #expect(try await me.list().count == 1)
        #expect(try await me.sha256() == (try await sandbox.sha256(of: path)))
    }

    @Test func `a header reaches the source, not the server it redirects to`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try me.home.write(MediaBeginning.replacing([UInt8](repeating: 7, count: 100_000)), to: "site/a.mp4")
        var options = NginxOrigin.Options()
        options.directives = "if ($http_x_ticket) { return 403; }"
        let nginx = try await NginxOrigin.start(serving: me.home.file("site"), options)
        let header = ["--header", "X-Ticket: secret"]
        let direct = try await me.run(["precache", "--json", "\(nginx.http)/a.mp4"] + header)
        #expect(direct.status == 1)
        #expect(direct.errorText.contains("HTTP 403"))
        #expect(!(direct.errorText + direct.text).contains("secret"))
        let redirected = "\(sandbox.http)/media/bytes-1M-3.mp4?fault=redirect-to:\(nginx.http)/a.mp4"
        #expect(try await me.run(["precache", redirected] + header).status == 0)
        await nginx.stop()
    }

    @Test func `a mirror takes over when the source refuses`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/media/bytes-2M-4.mp4"
        let digest = try await sandbox.sha256(of: path)
        let ending = try await me(
            "precache", "--sha256", digest, "--mirror", "\(sandbox.http)/mirror-b\(path)",
            "\(sandbox.http)\(path)?fault=410")
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await me.sha256() == digest)
        #expect(try await sandbox.requests(for: "/mirror-b\(path)").contains { $0.bytes > 0 })
    }

    @Test func `a dry run asks no server and makes no store`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let ending = try await me(
            "precache", "--dry-run", "--json", "\(sandbox.http)/media/bytes-1M-5.mp4?token=secret")
        #expect(ending.status == 0)
        #expect(try Line.all(ending.text).map(\.event) == ["planned", "plan"])
        #expect(!ending.text.contains("secret"))
        #expect(try await sandbox.requests().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: me.store))
    }

    @Test func `the configured rate applies unless an option overrides it`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        try me.home.write(#"{"network":{"limit_rate":65536}}"#, to: "config.json")
        let words = ["--config", "config.json", "precache", "--deadline", "2s", "\(sandbox.http)/media/bytes-2M-6.mp4"]
        #expect(try await me.run(words).status == 75)
        let ending = try await me.run(words + ["--limit-rate", "500M", "--deadline", "60s"])
        #expect(ending.status == 0, "\(ending.errorText)")
    }

    @Test func `a deadline ends with 75 and keeps verified chunks`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let ending = try await me(
            "precache", "--json", "--deadline", "2s", "\(sandbox.http)/media/bytes-8M-6.mp4?fault=stall:4000000")
        #expect(ending.status == 75)
        #expect(try Line.summary(ending.text).stopped == 1)
        try await me.expectSound()
    }

    @Test(arguments: ["--deadline 2s stall:4000000", "--quota 1M slow:1000000", "--max-attempts 2 drop:0"])
    func `a quiet run that stays unfinished prints the reason as an error`(options: String) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let words = options.split(separator: " ").map(String.init)
        let ending = try await me(
            "precache", "--quiet", words[0], words[1], "\(sandbox.http)/media/bytes-8M-6.mp4?fault=\(words[2])")
        #expect([69, 75].contains(ending.status))
        let lines = ending.errorText.split(separator: "\n")
        #expect(lines.count == 1, "\(ending.errorText)")
    }

    @Test func `a timetable that allows nothing transfers no byte`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let ending = try await me(
            "precache", "--json", "--timetable", "else=off", "--deadline", "1s", "\(sandbox.http)/media/bytes-1M-7.mp4")
        #expect(ending.status == 75)
        #expect(try await sandbox.requests().isEmpty)
    }

    @Test func `a limit holds for all connections together`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let clock = ContinuousClock()
        let began = clock.now
        let ending = try await me(
            "precache", "--connections", "4", "--limit-rate", "4M", "\(sandbox.http)/media/bytes-12M-8.mp4")
        #expect(ending.status == 0)
        // One second's bytes may come in a burst.
        #expect(clock.now - began > .seconds(1.5))
    }

    @Test func `attempts end at their limit`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let ending = try await me(
            "precache", "--max-attempts", "3", "\(sandbox.http)/media/bytes-1M-9.mp4?fault=drop:0")
        #expect(ending.status != 0)
        #expect(try await sandbox.requests(for: "/media/bytes-1M-9.mp4").count == 3)
    }

    @Test func `a kollus link is its URLs`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let inner = "\(sandbox.http)/media/bytes-64K-10.mp4"
        let quoted = try #require(inner.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let ending = try await me("precache", "--json", "kollus://download?url=\(quoted)&folder=week")
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await me("list", "--folder", "week", "--json").text.contains("bytes-64K-10"))
        // A link that also plays is downloaded; one that only plays or lists fetches nothing, with a message.
        let both = try await me("precache", "kollus://download_play?url=\(quoted.replacing("K%2D10", with: "K%2D11"))")
        #expect(both.status == 0, "\(both.errorText)")
        #expect(try await me("list", "--json").text.contains("bytes-64K-11"))
        for link in ["kollus://list?folder=week", "kollus://path?url=\(quoted)"] {
            let refused = try await me("precache", link)
            #expect(refused.status == 65 && refused.errorText.contains("list --folder"), "\(refused.errorText)")
        }
    }
}
