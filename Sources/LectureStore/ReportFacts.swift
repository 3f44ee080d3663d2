import LectureModel
import LectureSQLite

/// What reports about a content need to know of it.
package struct ReportFacts: Hashable, Sendable {
    /// The course; empty when unknown.
    package let course: String
    /// Where the content was asked for.
    package let sourceURL: String
    /// The gateway's descriptor as it came.
    package let descriptor: String?
}

extension SQLiteDownloadIndex {
    /// What reports about a content need to know of it.
    ///
    /// - Parameter key: the content's key as text.
    /// - Returns: nil for an unknown content.
    /// - Throws: ``LectureError``.
    package func reportFacts(_ key: String) throws -> ReportFacts? {
        try connection.first("SELECT course, source_url, descriptor FROM content WHERE key = ?", key) { row in
            ReportFacts(course: row.text(0), sourceURL: row.text(1), descriptor: row.optionalText(2))
        }
    }
}
