package import LectureModel
import LectureSQLite

// Tables course_list and course_entry: which lectures a course list names, and what has left it.

extension SQLiteDownloadIndex {
    /// The list of lectures that were requested one by one. Nothing ever leaves it.
    package static let singleRequests = ""

    /// Notes what a list names now. What it named before and names no more has left it from now on; what comes back has
    /// not left it.
    ///
    /// - Parameters:
    ///   - name: of the list; ``singleRequests`` only gains entries.
    ///   - contents: every content that the list names.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func recordCourseList(_ name: String, contents: [ContentID], now: Timestamp) throws {
        try atomically {
            try connection.execute(
                """
                INSERT INTO course_list(name, read_ms) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET read_ms = ?2
                """, name, now)
            let list = try connection.first("SELECT id FROM course_list WHERE name = ?", name) { $0.int64(0) }
            if name != Self.singleRequests {
                try connection.execute(
                    "UPDATE course_entry SET gone_ms = coalesce(gone_ms, ?) WHERE list_id = ?", now, list)
            }
            for content in contents {
                try connection.execute(
                    """
                    INSERT INTO course_entry(list_id, content_id) VALUES (?, ?)
                    ON CONFLICT (list_id, content_id) DO UPDATE SET gone_ms = NULL
                    """, list, content)
            }
        }
    }

    /// Contents that have left lists and stand in no other one. Samples, and what is being removed, are left out.
    ///
    /// - Parameters:
    ///   - lists: their names.
    ///   - time: only what had left by then.
    /// - Returns: the contents in the order they were registered, and how many the lists named, those included.
    /// - Throws: ``LectureError``.
    package func contentsGone(
        from lists: [String], before time: Timestamp
    ) throws -> (gone: [ContentID], named: Int) {
        try connection.transaction(.read) {
            let names = try JSONText.encode(lists)
            let gone: [ContentID] = try connection.query(
                """
                SELECT content.id FROM content
                WHERE content.desire <> ?3 AND content.content_type <> ?4
                    AND EXISTS (SELECT 1 FROM course_entry JOIN course_list ON course_list.id = course_entry.list_id
                        WHERE course_entry.content_id = content.id AND course_entry.gone_ms <= ?2
                            AND course_list.name IN (SELECT value FROM json_each(?1)))
                    AND NOT EXISTS (SELECT 1 FROM course_entry
                        WHERE course_entry.content_id = content.id AND course_entry.gone_ms IS NULL)
                ORDER BY content.id
                """, names, time, Desire.remove, ContentType.sample
            ) { $0.id(0) }
            let named = try connection.first(
                """
                SELECT count(DISTINCT content_id) FROM course_entry JOIN course_list ON course_list.id = list_id
                WHERE course_list.name IN (SELECT value FROM json_each(?))
                """, names
            ) { $0.int(0) }
            return (gone, named ?? 0)
        }
    }

    /// Contents that lists name now.
    ///
    /// - Parameter lists: their names.
    /// - Returns: the contents in the order they were registered.
    /// - Throws: ``LectureError``.
    package func contentsNamed(by lists: [String]) throws -> [ContentID] {
        try connection.query(
            """
            SELECT DISTINCT content_id FROM course_entry JOIN course_list ON course_list.id = list_id
            WHERE gone_ms IS NULL AND course_list.name IN (SELECT value FROM json_each(?)) ORDER BY content_id
            """, try JSONText.encode(lists)
        ) { $0.id(0) }
    }

    /// The content that a request means; nil when there is none yet. Nothing is changed.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: what its URL says.
    /// - Returns: the content.
    /// - Throws: ``LectureError``.
    package func find(_ request: DownloadRequest, _ source: RequestSource) throws -> ItemRecord? {
        try known(request.key, source)
    }

    /// How much was downloaded in a stretch of time, and for how long something was being downloaded in it.
    ///
    /// - Parameter time: since when.
    /// - Returns: bytes, and the length of all attempts with those that ran side by side counted once.
    /// - Throws: ``LectureError``.
    package func throughput(since time: Timestamp) throws -> (bytes: Int64, busy: Duration) {
        let attempts = try connection.query(
            "SELECT at_ms, duration_ms, bytes FROM attempt WHERE at_ms >= ? AND bytes > 0 ORDER BY at_ms LIMIT 20000",
            time
        ) { (start: $0.int64(0), length: $0.int64(1), bytes: $0.int64(2)) }
        var (bytes, busy, end): (Int64, Int64, Int64) = (0, 0, .min)
        for attempt in attempts {
            bytes += attempt.bytes
            let stop = attempt.start + attempt.length
            busy += max(0, stop - max(end, attempt.start))
            end = max(end, stop)
        }
        return (bytes, .milliseconds(busy))
    }
}
