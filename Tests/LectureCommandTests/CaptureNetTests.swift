import Foundation
import Glibc
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureCommand

/// Live streams, captured by the built program from a real server.
@Suite(.serialized, .timeLimit(.minutes(3))) struct CaptureNetTests {
    /// A server with a directory whose files change, and a store.
    private struct Site {
        let directory: TemporaryDirectory
        let origin: NginxOrigin

        init() async throws {
            directory = try TemporaryDirectory()
            try FileManager.default.createDirectory(
                atPath: directory.file("live"), withIntermediateDirectories: true)
            origin = try await NginxOrigin.start(serving: directory.file("live"))
        }

        var url: String { "\(origin.http)/main.m3u8" }

        func run(_ words: String...) async throws -> ChildProcess.Ending { try await start(words).ending() }

        func start(_ words: String...) throws -> ChildProcess { try start(words) }

        private func start(_ words: [String]) throws -> ChildProcess {
            let environment = [
                "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                "LECTURE_DEVICE": directory.file("device"), "PATH": "/usr/bin:/bin",
            ]
            return try ChildProcess(BuiltProgram.url.path, words, environment: environment)
        }

        /// Lists some of the film's five segments, and has only them.
        func list(_ numbers: ClosedRange<Int>, isLast: Bool = false) async throws {
            let film = try await TestStreams.shared.value.directory.file("ts")
            let live = directory.file("live")
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
            for number in 0..<5 {
                let name = "main\(number).ts"
                try? FileManager.default.removeItem(atPath: "\(live)/\(name)")
                guard numbers.contains(number) else { continue }
                try FileManager.default.copyItem(atPath: "\(film)/\(name)", toPath: "\(live)/\(name)")
                text += "#EXTINF:2,\n\(name)\n"
            }
            try Data((text + (isLast ? "#EXT-X-ENDLIST\n" : "")).utf8)
                .write(to: URL(filePath: "\(live)/main.m3u8"), options: .atomic)
        }
    }

    @Test func `what ffmpeg broadcasts is kept, frame by frame`() async throws {
        let site = try await Site()
        let film = try await TestStreams.shared.value.directory.file("film.mp4")
        let broadcast = try ChildProcess(
            try Places.command("ffmpeg"),
            ["-nostdin", "-v", "error", "-readrate", "0.5", "-i", film, "-c", "copy", "-f", "hls", "-hls_time", "2"]
                + ["-hls_list_size", "3", "-hls_flags", "delete_segments", "main.m3u8"],
            directory: site.directory.file("live"))
        try await waitUntil { FileManager.default.fileExists(atPath: site.directory.file("live/main.m3u8")) }
        let refused = try await site.run("precache", "--key", "refused", site.url)
        #expect(refused.status == 1 && refused.errorText.contains("--capture URL"), "\(refused.errorText)")
        let captured = try await site.run("precache", "--key", "k", "--capture", site.url)
        #expect(captured.status == 0, "\(captured.errorText)")
        #expect(await broadcast.ending().status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: site.directory.file("live"))
        #expect(!left.contains("main0.ts"), "it has left the server: \(left)")
        let joined = try await site.run("export", "k", "--output", site.directory.file("k.mkv"))
        #expect(joined.status == 0, "\(joined.errorText)")
        let source = try await TestStreams.shared.value.directory.file("ts/main.m3u8")
        let kept = try await Self.digests(site.directory.file("k.mkv"))
        #expect(try await kept.pictures == Self.digests(source).pictures && kept.pictures.count == 250)
        #expect(try await kept.sound == Self.digests(source).sound)
        let sound = try await site.run("verify", "--all")
        #expect(sound.status == 0 && sound.errorText.contains("1 sound"), "\(sound.errorText)")
    }

    /// The digests of the frames; their times depend on the container.
    private static func digests(_ url: String) async throws -> (pictures: [String], sound: [String]) {
        let frames = try await TestStreams.frames(url).split(separator: "\n").map { line in
            line.split(separator: ",").map { $0.filter { $0 != " " } }
        }
        func digests(_ stream: String) -> [String] { frames.filter { $0.first == stream }.compactMap(\.last) }
        return (digests("0"), digests("1"))
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `a run that ends is continued by the next one, with a gap that can be accepted`(signal: Int32) async throws {
        let site = try await Site()
        try await site.list(0...1)
        let outline = try await site.run("precache", "-n", "--capture", site.url)
        #expect(outline.text.contains("live:") && outline.text.contains("2 segments in 2 files"), "\(outline.text)")
        let first = try site.start("precache", "--key", "k", "--capture", site.url)
        while try await site.run("list", "--json").text.contains(#""chunks_proven":3"#) == false {}
        first.send(signal)
        #expect(await first.ending().status == 128 + signal)
        try await site.list(3...4, isLast: true)
        let second = try await site.run("precache", "--key", "k", "--capture", site.url)
        #expect(second.status == 1 && second.errorText.contains("1 gap of 1 segment: 0:00:04–0:00:06"))
        let third = try await site.run("precache", "--key", "k", "--capture", "--allow-gaps", site.url)
        #expect(third.status == 0, "\(third.errorText)")
        let why = try await site.run("why", "k")
        #expect(why.text.contains("captured while it went on, with 1 gap of 1 segment"), "\(why.text)")
        let requests = try await site.origin.requests()
        #expect(requests.count { $0.target.hasSuffix(".ts") } == 4, "nothing came twice")
        // The server has another broadcast by now.
        try await site.list(0...1)
        let checked = try await site.run("precache", "--key", "k", "--check", "head", site.url)
        #expect(checked.status == 0, "\(checked.errorText)")
        #expect(try await site.origin.requests().count == requests.count)
        let joined = try await site.run("export", "k", "--output", site.directory.file("k.ts"), "--format", "ts")
        #expect(joined.status == 0, "\(joined.errorText)")
        let source = try await TestStreams.shared.value.directory.file("ts/main.m3u8")
        // Five segments of fifty pictures, without the third.
        let frames = try await Self.digests(source).pictures
        let kept = try await Self.digests(site.directory.file("k.ts")).pictures
        #expect(kept == Array(frames[..<100] + frames[150...]) && frames.count == 250)
    }

    @Test func `a stream is played while it is captured, and what comes is shown`() async throws {
        let site = try await Site()
        try await site.list(0...1)
        let capture = try site.start("precache", "--key", "k", "--capture", "8s", site.url)
        while try await site.run("list", "--json").text.contains(#""chunks_proven":3"#) == false {}
        var configuration = LectureConfiguration(storeDirectory: site.directory.file("store"))
        configuration.deviceDirectory = site.directory.file("device")
        let manager = try LectureManager(configuration)
        let play = try await manager.licences.beginPlay(try ContentKey("k"))
        func names() async throws -> [String] {
            try await play.playlist("main.m3u8")?.split(separator: "\n").map(String.init) ?? []
        }
        let before = try await names()
        #expect(before.contains("2.ts") && before.contains("#EXT-X-PLAYLIST-TYPE:EVENT") && !before.contains("3.ts"))
        try await site.list(1...3)
        #expect(await capture.ending().status == 0, "eight seconds")
        let after = try await names()
        #expect(after.contains("4.ts") && after.contains("#EXT-X-ENDLIST") && !after.contains("#EXT-X-GAP"))
        try await play.end()
        await manager.close()
    }

    @Test func `segments are decrypted by the numbers that they had, behind gaps and a server that begins anew`()
        async throws
    {
        let site = try await Site()
        let film = try await TestStreams.shared.value.directory.file("ts")
        let live = site.directory.file("live")
        try Data(TestStreams.key).write(to: URL(filePath: "\(live)/k.bin"))
        let key = TestStreams.key.map { String($0, radix: 16) }.joined()
        /// Encrypts segments of the film under numbers, and lists only them.
        func list(_ numbers: [Int: Int], isLast: Bool = false) async throws {
            let first = numbers.keys.min() ?? 0
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"k.bin\"\n"
            for (number, segment) in numbers.sorted(by: { $0.key < $1.key }) {
                let digits = String(number, radix: 16)
                let vector = String(repeating: "0", count: 32 - digits.count) + digits
                let name = "s\(segment)-\(number).ts"
                let words = ["-in", "\(film)/main\(segment).ts", "-out", "\(live)/\(name)"]
                let made = try await ChildProcess.run(
                    try Places.command("openssl"), ["enc", "-aes-128-cbc", "-K", key, "-iv", vector] + words)
                #expect(made.status == 0)
                text += "#EXTINF:2,\n\(name)\n"
            }
            try Data((text + (isLast ? "#EXT-X-ENDLIST\n" : "")).utf8)
                .write(to: URL(filePath: "\(live)/main.m3u8"), options: .atomic)
        }
        func wait(for name: String) async throws {
            while try await !site.origin.requests().contains(where: { $0.target == "/\(name)" }) {}
        }
        try await list([300: 0, 301: 1])
        let capture = try site.start("precache", "--key", "k", "--capture", "--allow-gaps", site.url)
        try await wait(for: "s1-301.ts")
        try await list([303: 2])
        try await wait(for: "s2-303.ts")
        try await list([0: 3, 1: 4], isLast: true)
        #expect(await capture.ending().status == 0)
        let bytes = try await site.run("cat", "k").output
        var clear = Data()
        for segment in 0..<5 { clear += try Data(contentsOf: URL(filePath: "\(film)/main\(segment).ts")) }
        #expect(bytes == clear)
        let why = try await site.run("why", "k")
        #expect(why.text.contains("2 gaps of 2 segments: 0:00:04–0:00:06, 0:00:08–0:00:10"), "\(why.text)")
    }

    @Test func `a duration may follow the option, and a source may not be taken for one`() throws {
        func parse(_ words: String...) throws -> (StreamSelection.Capture?, [String]) {
            let command = try ArgumentParser.parse(["precache"] + words, environment: [:])
            return (command.streamSelection?.capture, command.arguments)
        }
        #expect(try parse("--capture", "a.m3u8") == (.untilEnd, ["a.m3u8"]))
        #expect(try parse("--capture", "1h30m", "a.m3u8") == (.duration(.seconds(5400)), ["a.m3u8"]))
        #expect(try parse("a.m3u8", "--capture=10s") == (.duration(.seconds(10)), ["a.m3u8"]))
        #expect(try parse("a.m3u8", "--capture") == (.untilEnd, ["a.m3u8"]))
        #expect(try parse("a.m3u8") == (nil, ["a.m3u8"]))
        #expect(throws: UsageError.self) { _ = try parse("a.m3u8", "--capture=soon") }
        for capture in [StreamSelection.Capture.untilEnd, .duration(.seconds(90))] {
            var selection = StreamSelection()
            selection.capture = capture
            #expect(try StreamSelection(stored: selection.text) == selection && !selection.isDefault)
            #expect(selection.hasStreams(of: StreamSelection()))
        }
    }
}
