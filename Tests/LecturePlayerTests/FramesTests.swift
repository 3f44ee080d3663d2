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

    @Test func `sizes are those that a picture can have`() {
        let frames = PlayerFrames(width: -4, height: .max) { _ in }
        #expect((frames.width, frames.height) == (1, PlayerFrames.largest))
    }
}
