import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// What lists show of lectures besides their rows.
@Suite struct DetailTests {
    private static let everything = ContentPage()

    private func details(
        _ queries: SQLiteContentQueries, _ filter: ContentFilter = ContentFilter(), sort: ContentSort = .added,
        page: ContentPage = everything, withLicences: Bool = false
    ) throws -> [ListedContent] {
        try queries.details(filter, sort: sort, page: page, withLicences: withLicences) { $0 }
    }

    /// A complete lecture with pictures: those of the roles in `finalized` are there, the others are only planned.
    private func pictured(_ store: StoreFixture, _ name: String, finalized: Set<ResourceRole>) throws -> ContentID {
        let lease = try store.leased(name)
        let roles: [ResourceRole] = [.media, .snapshot, .thumbnail]
        let requests = roles.map { ResourceRequest(role: $0, name: "", urls: ["http://127.0.0.1/\(name)-\($0.name)"]) }
        let version = try store.index.versions.beginVersion(lease, requests: requests, now: store.now).id
        for var resource in try store.index.versions.resources(version) {
            resource.state = .planned
            resource.path = "media/\(name)-\(resource.role.name)"
            (resource.total, resource.chunkBytes) = (1_000, 1_000)
            try store.index.resources.updateResource(lease, resource)
            if resource.role == .media || finalized.contains(resource.role) {
                try store.index.resources.markCommitted(
                    lease, resource.id, StoreFixture.chunks(0..<1), bytes: 1_000, now: store.now)
            }
        }
        for var resource in try store.index.versions.resources(version)
        where resource.role == .media || finalized.contains(resource.role) {
            resource.state = .finalized
            try store.index.resources.updateResource(lease, resource)
        }
        try store.index.versions.completeVersion(lease, version, sha256: nil, now: store.now)
        return lease.content
    }

    @Test func everyOrderAndEveryPageOfDetailsIsThatOfTheList() throws {
        try StoreFixture.with { store in
            for number in 0..<12 {
                try store.add("k\(number)") { request in
                    request.title = "title \(number * 5 % 12)"
                    request.folder = ["", "a", "a/b"][number % 3]
                    request.priority = number % 4
                }
            }
            try addLicences(store, to: [1, 4, 7])
            let queries = try store.queries()
            var inFolder = ContentFilter()
            inFolder.folder = "a"
            for filter in [ContentFilter(), inFolder] {
                for sort in ContentSort.allCases {
                    for page in [ContentPage(), ContentPage(offset: 2, limit: 3), ContentPage(offset: 90, limit: 3)] {
                        let due = try queries.contents(filter, sort: sort, page: page)
                        let plain = try details(queries, filter, sort: sort, page: page)
                        #expect(plain.map(\.content) == due, "\(sort) \(page)")
                        let licensed = try details(queries, filter, sort: sort, page: page, withLicences: true)
                        #expect(licensed.map(\.content) == due, "\(sort) \(page)")
                        #expect(plain.allSatisfy { $0.licence == nil })
                        for listed in licensed {
                            #expect(try listed.licence == queries.licence(listed.content.key))
                            #expect(try queries.item(listed.content.key)?.id == listed.id)
                        }
                    }
                }
            }
            let licensed = try details(queries, withLicences: true).filter { $0.licence != nil }
            #expect(licensed.map(\.content.key.text) == ["k1", "k4", "k7"])
            try store.index.connection.run(script: "DELETE FROM licence")
        }
    }

    private func addLicences(_ store: StoreFixture, to numbers: [Int]) throws {
        for number in numbers {
            try store.index.connection.execute(
                """
                INSERT INTO licence(content_key, content_id, form, expires_ms, mac)
                SELECT key, id, 0, ?, zeroblob(32) FROM content WHERE key = ?
                """, 1_000 + number, "k\(number)")
        }
    }

    @Test func picturesAreThoseOfTheCurrentVersionThatAreFinalized() throws {
        try StoreFixture.with { store in
            let both = try pictured(store, "both", finalized: [.snapshot, .thumbnail])
            let still = try pictured(store, "still", finalized: [.snapshot])
            let (lease, _, _) = try store.planned("unfinished")
            let queries = try store.queries()
            let rows = try details(queries)
            #expect(rows.map(\.id) == [both, still, lease.content])
            #expect(rows.map(\.snapshotPath) == ["media/both-snapshot", "media/still-snapshot", nil])
            #expect(rows.map(\.thumbnailPath) == ["media/both-thumbnail", nil, nil])
            // Pictures of an older version are not shown, whatever happened to the newer one.
            try store.index.connection.execute(
                "UPDATE version SET state = 2 WHERE content_id = ?", both)
            #expect(try details(queries).first?.snapshotPath == nil)
            try store.index.connection.execute("UPDATE version SET state = 1 WHERE content_id = ?", both)
        }
    }

    @Test func aResumePointIsKeptOnceAndGoesWithItsContent() throws {
        try StoreFixture.with { store in
            let (a, b) = (try store.add("a"), try store.add("b"))
            let queries = try store.queries()
            func points() throws -> [Duration] { try details(queries).map(\.resumePoint) }
            #expect(try points() == [.zero, .zero])
            try store.index.contents.setResumePoint(b, .milliseconds(61_500))
            #expect(try points() == [.zero, .milliseconds(61_500)])
            let version = try queries.dataVersion()
            try store.index.contents.setResumePoint(b, .milliseconds(61_500))
            #expect(try queries.dataVersion() == version, "the same again writes nothing")
            try store.index.contents.setResumePoint(b, .seconds(7))
            try store.index.contents.setResumePoint(a, .seconds(Int64.max))
            #expect(try points() == [.milliseconds(Int64.max), .seconds(7)])
            try store.index.contents.setResumePoint(a, .seconds(-4))
            #expect(try points() == [.zero, .seconds(7)])
            try store.index.connection.execute("DELETE FROM content WHERE id = ?", b)
            #expect(try points() == [.zero])
            let left = try store.index.connection.first("SELECT count(*) FROM resume_point") { $0.int(0) }
            #expect(left == 0)
            #expect(lectureError { try store.index.contents.setResumePoint(b, .seconds(1)) }?.code == .storeFailed)
        }
    }

    @Test func aContentThatTurnsOutToBeAnotherLeavesItItsPlace() throws {
        try StoreFixture.with { store in
            let (known, link) = (try store.add("known"), try store.leased("link"))
            try store.index.contents.setResumePoint(link.content, .seconds(30))
            try store.index.contents.merge(link, into: known)
            #expect(try details(try store.queries()).map(\.resumePoint) == [.seconds(30)])
            let again = try store.leased("again")
            try store.index.contents.setResumePoint(again.content, .seconds(99))
            try store.index.contents.merge(again, into: known)
            #expect(try details(try store.queries()).map(\.resumePoint) == [.seconds(30)])
        }
    }

    @Test func aStoreOfSchemaFourKeepsWhereAPlayerGoesOn() throws {
        for number in ["0001", "0002", "0003", "0004", "0005"] {
            let (directory, location) = try SchemaTests.store(shipped: number)
            // An older schema is migrated here.
            let index = try SQLiteDownloadIndex(opening: location, now: Timestamp(milliseconds: 1))
            let queries = try SQLiteContentQueries(opening: location)
            let row = try #require(try queries.detail(try ContentKey("completed"), withLicence: true))
            #expect(row.content.title == "강의 3" && row.company == "A company" && row.synopsis == "About it")
            #expect(row.descriptionURL == "http://127.0.0.1/about" && row.width == 1920 && row.height == 1080)
            #expect(row.resumePoint == (number >= "0004" ? .milliseconds(125_000) : .zero))
            #expect(row.snapshotPath == (number >= "0004" ? "media/3-still" : nil))
            #expect((row.licence == nil) == (number == "0001"))
            #expect(try queries.descriptor(row.id) == #"{"version":1,"unknown":true}"#)
            #expect(try queries.folders(below: "") == ["maths"])
            #expect(try queries.folders(below: "maths") == ["first year"])
            #expect(try details(queries, sort: .folder).map(\.content.key.text).first == "downloading")
            try index.contents.setResumePoint(row.id, .seconds(1))
            #expect(try queries.detail(row.content.key, withLicence: false)?.resumePoint == .seconds(1))
            #expect(try queries.detail(try ContentKey("unknown"), withLicence: true) == nil)
            _ = directory
        }
    }
}

@Suite struct FolderTests {
    private func fill(_ store: StoreFixture, _ folders: [String]) throws {
        for (number, folder) in folders.enumerated() { try store.add("k\(number)") { $0.folder = folder } }
    }

    @Test func theFoldersBelowAFolderAreListedOnce() throws {
        try StoreFixture.with { store in
            // '-' sorts before '/', '0' after it: the children of `a` are not contiguous.
            try fill(
                store,
                [
                    "", "a", "a", "a-b", "a-b/c", "a/b", "a/b/c/d", "a/b-1", "a/b0", "a/Z", "a0", "a0/x",
                    "b/only below",
                    "é", "e\u{301}", "한국/수학", "\u{10FFFF}/x", "\u{10FFFF}",
                ])
            let queries = try store.queries()
            #expect(
                try queries.folders(below: "").map { Array($0.utf8) }
                    == ["a", "a-b", "a0", "b", "e\u{301}", "é", "한국", "\u{10FFFF}"].map { Array($0.utf8) })
            #expect(try queries.folders(below: "a") == ["Z", "b", "b-1", "b0"])
            #expect(try queries.folders(below: "a/b") == ["c"])
            #expect(try queries.folders(below: "a/b/c") == ["d"])
            #expect(try queries.folders(below: "a/b/c/d").isEmpty)
            #expect(try queries.folders(below: "b") == ["only below"])
            #expect(try queries.folders(below: "한국") == ["수학"])
            #expect(try queries.folders(below: "c").isEmpty && queries.folders(below: "%").isEmpty)
        }
    }

    @Test func foldersOfManyContentsAreFoundInTheirIndex() throws {
        try StoreFixture.with { store in
            let connection = store.index.connection
            try store.index.transaction { _ in
                _ = try connection.execute(
                    """
                    INSERT INTO content(key, position, added_ms, updated_ms, is_gateway, source_identity, title, folder,
                        source_url)
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
                    SELECT 'key' || i, i, 0, 0, 0, CAST(i AS BLOB), 'x', 'f' || (i % 7) || '/g' || i, '' FROM n
                    """)
            }
            let queries = try store.queries()
            #expect(try queries.folders(below: "") == (0..<7).map { "f\($0)" })
            #expect(try queries.folders(below: "f3").count == (20_000 - 3 + 6) / 7)
            for (isBehind, isTop) in [(true, true), (false, true), (true, false), (false, false)] {
                let values = [SQLiteValue](repeating: .text("a"), count: isTop ? 1 : 2)
                let plan = try connection.plan(
                    SQLiteContentQueries.nextFolderSQL(isBehind: isBehind, isTop: isTop), values: values)
                #expect(
                    plan.count == 1 && plan[0].hasPrefix("SEARCH content USING COVERING INDEX content_folder (folder>"))
            }
            try connection.run(script: "DELETE FROM content")
        }
    }

    @Test func aPageOfDetailsNeitherSortsNorWalksAnotherTable() throws {
        try StoreFixture.with { store in
            let queries = try store.queries()
            for state in [ItemState?.none, .completed] {
                for sort in ContentSort.allCases {
                    for withLicences in [false, true] {
                        var filter = ContentFilter()
                        filter.states = state.map { [$0] } ?? []
                        let first = ContentPage(offset: 0, limit: 50)
                        let plan = try queries.detailPlan(
                            filter, sort: sort, withLicences: withLicences, page: first)
                        let tables = plan.filter { $0.hasPrefix("SCAN") || $0.hasPrefix("SEARCH") }
                        #expect(tables.dropFirst().allSatisfy { $0.hasPrefix("SEARCH") }, "\(sort): \(plan)")
                        #expect(tables.count == (withLicences ? 12 : 11), "\(sort): \(plan)")
                        #expect(tables[0].contains(" content"), "\(sort): \(plan)")
                        #expect(
                            !withLicences
                                || tables.contains { $0.contains("licence") && $0.contains("(content_key=?)") })
                        // With a state and few rows a sort is cheaper: see ContentList.
                        if state == nil { #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(sort): \(plan)") }
                    }
                }
            }
        }
    }

    @Test func whatLiesBeforeAPageIsNotJoined() throws {
        try StoreFixture.with { store in
            let queries = try store.queries()
            for sort in ContentSort.allCases {
                let plan = try queries.detailPlan(
                    ContentFilter(), sort: sort, withLicences: true, page: ContentPage(offset: 1, limit: 50))
                let page = try #require(plan.firstIndex { $0 == "SCAN page" }, "\(sort): \(plan)")
                let licence = try #require(plan.firstIndex { $0.contains("licence") }, "\(sort): \(plan)")
                #expect(page < licence, "\(sort): \(plan)")
                // The whole list is read without a sort, unless the page is short.
                let all = try queries.detailPlan(
                    ContentFilter(), sort: sort, withLicences: true, page: ContentPage(offset: 1))
                #expect(!all.contains { $0.contains("TEMP B-TREE") }, "\(sort): \(all)")
            }
        }
    }
}

extension SQLiteContentQueries {
    /// The steps SQLite plans for a page of details.
    fileprivate func detailPlan(
        _ filter: ContentFilter, sort: ContentSort, withLicences: Bool, page: ContentPage
    ) throws -> [String] {
        let list = try ContentList(filter, sort: sort, on: connection)
        return try connection.plan(
            ContentDetailColumns.sql(list, withLicences: withLicences, page: page),
            values: list.values + [page.limit.sqliteValue, page.offset.sqliteValue])
    }
}
