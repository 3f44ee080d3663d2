import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// The rules of a gateway, a second subtitle and intros, with libmpv and real servers.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct PlaybackNetTests {
    /// Keeps a lecture of a gateway.
    private static func keep(_ key: String, of gateway: FilmGateway, in cinema: Cinema) async throws -> ContentKey {
        try await cinema.manager.downloads.enqueue(DownloadRequest(url: gateway.link(key)))
        #expect(try await cinema.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        return try ContentKey(key)
    }

    @Test func `two subtitles are shown at once`() async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        try gateway.describe("two", more: "")
        let key = try await Self.keep("two", of: gateway, in: cinema)
        let player = try cinema.player(of: .lecture(key)) {
            ($0.subtitleLanguage, $0.secondSubtitleLanguage) = ("en", "ko")
        }
        player.play()
        var (first, second) = (false, false)
        for await event in player.events {
            if event == .caption("MMMMMMMM MMMMMMMM") { first = true }
            if event == .secondCaption("WWWWWWWW WWWWWWWW") { second = true }
            if first, second { player.stop() }
        }
        #expect(await player.ending() == .stopped && first && second)
        await gateway.server.stop()
        await cinema.end()
    }

    /// In EUC-KR, as old subtitles are.
    private static let korean: [UInt8] = [
        0xBE, 0xC8, 0xB3, 0xE7, 0xC7, 0xCF, 0xBC, 0xBC, 0xBF, 0xE4, 0x2E, 0x20, 0xBF, 0xC0, 0xB4, 0xC3, 0x20, 0xB0,
        0xAD, 0xC0, 0xC7, 0xB8, 0xA6, 0x20, 0xBD, 0xC3, 0xC0, 0xDB, 0xC7, 0xD5, 0xB4, 0xCF, 0xB4, 0xD9, 0x2E,
    ]

    @Test(arguments: ["old.srt", "old.smi", "new.smi"])
    func `subtitles of any form and character set are captions`(name: String) async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        let text = "안녕하세요. 오늘 강의를 시작합니다."
        let words = name == "new.smi" ? Array(text.utf8) : Self.korean
        let file =
            name.hasSuffix("srt")
            ? Array("1\n00:00:00,000 --> 00:01:00,000\n".utf8) + words + Array("\n".utf8)
            : Array("<SAMI><BODY><SYNC Start=0><P Class=KRCC>".utf8) + words
                + Array("<SYNC Start=60000><P Class=KRCC>&nbsp;</BODY></SAMI>\n".utf8)
        try Data(file).write(to: URL(filePath: gateway.directory.file(name)))
        try gateway.describe("old", subtitles: [("ko-KR", name)], more: "")
        let key = try await Self.keep("old", of: gateway, in: cinema)
        let player = try cinema.player(of: .lecture(key)) { $0.subtitleLanguage = "ko" }
        player.play()
        var captions: [String] = []
        for await event in player.events {
            if case .caption(let caption) = event { captions.append(caption) }
            if captions.contains(text) { player.stop() }
        }
        #expect(await player.ending() == .stopped, "\(captions)")
        await gateway.server.stop()
        await cinema.end()
    }

    @Test func `a kept lecture is played as its gateway permits`() async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        let rules = #"{"seekable":false,"disable_playrate":true,"limit":{"duration":2,"message":"A preview."}}"#
        try gateway.describe("ruled", more: #","playback":\#(rules)"#)
        let key = try await Self.keep("ruled", of: gateway, in: cinema)
        let player = try cinema.player(of: .lecture(key)) { $0.start = .seconds(10) }
        player.setRate(4)
        player.play()
        var farthest: Duration = .zero
        var (rates, isRuled): ([Double], Bool) = ([], false)
        for await event in player.events {
            switch event {
            case .position(let place):
                if place > .zero, farthest == .zero { player.seek(to: .seconds(20)) }
                farthest = max(farthest, place)
            case .rate(let rate): rates.append(rate)
            case .outline(let outline): isRuled = outline.playback.seeking == .none && outline.playback.hasFixedRate
            default: break
            }
        }
        guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
        #expect(error.code == .playLimitReached && error.message.contains("A preview."))
        #expect(isRuled && farthest < .seconds(4) && Set(rates) == [1], "\(farthest) \(rates)")
        await gateway.server.stop()
        await cinema.end()
    }

    @Test func `a position beyond the end starts over`() async throws {
        let cinema = try await Cinema()
        try await cinema.manager.contents.setResumePoint(.seconds(5000), of: cinema.key)
        let player = try cinema.player()
        player.play()
        var place: Duration?
        for await event in player.events {
            if case .position(let found) = event, place == nil {
                place = found
                player.stop()
            }
        }
        #expect(await player.ending() == .stopped)
        #expect(try #require(place) < .seconds(2))
        await cinema.end()
    }

    @Test func `a part is repeated until it is not`() async throws {
        let cinema = try await Cinema()
        let player = try cinema.player { $0.start = .seconds(2) }
        player.setRepeat(.seconds(2) ..< .seconds(3))
        player.setRate(4)
        player.play()
        var (jumps, last) = (0, Duration.zero)
        for await case .position(let place) in player.events {
            if place < last - .milliseconds(500) { jumps += 1 }
            last = place
            if jumps < 3 { #expect(place < .milliseconds(3500), "\(place)") } else { player.setRepeat(nil) }
            if place > .seconds(5) { player.stop() }
        }
        // The request to play on may come after the next jump.
        #expect(await player.ending() == .stopped && jumps >= 3, "\(jumps)")
        await cinema.end()
    }

    @Test func `a stream whose media changes on its server ends, and does not mix the two`() async throws {
        let cinema = try await Cinema()
        let web = try TemporaryDirectory()
        let tone = Tone.file(seconds: 60)
        try tone.write(to: URL(filePath: web.file("tone.wav")))
        var options = NginxOrigin.Options()
        // Half a minute is read ahead.
        options.bytesPerSecond = 3_000_000
        let nginx = try await NginxOrigin.start(serving: web.path, options)
        let player = try cinema.player(of: .stream("\(nginx.http)/tone.wav"))
        player.play()
        var hasChanged = false
        for await case .position(let place) in player.events where place >= .seconds(1) && !hasChanged {
            hasChanged = true
            try tone.dropLast(1000).write(to: URL(filePath: web.file("tone.wav")))
            player.setRate(10)
        }
        guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
        #expect(error.code == .versionUnstable, "\(error.message)")
        await nginx.stop()
        await cinema.end()
    }

    /// A stream whose gateway has an intro of three seconds, longer than the section that is played.
    private static func introduced(
        _ gateway: FilmGateway, _ cinema: Cinema, intro: String? = nil, skip: Int? = nil
    ) throws -> Player {
        try Tone.file(seconds: 3).write(to: URL(filePath: gateway.directory.file("intro.wav")))
        let url = intro ?? "\(gateway.server.http)/intro.wav"
        let rule = #"{"url":"\#(url)"\#(skip.map { #","skip_after":\#($0)"# } ?? "")}"#
        let lms = #","lms":[{"url":"\#(gateway.server.http)/lms","method":"POST","values":{"data":"{JSON_DATA}"}}]"#
        try gateway.describe("introduced", more: #","playback":{"intro":\#(rule)}\#(lms)"#)
        return try cinema.player(of: .stream(gateway.link("introduced"))) { $0.section = .zero ..< .seconds(2) }
    }

    @Test func `an intro is played before a stream, and is not counted as watched`() async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        let player = try Self.introduced(gateway, cinema)
        player.play()
        var (intros, opened): ([Bool?], [String]) = ([], [])
        var states: [PlayerState] = []
        var farthest: Duration = .zero
        for await event in player.events {
            if case .position(let place) = event, intros.count == 1 { farthest = max(farthest, place) }
            if case .intro(let isSkippable) = event { intros.append(isSkippable) }
            if case .opened(let key, _) = event { opened.append(key.text) }
            if case .state(let state) = event { states.append(state) }
            if case .trouble(let error) = event { Issue.record("\(error.message)") }
        }
        #expect(await player.ending() == .finished, "\(states)")
        #expect(intros == [false, nil] && opened == ["introduced"])
        // Beyond the section, which ends at 2 s and is not the intro's: positions are reported a few times a second.
        #expect(farthest > .milliseconds(2200), "\(farthest)")
        let first: [PlayerState] = [.preparing, .prepared, .playing(.steady), .playing(.buffering)]
        #expect(Array(states.prefix(4)) == first, "\(states)")
        let rows = try await cinema.manager.reports.list().rows
        #expect(Set(rows.map(\.session)).count == 1)
        let played = rows.compactMap { $0.values.firstMatch(of: /"playtime[\\]*":([0-9]+)/).flatMap { Int($0.1) } }
        #expect((1...2).contains(try #require(played.max())), "\(played)")
        await gateway.server.stop()
        await cinema.end()
    }

    @Test func `an intro is skipped when that is permitted, and one that cannot be opened is left out`() async throws {
        let cinema = try await Cinema()
        let gateway = try await FilmGateway(cinema.sandbox)
        let player = try Self.introduced(gateway, cinema, skip: 1)
        player.play()
        var places: [Duration] = []
        var isIntro = false
        for await event in player.events {
            if case .intro(let isSkippable) = event {
                isIntro = isSkippable != nil
                if isSkippable == true { player.skipIntro() }
            }
            if case .position(let place) = event, isIntro { places.append(place) }
        }
        #expect(await player.ending() == .finished)
        #expect(try #require(places.max()) < .milliseconds(1900), "\(places)")
        let without = try Self.introduced(gateway, cinema, intro: "\(gateway.server.http)/nothing.wav")
        without.play()
        var warnings: [LectureError.Code] = []
        for await event in without.events { if case .trouble(let error) = event { warnings.append(error.code) } }
        #expect(await without.ending() == .finished)
        #expect(warnings == [.status(404)])
        await gateway.server.stop()
        await cinema.end()
    }
}
