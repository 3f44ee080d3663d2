import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Exchanges through a proxy.
@Suite(.timeLimit(.minutes(1)))
struct ProxyNetTests {
    @Test
    func `a proxy gets the whole URL and its answer is the answer`() async throws {
        let heads = Guarded<[String]>([])
        let proxy = try RawServer { peer in
            let head = peer.readHead()
            heads.withLock { $0.append(head) }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy")
        }
        try await Bench.run { configuration in
            configuration.proxy = proxy.http
        } _: { bench in
            let (end, sink) = await bench.fetch("http://media.test/file?a=b")
            #expect(end == .complete)
            #expect(sink.text == "proxy")
            #expect(heads.withLock { $0.first }?.hasPrefix("GET http://media.test/file?a=b HTTP/1.1\r\n") == true)
        }
    }

    @Test
    func `a tunnel transports TLS and hides the request from the proxy`() async throws {
        let authority = try await Authority.make()
        let origin = try await SecureOrigin.start(authority.issue())
        let heads = Guarded<[String]>([])
        let proxy = try RawServer { peer in
            let head = peer.readHead()
            heads.withLock { $0.append(head) }
            let port = head.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) }
            guard let port, let server = Peer.connected(to: port) else { return }
            peer.send("HTTP/1.1 200 Established\r\nX-Proxy: yes\r\n\r\n")
            peer.relay(to: server)
            server.close()
        }
        try await Bench.run { configuration in
            configuration.proxy = proxy.http
            configuration.caFile = authority.root
        } _: { bench in
            let (end, sink) = await bench.fetch("\(origin.https)/file") { request in
                request.headers = ["Authorization": "Bearer secret"]
            }
            #expect(end == .complete)
            #expect(sink.text == "bytes")
            #expect(sink.headCount == 1)
            #expect(sink.head?.fields["X-Proxy"] == nil)
            let head = try #require(heads.withLock { $0.first })
            #expect(head.hasPrefix("CONNECT localhost:"))
            #expect(!head.contains("secret"))
        }
    }

    @Test
    func `a refused tunnel is a failure without a head`() async throws {
        let proxy = try RawServer.answering("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        try await Bench.run { configuration in
            configuration.proxy = proxy.http
        } _: { bench in
            let (end, sink) = await bench.fetch("https://media.test/file")
            #expect(end.curl == 56)
            #expect(end.detail.contains("403"))
            #expect(sink.head == nil)
        }
    }

    @Test
    func `an absent proxy cannot be reached`() async throws {
        let port = try Places.freePort()
        try await Bench.run { configuration in
            configuration.proxy = "http://127.0.0.1:\(port)"
        } _: { bench in
            #expect(await bench.fetch("http://media.test/file").end.curl == 7)
        }
    }
}
