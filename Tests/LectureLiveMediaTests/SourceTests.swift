import Foundation
import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

extension LiveMediaNetTests {
    /// Files and screens as sources.
    struct SourceTests {
        @Test func `a file is sent once, picture by picture, with its sound`() async throws {
            let server = try await RTMPServer.start()
            let file = try await Studio.record(60, as: "original", on: server)
            let original = try FrameCounterReader(file).read()
            var configuration = Studio.configuration(.file(file, loops: false))
            configuration.videoBitrate = 1_500_000
            let broadcast = try LiveBroadcast(configuration)
            try await broadcast.connect(to: server.url("again"))
            #expect(await broadcast.events.firstElement() == .sourceEnded)
            await broadcast.disconnect()
            let sent = try FrameCounterReader(try await server.recording(of: "again")).read()
            // Connecting takes some pictures.
            #expect(sent.counters == original.counters.suffix(sent.counters.count))
            #expect(sent.counters.count > 30 && sent.counters.count == broadcast.statistics.framesSent)
            #expect(broadcast.statistics.framesMade == original.frames.count)
            #expect(sent.sounds.contains { $0.loudness > 0.25 } && sent.sounds.contains { $0.loudness > 0.03 })
        }

        @Test func `a file that loops begins again without a gap`() async throws {
            let server = try await RTMPServer.start()
            let file = try await Studio.record(20, as: "loop", on: server)
            let original = try FrameCounterReader(file).read().counters
            let broadcast = try LiveBroadcast(Studio.configuration(.file(file, loops: true)))
            try await broadcast.connect(to: server.url("looped"))
            try await Studio.send(3 * original.count, with: broadcast)
            await broadcast.disconnect()
            let contents = try FrameCounterReader(try await server.recording(of: "looped")).read()
            #expect(contents.counters.count == broadcast.statistics.framesSent)
            let start = try #require(contents.counters.first)
            let offset = try #require(original.firstIndex(of: start))
            let expected = contents.counters.indices.map { original[(offset + $0) % original.count] }
            #expect(contents.counters == expected)
            // The sound goes on as well: no silence longer than the joint of a loop.
            let silences = contents.sounds.dropFirst(3).split { $0.loudness > 0.01 }.map(\.count)
            #expect(silences.allSatisfy { $0 < 8 }, "\(silences)")
        }

        @Test func `a screen of another shape is sent with black edges`() async throws {
            let server = try await RTMPServer.start()
            let display = try ChildProcess.display("320x320", "-wr")
            let number = try await display.firstLine()
            let broadcast = try LiveBroadcast(Studio.configuration(.screen(":\(number)")))
            try await broadcast.connect(to: server.url("screen"))
            try await Studio.send(40, with: broadcast)
            await broadcast.disconnect()
            let contents = try FrameCounterReader(try await server.recording(of: "screen")).read()
            #expect(contents.frames.count == broadcast.statistics.framesSent && contents.counters.isEmpty)
            let last = try #require(contents.frames.last)
            // A white square of 180 lines in the middle: columns 2 to 5.
            #expect(last.columns[2...5].allSatisfy { $0 > 200 }, "\(last)")
            #expect((last.columns[...0] + last.columns[7...]).allSatisfy { $0 < 30 }, "\(last)")
            #expect(contents.sounds.dropFirst(3).allSatisfy { $0.loudness < 0.001 })
            await display.terminate()
            #expect(await broadcast.events.firstElement() == .sourceFailed)
        }
    }
}

/// What is refused before anything is sent.
struct BroadcastValueTests {
    @Test func `sources that are not there are refused`() throws {
        let directory = try TemporaryDirectory()
        let text = try directory.write("no media", to: "text.mp4")
        let sources: [BroadcastSource] = [
            .file(directory.file("none.mp4"), loops: false), .file(text, loops: true), .screen(":65535"),
            .camera(directory.file("video0")), .camera("/dev/null"),
        ]
        for source in sources {
            #expect(throws: BroadcastError.sourceUnavailable, "\(source)") {
                try LiveBroadcast(Studio.configuration(source))
            }
        }
    }

    @Test func `a microphone that is not there is said as such, and a screen without one is sent`() async throws {
        let display = try ChildProcess.display("320x320")
        let name = ":\(try await display.firstLine())"
        #expect(throws: BroadcastError.microphoneUnavailable) {
            try LiveBroadcast(Studio.configuration(.screen(name, microphone: "no-such-device")))
        }
        // The camera is opened first: what is missing is named.
        #expect(throws: BroadcastError.sourceUnavailable) {
            try LiveBroadcast(Studio.configuration(.camera("/dev/null", microphone: "no-such-device")))
        }
        try LiveBroadcast(Studio.configuration(.screen(name))).close()
        await display.terminate()
    }

    @Test func `values outside their bounds are refused, the bounds are not`() throws {
        func isValid(_ change: (inout BroadcastConfiguration) -> Void) -> Bool {
            var configuration = Studio.configuration()
            change(&configuration)
            do throws(BroadcastError) {
                try LiveBroadcast(configuration).close()
                return true
            } catch {
                #expect(error == .invalidValue)
                return false
            }
        }
        #expect(isValid { _ in })
        let ints: [(WritableKeyPath<BroadcastConfiguration, Int>, valid: [Int], invalid: [Int])] = [
            (\.width, [176, 640], [174, 321, 0, -2, .max]), (\.height, [96, 360], [94, 181, 0, .min]),
            (\.framesPerSecond, [1, 120], [0, 121, -1, .max]), (\.videoBitrate, [10_000, 200_000_000], [9_999, .max]),
            (\.audioBitrate, [32_000, 256_000], [7_999, 512_001, .min]),
            (\.sampleRate, [8_000, 48_000], [7_999, 96_001]),
        ]
        for (path, valid, invalid) in ints {
            for value in valid { #expect(isValid { $0[keyPath: path] = value }, "\(path) \(value)") }
            for value in invalid { #expect(!isValid { $0[keyPath: path] = value }, "\(path) \(value)") }
        }
        for interval in [0, -1, .nan, .infinity, 1e12] {
            #expect(!isValid { $0.keyFrameInterval = interval }, "\(interval)")
        }
        for duration in [Duration.zero, .seconds(-1)] {
            #expect(!isValid { $0.writeDeadline = duration } && !isValid { $0.queueLimit = duration })
        }
        #expect(isValid { $0.writeDeadline = .seconds(Int64.max) })
        for speed in EncodingSpeed.allCases { #expect(isValid { $0.speed = speed }, "\(speed)") }
    }

    @Test func `every error has its own sentence, and says whether to try again`() {
        let sentences = BroadcastError.allCases.map { "\($0)" } + LiveMediaError.allCases.map { "\($0)" }
        #expect(Set(sentences).count == sentences.count)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") && $0.first?.isUppercase == true })
        let transient = BroadcastError.allCases.filter(\.isTransient)
        #expect(transient == [.noServer, .busy, .timedOut, .connectionLost, .noResources])
    }
}
