import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Invalid answers, byte by byte.
@Suite(.timeLimit(.minutes(1)))
struct FramingNetTests {
    /// Fetches once from a server that answers these bytes.
    private func fetch(
        _ answer: String, _ configure: (inout TransportConfiguration) -> Void = { _ in },
        _ check: (TransferOutcome.End, Recorder) throws -> Void
    ) async throws {
        let server = try RawServer.answering(answer)
        try await Bench.run(configure) { bench in
            let (end, sink) = await bench.fetch("\(server.http)/secret?token=hidden")
            #expect(!end.detail.contains("hidden"))
            try check(end, sink)
        }
    }

    // MARK: Bodies

    @Test
    func `a truncated body is a failure with the received bytes`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") { end, sink in
            #expect(end.curl == 18)
            #expect(end.detail.contains("95"))
            #expect(sink.text == "short")
            #expect(sink.ended?.bodyBytes == 5)
        }
    }

    @Test
    func `a truncated chunked body is a failure`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n") { end, sink in
            #expect(end.curl == 18)
            #expect(sink.text == "short")
        }
    }

    @Test
    func `a chunked body is delivered without its framing and its trailers`() async throws {
        let answer =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n"
            + "5\r\nwhole\r\n4\r\nbody\r\n0\r\nX-End: late\r\n\r\n"
        try await fetch(answer) { end, sink in
            #expect(end == .complete)
            #expect(sink.text == "wholebody")
            #expect(sink.headCount == 1)
            #expect(sink.head?.fields["X-End"] == nil)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 103 Hints\r\nA: b\r\n",
    ])
    func `a truncated head is a broken connection, which is transient`(answer: String) async throws {
        try await fetch(answer) { end, sink in
            // 18 where libcurl knows how much is missing.
            #expect([18, 56].contains(end.curl))
            #expect(sink.headCount == 0)
        }
    }

    @Test
    func `an empty Location leads nowhere`() async throws {
        try await fetch("HTTP/1.1 302 Found\r\nLocation:\r\nContent-Length: 0\r\n\r\n") { _, sink in
            #expect(sink.headCount == 1)
            #expect(sink.head?.redirectURL == nil)
        }
    }

    @Test
    func `a body without a length ends with the connection`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\n\r\nto the end") { end, sink in
            #expect(end == .complete)
            #expect(sink.text == "to the end")
        }
    }

    @Test
    func `bytes after the announced length are not part of the body`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\nx") { end, sink in
            #expect(end == .complete)
            #expect(sink.text == "abc")
            #expect(sink.headCount == 1)
        }
    }

    @Test
    func `a second head is body, not a head`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nHTTP/1.1 206 Partial\r\nX-A: 2\r\n\r\nx") { end, sink in
            #expect(end == .complete)
            #expect(sink.headCount == 1)
            #expect(sink.head?.status == 200)
            #expect(sink.text.hasPrefix("HTTP/1.1 206"))
        }
    }

    // MARK: Heads

    @Test
    func `informational heads are skipped`() async throws {
        let answer =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nX-A: final\r\nContent-Length: 2\r\n\r\nok"
        try await fetch(answer) { end, sink in
            #expect(end == .complete)
            #expect(sink.headCount == 1)
            #expect(sink.head?.status == 200)
            #expect(sink.head?.fields["Link"] == nil)
            #expect(sink.head?.fields["X-A"] == "final")
        }
    }

    @Test
    func `an unrequested protocol switch is refused`() async throws {
        try await fetch("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nstrange bytes") { end, sink in
            #expect(end.curl != nil)
            #expect(sink.head == nil)
            #expect(sink.body.isEmpty)
        }
    }

    @Test
    func `fields keep their order, repetitions and folded lines`() async throws {
        let answer =
            "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: \t two \r\nx-a: 3\r\nX-C: folded\r\n  line\r\nX-D:\r\n"
            + "Content-Length: 0\r\n\r\n"
        try await fetch(answer) { end, sink in
            #expect(end == .complete)
            let fields = try #require(sink.head?.fields)
            #expect(fields.elements.map(\.name) == ["X-A", "X-B", "x-a", "X-C", "X-D", "Content-Length"])
            #expect(fields.values(of: "X-A") == ["1", "3"])
            #expect(fields["X-B"] == "two")
            #expect(fields["X-C"] == "folded line")
            #expect(fields["X-D"]?.isEmpty == true)
        }
    }

    @Test
    func `a header larger than allowed ends the exchange`() async throws {
        let fields = (0..<100).map { "X-\($0): \(String(repeating: "v", count: 1000))\r\n" }.joined()
        try await fetch("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok") { end, sink in
            #expect(end == .failed(curl: 8, detail: "the header of the answer is too large"))
            #expect(sink.head == nil)
        }
    }

    @Test
    func `a larger limit accepts a larger header`() async throws {
        let fields = (0..<100).map { "X-\($0): \(String(repeating: "v", count: 1000))\r\n" }.joined()
        let answer = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok"
        try await fetch(answer) { configuration in
            configuration.maxHeaderBytes = 200_000
        } _: { end, sink in
            #expect(end == .complete)
            #expect(sink.head?.fields.elements.count == 101)
        }
    }

    @Test
    func `a field line beyond libcurl's own limit is reported as too large`() async throws {
        let line = "X-Long: \(String(repeating: "v", count: 150_000))\r\n"
        try await fetch("HTTP/1.1 200 OK\r\n\(line)\r\nok") { configuration in
            configuration.maxHeaderBytes = 1_000_000
        } _: { end, sink in
            #expect(end == .failed(curl: 8, detail: "the header of the answer is too large"))
            #expect(sink.head == nil)
        }
    }

    @Test
    func `trailers count towards the header's limit`() async throws {
        let trailers = (0..<100).map { "X-\($0): \(String(repeating: "v", count: 1000))\r\n" }.joined()
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\(trailers)\r\n"
        try await fetch(answer) { end, sink in
            #expect(end == .failed(curl: 8, detail: "the header of the answer is too large"))
            #expect(sink.text == "ok")
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "HTTP/1.1 2"])
    func `a truncated head is not an answer, so the request is repeated`(head: String) async throws {
        try await fetch(head) { end, sink in
            #expect([18, 52, 56].contains(end.curl), "\(end)")
            #expect(sink.head == nil)
        }
    }

    @Test
    func `an answer of HTTP 0 point 9 is refused`() async throws {
        try await fetch("<html>an old page</html>") { end, sink in
            #expect(end.curl == 1)
            #expect(sink.head == nil)
            #expect(sink.body.isEmpty)
        }
    }

    @Test
    func `a NUL in a header is refused`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n") { end, sink in
            #expect(end.curl == 8)
            #expect(sink.head == nil)
        }
    }

    @Test
    func `a connection closed without a byte is an empty answer`() async throws {
        try await fetch("") { end, sink in
            #expect(end.curl == 52)
            #expect(sink.head == nil)
        }
    }

    @Test
    func `a truncated head is a failure without a head`() async throws {
        try await fetch("HTTP/1.1 200 OK\r\nContent-Le") { end, sink in
            #expect(end.curl != nil)
            #expect(sink.head == nil)
        }
    }
}
