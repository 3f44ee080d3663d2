import Foundation
import KollusSDK
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Films that are really played through the iOS SDK's names: downloaded by a storage, decoded by libmpv.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct PlayerTests {
    /// Runs everything that was queued for the main queue.
    private func settle() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test func `a preparation, a play, a pause and a stop have one result each`() async throws {
        let cinema = try await Cinema(extras: true)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        try view.prepareToPlay(withMode: .PlayerTypeNative)
        await witness.until(.prepared(code: nil))
        #expect(view.isPreparedToPlay && view.isOpened() && !view.isPlaying && view.playerType == .PlayerTypeNative)
        #expect(view.content.mediaContentKey == cinema.key && view.content.downloaded && view.currentPlaybackTime == 0)
        let size = view.naturalSize
        #expect(size.width > 100 && size.height > 100 && !view.isAudioOnly)
        // What the delegate gets before the result.
        #expect(
            witness.calls == [
                .bookmarks([30, 95], isEditable: view.bookmarkModifyEnabled), .key(cinema.key), .size(size),
                .prepared(code: nil),
            ])
        #expect((view.bookmarks as? [KollusBookmark])?.map(\.position) == [30, 95])
        #expect(view.chapterInfo.count == 2 && view.listSubTitle.count == 2 && view.isThumbnailEnable)
        #expect(view.contentProviderName == view.content.company && !view.content.company.isEmpty)
        let words = "1\n00:00:00,000 --> 00:01:00,000\nLimits\n"
        try words.write(toFile: cinema.classroom.place.file("words.srt"), atomically: true, encoding: .utf8)
        var path = Array(cinema.classroom.place.file("words.srt").utf8CString)
        let isShown = unsafe view.setSubTitlePath(&path)
        #expect(isShown)

        try view.play()
        await witness.until(.play(true, code: nil))
        try view.play()
        await witness.until { $0.filter { $0 == .play(true, code: nil) }.count == 2 }
        await witness.until(.caption("Limits"))
        try view.pause()
        await witness.until(.pause(true, code: nil))
        #expect(view.isPreparedToPlay && !view.isPlaying)
        try view.stop()
        await witness.until(.stop(true, code: nil))
        #expect(
            witness.results == [
                .prepared(code: nil), .play(true, code: nil), .play(true, code: nil), .pause(true, code: nil),
                .stop(true, code: nil),
            ])
        for call in [view.play, view.pause, view.stop] { #expect(code { try call() } == -2101) }
        await cinema.end()
        await settle()
        #expect(witness.results.count == 5)
    }

    @Test func `bookmarks are set and removed while it plays, and delivered afterwards`() async throws {
        let cinema = try await Cinema(extras: true, query: "set.bookmark_url=SERVER/bookmarks")
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        #expect(code { try view.addBookmark(1, value: "early") } == -2101)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(witness.calls.contains(.bookmarks([30, 95], isEditable: true)) && view.bookmarkModifyEnabled)
        func bookmarks() -> [String] {
            (view.bookmarks as? [KollusBookmark] ?? []).map { "\($0.position) \($0.value ?? $0.title ?? "")" }
        }
        try view.addBookmark(12.5, value: "the proof")
        try view.addBookmark(12.5, value: "the whole proof")
        try view.removeBookmark(95)
        // The teacher's stays, and one that is not there is no error.
        try view.removeBookmark(30)
        try view.removeBookmark(31)
        #expect(bookmarks() == ["12.5 the whole proof", "30.0 Definition"])
        #expect(code { try view.addBookmark(-1, value: "x") } == -8613)
        try view.stop()
        await witness.until(.stop(true, code: nil))
        let other = Witness()
        cinema.storage.delegate = other
        cinema.storage.sendStoredLms()
        #expect(await other.wait { $0.contains { if case .sent = $0 { true } else { false } } })
        #expect(try await cinema.classroom.origin.bookmarkChanges() == 2)
        await cinema.end()
    }

    @Test func `a stream plays by its URL`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let link = try await cinema.classroom.origin.link(key: "ranges-and-resuming", lms: [""])
        let view = try #require(KollusPlayerView(contentURL: link))
        view.storage = cinema.storage
        (view.surface, view.engineOptions) = (.none, ["ao": "null"])
        (view.delegate, view.drmDelegate, view.lmsDelegate) = (witness, witness, witness)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(witness.calls.contains(.key("ranges-and-resuming")) && view.content == nil)
        try view.play()
        await witness.until(.play(true, code: nil))
        await witness.until { $0.contains { if case .report(_, isTaken: true) = $0 { true } else { false } } }
        try view.stop()
        await witness.until(.stop(true, code: nil))
        #expect(cinema.storage.contents().count == 1)
        await cinema.end()
    }

    @Test func `a stream is played as its gateway permits, after its intro`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let origin = cinema.classroom.origin
        let rules = """
            {"seekable":false,"seekable_end":30,"disable_playrate":true,"force_nscreen":true,
             "limit":{"duration":2,"message":"A preview."},"repeat_section":{"start_time":40,"end_time":50},
             "next_episode":{"show_time":50,"callback_url":"https://next.example/","callback_params":{"a":"1"}},
             "intro":{"url":"\(origin.http)/media/durable-on-the-disk.mp4","skip_after":0}}
            """
        let value = try #require(rules.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let link = try await origin.link(key: "ranges-and-resuming", query: "json.playback=\(value)")
        let view = try #require(KollusPlayerView(contentURL: link))
        view.storage = cinema.storage
        (view.surface, view.engineOptions, view.delegate) = (.none, ["ao": "null"], witness)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(!view.seekable && view.nSeekableEnd == 30 && view.disablePlayRate && view.maxPlaybackRate == 1)
        #expect(view.intro && view.nSecSkip == 0 && view.forceNScreen && !view.ignoreZero)
        #expect(view.nPlaybackLimitDuration == 2 && view.strPlaybackLimitMessage == "A preview.")
        #expect(view.nRepeatStartTime == 40 && view.nRepeatEndTime == 50)
        #expect(view.nextEpisodeShowTime == 50 && view.nextEpisodeCallbackURL == "https://next.example/")
        #expect(view.nextEpisodeCallbackParams["a"] as? String == "1" && !view.nextEpisodeShowButton)
        try view.play()
        await witness.until(.play(true, code: nil))
        #expect(view.setSkipPlay())
        let code = LectureError.Code.playLimitReached.number
        await witness.until(.stop(false, code: code))
        #expect(!view.intro && !view.setSkipPlay())
        await cinema.end()
    }

    /// A view of a stream that a play callback permits.
    private func stream(_ cinema: Cinema, _ witness: PlayerWitness) async throws -> KollusPlayerView {
        let link = try await cinema.classroom.origin.link(key: "ranges-and-resuming", query: "play&play-period=1")
        let view = try #require(KollusPlayerView(contentURL: link))
        view.storage = cinema.storage
        (view.surface, view.engineOptions) = (.none, ["ao": "null"])
        (view.delegate, view.drmDelegate, view.lmsDelegate) = (witness, witness, witness)
        return view
    }

    @Test func `a play callback sets the section, and its refusals are errors of a preparation and of a stop`()
        async throws
    {
        let cinema = try await Cinema()
        let origin = cinema.classroom.origin
        try await origin.set(playPolicy: #"{"play_section": {"start_time": 2, "end_time": 60}}"#, kind: 1)
        let witness = PlayerWitness()
        let view = try await stream(cinema, witness)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(view.playSection.startTime == 2 && view.playSection.endTime == 60)
        try await origin.set(playHabits: "expired")
        try view.play()
        await witness.until { $0.contains { if case .play = $0 { true } else { false } } }
        #expect(witness.results.last == .play(true, code: -8674) || witness.results.last == .stop(false, code: -8674))

        try await origin.set(playHabits: "refused;after=2")
        let second = PlayerWitness()
        let playing = try await stream(cinema, second)
        try playing.prepareToPlay(withMode: .PlayerTypeKollus)
        await second.until(.prepared(code: nil))
        try playing.play()
        await second.until(.stop(false, code: -8675))
        #expect(second.results.contains(.play(true, code: nil)))

        try await origin.set(playHabits: "refused")
        let third = PlayerWitness()
        let refused = try await stream(cinema, third)
        try refused.prepareToPlay(withMode: .PlayerTypeKollus)
        await third.until(.prepared(code: -8673))
        #expect(third.results == [.prepared(code: -8673)])
        await cinema.end()
    }

    @Test func `requests made at once have their results in order`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        witness.also { call, view in
            guard call == .prepared(code: nil) else { return }
            #expect(
                code { for step in [view.pause, view.play, view.pause, view.play, view.stop] { try step() } } == nil)
        }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { $0.contains { if case .stop = $0 { true } else { false } } }
        // What the stop overtakes is not done, and says so.
        let results = witness.results
        #expect(results.count == 6 && results.first == .prepared(code: nil) && results.last == .stop(true, code: nil))
        #expect(results[1] == .pause(true, code: nil))
        #expect(
            results[2...4].map { call in
                switch call {
                case .play(true, let code) where code == nil || code == -2101: "play"
                case .pause(true, let code) where code == nil || code == -2101: "pause"
                default: "\(call)"
                }
            } == ["play", "pause", "play"])
        await cinema.end()
    }

    @Test func `a jump is reported when it begins and when it ends`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.currentPlaybackTime = 2
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(abs(view.currentPlaybackTime - 2) < 0.5)
        #expect(
            !witness.calls.contains { if case .position = $0 { true } else { false } }, "where it begins is no jump")
        // Before the first play, while it plays, and while it is paused. The film's sound has gaps; these have some.
        for (number, place) in [6.0, 1.0, 4.0].enumerated() {
            if number == 1 { try view.play() }
            if number == 2 { try view.pause() }
            view.currentPlaybackTime = place
            // Not where it comes from. A player that is there by now has a picture's own position.
            #expect(abs(view.currentPlaybackTime - place) < 0.05)
            let count = (number + 1) * 2
            await witness.until { Self.jumps($0).count == count }
            let jumps = Self.jumps(witness.calls).suffix(2)
            #expect(jumps.first?.0 == place && jumps.first?.1 == true)
            #expect(abs((jumps.last?.0 ?? 0) - place) < 0.5 && jumps.last?.1 == false, "\(jumps)")
            await settle()
            #expect(!view.isSeeking)
        }
        await witness.until(.pause(true, code: nil))
        try view.stop()
        await witness.until(.stop(true, code: nil))
        #expect(Self.jumps(witness.calls).count == 6)
        // The next play begins where the application says, not where this one was left.
        view.currentPlaybackTime = 5
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { $0.filter { $0 == .prepared(code: nil) }.count == 2 }
        #expect(abs(view.currentPlaybackTime - 5) < 0.5)
        await cinema.end()
    }

    private static func jumps(_ calls: [PlayerWitness.Call]) -> [(TimeInterval, Bool)] {
        calls.compactMap { if case .position(let place, let isSeeking) = $0 { (place, isSeeking) } else { nil } }
    }

    @Test func `the end of a film is a stop that was not requested`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.currentPlaybackRate = 10
        witness.also { call, view in if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) } }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.stop(false, code: nil))
        #expect(witness.results == [.prepared(code: nil), .play(true, code: nil), .stop(false, code: nil)])
        #expect(witness.calls.contains(.rate(10)) && view.currentPlaybackRate == 10)
        #expect(try cinema.storage.content(cinema.key)?.position == 0, "the next play starts over")
        #expect(code { try view.stop() } == -2101)
        await cinema.end()
    }

    @Test func `a film that repeats starts over, and counts once`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 3
        let cinema = try await Cinema(policy)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        let section = KPSection()
        (section.startTime, section.endTime) = (3, 5)
        (view.playSection, view.repeatMode) = (section, .one)
        witness.also { call, view in
            if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) }
            // The second time around it ends.
            if call == .play(false, code: nil) { view.repeatMode = .none }
        }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.stop(false, code: nil))
        #expect(
            witness.results == [
                .prepared(code: nil), .play(true, code: nil), .play(false, code: nil), .stop(false, code: nil),
            ])
        #expect(
            witness.calls.filter { if case .repeats = $0 { true } else { false } } == [.repeats(true), .repeats(false)])
        let jumps = Self.jumps(witness.calls)
        #expect(jumps.count == 2 && (4...5.1).contains(jumps[0].0) && (2.5...4).contains(jumps[1].0), "\(jumps)")
        #expect(try cinema.countLeft == 2)
        await cinema.end()
    }

    @Test func `the picture's place, size and mode follow the application`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.frame = CGRect(x: 0, y: 0, width: 640, height: 640)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        let whole = view.getVideoPosition()
        #expect(whole.width == 640 && whole.height < 640 && whole.minX == 0)
        #expect(code { try view.scroll(CGPoint(x: 10, y: 0)) } == -2102)
        try view.zoom(UIPinchGestureRecognizer(scale: 2))
        #expect(view.isZoomedIn && view.getZoomValue() == 2 && view.getVideoPosition().width == 1280)
        try view.scroll(CGPoint(x: -20, y: 0))
        try view.scrollStop()
        #expect(view.getVideoPosition().minX == -340)
        #expect(code { try view.zoom(UIPinchGestureRecognizer(scale: .nan)) } == -8613)
        #expect(code { try view.zoom(nil) } == -8613)
        view.scalingMode = .scaleFill
        await witness.until(.mode(.scaleFill))
        let calls = witness.calls.suffix(5)
        #expect(
            Array(calls) == [
                .zoom(2), .zoom(2), .scroll(isScrolling: true), .scroll(isScrolling: false), .mode(.scaleFill),
            ])
        await cinema.end()
    }
}
