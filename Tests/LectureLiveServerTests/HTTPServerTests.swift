import Foundation
import Glibc
import LectureHTTP
import LectureModel
import LectureTestSupport
import Testing

/// The HTTP server itself: bodies, late answers, streams, limits and the end.
struct HTTPServerTests {
    /// Answers by the path.
    private final class Handler: HTTPHandler {
        let streams = Guarded<[HTTPEventStream]>([])
        let ended = Guarded(0)

        func handle(_ exchange: HTTPExchange) {
            switch exchange.head.path {
            case "/echo":
                let query = exchange.head.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
                exchange.answer(.text(200, "\(exchange.head.method) \(query) \(exchange.body.count)"))
                exchange.answer(.text(500, "only the first answer counts"))
            case "/late": DispatchQueue.global().async { exchange.answer(.text(200, "late")) }
            case "/events":
                let ended = ended
                let stream = HTTPEventStream(limit: 1000, commentSeconds: 1, ended: { ended.withLock { $0 += 1 } })
                stream.start(on: exchange)
                streams.withLock { $0.append(stream) }
            case "/never": break
            default: exchange.answer(HTTPAnswer(404))
            }
        }
    }

    private func server(
        _ change: (inout HTTPServerOptions) -> Void = { _ in }
    ) throws -> (HTTPServer, Handler, LiveClient) {
        var options = HTTPServerOptions()
        options.bodyLimit = 1000
        change(&options)
        let handler = Handler()
        let server = try HTTPServer(options)
        try server.serve(by: handler)
        return (server, handler, LiveClient(port: Int(server.port)))
    }

    @Test func `requests are answered with their query and their body, at once or later`() async throws {
        let (server, _, client) = try server()
        let text = String(repeating: "x", count: 1000)
        #expect(try await client.call("POST", "/echo?a=1%202&b", text).text == "POST a=1 2&b= 1000")
        #expect(try await client.call("GET", "/echo").text == "GET  0")
        #expect(try await client.call("GET", "/late").text == "late")
        #expect(try await client.call("GET", "/").status == 404)
        let chunks = (0..<3).map { _ in "64\r\n\(String(repeating: "y", count: 100))\r\n" }.joined()
        let head = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try await client.exchange(head + chunks + "0\r\n\r\n").text == "POST  300")
        // Two requests on one connection.
        let both = "GET /late HTTP/1.1\r\nHost: x\r\n\r\nGET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        #expect(try await client.exchange(both).text.hasSuffix("GET  0"))
        await server.stop()
    }

    @Test func `a body that is too long is refused, with and without a length`() async throws {
        let (server, _, client) = try server()
        #expect(try await client.call("POST", "/echo", String(repeating: "x", count: 1001)).status == 413)
        let head = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        let chunks = (0..<11).map { _ in "64\r\n\(String(repeating: "y", count: 100))\r\n" }.joined()
        #expect(try await client.exchange("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n").status == 413)
        for length in ["99999999999999999999", "-1", "x"] {
            let answer = try await client.exchange("\(head)Content-Length: \(length)\r\n\r\n")
            #expect([400, 413].contains(answer.status), "\(length)")
        }
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a request that does not come to its end is cut, a byte at a time as well`() async throws {
        let (server, _, _) = try server { ($0.requestSeconds, $0.idleSeconds) = (2, 60) }
        let silent = try #require(Peer.connected(to: Int(server.port)))
        let slow = try #require(Peer.connected(to: Int(server.port)))
        slow.send("GET /echo HTTP/1.1\r\nX: ")
        // It sends whenever the server has not closed for 50 ms.
        while !slow.waitForInput(50) { slow.send("x") }
        #expect(slow.read(1).isEmpty)
        silent.waitForEnd()
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `an event stream gets what is sent, comments in between, and its end`() async throws {
        let (server, handler, _) = try server()
        let peer = try #require(Peer.connected(to: Int(server.port)))
        peer.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(peer.readHead().contains("text/event-stream"))
        let stream = try #require(handler.streams.withLock(\.first))
        #expect(stream.send(Array("data: 1\n\n".utf8)))
        var text = ""
        while !text.contains(":\n\n") { text += String(decoding: peer.read(4096), as: UTF8.self) }
        #expect(text.contains("data: 1\n\n"))
        stream.send(Array("data: last\n\n".utf8))
        stream.end()
        #expect(!stream.send(Array("data: no\n\n".utf8)))
        while !text.hasSuffix("0\r\n\r\n") { text += String(decoding: peer.read(4096), as: UTF8.self) }
        #expect(text.contains("data: last\n\n") && !text.contains("data: no"))
        await server.stop()
        #expect(handler.ended.withLock(\.self) == 1)
    }

    @Test func `what a stream buffers is bounded`() async throws {
        let (server, handler, _) = try server()
        let peer = try #require(Peer.connected(to: Int(server.port)))
        peer.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = peer.readHead()
        let stream = try #require(handler.streams.withLock(\.first))
        var sent = 0
        while stream.send([UInt8](repeating: 0x3A, count: 100)) {
            sent += 100
            #expect(stream.waiting <= 1000)
            try #require(sent < 100_000_000)
        }
        #expect(stream.waiting == 0)
        // What the kernel had already is read, and then nothing more.
        peer.waitForEnd()
        await server.stop()
        #expect(handler.ended.withLock(\.self) == 1)
    }

    @Test func `a server stops with requests that wait, and with streams that are open`() async throws {
        let (server, handler, _) = try server()
        let peers = try (0..<4).map { _ in try #require(Peer.connected(to: Int(server.port))) }
        for (place, peer) in peers.enumerated() {
            peer.send("GET /\(place < 2 ? "events" : "never") HTTP/1.1\r\nHost: x\r\n\r\n")
        }
        for peer in peers.prefix(2) { _ = peer.readHead() }
        await server.stop()
        for peer in peers { peer.waitForEnd() }
        #expect(handler.ended.withLock(\.self) == 2)
        #expect(Peer.connected(to: Int(server.port)) == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `more connections than permitted wait until one is closed`() async throws {
        let (server, handler, client) = try server { $0.mostConnections = 4 }
        let peers = try (0..<4).map { _ in try #require(Peer.connected(to: Int(server.port))) }
        for peer in peers {
            peer.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = peer.readHead()
        }
        let later = Task { try await client.call("GET", "/echo").text }
        handler.streams.withLock(\.first)?.end()
        peers[0].close()
        #expect(try await later.value == "GET  0")
        for peer in peers { peer.close() }
        await server.stop()
    }

    @Test func `addresses are read strictly`() {
        let cases: [(String, UInt32?)] = [
            ("127.0.0.1", 0x7F00_0001), ("0.0.0.0", 0), ("255.255.255.255", .max), ("1.2.3", nil), ("1.2.3.256", nil),
            ("1.2.3.4.5", nil), ("a.b.c.d", nil), ("", nil),
        ]
        for (text, value) in cases { #expect(HTTPPeer.address(text) == value, "\(text)") }
        #expect(throws: LectureError.self) {
            var options = HTTPServerOptions()
            options.address = "::1"
            _ = try HTTPServer(options)
        }
    }
}
