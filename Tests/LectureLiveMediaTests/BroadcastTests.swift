import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

extension LiveMediaNetTests {
    struct BroadcastTests {
        @Test func `every picture arrives, once and in order`() async throws {
            let server = try await RTMPServer.start()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("whole?mode=CMAF"))
            try await Studio.send(150, with: broadcast)
            #expect(broadcast.statistics.isConnected && broadcast.statistics.sinceLastSent != nil)
            await broadcast.disconnect()
            let statistics = broadcast.statistics
            let contents = try FrameCounterReader(try await server.recording(of: "whole")).read()
            #expect(contents.frames.count == statistics.framesSent)
            #expect(contents.counters.count == statistics.framesSent)
            #expect(contents.counters.isConsecutive)
            #expect(contents.frames[0].isKeyFrame)
            #expect(contents.frames.count(where: \.isKeyFrame) == statistics.keyFramesSent)
            #expect(statistics.framesEncoded == statistics.framesSent && statistics.framesDropped == 0)
            #expect(statistics.soundsDropped == 0)
            #expect(!statistics.isConnected && statistics.sinceLastSent == nil && statistics.lastError == nil)
            // Thirty a second, whatever the machine does meanwhile: times are those of the source.
            let times = contents.frames.map(\.time)
            let steps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { $0 > .milliseconds(32) && $0 < .milliseconds(35) }, "\(steps.max() ?? .zero)")
            // The beep at each full second, and the tone in between.
            let loud = contents.sounds.filter { $0.loudness > 0.25 }
            let quiet = contents.sounds.filter { (0.03..<0.12).contains($0.loudness) }
            #expect(loud.count > 10 && quiet.count > 5 * loud.count, "\(loud.count) \(quiet.count)")
            #expect(contents.sounds.count >= statistics.soundsSent - 1)
        }

        @Test func `a picture that is being encoded at an orderly end is sent`() async throws {
            let server = try await RTMPServer.start()
            var configuration = Studio.configuration()
            // So many and so large that the encoder never rests.
            (configuration.width, configuration.height, configuration.framesPerSecond) = (1280, 720, 120)
            let broadcast = try LiveBroadcast(configuration)
            for connection in 1...8 {
                try await broadcast.connect(to: server.url("end\(connection)"))
                try await Studio.send(5, with: broadcast)
                await broadcast.disconnect()
                let statistics = broadcast.statistics
                #expect(statistics.framesEncoded == statistics.framesSent)
                #expect(statistics.framesDropped == 0 && statistics.soundsDropped == 0)
            }
            broadcast.close()
        }

        @Test func `it reconnects with the same source and encoders`() async throws {
            let server = try await RTMPServer.start()
            let broadcast = try LiveBroadcast(Studio.configuration())
            var counters: [[Int]] = []
            for name in ["first", "second"] {
                try await broadcast.connect(to: server.url(name))
                #expect(throws: BroadcastError.alreadyConnected) { try broadcast.connect(to: server.url(name)) }
                try await Studio.send(40, with: broadcast)
                await broadcast.disconnect()
                await broadcast.disconnect()
                let contents = try FrameCounterReader(try await server.recording(of: name)).read()
                #expect(contents.counters.isConsecutive && contents.frames.first?.isKeyFrame == true)
                #expect(contents.frames.first.map { $0.time < .milliseconds(100) } == true)
                counters.append(contents.counters)
            }
            #expect(counters.joined().count == broadcast.statistics.framesSent)
            #expect(counters.flatMap(\.self).isRising)
            broadcast.close()
            broadcast.close()
            #expect(throws: BroadcastError.closed) { try broadcast.connect(to: server.url("third")) }
            #expect(await broadcast.events.firstElement() == nil)
        }

        @Test func `the bitrate changes in flight, and a key frame comes on request`() async throws {
            let server = try await RTMPServer.start()
            var configuration = Studio.configuration()
            configuration.videoBitrate = 2_000_000
            configuration.keyFrameInterval = 600
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: server.url("rates"))
            // The encoder needs some pictures to follow; then bytes are counted for a second of media.
            var bytes: [Int] = []
            for rate in [2_000_000, 250_000, 1_500_000] {
                try broadcast.setVideoBitrate(rate)
                #expect(broadcast.statistics.videoBitrate == rate)
                try await Studio.send(30, with: broadcast)
                let before = broadcast.statistics
                try await Studio.send(30, with: broadcast)
                let after = broadcast.statistics
                bytes.append((after.bytesSent - before.bytesSent) / (after.framesSent - before.framesSent))
            }
            #expect(bytes[0] > 3 * bytes[1] && bytes[2] > 2 * bytes[1], "\(bytes)")
            #expect(broadcast.statistics.keyFramesSent == 1)
            broadcast.requestKeyFrame()
            try await Conditions.wait(for: "key frame") { broadcast.statistics.keyFramesSent == 2 }
            await broadcast.disconnect()
            let frames = try FrameCounterReader(try await server.recording(of: "rates")).read().frames
            #expect(frames.count(where: \.isKeyFrame) == 2)
            #expect(throws: BroadcastError.invalidValue) { try broadcast.setVideoBitrate(9_999) }
            #expect(throws: BroadcastError.invalidValue) { try broadcast.setVideoBitrate(.max) }
        }

        @Test func `effects are seen in the pictures, one after another`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let image = try directory.write(
                Array("P6 32 18 255\n".utf8) + [UInt8](repeating: 255, count: 32 * 18 * 3), to: "white.ppm")
            let broadcast = try LiveBroadcast(Studio.configuration())
            let steps: [(Look, () throws -> Void)] = [
                (.plain, {}),
                (.mirrored, { broadcast.setMirrored(true) }),
                (.plain, { broadcast.setMirrored(false) }),
                (.zoomed, { try broadcast.setZoom(2) }),
                (.black, { broadcast.muteVideo(true) }),
                (.zoomed, { broadcast.muteVideo(false) }),
                (.plain, { try broadcast.setZoom(1) }),
                (.white, { try broadcast.showImage(image) }),
                (.plain, { broadcast.hideImage() }),
                (.inset, { try broadcast.showInset(.testPicture) }),
                (.plain, { broadcast.hideInset() }),
            ]
            try await broadcast.connect(to: server.url("effects"))
            for (_, step) in steps {
                try step()
                try await Studio.send(12, with: broadcast)
            }
            await broadcast.disconnect()
            let contents = try FrameCounterReader(try await server.recording(of: "effects")).read()
            #expect(Look.sequence(contents.frames) == steps.map(\.0))
            // The number is readable exactly where the top of the picture is shown.
            for frame in contents.frames {
                let look = Look(frame)
                #expect((frame.counter != nil) == [.plain, .mirrored, .inset].contains(look), "\(frame)")
                #expect(frame.isMirrored == (look == .mirrored), "\(frame)")
            }
            #expect(contents.counters.isRising)
            #expect(contents.frames.count == broadcast.statistics.framesSent)
            for zoom in [0.99, 16.1, -.infinity, .nan] {
                #expect(throws: BroadcastError.invalidValue) { try broadcast.setZoom(zoom) }
            }
            #expect(throws: BroadcastError.unreadableImage) { try broadcast.showImage(directory.file("none.png")) }
            #expect(throws: BroadcastError.sourceUnavailable) {
                try broadcast.showInset(.file(directory.file("none.mp4"), loops: true))
            }
        }

        @Test func `sound is muted and comes back`() async throws {
            let server = try await RTMPServer.start()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("sound"))
            for isMuted in [false, true, false] {
                broadcast.muteAudio(isMuted)
                try await Studio.send(25, with: broadcast)
            }
            await broadcast.disconnect()
            let sounds = try FrameCounterReader(try await server.recording(of: "sound")).read().sounds
            // Without the first, in which the decoder has no sound yet.
            let runs = sounds.dropFirst(3).map { $0.loudness > 0.01 }.reduce(into: [(Bool, Int)]()) { runs, isLoud in
                if runs.last?.0 == isLoud { runs[runs.count - 1].1 += 1 } else { runs.append((isLoud, 1)) }
            }
            #expect(runs.map(\.0) == [true, false, true], "\(runs)")
            #expect(runs.allSatisfy { $0.1 > 20 }, "\(runs)")
        }
    }
}
