import Foundation
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct ListTests {
    /// Nine lectures whose titles, sizes and times are in different orders, with ties.
    private func fill(_ store: StoreFixture) throws {
        for number in 0..<9 {
            let id = try store.add("k\(number)") { request in
                request.title = ["b", "A", "c", "B", "a", "C", "d", "D", "e"][number]
                request.course = number < 4 ? "one" : "two"
                request.folder = number.isMultiple(of: 2) ? "even" : number == 7 ? "a/b" : ""
                request.priority = [0, 5, 0, 5, 0, 5, 0, -5, -5][number]
            }
            let state = number < 5 ? ItemState.completed : [.queued, .stopped, .failed, .downloading][number - 5]
            try store.index.connection.execute(
                """
                UPDATE content SET state = ?1, completed_ms = ?2, bytes_total = ?3, content_type = ?4,
                    stop_reason = CASE ?1 WHEN 5 THEN 1 END, error_code = CASE ?1 WHEN 6 THEN -8404 END
                WHERE id = ?5
                """, state, state == .completed ? 1_000 + number % 3 : nil, number == 8 ? nil : number % 4, number % 3,
                id)
            try store.index.connection.execute(
                """
                INSERT INTO licence(content_key, content_id, form, expires_ms, mac) VALUES (?, ?, 0, ?, zeroblob(32))
                """, "k\(number)", id, Self.deadline(number))
        }
    }

    /// Every third has no deadline; the others are in reverse order of registration, with a tie.
    private static func deadline(_ number: Int) -> Int64? {
        number.isMultiple(of: 3) ? nil : Int64([0, 500, 400, 0, 300, 300, 0, 100, 200][number])
    }

    /// The expected list, computed in Swift from all lectures.
    private func expected(_ all: [Content], _ filter: ContentFilter, _ sort: ContentSort) -> [String] {
        let passed = all.enumerated().filter { index, content in
            (filter.states.isEmpty || filter.states.contains(content.state))
                && (filter.type == nil || filter.type == content.type)
                && (filter.course == nil || filter.course == content.course)
                && (filter.folder == nil || filter.folder == content.folder)
                && filter.expiresBefore.map { before in
                    Self.deadline(index).map { $0 < before.milliseconds } ?? false
                } ?? true
                && filter.completedSince.map { since in content.completed.map { $0 >= since } ?? false } ?? true
        }
        let sorted = passed.sorted { left, right in
            let (a, b) = (left.element, right.element)
            switch sort {
            case .added: return left.offset < right.offset
            case .title:
                let (x, y) = (a.title.lowercased(), b.title.lowercased())
                return x == y ? left.offset < right.offset : x < y
            case .downloaded:
                let (x, y) = (a.completed?.milliseconds ?? 0, b.completed?.milliseconds ?? 0)
                return x == y ? left.offset < right.offset : x > y
            case .size:
                let (x, y) = (a.totalBytes ?? -1, b.totalBytes ?? -1)
                return x == y ? left.offset < right.offset : x > y
            case .priority:
                if a.priority != b.priority { return a.priority > b.priority }
                return a.position == b.position ? left.offset < right.offset : a.position < b.position
            // By the deadlines set by fill(_:): every third has none.
            case .expiry:
                let (x, y) = (Self.deadline(left.offset) ?? .max, Self.deadline(right.offset) ?? .max)
                return x == y ? left.offset < right.offset : x < y
            case .folder:
                if a.folder.isEmpty != b.folder.isEmpty { return b.folder.isEmpty }
                if a.folder != b.folder { return a.folder < b.folder }
                let (x, y) = (a.title.lowercased(), b.title.lowercased())
                return x == y ? left.offset < right.offset : x < y
            }
        }
        return sorted.map(\.element.key.text)
    }

    private static let filters: [ContentFilter] = {
        var filters = [ContentFilter()]
        func add(_ change: (inout ContentFilter) -> Void) {
            var filter = ContentFilter()
            change(&filter)
            filters.append(filter)
        }
        for state in ItemState.allCases { add { $0.states = [state] } }
        add { $0.states = [.stopped, .failed] }
        add { $0.states = [.completed, .queued, .downloading] }
        for type in ContentType.allCases { add { $0.type = type } }
        add { $0.course = "one" }
        add { $0.course = "none" }
        add { $0.folder = "even" }
        add { $0.folder = "" }
        add { $0.completedSince = Timestamp(milliseconds: 1_001) }
        add { $0.expiresBefore = Timestamp(milliseconds: 300) }
        add { $0.expiresBefore = Timestamp(milliseconds: 301) }
        add { ($0.states, $0.expiresBefore) = ([.completed], Timestamp(milliseconds: 1_000)) }
        add { ($0.states, $0.course) = ([.completed], "one") }
        add { ($0.states, $0.type, $0.folder) = ([.completed], .sample, "even") }
        add { ($0.course, $0.completedSince) = ("two", Timestamp(milliseconds: 1_000)) }
        return filters
    }()

    @Test func everyFilterInEveryOrderShowsWhatItShould() throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            let all = try queries.contents(ContentFilter(), sort: .added, page: ContentPage())
            #expect(all.count == 9)
            for filter in Self.filters {
                for sort in ContentSort.allCases {
                    let due = expected(all, filter, sort)
                    let got = try queries.contents(filter, sort: sort, page: ContentPage()).map(\.key.text)
                    #expect(got == due, "\(filter) \(sort)")
                    let page = try queries.contents(filter, sort: sort, page: ContentPage(offset: 1, limit: 2))
                    #expect(page.map(\.key.text) == Array(due.dropFirst().prefix(2)), "\(filter) \(sort)")
                    #expect(try followed(queries, filter, sort, limit: 2) == due, "\(filter) \(sort)")
                    let rest = try followed(queries, filter, sort, skipping: 1, limit: 1)
                    #expect(rest == Array(due.dropFirst()), "\(filter) \(sort)")
                }
                #expect(try queries.count(filter) == expected(all, filter, .added).count, "\(filter)")
            }
            // The rows were made by hand: they have no versions to check.
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }

    /// The keys of a list that is read in pages, each behind the one before.
    private func followed(
        _ queries: SQLiteContentQueries, _ filter: ContentFilter, _ sort: ContentSort, skipping offset: Int = 0,
        limit: Int, between: () throws -> Void = {}
    ) throws -> [String] {
        var (keys, place, offset): ([String], ContentPlace?, Int) = ([], nil, offset)
        repeat {
            let page = try queries.contents(filter, sort: sort, after: place, skipping: offset, limit: limit) {
                content, _ in content.key.text
            }
            #expect(page.results.count <= limit)
            keys += page.results
            (place, offset) = (page.end, 0)
            try between()
        } while place != nil
        return keys
    }

    /// What was read may go, and new rows may come in front of it, while a long list is printed.
    @Test(arguments: ContentSort.allCases) func rowsThatComeAndGoBetweenPagesMoveNoOther(sort: ContentSort) throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            let connection = store.index.connection
            let due = try queries.contents(ContentFilter(), sort: sort, page: ContentPage()).map(\.key.text)
            var read = 0
            let keys = try followed(queries, ContentFilter(), sort, limit: 2) {
                // The page that was just read goes altogether, also the row that the next one starts behind.
                for key in due.dropFirst(read).prefix(2) {
                    try connection.execute("DELETE FROM licence WHERE content_key = ?", key)
                    try connection.execute("DELETE FROM content WHERE key = ?", key)
                }
                read += 2
            }
            #expect(keys == due, "\(sort)")
            #expect(try queries.count(ContentFilter()) == 0)
        }
    }

    @Test func aRowInFrontOfAPageIsNotReadLater() throws {
        try StoreFixture.with { store in
            for key in ["b", "c", "d"] { try store.add(key) { $0.title = key } }
            let queries = try store.queries()
            var isFirst = true
            let keys = try followed(queries, ContentFilter(), .title, limit: 2) {
                if isFirst { try store.add("a") { $0.title = "a" } }
                isFirst = false
            }
            #expect(keys == ["b", "c", "d"])
        }
    }

    @Test func aListReadsWhatStandsInTheStore() throws {
        try StoreFixture.with { store in
            let id = try store.completed("a")
            let queries = try store.queries()
            let content = try #require(try queries.contents(ContentFilter(), sort: .title, page: ContentPage()).first)
            #expect(try content == store.item(id).content)
            #expect(try queries.item(try ContentKey("a"))?.content == content)
            #expect(try queries.key(identity: Array("identity of a".utf8))?.text == "a")
            #expect(try queries.key(identity: [0]) == nil)
            #expect(try queries.resources(try ContentKey("unknown")).isEmpty)
            let resource = try #require(try queries.resources(try ContentKey("a")).first)
            #expect(try queries.chunks(resource.id).count == 10)
        }
    }

    @Test func aListNeitherWaitsForAWriterNorSeesItsOpenTransaction() throws {
        try StoreFixture.with { store in
            try store.add("a")
            let queries = try store.queries()
            try store.index.transaction { _ in
                try store.add("b")
                #expect(try queries.count(ContentFilter()) == 1)
                #expect(try queries.contents(ContentFilter(), sort: .title, page: ContentPage()).count == 1)
            }
            #expect(try queries.count(ContentFilter()) == 2)
        }
    }

    @Test func theCountsByStateFollowEveryChange() throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            var status = try queries.status()
            #expect(status.counts == [.completed: 5, .queued: 1, .stopped: 1, .failed: 1, .downloading: 1])
            #expect(status.totalBytes == 0 + 1 + 2 + 3 + 0 + 1 + 2 + 3)
            try store.index.connection.execute("DELETE FROM content WHERE state = 4")
            status = try queries.status()
            #expect(status.counts == [.queued: 1, .stopped: 1, .failed: 1, .downloading: 1])
            #expect(status.totalBytes == 6)
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }
}

/// Lists of tens of thousands of lectures. The plan is checked, not the time: a page must be read from an index.
@Suite struct LargeListTests {
    private static func fill(_ connection: Connection, count: Int) throws {
        // Nine of ten complete, the rest queued, stopped, failed or in flight; two courses, one of them large.
        try connection.execute(
            """
            INSERT INTO content(key, state, stop_reason, error_code, completed_ms, priority, position, bytes_total,
                added_ms, updated_ms, content_type, is_gateway, source_identity, title, course, folder, source_url)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?),
            s(i, state) AS (SELECT i, CASE WHEN i % 10 THEN 4 WHEN i % 100 THEN 0 WHEN i % 1000 THEN 5
                WHEN i % 10000 THEN 6 ELSE 2 END FROM n)
            SELECT 'key' || i, state, CASE state WHEN 5 THEN 1 END, CASE state WHEN 6 THEN -8404 END,
                CASE state WHEN 4 THEN 1700000000000 + i * 7919 % 99991 END, i % 3, i * 1024, i * 104729 % 1000003,
                i, i,
                CASE WHEN i % 500 THEN 1 ELSE 2 END, 0, CAST(i AS BLOB), 'Lecture ' || (i * 7907 % 100003),
                CASE WHEN i % 5 THEN 'large' ELSE 'course ' || (i % 1000) END, '', 'http://127.0.0.1/' || i
            FROM s
            """, count)
    }

    @Test func aPageOfManyContentsNeverSortsThemAll() throws {
        try StoreFixture.with { store in
            try store.index.transaction { _ in try Self.fill(store.index.connection, count: 40_000) }
            let queries = try store.queries()
            #expect(try queries.count(ContentFilter()) == 40_000)
            for state in ItemState.allCases.map(Optional.some) + [nil] {
                var filter = ContentFilter()
                filter.states = state.map { [$0] } ?? []
                let count = try queries.count(filter)
                for sort in ContentSort.allCases {
                    let plan = try queries.plan(filter, sort: sort)
                    let hasOwnOrder = state?.isSettled != false && (state == nil || ![.expiry, .folder].contains(sort))
                    let isSmall = count <= ContentList.few && !hasOwnOrder
                    if !isSmall { #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(filter) \(sort): \(plan)") }
                    // What follows a row in the middle is one range of an index after the other, none of them sorted.
                    if !isSmall {
                        for plan in try queries.plans(filter, sort: sort, after: ContentID(20_001)) {
                            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(filter) \(sort): \(plan)")
                            #expect(plan.first?.hasPrefix("SEARCH content ") == true, "\(filter) \(sort): \(plan)")
                        }
                    }
                    let last = try queries.contents(filter, sort: sort, page: ContentPage(offset: 40, limit: 50))
                    #expect(last.count == min(50, max(0, count - 40)))
                }
            }
            // The copied deadline is enough for the order; four of five have one.
            try store.index.connection.execute("UPDATE content SET deadline_ms = id * 7919 % 99991 WHERE id % 5")
            try checkConditions(queries)
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }

    private func checkConditions(_ queries: SQLiteContentQueries) throws {
        var large = ContentFilter()
        large.course = "large"
        var small = ContentFilter()
        small.course = "course 5"
        var rare = ContentFilter()
        rare.type = .sample
        var recent = ContentFilter()
        recent.completedSince = Timestamp(milliseconds: 1_700_000_000_000)
        var soon = ContentFilter()
        soon.expiresBefore = Timestamp(milliseconds: 90_000)
        for sort in ContentSort.allCases {
            for filter in [large, recent, soon] {
                let plan = try queries.plan(filter, sort: sort)
                #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(filter) \(sort): \(plan)")
            }
            // Few rows: found by their own index; sorting them is cheaper than walking all others.
            for (filter, index) in [(small, "content_course"), (rare, "content_type")] {
                let plan = try queries.plan(filter, sort: sort)
                #expect(plan.first?.contains("USING INDEX \(index) ") == true, "\(filter) \(sort): \(plan)")
            }
        }
        #expect(try queries.plan(large, sort: .title).first?.contains("content_course (course=?)") == true)
    }

    @Test func aClaimFromALongQueueLooksAtItsHeadOnly() throws {
        try StoreFixture.with { store in
            try store.index.transaction { _ in
                try Self.fill(store.index.connection, count: 20_000)
                try store.index.connection.execute(
                    "UPDATE content SET state = 0, completed_ms = NULL, stop_reason = NULL, error_code = NULL")
            }
            #expect(try store.index.owners.joinUnfinished(store.run) == 20_000)
            let claimed = try store.index.owners.claim(run: store.run, owner: store.owner, limit: 16, now: store.now)
            #expect(claimed.count == 16)
            #expect(claimed.allSatisfy { $0.content.priority == 2 })
            #expect(claimed.map(\.content.position) == claimed.map(\.content.position).sorted())
            #expect(try store.index.owners.hasQueued(run: store.run))
            #expect(try store.index.owners.summary(store.run).counts[.queued] == 20_000)
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }
}
