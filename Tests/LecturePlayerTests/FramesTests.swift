import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Pictures in memory.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FramesTests {
    /// What was received.
    private final class Received: Sendable {
        private let state = Monitor<[PlayerFrame]>([])

        var frames: [PlayerFrame] { state.withLock(\.self) }

        func add(_ frame: PlayerFrame) { state.change { $0.append(frame) } }
    }

    @Test func `pictures come in memory, without a display, with their watermark`() async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        try gateway.describe("plain", more: "")
        try gateway.describe("marked", more: #","watermark":{"text":"kim 4711","alpha":100,"font_size":60}"#)
        var last: [PlayerFrame] = []
        for name in ["plain", "marked"] {
            try await cinema.manager.downloads.enqueue(DownloadRequest(url: gateway.link(name)))
            #expect(try await cinema.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            let received = Received()
            var options = MpvOptions()
            options.surface = .frames(PlayerFrames(width: 320, height: 180) { received.add($0) })
            options.more["ao"] = "null"
            let engine = try MpvEngine(options, environment: [:])
            let player = Player(cinema.manager, .lecture(try ContentKey(name)), engine: engine)
            player.play()
            for await event in player.events {
                if case .position(let place) = event, place > .seconds(2) { player.stop() }
            }
            let ending = await player.ending()
            #expect(ending == .stopped, "\(ending)")
            let frames = received.frames
            #expect(frames.allSatisfy { $0.width == 320 && $0.height == 180 && $0.pixels.count == 320 * 180 * 4 })
            #expect(frames.count > 3, "\(frames.count)")
            last.append(try #require(frames.last))
        }
        // Not one colour; and the watermark is the difference.
        #expect(Set(last[0].pixels).count > 8)
        let changed = zip(last[0].pixels, last[1].pixels).count { $0 != $1 }
        #expect(changed > 500, "\(changed)")
        await gateway.server.stop()
        await cinema.end()
    }

    @Test(arguments: [SealPolicy.always, .never])
    func `the picture that is shown is the one of the position`(seal: SealPolicy) async throws {
        let cinema = try await Cinema(seal: seal)
        let web = try TemporaryDirectory()
        try CountedFilm.file(seconds: 60).write(to: URL(filePath: web.file("counted.y4m")))
        let nginx = try await NginxOrigin.start(serving: web.path)
        var request = DownloadRequest(url: "\(nginx.http)/counted.y4m")
        request.key = try ContentKey("counted")
        try await cinema.manager.downloads.enqueue(request)
        #expect(try await cinema.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let (numbers, receive) = AsyncStream.makeStream(of: Int.self)
        var options = MpvOptions()
        options.surface = .frames(
            PlayerFrames(width: CountedFilm.width, height: CountedFilm.height) { frame in
                receive.yield(CountedFilm.number(in: frame.pixels))
            })
        let player = Player(
            cinema.manager, .lecture(try ContentKey("counted")), engine: try MpvEngine(options, environment: [:]))
        var (events, shown) = (player.events.makeAsyncIterator(), numbers.makeAsyncIterator())
        player.play()
        #expect(await wait(&events) { $0 == .state(.playing(.steady)) } != nil)
        player.pause()
        #expect(await wait(&events) { $0 == .state(.paused(.steady)) } != nil)
        for target in [10_000, 33_320, 1_000, 59_000, 20] {
            player.seek(to: .milliseconds(target))
            #expect(await wait(&events) { $0 == .state(.paused(.seeking)) } != nil)
            guard case .position(let place) = await wait(&events, for: { $0.isPosition }) else { break }
            #expect(abs((place - .milliseconds(target)) / .milliseconds(1)) <= 40, "\(place)")
            // Pictures that were due before the jump may still come.
            let picture = place / .seconds(1) * Double(CountedFilm.rate)
            while let number = await shown.next(), abs(Double(number) - picture) > 1 {}
            #expect(await wait(&events) { $0 == .state(.paused(.steady)) } != nil)
        }
        player.stop()
        #expect(await player.ending() == .stopped)
        await nginx.stop()
        await cinema.end()
    }

    @Test func `sizes are those that a picture can have`() {
        let frames = PlayerFrames(width: -4, height: .max) { _ in }
        #expect((frames.width, frames.height) == (1, PlayerFrames.largest))
    }
}

extension PlayerEvent {
    fileprivate var isPosition: Bool { if case .position = self { true } else { false } }
}
