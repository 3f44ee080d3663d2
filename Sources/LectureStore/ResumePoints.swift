package import LectureModel
import LectureSQLite

/// Where players go on.
extension SQLiteDownloadIndex {
    /// Keeps where a player goes on. Nothing is written when that is where it goes on already.
    ///
    /// - Parameters:
    ///   - content: the content.
    ///   - point: from its beginning; what is not behind it is the beginning.
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
