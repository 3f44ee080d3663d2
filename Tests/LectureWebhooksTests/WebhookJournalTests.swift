import Foundation
import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureSQLite
@testable import LectureStore

/// What the triggers of the schema write, and the rows of endpoints.
struct WebhookJournalTests {
    private static let all = WebhookKind.allCases

    private func world() throws -> WebhookWorld {
        let world = try WebhookWorld()
        try world.follow([("https://a.example/", Self.all)])
        return world
    }

    private func events(_ world: WebhookWorld) throws -> [WebhookEvent] {
        try world.rows.deliveries(
            try #require(try world.rows.endpoints().first).id, in: .waiting, after: nil, limit: 1000
        ).map(\.event)
    }

    private func insert(_ key: String, _ world: WebhookWorld) throws {
        try world.execute(
            """
            INSERT INTO content(key, state, position, added_ms, updated_ms, is_gateway, source_identity, title, course,
                source_url, bytes_proven)
            VALUES ('\(key)', 0, 0, 1, 1, 0, x'', 'Title', 'Course', 'http://x/?token=t', 5)
            """)
    }

    /// Each change of a lecture's row, with the events that follow from it.
    private static let changes: [(sql: String, kinds: [WebhookKind], code: Int?)] = [
        ("state = 1, updated_ms = 10", [], nil), ("state = 2, updated_ms = 11", [], nil),
        ("state = 4, completed_ms = 12, updated_ms = 12", [.lectureCompleted], nil),
        ("title = 'Other'", [], nil), ("state = 4, updated_ms = 13", [], nil),
        // Requested from another source, and found to be the same: not complete anew.
        ("state = 0, completed_ms = NULL, updated_ms = 14", [], nil),
        ("state = 4, completed_ms = 12, updated_ms = 15", [], nil),
        ("state = 6, completed_ms = NULL, error_code = -20008, updated_ms = 16", [.lectureDamaged], -20008),
        ("state = 6, error_code = -20008, updated_ms = 17", [], nil),
        // The file has come back.
        ("state = 4, completed_ms = 12, error_code = NULL, updated_ms = 18", [.lectureCompleted], nil),
        ("state = 0, completed_ms = NULL, error_code = -8646, updated_ms = 19", [.lectureDamaged], -8646),
        ("state = 2, updated_ms = 20", [], nil),
        ("state = 6, error_code = -8404, updated_ms = 21", [.lectureFailed], -8404),
        ("state = 0, error_code = NULL, updated_ms = 22", [], nil),
        ("state = 5, stop_reason = 2, updated_ms = 23", [], nil),
        ("state = 6, stop_reason = NULL, error_code = -8403, updated_ms = 24", [.lectureFailed], -8403),
        ("desire = 3, updated_ms = 25", [], nil), ("state = 7, updated_ms = 26", [], nil),
    ]

    @Test func `Each change of a lecture is an event, or none`() throws {
        let world = try world()
        try insert("a", world)
        var seen = 0
        for (sql, kinds, code) in Self.changes {
            try world.execute("UPDATE content SET \(sql)")
            let events = try events(world)
            #expect(events.dropFirst(seen).map(\.kind) == kinds, "\(sql)")
            for event in events.dropFirst(seen) {
                #expect(event.key == "a" && event.course == "Course" && event.error == code, "\(sql)")
                #expect(sql.hasSuffix("updated_ms = \(event.happened.milliseconds)"), "\(sql)")
            }
            seen = events.count
        }
        try world.execute("DELETE FROM content")
        let last = try #require(try events(world).last)
        #expect(last.kind == .lectureRemoved && last.happened.milliseconds == 26 && last.key == "a")
        #expect(try events(world).first?.bytes == 5)
    }

    @Test func `A row that goes because two sources are one lecture is no removal`() throws {
        let world = try world()
        try insert("a", world)
        try world.execute("DELETE FROM content")
        #expect(try events(world).isEmpty)
    }

    @Test func `Licences and reports are events`() throws {
        let world = try world()
        try insert("a", world)
        try world.execute(
            """
            INSERT INTO licence(content_key, content_id, mac, granted_ms, checked_ms)
            VALUES ('a', (SELECT id FROM content), zeroblob(32), 5, 40)
            """)
        try world.execute("INSERT INTO renewal_run(id, selection, begun_ms) VALUES (1, 'all', 1)")
        try world.execute("INSERT INTO renewal(run_id, licence_id, urgency_ms) VALUES (1, 1, 0)")
        try world.execute("UPDATE renewal SET state = 2")
        try world.execute("UPDATE renewal SET state = 1")
        for (number, outcome) in ["permitted", "refused", "ended", "failed", "deleted", "reset", "missing"].enumerated()
        {
            try world.execute(
                """
                INSERT INTO licence_attempt(licence_id, at_ms, duration_ms, kind, outcome, error_code)
                VALUES (1, \(50 + number), 100, 3, '\(outcome)', \(outcome == "permitted" ? "NULL" : "-8650"))
                """)
        }
        try world.execute("INSERT INTO lms_lane(id, client_user_id, session) VALUES (1, 'kim', 's')")
        try world.execute(
            """
            INSERT INTO report(lane_id, sequence, changed_ms, wall_ms, bytes, uuid, content, course, "values")
            VALUES (1, 1, 1, 1, 1, 'r-1', 'a', 'Algebra', '{}')
            """)
        try world.execute(
            "UPDATE report SET state = 3, dead_reason = 2, changed_ms = 70, answer_status = 413, answer_text = 'kim'")
        let events = try events(world)
        #expect(
            events.map(\.kind) == [.licenceRenewed, .licenceRefused, .licenceEnded, .licenceDeleted, .reportDead])
        #expect(events.map(\.happened.milliseconds) == [40, 151, 152, 154, 70])
        #expect(events.dropLast().allSatisfy { $0.key == "a" && $0.title == "Title" && $0.course == "Course" })
        let dead = try #require(events.last)
        #expect((dead.report, dead.deadReason, dead.status, dead.course) == ("r-1", .tooLarge, 413, "Algebra"))
    }

    @Test func `Without an endpoint that wants it nothing is written`() throws {
        let world = try WebhookWorld()
        try world.fail("a")
        #expect(try world.count("webhook_event") == 0)
        try world.follow([("https://a.example/", [.lectureCompleted])])
        try world.fail("b")
        #expect(try world.count("webhook_event") == 0)
        try world.follow([("https://a.example/", [.lectureCompleted]), ("https://b.example/", [.lectureFailed])])
        try world.fail("c")
        #expect(try world.count("webhook_event") == 1 && world.count("webhook_delivery") == 1)
        #expect(try world.rows.endpoints().map(\.waiting) == [0, 1])
    }

    @Test func `A change that is rolled back was no event`() throws {
        let world = try world()
        #expect(throws: LectureError.self) {
            try world.index.transaction { _ in
                try world.fail("a")
                throw LectureError(.storageFull)
            }
        }
        #expect(try world.count("webhook_event") == 0)
    }

    @Test func `The endpoints follow the configuration, and what is lost is named`() throws {
        let world = try WebhookWorld()
        try world.follow([("https://a.example/", Self.all), ("https://b.example/", Self.all)])
        let first = try world.rows.endpoints()
        try world.fail("a")
        try world.follow([("https://b.example/", Self.all), ("https://c.example/", Self.all)])
        let second = try world.rows.endpoints()
        #expect(second.map(\.url) == ["https://b.example/", "https://c.example/"] && second[0].id == first[1].id)
        #expect(second.map(\.waiting) == [1, 0] && second[1].id.value > 2)
        let removed = try world.index.transaction { try $0.index.webhooks.follow([]) }
        #expect(removed.map(\.waiting) == [1, 0])
        #expect(try world.count("webhook_event") == 0 && world.count("webhook_delivery") == 0)
    }

    @Test func `A claim is one program's, and free when that is gone`() throws {
        let world = try world()
        for _ in 0..<2 { try world.fail("a") }
        try world.fail("b")
        let endpoint = try world.rows.endpoints()[0].id
        let owners = try (1...2).map {
            try world.index.owners.registerOwner(pid: $0, bootID: "b", command: "", now: world.now)
        }
        let mine = try world.rows.claim(endpoint, owner: owners[0], limit: 10, now: world.now)
        #expect(mine.map(\.event.key) == ["a", "b"])
        #expect(try world.rows.claim(endpoint, owner: owners[1], limit: 10, now: world.now).isEmpty)
        let outlook = try world.rows.outlook(endpoint, owner: owners[1], now: world.now)
        #expect(outlook.next == nil && outlook.isHeldElsewhere)
        #expect(try !world.rows.outlook(endpoint, owner: owners[0], now: world.now).isHeldElsewhere)
        // Another one's answer changes nothing.
        var changed = mine[0]
        changed.state = .dead
        try world.rows.settle(changed, owner: owners[1])
        try world.rows.release(mine[0].id, owner: owners[1])
        #expect(try world.rows.endpoints()[0].waiting == 3)
        try world.index.owners.dismissOwner(owners[0], now: world.now)
        #expect(try world.rows.claim(endpoint, owner: owners[1], limit: 1, now: world.now).map(\.id) == [mine[0].id])
        // One that arrives after the claim was lost has arrived, also if it counted as dead.
        try world.rows.settle(changed, owner: owners[1])
        #expect(try world.rows.endpoints()[0].dead == 1)
        try world.rows.delivered(mine[0].id, now: world.now)
        let entry = try world.rows.endpoints()[0]
        #expect((entry.waiting, entry.dead, entry.delivered, entry.created) == (2, 0, 1, 3))
    }

    @Test func `What is too old, or too much, is given up and counted`() throws {
        let world = try world()
        let start = world.now
        for number in 0..<6 {
            try world.fail("k\(number)")
            world.clock.setWall(world.now + .seconds(10))
        }
        #expect(try world.rows.expire(before: start, limit: 6) == 0)
        #expect(try world.rows.expire(before: start + .seconds(15), limit: 6) == 2)
        #expect(try world.rows.expire(before: start, limit: 3) == 1)
        let entry = try world.rows.endpoints()[0]
        #expect((entry.created, entry.waiting, entry.expired) == (6, 3, 3))
        #expect(entry.oldestWaiting == start + .seconds(30))
        #expect(try world.count("webhook_event") == 3)
        #expect(try StoreMaintenance.check(world.location) == [])
    }

    @Test func `A wait is found, whatever the clock does`() throws {
        let world = try world()
        try world.fail("a")
        let endpoint = try world.rows.endpoints()[0].id
        let owner = try world.index.owners.registerOwner(pid: 1, bootID: "b", command: "", now: world.now)
        var mine = try #require(try world.rows.claim(endpoint, owner: owner, limit: 1, now: world.now).first)
        mine.wait = RetryWait(setAt: world.now, delay: .seconds(100))
        try world.rows.settle(mine, owner: owner)
        func next(_ change: Duration) throws -> Duration? {
            try world.rows.outlook(endpoint, owner: nil, now: world.now + change).next
        }
        #expect(try next(.zero) == .seconds(100) && next(.seconds(60)) == .seconds(40) && next(.seconds(101)) == .zero)
        #expect(try next(.seconds(-3600)) == .zero)
        #expect(try world.rows.claim(endpoint, owner: owner, limit: 1, now: world.now).isEmpty)
        #expect(try world.rows.claim(endpoint, owner: owner, limit: 1, now: world.now + .seconds(-3600)).count == 1)
    }

    /// For random changes the journal is what a model of the triggers says, and every endpoint has its share.
    @Test(arguments: 0..<20) func `The journal is the history of the store`(run: Int) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let world = try WebhookWorld(seed: seed)
        try world.follow([("https://a.example/", Self.all), ("https://b.example/", [.lectureFailed, .lectureRemoved])])
        var states: [String: Int] = [:]
        var expected: [(String, WebhookKind)] = []
        for _ in 0..<120 {
            let key = "k\(Int.random(in: 0..<6, using: &random))"
            guard let old = states[key] else {
                try insert(key, world)
                states[key] = 0
                continue
            }
            let time = world.now.milliseconds
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                try world.execute(
                    """
                    UPDATE content SET state = 4, completed_ms = \(time), updated_ms = \(time), error_code = NULL
                    WHERE key = '\(key)'
                    """)
                states[key] = 4
                if old != 4 { expected.append((key, .lectureCompleted)) }
            case 1, 2:
                try world.execute(
                    """
                    UPDATE content SET state = 6, completed_ms = NULL, updated_ms = \(time), error_code = -8404
                    WHERE key = '\(key)'
                    """)
                states[key] = 6
                if old != 6 { expected.append((key, old == 4 ? .lectureDamaged : .lectureFailed)) }
            case 3:
                try world.execute(
                    """
                    UPDATE content SET state = 0, completed_ms = NULL, error_code = NULL, updated_ms = \(time)
                    WHERE key = '\(key)'
                    """)
                states[key] = 0
            default:
                let isWanted = Bool.random(using: &random)
                if isWanted { try world.execute("UPDATE content SET desire = 3 WHERE key = '\(key)'") }
                try world.execute("DELETE FROM content WHERE key = '\(key)'")
                states[key] = nil
                if isWanted { expected.append((key, .lectureRemoved)) }
            }
        }
        let entries = try world.rows.endpoints()
        for entry in entries {
            let events = try world.rows.deliveries(entry.id, in: .waiting, after: nil, limit: 1000).map(\.event)
            let wanted = expected.filter { entry.kinds.all.contains($0.1) }
            #expect(events.map(\.key) == wanted.map(\.0), "seed \(seed), run \(run)")
            #expect(events.map(\.kind) == wanted.map(\.1), "seed \(seed), run \(run)")
            #expect(entry.waiting == wanted.count && entry.created == wanted.count, "seed \(seed), run \(run)")
        }
    }
}
