import Foundation
import LectureKit
import LectureTestSupport
import Testing

/// The page "Use it in your package": its code is built here, and its manifest is valid.
@Suite(.timeLimit(.minutes(2))) struct PageTests {
    private static let page = "docs/use-in-your-package.md"

    @Test func `the service and the adapter of the page are built programs, line for line`() throws {
        let examples = try DocumentExamples.examples(in: Self.page)
        try #require(examples.count == 3)
        let service = try DocumentExamples.program(in: "Examples/service").map { file in
            file.filter { !$0.hasPrefix("///") }
        }
        #expect(service.count == 1 && examples[1] == service[0])
        let tests = try DocumentExamples.program(in: "Tests/PackageUseTests")
        #expect(tests.contains { DocumentExamples.stray(examples[2], in: $0, isWhole: true) == nil })
    }

    @Test func `the service and these tests import only the public library product`() throws {
        let own = ["Foundation", "LectureTestSupport", "Testing", "Synchronization", "Dispatch", "Glibc", "LectureKit"]
        let files =
            try DocumentExamples.program(in: "Examples/service")
            + DocumentExamples.program(in: "Tests/PackageUseTests")
        for line in files.joined() where line.hasPrefix("import ") {
            #expect(own.contains(String(line.dropFirst("import ".count))), "\(line)")
        }
    }

    @Test func `the manifest of the page is valid, and requires the product by its name`() async throws {
        let root = try TemporaryDirectory()
        let package = "\(root.path)/lecture-service"
        try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
        let manifest = try #require(try DocumentExamples.examples(in: Self.page).first).joined(separator: "\n")
        try Data("\(manifest)\n".utf8).write(to: URL(filePath: "\(package)/Package.swift"))
        let run = try await ChildProcess.run(
            "/usr/bin/env", ["swift", "package", "--package-path", package, "dump-package"])
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.text.contains("\"LectureKit\"") && run.text.contains("lecture-service"))
    }

    @Test func `the packages of the page are those of the manifest and of Tools/setup`() throws {
        let repository = Places.repository()
        let page = try String(contentsOfFile: "\(repository)/\(Self.page)", encoding: .utf8)
        let setup = try String(contentsOfFile: "\(repository)/Tools/setup", encoding: .utf8)
        let manifest = try String(contentsOfFile: "\(repository)/Package.swift", encoding: .utf8)
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("$ apt-get install") })
        let listed = line.split(separator: " ").filter { $0.hasSuffix("-dev") }.map(String.init)
        // The system libraries of the sources; those of the tools have their own path.
        let needed = manifest.split(separator: "\n").filter {
            $0.contains(".systemLibrary(name:") && !$0.contains("path:")
        }
        let named = needed.compactMap { $0.firstMatch(of: /\.apt\(\["([^"]*)"\]\)/)?.output.1 }.map(String.init)
        // Only players need these; the page says so.
        let players = ["libmpv-dev", "libmicrohttpd-dev"]
        #expect(named.count == 6 && Set(named).subtracting(players) == Set(listed))
        for name in players { #expect(page.contains("`\(name)`")) }
        for name in listed { #expect(setup.contains(name)) }
    }

    @Test func `the adapter forwards its input`() {
        let observer: any LectureObserver = ServerObserver()
        observer.log(
            LectureLogRecord(
                level: .warning, time: Timestamp(milliseconds: 0), category: .store, message: "A.",
                fields: ["b": "c"]))
        observer.record(LectureMetric(kind: .counter, name: "n", value: 3, labels: ["y": "2", "x": "1"]))
        observer.record(LectureMetric(kind: .gauge, name: "g", value: 4))
        let lines = received.withLock { $0 }
        #expect(
            lines == [
                "lectures warning store: A. [\"b=c\"]", "n [(\"x\", \"1\"), (\"y\", \"2\")] +3", "g [] =4",
            ])
        // Every level has its name in swift-log.
        for level in LectureLogRecord.Level.allCases { #expect(Logger.Level(rawValue: level.rawValue) != nil) }
    }
}

/// The service as a program.
@Suite(.timeLimit(.minutes(2))) struct ServiceNetTests {
    private static func lists(_ urls: [String]) throws -> RawServer {
        let body = urls.map { "\($0)\n" }.joined()
        return try .answering(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n"
                + "Connection: close\r\n\r\n\(body)")
    }

    private static func start(_ store: String, _ list: String) throws -> ChildProcess {
        try ChildProcess(
            Places.builtProduct("service-example"), [store, list], environment: ["LECTURE_DEVICE": "\(store).device"])
    }

    private static func said(_ text: String, by service: ChildProcess) async throws {
        try await service.wait(for: .output) { String(decoding: $0, as: UTF8.self).contains(text) }
    }

    @Test func `the service completes its list and ends cleanly at each signal`() async throws {
        let (sandbox, scratch) = (try await SandboxOrigin.start(["--no-https"]), try TemporaryDirectory())
        let server = try Self.lists((1...3).map { "\(sandbox.http)/media/bytes-64K-\($0).mp4?token=canary-\($0)" })
        for number in [SIGTERM, SIGINT] {
            let service = try Self.start(scratch.file("store"), "\(server.http)/week.txt")
            try await Self.said("3 complete, 0 failed\n", by: service)
            service.send(number)
            let end = await service.ending()
            // Records come on their own queue, so that one may come after the signal.
            #expect(end.status == 0 && end.text.contains("signal \(number)\n") && end.text.hasSuffix("closed\n"))
            #expect(!end.text.contains("canary") && end.errorText.isEmpty)
        }
        #expect(try await sandbox.requests().count == 3)
        await sandbox.stop()
    }

    @Test func `a signal during a download ends it at once, and the next start resumes it`()
        async throws
    {
        let (sandbox, scratch) = (try await SandboxOrigin.start(["--no-https"]), try TemporaryDirectory())
        let path = "/media/bytes-12M-3.mp4"
        let server = try Self.lists(["\(sandbox.http)\(path)"])
        try await sandbox.set(fault: "stall:5000000", on: path)
        let service = try Self.start(scratch.file("store"), "\(server.http)/week.txt")
        // The server has sent its part, and holds the rest back for as long as the client stays.
        while try await sandbox.requests(for: path).reduce(0, { $0 + $1.bytes }) < 5_000_000 {}
        service.send(SIGTERM)
        let end = await service.ending()
        #expect(end.status == 0 && end.text.contains("signal 15\n") && end.text.hasSuffix("closed\n"))
        #expect(end.text.contains("A download went back to the queue."))
        try await sandbox.reset()
        let again = try Self.start(scratch.file("store"), "\(server.http)/week.txt")
        try await Self.said("1 complete, 0 failed\n", by: again)
        #expect(await again.terminate().status == 0)
        // Whole chunks that were there are not fetched again.
        let fetched = try await sandbox.requests(for: path).reduce(0) { $0 + $1.bytes }
        #expect(fetched <= 8 << 20)
        await sandbox.stop()
    }

    @Test func `an unreadable list ends the service with the reason`() async throws {
        let scratch = try TemporaryDirectory()
        let server = try RawServer.answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        let end = await (try Self.start(scratch.file("store"), "\(server.http)/week.txt")).ending()
        #expect(end.status == 1 && end.text.contains("HTTP 404"))
    }
}
