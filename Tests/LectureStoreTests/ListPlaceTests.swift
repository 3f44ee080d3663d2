import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Pages that are turned both ways, from a lecture that is named by its key, and titles that are searched.
@Suite struct ListPlaceTests {
    private static let titles = ["b", "A", "c", "B", "a", "C", "d", "D", "e", "100%", "a_b", "선형대수학", "c\\d"]

    private func fill(_ store: StoreFixture) throws {
        for (number, title) in Self.titles.enumerated() {
            let id = try store.add("k\(number)") { request in
                request.title = title
                request.folder = number.isMultiple(of: 2) ? "even" : ""
                request.priority = number % 4
            }
            try store.index.connection.execute(
                "UPDATE content SET state = ?, completed_ms = ?, bytes_total = ? WHERE id = ?",
                number < 8 ? ItemState.completed : .queued, number < 8 ? 1000 + number % 3 : nil,
                number == 8 ? nil : number % 4, id)
        }
    }

    private func keys(_ queries: SQLiteContentQueries, _ filter: ContentFilter, _ sort: ContentSort) throws -> [String]
    {
        try queries.contents(filter, sort: sort, page: ContentPage()).map(\.key.text)
    }

    @Test(arguments: ContentSort.allCases, [nil, ItemState.completed, .queued])
    func `what comes before and after a lecture is what the whole list has there`(
        sort: ContentSort, state: ItemState?
    ) throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            var filter = ContentFilter()
            filter.states = state.map { [$0] } ?? []
            let all = try keys(queries, filter, sort)
            for (place, key) in all.enumerated() {
                for limit in [1, 3, 100] {
                    func beside(_ isBefore: Bool) throws -> [String]? {
                        try queries.contents(
                            filter, sort: sort, beside: ContentKey(key), isBefore: isBefore, limit: limit
                        ) { content, _ in content.key.text }
                    }
                    #expect(try beside(true) == Array(all[..<place].suffix(limit)), "before \(key) by \(sort)")
                    #expect(try beside(false) == Array(all[(place + 1)...].prefix(limit)), "after \(key) by \(sort)")
                }
            }
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }

    @Test func `a lecture that is gone has no place`() throws {
        try StoreFixture.with { store in
            try fill(store)
            let found = try store.queries().contents(
                ContentFilter(), sort: .added, beside: ContentKey("other"), isBefore: true, limit: 5
            ) { content, _ in content.key }
            #expect(found == nil)
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }

    @Test(arguments: [
        ("a", ["k1", "k4", "k10"]), ("A", ["k1", "k4", "k10"]), ("%", ["k9"]), ("0%", ["k9"]), ("_", ["k10"]),
        ("\\", ["k12"]), ("대수", ["k11"]), ("'", []), ("zz", []), ("", (0...12).map { "k\($0)" }),
    ])
    func `titles are searched as text, not as a pattern`(text: String, due: [String]) throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            var filter = ContentFilter()
            filter.search = text
            for sort in ContentSort.allCases {
                #expect(try Set(keys(queries, filter, sort)) == Set(due), "\(text) by \(sort)")
            }
            #expect(try queries.count(filter) == due.count)
            filter.states = [.queued]
            #expect(try Set(keys(queries, filter, .title)) == Set(due.filter { (Int($0.dropFirst()) ?? 0) >= 8 }))
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }
}
