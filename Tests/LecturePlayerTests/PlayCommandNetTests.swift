import Foundation
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

/// `lecturectl play`: the built program, with libmpv, on a display of its own.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct PlayCommandNetTests {
    /// A store with a film.
    private struct Home {
        let directory: TemporaryDirectory
        let sandbox: SandboxOrigin
        var environment: [String: String] {
            [
                "HOME": directory.path, "LECTURE_STORE": directory.file("store"), "LECTURE_RESERVE": "1M",
                "LECTURE_DEVICE": directory.file("device"), "PATH": "/usr/bin:/bin",
            ]
        }

        init(seal: String = "--seal") async throws {
            (directory, sandbox) = (try TemporaryDirectory(), try await SandboxOrigin.start(["--no-https"]))
            let url = "\(sandbox.http)/media/durable-on-the-disk.mp4"
            let ending = try await self("precache", "--progress", "none", seal, "--key", "film", url)
            #expect(ending.status == 0, "\(ending.errorText)")
        }

        func start(_ words: [String], display: String? = nil) throws -> ChildProcess {
            var environment = environment
            (environment["DISPLAY"], environment["WAYLAND_DISPLAY"]) = (display ?? "", "")
            return try ChildProcess(BuiltProgram.url.path, words, environment: environment)
        }

        func callAsFunction(_ words: String...) async throws -> ChildProcess.Ending { try await start(words).ending() }
    }

    /// A line of `--json`.
    private struct Line: Decodable, Equatable {
        let event: String
        let state: String
        let activity: String?
        let ending: String?
        let intro: Bool?
        let positionMs: Int
        let speedPercent: Int

        static func all(_ output: Data) -> [Line] {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return output.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(Line.self, from: $0) }
        }
    }

    private static func shows(_ test: @escaping @Sendable (Line) -> Bool) -> @Sendable (Data) -> Bool {
        { output in Line.all(output).contains(where: test) }
    }

    @Test func `a section plays to its end, and the next play continues there`() async throws {
        let home = try await Home()
        let first = try await home(
            "--json", "play", "film", "--no-video", "--audio-output", "null", "--section", "0:02-4", "--speed", "2")
        #expect(first.status == 0, "\(first.errorText)")
        let lines = Line.all(first.output)
        #expect(lines.last?.ending == "finished")
        let playing = lines.filter { $0.state == "playing" }
        #expect(playing.allSatisfy { (1900...4200).contains($0.positionMs) && $0.activity == "steady" }, "\(playing)")
        #expect(playing.allSatisfy { $0.speedPercent == 200 }, "\(playing)")
        let rows = try await home("--json", "lms", "list")
        #expect(rows.text.contains(#""key":"film""#))
        await home.sandbox.stop()
    }

    @Test func `a signal ends a play, which the next one continues`() async throws {
        let home = try await Home()
        let first = try home.start(["--json", "play", "film", "--no-video", "--audio-output", "null", "--start", "20"])
        _ = try await first.wait(for: .output, until: Self.shows { $0.state == "playing" && $0.positionMs > 21_500 })
        first.send(SIGTERM)
        #expect(await first.ending().status == 128 + SIGTERM)
        let next = try home.start(["--json", "play", "film", "--no-video", "--audio-output", "null"])
        let output = try await next.wait(for: .output, until: Self.shows { $0.state == "playing" })
        let place = try #require(Line.all(output).first { $0.state == "playing" }?.positionMs)
        #expect((21_000...26_000).contains(place), "\(place)")
        next.send(SIGINT)
        #expect(await next.ending().status == 128 + SIGINT)
        await home.sandbox.stop()
    }

    @Test func `a killed play is reported to within two seconds, and the next one continues there`() async throws {
        let home = try await Home()
        try Tone.file(seconds: 60).write(to: URL(filePath: home.directory.file("tone.wav")))
        let nginx = try await NginxOrigin.start(serving: home.directory.path)
        let kept = try await home("precache", "--progress", "none", "--key", "tone", "\(nginx.http)/tone.wav")
        #expect(kept.status == 0, "\(kept.errorText)")
        for round in 1...3 {
            let playing = try home.start([
                "--json", "play", "tone", "--no-video", "--audio-output", "null", "--start", "\(round * 10)", "--user",
                "kim",
            ])
            let isThere = Self.shows { $0.state == "playing" && $0.positionMs > round * 10_000 + 3500 }
            _ = try await playing.wait(for: .output, until: isThere)
            playing.send(SIGKILL)
            let output = await playing.ending().output
            let watched = try #require(Line.all(output).last).positionMs - round * 10_000

            // Any program that registers at the store makes the last report.
            var configuration = LectureConfiguration(storeDirectory: home.directory.file("store"))
            (configuration.reserveBytes, configuration.deviceDirectory) = (1 << 20, home.directory.file("device"))
            let manager = try LectureManager(configuration)
            _ = try await manager.reports.send()
            let rows = try await manager.reports.list().rows
            let last = try #require(rows.last)
            struct Values: Decodable {
                struct Facts: Decodable { let playtime: Int }
                let facts: Facts
                let status: String

                private enum CodingKeys: String, CodingKey {
                    case facts = "content_info"
                    case status = "PLAY_STATUS"
                }
            }
            let values = try JSONDecoder().decode(Values.self, from: Data(last.values.utf8))
            #expect(last.user == "kim" && Set(rows.map(\.session)).count == round)
            #expect(values.status == "stop")
            #expect(abs(values.facts.playtime * 1000 - watched) <= 2000, "\(values), \(watched)")
            let details = try #require(try await manager.contents.details(of: try ContentKey("tone")))
            let point = Int(details.resumePoint.milliseconds)
            #expect(abs(point - round * 10_000 - watched) <= 2000, "\(point), \(watched)")
            await manager.close()
        }
        await nginx.stop()
        await home.sandbox.stop()
    }

    @Test func `a URL plays the kept lecture, or else a stream of which nothing is registered`() async throws {
        let home = try await Home()
        let media = "\(home.sandbox.http)/media"
        for (words, isStream) in [
            (["\(media)/durable-on-the-disk.mp4"], false), (["\(media)/durable-on-the-disk.mp4", "--stream"], true),
            (["\(media)/ranges-and-resuming.mp4"], true),
        ] {
            let before = try await home.sandbox.requests().count
            let options = ["--no-video", "--audio-output", "null", "--section", "1-2"]
            let ending = try await home.start(["--json", "play"] + words + options).ending()
            #expect(ending.status == 0, "\(words): \(ending.errorText)")
            #expect(Line.all(ending.output).last?.ending == "finished")
            #expect((try await home.sandbox.requests().count > before) == isStream, "\(words)")
        }
        let list = try await home("--json", "list")
        #expect(list.text.split(separator: "\n").count == 1)
        // Also where nothing was ever downloaded.
        let fresh = try await home.start(
            ["play", "--store", home.directory.file("fresh"), "\(media)/durable-on-the-disk.mp4"]
                + ["--no-video", "--audio-output", "null", "--section", "1-2"]
        ).ending()
        #expect(fresh.status == 0, "\(fresh.errorText)")
        let folder = try await home("play", "kollus://list?folder=a", "--no-video")
        #expect(folder.status == 64, "\(folder.errorText)")
        let key = try await home("play", "film", "--stream", "--no-video")
        #expect(key.status == 64, "\(key.errorText)")
        await home.sandbox.stop()
    }

    @Test(arguments: ["--seal", "--no-seal"])
    func `a window shows the lecture, and obeys its keys`(seal: String) async throws {
        let home = try await Home(seal: seal)
        let screen = try ChildProcess.display("640x480")
        let display = ":" + (try await screen.firstLine())
        let playing = try home.start(
            ["--json", "play", "film", "--fullscreen", "--audio-output", "null"], display: display)
        _ = try await playing.wait(for: .output, until: Self.shows { $0.state == "playing" && $0.positionMs > 1000 })
        let picture = try await ChildProcess.run("/usr/bin/xwd", ["-root", "-silent", "-display", display])
        // Slides with text: light and dark, not one colour as the screen was.
        #expect(picture.status == 0 && Set(picture.output.dropFirst(4000)).count > 40)
        func press(_ key: String) async throws {
            let environment = ["DISPLAY": display]
            let pressed = try await ChildProcess.run("/usr/bin/xdotool", ["key", key], environment: environment)
            #expect(pressed.status == 0, "\(pressed.errorText)")
        }
        try await press("space")
        _ = try await playing.wait(for: .output, until: Self.shows { $0.state == "paused" })
        try await press("q")
        let ending = await playing.ending()
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(Line.all(ending.output).last?.ending == "stopped")
        _ = await screen.terminate()
        await home.sandbox.stop()
    }

    @Test func `Enter in the window skips an intro`() async throws {
        let home = try await Home()
        let gateway = try await FilmGateway(home.sandbox)
        let intro = #"{"url":"\#(home.sandbox.http)/media/ranges-and-resuming.mp4","skip_after":0}"#
        try gateway.describe("introduced", more: #","playback":{"intro":\#(intro)}"#)
        let screen = try ChildProcess.display("640x480")
        let display = ":" + (try await screen.firstLine())
        let words = ["--json", "play", gateway.link("introduced"), "--fullscreen", "--audio-output", "null"]
        let playing = try home.start(words, display: display)
        _ = try await playing.wait(for: .output, until: Self.shows { $0.intro == true && $0.positionMs > 1000 })
        let pressed = try await ChildProcess.run(
            "/usr/bin/xdotool", ["key", "Return"], environment: ["DISPLAY": display])
        #expect(pressed.status == 0, "\(pressed.errorText)")
        _ = try await playing.wait(
            for: .output, until: Self.shows { $0.intro == nil && $0.state == "playing" && $0.activity == "steady" })
        playing.send(SIGTERM)
        #expect(await playing.ending().status == 128 + SIGTERM)
        _ = await screen.terminate()
        await gateway.server.stop()
        await home.sandbox.stop()
    }

    @Test func `subtitles are in the picture`() async throws {
        let home = try await Home()
        let screen = try ChildProcess.display("640x480")
        let display = ":" + (try await screen.firstLine())
        let file = try home.directory.write("1\n00:00:00,000 --> 00:01:00,000\nMMMMMMMM MMMMMMMM\n", to: "words.srt")
        var pictures: [Data] = []
        for words in [[], ["--subtitles", file]] {
            let options = ["--fullscreen", "--audio-output", "null", "--start", "3"] + words
            let playing = try home.start(["--json", "play", "film"] + options, display: display)
            let isThere = Self.shows { $0.state == "playing" && $0.positionMs > 3500 }
            _ = try await playing.wait(for: .output, until: isThere)
            let picture = try await ChildProcess.run("/usr/bin/xwd", ["-root", "-silent", "-display", display])
            pictures.append(picture.output.suffix(640 * 480 * 4))
            playing.send(SIGTERM)
            _ = await playing.ending()
        }
        // A slide stays for some seconds; the words are at its lower edge.
        let (without, with) = (pictures[0].suffix(640 * 160 * 4), pictures[1].suffix(640 * 160 * 4))
        let changed = zip(without, with).count { $0 != $1 }
        #expect(changed > 4000, "\(changed) bytes of the lower third differ")
        let missing = try await home.start(["play", "film", "--subtitles", "/nowhere.srt"], display: display).ending()
        #expect(missing.status == 74 && missing.errorText.contains("/nowhere.srt"), "\(missing.errorText)")
        _ = await screen.terminate()
        await home.sandbox.stop()
    }

    @Test(arguments: ["--seal", "--no-seal"])
    func `the lecture's own subtitles and its watermark are in the picture`(seal: String) async throws {
        let home = try await Home(seal: seal)
        // The sandbox's subtitles begin at once; a watermark needs a descriptor of its own.
        let gateway = try await FilmGateway(home.sandbox)
        let mark = #","watermark":{"text":"kim 4711","alpha":100,"font_size":60}"#
        for (key, watermark) in [("plain", ""), ("marked", mark)] {
            try gateway.describe(key, more: watermark)
            let kept = try await home("precache", "--progress", "none", seal, gateway.link(key))
            #expect(kept.status == 0, "\(kept.errorText)")
        }
        let screen = try ChildProcess.display("640x480")
        let display = ":" + (try await screen.firstLine())
        func picture(_ key: String, _ words: [String] = []) async throws -> Data {
            let options = ["--fullscreen", "--audio-output", "null", "--start", "1"] + words
            let playing = try home.start(["--json", "play", key] + options, display: display)
            let isThere = Self.shows { $0.state == "playing" && $0.positionMs > 2000 }
            _ = try await playing.wait(for: .output, until: isThere)
            let picture = try await ChildProcess.run("/usr/bin/xwd", ["-root", "-silent", "-display", display])
            playing.send(SIGTERM)
            _ = await playing.ending()
            return picture.output.suffix(640 * 480 * 4)
        }
        func changed(_ one: Data, _ other: Data) -> Int { zip(one, other).count { $0 != $1 } }
        let (plain, again) = (try await picture("plain"), try await picture("plain"))
        // The same slide, some frames earlier or later.
        let noise = changed(plain, again)
        let spoken = try await picture("plain", ["--subtitle-language", "en"])
        #expect(changed(plain.suffix(640 * 160 * 4), spoken.suffix(640 * 160 * 4)) > noise + 4000)
        let marked = try await picture("marked")
        #expect(changed(plain.prefix(640 * 160 * 4), marked.prefix(640 * 160 * 4)) > noise + 4000)
        _ = await screen.terminate()
        await gateway.server.stop()
        await home.sandbox.stop()
    }

    @Test func `a display that does not answer ends with a sentence`() async throws {
        let home = try await Home()
        let ending = try await home.start(["play", "film"], display: ":4711").ending()
        #expect(ending.status == 69, "\(ending.errorText)")
        #expect(ending.errorText.contains("there is no display for a window"))
        await home.sandbox.stop()
    }

    @Test func `what is played is nowhere on the disk in clear`() async throws {
        let home = try await Home()
        let playing = try home.start(["--json", "play", "film", "--no-video", "--audio-output", "null"])
        _ = try await playing.wait(for: .output, until: Self.shows { $0.state == "playing" && $0.positionMs > 1000 })
        // Part of the film's index, which every MP4 has.
        let clear = try await ChildProcess.run(
            "/bin/grep", ["-rlaE", "ftypisom|moov.*mvhd", home.directory.path])
        #expect(clear.status == 1, "\(clear.text)")
        playing.send(SIGTERM)
        _ = await playing.ending()
        await home.sandbox.stop()
    }
}
