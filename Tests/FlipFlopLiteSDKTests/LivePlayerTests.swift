import FlipFlopLiteSDK
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

private final class PlayerReports: FFLLivePlayerDelegate, Sendable {
    let journal = LiveJournal()

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: PlayerState) {
        journal.record("\(playerState)")
    }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate broadcastState: BroadcastState) {
        journal.record("\(broadcastState)")
    }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate liveUrl: String) { journal.record(liveUrl) }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage) { journal.record(message.message) }
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError) { journal.record("failed \(error.code)") }
}

/// A viewer against a real server, with the picture that the test makes.
@Suite(.timeLimit(.minutes(1)))
@MainActor
struct LivePlayerTests {
    private static func player(
        _ server: MemberServer, _ picture: TestPicture?, _ delegate: PlayerReports, token: String = MemberServer.token
    ) -> FFLLivePlayer {
        var config = FFLConfig(serverAddr: server.address)
        if let picture { config.livePicture = { picture } }
        let clock = VirtualClock()
        config.time = LiveTime(clock: clock, random: SeededRandom(seed: 1)) { clock.advance(to: clock.boot() + $0) }
        FlipFlopLite.initialize(config: config)
        let player = FlipFlopLite.getLivePlayer(
            accessToken: token, videoRoomId: MemberServer.roomID, channelId: MemberServer.channelID)
        player.delegate = delegate
        return player
    }

    @Test func `media that does not come is opened three times again, and given up`() async throws {
        let server = try MemberServer()
        server.openLiveRoom()
        let (delegate, calls) = (PlayerReports(), LiveJournal())
        let player = Self.player(server, TestPicture(calls, obeys: false), delegate)
        player.mute(on: true)
        player.prepare(uri: "rtmp://127.0.0.1/live/7")
        player.start()
        try await delegate.journal.wait(for: "stopped")
        #expect(delegate.journal.lines == ["failed 90203", "failed 90203", "failed 90203", "failed 80106", "stopped"])
        #expect(
            calls.lines == ["mute true"] + Array(repeating: "open rtmp://127.0.0.1/live/7 soon", count: 4) + ["close"])
    }

    @Test func `what is wrong has its number`() async throws {
        let server = try MemberServer()
        let delegate = PlayerReports()
        let player = Self.player(server, nil, delegate)
        player.enter()
        try await delegate.journal.wait(for: "failed 80300")
        player.prepare(uri: "http://127.0.0.1/a.m3u8")
        try await delegate.journal.wait(for: "failed 80103")
        for url in ["file:///etc/passwd", "", "javascript:alert(1)", "av://lavfi:testsrc"] { player.prepare(uri: url) }
        try await delegate.journal.wait(for: "failed 80104", count: 4)
        let other = PlayerReports()
        let refused = Self.player(server, TestPicture(LiveJournal()), other, token: "expired")
        refused.prepare(uri: "http://127.0.0.1/a.m3u8", options: .lowLatency)
        refused.enter()
        try await other.journal.wait(for: "failed 80203")
        refused.exit()
        try await other.journal.wait(for: "closed")
    }

    @Test func `a picture that fails says so, and plays again when it comes back`() async throws {
        let server = try MemberServer()
        server.openRoom(.inactive, playURL: "http://127.0.0.1/live-1", key: .liveWithoutFeed)
        let (delegate, picture) = (PlayerReports(), TestPicture(LiveJournal(), obeys: true))
        let player = Self.player(server, picture, delegate)
        player.prepare(uri: "http://127.0.0.1/live-1")
        player.enter()
        try await delegate.journal.wait(for: "inactive")
        player.start()
        try await delegate.journal.wait(for: "started")
        picture.send(.failed(FFError(.RTMP_PLAYER_ERROR, "")))
        try await delegate.journal.wait(for: "paused")
        picture.send(.plays)
        try await delegate.journal.wait(for: "started", count: 2)
        server.say("수학")
        try await delegate.journal.wait(for: "수학")
        player.stop()
        player.exit()
        try await delegate.journal.wait(for: "closed")
        let expected = [
            "prepared", "inactive", "started", "failed 90201", "paused", "started", "수학", "stopped", "closed",
        ]
        #expect(delegate.journal.lines.filter { !$0.isEmpty } == expected)
    }
}
