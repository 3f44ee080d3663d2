import Foundation
import LectureKit
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

/// Pins, uses and accepted rules of a store in which nothing is downloaded.
@Suite(.timeLimit(.minutes(2))) struct ContentUseTests {
    /// A store with lectures that wait for a timetable that never begins.
    static func waiting(_ names: [String]) async throws -> (site: Site, manager: LectureManager, keys: [ContentKey]) {
        let site = try Site()
        let manager = try site.manager { $0.timetable = "else=off" }
        var keys: [ContentKey] = []
        for name in names {
            var request = DownloadRequest(url: "http://127.0.0.1:1/\(name).mp4")
            request.key = try ContentKey(name)
            keys.append(try await manager.downloads.enqueue(request))
        }
        return (site, manager, keys)
    }

    @Test func `a pin keeps its first time, is seen by other managers, and is taken away once`() async throws {
        let (site, manager, keys) = try await Self.waiting(["a", "b"])
        #expect(try await manager.contents.pinned().isEmpty)
        // A pin that is not there is taken away without an error.
        try await manager.contents.unpin(keys[0])
        try await manager.contents.pin(keys[0])
        let first = try await manager.contents.pinned()
        #expect(Set(first.keys) == [keys[0]])
        let database = try Connection(path: "\(site.store)/lecturekit.db", access: .readWrite)
        try database.execute("UPDATE pin SET pinned_ms = 5")
        try await manager.contents.pin(keys[0])
        try await manager.contents.pin(keys[1])
        let other = try site.manager()
        let pins = try await other.contents.pinned()
        #expect(pins[keys[0]] == Timestamp(milliseconds: 5) && pins.count == 2)
        #expect(try #require(pins[keys[1]]) >= #require(first[keys[0]]))
        try await other.contents.unpin(keys[0])
        #expect(Set(try await manager.contents.pinned().keys) == [keys[1]])
        await other.close()
        await manager.close()
    }

    @Test func `an unknown lecture is neither pinned nor used`() async throws {
        let (_, manager, keys) = try await Self.waiting(["a"])
        let unknown = try ContentKey("nothing")
        let unknownError = LectureError(.unknownContent)
        await #expect(throws: unknownError) { try await manager.contents.pin(unknown) }
        await #expect(throws: unknownError) { try await manager.contents.unpin(unknown) }
        do {
            try await manager.contents.pin(unknown)
        } catch {
            #expect(error.detail == "nothing", "the error names the lecture")
        }
        #expect(try await manager.contents.pinned().isEmpty)
        #expect(try await Set(manager.contents.uses(of: [unknown, keys[0]]).keys) == [keys[0]])
        #expect(try await manager.contents.uses(of: [unknown]).isEmpty)
        #expect(try await manager.contents.uses(of: []).isEmpty)
        await manager.close()
    }

    @Test func `what is not complete is not settled, and a pin is said first`() async throws {
        let (_, manager, keys) = try await Self.waiting(["a"])
        let now = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
        let plain = try #require(try await manager.contents.uses(of: keys)[keys[0]])
        #expect(!plain.isSettled && plain.pinned == nil && plain.lastPlayed == nil && plain.resumePoint == .zero)
        #expect(!plain.isListed && !plain.isPlaying && !plain.hasOpenPlay)
        #expect(plain.obstacle(at: now) == .incomplete)
        try await manager.contents.pin(keys[0])
        let pinned = try #require(try await manager.contents.uses(of: keys)[keys[0]])
        let time = try await manager.contents.pinned()[keys[0]]
        #expect(pinned.pinned == time && time != nil)
        #expect(pinned.obstacle(at: now) == .pinned)
        let outcome = try await manager.downloads.removeUnused(keys)
        #expect(outcome.map(\.obstacle) == [.pinned])
        await manager.close()
    }

    @Test func `the rules that were accepted last are kept as text, for all managers`() async throws {
        let site = try Site()
        let (one, two) = (try site.manager(), try site.manager())
        #expect(try await one.contents.acceptedRetention() == nil)
        for rules in ["keep 1d after play", "keep 1d after play\nnever below 1 GiB", "규칙", ""] {
            try await one.contents.acceptRetention(rules)
            #expect(try await two.contents.acceptedRetention() == rules)
        }
        await one.close()
        await two.close()
        let later = try site.manager()
        #expect(try await later.contents.acceptedRetention() == "")
        await later.close()
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let obstacle: LectureUse.Obstacle?
        let change: @Sendable (inout LectureUse) -> Void
        var testDescription: String { name }
    }

    static let now = Timestamp(milliseconds: 10_000_000)
    static let cases: [Case] = [
        Case(name: "nothing", obstacle: nil) { _ in },
        Case(name: "a list and a position", obstacle: nil) { ($0.isListed, $0.resumePoint) = (true, .seconds(9)) },
        Case(name: "work", obstacle: .incomplete) { $0.isSettled = false },
        Case(name: "an open report", obstacle: .unreported) { ($0.hasOpenPlay, $0.isSettled) = (true, false) },
        Case(name: "a play", obstacle: .playing) { ($0.isPlaying, $0.hasOpenPlay) = (true, true) },
        Case(name: "a play just now", obstacle: .playing) { $0.lastPlayed = now },
        Case(name: "a play within the gap", obstacle: .playing) { $0.lastPlayed = now + .milliseconds(-899_999) },
        Case(name: "a play at the gap", obstacle: nil) { $0.lastPlayed = now + .seconds(-900) },
        Case(name: "a play of the future", obstacle: .playing) { $0.lastPlayed = now + .seconds(86_400) },
        Case(name: "an old play with work", obstacle: .incomplete) {
            ($0.lastPlayed, $0.isSettled) = (now + .seconds(-901), false)
        },
        Case(name: "a pin", obstacle: .pinned) { $0.pinned = now },
        Case(name: "a pin and all others", obstacle: .pinned) {
            ($0.pinned, $0.isPlaying, $0.hasOpenPlay, $0.isSettled) = (now, true, true, false)
        },
    ]

    @Test(arguments: cases) func `the first reason counts`(one: Case) {
        var use = LectureUse()
        one.change(&use)
        #expect(use.obstacle(at: Self.now) == one.obstacle)
    }
}

/// Uses and removals of complete lectures.
@Suite(.timeLimit(.minutes(2))) struct UnusedRemovalNetTests {
    @Test func `only what nothing uses goes, in the order of the keys`() async throws {
        let (site, sandbox) = (try Site(), try await SandboxOrigin.start(["--no-https"]))
        let manager = try site.manager()
        var keys: [ContentKey] = []
        for number in 1...4 {
            keys.append(try await manager.fetch("\(sandbox.http)/media/bytes-64K-\(number).mp4").key)
        }
        try await manager.contents.pin(keys[1])
        try await manager.licences.beginPlay(keys[2]).reached(.seconds(7))
        let uses = try await manager.contents.uses(of: keys)
        #expect(uses.count == 4 && uses.values.allSatisfy { $0.isSettled && !$0.isListed && !$0.hasOpenPlay })
        #expect(uses[keys[2]]?.lastPlayed != nil && uses[keys[2]]?.resumePoint == .seconds(7))
        #expect(uses[keys[0]] == uses[keys[3]] && uses[keys[0]]?.lastPlayed == nil)

        let events = manager.events
        let asked = [keys[3], try ContentKey("nothing"), keys[2], keys[1], keys[0], keys[3]]
        let outcomes = try await manager.downloads.removeUnused(asked)
        #expect(outcomes.map(\.key) == asked)
        // What goes already has work to be done.
        #expect(outcomes.map(\.obstacle) == [nil, .gone, .playing, .pinned, nil, .incomplete])
        var awaited: Set = [keys[0], keys[3]]
        for await event in events {
            if case .removed(let key) = event { #expect(awaited.remove(key) != nil, "\(key.text)") }
            if awaited.isEmpty { break }
        }
        let left = try await manager.contents.list(ContentFilter()).map(\.key.text).sorted()
        #expect(left == [keys[1], keys[2]].map(\.text).sorted())
        #expect(try await manager.contents.uses(of: asked).count == 2)
        // A pin goes with its lecture, which only a request by name removes.
        let more = manager.events
        try await manager.downloads.remove(keys[1])
        _ = try await manager.first(in: more) { if case .removed(keys[1]) = $0 { true } else { false } }
        #expect(try await manager.contents.pinned().isEmpty)
        #expect(try await manager.downloads.removeUnused([]).isEmpty)
        await manager.close()
        await sandbox.stop()
    }
}
