import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// How exchanges end early: by the sink, the caller, a stall, the end of the transport.
@Suite(.timeLimit(.minutes(1)))
struct LifeNetTests {
    /// A server that sends a head, some bytes, and then waits until the client has gone.
    private func holdingServer(bytes: Int = 1000, announced: Int = 1_000_000, gone: Signal = Signal()) throws
        -> RawServer
    {
        try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(announced)\r\n\r\n")
            peer.send(pattern(bytes))
            peer.waitForEnd()
            gone.raise()
        }
    }

    // MARK: The way

    @Test
    func `a head shows how far the server is, if a connection was made for it`() async throws {
        let server = try RawServer { peer in
            while !peer.readHead().isEmpty { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        try await Bench.run { bench in
            let (first, made) = await bench.fetch(server.http)
            let (second, reused) = await bench.fetch(server.http)
            #expect(first == .complete && second == .complete)
            let distance = try #require(made.head?.distance)
            #expect(distance > .zero && distance < .seconds(30))
            #expect(reused.head?.distance == nil)
            for sink in [made, reused] {
                let (delay, outcome) = (try #require(sink.head?.delay), try #require(sink.ended))
                let sinceSent = try #require(outcome.sinceSent)
                #expect(.zero <= delay && delay <= sinceSent && sinceSent <= outcome.elapsed)
            }
        }
    }

    @Test
    func `what was not sent took no time`() async throws {
        try await Bench.run { bench in
            let (_, sink) = await bench.fetch("http://127.0.0.1:1/")
            #expect(sink.head == nil && sink.ended?.sinceSent == nil)
        }
    }

    // MARK: The sink

    @Test
    func `a sink that refuses the head gets no byte and the connection is closed`() async throws {
        let gone = Signal()
        let server = try holdingServer(gone: gone)
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http, into: Recorder(takesHead: { _ in false }))
            #expect(end == .stopped)
            #expect(sink.head?.status == 200)
            #expect(sink.body.isEmpty)
            await gone.wait()
        }
    }

    @Test
    func `a sink that refuses a head without a body is stopped as well`() async throws {
        let server = try RawServer.answering("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")
        try await Bench.run { bench in
            let (end, _) = await bench.fetch(server.http, into: Recorder(takesHead: { _ in false }))
            #expect(end == .stopped)
        }
    }

    @Test
    func `a sink that stops in the middle gets nothing more`() async throws {
        let gone = Signal()
        let server = try holdingServer(bytes: 200_000, gone: gone)
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http, into: Recorder(takesBody: { $0 < 50_000 }))
            #expect(end == .stopped)
            #expect(sink.body.count >= 50_000)
            #expect(sink.body.count < 50_000 + 16_384)
            #expect(sink.ended?.bodyBytes == Int64(sink.body.count))
            await gone.wait()
        }
    }

    @Test
    func `a stop does not disturb another exchange`() async throws {
        let directory = try TemporaryDirectory()
        let bytes = pattern(3_000_000)
        try directory.write(bytes, to: "file")
        let origin = try await NginxOrigin.start(serving: directory.path)
        try await Bench.run { bench in
            let other = bench.start("\(origin.http)/file", number: 1)
            let stopped = bench.start("\(origin.http)/file", number: 2, into: Recorder(takesBody: { _ in false }))
            #expect(await stopped.outcome().end == .stopped)
            #expect(await other.outcome().end == .complete)
            #expect(other.body == bytes)
        }
    }

    // MARK: The caller

    @Test
    func `cancelling in the middle ends the exchange once`() async throws {
        let gone = Signal()
        let server = try holdingServer(gone: gone)
        try await Bench.run { bench in
            let sink = bench.start(server.http)
            await sink.bytes(atLeast: 1000)
            bench.transport.cancel(TransferID(1))
            bench.transport.cancel(TransferID(1))
            let outcome = await sink.outcome()
            #expect(outcome.end == .cancelled)
            #expect(outcome.bodyBytes == 1000)
            await gone.wait()
            #expect(sink.breaches.isEmpty)
        }
    }

    @Test
    func `cancelling before the connection is established ends the exchange`() async throws {
        let server = try RawServer { $0.waitForEnd() }
        try await Bench.run { bench in
            let sink = bench.start(server.http)
            bench.transport.cancel(TransferID(1))
            #expect(await sink.outcome().end == .cancelled)
            #expect(sink.head == nil)
        }
    }

    @Test
    func `cancelling an unknown or finished exchange is ignored`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try await Bench.run { bench in
            bench.transport.cancel(TransferID(99))
            let (end, _) = await bench.fetch(server.http)
            #expect(end == .complete)
            bench.transport.cancel(TransferID(1))
            let (again, _) = await bench.fetch(server.http)
            #expect(again == .complete)
        }
    }

    @Test
    func `a sink may cancel and start exchanges from its calls`() async throws {
        let server = try holdingServer()
        let other = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        try await Bench.run { bench in
            let transport = bench.transport
            let next = Recorder()
            let first = Recorder(takesBody: { _ in
                transport.cancel(TransferID(1))
                var request = TransferRequest(id: TransferID(2), url: other.http, sink: next)
                request.stallTimeout = .seconds(60)
                transport.start(request)
                return true
            })
            bench.start(server.http, into: first)
            #expect(await first.outcome().end == .cancelled)
            #expect(await next.outcome().end == .complete)
        }
    }

    // MARK: Silence

    @Test
    func `a silent server is abandoned`() async throws {
        let gone = Signal()
        let server = try RawServer { peer in
            peer.waitForEnd()
            gone.raise()
        }
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http) { $0.stallTimeout = .milliseconds(200) }
            #expect(end == .failed(curl: 28, detail: "no byte for 200 ms"))
            #expect(await sink.outcome().elapsed >= .milliseconds(200))
            await gone.wait()
        }
    }

    @Test
    func `a server that stops in the middle is abandoned`() async throws {
        let server = try holdingServer()
        try await Bench.run { bench in
            let (end, sink) = await bench.fetch(server.http) { $0.stallTimeout = .milliseconds(200) }
            #expect(end.curl == 28)
            #expect(sink.body.count == 1000)
        }
    }

    @Test
    func `time that a sink waits for the disk does not count as server silence`() async throws {
        let isHeld = Signal()
        let isLetGo = Signal()
        let quick = try holdingServer()
        let patient = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
            isLetGo.waitBlocking()
            peer.send("b")
            peer.waitForEnd()
        }
        try await Bench.run { bench in
            let slow = Recorder(takesBody: { _ in
                isHeld.raise()
                isLetGo.waitBlocking()
                return false
            })
            // Started by the transport's own thread, so that the watched exchange is silent only for a moment before.
            let watched = Recorder(takesBody: { count in
                if count == 1 { bench.start(quick.http, number: 2, into: slow) }
                return true
            })
            bench.start(patient.http, number: 1, into: watched) { $0.stallTimeout = .seconds(2) }
            await isHeld.wait()
            // A stall timeout measured by another transport shows that the watched exchange's limit has passed.
            let silent = try RawServer { $0.waitForEnd() }
            try await Bench.run { other in
                let (end, _) = await other.fetch(silent.http) { $0.stallTimeout = .milliseconds(2500) }
                #expect(end.curl == 28)
            }
            isLetGo.raise()
            #expect(await watched.outcome().end == .complete)
            #expect(watched.text == "ab")
            #expect(await slow.outcome().end == .stopped)
        }
    }

    @Test
    func `queueing for a connection does not count towards the stall timeout`() async throws {
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
            let first = bench.start(server.http, number: 1)
            let second = bench.start(server.http, number: 2) { $0.stallTimeout = .milliseconds(100) }
            // A third exchange that stalls shows that the second one's limit has passed.
            let silent = try RawServer { $0.waitForEnd() }
            let (end, _) = await bench.fetch(silent.http, number: 3) { $0.stallTimeout = .milliseconds(300) }
            #expect(end.curl == 28)
            #expect(second.ended == nil)
            held.raise()
            #expect(await first.outcome().end == .complete)
            #expect(await second.outcome().end == .complete)
            #expect(server.connections == 1)
        }
    }

    // MARK: The end of the transport

    @Test
    func `shutting down cancels running exchanges and closes the connections`() async throws {
        let gone = Signal()
        let server = try holdingServer(gone: gone)
        let transport = try CurlTransport(TransportConfiguration(), clock: standingClock)
        let sinks = (0..<20).map { number in
            Bench(transport: transport).start(server.http, number: number)
        }
        await sinks[0].bytes(atLeast: 1000)
        await transport.shutdown()
        for sink in sinks {
            #expect(sink.ended?.end == .cancelled)
            #expect(sink.breaches.isEmpty)
        }
        await gone.wait()
    }

    @Test
    func `libcurl is opened before the first exchange where that is asked for`() async throws {
        let transport = try CurlTransport(TransportConfiguration(), clock: standingClock)
        #expect(await !transport.statistics().isPrepared)
        transport.prepare()
        try await waitUntil { await transport.statistics().isPrepared }
        #expect(await transport.statistics().running == 0)
        await transport.shutdown()
        // Nothing is opened for a transport that has ended.
        transport.prepare()
        #expect(await !transport.statistics().isPrepared)
    }

    @Test
    func `after shutdown exchanges are cancelled at once and requests are answered`() async throws {
        let transport = try CurlTransport(TransportConfiguration(), clock: standingClock)
        await transport.shutdown()
        await transport.shutdown()
        let sink = Bench(transport: transport).start("http://127.0.0.1:9/")
        #expect(sink.ended?.end == .cancelled)
        transport.cancel(TransferID(1))
        transport.limitRate(1000)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { await transport.statistics().running } }
            for await running in group { #expect(running == 0) }
        }
    }

    @Test
    func `shutting down while rate-limited does not wait`() async throws {
        let server = try holdingServer(bytes: 500_000)
        let transport = try CurlTransport(TransportConfiguration(), clock: standingClock)
        transport.limitRate(1000)
        let sink = Bench(transport: transport).start(server.http)
        await sink.bytes(atLeast: 1)
        await transport.shutdown()
        #expect(sink.ended?.end == .cancelled)
    }

    @Test
    func `a transport is released after its end`() async throws {
        weak var watched: CurlTransport?
        do {
            let transport = try CurlTransport(TransportConfiguration(), clock: standingClock)
            watched = transport
            await transport.shutdown()
        }
        // The thread drops its reference right after it has reported the end.
        try await waitUntil { watched == nil }
    }
}
