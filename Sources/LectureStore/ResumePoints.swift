package import LectureModel
import LectureSQLite

/// Where players resume.
extension ContentRows {
    /// Stores where a player resumes. Nothing is written when that is unchanged.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - point: from its start; negative values mean the start.
    /// - Throws: ``LectureError``.
    package func setResumePoint(_ content: ContentID, _ point: Duration) throws {
        let position = point.milliseconds
        guard position > 0 else {
            try connection.execute("DELETE FROM resume_point WHERE content_id = ?", content)
            return
        }
        try connection.execute(
            """
            INSERT INTO resume_point(content_id, position_ms) VALUES (?, ?)
            ON CONFLICT (content_id) DO UPDATE SET position_ms = excluded.position_ms
            WHERE position_ms <> excluded.position_ms
            """, content, position)
    }

    /// Stores where a viewer resumes. Nothing is written when that is unchanged.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - point: from its start; negative values mean the start, which is stored too.
    ///   - viewer: the name of the person; not empty.
    /// - Throws: ``LectureError``.
    package func setResumePoint(_ content: ContentID, _ point: Duration, viewer: String) throws {
        try connection.execute(
            """
            INSERT INTO viewer_resume_point(content_id, client_user_id, position_ms) VALUES (?, ?, ?)
            ON CONFLICT (content_id, client_user_id) DO UPDATE SET position_ms = excluded.position_ms
            WHERE position_ms <> excluded.position_ms
            """, content, viewer, max(0, point.milliseconds))
    }
}

/// Where each viewer resumes.
package struct ViewerResumePoints {
    private let queries: SQLiteContentQueries

    /// Reads with the connection of other queries.
    ///
    /// - Parameter queries: of the store.
    package init(_ queries: SQLiteContentQueries) { self.queries = queries }

    /// Where a viewer resumes.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - viewer: the name of the person.
    /// - Returns: their own point, else that of the lecture; zero without either, and for a lecture that is not there.
    /// - Throws: ``LectureError``.
    package func point(of key: ContentKey, viewer: String) throws -> Duration {
        let position = try queries.connection.first(
            """
            SELECT coalesce((SELECT position_ms FROM viewer_resume_point
                    WHERE content_id = content.id AND client_user_id = ?2),
                (SELECT position_ms FROM resume_point WHERE content_id = content.id))
            FROM content WHERE key = ?1
            """, key, viewer
        ) { $0.optionalInt64(0) }
        return .milliseconds((position ?? nil) ?? 0)
    }
}
