import FlipFlopLiteSDK
import Foundation
import LectureFiles
import LectureLive
import LectureLiveClient
import LectureModel
import LectureTestSupport
import LiveTestSupport
import Testing

/// Writes what a broadcaster reports.
private final class Reports: FFLStreamerDelegate, Sendable {
    let journal: LiveJournal
    let isOnQueue: @Sendable () -> Bool

    init(_ journal: LiveJournal, isOnQueue: @escaping @Sendable () -> Bool = { true }) {
        (self.journal, self.isOnQueue) = (journal, isOnQueue)
    }

    private func record(_ line: String) { journal.record(isOnQueue() ? line : "elsewhere: \(line)") }

    func fflStreamer(_ streamer: FFLStreamer, didUpdate streamerState: StreamerState) { record("\(streamerState)") }
    func fflStreamer(_ streamer: FFLStreamer, didUpdate broadcastState: BroadcastState) { record("\(broadcastState)") }
    func fflStreamer(_ streamer: FFLStreamer, didExist videoRoom: FFLVideoRoom) {
        record("exists \(videoRoom.id) \(videoRoom.videoRoomState) \(videoRoom.type) '\(videoRoom.title)'")
    }
    func fflStreamer(_ streamer: FFLStreamer, didPublish alarmState: AlarmState) { record("\(alarmState)") }
    func fflStreamer(_ streamer: FFLStreamer, didChangeVideoBitrate bitrate: Int) { record("bitrate \(bitrate)") }
    func fflStreamer(_ streamer: FFLStreamer, didChangeZoom zoomFactor: CGFloat) { record("zoom \(zoomFactor)") }
    func fflStreamer(_ streamer: FFLStreamer, didOpenChannel channelId: UInt64) { record("channel \(channelId)") }
    func fflStreamer(_ streamer: FFLStreamer, didReceive message: FFLMessage) {
        record("\(message.origin) \(message.appUserId) \(message.customType) \(message.message)")
    }
    func fflStreamer(_ streamer: FFLStreamer, didFail error: FFError) { record("failed \(error.code)") }
}

/// A broadcaster against a real server, with the media that the test makes.
@Suite(.timeLimit(.minutes(1)))
@MainActor
struct StreamerTests {
    /// Time that passes as soon as it is waited for; seconds pass when the test says so.
    private final class Seconds: Sendable {
        let clock = VirtualClock()
        private let waiting = Guarded<[Waiter<Void>]>([])

        func pause(_ duration: Duration) async {
            guard duration == .seconds(1) else { return clock.advance(to: clock.boot() + duration) }
            let waiter = Waiter<Void>()
            waiting.withLock { $0.append(waiter) }
            try? await waiter.value()
        }

        /// One second passes, as soon as it is waited for.
        func pass() async {
            while !Task.isCancelled, !(await passIfAwaited()) {}
        }

        /// One second passes, if it is waited for.
        @discardableResult
        func passIfAwaited() async -> Bool {
            let waiter = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if waiter != nil { clock.advance(to: clock.boot() + .seconds(1)) }
            let hasPassed = waiter?.answer(()) == true
            await Task.yield()
            return hasPassed
        }
    }

    private struct Stand {
        let streamer: FFLStreamer
        let reports: LiveJournal
        let calls = LiveJournal()
        let feed: TestFeed
        let seconds = Seconds()
        private let delegate: Reports

        @MainActor
        init(_ server: MemberServer, token: String = MemberServer.token, failures: [FFError] = [], hasFeed: Bool = true)
        {
            let feed = TestFeed(server, calls, failures: failures)
            self.feed = feed
            var config = FFLConfig(serverAddr: server.address)
            if hasFeed { config.feedSource = { feed } }
            let seconds = seconds
            config.time = LiveTime(clock: seconds.clock, random: SeededRandom(seed: 1)) { await seconds.pause($0) }
            FlipFlopLite.initialize(config: config)
            streamer = FlipFlopLite.getStreamer(accessToken: token)
            reports = LiveJournal()
            delegate = Reports(reports)
            streamer.delegate = delegate
        }

        /// Until it is on the air.
        func begin() async throws {
            streamer.prepare()
            streamer.enter()
            streamer.start()
            try await reports.wait(for: "active")
        }

        func end() async throws {
            streamer.exit()
            try await reports.wait(for: "closed")
        }
    }

    @Test func `an earlier room is reported, restarted and ended`() async throws {
        let server = try MemberServer()
        server.openRoom(.inactive, playURL: "http://127.0.0.1/live-1", key: .liveWithoutFeed)
        let stand = Stand(server)
        stand.streamer.prepare()
        stand.streamer.enter()
        stand.streamer.start()
        try await stand.reports.wait(for: "exists 7 LIVE_INACTIVE BROADCAST_RTMP 'made before'")
        stand.streamer.restart(videoRoomId: 7)
        try await stand.reports.wait(for: "active")
        try await stand.end()
        #expect(!stand.reports.lines.contains { $0.hasPrefix("failed") } && server.hasEnded)
        #expect(!server.log.contains("POST video-rooms") && !server.log.contains("POST video-rooms/7/start"))
    }

    @Test func `a lost link is an alarm, comes back, and is given up after five attempts`() async throws {
        let server = try MemberServer()
        let stand = Stand(server)
        try await stand.begin()
        stand.feed.lose([FFError(.CONNECTION_FAILED, "")])
        try await stand.reports.wait(for: "alert_3")
        // The second attempt comes after a second.
        while stand.reports.lines.count(where: { $0 == "active" }) < 2, !Task.isCancelled {
            await stand.seconds.passIfAwaited()
        }
        stand.feed.lose(Array(repeating: FFError(.STREAMING_FAILED, ""), count: 5))
        while !stand.reports.lines.contains("failed 80106"), !Task.isCancelled { await stand.seconds.passIfAwaited() }
        try await stand.reports.wait(for: "stopped")
        stand.streamer.retry()
        try await stand.reports.wait(for: "started", count: 2)
        try await stand.end()
    }

    @Test func `the seconds of a feed become alarms and bitrates`() async throws {
        let server = try MemberServer()
        let stand = Stand(server)
        let manager = try #require(stand.streamer.liveManager())
        try await stand.begin()
        #expect(manager.getCurrentBitrate() == 2_048_000)
        manager.enableAdaptiveBitrate()
        stand.feed.set(queue: .milliseconds(1600), sentBytes: 108_192)
        await stand.seconds.pass()
        // (108,192 · 8 − 65,536) · 0.85
        try await stand.reports.wait(for: "bitrate 680000")
        try await stand.reports.wait(for: "alert_2")
        try await stand.calls.wait(for: "drop")
        #expect(stand.calls.lines.contains("bitrate 680000") && manager.getCurrentBitrate() == 680_000)
        manager.setVideoBitrateOnFly(bitrate: 1)
        try await stand.reports.wait(for: "bitrate 204800")
        manager.disableAdaptiveBitrate()
        stand.feed.set(queue: .zero, sentBytes: 200_000)
        for _ in 1...3 { await stand.seconds.pass() }
        try await stand.reports.wait(for: "normal")
        manager.switchCamera()
        manager.videoMirror()
        manager.muteAudio(on: true)
        manager.muteVideo(on: true)
        manager.zoom(factor: 20)
        try await stand.reports.wait(for: "zoom 8.0")
        #expect(manager.isAudioMuted() && manager.isVideoMuted() && manager.getCameraZoomInfo() == (1, 8, 8))
        for call in ["camera back", "mirrored true", "muteAudio true", "muteVideo true", "zoom 8.0"] {
            #expect(stand.calls.lines.contains(call))
        }
        try await stand.end()
    }

    @Test func `media that cannot do something says so, to the caller or to the delegate`() async throws {
        let server = try MemberServer()
        let stand = Stand(server)
        let manager = try #require(stand.streamer.liveManager())
        // Without a feed nothing happens.
        manager.showImage(path: "/none.png") { _, _ in Issue.record("there is no feed") }
        stand.streamer.releaseCamera()
        try await stand.begin()
        let failures = LiveJournal()
        manager.showImage(path: "/none.png") { code, text in failures.record("image \(code) \(text)") }
        try await failures.wait(for: "image 80110 this media cannot do that")
        manager.setPipMode(on: true) { code, _ in failures.record("pip \(code) \(manager.isPipMode())") }
        try await failures.wait(for: "pip 80110 false")
        #expect(!stand.reports.lines.contains("failed 80110"))
        manager.hideImage()
        manager.setPipMode(on: true)
        stand.streamer.releaseCamera()
        stand.streamer.openCamera()
        try await stand.reports.wait(for: "failed 80110", count: 4)
        try await stand.end()
    }

    @Test func `what is wrong has its number`() async throws {
        let server = try MemberServer()
        let commands: [(String, @Sendable (FFLStreamer) -> Void)] = [
            ("enter", { $0.enter() }), ("start", { $0.start() }), ("stop", { $0.stop() }), ("exit", { $0.exit() }),
            ("restart", { $0.restart(videoRoomId: 7) }), ("retry", { $0.retry() }),
        ]
        let early = Stand(server)
        for (_, command) in commands { command(early.streamer) }
        try await early.reports.wait(for: "failed 80300", count: commands.count)
        #expect(early.streamer.liveChat() == nil)
        let bare = Stand(server, hasFeed: false)
        bare.streamer.prepare()
        bare.streamer.enter()
        try await bare.reports.wait(for: "failed 80103")
        let refused = Stand(server, token: "expired")
        refused.streamer.prepare()
        try await refused.reports.wait(for: "failed 80203")
        let busy = Stand(server, failures: [FFError(.STREAMING_FAILED, "the key is in use")])
        busy.streamer.prepare()
        busy.streamer.enter()
        busy.streamer.start()
        try await busy.reports.wait(for: "failed 80102")
        busy.streamer.exit(videoRoomId: 8)
        try await busy.reports.wait(for: "failed 80402")
        FlipFlopLite.initialize(config: FFLConfig(serverAddr: "ftp://127.0.0.1"))
        let nowhere = FlipFlopLite.getStreamer(accessToken: "t")
        let journal = LiveJournal()
        let delegate = Reports(journal)
        nowhere.delegate = delegate
        nowhere.prepare()
        try await journal.wait(for: "failed 80301")
    }

    @Test func `a room that is ended elsewhere terminates the broadcaster`() async throws {
        let server = try MemberServer()
        let stand = Stand(server)
        try await stand.begin()
        server.endRoom()
        try await stand.reports.wait(for: "terminated")
        try await stand.calls.wait(for: "close")
        #expect(stand.streamer.liveChat() == nil)
        stand.streamer.start()
        try await stand.reports.wait(for: "failed 80401")
    }

    @Test func `messages go out in the order of their calls, and failures to who has asked`() async throws {
        let server = try MemberServer { request in
            request.name == "POST channels/70/messages" && request.number == 4 ? .status(400, "MESSAGE_TOO_LONG") : nil
        }
        let stand = Stand(server)
        stand.streamer.prepare()
        stand.streamer.enter()
        try await stand.reports.wait(for: "channel 70")
        let chat = try #require(stand.streamer.liveChat())
        let failures = LiveJournal()
        for number in 1...6 { chat.sendMessage(message: "\(number)") { code, _ in failures.record("\(code)") } }
        try await failures.wait(for: "80201")
        try await stand.reports.wait(for: "members kim  6")
        #expect(stand.reports.lines.filter { $0.hasPrefix("members") } == [1, 2, 3, 5, 6].map { "members kim  \($0)" })
        chat.sendMessage(message: "?", customType: "question")
        try await stand.reports.wait(for: "members kim question ?")
        stand.streamer.exit()
        // A room without a broadcast is ended by its owner's other means: the server refuses, the broadcaster stays.
        try await stand.reports.wait(for: "failed 80409")
    }

    @Test func `delegates are called on the chosen queue, and what came before the first one is not lost`() async throws
    {
        let server = try MemberServer()
        var config = FFLConfig(serverAddr: server.address)
        let calls = LiveJournal()
        config.feedSource = { TestFeed(server, calls) }
        FlipFlopLite.initialize(config: config)
        let streamer = FlipFlopLite.getStreamer(accessToken: MemberServer.token)
        let queue = DispatchQueue(label: "test")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        streamer.delegateQueue = queue
        streamer.prepare()
        try await calls.wait(for: "open 1280x720 2048000 front")
        let journal = LiveJournal()
        var delegate: Reports? = Reports(journal) { DispatchQueue.getSpecific(key: key) == true }
        streamer.delegate = delegate
        try await journal.wait(for: "prepared")
        // A delegate that is gone is called no more.
        delegate = nil
        #expect(streamer.delegate == nil)
        streamer.exit()
        try await calls.wait(for: "close")
        #expect(journal.lines == ["prepared"])
    }

    @Test func `a broadcaster that is released ends its feed and its connections`() async throws {
        let server = try MemberServer()
        var stand: Stand? = Stand(server)
        try await stand?.begin()
        let calls = try #require(stand?.calls)
        stand = nil
        try await calls.wait(for: "disconnect")
        try await calls.wait(for: "close")
        #expect(!server.hasEnded)
    }
}
