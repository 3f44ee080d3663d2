import FlipFlopLiteMedia
import FlipFlopLiteSDK
import Foundation
import LectureLiveMedia
import LectureModel
import LecturePlayer
import LectureTestSupport
import LiveTestSupport
import Testing

/// The picture of a viewer by itself, against nginx.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct PlayerPictureNetTests {
    private func picture() -> PlayerPicture {
        var options = PlayerPicture.Options()
        (options.hasSound, options.environment) = (false, [:])
        return PlayerPicture(options)
    }

    private func broadcast(_ url: String) async throws -> LiveBroadcast {
        var configuration = BroadcastConfiguration(source: .testPicture)
        (configuration.width, configuration.height, configuration.framesPerSecond) = (640, 360, 15)
        (configuration.videoBitrate, configuration.keyFrameInterval, configuration.speed) = (600_000, 1, .ultrafast)
        let broadcast = try LiveBroadcast(configuration)
        try await broadcast.connect(to: url)
        return broadcast
    }

    @Test func `RTMP plays, stands still at its end, and another stream takes its place`() async throws {
        let server = try await RTMPServer.start()
        let screen = Screen()
        let picture = picture()
        picture.mute(true)
        var events = picture.events.makeAsyncIterator()
        for name in ["one", "two"] {
            let broadcast = try await broadcast(server.url(name))
            picture.open(url: server.url(name), view: LiveSurface(object: screen.frames), isLowLatency: true)
            picture.play()
            // The end of the one before may still be reported: it gets its last packets, and stands still.
            var event = await events.next()
            while name == "two", event == .plays || event == .stalled { event = await events.next() }
            #expect(event == .ready)
            event = await events.next()
            #expect(event == .plays)
            picture.mute(false)
            let before = screen.counters.count
            try await Conditions.wait(for: "pictures of \(name)") { screen.counters.count >= before + 15 }
            if name == "one" {
                await broadcast.disconnect()
                #expect(await events.next() == .stalled)
            }
            broadcast.close()
        }
        picture.close()
        #expect(!screen.counters.isEmpty)
    }

    @Test func `a feed that freezes is one standstill, until it goes on`() async throws {
        let server = try await RTMPServer.start()
        let link = try SlowLink(to: server.port)
        let (screen, picture) = (Screen(), picture())
        let feed = try await broadcast(link.url("frozen"))
        let seen = Guarded<[LivePictureEvent]>([])
        let reading = Task {
            for await event in picture.events { seen.withLock { $0.append(event) } }
        }
        picture.open(url: server.url("frozen"), view: LiveSurface(object: screen.frames), isLowLatency: true)
        picture.play()
        try await Conditions.wait(for: "pictures") { screen.counters.count >= 15 }
        let before = seen.withLock { $0.count }
        link.setRate(0)
        try await Conditions.wait(for: "a standstill") { seen.withLock { $0.dropFirst(before).last == .stalled } }
        // Another broadcast takes the time that is needed to see that nothing else is reported.
        try await broadcast(server.url("other")).close()
        let reported = seen.withLock { $0.dropFirst(before) }
        #expect(reported.last == .stalled && reported.count < 6, "\(reported)")
        link.setRate(nil)
        try await Conditions.wait(for: "pictures again") { seen.withLock { $0.last == .plays } }
        picture.close()
        feed.close()
        reading.cancel()
    }

    @Test func `what cannot be played has its number, and closed pictures open again`() async throws {
        let port = try Places.freePort()
        let nginx = try await NginxOrigin.start(serving: try TemporaryDirectory().path)
        let picture = picture()
        var events = picture.events.makeAsyncIterator()
        let cases = [
            ("rtmp://127.0.0.1:\(port)/live/x", 90201), ("\(nginx.http)/none/index.m3u8", 80104),
            ("http://127.0.0.1:\(port)/index.m3u8", 80104), ("file:///etc/passwd", 80104), ("rtmp://h/a b", 90201),
        ]
        for (url, code) in cases {
            picture.open(url: url, view: LiveSurface(object: nil), isLowLatency: false)
            guard case .failed(let error) = await events.next() else {
                Issue.record("\(url) has not failed")
                continue
            }
            #expect(error.code == code && !error.message.contains(url), "\(url): \(error)")
            picture.close()
        }
        // A window without a display; and the application's own window there as well.
        for surface in [PlayerSurface.window(title: "", isFullscreen: false), .x11(1)] {
            let view = LiveSurface(object: LiveWindow(surface))
            picture.open(url: "http://127.0.0.1:\(port)/", view: view, isLowLatency: false)
            guard case .failed(let error) = await events.next() else { continue }
            #expect(error.kind == .STREAMING_INVALID_VIEW)
        }
        picture.close()
        picture.play()
        picture.close()
    }

    @Test func `fifty pictures leave nothing behind`() async throws {
        let picture = picture()
        let screen = Screen()
        var events = picture.events.makeAsyncIterator()
        let url = "http://127.0.0.1:\(try Places.freePort())/index.m3u8"
        func count(_ name: String) throws -> Int { try FileManager.default.contentsOfDirectory(atPath: name).count }
        var before = (threads: 0, files: 0)
        for round in 0..<50 {
            picture.open(url: url, view: LiveSurface(object: screen.frames), isLowLatency: round % 2 == 0)
            _ = await events.next()
            // Every second time it is replaced, without being closed.
            if round % 2 == 0 { picture.close() }
            if round == 9 { before = (try count("/proc/self/task"), try count("/proc/self/fd")) }
        }
        picture.close()
        try await Conditions.wait(for: "the end of the players") {
            try count("/proc/self/task") <= before.threads + 4 && count("/proc/self/fd") <= before.files + 8
        }
    }

    @Test func `a player beside a broadcast changes none of its errors`() async throws {
        let server = try await RTMPServer.start()
        let owner = try await broadcast(server.url("busy-name"))
        var configuration = BroadcastConfiguration(source: .testPicture)
        (configuration.width, configuration.height) = (640, 360)
        let other = try LiveBroadcast(configuration)
        let cases: [(String, BroadcastError)] = [
            (server.url("busy-name"), .busy), ("rtmp://\(String(repeating: "a", count: 64)).example/live/x", .noServer),
        ]
        // libmpv takes FFmpeg's log for itself while a player lives, and leaves FFmpeg's own function behind it.
        let picture = picture()
        picture.open(url: server.url("busy-name"), view: LiveSurface(object: Screen().frames), isLowLatency: true)
        for isOpen in [true, false] {
            if !isOpen { picture.close() }
            for (url, expected) in cases {
                await #expect(throws: expected) { try await other.connect(to: url) }
            }
        }
        owner.close()
        other.close()
    }
}
