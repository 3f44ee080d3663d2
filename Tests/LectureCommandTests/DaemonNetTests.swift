import Foundation
import Glibc
import LectureDaemon
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A daemon of a test's account, with its course lists.
private struct ResidentProgram {
    let me: BadDay
    let courses: String
    let process: ChildProcess

    init(_ me: BadDay, _ words: [String] = [], prefix: [String] = []) throws {
        self.me = me
        courses = me.home.file("courses")
        try? FileManager.default.createDirectory(atPath: courses, withIntermediateDirectories: false)
        let all = prefix + [BuiltProgram.url.path, "daemon", "--json", "--verbose", "--courses", courses] + words
        process = try ChildProcess(
            all[0], Array(all.dropFirst()), environment: me.environment, directory: me.home.path)
    }

    /// Puts a course list where it is followed, in one step.
    func list(_ name: String, _ urls: String...) throws {
        try me.home.write(urls.map { "\($0)\n" }.joined(), to: "new")
        _ = unsafe rename(me.home.file("new"), "\(courses)/\(name)")
    }

    /// Waits until a text was printed so many times.
    func wait(_ text: String, times: Int = 1) async throws {
        try await process.wait(for: .output) { output in
            String(decoding: output, as: UTF8.self).components(separatedBy: text).count > times
        }
    }

    /// Stops it in order; every line must have matched its schema.
    func stopped(_ signal: Int32 = SIGTERM) async throws -> [Line] {
        process.send(signal)
        let ending = await process.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        return try Line.all(ending.text)
    }
}

/// `lecturectl daemon`, as a program.
@Suite(.timeLimit(.minutes(3))) struct DaemonNetTests {
    private static let ready = #""state":"ready""#
    private static let completed = #""event":"completed""#

    @Test func `lists that come and change are downloaded, one that goes takes nothing with it, reports go out`()
        async throws
    {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let daemon = try ResidentProgram(me)
        try await daemon.wait(Self.ready)
        try daemon.list("a.txt", "\(sandbox.http)/media/bytes-1M-1.mp4")
        try await daemon.wait(Self.completed)
        try daemon.list("a.txt", "\(sandbox.http)/media/bytes-1M-1.mp4", "\(sandbox.http)/media/bytes-1M-2.mp4")
        try await daemon.wait(Self.completed, times: 2)
        try FileManager.default.removeItem(atPath: "\(daemon.courses)/a.txt")
        try await daemon.wait(#""state":"list_gone""#)
        // Written by another program.
        #expect(try await me("lms", "add", "--target", "\(sandbox.http)/lms/json").status == 0)
        try await daemon.wait(#""event":"sending","delivered":1"#)
        let lines = try await daemon.stopped()
        #expect(lines.filter { $0.event == "failed" }.isEmpty && lines.last?.state == "stopping")
        #expect(try await me.list().map(\.state) == ["completed", "completed"])
        #expect(try await sandbox.lmsSummary().once == 1)
        try await me.expectSound()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `stopped in the middle of a download it keeps the bytes, and the next one continues`(signal: Int32)
        async throws
    {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/media/bytes-24M-1.mp4"
        try await sandbox.set(fault: "stall:12000000", on: path)
        let first = try ResidentProgram(me, ["--connections", "1"])
        try first.list("a.txt", "\(sandbox.http)\(path)")
        try await first.wait(#""event":"progress""#)
        while try await me.receivedBytes() == 0 {}
        _ = try await first.stopped(signal)
        let kept = try await me.receivedBytes()
        #expect(kept > 0)
        try await sandbox.set(fault: "", on: path)
        let second = try ResidentProgram(me)
        try await second.wait(Self.completed)
        _ = try await second.stopped()
        let sent = try await sandbox.requests(for: path).reduce(0) { $0 + $1.bytes }
        #expect(sent <= 24 << 20 + 13_000_000 - kept + 4 << 20, "what was kept is not fetched again")
        #expect(try await me.sha256() == (try await sandbox.sha256(of: path)))
        try await me.expectSound()
    }

    @Test func `SIGHUP reads settings and lists again while a download goes on, and names what needs a restart`()
        async throws
    {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let (slow, quick) = ("/media/bytes-24M-1.mp4", "/media/bytes-1M-1.mp4")
        try await sandbox.set(fault: "stall:8000000", on: slow)
        let settings = try me.home.write(#"{"network":{"jobs":1}}"#, to: "config.json")
        let daemon = try ResidentProgram(me, ["--config", settings, "--connections", "1"])
        try daemon.list("a.txt", "\(sandbox.http)\(slow)", "\(sandbox.http)\(quick)")
        try await daemon.wait(#""event":"progress""#)
        let before = try await sandbox.requests(for: slow).count
        // With one job the quick one waits behind the slow one; with two it does not.
        try me.home.write(#"{"network":{"jobs":2,"per_host":8,"proxy":"http://127.0.0.1:1"}}"#, to: "config.json")
        daemon.process.send(SIGHUP)
        try await daemon.wait(Self.ready, times: 2)
        try await daemon.wait(Self.completed)
        #expect(try await sandbox.requests(for: slow).count == before, "the transfer was not begun again")
        try await daemon.process.wait(for: .errors) { errors in
            String(decoding: errors, as: UTF8.self).contains("only a restart changes network.per_host, network.proxy.")
        }
        // What cannot be read changes nothing, and does not end it.
        try me.home.write("{", to: "config.json")
        daemon.process.send(SIGHUP)
        try await daemon.wait(Self.ready, times: 3)
        let lines = try await daemon.stopped()
        #expect(lines.filter { $0.event == "error" }.map(\.name) == ["configuration"])
        #expect(lines.filter { $0.state == "reloading" }.count == 2)
        try await me.expectSound()
    }

    @Test func `two daemons share a store, and no lecture is fetched twice`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let (one, other) = (try ResidentProgram(me), try ResidentProgram(me))
        for daemon in [one, other] { try await daemon.wait(Self.ready) }
        let paths = (1...6).map { "/media/bytes-2M-\($0).mp4" }
        try one.list("a.jsonl", #"{"url":"\#(sandbox.http)\#(paths[0])"}"#)
        try one.list("b.txt", paths.map { sandbox.http + $0 }.joined(separator: "\n"))
        while try await me.list().filter({ $0.state == "completed" }).count < paths.count {}
        for daemon in [one, other] { _ = try await daemon.stopped() }
        for path in paths {
            let sent = try await sandbox.requests(for: path).filter { $0.method == "GET" }.reduce(0) { $0 + $1.bytes }
            #expect(sent == 2 << 20, "\(path)")
        }
        try await me.expectSound()
    }
}

/// What a daemon reports to its service manager, and about lists that cannot be used.
@Suite(.timeLimit(.minutes(3))) struct DaemonServiceNetTests {
    @Test func `it is ready once its lists were read, beats, reloads and stops, each in its order`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try NotifySocket(me.home.file("notify"))
        let list = try me.home.write("\(sandbox.http)/media/bytes-1M-1.mp4\n", to: "a.txt")
        let process = try ChildProcess(
            BuiltProgram.url.path, ["daemon", "--json", "--courses", list],
            environment: me.environment.merging(["NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "200000"]) { $1 },
            directory: me.home.path)
        func isOf(_ state: String) -> Bool { ["WATCHDOG", "STATUS"].contains { state.hasPrefix($0) } }
        #expect(manager.messages(until: "READY=1").dropLast().allSatisfy(isOf))
        try await process.wait(forOutput: #""state":"ready""#)
        let read = try await process.wait(for: .output) { $0.range(of: Data(#""event":"completed""#.utf8)) != nil }
        let text = String(decoding: read, as: UTF8.self)
        let (first, ready) = (text.range(of: #""list_read""#), text.range(of: #""ready""#))
        #expect(try #require(first).lowerBound < (try #require(ready)).lowerBound)
        #expect(manager.messages(until: "STATUS=1 lecture complete; nothing to do.").allSatisfy(isOf))
        for _ in 0..<3 { #expect(manager.messages(until: "WATCHDOG=1").allSatisfy(isOf)) }
        process.send(SIGHUP)
        let reloading = manager.messages(until: "RELOADING=1")
        #expect(reloading.dropLast().allSatisfy(isOf))
        let microseconds = try #require(reloading.last?.split(separator: "=").last.flatMap { Int64($0) })
        #expect(microseconds > 0 && microseconds <= ServiceNotifier.monotonicMicroseconds)
        #expect(manager.messages(until: "READY=1").dropLast().allSatisfy(isOf))
        process.send(SIGTERM)
        #expect(manager.messages(until: "STOPPING=1").dropLast().allSatisfy(isOf))
        #expect(await process.ending().status == 0)
    }

    @Test func `a licence that ends soon is renewed at the start, and what a server ends is said`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https", "--licensed"]))
        try me.home.write(
            #"{"drm":{"keys":[{"id":"sandbox","secret_file":"\#(sandbox.drmKeyFile)"}],"user_key":"sandbox"}}"#,
            to: "config.json")
        var policy = CallbackPolicy()
        policy.expirationIn = 3600
        try await sandbox.set(policy: policy)
        let daemon = try ResidentProgram(me, ["--config", me.home.file("config.json"), "--renew-within", "2h"])
        try daemon.list("a.txt", try await sandbox.link(key: "bytes-64K-3"))
        try await daemon.wait(#""change":"granted""#)
        try await daemon.wait(#""event":"renewed""#)
        _ = try await daemon.stopped()
        #expect(try await sandbox.callbackCounts().first { $0.kind == 3 }?.asked ?? 0 >= 1)
    }

    @Test func `a bad line is reported and stops nothing, and so is a directory that is not there`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let daemon = try ResidentProgram(me, ["--courses", me.home.file("missing/lists")])
        try await daemon.wait(#""state":"ready""#)
        try daemon.list(
            "a.jsonl", "{", #"{"url":"\#(sandbox.http)/media/bytes-1M-1.mp4","titel":"x"}"#, #"{"url":"ftp://h/x"}"#)
        try await daemon.wait(#""event":"completed""#)
        let lines = try await daemon.stopped()
        #expect(lines.filter { $0.event == "error" }.map(\.name) == ["course_list", "course_line", "course_line"])
        #expect(lines.filter { $0.event == "warning" }.count == 1)
        #expect(try await me.list().map(\.state) == ["completed"])
    }
}

/// A network of its own, whose only link goes away and comes back.
private struct NetworkSpace {
    private let holder: ChildProcess
    /// Runs a program in it.
    var enter: [String] { ["/usr/bin/nsenter", "--net=/proc/\(holder.identifier)/ns/net"] }

    /// Whether this user may make one.
    static let isAvailable: Bool = {
        let script = "ip link set lo up && ip link set lo down"
        let result = try? BuiltProgram.run(URL(filePath: "/usr/bin/unshare"), ["--net", "sh", "-ec", script])
        return result?.status == 0
    }()

    init() async throws {
        holder = try ChildProcess(
            "/usr/bin/unshare", ["--net", "bash", "-euc", "ip link set lo up; echo made; exec cat"],
            keepsInputOpen: true)
        _ = try await holder.firstLine()
    }

    func set(_ state: String) async throws {
        let ending = try await ChildProcess.run(enter[0], [enter[1], "ip", "link", "set", "lo", state])
        #expect(ending.status == 0, "\(ending.errorText)")
    }
}

/// The network goes away and comes back.
@Suite(
    .timeLimit(.minutes(3)), .enabled(if: NetworkSpace.isAvailable, "only root may make a network namespace"))
struct DaemonNetworkNetTests {
    /// When a line says that the next attempt is.
    private static func nextAttempt(_ text: String, after mark: String) -> Date? {
        let lines = text.split(separator: "\n").filter { $0.contains(mark) }
        guard let last = lines.last?.components(separatedBy: #""next_attempt_ms":"#).last,
            let milliseconds = Double(last.prefix { $0.isNumber })
        else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000)
    }

    @Test func `when the link is back, reports and a download go on at once, without a restart`() async throws {
        let (me, space) = (try BadDay(), try await NetworkSpace())
        let program = BuiltProgram.url.deletingLastPathComponent().appending(path: "lecture-sandbox").path
        let sandbox = try ChildProcess(
            space.enter[0], [space.enter[1], program, "--no-https", "--port", "8080"], keepsInputOpen: true)
        try await sandbox.wait(forOutput: #""event":"ready""#)
        let base = "http://127.0.0.1:8080"
        let daemon = try ResidentProgram(
            me, ["--connections", "1", "--timeout", "2s", "--retries", "1", "--limit-rate", "4M"], prefix: space.enter)
        try await daemon.wait(#""state":"ready""#)
        try daemon.list("a.txt", "\(base)/media/bytes-24M-1.mp4")
        while try await me.receivedBytes() < 2 << 20 {}
        try await space.set("down")
        // The download ends up waiting for the network.
        try await daemon.wait(#""event":"stopped""#)
        #expect(try await me("lms", "add", "--target", "\(base)/lms/json").status == 0)
        try await daemon.wait(#""event":"obstacle""#)
        // As after many failures: the next attempts are minutes away.
        let script = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1], timeout=30) as c: c.execute('UPDATE lms_target SET failures = 20')
            """
        let failures = try await ChildProcess.run("/usr/bin/python3", ["-c", script, me.store + "/lecturekit.db"])
        try #require(failures.status == 0, "\(failures.errorText)")
        let isLate: @Sendable (Data) -> Bool = { output in
            let text = String(decoding: output, as: UTF8.self)
            let moments = ["stopped", "obstacle"].map { Self.nextAttempt(text, after: "\"event\":\"\($0)\"") }
            return moments.allSatisfy { $0.map { $0 > Date(timeIntervalSinceNow: 40) } ?? false }
        }
        let output = String(
            decoding: try await daemon.process.wait(for: .output, until: isLate), as: UTF8.self)
        try await space.set("up")
        try await daemon.wait(#""event":"sending","delivered":1"#)
        #expect(Date.now < (try #require(Self.nextAttempt(output, after: #""event":"obstacle""#))))
        // At least a part of it came before the next attempt was due.
        let kept = try await me.receivedBytes()
        while try await me.receivedBytes() <= kept {}
        #expect(Date.now < (try #require(Self.nextAttempt(output, after: #""event":"stopped""#))))
        try await daemon.wait(#""event":"completed""#)
        _ = try await daemon.stopped()
        #expect(try await me.list().map(\.state) == ["completed"])
        try await me.expectSound()
    }
}
