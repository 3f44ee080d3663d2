package import LectureModel
import LectureSQLite

/// Licences by the days of their deadlines.
package struct LicenceCalendarRows {
    let queries: SQLiteContentQueries

    /// Reads with the connection of other queries.
    ///
    /// - Parameter queries: of the store.
    package init(_ queries: SQLiteContentQueries) { self.queries = queries }

    /// Licences with a deadline in a period, the earliest first.
    ///
    /// - Parameters:
    ///   - start: the beginning of the period, which belongs to it.
    ///   - before: its end, which does not.
    ///   - last: the last one of the page before, with its deadline there; nil for the first page.
    ///   - limit: the maximum number.
    /// - Returns: the licences with their lectures.
    /// - Throws: ``LectureError``.
    package func licences(
        deadlineFrom start: Timestamp, before: Timestamp, after last: (deadline: Timestamp, key: ContentKey)?,
        limit: Int
    ) throws -> [ListedLicence] {
        if let last { return try queries.licences(deadlineBefore: before, after: last, limit: limit) }
        // Without a lecture it is what follows the deadline.
        let place = Timestamp(milliseconds: max(start.milliseconds, .min + 1) - 1)
        return try queries.licensed(
            LicenceRows.afterDeadline,
            [before.sqliteValue, place.sqliteValue, SQLiteValue.null, max(0, limit).sqliteValue])
    }

    /// How many licences have a deadline on each day, read from the index alone.
    ///
    /// - Parameter before: only those whose deadline is before this moment.
    /// - Returns: the days in their order, as numbers of days since 1970 in UTC; those without a licence are left out.
    /// - Throws: ``LectureError``.
    package func days(before: Timestamp) throws -> [(day: Int64, count: Int)] {
        try queries.connection.query(Self.licenceDaysSQL, before) { ($0.int64(0), $0.int(1)) }
    }

    static let licenceDaysSQL = """
        SELECT max(deadline_ms, 0) / 86400000, count(*) FROM licence INDEXED BY licence_deadline
        WHERE content_id IS NOT NULL AND deadline_ms < ? GROUP BY 1 ORDER BY 1
        """
}
