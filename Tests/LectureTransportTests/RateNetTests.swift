import LectureModel
import LectureTestSupport
import LectureTransport
import Testing

/// Rate limits, measured by the duration of exchanges. Lower bounds are exact; upper bounds allow for a loaded
/// machine.
@Suite(.timeLimit(.minutes(1)))
struct RateNetTests {
    /// nginx with one file of this size, called `file`.
    private func origin(bytes count: Int) async throws -> (NginxOrigin, TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        try directory.write(pattern(count), to: "file")
        return (try await NginxOrigin.start(serving: directory.path), directory)
    }

    @Test(arguments: [1, 4])
    func `all exchanges together obey the limit`(count: Int) async throws {
        let (origin, directory) = try await origin(bytes: 400_000 / count)
        try await Bench.run { bench in
            bench.transport.limitRate(500_000)
            let sinks = (0..<count).map { bench.start("\(origin.http)/file", number: UInt64($0)) }
            var longest = Duration.zero
            for sink in sinks {
                let outcome = await sink.outcome()
                #expect(outcome.end == .complete)
                longest = max(longest, outcome.elapsed)
            }
            // 0.8 s less the last reads, which are charged afterwards.
            #expect(longest > .milliseconds(700))
        }
        withExtendedLifetime(directory) {}
    }

    @Test
    func `bandwidth unused by idle exchanges goes to the others`() async throws {
        let (origin, directory) = try await origin(bytes: 200_000)
        let idle = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome")
            peer.waitForEnd()
        }
        try await Bench.run { bench in
            bench.transport.limitRate(400_000)
            let waiting = (10..<18).map { bench.start(idle.http, number: $0) }
            for sink in waiting { await sink.bytes(atLeast: 4) }
            let (end, sink) = await bench.fetch("\(origin.http)/file")
            #expect(end == .complete)
            // Half a second with the whole limit, 4.5 s with a ninth of it.
            #expect(await sink.outcome().elapsed < .seconds(3))
        }
        withExtendedLifetime(directory) {}
    }

    @Test
    func `an exchange obeys its own limit while another runs free`() async throws {
        let (origin, directory) = try await origin(bytes: 300_000)
        try await Bench.run { bench in
            let slow = bench.start("\(origin.http)/file", number: 1) { $0.rateLimit = 400_000 }
            let fast = bench.start("\(origin.http)/file", number: 2)
            let outcome = await slow.outcome()
            #expect(await fast.outcome().end == .complete)
            #expect(await fast.outcome().elapsed < outcome.elapsed)
            #expect(outcome.end == .complete)
            #expect(outcome.elapsed > .milliseconds(650))
            #expect(slow.body == pattern(300_000))
        }
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [nil, 400_000])
    func `a sink may stop an exchange paused by a limit`(ownLimit: Int?) async throws {
        let (origin, directory) = try await origin(bytes: 1_000_000)
        try await Bench.run { bench in
            if ownLimit == nil { bench.transport.limitRate(400_000) }
            let stopping = Recorder(takesBody: { $0 < 60_000 })
            let (end, sink) = await bench.fetch("\(origin.http)/file", into: stopping) { $0.rateLimit = ownLimit }
            #expect(end == .stopped)
            #expect(sink.body.count < 60_000 + 16_384)
            let (next, _) = await bench.fetch("\(origin.http)/file", number: 2) { $0.range = .from(999_000) }
            #expect(next == .complete)
        }
        withExtendedLifetime(directory) {}
    }

    @Test
    func `an exchange paused by a limit can be cancelled`() async throws {
        let (origin, directory) = try await origin(bytes: 1_000_000)
        try await Bench.run { bench in
            let sink = bench.start("\(origin.http)/file") { $0.rateLimit = 1000 }
            await sink.bytes(atLeast: 1)
            bench.transport.cancel(TransferID(1))
            #expect(await sink.outcome().end == .cancelled)
            #expect(sink.breaches.isEmpty)
        }
        withExtendedLifetime(directory) {}
    }

    @Test
    func `lifting the limit takes effect at once`() async throws {
        let (origin, directory) = try await origin(bytes: 2_000_000)
        try await Bench.run { bench in
            bench.transport.limitRate(10_000)
            let sink = bench.start("\(origin.http)/file")
            await sink.bytes(atLeast: 1)
            #expect(sink.ended == nil)
            bench.transport.limitRate(nil)
            // 200 s under the limit.
            #expect(await sink.outcome().end == .complete)
            #expect(await sink.outcome().elapsed < .seconds(30))
        }
        withExtendedLifetime(directory) {}
    }

    @Test
    func `a rate limit does not count as server silence`() async throws {
        let (origin, directory) = try await origin(bytes: 60_000)
        try await Bench.run { bench in
            bench.transport.limitRate(40_000)
            let (end, sink) = await bench.fetch("\(origin.http)/file") { $0.stallTimeout = .milliseconds(50) }
            #expect(end == .complete)
            #expect(await sink.outcome().elapsed > .seconds(1))
        }
        withExtendedLifetime(directory) {}
    }
}
