import Foundation
import Glibc
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Signals at any time: verified bytes stay, and few are fetched again.
@Suite(.timeLimit(.minutes(3))) struct InterruptionNetTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends it cleanly, the last line counts every byte, and the next run resumes`(
        signal: Int32
    ) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let url = "\(sandbox.http)/media/bytes-24M-1.mp4"
        let first = try me.start("precache", "--json", "--connections", "1", "\(url)?fault=stall:12000000")
        try await first.wait(forOutput: #""event":"progress""#)
        while try await me.list().first?.bytes ?? 0 == 0 {}
        first.send(signal)
        let ending = await first.ending()
        #expect(ending.status == 128 + signal)
        let summary = try Line.summary(ending.text)
        let proven = try #require(try await me.list().first?.bytes)
        #expect(proven > 0)
        #expect(summary.stopped == 1)
        #expect(summary.bytesFetched ?? 0 >= proven)
        // Bytes in socket buffers when the connections were closed are counted by the server, not by the client.
        let sent = try await sandbox.requests(for: "/media/bytes-24M-1.mp4").reduce(0) { $0 + $1.bytes }
        #expect(summary.bytesFetched ?? 0 <= sent)
        try await me.expectSound()
        let second = try await me("precache", "--json", url)
        #expect(second.status == 0)
        let rest = try Line.summary(second.text)
        // Of the chunk that was not whole its beginning is kept as well.
        #expect(rest.bytesReused == summary.bytesFetched)
        #expect((rest.bytesFetched ?? 0) + (rest.bytesReused ?? 0) == 24 << 20)
        #expect(try await me.sha256() == (try await sandbox.sha256(of: "/media/bytes-24M-1.mp4")))
    }

    @Test(arguments: [SIGTERM, SIGKILL], ["--no-seal", "--quiet"])
    func `runs that end before a chunk is whole get through`(signal: Int32, option: String) async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/media/bytes-1500K-1.mp4"
        let url = "\(sandbox.http)\(path)"
        // Each answer has 400,000 bytes and then only silence: no run receives a chunk by itself.
        try await sandbox.set(fault: "stall:400000", on: path)
        for run in 1...3 {
            let process = try me.start("precache", "--connections", "1", "--key", "k", option, url)
            // Less than 16 KiB of each run are not yet a piece.
            while try await me.receivedBytes() < run * 380_000 {}
            process.send(signal)
            _ = await process.ending()
        }
        try await sandbox.set(fault: "", on: path)
        let last = try await me("precache", "--json", "--connections", "1", "--key", "k", option, url)
        #expect(last.status == 0, "\(last.errorText)")
        #expect(try Line.summary(last.text).bytesReused ?? 0 >= 3 * 380_000)
        #expect(
            try await sandbox.sha256(of: path)
                == ChildProcess.run(
                    "/bin/bash",
                    [
                        "-c",
                        """
                        "$0" cat k | sha256sum | cut -c1-64 | tr -d '\n'
                        """, BuiltProgram.url.path,
                    ], environment: ["LECTURE_STORE": me.store, "HOME": me.home.path]
                ).text)
        try await me.expectSound()
    }

    @Test func `a second SIGINT ends it at once`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let process = try me.start("precache", "--json", "\(sandbox.http)/media/bytes-8M-2.mp4?fault=stall:1000000")
        try await process.wait(forOutput: #""event":"progress""#)
        process.send(SIGINT)
        process.send(SIGINT)
        #expect(await process.ending().status == 130)
        try await me.expectSound()
    }

    @Test func `twenty kills at random moments leave the right bytes and little loss each`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let (path, size, connections) = ("/media/bytes-768M-3.mp4", 768 << 20, 2)
        // Twenty runs that write at most 24 MiB each cannot finish it.
        let kills = 20
        for _ in 0..<kills {
            let process = try me.start(
                "precache", "--json", "--connections", "\(connections)", "--limit-rate", "64M", "\(sandbox.http)\(path)"
            )
            await ChildProcess.wait(forWritten: Int.random(in: 0...24 << 20, using: &random), by: [process])
            process.send(SIGKILL)
            #expect(await process.ending().status == 128 + SIGKILL)
        }
        let last = try await me("precache", "--json", "\(sandbox.http)\(path)")
        #expect(last.status == 0, "seed \(seed): \(last.errorText)")
        #expect(try await me.sha256() == (try await sandbox.sha256(of: path)), "seed \(seed)")
        let sent = try await sandbox.requests(for: path).reduce(0) { $0 + $1.bytes }
        // Started chunks, one group, and what each connection's sockets and blocks on their way to the disk held.
        let perKill = connections * (1 << 20) + (8 << 20) + connections * (4 << 20)
        let again = max(0, sent - size)
        print("seed \(seed): \(kills) kills, \(again / kills) bytes fetched again a kill")
        let summary = try Line.summary(last.text)
        #expect(summary.bytesReused ?? 0 > 0, "seed \(seed)")
        // Where two connections meet, the first may read a little of the second's range.
        let sum = (summary.bytesFetched ?? 0) + (summary.bytesReused ?? 0)
        #expect((size...size + (1 << 20)).contains(sum), "seed \(seed): \(sum)")
        #expect(again <= kills * perKill, "seed \(seed): \(again) bytes again after \(kills) kills")
        try await me.expectSound()
    }

    @Test func `after a kill 'why' says which process was interrupted`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let process = try me.start("precache", "--key", "k", "\(sandbox.http)/media/bytes-8M-5.mp4?fault=stall:1000000")
        while try await me.list().first?.state != "downloading" {}
        #expect(
            try await me("why", "k").text.contains("Process \(process.identifier) (lecturectl precache) is working"))
        process.send(SIGKILL)
        _ = await process.ending()
        let why = try await me("why", "k").text
        #expect(why.contains("Interrupted: process \(process.identifier) (lecturectl precache) ended"), "\(why)")
        #expect(!why.contains("is working"))
    }

    @Test func `a stopped process does not block requests, and resumes when it is continued`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let path = "/media/bytes-8M-4.mp4"
        // However long the checks take, the few bytes of each attempt do not complete it.
        try await sandbox.set(fault: "stall:100000", on: path)
        let process = try me.start(
            "precache", "--json", "--connections", "1", "--timeout", "10s", "\(sandbox.http)\(path)")
        try await process.wait(forOutput: #""event":"progress""#)
        process.send(SIGSTOP)
        #expect(try await me.list().first?.state == "downloading")
        try await me.expectSound()
        try await sandbox.set(fault: "", on: path)
        process.send(SIGCONT)
        #expect(await process.ending().status == 0)
        #expect(try await me.sha256() == (try await sandbox.sha256(of: path)))
    }

    @Test func `what is acknowledged is complete, even when the program is killed in that moment`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let urls = (1...8).map { "\(sandbox.http)/media/bytes-256K-\($0).mp4" }
        let list = try me.home.write(urls.joined(separator: "\n"), to: "course.txt")
        let process = try me.start("precache", "--acks", list)
        let line = try await process.firstLine()
        process.send(SIGKILL)
        let ending = await process.ending()
        let acknowledged = Set(
            ending.text.split(separator: "\n").filter { $0.hasPrefix("ACK ") }.map { $0.dropFirst(4) })
        #expect(line.hasPrefix("ACK "))
        let complete = Set(try await me.list().filter { $0.state == "completed" }.compactMap { $0.key?[...] })
        #expect(!acknowledged.isEmpty)
        #expect(acknowledged.isSubset(of: complete))
    }
}

/// Several processes on one store.
@Suite(.timeLimit(.minutes(3))) struct CompanyNetTests {
    /// A course of files served by nginx.
    private func course(
        _ me: BadDay, count: Int, bytes: Int, _ options: NginxOrigin.Options = .init()
    ) async throws -> (nginx: NginxOrigin, list: String) {
        for number in 0..<count {
            let media = MediaBeginning.replacing([UInt8](repeating: UInt8(number & 0xFF), count: bytes))
            try me.home.write(media, to: "site/\(number).mp4")
        }
        let nginx = try await NginxOrigin.start(serving: me.home.file("site"), options)
        let lines = (0..<count).map { #"{"url": "\#(nginx.http)/\#($0).mp4", "key": "k\#($0)"}"# }
        return (nginx, try me.home.write(lines.joined(separator: "\n"), to: "course.jsonl"))
    }

    @Test func `two processes with the same course fetch each file once, and both succeed`() async throws {
        let me = try BadDay()
        let (nginx, list) = try await course(me, count: 24, bytes: 300_000)
        async let one = me("precache", "--json", "--connections", "1", list)
        async let two = me("precache", "--json", "--connections", "1", list)
        let endings = try await [one, two]
        let summaries = try endings.map { try Line.summary($0.text) }
        #expect(endings.map(\.status) == [0, 0])
        #expect(summaries.reduce(0) { $0 + ($1.bytesFetched ?? 0) } == 24 * 300_000)
        #expect(summaries.map { ($0.completed ?? 0) + ($0.skipped ?? 0) } == [24, 24])
        let targets = try await nginx.requests(atLeast: 24).map(\.target)
        #expect(targets.sorted() == (0..<24).map { "/\($0).mp4" }.sorted())
        try await me.expectSound()
    }

    @Test func `another process takes over the work of a killed one`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        // Only the first answer for each file stalls: a repeated request gets the rest.
        let urls = (1...3).map { "\(sandbox.http)/media/bytes-4M-\($0).mp4?fault=stall:3000000;times=1" }
        let list = try me.home.write(urls.joined(separator: "\n"), to: "course.txt")
        let first = try me.start("precache", "--json", "--connections", "1", list)
        while try await me.list().filter({ $0.bytes ?? 0 > 0 }).count < 3 {}
        let second = try me.start("precache", "--json", "--connections", "1", list)
        first.send(SIGKILL)
        _ = await first.ending()
        let ending = await second.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        let summary = try Line.summary(ending.text)
        #expect(summary.completed == 3)
        // Verified bytes that a dead process leaves behind are not fetched again by its successor.
        #expect(summary.bytesReused ?? 0 >= 3 << 20)
        #expect((summary.bytesFetched ?? 0) + (summary.bytesReused ?? 0) == 12 << 20)
        #expect(try await me.list().allSatisfy { $0.state == "completed" })
        try await me.expectSound()
    }

    @Test func `one process controls what another fetches`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        // The first two are claimed and stall, so that nothing changes except by commands.
        let lines = (0..<6).map { number in
            let fault = number < 2 ? "?fault=stall:1500000;times=1" : ""
            return #"{"url": "\#(sandbox.http)/media/bytes-2M-\#(number).mp4\#(fault)", "key": "k\#(number)"}"#
        }
        let list = try me.home.write(lines.joined(separator: "\n"), to: "course.jsonl")
        let fetching = try me.start(
            "precache", "--json", "--timeout", "300s", "--jobs", "2", "--connections", "1", list)
        while try await me.list().filter({ $0.bytes ?? 0 > 0 }).count < 2 {}
        #expect(try await me("cancel", "k4").status == 0)
        #expect(try await me("reorder", "k5", "--first").status == 0)
        #expect(try await me("pause", "k0").status == 0)
        try await fetching.wait(forOutput: #""event":"stopped","key":"k0""#)
        #expect(try await me("why", "k0").text.contains("Paused by a user."))
        #expect(try await me("resume", "k0").status == 0)
        try await fetching.wait(forOutput: #""event":"completed","key":"k0""#)
        #expect(try await me("remove", "k1").status == 0)
        let ending = await fetching.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        let events = try Line.all(ending.text)
        // The first process to get there deletes it.
        while try await me.list().contains(where: { $0.key == "k1" }) {}
        let completed = events.filter { $0.event == "completed" }.compactMap(\.key)
        #expect(completed.sorted() == ["k0", "k2", "k3", "k5"])
        // By requests: a received file is no job while the disk makes it durable, so a later one may overtake it.
        let asked = try await sandbox.requests().map(\.path).filter { path in
            ["2", "3", "5"].contains { path == "/media/bytes-2M-\($0).mp4" }
        }
        #expect(asked.first == "/media/bytes-2M-5.mp4", "\(asked)")
        #expect(try await me.list().first { $0.key == "k4" }?.stopReason == "user")
        #expect(try await me.list().count == 5)
        try await me.expectSound()
    }

    @Test func `status follows another process and ends with its signal`() async throws {
        let (me, sandbox) = (try BadDay(), try await SandboxOrigin.start(["--no-https"]))
        let fetching = try me.start("precache", "--json", "\(sandbox.http)/media/bytes-8M-9.mp4?fault=stall:1000000")
        let watching = try me.start("status", "--watch", "--json")
        try await watching.wait(forOutput: #""downloading":1"#)
        watching.send(SIGINT)
        #expect(await watching.ending().status == 130)
        fetching.send(SIGTERM)
        #expect(await fetching.ending().status == 143)
    }

    @Test func `of eight processes five are killed, and every file of a hundred is complete in the end`() async throws {
        let me = try BadDay()
        let (nginx, list) = try await course(me, count: 100, bytes: 200_000)
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let processes = try (0..<8).map { _ in try me.start("precache", "--json", list) }
        for process in processes.shuffled(using: &random).prefix(5) {
            await ChildProcess.wait(forWritten: Int.random(in: 0...1 << 20, using: &random), by: [process])
            process.send(SIGKILL)
        }
        for process in processes {
            let ending = await process.ending()
            // SQLite's lock is not fair: on a busy machine one of eight may not get it in ten seconds; it says so.
            let isBusy = ending.status == 75 && ending.errorText.contains(LectureError.Code.storeBusy.summary)
            #expect(isBusy || [0, 128 + SIGKILL].contains(ending.status), "seed \(seed): \(ending.errorText)")
        }
        #expect(try await me("precache", "--quiet", list).status == 0)
        let listed = try await me.list()
        #expect(listed.count == 100)
        #expect(listed.allSatisfy { $0.state == "completed" && $0.bytes == 200_000 }, "seed \(seed)")
        #expect(try await me("verify", "--all").status == 0)
        try await me.expectSound()
        await nginx.stop()
    }
}
