// The code of the vendor's tutorial, with its spellings. Left out, because Linux has none of it: AVFoundation and the
// audio session, UIViewController, UIView and @IBOutlet. The `default` of the switch over `BroadcastState` is left out
// as well: it has two cases, and a warning is an error here. What the tutorial prints goes to a journal.
import FlipFlopLiteSDK
import Foundation
import LiveTestSupport
import Testing

/// Stands for the application's `UIView`.
final class Preview {}

class StreamingController {
    let preview = Preview()
    var fflStreamer: FFLStreamer?
    var retryCount = 0
    var retryTimer: Timer?
    let journal: LiveJournal

    init(journal: LiveJournal) { self.journal = journal }

    func viewDidLoad(_ token: String) {
        let streamer = FlipFlopLite.getStreamer(accessToken: token)
        self.fflStreamer = streamer
        streamer.delegate = self
        let config = FFStreamerConfig()
        config.videoBitrate = 2500 * 1000
        config.cameraPos = .back
        streamer.prepare(preview: self.preview, config: config)
        let title = "This is my first live!"
        streamer.setVideoInfo(title: title)
    }

    func startLive() {
        self.fflStreamer?.enter()
        self.fflStreamer?.start()
    }

    func say() {
        let text = "Hello!"
        self.fflStreamer?.liveChat()?.sendMessage(message: text)
    }

    func endLive() {
        self.fflStreamer?.stop()
        self.fflStreamer?.exit()
    }

    func handleMessage(message: FFLMessage) {
        switch message.origin {
        case .app:
            journal.record("message sent by app")
        case .members:
            journal.record("message sent by member: \(message.message)")
        case .system:
            switch message.customType {
            case "JOINED":
                journal.record("a user joined")
            case "LEAVED":
                journal.record("a user left")
            case "CHANNEL_STAT_UPDATED":
                journal.record("participant count is updated")
            default:
                break
            }
        }
    }
}

extension StreamingController: FFLStreamerDelegate {
    func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState) {
        switch streamerState {
        case .prepared:
            journal.record("streamer is prepared")
        case .started:
            journal.record("streamer is started")
            retryCount = 0
            retryTimer?.invalidate()
            retryTimer = nil
        case .stopped:
            journal.record("streamer is stopped")
        case .closed:
            journal.record("streamer is closed")
        default:
            journal.record("unknown streamState")
        }
    }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState) {
        switch broadcastState {
        case .active:
            journal.record("broadcasting is active")
        case .inactive:
            journal.record("broadcasting is inactive")
        }
    }

    func fflStreamer(_ streamer: FFLStreamer, didExist videoRoom: FFLVideoRoom) {
        journal.record("[STREAMER] didExistStartedVideoRoom: \(videoRoom.id)")
        self.fflStreamer?.restart(videoRoomId: videoRoom.id)
    }

    func fflStreamer(_ streamer: FFLStreamer, didPublish alarmState: AlarmState) {
        journal.record("[STREAMER] didPublishAlarm: \(alarmState)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int) {
        journal.record("[STREAMER] didChangeVideoBitrate: \(bitrate)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didChangeZoom zoomFactor: CGFloat) {
        journal.record("[STREAMER] didChangeZoom: \(zoomFactor)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didOpenChannel channelId: UInt64) {
        journal.record("[STREAMER] didOpenChannel: \(channelId)")
    }

    func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage) {
        handleMessage(message: message)
    }

    func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError) {
        journal.record("[STREAMER] didFail: \(error.code) / \(error.message)")
    }
}

class StreamingViewController {
    let view = Preview()
    let livePlayer: FFLLivePlayer
    let journal: LiveJournal

    init(_ token: String, _ videoRoomId: UInt64, _ channelId: UInt64, journal: LiveJournal) {
        livePlayer = FlipFlopLite.getLivePlayer(accessToken: token, videoRoomId: videoRoomId, channelId: channelId)
        self.journal = journal
        livePlayer.delegate = self
    }

    func viewWillAppear(_ url: String) {
        livePlayer.prepare(view: self.view, uri: url)
        livePlayer.enter()
        livePlayer.start()
    }

    func say() {
        let text = "Hello!"
        livePlayer.liveChat()?.sendMessage(message: text)
    }

    func leave() {
        livePlayer.stop()
        livePlayer.exit()
    }
}

extension StreamingViewController: FFLLivePlayerDelegate {
    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate playerState: PlayerState) {
        journal.record("[LIVE PLAYER] didUpdatePlayerState: \(playerState)")
    }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate broadcastState: BroadcastState) {
        journal.record("[LIVE PLAYER] didUpdateBroadcastState: \(broadcastState)")
    }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didUpdate liveUrl: String) {
        journal.record("[LivePlayer] didUpdateLiveUrl: \(liveUrl)")
    }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didOpenChannel channelId: UInt64) {
        journal.record("[LivePlayer] didOpenChannel: \(channelId)")
    }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didReceive message: FFLMessage) {
        journal.record("[LIVE PLAYER] didReceiveMessage: \(message.message)")
    }

    func fflLivePlayer(_ livePlayer: FFLLivePlayer, didFail error: FFError) {
        journal.record("[LIVE PLAYER] didFail: \(error.code) / \(error.message)")
    }
}

/// The steps of the tutorial, against a server on 127.0.0.1.
@Suite(.timeLimit(.minutes(1)))
@MainActor
struct TutorialNetTests {
    @Test func `a broadcast as in chapter 4`() async throws {
        let server = try MemberServer()
        let (journal, feed) = (LiveJournal(), LiveJournal())
        var config = FFLConfig(serverAddr: server.address)
        config.feedSource = { TestFeed(server, feed) }
        FlipFlopLite.initialize(config: config)
        let controller = StreamingController(journal: journal)
        controller.viewDidLoad(MemberServer.token)
        controller.startLive()
        try await journal.wait(for: "broadcasting is active")
        controller.say()
        try await journal.wait(for: "message sent by member: Hello!")
        controller.endLive()
        try await journal.wait(for: "streamer is closed")
        let states = journal.lines.filter { !$0.contains("message") && !$0.contains("user") && !$0.contains("Alarm") }
        #expect(
            states == [
                "streamer is prepared", "[STREAMER] didOpenChannel: 70", "streamer is started",
                "broadcasting is active",
                "broadcasting is inactive", "streamer is stopped", "streamer is closed",
            ] || states.filter { $0 != "broadcasting is inactive" }.count == 6, "\(states)")
        #expect(
            feed.lines == [
                "open 1280x720 2500000 back", "preview", "connect rtmp://127.0.0.1/live/KEY?mode=CMAF", "disconnect",
                "close",
            ])
    }

    @Test func `a viewer as in chapter 5`() async throws {
        let server = try MemberServer()
        server.openLiveRoom()
        let (journal, picture) = (LiveJournal(), LiveJournal())
        var config = FFLConfig(serverAddr: server.address)
        config.livePicture = { TestPicture(picture) }
        FlipFlopLite.initialize(config: config)
        let controller = StreamingViewController(
            MemberServer.token, MemberServer.roomID, MemberServer.channelID, journal: journal)
        controller.viewWillAppear("http://127.0.0.1/live-1")
        try await journal.wait(for: "[LIVE PLAYER] didUpdateBroadcastState: active")
        try await journal.wait(for: "[LIVE PLAYER] didUpdatePlayerState: started")
        controller.say()
        try await journal.wait(for: "[LIVE PLAYER] didReceiveMessage: Hello!")
        server.feedEnded()
        try await journal.wait(for: "[LIVE PLAYER] didUpdateBroadcastState: inactive")
        server.feedBegan()
        try await journal.wait(for: "[LivePlayer] didUpdateLiveUrl: http://127.0.0.1/live-2")
        try await journal.wait(for: "[LIVE PLAYER] didUpdatePlayerState: started", count: 2)
        server.endRoom()
        try await journal.wait(for: "[LIVE PLAYER] didUpdatePlayerState: completed")
        controller.leave()
        try await journal.wait(for: "[LIVE PLAYER] didUpdatePlayerState: closed")
        #expect(picture.lines.contains("open http://127.0.0.1/live-2") && picture.lines.last == "close")
    }
}
