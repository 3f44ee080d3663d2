import LectureModel
import LectureSQLite

/// Facts about a lecture that its reports need.
package struct ReportFacts: Hashable, Sendable {
    /// The course; empty when unknown.
    package let course: String
    /// The requested URL.
    package let sourceURL: String
    /// The gateway's descriptor as received.
    package let descriptor: String?
}

extension ContentRows {
    /// Facts about a lecture that its reports need.
    ///
    /// - Parameter key: the lecture's key as text.
    /// - Returns: nil for an unknown lecture.
    /// - Throws: ``LectureError``.
    package func reportFacts(_ key: String) throws -> ReportFacts? {
        try connection.first("SELECT course, source_url, descriptor FROM content WHERE key = ?", key) { row in
            ReportFacts(course: row.text(0), sourceURL: row.text(1), descriptor: row.optionalText(2))
        }
    }
}
