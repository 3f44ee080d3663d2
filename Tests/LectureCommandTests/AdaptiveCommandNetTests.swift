import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `cat`, `path`, `export` and `--output` of adaptive lectures: the built program, with ffmpeg.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct AdaptiveCommandNetTests {
    /// A store with some lectures.
    private struct Home {
        let directory: TemporaryDirectory
        let streams: TestStreams
        let origin: NginxOrigin

        init(_ kinds: TestStreams.Kind..., options: [String] = []) async throws {
            (directory, streams) = (try TemporaryDirectory(), try await TestStreams.shared.value)
            origin = try await streams.serve()
            for kind in kinds {
                let kept = try await start(
                    ["precache", "--progress", "none", "--key", kind.rawValue] + options
                        + (kind == .subtitles ? ["--subtitles", "en"] : []) + [url(kind)]
                ).ending()
                #expect(kept.status == 0, "\(kept.errorText)")
            }
        }

        func url(_ kind: TestStreams.Kind) -> String { "\(origin.http)/\(kind)/main.m3u8" }

        func start(_ words: [String], path: String = "/usr/bin:/bin") throws -> ChildProcess {
            let environment = [
                "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                "LECTURE_DEVICE": directory.file("device"), "PATH": path,
            ]
            return try ChildProcess(BuiltProgram.url.path, words, environment: environment)
        }

        func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await start(words).ending() }

        /// The pictures of a file, without their times: a container may count in another unit.
        func pictures(_ url: String) async throws -> [String] {
            try await TestStreams.frames(url).split(separator: "\n").filter { $0.hasPrefix("0,") }
                .map { String($0.split(separator: ",").last ?? "") }
        }
    }

    @Test func `the bytes of all kinds are one stream`() async throws {
        let home = try await Home(.ts, .fmp4, .aes, .fmp4aes, .range, .audio, .discontinuity)
        let segments = try (0..<5).map { number in
            try Data(contentsOf: URL(filePath: home.streams.directory.file("ts/main\(number).ts")))
        }
        #expect(try await home("cat", "ts").output == segments.reduce(Data(), +))
        #expect(try await home("cat", "aes").output == segments.reduce(Data(), +), "decrypted")
        let parts = try (["init.mp4"] + (0..<5).map { "main\($0).m4s" }).map { name in
            // Those of fmp4aes are the encrypted ones.
            try Data(contentsOf: URL(filePath: home.streams.directory.file("fmp4/\(name)")))
        }
        for key in ["fmp4", "fmp4aes"] {
            #expect(try await home("cat", key).output == parts.reduce(Data(), +), "\(key)")
        }
        let whole = try Data(contentsOf: URL(filePath: home.streams.directory.file("range/main.ts")))
        #expect(try await home("cat", "range").output == whole)
        #expect(try await home("cat", "audio").output.first == 0x47)
        let part = try await home("cat", "ts", "--range", "0-9")
        #expect(part.status == 64 && part.errorText.contains("lecturectl export"), "\(part.errorText)")
    }

    /// How often the files of the streams were requested.
    private static func counts(_ origin: NginxOrigin, atLeast: Int) async throws -> [Int] {
        let targets = try await origin.requests(atLeast: atLeast).map(\.target)
        let files = targets.filter { $0.hasSuffix(".ts") || $0.hasSuffix(".bin") }
        return Dictionary(grouping: files, by: \.self).values.map(\.count)
    }

    @Test func `two processes with the same stream fetch each segment once, and both succeed`() async throws {
        let home = try await Home()
        let words = ["precache", "--json", "--key", "aes", home.url(.aes)]
        async let one = home.start(words).ending()
        async let two = home.start(words).ending()
        let endings = try await [one, two]
        #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.errorText))")
        // Five segments and their key.
        #expect(try await Self.counts(home.origin, atLeast: 7) == [1, 1, 1, 1, 1, 1])
        #expect(try await home("verify", "aes").status == 0)
    }

    @Test func `another process takes over the stream of a killed one`() async throws {
        let home = try await Home()
        let words = ["precache", "--json", "--key", "ts", home.url(.ts)]
        let first = try home.start(words + ["--connections", "1", "--limit-rate", "150k"])
        let media = home.directory.file("store/media")
        func kept() -> Int {
            // Not there before the first file.
            let paths = (try? FileManager.default.subpathsOfDirectory(atPath: media)) ?? []
            return paths.count { $0.hasSuffix(".ts") }
        }
        while kept() < 2, !first.hasEnded, !Task.isCancelled { await Task.yield() }
        #expect((2...4).contains(kept()), "killed in the middle")
        let second = try home.start(words)
        first.send(SIGKILL)
        _ = await first.ending()
        let ending = await second.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        let counts = try await Self.counts(home.origin, atLeast: 6)
        // Only the segment that was under way is requested again.
        #expect(counts.count == 5 && counts.count { $0 > 1 } <= 1 && counts.allSatisfy { $0 <= 2 }, "\(counts)")
        #expect(try await home("verify", "ts").status == 0)
    }

    /// A file of the encrypted stream, what the server has in its place, and how the failure begins.
    private static let wrong: [(String, String, @Sendable (Data, TestStreams) throws -> Data)] = [
        (
            "main2.ts", "1 of 6: 4.ts (its key does not decrypt its end)",
            { _, streams in
                let clear = try Data(contentsOf: URL(filePath: streams.directory.file("ts/main2.ts")))
                return Data(try SegmentEncryption.encrypted(Array(clear), key: Array("another key here".utf8)))
            }
        ),
        ("main2.ts", "1 of 6: 4.ts (its key does not decrypt its end)", { bytes, _ in bytes.dropLast(1600) }),
        ("main2.ts", "1 of 6: 4.ts (its length is no multiple of 16 bytes)", { bytes, _ in bytes.dropLast(1601) }),
        (
            "k.bin", "5 of 6: 2.ts (its key does not decrypt its end), 3.ts (its key",
            { _, _ in Data("another key here".utf8) }
        ),
    ]

    @Test(arguments: wrong.indices) func `what ffmpeg encrypted is complete when each segment can be decrypted`(
        place: Int
    ) async throws {
        let (file, cause, change) = Self.wrong[place]
        let home = try await Home(.ts)
        let (name, files) = ("aes-wrong-\(place)", FileManager.default)
        try files.copyItem(atPath: home.streams.directory.file("aes"), toPath: home.streams.directory.file(name))
        let url = URL(filePath: home.streams.directory.file("\(name)/\(file)"))
        let right = try Data(contentsOf: url)
        try change(right, home.streams).write(to: url)
        // ffmpeg has written the address of the key as the other directory's.
        let playlist = URL(filePath: home.streams.directory.file("\(name)/main.m3u8"))
        let words = ["precache", "--progress", "none", "--key", name, "\(home.origin.http)/\(name)/main.m3u8"]
        #expect(try String(contentsOf: playlist, encoding: .utf8).contains("URI=\"k.bin\""))
        let failed = try await home.start(words).ending()
        #expect(failed.status == 1 && failed.errorText.contains(cause), "\(failed.status): \(failed.errorText)")
        let why = try await home("why", name)
        #expect(why.text.contains(cause) && why.text.contains("does not have all segments"), "\(why.text)")
        #expect(try await home("cat", name).status != 0)
        try right.write(to: url)
        let mended = try await home.start(words).ending()
        #expect(mended.status == 0, "\(mended.errorText)")
        #expect(try await home("cat", name).output == home("cat", "ts").output)
        #expect(try await home("verify", name).status == 0)
    }

    @Test func `the path is a playlist that others play, and goes with the lecture`() async throws {
        let home = try await Home(.ts, .audio, .aes)
        for kind in [TestStreams.Kind.ts, .audio] {
            for _ in 0..<2 {
                let path = try await home("path", kind.rawValue).text.trimmingCharacters(in: .newlines)
                #expect(path.hasPrefix(home.directory.file("store/media/stream-")) && path.hasSuffix("/main.m3u8"))
                #expect(try await TestStreams.frames(path) == TestStreams.frames(home.url(kind)), "\(kind)")
            }
        }
        let encrypted = try await home("path", "aes")
        #expect(encrypted.status == 77 && encrypted.errorText.contains("lecturectl export"), "\(encrypted.errorText)")
        func directories() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: home.directory.file("store/media"))
                .filter { $0.hasPrefix("stream-") }
        }
        #expect(try directories().count == 2)
        // One that no version has is cleared away, those that are used stay.
        let stray = home.directory.file("store/media/stream-4711")
        try FileManager.default.createDirectory(atPath: stray, withIntermediateDirectories: true)
        try Data("#EXTM3U\n".utf8).write(to: URL(filePath: "\(stray)/main.m3u8"))
        #expect(try await home("precache", "--progress", "none", home.url(.fmp4)).status == 0)
        #expect(try directories().count == 2)
        #expect(try await home("store", "check").status == 0)
        #expect(try await home("remove", "ts", "audio").status == 0)
        #expect(try directories().isEmpty)
    }

    @Test func `an export is one file with all tracks`() async throws {
        let home = try await Home(.ts, .fmp4aes, .audio, .subtitles)
        for (kind, suffix) in [
            (TestStreams.Kind.ts, "ts"), (.fmp4aes, "mkv"), (.audio, "mp4"), (.subtitles, "mp4"), (.subtitles, "mkv"),
        ] {
            let file = home.directory.file("\(kind).\(suffix)")
            let made = try await home("--json", "export", kind.rawValue, "--output", file)
            #expect(made.status == 0, "\(made.errorText)")
            let bytes = try Data(contentsOf: URL(filePath: file)).count
            #expect(
                made.text.contains(#""event":"joined","key":"\#(kind)""#) && made.text.contains(#""bytes":\#(bytes)"#))
            #expect(try await home.pictures(file) == home.pictures(home.url(kind)), "\(kind)")
            let probe = ["-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", file]
            let tracks = try await ChildProcess.run(try Places.command("ffprobe"), probe).text
            #expect(tracks.contains("audio") && tracks.contains("subtitle") == (kind == .subtitles), "\(tracks)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: home.directory.path)
        #expect(!files.contains { $0.hasSuffix(".part") || $0.hasSuffix(".vtt") }, "\(files)")
    }

    @Test func `an export that cannot be made leaves nothing`() async throws {
        let home = try await Home(.ts, .subtitles)
        let file = try home.directory.write("mine", to: "mine.ts")
        let taken = try await home("export", "ts", "--output", file)
        #expect(taken.status == 73 && taken.errorText.contains("--force"), "\(taken.errorText)")
        #expect(try await home("export", "ts", "--output", file, "--force").status == 0)
        let other = home.directory.file("other.mkv")
        let missing = try await home.start(["--json", "export", "ts", "--output", other], path: "/nowhere").ending()
        #expect(missing.status == 78 && missing.text.contains("exporter_missing"), "\(missing.errorText)")
        // Its directory does not exist: ffmpeg's own sentence is the cause, and the URL is not in it.
        let failed = try await home("--json", "export", "ts", "--output", "/nowhere/x.mkv")
        #expect(failed.status == 74 && failed.text.contains("export_failed"), "\(failed.errorText)")
        #expect(failed.errorText.contains("No such file") && !failed.errorText.contains("127.0.0.1"))
        for words in [["ts", "--output", home.directory.file("x")], ["ts"]] {
            #expect(try await home.start(["export"] + words).ending().status == 64, "\(words)")
        }
        #expect(try await home("export", "nothing", "--output", other).status == 1)
        #expect(!FileManager.default.fileExists(atPath: other))
        let files = try FileManager.default.contentsOfDirectory(atPath: home.directory.path)
        #expect(!files.contains { $0.hasSuffix(".part") }, "\(files)")
    }

    @Test func `a sealed lecture is not exported, and has no path`() async throws {
        let home = try await Home(.ts, options: ["--seal"])
        for words in [["export", "ts", "--output", home.directory.file("x.ts")], ["path", "ts"]] {
            let refused = try await home.start(words).ending()
            #expect(
                refused.status == 77 && refused.errorText.contains("lecturectl play --with"), "\(refused.errorText)")
        }
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("x.ts")))
        let clear = try await home("cat", "ts")
        #expect(clear.output.first == 0x47 && clear.status == 0)
        let mpv = "mpv --no-config --vo=null --ao=null --end=2 --really-quiet"
        #expect(try await home("play", "ts", "--with", mpv).status == 0)
    }

    @Test func `an output path is refused with what helps`() async throws {
        let home = try await Home()
        let file = home.directory.file("out.ts")
        let kept = try await home(
            "--json", "precache", "--progress", "none", "--key", "ts", "--output", file, home.url(.ts))
        #expect(kept.text.contains("many_files") && kept.errorText.contains("lecturectl export"), "\(kept.text)")
        #expect(!FileManager.default.fileExists(atPath: file) && kept.status != 0, "\(kept.status)")
        #expect(try await home("cat", "ts").status == 0, "it is kept all the same")
    }

    @Test func `what a lost database leaves of an adaptive lecture is named, and deleted`() async throws {
        let home = try await Home(.aes)
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: home.directory.file("store"))
        where name.hasPrefix("lecturekit.db") {
            try files.removeItem(atPath: home.directory.file("store/\(name)"))
        }
        let rebuilt = try await home("store", "rebuild", "--json")
        let lines = rebuilt.text.split(separator: "\n").map { Data($0.utf8) }
        // The playlist, the key and five segments.
        #expect(rebuilt.status == 1 && lines.count == 7, "\(rebuilt.text)")
        for line in lines {
            #expect(try JSONSchema(named: "event-rebuilt").faults(in: line) == [])
            #expect(String(decoding: line, as: UTF8.self).contains(#""outcome":"stream""#))
        }
        let deleted = try await home("store", "rebuild", "--delete-unusable")
        #expect(deleted.status == 0 && deleted.errorText.contains("7 deleted"), "\(deleted.errorText)")
        #expect(deleted.errorText.contains("a part of an adaptive lecture"))
        #expect(try await home("precache", "--key", "aes", home.url(.aes)).status == 0)
        #expect(try await home("verify", "--all").status == 0)
    }
}
