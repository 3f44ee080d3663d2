import Foundation
import LectureKit
import LectureModel
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureCommand

/// The options of adaptive lectures: what they accept, what is shown before anything is kept, and what is kept.
@Suite(.serialized, .timeLimit(.minutes(2))) struct StreamOptionNetTests {
    /// A server with a lecture of two sizes and two languages.
    private struct Site {
        let directory: TemporaryDirectory
        let origin: NginxOrigin

        init() async throws {
            directory = try TemporaryDirectory()
            let media = directory.file("media")
            try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: true)
            for (name, bytes) in [("low", 20_000), ("high", 90_000), ("ko", 9_000), ("en", 9_000), ("text", 300)] {
                var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
                for segment in 0..<10 {
                    text += "#EXTINF:6,\n\(name)-\(segment).ts\n"
                    let content = (0..<bytes + segment).map { UInt8(truncatingIfNeeded: $0 * 7) }
                    try Data(content).write(to: URL(filePath: "\(media)/\(name)-\(segment).ts"))
                }
                try Data((text + "#EXT-X-ENDLIST\n").utf8).write(to: URL(filePath: "\(media)/\(name).m3u8"))
            }
            let master = """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=YES,URI="ko.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en-US",URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Korean",LANGUAGE="ko",URI="text.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1600000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
                high.m3u8

                """
            try Data(master.utf8).write(to: URL(filePath: "\(media)/master.m3u8"))
            try FileManager.default.createDirectory(atPath: "\(media)/i", withIntermediateDirectories: true)
            var options = NginxOrigin.Options()
            options.directives = """
                types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
                default_type application/vnd.lecturekit.descriptor+json;
                rewrite ^/watch$ /master.m3u8 redirect;
                rewrite ^/film$ /low-0.ts redirect;
                """
            origin = try await NginxOrigin.start(serving: media, options)
            for (name, media) in [
                ("i/week-1", #"{"playlist":"\#(origin.http)/master.m3u8"}"#),
                ("i/week-2", #"{"url":"\#(origin.http)/low-0.ts"}"#),
            ] {
                try Data(#"{"version":1,"title":"Week","downloadable":true,"media":\#(media)}"#.utf8)
                    .write(to: URL(filePath: "\(directory.file("media"))/\(name)"))
            }
        }

        var url: String { "\(origin.http)/master.m3u8" }

        func run(_ words: String...) async throws -> ChildProcess.Ending {
            let environment = [
                "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                "LECTURE_DEVICE": directory.file("device"), "PATH": "/usr/bin:/bin",
            ]
            return try await ChildProcess(BuiltProgram.url.path, words, environment: environment).ending()
        }

        func record() async throws -> Record {
            try JSONDecoder().decode(Record.self, from: try await run("list", "--json").output)
        }
    }

    /// A line of `list --json`.
    private struct Record: Decodable {
        let type: String
        let bytes: Int
        // swift-format-ignore: AlwaysUseLowerCamelCase
        let chunks_total: Int
    }

    @Test func `a dry run shows variants, languages, segments and size, and keeps nothing`() async throws {
        let site = try await Site()
        let shown = try await site.run("precache", "-n", "--max-height", "480", site.url)
        #expect(shown.status == 0, "\(shown.errorText)")
        for line in [
            "* variant 1: 640x360, 400 kbit/s", "  variant 2: 1280x720, 1.6 Mbit/s", "audio: ko, en-US",
            "subtitles: ko", "20 segments in 20 files, ", "about 2.86 MiB",
        ] {
            #expect(shown.text.contains(line), "\(line): \(shown.text)")
        }
        let lines = try Line.all(try await site.run("precache", "-n", "--json", site.url).text)
        #expect(lines.map(\.event) == ["planned", "streams", "plan"])
        let refused = try await site.run("precache", "-n", "--variant", "3", site.url)
        #expect(refused.status == 65 && refused.errorText.contains("there is no variant 3 of 2"))
        #expect(refused.text.contains("  variant 1: 640x360") && !refused.text.contains("*"), "what there is")
        #expect(!FileManager.default.fileExists(atPath: site.directory.file("store")))
    }

    @Test(arguments: ["i/week-1", "watch"])
    func `a dry run of a link that leads to a playlist shows what is behind it`(link: String) async throws {
        let site = try await Site()
        let url = "\(site.origin.http)/\(link)"
        let direct = try await site.run("precache", "-n", "--max-height", "480", "--audio", "ko", site.url)
        let shown = try await site.run("precache", "-n", "--max-height", "480", "--audio", "ko", url)
        func streams(_ ending: ChildProcess.Ending) -> [Substring] {
            ending.text.split(separator: "\n").filter { $0.hasPrefix("\t") }
        }
        #expect(shown.status == 0 && streams(shown) == streams(direct), "\(shown.text)\(shown.errorText)")
        #expect(streams(shown).contains { $0.hasSuffix("* variant 1: 640x360, 400 kbit/s") }, "\(shown.text)")
        let lines = try Line.all(try await site.run("precache", "-n", "--json", "--check", "head", url).text)
        #expect(lines.map(\.event) == ["planned", "streams", "plan"])
        let refused = try await site.run("precache", "-n", "--variant", "3", url)
        #expect(refused.status == 65 && refused.errorText.contains("there is no variant 3 of 2"))
        // Without asking nothing is known.
        let unasked = try await site.run("precache", "-n", "--check", "never", "--max-height", "480", url)
        #expect(unasked.status == 0 && streams(unasked) == [], "\(unasked.text)")
        #expect(!FileManager.default.fileExists(atPath: site.directory.file("store")))
        // It is kept as shown.
        let kept = try await site.run("precache", "--max-height", "480", "--audio", "ko", url)
        #expect(kept.status == 0, "\(kept.errorText)")
        #expect(try await site.record().type == "adaptiveDownload")
        #expect(streams(try await site.run("precache", "-n", url)) == [], "it is complete")
    }

    @Test(arguments: ["i/week-2", "film", "i/week-9", "high-3.ts"])
    func `a dry run of a link that leads to a file, or nowhere, shows no streams`(link: String) async throws {
        let site = try await Site()
        let url = "\(site.origin.http)/\(link)"
        let lines = try Line.all(try await site.run("precache", "-n", "--json", url).text)
        #expect(lines.map(\.event) == ["planned", "plan"])
        #expect(try await site.run("precache", "-n", "--check", "head", url).status == 0)
    }

    @Test func `what the options select is kept, and every file is in the record`() async throws {
        let site = try await Site()
        let kept = try await site.run(
            "precache", "--json", "--key", "k", "--max-bandwidth", "1M", "--audio", "en,ko", "--subtitles", "all",
            site.url)
        #expect(kept.status == 0, "\(kept.errorText)")
        // 10 segments of four streams, and the playlists.
        let bytes = [20_000, 9_000, 9_000, 300].reduce(0) { $0 + 10 * $1 + 45 }
        let record = try await site.record()
        #expect(record.type == "adaptiveDownload" && record.bytes > bytes && record.bytes < bytes + 5_000)
        #expect(record.chunks_total == 45)
        let sound = try await site.run("verify", "--all")
        #expect(sound.status == 0 && sound.errorText.contains("1 sound"), "\(sound.errorText)")
        // The other size replaces it.
        let other = try await site.run("precache", "--key", "k", "--variant", "best", "--audio", "ko", site.url)
        #expect(other.status == 0, "\(other.errorText)")
        #expect(try await site.record().bytes > 10 * 99_000)
        let removed = try await site.run("remove", "k")
        #expect(removed.status == 0)
        let media = site.directory.file("store/media")
        let left = FileManager.default.enumerator(atPath: media)?.compactMap { $0 as? String } ?? []
        #expect(left.filter { $0.hasSuffix(".ts") || $0.hasSuffix(".m3u8") } == [], "\(left)")
    }

    @Test(arguments: [
        ("--variant", "middle"), ("--variant", "0"), ("--max-height", "0"), ("--max-height", "x"),
        ("--max-bandwidth", "fast"), ("--max-bandwidth", "0"), ("--max-bandwidth", "1.5"), ("--max-bandwidth", "1.M"),
    ])
    func `an unusable value is refused before anything starts`(option: String, value: String) {
        #expect(throws: UsageError.self) {
            try ArgumentParser.parse(["precache", option, value, "https://h.example/m.m3u8"], environment: [:])
        }
    }

    @Test func `values become a selection, and none of them selects nothing`() throws {
        func selection(_ words: [String]) throws -> StreamSelection? {
            try ArgumentParser.parse(["precache"] + words + ["https://h.example/m.m3u8"], environment: [:])
                .streamSelection
        }
        #expect(try selection([]) == nil)
        let all = try #require(
            try selection([
                "--variant", "worst", "--max-height", "720", "--max-bandwidth", "1.5M", "--audio", "ko, en-US,",
                "--subtitles", "all", "--allow-gaps",
            ]))
        #expect(all.variant == .worst && all.maxHeight == 720 && all.maxBandwidth == 1_500_000)
        #expect(all.audioLanguages == ["ko", "en-US"] && all.subtitleLanguages == ["all"] && all.allowsGaps)
        #expect(try selection(["--variant", "7"])?.variant == .number(7))
        #expect(try selection(["--allow-gaps"])?.hasStreams(of: StreamSelection()) == true)
        let rates = [("800000", 800_000), ("800K", 800_000), ("2m", 2_000_000), ("0.25G", 250_000_000)]
        for (text, bits) in rates { #expect(BitRate.bits(text) == bits, "\(text)") }
    }
}
