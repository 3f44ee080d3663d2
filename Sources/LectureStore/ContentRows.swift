package import LectureModel
import LectureSQLite

/// The rows of lectures: their state, their facts, their end. Table content.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ContentRows: ContentStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// The lecture with this key.
    package func item(_ key: ContentKey) throws -> ItemRecord? { try connection.item(key: key).map(opened) }

    /// The lecture of this row.
    package func item(_ id: ContentID) throws -> ItemRecord? { try connection.item(id: id).map(opened) }

    /// The key of the lecture of this row.
    ///
    /// - Parameter id: the row.
    /// - Returns: nil when there is none.
    /// - Throws: ``LectureError``.
    package func key(_ id: ContentID) throws -> ContentKey? {
        try connection.first("SELECT key FROM content WHERE id = ?", id) { ContentKey(stored: $0.text(0)) }
    }

    /// What a licence has to know of a lecture's media. One narrow row: a renewal asks for it once for each licence.
    ///
    /// - Parameter key: the key of the lecture, or the one it had until its gateway named it.
    /// - Returns: its row, whether every byte is committed, and the wrapped key of its media, if that is sealed and the
    ///   lecture still has this key; nil when there is no such lecture.
    /// - Throws: ``LectureError``.
    package func media(_ key: ContentKey) throws -> (id: ContentID, isComplete: Bool, key: WrappedKey?)? {
        let found: (id: ContentID, isComplete: Bool, key: WrappedKey?)? = try connection.first(Self.media, key) { row in
            (row.id(0), row.bool(1), row.isNull(2) ? nil : try ContentKeyRows.wrappedKey(row, from: 2))
        }
        if let found { return found }
        return try connection.item(key: key).map { ($0.id, $0.currentVersion != nil, nil) }
    }

    static let media = """
        SELECT content.id,
            EXISTS (SELECT 1 FROM version INDEXED BY version_current
                WHERE version.content_id = content.id AND version.state = \(sql: VersionState.current)),
            content_key.wrapped, content_key.purpose, content_key.granting_keys
        FROM content LEFT JOIN content_key ON content_key.content_id = content.id WHERE content.key = ?
        """

    /// The row of a lecture.
    ///
    /// - Parameter key: its key.
    /// - Returns: nil when nothing has this key.
    /// - Throws: ``LectureError``.
    package func contentID(_ key: ContentKey) throws -> ContentID? { try connection.contentID(key) }

    /// Stores a state, and when it was reached if the lecture is complete in it.
    package func setStatus(_ lease: ContentLease, _ status: ItemStatus, isLoaded: Bool, now: Timestamp) throws {
        // Tried in this order: the first one leaves an index alone, and is what happens in a download.
        let statements =
            status.state == .completed
            ? [StatusStatements.setComplete] : [StatusStatements.setUnfinished, StatusStatements.setBack]
        for statement in statements {
            let changed = try connection.execute(
                statement, status.state, status.stopReason, status.error?.code.number, status.error?.detail ?? "",
                status.error?.cause ?? "", status.attempts, status.nextAttempt, status.waitSet, now, isLoaded,
                lease.content, lease.fence)
            if changed == 1 { return }
        }
        throw LectureError(.leaseLost)
    }

    /// The digest that the lecture is to have.
    package func expectedSHA256(_ id: ContentID) throws -> [UInt8]? {
        try connection.first("SELECT expected_sha256 FROM content WHERE id = ?", id) { $0.optionalBlob(0) } ?? nil
    }

    /// Stores the source's facts, and marks the lecture loaded.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - facts: nil members keep the stored value.
    ///   - now: the wall clock.
    /// - Returns: the row that already has `facts.key`, with nothing changed; else nil.
    /// - Throws: ``LectureError``.
    package func setFacts(_ lease: ContentLease, _ facts: ContentFacts, now: Timestamp) throws -> ContentID? {
        try connection.atomically {
            try connection.requireLease(lease)
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

    /// Replaces this lecture in every run by another and deletes it; for two sources that turn out to be one lecture.
    package func merge(_ lease: ContentLease, into other: ContentID) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            for move in [
                """
                INSERT OR IGNORE INTO run_item(run_id, content_id)
                SELECT run_id, ? FROM run_item WHERE content_id = ?
                """,
                """
                INSERT OR IGNORE INTO output(content_id, path, may_replace)
                SELECT ?, path, may_replace FROM output WHERE content_id = ?
                """,
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
            // The latest link is the one that still works: tokens in links expire. According to the gateway both lead
            // to the same lecture, so the existing bytes count as this link's.
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

    /// The paths of all files of a lecture, of every version.
    package func paths(_ content: ContentID) throws -> [String] {
        try connection.query(
            """
            SELECT resource.file_path FROM version JOIN resource ON resource.version_id = version.id
            WHERE version.content_id = ? AND resource.file_path <> '' ORDER BY resource.id
            """, content
        ) { $0.text(0) } + playlistPaths(content)
    }

    /// The paths of the playlists that may have been written beside a lecture's files.
    private func playlistPaths(_ content: ContentID) throws -> [String] {
        let versions: [VersionID] = try connection.query("SELECT id FROM version WHERE content_id = ?", content) {
            $0.id(0)
        }
        return try versions.flatMap { try connection.playlistPaths(of: $0) }
    }

    /// Deletes a lecture with all dependent rows. The files must be gone before.
    package func deleteContent(_ lease: ContentLease) throws {
        let changed = try connection.execute(
            "DELETE FROM content WHERE id = ? AND \(Claim.isHeld(under: "?"))", lease.content, lease.fence)
        guard changed == 1 else { throw LectureError(.leaseLost) }
    }

    /// Lectures whose target state is `remove` and that are not leased.
    package func contentsToRemove(limit: Int) throws -> [ContentID] {
        try connection.query(
            """
            SELECT id FROM content INDEXED BY content_removal
            WHERE desire = \(sql: TargetState.remove) AND \(Claim.content.isFree) ORDER BY id LIMIT ?
            """, limit
        ) { $0.id(0) }
    }

    /// Recounts a lecture's bytes and chunks from the resources of the version being built or, without one, of the
    /// current one.
    func recount(_ content: ContentID) throws { try connection.execute(VersionStatements.recount, content) }
}
