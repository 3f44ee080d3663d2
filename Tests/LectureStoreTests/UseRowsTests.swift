import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Pins, plays, and removals of what nothing uses.
@Suite struct UseRowsTests {
    private func use(_ store: StoreFixture, _ name: String, alive: Bool = true) throws -> LectureUse? {
        try store.index.uses.use(of: try ContentKey(name)) { _ in alive }?.use
    }

    /// A lecture that is complete, as far as its row says.
    private func complete(_ store: StoreFixture, _ name: String) throws -> ContentID {
        let id = try store.add(name)
        try store.index.connection.execute(
            "UPDATE content SET state = 4, completed_ms = 1 WHERE id = ?", id)
        return id
    }

    /// Rows that say complete without a file would not be sound.
    private func reopen(_ store: StoreFixture) throws {
        try store.index.connection.execute("UPDATE content SET state = 0, completed_ms = NULL")
    }

    private func play(_ store: StoreFixture, _ name: String, owner: OwnerID) throws {
        let record = PlaySessionRecord(
            session: "s-\(name)", content: name, user: "kim", startAt: 1, duration: 1000, blocks: 10, source: "{}",
            targets: nil)
        try store.index.plays.begin(record, owner: owner, now: store.now)
    }

    @Test func `a pin keeps its first time, and goes with its lecture`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.add("a"), try store.add("b"))
            #expect(try store.index.uses.pins().isEmpty)
            try store.index.uses.setPin(b, Timestamp(milliseconds: 7))
            try store.index.uses.setPin(a, Timestamp(milliseconds: 5))
            try store.index.uses.setPin(a, Timestamp(milliseconds: 9))
            let pins = try store.index.uses.pins()
            #expect(pins.map(\.key.text) == ["a", "b"] && pins.map(\.time.milliseconds) == [5, 7])
            try store.index.uses.setPin(b, nil)
            try store.index.uses.setPin(b, nil)
            #expect(try use(store, "b")?.pinned == nil)
            #expect(try use(store, "a")?.pinned == Timestamp(milliseconds: 5))
            #expect(try use(store, "unknown") == nil)
            try store.index.uses.recordPlayed(a, now: store.now)
            try store.index.connection.execute("DELETE FROM content WHERE id = ?", a)
            #expect(try store.index.uses.pins().isEmpty)
            let left = try store.index.connection.first("SELECT count(*) FROM last_play") { $0.int(0) }
            #expect(left == 0)
        }
    }

    @Test func `a play is written once a minute, and a time in the future is replaced`() throws {
        try StoreFixture.with { store in
            let id = try store.add("a")
            let start = store.now
            let times: [(offset: Double, kept: Double)] = [
                (0, 0), (1, 0), (59.999, 0), (60, 60), (119, 60), (121, 121), (100_000, 100_000), (200, 200),
                (150, 200), (140, 140),
            ]
            for (offset, kept) in times {
                try store.index.uses.recordPlayed(id, now: start + .seconds(offset))
                #expect(try use(store, "a")?.lastPlayed == start + .seconds(kept), "\(offset)")
            }
        }
    }

    @Test func `what uses a lecture is found, the owner of a play by its lock`() throws {
        try StoreFixture.with { store in
            let id = try complete(store, "a")
            var expected = LectureUse()
            #expect(try use(store, "a") == expected)
            try store.index.contents.setResumePoint(id, .seconds(65))
            expected.resumePoint = .seconds(65)
            #expect(try use(store, "a") == expected)
            try play(store, "a", owner: store.owner)
            (expected.isPlaying, expected.hasOpenPlay) = (true, true)
            #expect(try use(store, "a") == expected)
            expected.isPlaying = false
            #expect(try use(store, "a", alive: false) == expected)
            try store.index.plays.end("s-a")
            expected.hasOpenPlay = false
            #expect(try use(store, "a") == expected)
            // Lists: one by one does not count, nor one that it has left.
            try store.index.connection.execute("INSERT INTO course_list VALUES (1, '', 0), (2, '/l', 0), (3, '/m', 0)")
            for (list, gone, isListed) in [(1, "NULL", false), (2, "5", false), (3, "NULL", true)] {
                try store.index.connection.execute("INSERT INTO course_entry VALUES (\(list), ?, \(gone))", id)
                #expect(try use(store, "a")?.isListed == isListed, "\(list)")
            }
            #expect(try use(store, "a")?.isSettled == true)
            let lease = try store.index.owners.claim(content: id, owner: store.owner, now: store.now)
            #expect(try use(store, "a")?.isSettled == (lease == nil))
            _ = try store.add("open")
            #expect(try use(store, "open")?.isSettled == false)
            try reopen(store)
        }
    }

    @Test func `only what nothing uses is removed, and the rest is named`() throws {
        try StoreFixture.with { store in
            let names = ["free", "pinned", "played", "longago", "playing", "unreported", "future"]
            var ids: [String: ContentID] = [:]
            for name in names { ids[name] = try complete(store, name) }
            _ = try store.add("queued")
            func id(_ name: String) throws -> ContentID { try #require(ids[name]) }
            try store.index.uses.setPin(try id("pinned"), store.now)
            try store.index.uses.recordPlayed(try id("played"), now: store.now + .seconds(-899))
            try store.index.uses.recordPlayed(try id("longago"), now: store.now + .seconds(-900))
            try store.index.uses.recordPlayed(try id("future"), now: store.now + .seconds(5000))
            try play(store, "playing", owner: store.owner)
            let other = try store.another()
            try play(store, "unreported", owner: other.owner)
            let keys = try (names + ["queued", "unknown"]).map { try ContentKey($0) }
            func request() throws -> [String] {
                try store.index.targets.requestRemovalOfUnused(keys, now: store.now) { $0 == store.owner }.map {
                    $0.obstacle?.rawValue ?? "-"
                }
            }
            let expected = [
                "-", "pinned", "playing", "-", "playing", "unreported", "playing", "incomplete", "gone",
            ]
            #expect(try request() == expected)
            let wanted = try store.index.connection.query("SELECT key FROM content WHERE desire = 3 ORDER BY id") {
                $0.text(0)
            }
            #expect(wanted == ["free", "longago"])
            // What goes already is not asked for again.
            #expect(try request().first == "incomplete")
            try reopen(store)
        }
    }

    @Test func `a removal is decided for the key that the gateway gave`() throws {
        try StoreFixture.with { store in
            let id = try complete(store, "new-name")
            try store.index.uses.setPin(id, store.now)
            let outcome = try store.index.targets.requestRemovalOfUnused([try ContentKey("new-name")], now: store.now) {
                _ in true
            }
            #expect(outcome.map(\.key.text) == ["new-name"] && outcome.map(\.obstacle) == [.pinned])
            try reopen(store)
        }
    }

    @Test func `throughput counts each server by itself, and what no limit held back first`() throws {
        try StoreFixture.with { store in
            let id = try store.add("a")
            func record(_ origin: String, at second: Double, lasting: Double, _ bytes: Int64) throws {
                var attempt = Attempt(at: store.now + .seconds(second), origin: origin, decision: "done")
                (attempt.duration, attempt.bytes) = (.seconds(lasting), bytes)
                try store.index.servers.record(attempt, content: id, resource: nil)
            }
            // Two at once, one behind them with a gap, and one without a byte.
            try record("a", at: 0, lasting: 10, 100)
            try record("a", at: 5, lasting: 10, 100)
            try record("a", at: 100, lasting: 5, 50)
            try record("a", at: 200, lasting: 50, 0)
            try record("b", at: 0, lasting: 4, 40)
            try record("b", at: 3000, lasting: 4, 4)
            func found(_ bound: @escaping (Timestamp) -> Int64?) throws -> [String] {
                try store.index.servers.throughputs(since: store.now, bound: bound).map {
                    "\($0.origin) \($0.bytes) \($0.busy.components.seconds) \($0.bound.map { "\($0)" } ?? "-")"
                }
            }
            let start = store.now
            #expect(try found { _ in nil } == ["a 250 20 -", "b 44 8 -"])
            #expect(try found { _ in 7 } == ["a 250 20 7", "b 44 8 7"])
            #expect(try found { $0 - start < .seconds(50) ? 9 : nil } == ["a 50 5 -", "b 4 4 -"])
            #expect(try found { $0 - start < .seconds(500) ? 9 : nil } == ["a 250 20 9", "b 4 4 -"])
            #expect(try found { $0 == start ? 3 : 5 } == ["a 250 20 5", "b 44 8 5"])
            let later = try store.index.servers.throughputs(since: start + .seconds(1)) { _ in nil }
            #expect(later.map(\.bytes) == [150, 4])
            // Of a long past half an hour of work counts, over pauses and with whole attempts.
            for number in 0..<40 { try record("long", at: 10_000 + Double(number) * 1000, lasting: 100, 1000) }
            try record("long", at: 60_000, lasting: 60, 60_000)
            #expect(try found { _ in nil }.last == "long 78000 1860 -")
            // What is known without a limit is six minutes.
            #expect(try found { $0 - start < .seconds(47_000) ? 9 : nil }.last == "long 63000 360 -")
            #expect(try found { $0 - start < .seconds(47_000) ? 9 : 7 }.last == "long 78000 1860 9")
        }
    }
}
