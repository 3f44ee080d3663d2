import Foundation
import Glibc
import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// TLS with certificates made for each test.
@Suite(.timeLimit(.minutes(1)))
struct SecureNetTests {
    @Test
    func `a server of an extra root is trusted`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue())
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let (end, sink) = await bench.fetch("\(origin.https)/file")
            #expect(end == .complete)
            #expect(sink.text == "bytes")
        }
    }

    @Test
    func `an unknown root is refused before a byte is sent`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue())
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch("\(origin.https)/file?secret")
            #expect(end.curl == 60)
            #expect(!end.detail.contains("secret"))
            #expect(sink.head == nil)
        }
    }

    @Test
    func `a certificate for another host is refused`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue(for: "elsewhere.test"))
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            #expect(await bench.fetch("\(origin.https)/file").end.curl == 60)
        }
    }

    @Test
    func `an expired certificate is refused`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue(days: -1))
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let (end, _) = await bench.fetch("\(origin.https)/file")
            #expect(end.curl == 60)
            #expect(end.detail.contains("expired"))
        }
    }

    @Test(arguments: [true, false])
    func `extra roots are added to the system's`(systemHasDirectory: Bool) async throws {
        let system = try await Authority.make()
        let extra = try await Authority.make()
        let foreign = try await Authority.make()
        let directory = try await system.hashedDirectory()
        try await Bench.run { configuration in
            configuration.caFile = extra.root
            configuration.systemRoots = .init(bundle: system.root, directory: systemHasDirectory ? directory : nil)
        } _: { bench in
            for authority in [system, extra] {
                let origin = try await SecureOrigin.start(authority.issue())
                #expect(await bench.fetch("\(origin.https)/file").end == .complete)
            }
            let origin = try await SecureOrigin.start(foreign.issue())
            #expect(await bench.fetch("\(origin.https)/file").end.curl == 60)
        }
    }

    @Test
    func `without extra roots the system's bundle decides`() async throws {
        let system = try await Authority.make()
        let foreign = try await Authority.make()
        try await Bench.run { configuration in
            configuration.systemRoots = .init(bundle: system.root)
        } _: { bench in
            let known = try await SecureOrigin.start(system.issue())
            #expect(await bench.fetch("\(known.https)/file").end == .complete)
            let unknown = try await SecureOrigin.start(foreign.issue())
            #expect(await bench.fetch("\(unknown.https)/file").end.curl == 60)
        }
    }

    @Test
    func `a pinned key must be the server's`() async throws {
        let authority = try await Authority.make()
        let identity = try await authority.issue()
        let other = try await authority.issue(for: "other.test")
        let origin = try await SecureOrigin.start(identity)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
            configuration.pinnedPublicKeys = [other.pin]
        } _: { bench in
            #expect(await bench.fetch("\(origin.https)/file").end.curl == 90)
        }
        try await Bench.run { configuration in
            configuration.caFile = authority.root
            configuration.pinnedPublicKeys = [other.pin, identity.pin]
        } _: { bench in
            #expect(await bench.fetch("\(origin.https)/file").end == .complete)
        }
    }

    @Test
    func `many small files share one HTTP 2 connection`() async throws {
        let authority = try await Authority.make()
        let bytes = pattern(5000)
        let origin = try await SecureOrigin.start(authority.issue(), files: ["file": bytes], servesHTTP2: true)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let sinks = (0..<100).map { number in
                bench.start("\(origin.https)/file?\(number)", number: UInt64(number))
            }
            for sink in sinks {
                #expect(await sink.outcome().end == .complete)
                #expect(sink.head?.isHTTP2 == true)
                #expect(sink.body == bytes)
            }
            #expect(await bench.transport.statistics().connections == 1)
        }
    }

    @Test
    func `where HTTP 2 is not offered, exchanges open connections of their own`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(
            authority.issue(), files: ["large": pattern(1_000_000), "small": [1]],
            directives: "location /large { limit_rate 10k; }")
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let large = bench.start("\(origin.https)/large", number: 1)
            let small = bench.start("\(origin.https)/small", number: 2)
            #expect(await small.outcome().end == .complete)
            #expect(large.ended == nil)
        }
    }

    @Test
    func `a range of a large file does not use an HTTP 2 connection`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue(), servesHTTP2: true)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let (_, first) = await bench.fetch("\(origin.https)/file")
            #expect(first.head?.isHTTP2 == true)
            let (end, second) = await bench.fetch("\(origin.https)/file") { $0.allowsHTTP2 = false }
            #expect(end == .complete)
            #expect(second.head?.isHTTP2 == false)
            // A stream that is paused for its own limit would be buffered in memory by libcurl.
            let (_, third) = await bench.fetch("\(origin.https)/file") { $0.rateLimit = 1_000_000 }
            #expect(third.head?.isHTTP2 == false)
        }
    }

    @Test
    func `exchanges that follow each other on one shared HTTP 2 connection all succeed`() async throws {
        let authority = try await Authority.make()
        let bytes = pattern(100_000)
        let origin = try await SecureOrigin.start(authority.issue(), files: ["file": bytes], servesHTTP2: true)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            // Each ends while others use its connection, and the next one starts then.
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<16 {
                    group.addTask {
                        for turn in 0..<3 {
                            let (end, sink) = await bench.fetch("\(origin.https)/file", number: UInt64(task * 3 + turn))
                            #expect(end == .complete)
                            // Not inside the macro, which would describe every byte that differs.
                            let isRight = sink.body == bytes
                            #expect(isRight)
                        }
                    }
                }
            }
            // A size of the read buffer that differs from that of the exchanges before.
            #expect(await bench.fetch("\(origin.https)/file", number: 99) { $0.allowsHTTP2 = false }.end == .complete)
            #expect(await bench.transport.statistics().connections == 2)
        }
    }

    /// `openssl s_server`, controlled by its standard input.
    private func handMadeServer(_ authority: Authority) async throws -> (ChildProcess, port: Int) {
        let identity = try await authority.issue()
        let port = try Places.freePort()
        let server = try ChildProcess(
            "openssl",
            ["s_server", "-accept", "127.0.0.1:\(port)", "-cert", identity.certificate, "-key", identity.key],
            keepsInputOpen: true)
        try await server.wait(for: .output) { $0.contains("ACCEPT") }
        return (server, port)
    }

    @Test(arguments: [("", 56), ("Content-Length: 100\r\n", 18), ("Transfer-Encoding: chunked\r\n", 18)])
    func `a connection cut below TLS does not end a body`(field: String, curl: Int) async throws {
        let authority = try await Authority.make()
        let (server, port) = try await handMadeServer(authority)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let sink = bench.start("https://localhost:\(port)/file")
            try await server.wait(for: .output) { $0.contains("GET /file") }
            server.write("HTTP/1.1 200 OK\r\n\(field)\r\n50\r\nto the end?")
            await sink.bytes(atLeast: 11)
            // The kernel closes the TCP connection; no close_notify is sent.
            server.send(SIGKILL)
            #expect(await sink.outcome().end.curl == curl)
        }
    }

    @Test
    func `a body that ends with a clean TLS close is complete`() async throws {
        let authority = try await Authority.make()
        // Server-side includes remove the length, and without chunks only the end of the connection marks the end.
        let origin = try await SecureOrigin.start(
            authority.issue(), directives: "ssi on; ssi_types *; chunked_transfer_encoding off;")
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let (end, sink) = await bench.fetch("\(origin.https)/file")
            #expect(end == .complete)
            #expect(sink.head?.fields["Content-Length"] == nil)
            #expect(sink.text == "bytes")
        }
    }
}

extension Data {
    /// Whether the text occurs.
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
