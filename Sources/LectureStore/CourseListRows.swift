package import LectureModel
import LectureSQLite

/// Which lectures a course list names, and which have left it. Tables course_list and course_entry.
///
/// Confined to the owner of the store's writer, like its connection.
package struct CourseListRows {
    let connection: Connection

    /// The list of lectures that were requested individually. Nothing ever leaves it.
    package static let singleRequests = ""

    /// Records that a list names lectures. What it named before it still names.
    ///
    /// - Parameters:
    ///   - name: of the list; ``singleRequests`` for lectures that were requested individually.
    ///   - contents: lectures of the store.
    /// - Throws: ``LectureError``.
    package func add(to name: String, contents: [ContentID]) throws {
        guard !contents.isEmpty else { return }
        try connection.atomically {
            try connection.execute(
                "INSERT INTO course_list(name, read_ms) VALUES (?, 0) ON CONFLICT (name) DO NOTHING", name)
            try record(contents, inList: name)
        }
    }

    private func record(_ contents: [ContentID], inList name: String) throws {
        try connection.execute(
            """
            INSERT INTO course_entry(list_id, content_id)
            SELECT course_list.id, json_each.value FROM course_list CROSS JOIN json_each(?2)
            WHERE course_list.name = ?1
            ON CONFLICT (list_id, content_id) DO UPDATE SET gone_ms = NULL WHERE gone_ms IS NOT NULL
            """, name, Self.text(contents))
    }

    /// Records that a list was read as a whole: what it no longer names has left it from now on. While it names a
    /// gateway link that is not loaded, nothing changes, because any lecture may be the one that the link leads to.
    ///
    /// - Parameters:
    ///   - name: of the list.
    ///   - contents: every lecture that it named when it was read; each was added to it in this run.
    ///   - run: the run that has read it.
    ///   - now: the wall clock.
    /// - Returns: how many of its gateway links are not loaded.
    /// - Throws: ``LectureError``.
    package func finish(
        _ name: String, contents: ContentSet, run: RunID, now: Timestamp
    ) throws -> Int {
        try connection.atomically {
            var named = try connection.query(
                "SELECT id FROM content WHERE id IN (SELECT value FROM json_each(?))", Self.text(contents.sorted)
            ) { $0.id(0) as ContentID }
            if named.count < contents.count {
                // Some links turned out to lead to other lectures of the store: those have taken their places in the
                // list and in the run.
                named += try connection.query(
                    """
                    SELECT course_entry.content_id FROM course_entry
                    JOIN course_list ON course_list.id = course_entry.list_id
                    JOIN run_item ON run_item.content_id = course_entry.content_id
                    WHERE course_list.name = ? AND run_item.run_id = ?
                    """, name, run
                ) { $0.id(0) }
            }
            let text = Self.text(named)
            let unloaded = try connection.first(
                """
                SELECT count(*) FROM content
                WHERE id IN (SELECT value FROM json_each(?)) AND is_gateway = 1 AND is_loaded = 0
                """, text
            ) { $0.int(0) }
            if let unloaded, unloaded > 0 { return unloaded }
            // Another run may have read an older list meanwhile.
            try record(named, inList: name)
            try connection.execute(
                """
                UPDATE course_entry SET gone_ms = ?1
                WHERE list_id = (SELECT id FROM course_list WHERE name = ?2) AND gone_ms IS NULL
                    AND content_id NOT IN (SELECT value FROM json_each(?3))
                """, now, name, text)
            try connection.execute("UPDATE course_list SET read_ms = ? WHERE name = ?", now, name)
            return 0
        }
    }

    /// What is assumed to be recorded although it is not.
    package struct AssumedReading {
        /// The lectures that the lists name.
        package var named: Set<ContentID> = []
        /// Lectures that something else names.
        package var kept: Set<ContentID> = []
        /// How many lectures the lists name that are not in the store.
        package var new = 0
        /// When the lists were read.
        package var time: Timestamp

        /// Assumes lists that name nothing.
        ///
        /// - Parameter time: when they were read.
        package init(time: Timestamp) { self.time = time }
    }

    /// Lectures that have left lists and are in no other one. Samples, and those being removed, are left out.
    ///
    /// - Parameters:
    ///   - lists: their names.
    ///   - time: only those that had left by then.
    ///   - reading: what the lists are assumed to name; nil for what is recorded.
    /// - Returns: the lectures in the order they were registered, and how many the lists named, including those.
    /// - Throws: ``LectureError``.
    package func contentsGone(
        from lists: [String], before time: Timestamp, assuming reading: AssumedReading? = nil
    ) throws -> (gone: [ContentID], named: Int) {
        try connection.transaction(.read) {
            let names = try JSONText.encode(lists)
            let named = reading?.named ?? []
            let gone: [ContentID] = try connection.query(
                """
                SELECT content.id FROM content
                WHERE content.desire <> ?3 AND content.content_type <> ?4
                    AND content.id NOT IN (SELECT value FROM json_each(?5))
                    AND EXISTS (SELECT 1 FROM course_entry JOIN course_list ON course_list.id = course_entry.list_id
                        WHERE course_entry.content_id = content.id AND coalesce(course_entry.gone_ms, ?6) <= ?2
                            AND course_list.name IN (SELECT value FROM json_each(?1)))
                    AND NOT EXISTS (SELECT 1 FROM course_entry JOIN course_list ON course_list.id = course_entry.list_id
                        WHERE course_entry.content_id = content.id AND course_entry.gone_ms IS NULL
                            AND (?6 IS NULL OR course_list.name NOT IN (SELECT value FROM json_each(?1))))
                ORDER BY content.id
                """, names, time, TargetState.remove, ContentType.sample,
                Self.text(named.union(reading?.kept ?? [])), reading?.time
            ) { $0.id(0) }
            let count = try connection.first(
                """
                SELECT count(*) FROM (
                    SELECT content_id FROM course_entry JOIN course_list ON course_list.id = list_id
                    WHERE course_list.name IN (SELECT value FROM json_each(?1))
                    UNION SELECT value FROM json_each(?2))
                """, names, Self.text(named)
            ) { $0.int(0) }
            return (gone, (count ?? 0) + (reading?.new ?? 0))
        }
    }

    /// Rows as a JSON list, for `json_each`.
    private static func text(_ contents: some Sequence<ContentID>) -> String {
        "[\(contents.map { String($0.value) }.joined(separator: ","))]"
    }
}
