import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Adaptive lectures in the library's own player.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct AdaptivePlaybackNetTests {
    /// A store with one adaptive lecture.
    private struct Screen {
        let directory: TemporaryDirectory
        let origin: NginxOrigin
        let manager: LectureManager
        let key: ContentKey

        init(
            _ name: String, seal: SealPolicy = .licensed, list: String = "main.m3u8", _ streams: TestStreams
        ) async throws {
            directory = try TemporaryDirectory()
            origin = try await streams.serve()
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            (configuration.reserveBytes, configuration.maxAttempts, configuration.seal) = (1 << 20, 1, seal)
            configuration.deviceDirectory = directory.file("device")
            manager = try LectureManager(configuration)
            var request = DownloadRequest(url: "\(origin.http)/\(name)/\(list)")
            request.key = try ContentKey(name)
            var selection = StreamSelection()
            if name == "subtitles" { selection.subtitleLanguages = ["en"] }
            request.selection = selection
            key = try await manager.downloads.enqueue(request)
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
            #expect(try await manager.contents.find(key)?.state == .completed)
        }

        func player(_ change: (inout PlayerOptions) -> Void = { _ in }) throws -> Player {
            var (engine, options) = (MpvOptions(), PlayerOptions())
            (engine.surface, engine.more) = (.none, ["ao": "null"])
            change(&options)
            return Player(manager, .lecture(key), engine: try MpvEngine(engine), options: options)
        }

        func end() async {
            await manager.close()
            await origin.stop()
        }
    }

    @Test(
        arguments: [
            ("counted-ts", SealPolicy.licensed, []), ("counted-sealed", .always, []),
            // A key picture only every eight seconds: a segment has none of its own for most places.
            ("counted-long", .licensed, ["-g", "200"]),
            // Its clock begins again in the middle.
            ("counted-cut", .licensed, []),
        ] as [(String, SealPolicy, [String])])
    func `the picture that is shown is the one of the position`(
        name: String, seal: SealPolicy, options: [String]
    ) async throws {
        let streams = try await TestStreams.shared.value
        let key = options.first == "-g" ? options : options + ["-g", "50", "-sc_threshold", "0"]
        let film = CountedFilm.file(seconds: 40)
        if name.hasSuffix("cut") {
            try await streams.add(film, as: name, cutAt: 20, end: 40)
        } else {
            try await streams.add(film, as: name, key)
        }
        try await checkJumps(in: try await Screen(name, seal: seal, streams), tracks: 1)
    }

    @Test(arguments: TestStreams.Fragments.allCases.filter { $0 != .chunks })
    func `jumps in fragments of MP4 are exact`(form: TestStreams.Fragments) async throws {
        let (streams, name) = (try await TestStreams.shared.value, "fragments-\(form.rawValue)")
        try await streams.add(CountedFilm.file(seconds: 40), as: name, form, seconds: 40)
        let seal: SealPolicy = form == .muxed || form == .single ? .always : .licensed
        try await checkJumps(in: try await Screen(name, seal: seal, list: form.list, streams), tracks: 2)
    }

    /// Jumps to and fro in a lecture of 40 seconds, and compares each picture with its place.
    private func checkJumps(in screen: Screen, tracks: Int) async throws {
        let (numbers, receive) = AsyncStream.makeStream(of: Int.self)
        var options = MpvOptions()
        options.more = ["ao": "null"]
        options.surface = .frames(
            PlayerFrames(width: CountedFilm.width, height: CountedFilm.height) { frame in
                receive.yield(CountedFilm.number(in: frame.pixels))
            })
        let engine = try MpvEngine(options, environment: [:])
        let player = Player(screen.manager, .lecture(screen.key), engine: engine)
        var (events, shown) = (player.events.makeAsyncIterator(), numbers.makeAsyncIterator())
        player.play()
        guard case .duration(let length) = await wait(&events, for: { $0.isDuration }) else { return }
        #expect(abs((length - .seconds(40)) / .milliseconds(1)) < 100, "\(length)")
        #expect(await wait(&events) { $0 == .state(.playing(.steady)) } != nil)
        player.pause()
        #expect(await wait(&events) { $0 == .state(.paused(.steady)) } != nil)
        #expect(engine.number("track-list/count") == Double(tracks))
        for target in [10_000, 33_320, 1_000, 38_960, 20, 7_960, 8_040, 19_880, 20_120] {
            player.seek(to: .milliseconds(target))
            #expect(await wait(&events) { $0 == .state(.paused(.seeking)) } != nil)
            guard case .position(let place) = await wait(&events, for: { $0.isPosition }) else { break }
            #expect(abs((place - .milliseconds(target)) / .milliseconds(1)) <= 40, "\(place) for \(target)")
            let picture = place / .seconds(1) * Double(CountedFilm.rate)
            while let number = await shown.next(), abs(Double(number) - picture) > 1 {}
            #expect(await wait(&events) { $0 == .state(.paused(.steady)) } != nil)
            guard tracks > 1, target > 1000 else { continue }
            let sound = try #require(engine.number("audio-pts"))
            // Without what the output has not played yet.
            #expect((-0.3...0.1).contains(sound - place / .seconds(1)), "\(sound) at \(place)")
        }
        player.stop()
        #expect(await player.ending() == .stopped)
        await screen.end()
    }

    @Test(arguments: [TestStreams.Kind.aes, .audio, .range, .fmp4])
    func `a part is played to its end, reported, and continued there`(kind: TestStreams.Kind) async throws {
        let screen = try await Screen(kind.rawValue, try await TestStreams.shared.value)
        let player = try screen.player { ($0.section, $0.user) = (.seconds(2) ..< .seconds(4), "kim") }
        player.setRate(2)
        player.play()
        var places: [Duration] = []
        for await event in player.events { if case .position(let place) = event { places.append(place) } }
        #expect(await player.ending() == .finished)
        #expect(places.allSatisfy { (1.6...4.5).contains($0 / .seconds(1)) } && places.count > 2, "\(places)")
        let rows = try await screen.manager.reports.list().rows
        #expect(rows.last?.user == "kim" && rows.last?.content == screen.key.text)
        let whole = try screen.player()
        whole.setRate(2)
        whole.play()
        var last: Duration = .zero
        for await event in whole.events { if case .position(let place) = event { last = place } }
        #expect(await whole.ending() == .finished && last > .seconds(8), "\(last)")
        #expect(try await screen.manager.contents.details(of: screen.key)?.resumePoint == .zero)
        let stopped = try screen.player { $0.start = .seconds(6) }
        stopped.play()
        for await event in stopped.events {
            if case .position(let place) = event, place > .milliseconds(6500) { stopped.stop() }
        }
        #expect(await stopped.ending() == .stopped)
        let point = try #require(try await screen.manager.contents.details(of: screen.key)?.resumePoint)
        #expect(abs((point - .milliseconds(6500)) / .milliseconds(1)) < 1500, "\(point)")
        await screen.end()
    }

    /// They have no joined file: docs/adaptive-play.md.
    @Test(arguments: [nil, .chunks] as [TestStreams.Fragments?])
    func `fragments of MP4 that cannot be joined are played to the end`(form: TestStreams.Fragments?) async throws {
        let streams = try await TestStreams.shared.value
        if let form { try await streams.add(CountedFilm.file(seconds: 12), as: "chunks", form, seconds: 12) }
        let screen = try await Screen(form?.rawValue ?? "fmp4aes", list: form?.list ?? "main.m3u8", streams)
        let player = try screen.player()
        player.setRate(2)
        player.play()
        var last: Duration = .zero
        for await event in player.events { if case .position(let place) = event { last = place } }
        #expect(await player.ending() == .finished && last > .seconds(8), "\(last)")
        await screen.end()
    }

    @Test func `subtitles of a rendition are shown`() async throws {
        let screen = try await Screen("subtitles", try await TestStreams.shared.value)
        let kept = try await screen.manager.contents.subtitles(of: screen.key)
        #expect(kept.map(\.language) == ["en"] && kept.map(\.name) == ["English"])
        let player = try screen.player { $0.subtitleLanguage = "en" }
        player.setRate(4)
        player.play()
        var captions: [String] = []
        for await event in player.events {
            if case .caption(let text) = event, !text.isEmpty { captions.append(text) }
        }
        #expect(await player.ending() == .finished && captions == ["Hello", "World"], "\(captions)")
        await screen.end()
    }

    @Test(arguments: [("ts", ".ts"), ("fmp4", ".m4s")])
    func `damage is the end with its reason`(kind: String, suffix: String) async throws {
        let screen = try await Screen(kind, try await TestStreams.shared.value)
        let media = screen.directory.file("store/media")
        let names = try FileManager.default.subpathsOfDirectory(atPath: media).filter { $0.hasSuffix(suffix) }.sorted()
        #expect(names.count == 5)
        // All but the first, which is read when it is opened.
        for name in names.dropFirst() {
            let file = URL(filePath: "\(media)/\(name)")
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
        }
        let player = try screen.player()
        player.play()
        for await _ in player.events {}
        #expect(await player.ending() == .failed(LectureError(.damaged)))
        await screen.end()
    }
}

extension PlayerEvent {
    fileprivate var isPosition: Bool { if case .position = self { true } else { false } }
    fileprivate var isDuration: Bool { if case .duration = self { true } else { false } }
}
