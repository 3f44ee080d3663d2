import FlipFlopLiteMedia
import FlipFlopLiteSDK
import Foundation
import LectureFiles
import LectureLive
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import LecturePlayer
import LectureTestSupport
import LiveTestSupport
import Testing

/// A server that is lost midway, and a display that is not there.
@Suite(.timeLimit(.minutes(2)))
struct LostServerTests {
    private static let small = ["--size", "640x360", "--fps", "10", "--bitrate", "400K"]

    /// Waits take no time: they advance the clock.
    private static func time(_ clock: VirtualClock) -> LiveTime {
        LiveTime(clock: clock, random: SeededRandom(seed: 1)) { clock.advance(to: clock.boot() + $0) }
    }

    @Test func `a chat ends with 69`() async throws {
        let stage = try await CommandStage()
        try await stage.login("kim")
        let room = try await stage.client("kim") {
            try await $0.createRoom(title: "Chat", scheduledAt: Timestamp(milliseconds: 0))
        }
        let input = try InputPipe()
        let chat = stage.start(
            "kim", ["chat", "\(room.id)", "--json"], input: input.reading, time: Self.time(VirtualClock()))
        try await chat.output.wait(for: #""state":"open""#)
        await stage.server.stop()
        let end = try await chat.end()
        #expect(end.code == 69, "\(end.diagnostics)")
        #expect(end.diagnostics.contains("The server was lost, and has not come back for 120 s."))
        #expect(end.output.contains(#""event":"error","code":80400"#), "\(end.output)")
    }

    @Test func `a viewer who waits for a room, and one who sees it, end with 69`() async throws {
        let stage = try await CommandStage()
        try await stage.login("kim")
        let room = try await stage.client("kim") {
            try await $0.createRoom(title: "Later", scheduledAt: Timestamp(milliseconds: 0))
        }
        let picture = TestPicture(LiveJournal())
        let media = MediaFactories(feed: MediaFactories.standard([:]).feed, picture: { _ in picture })
        let waiting = stage.start(
            "kim", ["watch", "\(room.id)", "--no-video"], time: Self.time(VirtualClock()), media: media)
        try await waiting.diagnostics.wait(for: "Waiting until room \(room.id) can be watched.")
        try await stage.client("kim") { try await $0.send("are you there?", channelID: room.channelID) }
        await stage.server.stop()
        let end = try await waiting.end()
        #expect(end.code == 69 && end.diagnostics.contains("Check '--server'"), "\(end.diagnostics)")
        // Media that stands still, and does not come again.
        let server = try MemberServer()
        server.openLiveRoom()
        let directory = try TemporaryDirectory.inMemory()
        var effects = LiveEffects(
            media: MediaFactories(
                feed: MediaFactories.standard([:]).feed, picture: { _ in TestPicture(LiveJournal(), obeys: false) }))
        effects.time = Self.time(VirtualClock())
        let environment = [
            "LECTURE_LIVE_SERVER": server.address,
            "LECTURE_LIVE_TOKEN_FILE": try directory.secret(MemberServer.token, "token"),
        ]
        let words = ["watch", "\(MemberServer.roomID)", "--no-video"]
        let lost = try await RunningCommand(words, environment: environment, effects, secrets: []).end()
        #expect(lost.code == 69 && lost.diagnostics.contains("opened 3 times again and did not come"))
    }

    @Test func `a broadcast ends with 69, and says that its room stays`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        let clock = VirtualClock()
        // A second of the façade is a fiftieth of one.
        let real = LiveTime(clock: SystemClock(), random: SystemRandom())
        let time = LiveTime(clock: clock, random: SeededRandom(seed: 1)) { wait in
            let end = clock.boot() + wait
            await real.pause(wait / 50)
            if clock.boot() < end { clock.advance(to: end) }
        }
        let broadcast = stage.start("kim", ["broadcast", "--json"] + Self.small, time: time)
        try await broadcast.output.wait(for: #""part":"broadcast","state":"active""#)
        await stage.server.stop()
        let end = try await broadcast.end()
        #expect(end.code == 69, "\(end.diagnostics)")
        #expect(end.diagnostics.contains("'lecture-live broadcast --resume' goes on with it"), "\(end.diagnostics)")
        #expect(end.diagnostics.contains("'lecture-live rooms end "), "\(end.diagnostics)")
        #expect(end.output.contains(#""code":80106"#))
    }

    @Test func `what is sent is shown, and a window needs a display`() async throws {
        let stage = try await CommandStage(hasMedia: true)
        try await stage.login("kim")
        let words = ["broadcast", "--preview", "--json", "--title", "Algebra", "--duration", "6s"] + Self.small
        let (seen, titles) = (Guarded(0), Guarded<[String]>([]))
        let frames = LiveFrames(width: 640, height: 360) { _ in seen.withLock { $0 += 1 } }
        let media = MediaFactories(
            feed: MediaFactories.standard([:]).feed, picture: { _ in TestPicture(LiveJournal()) },
            preview: { title in
                titles.withLock { $0.append(title) }
                return frames
            })
        let end = try await stage.start("kim", words, media: media).end()
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(seen.withLock { $0 } >= 10 && titles.withLock { $0 } == ["Algebra"])
        let none = try await stage.start("kim", words).end()
        #expect(none.code == 74 && none.output.contains(#""code":80103"#), "\(none.diagnostics)")
        #expect(none.diagnostics.contains("The preview cannot be shown"))
        await stage.server.stop()
    }
}
