import Foundation
import Glibc
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A machine whose wall clock is wrong, or is set while the program runs, simulated by libfaketime. As on a real
/// machine, monotonic clocks keep running.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"))
struct ClockNetTests {
    private static let path = "/media/bytes-3M-1.mp4"

    @Test(arguments: [
        "@1969-12-31 23:59:50", "@1970-01-01 00:00:01", "@2038-01-19 03:14:00", "@2106-02-07 06:28:10",
        "@9999-12-31 23:59:50",
    ])
    func `lectures are fetched, listed and verified under any clock`(time: String) async throws {
        let (me, sandbox) = (try WrongClock(time), try await SandboxOrigin.start(["--no-https"]))
        let urls = ["\(sandbox.http)\(Self.path)", "\(sandbox.http)/media/bytes-64K-2.mp4"]
        let fetched = try await me("precache", "--json", "--deadline", "100s", urls[0], urls[1])
        #expect(fetched.status == 0, "\(fetched.errorText)")
        let lines = try Line.all(fetched.text)
        #expect(lines.last?.completed == 2)
        #expect(lines.count < 200, "reported in a tight loop")
        #expect(try await sandbox.requests().count == 2)
        let key = try #require(lines.first { $0.event == "completed" }?.key)
        for words in [["list"], ["status"], ["why", key], ["show", key], ["verify", "--all"], ["store", "info"]] {
            let ending = try await me.run(words)
            #expect(ending.status == 0, "\(words): \(ending.errorText)")
        }
        // The store that the wrong clock left is read under the right one, and vice versa.
        #expect(try await me.day("verify", "--all").status == 0)
        #expect(try await me.day("precache", urls[0]).status == 0)
        try await me.day.expectSound()
        #expect(try await me.day.list().count == 2)
    }

    @Test(arguments: ["-1y", "+1y"])
    func `a download resumes after the clock was set by a year`(time: String) async throws {
        let (me, sandbox) = (try WrongClock(time), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.set(fault: "stall:2500000", on: Self.path)
        let url = "\(sandbox.http)\(Self.path)"
        let process = try me.day.start("precache", "--connections", "1", url)
        while try await me.day.list().first?.bytes ?? 0 < 2 << 20 {}
        process.send(SIGKILL)
        _ = await process.ending()
        let received = try await me.day.receivedBytes()
        #expect(received >= 2 << 20)
        try await sandbox.reset()
        let ending = try await me("precache", "--deadline", "100s", url)
        #expect(ending.status == 0, "\(ending.errorText)")
        let sent = try await sandbox.requests().reduce(0) { $0 + $1.bytes }
        #expect(sent == (3 << 20) - received)
        #expect(try await me.day.sha256() == (try await sandbox.sha256(of: Self.path)))
        try await me.day.expectSound()
    }

    @Test func `a clock that jumps back and forth during a transfer changes nothing`() async throws {
        let (me, sandbox) = (try WrongClock(), try await SandboxOrigin.start(["--no-https"]))
        let process = try me.start(
            "precache", "--json", "--deadline", "100s", "--timeout", "60s", "--connections", "1",
            "\(sandbox.http)\(Self.path)?fault=slow:100000")
        var reported = 0
        for jump in ["-1y", "+10y", "-40y", "+0", "-1h", "+70y", "-30s"] {
            // Some bytes arrive between two jumps, so that the program observes each jump.
            let seen = reported
            let output = try await process.wait(for: .output) { data in
                data.count { $0 == UInt8(ascii: "\n") } > seen
            }
            reported = output.count { $0 == UInt8(ascii: "\n") }
            try me.set(jump)
        }
        let ending = await process.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = try Line.all(ending.text)
        #expect(lines.last?.completed == 1)
        #expect(lines.count < 200, "reported in a tight loop: \(lines.count)")
        #expect(try await sandbox.requests().count == 1)
        #expect(try await me.day.sha256() == (try await sandbox.sha256(of: Self.path)))
        try await me.day.expectSound()
    }

    @Test(arguments: ["-1y", "-5s", "+1y"])
    func `Retry-After is waited for exactly, even when the clock was set before`(jump: String) async throws {
        let (me, sandbox) = (try WrongClock(jump), try await SandboxOrigin.start(["--no-https"]))
        try await sandbox.set(fault: "503;retry=12;times=1", on: Self.path)
        let url = "\(sandbox.http)\(Self.path)"
        // Longer than the program waits in place: the wait is stored and outlives the process.
        let first = try await me.day("precache", "--deadline", "3s", "--json", url)
        #expect(first.status == 75, "\(first.errorText)")
        #expect(try await me.day.list().first?.stopReason == "server_wait")
        let second = try await me("precache", "--deadline", "60s", url)
        #expect(second.status == 0, "\(second.errorText)")
        #expect(try await sandbox.requests().count == 2)
        #expect(try await me.day.sha256() == (try await sandbox.sha256(of: Self.path)))
    }

    @Test(arguments: ["-1y", "+1y"])
    func `setting the clock during Retry-After does not prolong the wait`(jump: String) async throws {
        let (me, sandbox) = (try WrongClock(), try await SandboxOrigin.start(["--no-https"]))
        let process = try me.start(
            "precache", "--deadline", "60s", "--json", "\(sandbox.http)\(Self.path)?fault=503;retry=12;times=1")
        try await process.wait(forOutput: #""stop_reason":"server_wait""#)
        try me.set(jump)
        let ending = await process.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        let lines = try Line.all(ending.text)
        #expect(lines.count < 200, "reported in a tight loop: \(lines.count)")
        #expect(try await sandbox.requests().count == 2)
    }

    @Test func `a date in Retry-After is measured against the server's clock, not a wrong local one`() async throws {
        let (me, sandbox) = (try WrongClock("@1970-01-01 00:00:01"), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)\(Self.path)?fault=503;retry-date=3;times=1"
        let ending = try await me("precache", "--deadline", "60s", "--json", url)
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(try await sandbox.requests().count == 2)
    }

    @Test(arguments: ["@1970-01-01 00:00:01", "@2100-01-01 00:00:00"])
    func `a certificate that only a wrong clock makes invalid yields an error that names the clock`(
        time: String
    ) async throws {
        let (me, sandbox) = (try WrongClock(time), try await SandboxOrigin.start())
        let url = "\(sandbox.https)/media/bytes-64K-2.mp4"
        let ending = try await me("precache", "--json", "--ca-file", sandbox.authorityFile, url)
        #expect(ending.status == 69, "\(ending.errorText)")
        #expect(ending.errorText.contains("a secure connection cannot be made"), "\(ending.errorText)")
        #expect(ending.errorText.contains("clock"), "\(ending.errorText)")
        let failed = try #require(try Line.all(ending.text).first { $0.event == "failed" })
        #expect(failed.name == "tls")
        let why = try await me("why", try #require(failed.key)).text
        #expect(why.contains("clock"), "\(why)")
        // With the right clock the same store continues.
        let right = try await me.day("precache", "--ca-file", sandbox.authorityFile, url)
        #expect(right.status == 0, "\(right.errorText)")
    }
}

/// A person's account on a machine with a wrong clock.
private struct WrongClock {
    /// The same account under the right clock.
    let day: BadDay
    private let time: String?

    /// Makes the account.
    ///
    /// - Parameter time: as libfaketime wants it; nil for a clock that is ``set(_:)`` while the program runs.
    /// - Throws: the system's error.
    init(_ time: String? = nil) throws {
        day = try BadDay()
        self.time = time
        try set("+0")
    }

    /// Sets the clock of every program that was started without its own time.
    func set(_ time: String) throws {
        // A renamed file is never read half written.
        let new = try day.home.write("\(time)\n", to: "time.new")
        let isRenamed = unsafe rename(new, day.home.file("time")) == 0
        #expect(isRenamed)
    }

    func start(_ words: [String]) throws -> ChildProcess {
        var environment = [
            "HOME": day.home.path, "LECTURE_STORE": day.store, "LECTURE_RESERVE": "1M", "XDG_CONFIG_HOME": "",
        ].merging(FakeClock.environment) { first, _ in first }
        if let time {
            environment["FAKETIME"] = time
        } else {
            environment["FAKETIME_TIMESTAMP_FILE"] = day.home.file("time")
        }
        // With a directory, `env -C` runs first and passes the clock on: libfaketime changes the environment at start,
        // after which Swift's runtime does not find the command line.
        return try ChildProcess(BuiltProgram.url.path, words, environment: environment, directory: day.home.path)
    }

    func start(_ words: String...) throws -> ChildProcess { try start(words) }

    func run(_ words: [String]) async throws -> ChildProcess.Ending { try await start(words).ending() }

    func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await run(words) }
}
