import Dispatch
import FlipFlopLiteMedia
import FlipFlopLiteSDK
import LectureLive
import LectureLiveMedia
import LecturePlayer
import LectureTestSupport
import LiveTestSupport
import Testing

/// The preview of a broadcaster, by libmpv into memory.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct FeedPreviewNetTests {
    private func feed(_ front: BroadcastSource = .testPicture, _ back: BroadcastSource? = nil) -> BroadcastFeed {
        var sources = BroadcastFeed.Sources(front: front, back: back)
        (sources.speed, sources.preview.environment) = (.ultrafast, [:])
        return BroadcastFeed(sources)
    }

    @Test func `what is sent is seen: its numbers, effects, sources and images, until the source is closed`()
        async throws
    {
        let screen = Screen()
        let feed = feed(.testPicture, .black)
        try await feed.open(FeedSettings(Stage.settings()), preview: LiveSurface(object: screen.frames))
        try await screen.see(15)
        let seen = screen.counters
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 <= $1 }, "\(seen)")
        feed.setMirrored(true)
        try await screen.see(.mirrored)
        feed.setMirrored(false)
        feed.switchCamera(to: .back)
        try await screen.see(.black)
        feed.setPictureInPicture(true, failed: { _ in })
        try await screen.see(.blackWithInset)
        feed.setPictureInPicture(false, failed: { _ in })
        feed.switchCamera(to: .front)
        try await screen.see(.plain)
        try await screen.see(5)
        await feed.close()
        let last = screen.counters.count
        let after = self.feed()
        let other = Screen()
        try await after.open(FeedSettings(Stage.settings()), preview: LiveSurface(object: other.frames))
        // While another one is seen for a while, the first one is not.
        try await other.see(15)
        await after.close()
        #expect(screen.counters.count <= last + 1)
    }

    @Test func `a source that is opened again for a link is seen in the same preview`() async throws {
        let server = try await RTMPServer.start()
        let settings = FeedSettings(Stage.settings())
        func address(_ name: String) -> FeedAddress {
            let base = server.url("").dropLast()
            return FeedAddress(StreamKey(id: 1, state: .inactive, ingestURL: String(base), key: name))
        }
        let first = feed()
        try await first.open(settings, preview: LiveSurface(object: nil))
        try await first.connect(to: address("original")) {}
        try await Conditions.wait(for: "a second") { first.statistics.sentBytes > 80_000 }
        await first.disconnect()
        await first.close()
        let feed = feed(.file(try await server.recording(of: "original"), loops: false))
        let screen = Screen()
        try await feed.open(settings, preview: LiveSurface(object: screen.frames))
        let lost = LiveJournal()
        for round in 1...2 {
            let before = screen.counters.count
            try await feed.connect(to: address("again\(round)")) { lost.record("lost") }
            try await lost.wait(for: "lost", count: round)
            try await Conditions.wait(for: "pictures of round \(round)") { screen.counters.count >= before + 5 }
        }
        // The file began again.
        let seen = screen.counters
        #expect(zip(seen, seen.dropFirst()).contains { $0 > $1 }, "\(seen)")
        await feed.close()
    }

    @Test func `a place that cannot be had is refused, and any other object needs no display`() async throws {
        let settings = FeedSettings(Stage.settings())
        for surface in [PlayerSurface.window(title: "", isFullscreen: false), .x11(1)] {
            let feed = feed()
            do {
                try await feed.open(settings, preview: LiveSurface(object: LiveWindow(surface)))
                Issue.record("\(surface) is shown without a display")
            } catch { #expect((error as? FFError)?.kind == .STREAMING_INVALID_VIEW) }
            await feed.close()
        }
        final class View {}
        for object in [View(), LiveWindow(.none)] as [AnyObject] {
            let feed = feed()
            try await feed.open(settings, preview: LiveSurface(object: object))
            await feed.close()
        }
    }

    @Test func `a streamer shows what its viewers see, and no more when it is closed`() async throws {
        let stage = try await Stage()
        let (screen, reports) = (Screen(), Reports())
        FlipFlopLite.initialize(config: stage.config())
        let streamer = FlipFlopLite.getStreamer(accessToken: try await stage.token("teacher"))
        streamer.delegateQueue = DispatchQueue(label: "teacher")
        streamer.delegate = reports
        streamer.prepare(preview: screen.frames, config: Stage.settings())
        try await reports.wait(for: "prepared")
        // Before it is on the air.
        try await screen.see(5)
        streamer.enter()
        streamer.start()
        try await reports.wait(for: "active")
        try await screen.see(10)
        streamer.stop()
        try await reports.wait(for: "stopped")
        try await screen.see(5)
        #expect(reports.count("failed") == 0)
        streamer.exit()
        try await reports.wait(for: "closed")
        await stage.stop()
    }

    @Test func `a camera that cannot be opened is reported, and the present one is sent and seen on`() async throws {
        let stage = try await Stage()
        let (screen, reports) = (Screen(), Reports())
        FlipFlopLite.initialize(config: stage.config(.testPicture, .screen(":65535")))
        let streamer = FlipFlopLite.getStreamer(accessToken: try await stage.token("teacher"))
        streamer.delegateQueue = DispatchQueue(label: "teacher")
        streamer.delegate = reports
        streamer.prepare(preview: screen.frames, config: Stage.settings())
        try await reports.wait(for: "prepared")
        let manager = try #require(streamer.liveManager())
        for count in 1...2 {
            manager.switchCamera()
            try await reports.wait(for: "failed 80103", count: count)
            try await screen.see(5)
        }
        // It is still the front one: mirroring shows it.
        manager.videoMirror()
        try await screen.see(.mirrored)
        await stage.stop()
    }
}
