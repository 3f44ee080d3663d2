// A screen that is written for Swift 6: a class of the main actor with an isolated conformance, and only the methods
// that it needs.
import FlipFlopLiteSDK
import LiveTestSupport
import Testing

@MainActor
final class LiveScreen: @MainActor FFLStreamerDelegate {
    private(set) var states: [StreamerState] = []
    private let journal: LiveJournal
    let streamer: FFLStreamer

    init(_ token: String, _ journal: LiveJournal) {
        streamer = FlipFlopLite.getStreamer(accessToken: token)
        self.journal = journal
        streamer.delegate = self
    }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState) {
        journal.record("\(broadcastState)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState) {
        states.append(streamerState)
        journal.record("\(streamerState)")
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct ModernLiveClientTests {
    @Test func `a class of the main actor is called on it, with the methods that it has`() async throws {
        let server = try MemberServer()
        let journal = LiveJournal()
        var config = FFLConfig(serverAddr: server.address)
        config.feedSource = { TestFeed(server, LiveJournal()) }
        FlipFlopLite.initialize(config: config)
        let screen = LiveScreen(MemberServer.token, journal)
        screen.streamer.prepare()
        screen.streamer.enter()
        screen.streamer.start()
        try await journal.wait(for: "active")
        screen.streamer.exit()
        try await journal.wait(for: "closed")
        #expect(screen.states == [.prepared, .started, .stopped, .closed])
        // From another isolation as well: the object may be used anywhere.
        let streamer = screen.streamer
        await Task.detached { streamer.liveChat()?.sendMessage(message: "too late") }.value
        #expect(server.hasEnded)
    }
}
