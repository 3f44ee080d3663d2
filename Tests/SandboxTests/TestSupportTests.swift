import Foundation
import LectureTestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestSupportTests {
    @Test func `a child's output is read while it runs, more than a pipe holds`() async throws {
        let ending = try await ChildProcess.run("/usr/bin/head", ["-c", "3000000", "/dev/zero"])
        #expect(ending.status == 0)
        #expect(ending.output.count == 3_000_000)
    }

    @Test func `a signal shows in the exit status`() async throws {
        let child = try ChildProcess("/usr/bin/sleep", ["60"])
        child.send(SIGKILL)
        #expect(await child.ending().status == 128 + SIGKILL)
        child.send(SIGTERM)
    }

    @Test func `a cancelled test kills what it waits for, and runs nothing more`() async throws {
        let child = try ChildProcess("/usr/bin/sleep", ["600"])
        let ending = Task { await child.ending() }
        let line = Task { try await child.firstLine() }
        ending.cancel()
        #expect(await ending.value.status == 128 + SIGKILL)
        await #expect(throws: ChildProcess.Failure.self) { try await line.value }
        // As a loop does that waits for what a program says.
        let asking = Task { while try await ChildProcess.run("/bin/true").status == 0 {} }
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
    }

    @Test func `a child reads its input and sees the end`() async throws {
        let child = try ChildProcess("/usr/bin/cat", keepsInputOpen: true)
        child.write("one\ntwo\n")
        #expect(try await child.firstLine() == "one")
        child.closeInput()
        #expect(await child.ending().text == "one\ntwo\n")
    }

    @Test func `waiting for output of an ended child is an error`() async throws {
        let child = try ChildProcess("/bin/sh", ["-c", "echo oops >&2; exit 3"])
        await #expect(throws: ChildProcess.Failure.self) { try await child.firstLine() }
        #expect(await child.ending().status == 3)
        #expect(throws: ChildProcess.Failure.self) { try ChildProcess("/nonexistent/program") }
    }

    @Test func `environment and directory reach the child`() async throws {
        let directory = try TemporaryDirectory()
        let ending = try await ChildProcess.run(
            "/bin/sh", ["-c", "pwd; echo $LECTURE_WORD"], environment: ["LECTURE_WORD": "hello"],
            directory: directory.path)
        #expect(ending.text == "\(directory.path)\nhello\n")
    }

    @Test func `programs are found along the path and in the usual places`() throws {
        // The toolchain of this test is only found by PATH.
        #expect(try Places.command("swift").hasSuffix("/swift"))
        #expect(try Places.command("nginx").hasSuffix("/nginx"))
        #expect(throws: ChildProcess.Failure.self) { try Places.command("no-such-program") }
        #expect(FileManager.default.isExecutableFile(atPath: Places.builtProduct("lecture-sandbox")))
        #expect(FileManager.default.fileExists(atPath: Places.repository() + "/Package.swift"))
    }

    @Test func `a free port is never handed out twice`() throws {
        let ports = try (0..<50).map { _ in try Places.freePort() }
        #expect(Set(ports).count == 50)
    }

    @Test func `a temporary directory goes with its last reference`() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory).path
        try directory?.write("x", to: "a/b/c")
        #expect(FileManager.default.fileExists(atPath: path + "/a/b/c"))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

@Suite(.timeLimit(.minutes(1))) struct NginxOriginNetTests {
    @Test func `nginx serves ranges and says what it sent`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(Array(0...255), to: "lecture.mp4")
        let origin = try await NginxOrigin.start(serving: directory.path)
        let answer = try await Answer.get(origin.http + "/lecture.mp4", ["--range", "10-19"])
        #expect(answer.status == 206)
        #expect(Array(answer.body) == Array(10...19))
        let requests = try await origin.requests(atLeast: 1)
        #expect(requests.map(\.status) == [206])
        #expect(requests[0].range == "bytes=10-19")
        #expect(requests[0].bytes == 10)
        await origin.stop()
    }

    @Test(arguments: [false, true])
    func `nginx serves https with a certificate made for the run`(_ http2: Bool) async throws {
        let directory = try TemporaryDirectory()
        try directory.write("hello", to: "a.html")
        var options = NginxOrigin.Options()
        options.servesHTTPS = true
        options.servesHTTP2 = http2
        let origin = try await NginxOrigin.start(serving: directory.path, options)
        let answer = try await Answer.get(origin.https + "/a.html", ["--cacert", origin.authorityFile])
        #expect(String(decoding: answer.body, as: UTF8.self) == "hello")
        #expect(try await origin.requests(atLeast: 1).first?.version == (http2 ? "HTTP/2.0" : "HTTP/1.1"))
        await origin.stop()
    }

    @Test func `nginx can be slow`() async throws {
        let directory = try TemporaryDirectory()
        try directory.write([UInt8](repeating: 7, count: 60_000), to: "a.mp4")
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 50_000
        let origin = try await NginxOrigin.start(serving: directory.path, options)
        let elapsed = try await ContinuousClock().measure { _ = try await Answer.get(origin.http + "/a.mp4") }
        #expect(elapsed > .milliseconds(900))
        await origin.stop()
    }
}
