import Foundation
import KollusSDK
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// What cannot be played, and plays that end early.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct PlayerRefusalTests {
    @Test func `what cannot be played is the result of the preparation`() async throws {
        let cinema = try await Cinema()
        let loaded = try await cinema.storage.load(cinema.classroom.media("64K-1"))
        for (key, number) in [("unknown", -8621), (loaded, -8629)] {
            let witness = PlayerWitness()
            let view = try cinema.view(witness)
            view.mediaContentKey = key
            try view.prepareToPlay(withMode: .PlayerTypeKollus)
            await witness.until { !$0.filter(\.isResult).isEmpty }
            #expect(witness.results == [.prepared(code: number)])
            #expect(code { try view.play() } == -2101)
            // The same view plays another content.
            view.mediaContentKey = cinema.key
            try view.prepareToPlay(withMode: .PlayerTypeKollus)
            await witness.until(.prepared(code: nil))
        }
        await cinema.end()
    }

    @Test func `media that cannot be decoded costs no play`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 2
        let cinema = try await Cinema(policy, name: "bytes-300K-5")
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { !$0.filter(\.isResult).isEmpty }
        #expect(witness.results == [.prepared(code: -20242)])
        #expect(try cinema.countLeft == 2)
        await cinema.end()
    }

    @Test func `what is not there cannot begin`() async throws {
        let cinema = try await Cinema()
        let view = KollusPlayerView()
        view.storage = cinema.storage
        #expect(code { try view.prepareToPlay(withMode: .PlayerTypeKollus) } == -2109)
        view.contentIndex = 4711
        #expect(code { try view.prepareToPlay(withMode: .PlayerTypeKollus) } == -8621)
        view.mediaContentKey = ""
        #expect(code { try view.prepareToPlay(withMode: .PlayerTypeKollus) } == -8613)
        await cinema.end()
        view.mediaContentKey = cinema.key
        #expect(code { try view.prepareToPlay(withMode: .PlayerTypeKollus) } == -8661)
    }

    @Test func `a content is also found by its number`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let number = try #require(try cinema.storage.content(cinema.key)?.contentIndex)
        let view = try #require(KollusPlayerView(contentIndex: number))
        (view.storage, view.delegate, view.surface) = (cinema.storage, witness, .none)
        view.engineOptions = ["ao": "null"]
        try view.prepareToPlay()
        await witness.until(.prepared(code: nil))
        #expect(view.content.mediaContentKey == cinema.key && witness.calls.contains(.key(cinema.key)))
        await cinema.end()
    }

    @Test func `a licence that ends stops the play with its number, and refuses the next`() async throws {
        var policy = CallbackPolicy()
        policy.expirationIn = 4
        let cinema = try await Cinema(policy)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        witness.also { call, view in if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) } }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.stop(false, code: -8643))
        #expect(witness.results == [.prepared(code: nil), .play(true, code: nil), .stop(false, code: -8643)])
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: -8643))
        #expect(witness.results.count == 4)
        await cinema.end()
    }

    @Test func `a count that is used up refuses the play that would be one more`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 1
        let cinema = try await Cinema(policy)
        let (first, second) = (PlayerWitness(), PlayerWitness())
        let (view, other) = (try cinema.view(first), try cinema.view(second))
        // Both are prepared while one play is left.
        for (view, witness) in [(view, first), (other, second)] {
            try view.prepareToPlay(withMode: .PlayerTypeKollus)
            await witness.until(.prepared(code: nil))
        }
        try view.play()
        await first.until(.play(true, code: nil))
        try other.play()
        await second.until { $0.contains { if case .stop = $0 { true } else { false } } }
        #expect(second.results == [.prepared(code: nil), .play(true, code: -8644), .stop(false, code: -8644)])
        await cinema.end()
    }

    // MARK: Ends

    @Test func `a delegate may call the player from within its methods`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        witness.also { call, view in
            let error = code {
                switch call {
                case .prepared: try view.play()
                case .play: view.currentPlaybackTime = 4
                case .position(_, isSeeking: false): try view.pause()
                case .pause: try view.stop()
                case .stop: if witness.results.count < 8 { try view.prepareToPlay(withMode: .PlayerTypeKollus) }
                default: break
                }
            }
            #expect(error == nil, "\(call)")
        }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { $0.filter(\.isResult).count == 8 }
        let once: [PlayerWitness.Call] = [
            .prepared(code: nil), .play(true, code: nil), .pause(true, code: nil), .stop(true, code: nil),
        ]
        #expect(witness.results == once + once)
        await cinema.end()
    }

    @Test func `a view that is released while it prepares calls nothing more`() async throws {
        var policy = CallbackPolicy()
        policy.expirationCount = 1
        let cinema = try await Cinema(policy)
        let witness = PlayerWitness()
        // On the main queue, so that nothing is delivered between the two.
        let isReleased = try await MainActor.run {
            weak var released: KollusPlayerView?
            do {
                let view = try cinema.view(witness)
                released = view
                try view.prepareToPlay(withMode: .PlayerTypeKollus)
            }
            return released == nil
        }
        #expect(isReleased)
        // The storage waits for its end.
        await cinema.storage.finish()
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(witness.calls.isEmpty)
        let again = try cinema.classroom.started()
        #expect(try again.content(cinema.key)?.drmExpireCount == 1)
        again.close()
        await cinema.classroom.origin.stop()
    }

    @Test func `every preparation has one result, also one that another replaces`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        for _ in 0..<3 { try view.prepareToPlay(withMode: .PlayerTypeKollus) }
        await witness.until { $0.filter(\.isResult).count == 3 }
        #expect(witness.results == [.prepared(code: -2101), .prepared(code: -2101), .prepared(code: nil)])
        try view.play()
        await witness.until(.play(true, code: nil))
        // A preparation during a play ends the play, without a word that would be taken for the new one.
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { $0.filter { $0 == .prepared(code: nil) }.count == 2 }
        #expect(witness.results.suffix(2) == [.play(true, code: nil), .prepared(code: nil)])
        #expect(view.isPreparedToPlay && !view.isPlaying)
        try view.stop()
        await witness.until(.stop(true, code: nil))
        #expect(witness.results.count == 6)
        await cinema.end()
    }

    @Test func `a stop while it prepares ends the preparation`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        try view.stop()
        await witness.until(.stop(true, code: nil))
        #expect(witness.results == [.prepared(code: -2101), .stop(true, code: nil)])
        await cinema.end()
    }

    @Test func `a storage that is closed ends its players first`() async throws {
        let cinema = try await Cinema()
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        witness.also { call, view in if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) } }
        view.currentPlaybackTime = 4
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.play(true, code: nil))
        await cinema.storage.finish()
        await witness.until(.stop(false, code: nil))
        #expect(witness.results == [.prepared(code: nil), .play(true, code: nil), .stop(false, code: nil)])
        // Where it was left is stored.
        let again = try cinema.classroom.started()
        let place = try #require(try again.content(cinema.key)?.position)
        #expect((3.5...8).contains(place), "\(place)")
        again.close()
        await cinema.classroom.origin.stop()
    }

    // MARK: Servers

    @Test func `the exchange with the licence server reaches the delegate`() async throws {
        var policy = CallbackPolicy()
        policy.checkAbuse = 1
        let cinema = try await Cinema(policy)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.extraDrmParam = "class=7"
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.prepared(code: nil))
        #expect(
            witness.calls.filter { if case .exchange(3, _) = $0 { true } else { false } }
                == [.exchange(kind: 3, keys: [cinema.key])])
        #expect(cinema.storage.extraDrmParam == "class=7")
        // The permission is for one play.
        try view.play()
        await witness.until(.play(true, code: nil))
        try await cinema.classroom.origin.set(policy: .refusal("Not today."), kind: 3)
        let later = PlayerWitness()
        let refused = try cinema.view(later)
        try refused.prepareToPlay(withMode: .PlayerTypeKollus)
        await later.until { !$0.filter(\.isResult).isEmpty }
        #expect(later.results == [.prepared(code: -8657)])
        #expect(later.calls.contains(.exchange(kind: 3, keys: [cinema.key])))
        await cinema.end()
    }

    @Test func `what is watched is sent while it plays, with the learner`() async throws {
        let cinema = try await Cinema(lms: true)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.user = "kim"
        witness.also { call, view in if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) } }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until { $0.contains { if case .report(_, isTaken: true) = $0 { true } else { false } } }
        #expect(view.isPlaying, "before its end")
        let data = witness.calls.compactMap { if case .report(let data, _) = $0 { data } else { nil } }
        #expect(data.allSatisfy { $0.contains(#""media_content_key":"\#(cinema.key)""#) && $0.contains("kim") })
        let sent = data.count
        try view.stop()
        await witness.until { calls in
            calls.count { if case .report(_, isTaken: true) = $0 { true } else { false } } > sent
        }
        await cinema.end()
    }

    @Test func `no report is made when they are off`() async throws {
        let cinema = try await Cinema(lms: true)
        let witness = PlayerWitness()
        let view = try cinema.view(witness)
        view.lmsOffDownloadContent = true
        view.currentPlaybackRate = 10
        witness.also { call, view in if call == .prepared(code: nil) { #expect(code { try view.play() } == nil) } }
        try view.prepareToPlay(withMode: .PlayerTypeKollus)
        await witness.until(.stop(false, code: nil))
        #expect(try await cinema.storage.manager().reports.list().rows.isEmpty)
        #expect(!witness.calls.contains { if case .report = $0 { true } else { false } })
        await cinema.end()
    }
}
