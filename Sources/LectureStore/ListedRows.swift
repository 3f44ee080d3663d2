package import LectureModel
import LectureSQLite

/// The lectures that follow a place in a list.
package struct ListedRows {
    private let queries: SQLiteContentQueries
    private let (filter, sort): (ContentFilter, ContentSort)
    private let place: ContentPlace?
    private let (offset, limit): (Int, Int)

    /// Plans to read them.
    ///
    /// - Parameters:
    ///   - queries: of the store.
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - place: the end of the page before, with the same filter and order; nil for the beginning.
    ///   - offset: how many are skipped.
    ///   - limit: the maximum number.
    package init(
        _ queries: SQLiteContentQueries, _ filter: ContentFilter, sort: ContentSort, after place: ContentPlace?,
        skipping offset: Int, limit: Int
    ) {
        (self.queries, self.filter, self.sort) = (queries, filter, sort)
        (self.place, self.offset, self.limit) = (place, offset, limit)
    }

    /// Reads what a line for people shows of each, with the file of the media of one that is complete.
    ///
    /// - Parameter read: gets each line, which is valid until it returns, and may correct it.
    /// - Returns: how many there were, and the place of the last one; nil when nothing can follow it.
    /// - Throws: the error of the store when it cannot be read; what `read` throws.
    package func lines(
        read: (inout ContentLine, FinalizedFile?) throws -> Void
    ) throws -> (count: Int, end: ContentPlace?) {
        var line = ContentLine()
        var count = 0
        let end = try forEach(ContentColumns.joinedLine) { row in
            count += 1
            try ContentColumns.line(row, &line)
            try read(&line, ContentColumns.media(row, ContentColumns.lineCount))
        }
        return (count, end)
    }

    /// Runs the statements of the list.
    ///
    /// - Parameters:
    ///   - columns: what is read of each lecture, its row first; the file of its media follows.
    ///   - read: gets each row.
    /// - Returns: the place of the last row; nil when nothing can follow it.
    /// - Throws: as above.
    func forEach(_ columns: String, read: (borrowing Row) throws -> Void) throws -> ContentPlace? {
        let connection = queries.connection
        return try queries.consistently {
            let list = try ContentList(filter, sort: sort, on: connection)
            var (count, last): (Int, ContentID?) = (0, nil)
            for part in list.parts(after: place) where count < limit {
                let bounds = [(limit - count).sqliteValue, max(0, offset).sqliteValue]
                let sql = list.sql(part, columns: "\(columns), \(ContentColumns.joinedMedia)")
                try connection.forEachRow(sql, values: list.values + part.values + bounds) { row in
                    count += 1
                    if count == limit { last = row.id(0) }
                    try read(row)
                }
            }
            return try last.flatMap { try list.place(of: $0, on: connection) }
        }
    }
}
