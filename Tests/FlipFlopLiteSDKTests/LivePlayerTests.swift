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

    @Test func `a viewer over RTMP is led from one feed to the next, and never to HLS`() async throws {
        let server = try MemberServer()
        server.openLiveRoom(rtmp: true)
        let (delegate, calls) = (PlayerReports(), LiveJournal())
        let player = Self.player(server, TestPicture(calls), delegate)
        player.prepare(uri: "rtmp://127.0.0.1/egress/live-1?signature=0")
        player.enter()
        player.start()
        try await delegate.journal.wait(for: "active")
        server.feedEnded()
        try await delegate.journal.wait(for: "inactive")
        server.feedBegan()
        let next = "rtmp://127.0.0.1/egress/live-2?signature=2"
        try await delegate.journal.wait(for: next)
        server.endRoom()
        try await delegate.journal.wait(for: "completed")
        // The clock does not wait: meanwhile it may have opened each of them again.
        let opened = calls.lines.filter { $0.hasPrefix("open") }
        #expect(opened.first == "open rtmp://127.0.0.1/egress/live-1?signature=0 soon")
        #expect(opened.contains("open \(next) soon") && opened.allSatisfy { $0.hasPrefix("open rtmp://") })
        #expect(!delegate.journal.lines.contains { $0.hasPrefix("http") })
    }

    @Test func `a viewer that is released closes its picture and releases it`() async throws {
        let (server, calls) = (try MemberServer(), LiveJournal())
        server.openLiveRoom()
        let pictures = Guarded<[WeakPicture]>([])
        for round in 1...2 {
            let delegate = PlayerReports()
            var config = FFLConfig(serverAddr: server.address)
            config.livePicture = {
                let picture = TestPicture(calls)
                pictures.withLock { $0.append(WeakPicture(picture: picture)) }
                return picture
            }
            FlipFlopLite.initialize(config: config)
            let player = FlipFlopLite.getLivePlayer(
                accessToken: MemberServer.token, videoRoomId: MemberServer.roomID, channelId: MemberServer.channelID)
            player.delegate = delegate
            player.prepare(uri: "http://127.0.0.1/live-1")
            player.enter()
            player.start()
            try await delegate.journal.wait(for: "started")
            #expect(pictures.withLock { $0.count } == round)
        }
        try await Conditions.wait(for: "the end of both pictures") { @Sendable in
            pictures.withLock { $0.allSatisfy { $0.picture == nil } }
        }
        #expect(calls.lines.count { $0 == "close" } == 2)
    }
}

private struct WeakPicture: Sendable {
    weak let picture: TestPicture?
}
