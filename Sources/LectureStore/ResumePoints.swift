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
}
