import FlipFlopLiteMedia
import FlipFlopLiteSDK
import Foundation
import Glibc
import LectureFiles
import LectureLive
import LectureLiveClient
import LectureLiveMedia
import LectureLiveServer
import LectureModel
import LecturePlayer
import LectureTestSupport
import LiveTestSupport
import Testing

/// The façade with its encoder and its player, against the program's own server: nothing stands in for anything.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct LectureWalkNetTests {
    /// A broadcaster and its reports.
    private struct Teacher {
        let streamer: FFLStreamer
        let reports = Reports()

        init(_ token: String) {
            streamer = FlipFlopLite.getStreamer(accessToken: token)
            streamer.delegateQueue = DispatchQueue(label: "teacher")
            streamer.delegate = reports
        }

        /// As in the tutorial: one call after the other, without waiting.
        func begin(_ settings: FFStreamerConfig, title: String = "수학 1") {
            streamer.prepare(preview: nil, config: settings)
            streamer.setVideoInfo(title: title)
            streamer.enter()
            streamer.start()
        }
    }

    /// A viewer, its reports and its screen.
    private struct Learner {
        let player: FFLLivePlayer
        let reports = Reports()
        let screen = Screen()

        init(
            _ stage: Stage, _ token: String, room id: UInt64, _ options: FFLLivePlayerOptions = [],
            isRTMP: Bool = false
        ) async throws {
            let room = try await stage.room(id, token)
            player = FlipFlopLite.getLivePlayer(accessToken: token, videoRoomId: id, channelId: room.channel)
            player.delegateQueue = DispatchQueue(label: "learner")
            player.delegate = reports
            let url = try #require(isRTMP ? room.rtmpURL : room.playURL)
            player.prepare(view: screen.frames, uri: url, options: options)
            player.enter()
            player.start()
        }

        /// The addresses that were reported.
        var links: [String] { reports.lines.filter { $0.hasPrefix("url ") } }
    }

    /// Twice the feed and the picture come back by themselves, to each viewer by its way, at another address.
    private func bringBack(_ stage: Stage, _ teacher: Teacher, _ viewers: [(Learner, way: String)]) async throws {
        // The link is cut; then the media server dies. Each time the feed and the picture come back by themselves.
        for round in 2...3 {
            if round == 2 {
                stage.link.cut()
            } else {
                _ = kill(try #require(stage.server.mediaProcess), SIGKILL)
            }
            try await teacher.reports.wait(for: "active", count: round)
            #expect(teacher.reports.lines.contains("alert_3"))
            for (viewer, _) in viewers {
                try await Conditions.wait(for: "url \(round)") { viewer.links.count >= round - 1 }
                try await viewer.screen.see(15)
            }
        }
        for (viewer, way) in viewers {
            #expect(Set(viewer.links).count == viewer.links.count)
            #expect(viewer.links.allSatisfy { $0.hasPrefix(way) })
        }
    }

    @Test func `a lecture from the first call to the last, over a cut link and a media server that dies`() async throws
    {
        let stage = try await Stage()
        FlipFlopLite.initialize(config: stage.config())
        let (token, other) = (try await stage.token("teacher"), try await stage.token("learner"))
        let teacher = Teacher(token)
        teacher.begin(Stage.settings())
        try await teacher.reports.wait(for: "active")
        #expect(teacher.reports.states == ["prepared", "started", "active"])
        let id = try await stage.newestRoom(token)
        #expect(try await stage.room(id, token).state == "LIVE")
        let learner = try await Learner(stage, other, room: id)
        let near = try await Learner(stage, try await stage.token("near"), room: id, isRTMP: true)
        for viewer in [learner, near] {
            try await viewer.reports.wait(for: "started")
            try await viewer.screen.see(15)
        }
        #expect(learner.reports.states.contains("prepared") && learner.reports.states.contains("active"))

        try await Conditions.wait(for: "chat") {
            learner.player.liveChat() != nil && teacher.streamer.liveChat() != nil
        }
        teacher.streamer.liveChat()?.sendMessage(message: "Hello!")
        try await learner.reports.wait(for: "says teacher: Hello!")
        learner.player.liveChat()?.sendMessage(message: "안녕하세요")
        try await teacher.reports.wait(for: "says learner: 안녕하세요")

        try await bringBack(stage, teacher, [(learner, "url http://"), (near, "url rtmp://")])

        teacher.streamer.stop()
        teacher.streamer.exit()
        try await teacher.reports.wait(for: "closed")
        for viewer in [learner, near] { try await viewer.reports.wait(for: "completed") }
        #expect(try await stage.room(id, token).state == "ENDED")
        #expect(
            teacher.reports.states.filter { $0 != "inactive" } == [
                "prepared", "started", "active", "active", "active", "stopped", "closed",
            ])
        learner.player.exit()
        try await learner.reports.wait(for: "closed")
        near.player.exit()
        try await near.reports.wait(for: "closed")
        let lines = teacher.reports.lines + learner.reports.lines + near.reports.lines
        #expect(!lines.contains { $0.contains("80106") })
        await stage.stop()
    }

    @Test func `what the manager changes is what a viewer sees`() async throws {
        let stage = try await Stage()
        let directory = try TemporaryDirectory()
        let image = try directory.write(
            Array("P6 32 18 255\n".utf8) + [UInt8](repeating: 255, count: 32 * 18 * 3), to: "white.ppm")
        FlipFlopLite.initialize(config: stage.config(.testPicture, .black))
        let token = try await stage.token("teacher")
        let teacher = Teacher(token)
        teacher.begin(Stage.settings())
        try await teacher.reports.wait(for: "active")
        let (id, other) = (try await stage.newestRoom(token), try await stage.token("learner"))
        let learner = try await Learner(stage, other, room: id, .lowLatency)
        let manager = try #require(teacher.streamer.liveManager())
        let steps: [(Screen.Look, () -> Void)] = [
            (.plain, {}), (.mirrored, { manager.videoMirror() }), (.plain, { manager.videoMirror() }),
            (.white, { manager.showImage(path: image) }), (.plain, { manager.hideImage() }),
            (.inset, { manager.setPipMode(on: true) }), (.blackWithInset, { manager.switchCamera() }),
            (.inset, { manager.switchCamera() }), (.plain, { manager.setPipMode(on: false) }),
            (.black, { teacher.streamer.releaseCamera() }), (.plain, { teacher.streamer.openCamera() }),
            (.black, { manager.muteVideo(on: true) }), (.plain, { manager.muteVideo(on: false) }),
        ]
        for (look, step) in steps {
            step()
            try await learner.screen.see(look)
        }
        let refused = LiveJournal()
        manager.showImage(path: directory.file("none.png")) { code, _ in refused.record("\(code)") }
        try await refused.wait(for: "80110")
        manager.showImage(path: directory.file("none.png"))
        try await teacher.reports.wait(for: "failed 80110")
        // All of it in one connection.
        #expect(teacher.reports.count("active") == 1 && !teacher.reports.lines.contains("alert_3"))
        teacher.streamer.exit()
        try await learner.reports.wait(for: "completed")
        await stage.stop()
    }

    @Test func `on a link of two fifths the alarm comes within four seconds, and the bitrate goes down and up`()
        async throws
    {
        let stage = try await Stage()
        let ticks = Guarded(0)
        var config = stage.config()
        // The seconds of the façade, counted: samples are taken one a second.
        let time = LiveTime(clock: SystemClock(), random: SystemRandom())
        config.time = LiveTime(clock: SystemClock(), random: SystemRandom()) { duration in
            await time.pause(duration)
            if duration == .seconds(1) { ticks.withLock { $0 += 1 } }
        }
        FlipFlopLite.initialize(config: config)
        let token = try await stage.token("teacher")
        let teacher = Teacher(token)
        teacher.begin(Stage.settings(bitrate: 1_000_000, adaptive: true))
        try await teacher.reports.wait(for: "active")
        try await Conditions.wait(for: "calm") { teacher.reports.lines.last { $0.hasPrefix("alert_") } == nil }
        let start = ticks.withLock { $0 }
        stage.link.setRate(1_064_000 / 8 * 2 / 5)
        try await Conditions.wait(for: "alarm") { teacher.reports.lines.contains { $0.hasPrefix("alert_") } }
        #expect(ticks.withLock { $0 } - start <= 4)
        func rates() -> [Int] {
            teacher.reports.lines.filter { $0.hasPrefix("bitrate ") }.compactMap { Int($0.dropFirst(8)) }
        }
        try await Conditions.wait(for: "a lower bitrate") { rates().contains { $0 < 600_000 } }
        let lowest = rates().min() ?? 0
        stage.link.setRate(nil)
        try await Conditions.wait(for: "a higher bitrate", within: .seconds(40)) { rates().last ?? 0 > lowest }
        try await teacher.reports.wait(for: "normal")
        let manager = try #require(teacher.streamer.liveManager())
        #expect(manager.getCurrentBitrate() == rates().last)
        teacher.streamer.exit()
        try await teacher.reports.wait(for: "closed")
        await stage.stop()
    }

    @Test func `without a media server it is 80100, and a second broadcaster learns of the room`() async throws {
        let stage = try await Stage(hasMedia: false)
        FlipFlopLite.initialize(config: stage.config())
        let token = try await stage.token("teacher")
        let first = Teacher(token)
        first.begin(Stage.settings(), title: "first")
        try await first.reports.wait(for: "failed 80100")
        let second = Teacher(token)
        second.streamer.prepare(config: Stage.settings())
        second.streamer.enter()
        try await second.reports.wait(for: "exists SCHEDULED 'first'")
        let nowhere = stage.config(.screen(":65535"))
        FlipFlopLite.initialize(config: nowhere)
        let third = Teacher(token)
        third.streamer.prepare(config: Stage.settings())
        try await third.reports.wait(for: "failed 80103")
        await stage.stop()
    }
}
