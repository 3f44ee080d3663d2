import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct TargetStateTests {
    @Test func anUnclaimedLectureFollowsAtOnce() throws {
        try StoreFixture.with { store in
            let key = try ContentKey("a")
            let id = try store.add("a")
            for targetState in [TargetState.pause, .cancel] {
                #expect(try store.index.targets.setTargetState(key, targetState, now: store.now))
                #expect(try store.item(id).content.state == .stopped)
                #expect(try store.item(id).content.stopReason == .user)
                #expect(try store.item(id).targetState == targetState)
                #expect(try store.index.targets.setTargetState(key, .fetch, now: store.now))
                #expect(try store.item(id).content.state == .queued)
                #expect(try store.item(id).content.stopReason == nil)
            }
            #expect(try !store.index.targets.setTargetState(try ContentKey("unknown"), .pause, now: store.now))
        }
    }

    @Test func aLeasedContentIsOnlyReported() throws {
        try StoreFixture.with { store in
            let lease = try store.leased("a")
            try store.index.contents.setStatus(lease, ItemStatus(.downloading), now: store.now)
            #expect(try store.index.targets.setTargetState(try ContentKey("a"), .pause, now: store.now))
            #expect(try store.item(lease.content).content.state == .downloading)
            #expect(try store.item(lease.content).targetState == .pause)
        }
    }

    @Test func aCompleteContentStaysComplete() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            for targetState in [TargetState.pause, .cancel, .fetch] {
                _ = try store.index.targets.setTargetState(try ContentKey("a"), targetState, now: store.now)
                #expect(try store.item(id).content.state == .completed)
                #expect(try store.item(id).targetState == .fetch)
            }
        }
    }

    @Test func aRemovalIsOnlyTakenBackByFetchAndNotOnceItHasStarted() throws {
        try StoreFixture.with { store in
            let key = try ContentKey("a")
            let id = try store.add("a")
            _ = try store.index.targets.setTargetState(key, .remove, now: store.now)
            #expect(try store.index.contents.contentsToRemove(limit: 9) == [id])
            _ = try store.index.targets.setTargetState(key, .pause, now: store.now)
            #expect(try store.item(id).targetState == .remove)
            _ = try store.index.targets.setTargetState(key, .fetch, now: store.now)
            #expect(try store.index.contents.contentsToRemove(limit: 9).isEmpty)
            _ = try store.index.targets.setTargetState(key, .remove, now: store.now)
            let lease = try store.lease(id)
            #expect(try store.index.contents.contentsToRemove(limit: 9).isEmpty)
            try store.index.contents.setStatus(lease, ItemStatus(.removing), now: store.now)
            _ = try store.index.targets.setTargetState(key, .fetch, now: store.now)
            #expect(try store.item(id).targetState == .remove)
            #expect(try store.item(id).content.state == .removing)
            try store.index.contents.deleteContent(lease)
            #expect(try store.index.contents.item(key) == nil)
        }
    }

    @Test func allMeansAllThatIsMeant() throws {
        try StoreFixture.with { store in
            for name in ["queued", "paused", "cancelled"] { try store.add(name) }
            try store.completed("done")
            let sample = try store.leased("sample")
            var facts = ContentFacts()
            facts.type = .sample
            _ = try store.index.contents.setFacts(sample, facts, now: store.now)
            try store.index.owners.release(sample)
            _ = try store.index.targets.setTargetState(try ContentKey("cancelled"), .cancel, now: store.now)
            func targetStates() throws -> [TargetState?] {
                try ["queued", "paused", "cancelled", "done", "sample"].map { name in
                    try store.index.contents.item(try ContentKey(name))?.targetState
                }
            }
            #expect(try store.index.targets.setTargetStateOfAll(.pause, includingSamples: false, now: store.now) == 3)
            #expect(try targetStates() == [.pause, .pause, .cancel, .fetch, .pause])
            #expect(try store.index.targets.setTargetStateOfAll(.fetch, includingSamples: false, now: store.now) == 3)
            #expect(try targetStates() == [.fetch, .fetch, .cancel, .fetch, .fetch])
            #expect(try store.index.targets.setTargetStateOfAll(.cancel, includingSamples: false, now: store.now) == 4)
            #expect(try targetStates() == [.cancel, .cancel, .cancel, .fetch, .cancel])
            #expect(try store.index.targets.setTargetStateOfAll(.remove, includingSamples: false, now: store.now) == 4)
            #expect(try targetStates() == [.remove, .remove, .remove, .remove, .cancel])
            #expect(try store.index.targets.setTargetStateOfAll(.remove, includingSamples: true, now: store.now) == 5)
        }
    }
}

@Suite struct QueueOrderTests {
    private func order(_ store: StoreFixture) throws -> String {
        try store.index.owners.contents(store.run, state: .queued, limit: 99).map(\.key.text).joined()
    }

    private func key(_ name: Character?) throws -> ContentKey? { try name.map { try ContentKey(String($0)) } }

    @Test(
        arguments: [
            ("d", "a", false, "dabc"), ("d", "c", false, "abdc"), ("a", "d", false, "bcad"), ("b", "b", false, "abcd"),
            ("c", nil, false, "cabd"), ("a", nil, true, "bcda"), ("b", "c", false, "abcd"),
        ] as [(Character, Character?, Bool, String)])
    func aContentIsMovedToItsPlace(moved: Character, other: Character?, toEnd: Bool, result: String) throws {
        try StoreFixture.with { store in
            for name in ["a", "b", "c", "d"] { try store.add(name) }
            #expect(try store.index.targets.move(try #require(try key(moved)), before: try key(other), toEnd: toEnd))
            #expect(try order(store) == result)
        }
    }

    @Test func thereIsAlwaysAPlaceBetweenTwo() throws {
        try StoreFixture.with { store in
            for name in ["a", "b", "c"] { try store.add(name) }
            // Each move halves the gap; after some moves the whole priority is renumbered.
            for round in 0..<60 {
                let moved = round.isMultiple(of: 2) ? "c" : "b"
                let other = round.isMultiple(of: 2) ? "b" : "c"
                #expect(
                    try store.index.targets.move(try ContentKey(moved), before: try ContentKey(other), toEnd: false))
                #expect(try order(store) == "a\(moved)\(other)")
            }
        }
    }

    @Test func aMoveTakesThePriorityOfItsNeighbour() throws {
        try StoreFixture.with { store in
            try store.add("a") { $0.priority = 9 }
            try store.add("b") { $0.priority = -9 }
            for name in ["c", "d"] { try store.add(name) }
            #expect(try order(store) == "acdb")
            _ = try store.index.targets.move(try ContentKey("d"), before: nil, toEnd: false)
            #expect(try order(store) == "dacb")
            _ = try store.index.targets.move(try ContentKey("a"), before: nil, toEnd: true)
            #expect(try order(store) == "dcba")
            _ = try store.index.targets.move(try ContentKey("c"), before: try ContentKey("a"), toEnd: false)
            #expect(try order(store) == "dbca")
        }
    }

    @Test func aPriorityGoesBeforeAPlaceAndTheLatestComesLast() throws {
        try StoreFixture.with { store in
            for name in ["a", "b", "c", "d"] { try store.add(name) }
            for name in ["c", "b"] { #expect(try store.index.targets.setPriority(try ContentKey(name), 7)) }
            #expect(try order(store) == "cbad")
            #expect(try store.index.targets.setPriority(try ContentKey("c"), 7))
            #expect(try order(store) == "cbad")
            #expect(try !store.index.targets.setPriority(try ContentKey("unknown"), 7))
        }
    }

    @Test func aNewContentComesLastAlsoAfterMoves() throws {
        try StoreFixture.with { store in
            for name in ["a", "b", "c"] { try store.add(name) }
            for name in ["a", "b", "c"] {
                _ = try store.index.targets.move(try ContentKey(name), before: nil, toEnd: true)
            }
            try store.add("d")
            #expect(try order(store) == "abcd")
        }
    }

    @Test func anUnknownContentIsNotMoved() throws {
        try StoreFixture.with { store in
            try store.add("a")
            #expect(try !store.index.targets.move(try ContentKey("x"), before: nil, toEnd: true))
            #expect(try !store.index.targets.move(try ContentKey("a"), before: try ContentKey("x"), toEnd: false))
            #expect(try store.index.targets.move(try ContentKey("a"), before: nil, toEnd: false))
        }
    }
}
