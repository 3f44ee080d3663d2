import Foundation
import LectureLiveMedia
import LectureTestSupport
import LiveTestSupport
import Testing

extension LiveMediaNetTests {
    /// What is made of a stream: HLS, and one file.
    struct RecordingTests {
        private static func playlist(_ directory: TemporaryDirectory) throws -> String {
            try String(contentsOfFile: directory.file("index.m3u8"), encoding: .utf8)
        }

        /// Checks everything about a playlist that is complete.
        private static func check(_ directory: TemporaryDirectory) throws {
            let text = try playlist(directory)
            let lines = text.split(separator: "\n").map(String.init)
            #expect(lines.first == "#EXTM3U" && lines.last == "#EXT-X-ENDLIST", "\(text)")
            #expect(lines.contains("#EXT-X-PLAYLIST-TYPE:EVENT"))
            #expect(lines.count { $0.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:20") } >= 1)
            let segments = lines.filter { $0.hasSuffix(".m4s") }
            #expect(lines.count { $0.hasPrefix("#EXTINF:") } == segments.count && !segments.isEmpty)
            // Nothing is there that the playlist does not name: no file of a write that was not finished.
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(Set(files) == Set(segments + ["init.mp4", "index.m3u8"]))
        }

        @Test func `a stream becomes a playlist with every picture, and its end`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("packaged"))
            try await Studio.send(5, with: broadcast)
            let packager = try LivePackager(reading: server.url("packaged"), into: directory.path)
            // At every moment the playlist is whole, whatever it names is there, and each one is a file of its own.
            var numbers: Set<Int> = []
            try await Conditions.wait(for: "second segment") {
                guard let text = try? Self.playlist(directory) else { return false }
                let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("index.m3u8"))
                if let number = attributes[.systemFileNumber] as? Int { numbers.insert(number) }
                let names = text.split(separator: "\n").filter { $0.hasSuffix(".m4s") }.map(String.init) + ["init.mp4"]
                #expect(text.hasSuffix("\n") && names.count > 1, "\(text)")
                #expect(names.allSatisfy { FileManager.default.fileExists(atPath: directory.file($0)) }, "\(text)")
                return names.count > 2
            }
            #expect(try !Self.playlist(directory).contains("ENDLIST"))
            #expect(numbers.count > 1, "\(numbers)")
            await broadcast.disconnect()
            let ending = await packager.endings.firstElement()
            #expect(ending == .completed, "\(String(describing: ending))")
            try Self.check(directory)
            let sent = try FrameCounterReader(try await server.recording(of: "packaged")).read().counters
            let contents = try FrameCounterReader(directory.file("index.m3u8")).read()
            #expect(contents.counters == sent.suffix(contents.counters.count))
            #expect(contents.counters.count == packager.statistics.frames && contents.frames[0].isKeyFrame)
            #expect(contents.counters.count > 100 && contents.sounds.contains { $0.loudness > 0.25 })
            let length = contents.frames.last.map { $0.time + .milliseconds(33) } ?? .zero
            #expect(abs((packager.statistics.duration - length) / .milliseconds(1)) < 200)
            // Another program counts the same.
            let probe = try await ChildProcess.run(
                try Places.command("ffprobe"),
                ["-v", "error", "-count_packets", "-select_streams", "v", "-show_entries", "stream=nb_read_packets"]
                    + ["-of", "csv=p=0", directory.file("index.m3u8")])
            #expect(Int(probe.text.prefix { $0.isNumber }) == contents.frames.count, "\(probe.text)\(probe.errorText)")
            await packager.stop()
        }

        @Test func `a packager that is stopped leaves a complete playlist`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("stopped"))
            let packager = try LivePackager(reading: server.url("stopped"), into: directory.path)
            try await Conditions.wait(for: "pictures") { packager.statistics.frames > 45 }
            await packager.stop()
            await packager.stop()
            #expect(await packager.endings.firstElement() == .stopped)
            try Self.check(directory)
            let contents = try FrameCounterReader(directory.file("index.m3u8")).read()
            #expect(contents.counters.count == packager.statistics.frames && contents.counters.isConsecutive)
            // The broadcast does not notice.
            try await Studio.send(5, with: broadcast)
        }

        @Test func `a server that dies leaves a complete playlist`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let broadcast = try LiveBroadcast(Studio.configuration())
            try await broadcast.connect(to: server.url("cut"))
            let packager = try LivePackager(reading: server.url("cut"), into: directory.path)
            try await Conditions.wait(for: "pictures") { packager.statistics.frames > 45 }
            await server.kill()
            let ending = await packager.endings.firstElement()
            #expect(ending == .failed(.connectionLost), "\(String(describing: ending))")
            try Self.check(directory)
            #expect(try FrameCounterReader(directory.file("index.m3u8")).read().counters.isConsecutive)
        }

        @Test func `what cannot be packaged is reported`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let silent = try RawServer { $0.waitForEnd() }
            let text = try directory.write("no media", to: "text")
            let film = try await Studio.record(20, as: "film", on: server)
            let cases: [(String, String, [LiveMediaError])] = [
                (directory.file("none.flv"), directory.path, [.unreadable]), (text, directory.path, [.unreadable]),
                ("rtmp://127.0.0.1:\(try Places.freePort())/live/a", directory.path, [.noServer]),
                ("rtmp://127.0.0.1:\(silent.port)/live/a", directory.path, [.timedOut]),
                (server.url("unpublished"), directory.path, [.timedOut, .refused, .connectionLost]),
                (film, directory.file("none"), [.unwritable]),
            ]
            for (input, output, expected) in cases {
                let packager = try LivePackager(reading: input, into: output, patience: .milliseconds(800))
                let ending = await packager.endings.firstElement()
                #expect(expected.contains { .failed($0) == ending }, "\(input): \(String(describing: ending))")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["text"])
        }

        @Test func `sessions are joined, with every picture once and without the pause`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let broadcast = try LiveBroadcast(Studio.configuration())
            var inputs: [String] = []
            for name in ["one", "two", "three"] {
                try await broadcast.connect(to: server.url(name))
                try await Studio.send(35, with: broadcast)
                await broadcast.disconnect()
                inputs.append(try await server.recording(of: name))
            }
            // The second one as an HLS session.
            let packager = try LivePackager(reading: inputs[1], into: directory.path)
            #expect(await packager.endings.firstElement() == .completed)
            try Self.check(directory)
            // Its session was cut off: the playlist has no end mark.
            let text = try Self.playlist(directory).replacing("#EXT-X-ENDLIST\n", with: "")
            inputs[1] = try directory.write(text, to: "index.m3u8")
            let output = try TemporaryDirectory()
            try output.write("an older file", to: "lecture.mp4")
            let joined = try MediaJoiner.join(inputs, into: output.file("lecture.mp4"))
            let contents = try FrameCounterReader(output.file("lecture.mp4")).read()
            #expect(joined.frames == broadcast.statistics.framesSent)
            #expect(contents.counters.count == joined.frames && contents.counters.isRising)
            #expect(contents.counters == (try inputs.flatMap { try FrameCounterReader($0).read().counters }))
            let times = contents.frames.map(\.time)
            let steps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { $0 > .zero && $0 < .milliseconds(120) }, "\(steps.max() ?? .zero)")
            #expect(abs((joined.duration - .milliseconds(joined.frames * 1000 / 30)) / .milliseconds(1)) < 250)
            let sounds = contents.sounds.map(\.time)
            #expect(zip(sounds, sounds.dropFirst()).allSatisfy { $0 < $1 })
            #expect(try FileManager.default.contentsOfDirectory(atPath: output.path) == ["lecture.mp4"])
        }

        @Test func `a recording that was cut off is joined up to its last whole picture`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            let whole = try await Studio.record(40, as: "whole", on: server)
            let bytes = try Data(contentsOf: URL(filePath: whole))
            let cut = try directory.write(Array(bytes.prefix(bytes.count / 2)), to: "cut.flv")
            let joined = try MediaJoiner.join([cut, whole], into: directory.file("joined.mp4"))
            let counters = try FrameCounterReader(directory.file("joined.mp4")).read().counters
            let all = try FrameCounterReader(whole).read().counters
            let first = joined.frames - all.count
            #expect(first > 5 && first < all.count)
            #expect(counters == Array(all.prefix(first)) + all)
        }

        @Test func `what does not fit together is refused, and nothing is left`() async throws {
            let server = try await RTMPServer.start()
            let directory = try TemporaryDirectory()
            var large = Studio.configuration()
            large.width = 640
            let one = try await Studio.record(15, as: "one", on: server)
            let other = try await Studio.record(15, as: "other", on: server, large)
            let output = directory.file("joined.mp4")
            let cases: [([String], String, LiveMediaError, Int?)] = [
                ([one, other], output, .differentFormats, 1), ([one, directory.file("none")], output, .unreadable, 1),
                ([directory.file("none"), one], output, .unreadable, 0), ([], output, .invalidValue, nil),
                ([one], directory.file("none/joined.mp4"), .unwritable, nil),
            ]
            for (inputs, output, error, input) in cases {
                let failure = #expect(throws: MediaJoiner.Failure.self) { try MediaJoiner.join(inputs, into: output) }
                #expect(failure?.error == error && failure?.input == input, "\(inputs) \(String(describing: failure))")
                #expect(failure.map { "\($0)" } == "\(error)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
            #expect(throws: LiveMediaError.unreadable) { try FrameCounterReader(directory.file("none")).read() }
        }
    }
}
