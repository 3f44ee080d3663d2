import FlipFlopLiteMedia
import FlipFlopLiteSDK
import LectureLive
import LectureLiveMedia
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// The feed of a broadcaster by itself, against nginx.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct BroadcastFeedNetTests {
    /// The address of a stream, as a stream key gives it.
    private func address(_ url: String) -> FeedAddress {
        let end = url.lastIndex(of: "/") ?? url.endIndex
        let key = StreamKey(
            id: 1, state: .inactive, ingestURL: String(url[..<end]), key: String(url[url.index(after: end)...]))
        return FeedAddress(key)
    }

    private func feed(_ front: BroadcastSource, _ back: BroadcastSource? = nil) -> BroadcastFeed {
        var sources = BroadcastFeed.Sources(front: front, back: back)
        (sources.speed, sources.writeDeadline) = (.ultrafast, .seconds(2))
        return BroadcastFeed(sources)
    }

    private func error(_ body: () async throws -> Void) async -> FFLErrorCode? {
        do { try await body() } catch { return (error as? FFError)?.kind }
        return nil
    }

    @Test func `errors have the numbers of the port`() async throws {
        let server = try await RTMPServer.start()
        let settings = FeedSettings(Stage.settings())
        let none = LiveSurface(object: nil)
        let feed = feed(.testPicture)
        #expect(feed.statistics == FeedStatistics(queue: .zero, sentBytes: 0))
        #expect(await error { try await feed.connect(to: address(server.url("x"))) {} } == .STREAMING_INVALID_VIEW)
        #expect(
            await error { try await self.feed(.screen(":65535")).open(settings, preview: none) }
                == .STREAMING_INVALID_VIEW)
        var odd = settings
        odd.width = 3
        #expect(await error { try await feed.open(odd, preview: none) } == .STREAMING_INVALID_VIEW)
        try await feed.open(settings, preview: none)
        let nowhere = address("rtmp://127.0.0.1:\(try Places.freePort())/live/secret-key")
        #expect(await error { try await feed.connect(to: nowhere) {} } == .CONNECTION_FAILED)
        do { try await feed.connect(to: nowhere) {} } catch { #expect(!"\(error)".contains("secret-key")) }
        #expect(await error { try await feed.connect(to: address(server.url("refused-one"))) {} } == .STREAMING_FAILED)
        await feed.close()
        #expect(await error { try await feed.connect(to: address(server.url("x"))) {} } == .STREAMING_INVALID_VIEW)
    }

    @Test func `the loss of a link is reported once, and the next one counts from nothing`() async throws {
        let server = try await RTMPServer.start()
        let link = try SlowLink(to: server.port)
        let feed = feed(.testPicture)
        try await feed.open(FeedSettings(Stage.settings()), preview: LiveSurface(object: nil))
        let lost = LiveJournal()
        for round in 1...3 {
            try await feed.connect(to: address(link.url("s\(round)"))) { lost.record("lost") }
            try await Conditions.wait(for: "bytes") { feed.statistics.sentBytes > 50_000 }
            if round == 3 { break }
            link.cut()
            try await lost.wait(for: "lost", count: round)
            #expect(feed.statistics.queue == .zero)
        }
        await feed.disconnect()
        await feed.close()
        #expect(lost.lines.count == 2)
        // Each link has a recording of its own.
        let last = try FrameCounterReader(try await server.recording(of: "s3")).read()
        #expect(!last.counters.isEmpty)
    }

    @Test func `a source at its end is the end of the link, and is opened again for the next one`() async throws {
        let server = try await RTMPServer.start()
        let first = feed(.testPicture)
        let settings = FeedSettings(Stage.settings())
        try await first.open(settings, preview: LiveSurface(object: nil))
        try await first.connect(to: address(server.url("original"))) {}
        try await Conditions.wait(for: "a second") { first.statistics.sentBytes > 80_000 }
        await first.disconnect()
        await first.close()
        let file = try await server.recording(of: "original")
        let feed = feed(.file(file, loops: false), .black)
        try await feed.open(settings, preview: LiveSurface(object: nil))
        let lost = LiveJournal()
        feed.setMirrored(true)
        for round in 1...2 {
            try await feed.connect(to: address(server.url("again\(round)"))) { lost.record("lost") }
            try await lost.wait(for: "lost", count: round)
            let contents = try FrameCounterReader(try await server.recording(of: "again\(round)")).read()
            #expect(contents.frames.contains { $0.counter != nil && $0.isMirrored })
        }
        // While it is over, changes are kept for the next one.
        feed.switchCamera(to: .back)
        feed.muteAudio(true)
        try await feed.connect(to: address(server.url("again3"))) { lost.record("lost") }
        try await Conditions.wait(for: "bytes") { feed.statistics.sentBytes > 2000 }
        await feed.disconnect()
        await feed.close()
        let contents = try FrameCounterReader(try await server.recording(of: "again3")).read()
        #expect(contents.frames.allSatisfy { $0.columns.allSatisfy { $0 < 24 } } && lost.lines.count == 2)
        #expect(contents.sounds.dropFirst(3).allSatisfy { $0.loudness < 0.001 })
    }

    @Test func `a source that cannot be opened changes nothing, and sound alone is black`() async throws {
        let server = try await RTMPServer.start()
        let feed = feed(.testPicture, .screen(":65535"))
        let config = Stage.settings()
        config.audioOnly = true
        try await feed.open(FeedSettings(config), preview: LiveSurface(object: nil))
        let failures = LiveJournal()
        feed.setPictureInPicture(true) { failures.record("\($0.code)") }
        try await failures.wait(for: "80103")
        feed.switchCamera(to: .back) { failures.record("\($0.code)") }
        try await failures.wait(for: "80103", count: 2)
        feed.setCameraOpen(true) { failures.record("\($0.code)") }
        feed.muteVideo(false)
        feed.setZoom(.nan)
        feed.setVideoBitrate(100_000)
        feed.dropToKeyFrame()
        try await feed.connect(to: address(server.url("sound"))) {}
        try await Conditions.wait(for: "bytes") { feed.statistics.sentBytes > 20_000 }
        await feed.disconnect()
        await feed.close()
        let contents = try FrameCounterReader(try await server.recording(of: "sound")).read()
        let bright = contents.frames.filter { $0.columns.contains { $0 >= 24 } }
        #expect(bright.isEmpty, "\(bright)")
        #expect(contents.sounds.contains { $0.loudness > 0.25 } && failures.lines == ["80103", "80103"])
    }
}
