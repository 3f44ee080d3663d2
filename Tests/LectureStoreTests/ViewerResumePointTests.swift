import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Where each of many viewers resumes.
struct ViewerResumePointTests {
    @Test func `each viewer has a point, and those who have none get that of the lecture`() throws {
        try StoreFixture.with { store in
            let (key, a) = (try ContentKey("a"), try store.add("a"))
            let queries = try store.queries()
            func point(_ viewer: String) throws -> Duration {
                try ViewerResumePoints(queries).point(of: key, viewer: viewer)
            }
            #expect(try point("kim") == .zero)
            try store.index.contents.setResumePoint(a, .seconds(30))
            #expect(try point("kim") == .seconds(30), "that of the lecture")
            let rows: [(String, Duration, Duration)] = [
                ("kim", .milliseconds(61_500), .milliseconds(61_500)), ("lee", .seconds(7), .seconds(7)),
                ("ada", .zero, .zero), ("bo", .seconds(-4), .zero), ("Kim", .seconds(1), .seconds(1)),
                ("강 \"' --", .seconds(Int64.max), .milliseconds(Int64.max)),
            ]
            for (viewer, set, _) in rows { try store.index.contents.setResumePoint(a, set, viewer: viewer) }
            for (viewer, _, known) in rows { #expect(try point(viewer) == known, "\(viewer)") }
            #expect(try point("nemo") == .seconds(30))
            #expect(try queries.detail(key, withLicence: false)?.resumePoint == .seconds(30), "which stays")
        }
    }

    @Test func `the same again writes nothing, and another place replaces it`() throws {
        try StoreFixture.with { store in
            let (key, a) = (try ContentKey("a"), try store.add("a"))
            let queries = try store.queries()
            try store.index.contents.setResumePoint(a, .seconds(9), viewer: "kim")
            let version = try queries.dataVersion()
            try store.index.contents.setResumePoint(a, .seconds(9), viewer: "kim")
            #expect(try queries.dataVersion() == version)
            for seconds: Int64 in [10, 0, 5] {
                try store.index.contents.setResumePoint(a, .seconds(seconds), viewer: "kim")
                #expect(try ViewerResumePoints(queries).point(of: key, viewer: "kim") == .seconds(seconds))
            }
            let count = try store.index.connection.first("SELECT count(*) FROM viewer_resume_point") { $0.int(0) }
            #expect(count == 1)
        }
    }

    @Test func `points go with their lecture, and no other`() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.add("a"), try store.add("b"))
            for viewer in ["kim", "lee"] {
                for content in [a, b] { try store.index.contents.setResumePoint(content, .seconds(5), viewer: viewer) }
            }
            try store.index.connection.execute("DELETE FROM content WHERE id = ?", a)
            let queries = try store.queries()
            #expect(try ViewerResumePoints(queries).point(of: try ContentKey("a"), viewer: "kim") == .zero)
            #expect(try ViewerResumePoints(queries).point(of: try ContentKey("b"), viewer: "lee") == .seconds(5))
            let count = try store.index.connection.first("SELECT count(*) FROM viewer_resume_point") { $0.int(0) }
            #expect(count == 2)
            let late = lectureError { try store.index.contents.setResumePoint(a, .seconds(1), viewer: "kim") }
            #expect(late?.code == .storeFailed, "there is no such lecture")
            let unnamed = lectureError { try store.index.contents.setResumePoint(b, .seconds(1), viewer: "") }
            #expect(unnamed?.code == .storeFailed)
        }
    }

    @Test func `an erased learner resumes nowhere, also in a copy of the store`() throws {
        try StoreFixture.with { store in
            let (key, a) = (try ContentKey("a"), try store.add("a"))
            for viewer in ["kim", "lee"] {
                try store.index.contents.setResumePoint(a, .seconds(5), viewer: viewer)
            }
            let copy = store.directory.file("copy.db")
            try StoreMaintenance.backup(store.location, to: copy)
            _ = try ReportErasure(connection: store.index.connection).erase(user: "kim", isForced: false)
            let queries = try store.queries()
            #expect(try ViewerResumePoints(queries).point(of: key, viewer: "kim") == .zero)
            #expect(try ViewerResumePoints(queries).point(of: key, viewer: "lee") == .seconds(5))
            _ = try ReportErasure.erase(inBackup: copy, user: "kim")
            let left = try Connection(path: copy, access: .immutable).query(
                "SELECT client_user_id FROM viewer_resume_point"
            ) { $0.text(0) }
            #expect(left == ["lee"])
        }
    }

    @Test func `a point is found by an index`() throws {
        try StoreFixture.with { store in
            _ = try store.add("a")
            let plans = [
                "SELECT position_ms FROM viewer_resume_point WHERE content_id = 1 AND client_user_id = 'kim'",
                "DELETE FROM viewer_resume_point WHERE client_user_id = 'kim'",
            ]
            for sql in plans {
                let plan = try store.index.connection.query("EXPLAIN QUERY PLAN \(sql)") { $0.text(3) }
                #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
            }
        }
    }
}

/// Licences by the days of their ends.
struct LicenceDayTests {
    private static let day: Int64 = 86_400_000

    /// Runs a test on a new store. What it adds is no sound lecture, and is taken out again.
    private static func with(_ body: (StoreFixture) throws -> Void) throws {
        try StoreFixture.with { store in
            try body(store)
            try store.index.connection.run(script: "DELETE FROM licence; DELETE FROM content")
        }
    }

    /// Adds lectures with licences by SQL: as many as a large store has.
    private static func fill(_ store: StoreFixture, _ count: Int, deadline: String) throws {
        try store.index.connection.run(
            script: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO content(key, state, position, added_ms, updated_ms, is_gateway, is_loaded, source_identity,
                    title, source_url, content_type)
                SELECT printf('k%06d', i), 0, i, 1, 1, 0, 1, randomblob(32), 'T', 'http://127.0.0.1/a', 0 FROM n;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO licence(content_key, content_id, callback_url, form, expires_ms, mac)
                SELECT printf('k%06d', i), (SELECT id FROM content WHERE key = printf('k%06d', i)),
                    'http://127.0.0.1/drm', 0,
                    \(deadline), zeroblob(32) FROM n;
                """)
    }

    @Test func `all of a hundred thousand are counted, from the index alone`() throws {
        try Self.with { store in
            // Seven days, one of them with more than half.
            try Self.fill(
                store, 100_000, deadline: "CASE WHEN i % 2 = 0 THEN 3 ELSE i % 14 / 2 END * \(Self.day) + i % 1000")
            let queries = try store.queries()
            let days = try LicenceCalendarRows(queries).days(before: Timestamp(milliseconds: 100 * Self.day))
            #expect(days.map(\.day) == Array(0...6) && days.reduce(0) { $0 + $1.count } == 100_000, "\(days)")
            #expect(days.first { $0.day == 3 }?.count ?? 0 > 50_000)
            let some = try LicenceCalendarRows(queries).days(before: Timestamp(milliseconds: 2 * Self.day))
            #expect(some.map(\.day) == [0, 1] && some.map(\.count) == days.prefix(2).map(\.count))
            let plan = try store.index.connection.query(
                "EXPLAIN QUERY PLAN \(LicenceCalendarRows.licenceDaysSQL.replacing("?", with: "5"))"
            ) { $0.text(3) }
            #expect(plan.first?.contains("INDEX licence_deadline (deadline_ms<?)") == true, "\(plan)")
        }
    }

    @Test func `a period is read in pages, each licence once`() throws {
        try Self.with { store in
            try Self.fill(store, 2500, deadline: "i / 100 * \(Self.day)")
            let queries = try store.queries()
            let (start, end) = (Timestamp(milliseconds: 5 * Self.day), Timestamp(milliseconds: 15 * Self.day))
            for limit in [1000, 300, 1] {
                var (keys, last): ([ContentKey], (deadline: Timestamp, key: ContentKey)?) = ([], nil)
                while case let page = try LicenceCalendarRows(queries).licences(
                    deadlineFrom: start, before: end, after: last, limit: limit),
                    let row = page.last
                {
                    keys += page.map(\.entry.key)
                    let deadline = try #require(row.entry.deadline)
                    last = (deadline, row.entry.key)
                    #expect(page.allSatisfy { start <= ($0.entry.deadline ?? end) && ($0.entry.deadline ?? end) < end })
                }
                #expect(keys.count == 1000 && Set(keys).count == 1000, "\(limit)")
                #expect(keys.first?.text == "k000500" && keys.last?.text == "k001499")
            }
            let edges = [
                (Int64.min, Int64.min, 0), (.min, 0, 0), (.min, 1, 99), (0, Self.day, 99), (0, .max, 2500),
                (25 * Self.day, .max, 1), (25 * Self.day + 1, .max, 0), (Self.day, Self.day, 0),
            ]
            for (start, end, count) in edges {
                let page = try LicenceCalendarRows(queries).licences(
                    deadlineFrom: Timestamp(milliseconds: start), before: Timestamp(milliseconds: end), after: nil,
                    limit: 5000)
                #expect(page.count == count, "\(start)..<\(end)")
            }
        }
    }

    @Test func `licences without a deadline and those of removed lectures are on no day`() throws {
        try Self.with { store in
            try Self.fill(store, 20, deadline: "CASE WHEN i > 10 THEN i * \(Self.day) END")
            try store.index.connection.execute("DELETE FROM content WHERE key = 'k000020'")
            try store.index.connection.execute("UPDATE licence SET is_force_expired = 1 WHERE content_key = 'k000019'")
            let days = try LicenceCalendarRows(try store.queries()).days(before: Timestamp(milliseconds: .max))
            #expect(days.map(\.day) == [0] + Array(11...18) && days.allSatisfy { $0.count == 1 }, "\(days)")
        }
    }
}
