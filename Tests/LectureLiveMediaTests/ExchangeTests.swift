import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

extension LiveMediaNetTests {
    /// Another source in a running broadcast.
    struct ExchangeTests {
        @Test func `sources are exchanged in one connection, at a key frame, and the numbers go on`() async throws {
            let server = try await RTMPServer.start()
            let file = try await Studio.record(90, as: "film", on: server)
            let broadcast = try LiveBroadcast(Studio.configuration())
            broadcast.setMirrored(true)
            try await broadcast.connect(to: server.url("exchanged"))
            try await Studio.send(45, with: broadcast)
            try await broadcast.setSource(.black)
            try await Studio.send(12, with: broadcast)
            // A file begins at its start, however late it comes.
            try await broadcast.setSource(.file(file, loops: false))
            try await Studio.send(20, with: broadcast)
            try await broadcast.setSource(.testPicture)
            try await Studio.send(20, with: broadcast)
            await #expect(throws: BroadcastError.sourceUnavailable) {
                try await broadcast.setSource(.file("/none", loops: true))
            }
            try await Studio.send(5, with: broadcast)
            await broadcast.disconnect()
            let statistics = broadcast.statistics
            let frames = try FrameCounterReader(try await server.recording(of: "exchanged")).read().frames
            #expect(frames.count == statistics.framesSent && statistics.framesDropped == 0)
            let times = frames.map(\.time)
            let steps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { $0 > .milliseconds(32) && $0 < .milliseconds(35) }, "\(steps.max() ?? .zero)")
            // The effects stay with the broadcast.
            let shown = frames.split { Look($0) == .black }.map { Array($0) }
            #expect(Look.sequence(frames).filter { $0 != .other } == [.mirrored, .black, .mirrored])
            let (first, rest) = (try #require(shown.first), try #require(shown.last))
            let turn = try #require(
                zip(rest, rest.dropFirst()).enumerated().first { _, pair in
                    (pair.1.counter ?? 0) != (pair.0.counter ?? 0) + 1
                }?.offset)
            let (film, last) = (rest[...turn], rest[(turn + 1)...])
            #expect(last.first?.counter == (first.last?.counter ?? 0) + 1)
            #expect(film.compactMap(\.counter).isConsecutive && film.count >= 20)
            let original = try FrameCounterReader(file).read().counters
            #expect(film.first?.counter == original.first)
            #expect(last.compactMap(\.counter).isConsecutive && last.count >= 25)
            // Each begins with a key frame.
            for frame in [first.first, film.first, last.first] { #expect(frame?.isKeyFrame == true) }
            broadcast.close()
            await #expect(throws: BroadcastError.closed) { try await broadcast.setSource(.testPicture) }
        }

        @Test func `an inset from a file begins at its start`() async throws {
            let server = try await RTMPServer.start()
            let file = try await Studio.record(60, as: "small", on: server)
            let broadcast = try LiveBroadcast(Studio.configuration(.black))
            try await broadcast.connect(to: server.url("with-inset"))
            try await Studio.send(60, with: broadcast)
            try broadcast.showInset(.file(file, loops: false))
            try await Studio.send(30, with: broadcast)
            await broadcast.disconnect()
            broadcast.close()
            let frames = try FrameCounterReader(try await server.recording(of: "with-inset")).read().frames
            // Columns 6 and 7 are below the small picture.
            let bright = frames.filter { $0.columns[7] > 60 }
            #expect(bright.count >= 28 && frames.prefix(50).allSatisfy { Look($0) == .black })
        }

        @Test func `a source that was at its end is not exchanged`() async throws {
            let server = try await RTMPServer.start()
            let file = try await Studio.record(15, as: "short", on: server)
            let broadcast = try LiveBroadcast(Studio.configuration(.file(file, loops: false)))
            #expect(await broadcast.events.firstElement() == .sourceEnded)
            await #expect(throws: BroadcastError.sourceUnavailable) { try await broadcast.setSource(.testPicture) }
            broadcast.close()
        }

        @Test func `what waits is dropped on request, and what is sent can be decoded`() async throws {
            let server = try await RTMPServer.start()
            let link = try SlowLink(to: server.port)
            var configuration = Studio.configuration()
            (configuration.queueLimit, configuration.writeDeadline) = (.seconds(60), .seconds(60))
            configuration.videoBitrate = 1_500_000
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: link.url("dropped"))
            try await Studio.send(10, with: broadcast)
            broadcast.dropToKeyFrame()
            link.setRate(0)
            try await Conditions.wait(for: "queue") { broadcast.statistics.queue > .milliseconds(1200) }
            let before = broadcast.statistics
            broadcast.dropToKeyFrame()
            let after = broadcast.statistics
            #expect(after.framesDropped > before.framesDropped && after.queueBytes < before.queueBytes)
            link.setRate(nil)
            try await Studio.send(60, with: broadcast)
            await broadcast.disconnect()
            let statistics = broadcast.statistics
            #expect(statistics.framesEncoded == statistics.framesSent + statistics.framesDropped)
            let contents = try FrameCounterReader(try await server.recording(of: "dropped")).read()
            #expect(contents.counters.count == statistics.framesSent && contents.counters.isRising)
            let gap = try #require(
                zip(contents.frames, contents.frames.dropFirst()).first { pair in
                    (pair.1.counter ?? 0) > (pair.0.counter ?? 0) + 1
                })
            #expect(gap.1.isKeyFrame)
            broadcast.close()
        }
    }
}
