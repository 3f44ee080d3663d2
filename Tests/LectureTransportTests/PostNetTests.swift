import LectureFormats
import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Requests with a body, and the time limit of a whole exchange.
@Suite(.timeLimit(.minutes(1)))
struct PostNetTests {
    /// One request as a server reads it.
    private struct Received {
        var head = ""
        var body: [UInt8] = []
    }

    private static let form = "application/x-www-form-urlencoded"

    /// Reads one request with its body.
    private static func read(_ peer: Peer) -> Received? {
        var received = Received(head: peer.readHead())
        if received.head.isEmpty { return nil }
        let length = received.head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        let count = length.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
        while received.body.count < count {
            let bytes = peer.read(count - received.body.count)
            if bytes.isEmpty { break }
            received.body += bytes
        }
        return received
    }

    @Test(arguments: [0, 1, 30_000, 3_000_000])
    func `a body arrives complete, with its length and type, and waits for nothing`(count: Int) async throws {
        let seen = Guarded<[Received]>([])
        let server = try RawServer { peer in
            guard let received = Self.read(peer) else { return }
            seen.withLock { $0.append(received) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let bytes = pattern(count)
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch("\(server.http)/callback") {
                $0.body = RequestBody(bytes, mediaType: Self.form)
            }
            #expect(end == .complete)
            #expect(sink.text == "ok")
        }
        let received = try #require(seen.withLock { $0.first })
        #expect(received.body == bytes)
        #expect(received.head.hasPrefix("POST /callback HTTP/1.1\r\n"))
        #expect(received.head.contains("\r\nContent-Type: \(Self.form)\r\n"))
        #expect(received.head.contains("\r\nContent-Length: \(count)\r\n"))
        let head = received.head.lowercased()
        #expect(!head.contains("expect:") && !head.contains("transfer-encoding"))
    }

    @Test(arguments: ["DELETE", "PUT", "PATCH"])
    func `a body can belong to another method`(method: String) async throws {
        let seen = Guarded<[Received]>([])
        let server = try RawServer { peer in
            guard let received = Self.read(peer) else { return }
            seen.withLock { $0.append(received) }
            peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        }
        try await Bench.run { bench in
            for _ in 0..<2 {
                let (end, _) = await bench.fetch("\(server.http)/thing") {
                    $0.body = RequestBody(Array("{}".utf8), mediaType: "application/json", method: method)
                }
                #expect(end == .complete)
            }
            // The next exchange has the usual method again.
            let (end, _) = await bench.fetch("\(server.http)/thing") {
                $0.body = RequestBody(Array("{}".utf8), mediaType: "application/json")
            }
            #expect(end == .complete)
        }
        let heads = seen.withLock { $0.map(\.head) }
        #expect(heads.map { $0.prefix { $0 != " " } } == [method[...], method[...], "POST"])
    }

    @Test
    func `fields derived from the body override given ones of that name`() async throws {
        let seen = Guarded<[Received]>([])
        let server = try RawServer { peer in
            guard let received = Self.read(peer) else { return }
            seen.withLock { $0.append(received) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        try await Bench.run { bench in
            let (end, _) = await bench.fetch(server.http) {
                $0.body = RequestBody(Array("items=1".utf8), mediaType: Self.form)
                $0.headers = HeaderFields([
                    HeaderField(name: "content-type", value: "text/plain"),
                    HeaderField(name: "Content-Length", value: "1"),
                    HeaderField(name: "expect", value: "100-continue"),
                    HeaderField(name: "Transfer-Encoding", value: "chunked"), HeaderField(name: "X-Own", value: "1"),
                ])
            }
            #expect(end == .complete)
        }
        let received = try #require(seen.withLock { $0.first })
        #expect(received.body == Array("items=1".utf8))
        #expect(received.head.contains("\r\nX-Own: 1\r\n"))
        let head = received.head.lowercased()
        #expect(head.components(of: "content-type:") == 1 && head.components(of: "content-length:") == 1)
        #expect(!head.contains("text/plain") && !head.contains("expect:") && !head.contains("transfer-encoding"))
    }

    @Test
    func `a request that was sent on a used connection is not sent again when that breaks`() async throws {
        let seen = Guarded<[Received]>([])
        let server = try RawServer { peer in
            // The second request is read and not answered; a third one would be.
            while let received = Self.read(peer) {
                let number = seen.withLock { seen in
                    seen.append(received)
                    return seen.count
                }
                if number == 2 { return }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        try await Bench.run { bench in
            let body = RequestBody(Array("items=secret-in-the-body".utf8), mediaType: Self.form)
            let (first, _) = await bench.fetch(server.http, number: 1) { $0.body = body }
            #expect(first == .complete)
            let (second, sink) = await bench.fetch(server.http, number: 2) { $0.body = body }
            #expect(second == .failed(curl: 56, detail: "the connection broke after the request was sent"))
            #expect(sink.head == nil)
            let (third, _) = await bench.fetch(server.http, number: 3) { $0.body = body }
            #expect(third == .complete)
        }
        #expect(seen.withLock { $0.count } == 3)
    }

    @Test
    func `no error contains a body`() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.reset()
        }
        let secret = "secret-in-the-body"
        try await Bench.run { bench in
            let body = RequestBody(Array("items=\(secret)".utf8), mediaType: Self.form)
            let (end, _) = await bench.fetch(server.http) { $0.body = body }
            #expect(end.curl == 56 || end.curl == 55)
            #expect(!end.detail.contains(secret))
        }
    }

    @Test
    func `a trickling answer is abandoned when the total takes too long`() async throws {
        let gone = Signal()
        let server = try RawServer { peer in
            _ = Self.read(peer)
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while peer.send("x"), !peer.waitForInput(20) {}
            gone.raise()
        }
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http) {
                $0.body = RequestBody([1], mediaType: Self.form)
                $0.totalTimeout = .milliseconds(300)
            }
            #expect(end == .failed(curl: 28, detail: "not complete after 300 ms"))
            #expect(await sink.outcome().elapsed >= .milliseconds(300))
            await gone.wait()
        }
    }

    @Test
    func `waiting for a connection counts towards the total, and fast exchanges are unaffected`() async throws {
        let held = Signal()
        let server = try RawServer { peer in
            while !peer.readHead().isEmpty {
                held.waitBlocking()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        try await Bench.run { configuration in
            configuration.maxHostConnections = 1
        } _: { bench in
            let first = bench.start(server.http, number: 1) { $0.totalTimeout = .seconds(50) }
            let (second, _) = await bench.fetch(server.http, number: 2) { $0.totalTimeout = .milliseconds(200) }
            #expect(second.curl == 28)
            held.raise()
            #expect(await first.outcome().end == .complete)
        }
    }

    @Test
    func `bodies share a connection over HTTP 2`() async throws {
        let authority = try await Authority.make()
        // A proxy reads the whole body first. libcurl 7.88 loses an answer that comes before it (error 92).
        let origin = try await SecureOrigin.start(
            authority.issue(), servesHTTP2: true,
            directives: """
                location /post { proxy_pass https://127.0.0.1:$server_port/answer; }
                location /answer { add_header X-Method $request_method; return 200 $content_length; }
                """)
        try await Bench.run { configuration in
            configuration.caFile = authority.root
        } _: { bench in
            let sinks = (0..<20).map { number in
                bench.start("\(origin.https)/post", number: number) {
                    $0.body = RequestBody(pattern(1000 + Int(number)), mediaType: Self.form)
                }
            }
            for (number, sink) in sinks.enumerated() {
                let end = await sink.outcome().end
                #expect(end == .complete)
                #expect(sink.text == "\(1000 + number)")
                #expect(sink.head?.isHTTP2 == true && sink.head?.fields["X-Method"] == "POST")
            }
            #expect(await bench.transport.statistics().connections == 1)
        }
    }
}

extension String {
    /// How often another text occurs.
    fileprivate func components(of text: String) -> Int {
        var (count, rest) = (0, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
