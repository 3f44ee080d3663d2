import LectureFormats
import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Plain exchanges with nginx.
@Suite(.timeLimit(.minutes(1)))
struct ExchangeNetTests {
    /// Serves one file of this size, called `file`.
    private func withOrigin(
        bytes count: Int = 100_000, directives: String = "", _ test: (NginxOrigin, [UInt8]) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let bytes = pattern(count)
        try directory.write(bytes, to: "file")
        var options = NginxOrigin.Options()
        options.directives = directives
        let origin = try await NginxOrigin.start(serving: directory.path, options)
        try await test(origin, bytes)
    }

    @Test
    func `a complete file arrives with its head first`() async throws {
        try await withOrigin { origin, bytes in
            try await Bench.run { bench in
                let (end, sink) = await bench.fetch("\(origin.http)/file")
                #expect(end == .complete)
                #expect(sink.body == bytes)
                let head = try #require(sink.head)
                #expect(head.status == 200)
                #expect(head.fields["content-length"] == "100000")
                #expect(head.receivedAt == standingClock.now())
                #expect(head.redirectURL == nil)
                #expect(!head.isHTTP2)
                #expect(await sink.outcome().bodyBytes == 100_000)
            }
        }
    }

    @Test
    func `a range and its If-Range are sent as asked`() async throws {
        try await withOrigin { origin, bytes in
            try await Bench.run { bench in
                let (_, whole) = await bench.fetch("\(origin.http)/file")
                let tag = try #require(whole.head?.fields["ETag"])
                let (end, sink) = await bench.fetch("\(origin.http)/file") { request in
                    request.range = ByteRange(start: 1000, end: 3000).map(RangeRequest.closed)
                    request.ifRange = tag
                }
                #expect(end == .complete)
                #expect(sink.head?.status == 206)
                #expect(sink.head?.fields["Content-Range"] == "bytes 1000-2999/100000")
                #expect(sink.body == Array(bytes[1000..<3000]))
                let last = try #require(try await origin.requests(atLeast: 2).last)
                #expect(last.range == "bytes=1000-2999")
                #expect(last.ifRange == tag)
            }
        }
    }

    @Test
    func `an open range ends with the file`() async throws {
        try await withOrigin { origin, bytes in
            try await Bench.run { bench in
                let (end, sink) = await bench.fetch("\(origin.http)/file") { $0.range = .from(99_000) }
                #expect(end == .complete)
                #expect(sink.body == Array(bytes[99_000...]))
            }
        }
    }

    @Test
    func `a status without a body still delivers its head`() async throws {
        try await withOrigin(directives: "return 204;") { origin, _ in
            try await Bench.run { bench in
                let (end, sink) = await bench.fetch("\(origin.http)/file")
                #expect(end == .complete)
                #expect(sink.head?.status == 204)
                #expect(sink.body.isEmpty)
            }
        }
    }

    @Test
    func `a missing file is an answer, not a failure`() async throws {
        try await withOrigin { origin, _ in
            try await Bench.run { bench in
                let (end, sink) = await bench.fetch("\(origin.http)/missing")
                #expect(end == .complete)
                #expect(sink.head?.status == 404)
            }
        }
    }

    @Test(arguments: [
        ("/elsewhere", "/elsewhere"), ("elsewhere?a=b", "/elsewhere?a=b"), ("../up", "/up"),
    ])
    func `a redirect is reported and not followed`(location: String, path: String) async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch("\(server.http)/a")
            #expect(end == .complete)
            #expect(sink.head?.status == 302)
            #expect(sink.head?.redirectURL == server.http + path)
            #expect(server.connections == 1)
        }
    }

    @Test
    func `a redirect to another scheme is reported for the engine to judge`() async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 301 Moved\r\nLocation: ftp://example.com/x\r\nContent-Length: 0\r\n\r\n")
        try await Bench.run { bench in
            let (_, sink) = await bench.fetch("\(server.http)/a")
            #expect(sink.head?.redirectURL == "ftp://example.com/x")
        }
    }

    @Test
    func `the request asks for identity and carries the caller's fields`() async throws {
        let heads = Guarded<[String]>([])
        let server = try RawServer { peer in
            let head = peer.readHead()
            heads.withLock { $0.append(head) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        try await Bench.run { configuration in
            configuration.userAgent = "lecturekit/9.9"
        } _: { bench in
            _ = await bench.fetch("\(server.http)/file?q=1") { request in
                request.headers = [
                    "Authorization": "Bearer x", "accept-encoding": "gzip", "Range": "bytes=9-", "X-Empty": "",
                ]
                request.range = .from(5)
            }
            let head = try #require(heads.withLock { $0.first })
            #expect(head.hasPrefix("GET /file?q=1 HTTP/1.1\r\n"))
            #expect(head.contains("\r\nUser-Agent: lecturekit/9.9\r\n"))
            #expect(head.contains("\r\nAuthorization: Bearer x\r\n"))
            #expect(head.contains("\r\nAccept-Encoding: identity\r\n"))
            #expect(head.contains("\r\nRange: bytes=5-\r\n"))
            #expect(head.contains("\r\nX-Empty:"))
            #expect(!head.contains("gzip"))
            #expect(!head.contains("bytes=9-"))
        }
    }

    @Test
    func `a thousand small files share a few connections`() async throws {
        try await withOrigin(bytes: 1000) { origin, bytes in
            try await Bench.run { configuration in
                configuration.maxHostConnections = 8
            } _: { bench in
                let sinks = (0..<1000).map { number in
                    bench.start("\(origin.http)/file?\(number)", number: UInt64(number))
                }
                for sink in sinks {
                    #expect(await sink.outcome().end == .complete)
                    #expect(sink.body == bytes)
                }
                let statistics = await bench.transport.statistics()
                #expect(statistics.ended == 1000)
                #expect(statistics.running == 0)
                // Eight at a time; a busy machine may have to reopen one now and then.
                #expect(statistics.connections <= 40)
            }
        }
    }

    @Test
    func `a hanging exchange does not delay the next one to the same server`() async throws {
        let accepted = Guarded(0)
        let server = try RawServer { peer in
            _ = peer.readHead()
            let number = accepted.withLock { number in
                number += 1
                return number
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(number == 1 ? "o" : "ok")")
            peer.waitForEnd()
        }
        try await Bench.run { bench in
            let first = bench.start(server.http, number: 1)
            await first.bytes(atLeast: 1)
            let (end, _) = await bench.fetch(server.http, number: 2)
            #expect(end == .complete)
            #expect(first.ended == nil)
        }
    }

    @Test
    func `an encoded body is delivered as received`() async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc")
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http)
            #expect(end == .complete)
            #expect(sink.head?.fields["Content-Encoding"] == "gzip")
            #expect(sink.text == "abc")
        }
    }

    @Test
    func `a closed port cannot be reached`() async throws {
        let port = try Places.freePort()
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch("http://127.0.0.1:\(port)/secret?token=1")
            #expect(end.curl == 7)
            #expect(!end.detail.contains("secret"))
            #expect(sink.head == nil)
        }
    }

    @Test(arguments: ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1/", "http://", "no url"])
    func `other schemes and invalid URLs are refused`(url: String) async throws {
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(url)
            #expect(end.curl != nil)
            #expect(sink.head == nil)
        }
    }

    @Test
    func `a number that is in use is refused`() async throws {
        try await withOrigin(bytes: 10_000_000) { origin, _ in
            try await Bench.run { bench in
                let first = bench.start("\(origin.http)/file")
                let second = bench.start("\(origin.http)/file")
                #expect(await second.outcome().end.curl == 43)
                #expect(await first.outcome().end == .complete)
            }
        }
    }
}
