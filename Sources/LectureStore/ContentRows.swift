package import LectureModel
import LectureSQLite

// What becomes of a row of content: its state, its facts, its end.

extension SQLiteDownloadIndex {
    /// The content with this key.
    package func item(_ key: ContentKey) throws -> ItemRecord? { try connection.item(key: key).map(opened) }

    /// The content of this row.
    package func item(_ id: ContentID) throws -> ItemRecord? { try connection.item(id: id).map(opened) }

    /// Stores a state.
    package func setStatus(_ lease: ContentLease, _ status: ItemStatus, now: Timestamp) throws {
        let changed = try connection.execute(
            """
            UPDATE content SET state = ?1, stop_reason = ?2, error_code = ?3, error_detail = ?4, error_cause = ?5,
                attempts = ?6, next_attempt_ms = ?7, wait_set_ms = ?8, updated_ms = ?9,
                completed_ms = CASE WHEN ?1 = 4 THEN coalesce(completed_ms, ?9) END
            WHERE id = ?10 AND lease_fence = ?11 AND lease_owner IS NOT NULL
            """,
            status.state, status.stopReason, status.error?.code.number, status.error?.detail ?? "",
            status.error?.cause ?? "", status.attempts, status.nextAttempt, status.waitSet, now, lease.content,
            lease.fence)
        guard changed == 1 else { throw LectureError(.leaseLost) }
    }

    /// Stores what the source told, and marks the content loaded.
    ///
    /// - Parameters:
    ///   - lease: the right to do so.
    ///   - facts: nil members leave what is stored.
    ///   - now: the wall clock.
    /// - Returns: the row that has `facts.key` already, with nothing changed; else nil.
    /// - Throws: ``LectureError``.
    package func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID? {
        try atomically {
            try requireLease(lease)
            if let key = facts.key {
                let holder: ContentID? = try connection.first(
                    "SELECT id FROM content WHERE key = ? AND id <> ?", key, lease.content
                ) { $0.id(0) }
                if let holder { return holder }
            }
            try connection.execute(
                """
                UPDATE content SET is_loaded = 1, key = coalesce(?, key), title = coalesce(?, title),
                    course = coalesce(?, course), teacher = coalesce(?, teacher), company = coalesce(?, company),
                    synopsis = coalesce(?, synopsis), description_url = coalesce(?, description_url),
                    duration_ms = coalesce(?, duration_ms), width = coalesce(?, width), height = coalesce(?, height),
                    content_type = coalesce(?, content_type), descriptor = coalesce(?, descriptor),
                    is_gateway = max(is_gateway, ?), updated_ms = ?
                WHERE id = ?
                """,
                facts.key, facts.title, facts.course, facts.teacher, facts.company, facts.synopsis,
                facts.descriptionURL, facts.duration?.milliseconds, facts.width, facts.height, facts.type,
                facts.descriptor, facts.descriptor != nil, now, lease.content)
            return nil
        }
    }

    /// Replaces this content in every run by another and deletes it; for two sources that turn out to be one content.
    package func merge(_ lease: ContentLease, into other: ContentID) throws {
        try atomically {
            try requireLease(lease)
            for move in [
                """
                INSERT OR IGNORE INTO run_item(run_id, content_id)
                SELECT run_id, ? FROM run_item WHERE content_id = ?
                """,
                "INSERT OR IGNORE INTO output(content_id, path) SELECT ?, path FROM output WHERE content_id = ?",
                """
                INSERT OR IGNORE INTO resume_point(content_id, position_ms)
                SELECT ?, position_ms FROM resume_point WHERE content_id = ?
                """,
                """
                INSERT INTO course_entry(list_id, content_id, gone_ms)
                SELECT list_id, ?, gone_ms FROM course_entry WHERE content_id = ?
                ON CONFLICT (list_id, content_id) DO UPDATE SET gone_ms = iif(excluded.gone_ms IS NULL, NULL, gone_ms)
                """,
            ] {
                try connection.execute(move, other, lease.content)
            }
            // The latest link is the one that still works: tokens in links end. The gateway says that both lead to the
            // same lecture, so the bytes that are there count as this link's.
            try connection.execute(
                """
                UPDATE content SET (source_url, source_identity) =
                    (SELECT source_url, source_identity FROM content WHERE id = ?) WHERE id = ?
                """, lease.content, other)
            try connection.execute(
                """
                UPDATE version SET (source_url, source_identity) =
                    (SELECT source_url, source_identity FROM content WHERE id = ?) WHERE content_id = ?
                """, lease.content, other)
            try connection.execute("DELETE FROM content WHERE id = ?", lease.content)
        }
    }

    /// Whether a resource has this path, so that a file without one can be told.
    package func hasResource(path: String) throws -> Bool {
        // The path begins with its bucket and the row's number: the row is found by number, not by searching texts.
        let name = path.split(separator: "/").last ?? ""
        guard let id = Int64(name.prefix { $0.isNumber }) else { return false }
        return try connection.first("SELECT 1 FROM resource WHERE id = ? AND file_path = ?", id, path) { _ in true }
            ?? false
    }

    /// The paths of all files of a content, of every version.
    package func paths(_ content: ContentID) throws -> [String] {
        try connection.query(
            """
            SELECT resource.file_path FROM version JOIN resource ON resource.version_id = version.id
            WHERE version.content_id = ? AND resource.file_path <> '' ORDER BY resource.id
            """, content
        ) { $0.text(0) }
    }

    /// Deletes a content with everything below it. The files must be gone before.
    package func deleteContent(_ lease: ContentLease) throws {
        let changed = try connection.execute(
            "DELETE FROM content WHERE id = ? AND lease_fence = ? AND lease_owner IS NOT NULL", lease.content,
            lease.fence)
        guard changed == 1 else { throw LectureError(.leaseLost) }
    }

    /// Contents whose desire is `remove` and that nobody has leased.
    package func contentsToRemove(limit: Int) throws -> [ContentID] {
        try connection.query(
            """
            SELECT id FROM content INDEXED BY content_removal
            WHERE desire = 3 AND lease_owner IS NULL ORDER BY id LIMIT ?
            """, limit
        ) { $0.id(0) }
    }

    /// Where the finished bytes shall also stand.
    package func outputs(_ content: ContentID) throws -> [String] {
        try connection.query("SELECT path FROM output WHERE content_id = ? ORDER BY path", content) { $0.text(0) }
    }

    /// An output is done.
    package func deleteOutput(_ content: ContentID, path: String) throws {
        try connection.execute("DELETE FROM output WHERE content_id = ? AND path = ?", content, path)
    }

    /// Counts a content's bytes and chunks anew from the resources of the version being built or, without one, of the
    /// current one.
    func recount(_ content: ContentID) throws {
        try connection.execute(
            """
            UPDATE content SET (bytes_total, bytes_proven, chunks_total, chunks_proven) = (
                SELECT sum(total_bytes), coalesce(sum(proven_bytes), 0), coalesce(sum(chunk_count), 0),
                       coalesce(sum(proven_count), 0)
                FROM resource WHERE version_id = (
                    SELECT id FROM version WHERE content_id = ?1 AND state IN (0, 1) ORDER BY state LIMIT 1))
            WHERE id = ?1
            """, content)
    }

    /// Whether a version is the one that the content's counters count.
    func isCounted(_ version: VersionID, content: ContentID) throws -> Bool {
        let counted: VersionID? = try connection.first(
            "SELECT id FROM version WHERE content_id = ? AND state IN (0, 1) ORDER BY state LIMIT 1", content
        ) { $0.id(0) }
        return counted == version
    }
}
