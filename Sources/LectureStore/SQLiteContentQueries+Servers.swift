import LectureFormats
import LectureModel
import LectureSQLite

extension SQLiteContentQueries {
    /// The servers that are needed, by what for.
    ///
    /// - Returns: how many lectures that are not complete, how many licences, and how many open reports need a server,
    ///   by its origin.
    /// - Throws: ``LectureError`` when the store cannot be read.
    package func servers() throws -> (media: [String: Int], licences: [String: Int], reports: [String: Int]) {
        try consistently {
            var (media, licences, reports) = ([String: Int](), [String: Int](), [String: Int]())
            let unfinished = ItemState.allCases.filter { $0 != .completed && $0 != .removing }
            _ = try connection.query(
                """
                SELECT source_url FROM content INDEXED BY content_state WHERE state IN \(sql: unfinished)
                """
            ) { row in Self.count(row.text(0), 1, in: &media) }
            _ = try connection.query(
                "SELECT callback_url, count(*) FROM licence WHERE content_id IS NOT NULL GROUP BY callback_url"
            ) { row in Self.count(row.text(0), row.int(1), in: &licences) }
            for target in try ReportRows(connection: connection).targets() where target.open > 0 {
                Self.count(target.address.url, target.open, in: &reports)
            }
            return (media, licences, reports)
        }
    }

    /// A URL without an origin needs no server: a rebuilt lecture, a licence file.
    private static func count(_ url: String, _ number: Int, in counts: inout [String: Int]) {
        guard let origin = try? Origin(parsing: url).text else { return }
        counts[origin, default: 0] += number
    }
}
