import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// What is read of a lecture for a line: less than of a lecture, and nothing else.
@Suite struct LineTests {
    /// Lectures in every state, for every reason, of every type, complete, partly complete and outdated.
    private func fill(_ store: StoreFixture) throws {
        let connection = store.index.connection
        for state in ItemState.allCases {
            for type in ContentType.allCases {
                let id = try store.add("\(state.name)-\(type.rawValue)") { request in
                    request.title = "선형대수 \(type.rawValue)"
                    (request.course, request.teacher, request.folder) = ("course", "teacher", "a/b")
                    request.priority = state.rawValue * 3 - 10
                }
                try connection.execute(
                    """
                    UPDATE content SET state = ?1, content_type = ?2, bytes_total = ?3, bytes_proven = ?4,
                        chunks_total = 7, chunks_proven = 3, attempts = 4, next_attempt_ms = 5, duration_ms = 6,
                        sha256 = zeroblob(32), completed_ms = CASE ?1 WHEN 4 THEN 8 END,
                        stop_reason = CASE ?1 WHEN 5 THEN 1 END, error_code = CASE ?1 WHEN 6 THEN -8404 END
                    WHERE id = ?5
                    """, state, type, type.rawValue == 1 ? nil : 2000, type.rawValue == 2 ? 0 : 1234, id)
            }
        }
        for reason in StopReason.allCases {
            let id = try store.add("stopped for \(reason.rawValue)")
            try connection.execute(
                """
                UPDATE content SET state = 5, stop_reason = ?, error_code = -8503, error_detail = 'server.example',
                    error_cause = 'HTTP 503' WHERE id = ?
                """, reason, id)
        }
        for name in ["whole", "older", "older and failed"] {
            let id = try store.completed(name)
            if name == "whole" { continue }
            try connection.execute("UPDATE version SET is_outdated = 1 WHERE content_id = ?", id)
            try connection.execute(
                "UPDATE content SET state = ?, error_code = ?, completed_ms = NULL WHERE id = ?",
                name == "older" ? ItemState.queued : .failed, name == "older" ? nil : -8404, id)
        }
    }

    /// What one page behind the other shows.
    private func lines(
        _ queries: SQLiteContentQueries, _ filter: ContentFilter, _ sort: ContentSort, pagesOf limit: Int
    ) throws -> [String] {
        var (all, place): ([String], ContentPlace?) = ([], nil)
        repeat {
            let before = all.count
            let rows = ListedRows(queries, filter, sort: sort, after: place, skipping: 0, limit: limit)
            let (count, end) = try rows.lines {
                all.append("\($0.shown) \(String(describing: $1))")
            }
            #expect(all.count - before == count)
            place = end
        } while place != nil
        return all
    }

    private func contents(
        _ queries: SQLiteContentQueries, _ filter: ContentFilter, _ sort: ContentSort, pagesOf limit: Int
    ) throws -> [(content: Content, file: FinalizedFile?)] {
        var (all, place): ([(content: Content, file: FinalizedFile?)], ContentPlace?) = ([], nil)
        repeat {
            let (page, end) = try queries.contents(filter, sort: sort, after: place, skipping: 0, limit: limit) {
                (content: $0, file: $1)
            }
            (all, place) = (all + page, end)
        } while place != nil
        return all
    }

    @Test(arguments: ContentSort.allCases, [3, 1000])
    func `a line has what the lecture has, in the same order and with the same file`(
        sort: ContentSort, limit: Int
    ) throws {
        try StoreFixture.with { store in
            try fill(store)
            let queries = try store.queries()
            var filters = [ContentFilter()]
            filters += [ItemState.completed, .stopped, .failed].map { state in
                var filter = ContentFilter()
                filter.states = [state]
                return filter
            }
            for filter in filters {
                let whole = try contents(queries, filter, sort, pagesOf: limit)
                #expect(!whole.isEmpty)
                #expect(
                    try lines(queries, filter, sort, pagesOf: limit)
                        == whole.map { content, file in
                            content.withLine { "\($0.shown) \(String(describing: file))" }
                        })
            }
            let all = try contents(queries, ContentFilter(), sort, pagesOf: limit)
            #expect(all.count == ItemState.allCases.count * ContentType.allCases.count + StopReason.allCases.count + 3)
            #expect(all.contains { $0.file != nil } && all.contains { $0.content.isOutdated })
            #expect(all.contains { $0.content.error != nil } && all.contains { $0.content.course == "course" })
            try store.index.connection.run(script: "DELETE FROM content; DELETE FROM licence")
        }
    }

    @Test func `a line reads the index that the list of lectures reads, and sorts as little`() throws {
        try StoreFixture.with { store in
            let connection = try store.queries().connection
            for sort in ContentSort.allCases {
                let list = try ContentList(ContentFilter(), sort: sort, on: connection)
                let part = try #require(list.parts(after: nil).first)
                func plan(_ columns: String) throws -> [String] {
                    try connection.plan(
                        list.sql(part, columns: "\(columns), \(ContentColumns.joinedMedia)"),
                        values: list.values + part.values + [50.sqliteValue, 0.sqliteValue])
                }
                #expect(try plan(ContentColumns.joinedLine) == plan(ContentColumns.joinedList), "\(sort)")
            }
        }
    }
}
