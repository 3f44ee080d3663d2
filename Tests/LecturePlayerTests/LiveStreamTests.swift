import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// What is reported of a stream, as values.
struct LiveStreamStateTests {
    private static let error = LectureError(.mediaUnsupported)

    @Test(
        arguments: [
            // Nothing before it is opened, nor of a stream that was replaced.
            ([.opening(0), .ready(.zero), .paused(false)], []),
            ([.opening(1), .ready(.zero)], [.ready]),
            ([.opening(1), .ready(.zero), .ready(.seconds(1))], [.ready]),
            ([.opening(1), .paused(false), .ready(.zero)], [.ready, .plays]),
            ([.opening(1), .ready(.zero), .paused(false), .position(.seconds(1))], [.ready, .plays]),
            (
                [.opening(1), .paused(false), .ready(.zero), .buffering(true), .buffering(false)],
                [.ready, .plays, .stalled, .plays]
            ),
            // A pause is no standstill.
            ([.opening(1), .paused(false), .ready(.zero), .paused(true), .paused(false)], [.ready, .plays, .plays]),
            ([.opening(1), .paused(false), .ready(.zero), .ended], [.ready, .plays, .stalled]),
            ([.opening(1), .failed(error)], [.failed(error)]),
            ([.opening(1), .failed(error), .ready(.zero)], [.failed(error), .ready]),
            ([.closed], [.closed]),
        ] as [([VideoEvent], [LiveStreamEvent])])
    func `events of the engine become events of the stream`(_ events: [VideoEvent], _ expected: [LiveStreamEvent]) {
        var state = LiveStreamState()
        state.open()
        #expect(events.flatMap { state.take($0) } == expected)
    }

    @Test func `only the newest stream is reported, and none that was closed`() {
        var state = LiveStreamState()
        state.open()
        #expect(state.take(.opening(1)).isEmpty && state.take(.ready(.zero)) == [.ready])
        state.open()
        #expect(state.take(.ended).isEmpty)
        #expect(state.take(.opening(2)).isEmpty && state.take(.ready(.zero)) == [.ready])
        #expect(state.take(.paused(false)) == [.plays])
        state.close()
        for event in [VideoEvent.buffering(true), .ended, .opening(2)] { #expect(state.take(event).isEmpty) }
        #expect(state.take(.closed) == [.closed])
        // That it plays is a property of the engine.
        state.open()
        #expect(state.take(.opening(3)).isEmpty && state.take(.ready(.zero)) == [.ready, .plays])
    }
}

/// Streams by their URL.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct LiveStreamNetTests {
    private func player(_ surface: PlayerSurface = .none, sound: Bool = false) throws -> LiveStreamPlayer {
        var options = LiveStreamOptions()
        (options.surface, options.hasSound) = (surface, sound)
        return try LiveStreamPlayer(options, environment: [:])
    }

    @Test func `URLs that are not of a stream are refused`() throws {
        let player = try player()
        for url in ["", "file:///etc/passwd", "/etc/passwd", "ftp://h/x", "edl://x", "lavf://http://h", "av://lavfi:x"]
        {
            #expect(throws: LectureError.self, "\(url)") { try player.open(url) }
        }
        for url in ["http://h/a b", "http://h/\n", "rtmp://h/\u{7F}"] {
            #expect { try player.open(url) } throws: { ($0 as? LectureError)?.code == .urlInvalid }
        }
        player.close()
    }

    @Test func `a window needs a display`() throws {
        for surface in [PlayerSurface.window(title: "", isFullscreen: false), .x11(1)] {
            #expect { try player(surface) } throws: { ($0 as? LectureError)?.code == .displayMissing }
        }
    }

    @Test(arguments: [true, false])
    func `without a picture, a sound device or either, the stream plays in its time`(hasSound: Bool) async throws {
        let web = try TemporaryDirectory()
        let made = try await ChildProcess.run(
            try Places.command("ffmpeg"),
            [
                "-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "-c:a", "aac", "-f", "hls", "-hls_time", "1",
                "-hls_list_size", "0", web.file("index.m3u8"),
            ])
        #expect(made.status == 0)
        let nginx = try await NginxOrigin.start(serving: web.path)
        let player = try player(sound: hasSound)
        var events = player.events.makeAsyncIterator()
        try player.open("\(nginx.http)/index.m3u8")
        player.play()
        let first = await events.next()
        let second = await events.next()
        #expect(Set([first, second]) == [.ready, .plays])
        #expect(await events.next() == .stalled)
        player.close()
    }

    @Test func `a playlist plays to its end, which is a standstill, and a playlist names no files`() async throws {
        let web = try TemporaryDirectory()
        let film = web.file("film.y4m")
        try CountedFilm.file(seconds: 4).write(to: URL(filePath: film))
        let ending = try await ChildProcess.run(
            try Places.command("ffmpeg"),
            [
                "-v", "error", "-i", film, "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "25", "-f", "hls",
                "-hls_time", "1", "-hls_list_size", "0", web.file("index.m3u8"),
            ])
        #expect(ending.status == 0)
        let segment = web.file("index0.ts")
        try web.write(
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://\(segment)\n#EXT-X-ENDLIST\n", to: "bad.m3u8")
        let nginx = try await NginxOrigin.start(serving: web.path)
        let numbers = Monitor<[Int]>([])
        let frames = PlayerFrames(width: CountedFilm.width, height: CountedFilm.height) { frame in
            numbers.withLock { $0.append(CountedFilm.number(in: frame.pixels)) }
        }
        let player = try player(.frames(frames))
        var events = player.events.makeAsyncIterator()
        try player.open("\(nginx.http)/index.m3u8")
        #expect(await events.next() == .ready)
        player.play()
        var seen: [LiveStreamEvent] = []
        while let event = await events.next() {
            seen.append(event)
            if event == .stalled, numbers.withLock({ $0.last ?? 0 }) > 90 { break }
        }
        #expect(seen.first == .plays && !seen.contains { if case .failed = $0 { true } else { false } })
        let shown = numbers.withLock { $0 }
        #expect(shown.count > 20 && shown == shown.sorted(), "\(shown)")
        try player.open("\(nginx.http)/bad.m3u8")
        var refused = await events.next()
        while refused == .stalled || refused == .plays { refused = await events.next() }
        guard case .failed = refused else {
            Issue.record("a playlist has named a file of this machine: \(String(describing: refused))")
            return
        }
        player.stop()
        player.close()
        while let event = await events.next() { #expect(event == .closed) }
    }
}
