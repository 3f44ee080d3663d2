import Foundation
import LectureKit
import LectureTestSupport
import Testing

@testable import LecturePlayer

/// Lectures that are really played: kept by the real library, sealed and licensed, decoded by libmpv.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct PlayerNetTests {
    @Test func `a lecture plays to its end, and the next play starts over`() async throws {
        let cinema = try await Cinema()
        let player = try cinema.player()
        player.setRate(10)
        player.play()
        var states: [PlayerState] = []
        var length: Duration?
        for await event in player.events {
            if case .state(let state) = event { states.append(state) }
            if case .duration(let found) = event {
                // Before the first picture: the report of the play has it.
                #expect(!states.contains(.prepared))
                length = found
            }
        }
        #expect(await player.ending() == .finished)
        #expect(states.prefix(2) == [.preparing, .prepared])
        #expect(states.contains(.playing(.steady)) && states.last == .stopped(.finished))
        #expect(try #require(length) > .seconds(5))
        #expect(try await cinema.resumePoint == .zero)
        await cinema.end()
    }

    @Test func `a prepared play counts nothing, and one that starts counts once, however it jumps`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let cinema = try await Cinema(policy)
        let player = try cinema.player()
        var events = player.events.makeAsyncIterator()
        player.prepare()
        #expect(await wait(&events) { $0 == .state(.prepared) } != nil)
        #expect(try await cinema.countLeft == 2)
        player.play()
        #expect(await wait(&events) { $0 == .state(.playing(.steady)) } != nil)
        #expect(try await cinema.countLeft == 1)
        for second in [6, 1, 4] {
            player.seek(to: .seconds(second))
            #expect(await wait(&events) { $0 == .state(.playing(.seeking)) } != nil)
            let arrived = await wait(&events) { if case .position = $0 { true } else { false } }
            guard case .position(let place) = arrived else { throw LectureError(.closing) }
            #expect(abs((place - .seconds(second)) / .seconds(1)) < 0.5, "\(place)")
            #expect(await wait(&events) { $0 == .state(.playing(.steady)) } != nil)
        }
        player.stop()
        #expect(await player.ending() == .stopped)
        #expect(try await cinema.countLeft == 1)
        // It was left four seconds in, or a little later.
        let left = try #require(try await cinema.resumePoint)
        #expect((.milliseconds(3900) ... .seconds(8)).contains(left), "\(left)")
        await cinema.end()
    }

    @Test func `each pause is reported, also one that follows at once`() async throws {
        var options = MpvOptions()
        (options.surface, options.more) = (.none, ["ao": "null"])
        let engine = try MpvEngine(options)
        for _ in 0..<50 {
            engine.setPaused(false)
            engine.setPaused(true)
        }
        engine.close()
        var reported: [Bool] = []
        for await case .paused(let isPaused) in engine.events { reported.append(isPaused) }
        // An answer to each, and what libmpv itself reported.
        #expect(reported.count >= 100 && reported.last == true, "\(reported)")
    }

    @Test func `a licence that ends while it plays stops the play`() async throws {
        var policy = CallbackPolicy()
        policy.expirationDate = Int64(Date().timeIntervalSince1970) + 4
        let cinema = try await Cinema(policy)
        let player = try cinema.player()
        player.play()
        let ending = await player.ending()
        let late = Date().timeIntervalSince1970 - Double(policy.expirationDate ?? 0)
        #expect(ending == .failed(LectureError(.licenceExpired)))
        #expect((-0.5...2).contains(late), "\(late) s after the end")
        #expect(try await cinema.resumePoint ?? .zero > .zero)
        let next = try cinema.player()
        next.play()
        #expect(await next.ending() == .failed(LectureError(.licenceExpired)))
        await cinema.end()
    }

    @Test func `play time that is used up stops the play`() async throws {
        var policy = CallbackPolicy()
        (policy.expirationPlaytime, policy.expirationPlaytimeType) = (60, 0)
        let cinema = try await Cinema(policy)
        let before = try await cinema.manager.licences.beginPlay(cinema.key, counting: .reported)
        try await before.watched(media: .seconds(57), running: .seconds(57))
        try await before.end()
        #expect(try await cinema.manager.licences.status(of: cinema.key)?.playTimeLeft == .seconds(3))
        let player = try cinema.player()
        player.play()
        #expect(await player.ending() == .failed(LectureError(.playTimeUsedUp)))
        #expect(try await cinema.manager.licences.status(of: cinema.key)?.playTimeLeft == .zero)
        let place = try #require(try await cinema.resumePoint)
        #expect((.seconds(2) ... .seconds(5)).contains(place), "\(place)")
        await cinema.end()
    }

    @Test func `what is watched is reported once it plays, with the learner of the gateway`() async throws {
        let cinema = try await Cinema()
        let player = try cinema.player { $0.user = "kim" }
        player.setRate(4)
        player.play()
        var events = player.events.makeAsyncIterator()
        #expect(
            await wait(&events) { event in
                if case .position(let place) = event { place >= .seconds(4) } else { false }
            } != nil)
        player.stop()
        #expect(await player.ending() == .stopped)
        let rows = try await cinema.manager.reports.list().rows
        #expect(rows.count >= 2 && rows.allSatisfy { $0.user == "kim" && $0.content == cinema.key.text })
        // The film's own length, since no gateway has named one.
        #expect(rows.last?.values.contains(#""duration":0,"#) == false)
        // One session, whose newest report contains the others.
        #expect(Set(rows.map(\.session)).count == 1)
        await cinema.end()
    }

    @Test func `what cannot be decoded is refused, and costs no play, no report and no position`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let cinema = try await Cinema(policy, key: "bytes-300K-5")
        let player = try cinema.player()
        player.play()
        guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
        #expect(error.code == .mediaUnsupported)
        #expect(try await cinema.countLeft == 2)
        #expect(try await cinema.manager.reports.list().rows.isEmpty)
        #expect(try await cinema.resumePoint == .zero)
        await cinema.end()
    }

    @Test func `damage ends the play with its code`() async throws {
        let cinema = try await Cinema()
        let path = try await cinema.manager.contents.path(of: cinema.key)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: 100_000)
        try file.write(contentsOf: Data(repeating: 0, count: 1000))
        try file.close()
        let player = try cinema.player()
        player.play()
        #expect(await player.ending() == .failed(LectureError(.damaged)))
        await cinema.end()
    }

    @Test func `ten players at once, stopped at any moment and dropped, end and leave the store whole`() async throws {
        let cinema = try await Cinema()
        let endings = try await withThrowingTaskGroup(of: PlayerEnding.self) { group in
            for number in 0..<10 {
                let player = try cinema.player { $0.start = .seconds(number % 5) }
                group.addTask {
                    player.play()
                    let stops = [nil, PlayerState.preparing, .prepared, .playing(.steady)][number % 4]
                    guard let stops else {
                        player.stop()
                        return await player.ending()
                    }
                    for await event in player.events where event == .state(stops) { break }
                    player.stop()
                    return await player.ending()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(endings == Array(repeating: .stopped, count: 10))
        #expect(try await cinema.manager.contents.verify(cinema.key).damaged.isEmpty)
        await cinema.end()
    }

    @Test func `chapters of the description are the engine's`() async throws {
        let cinema = try await Cinema()
        let link = try await cinema.sandbox.link(key: "ranges-and-resuming", extras: true)
        var options = MpvOptions()
        (options.surface, options.more) = (.none, ["ao": "null"])
        for language in ["en", nil] as [String?] {
            let engine = try MpvEngine(options)
            var playing = PlayerOptions()
            playing.subtitleLanguage = language
            let player = Player(cinema.manager, .stream(link), engine: engine, options: playing)
            var events = player.events.makeAsyncIterator()
            player.prepare()
            #expect(await wait(&events) { $0 == .state(.prepared) } != nil)
            #expect(engine.number("chapters") == 3)
            #expect(engine.number("chapter-list/1/time") == 200)
            player.stop()
            #expect(await player.ending() == .stopped)
        }
        await cinema.end()
    }

    @Test func `a title of a chapter is text`() {
        let chapters = [
            PlayerChapter(start: .zero, title: "a=b;c#d\\e\nf"),
            PlayerChapter(start: .milliseconds(1500), title: "끝"),
        ]
        #expect(
            ChapterFile.text(chapters) == """
                ;FFMETADATA1
                [CHAPTER]
                TIMEBASE=1/1000
                START=0
                END=1500
                title=a\\=b\\;c\\#d\\\\e f
                [CHAPTER]
                TIMEBASE=1/1000
                START=1500
                END=1500
                title=끝

                """)
    }

    @Test func `a stream plays through the cache, is reported to its channels, and registers nothing`() async throws {
        let cinema = try await Cinema()
        let link = try await cinema.sandbox.link(key: "ranges-and-resuming", user: "lee", lms: ["one"])
        for round in 1...2 {
            let player = try cinema.player(of: .stream(link))
            player.setRate(10)
            player.play()
            var (keys, states): ([String], [PlayerState]) = ([], [])
            for await event in player.events {
                if case .opened(let key, let title) = event { keys.append("\(key.text) \(title ?? "")") }
                if case .state(let state) = event { states.append(state) }
            }
            #expect(await player.ending() == .finished, "\(round)")
            #expect(keys.count == 1 && keys[0].hasPrefix("ranges-and-resuming "), "\(keys)")
            #expect(states.contains(.playing(.steady)))
        }
        // The second play came from the cache.
        let requests = try await cinema.sandbox.requests(for: "/media/ranges-and-resuming.mp4")
        #expect(requests.count == 3, "each play asks what it is, and one fetches it: \(requests.map(\.range))")
        #expect(try await cinema.manager.contents.list().map(\.key) == [cinema.key])
        let rows = try await cinema.manager.reports.list().rows
        #expect(Set(rows.map(\.session)).count == 2)
        #expect(rows.allSatisfy { $0.user == "lee" && $0.target?.url == "\(cinema.sandbox.http)/lms/one" })
        #expect(rows.last?.values.contains(#""PLAY_STATUS":"stop""#) == true)
        await cinema.end()
    }

    @Test func `a stream of a kept lecture that was played to its end starts over`() async throws {
        let cinema = try await Cinema()
        try await cinema.manager.contents.setResumePoint(.seconds(5), of: cinema.key)
        let link = try await cinema.sandbox.link(key: cinema.key.text)
        let player = try cinema.player(of: .stream(link))
        player.setRate(10)
        player.play()
        let ending = await player.ending()
        #expect(ending == .finished, "\(ending)")
        #expect(try await cinema.resumePoint == .zero)
        await cinema.end()
    }

    @Test func `subtitles that are damaged stop no play`() async throws {
        let cinema = try await Cinema()
        let link = try await cinema.sandbox.link(key: "ranges-and-resuming", extras: true)
        try await cinema.manager.downloads.enqueue(DownloadRequest(url: link))
        #expect(try await cinema.manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        let key = try ContentKey("ranges-and-resuming")
        #expect(try await cinema.manager.contents.subtitles(of: key).map(\.language) == ["ko", "en"])
        let media = URL(filePath: try await cinema.manager.contents.path(of: key))
        for file in try FileManager.default.contentsOfDirectory(
            at: media.deletingLastPathComponent(), includingPropertiesForKeys: nil)
        where try Data(contentsOf: file).starts(with: Data("WEBVTT".utf8)) {
            try Data("WEBVTU".utf8).write(to: file)
        }
        await #expect(throws: LectureError.self) { try await cinema.manager.contents.subtitles(of: key) }
        let player = try cinema.player(of: .lecture(key)) { $0.section = .zero..<(.seconds(1)) }
        player.play()
        var failures: [LectureError.Code] = []
        for await event in player.events { if case .trouble(let error) = event { failures.append(error.code) } }
        #expect(await player.ending() == .finished && failures == [.damaged])
        await cinema.end()
    }

    @Test func `a server that goes away ends a stream with its code, and what was watched is reported`() async throws {
        let cinema = try await Cinema()
        // A minute of sound in ten blocks.
        try FileManager.default.createDirectory(
            atPath: cinema.directory.file("web"), withIntermediateDirectories: true)
        try Tone.file(seconds: 60).write(to: URL(filePath: cinema.directory.file("web/tone.wav")))
        var options = NginxOrigin.Options()
        options.bytesPerSecond = 400_000
        let nginx = try await NginxOrigin.start(serving: cinema.directory.file("web"), options)
        let player = try cinema.player(of: .stream("\(nginx.http)/tone.wav")) { $0.user = "lee" }
        player.play()
        var events = player.events.makeAsyncIterator()
        #expect(
            await wait(&events) { event in
                if case .position(let place) = event { place >= .seconds(1) } else { false }
            } != nil)
        await nginx.stop()
        player.setRate(10)
        guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
        #expect((8001...8099).contains(-error.code.number), "\(error.message)")
        let rows = try await cinema.manager.reports.list().rows
        #expect(rows.last?.values.contains(#""PLAY_STATUS":"stop""#) == true)
        await cinema.end()
    }

    @Test func `media that is short, cut off or no media ends as it should`() async throws {
        let cinema = try await Cinema()
        let web = cinema.directory.file("web")
        try FileManager.default.createDirectory(atPath: web, withIntermediateDirectories: true)
        let film = try Data(
            contentsOf: URL(filePath: "\(Places.repository())/Tools/lecture-sandbox/Fixtures/durable-on-the-disk.mp4"))
        let files: [(name: String, bytes: Data, code: LectureError.Code?)] = [
            ("second.wav", Tone.file(seconds: 1), nil),
            // It says that it is longer than it is.
            ("cut.wav", Tone.file(seconds: 3).prefix(200_000), nil),
            ("head.mp4", film.prefix(1000), .mediaUnsupported),
            ("text.mp4", Data("not a film\n".utf8), .mediaUnsupported),
            ("empty.mp4", Data(), .mediaUnsupported),
            ("noise.mp4", Data((0..<100_000).map { UInt8($0 &* 2_654_435_761 >> 7 & 0xFF) }), .mediaUnsupported),
        ]
        for file in files { try file.bytes.write(to: URL(filePath: "\(web)/\(file.name)")) }
        let nginx = try await NginxOrigin.start(serving: web)
        for file in files {
            let player = try cinema.player(of: .stream("\(nginx.http)/\(file.name)"))
            player.play()
            let ending = await player.ending()
            switch (ending, file.code) {
            case (.finished, nil): break
            case (.failed(let error), let code?): #expect(error.code == code, "\(file.name): \(error.message)")
            default: Issue.record("\(file.name): \(ending)")
            }
        }
        await nginx.stop()
        await cinema.end()
    }

    @Test func `a stream that cannot be opened is refused, and nothing is reported`() async throws {
        let cinema = try await Cinema()
        for (path, code) in [
            ("/media/nothing.mp4", LectureError.Code.status(404)), ("/media/list.m3u8", .playlistUnsupported),
            ("/", .mediaUnsupported),
        ] {
            let player = try cinema.player(of: .stream("\(cinema.sandbox.http)\(path)"))
            player.play()
            guard case .failed(let error) = await player.ending() else { throw LectureError(.bug) }
            #expect(error.code == code, "\(path): \(error.message)")
        }
        #expect(try await cinema.manager.reports.list().rows.isEmpty)
        await cinema.end()
    }

    @Test func `a window needs a display, and a player libmpv`() async throws {
        let display = #expect(throws: LectureError.self) { try MpvEngine(MpvOptions(), environment: [:]) }
        #expect(display?.code == .displayMissing)
        let missing = #expect(throws: LectureError.self) { try MpvLibrary("libmpv.so.0") }
        #expect(missing?.code == .playerMissing)
        #expect(missing?.cause.contains("libmpv.so.0") == true)
        #expect(missing?.message.contains("libmpv2") == true)
    }
}
