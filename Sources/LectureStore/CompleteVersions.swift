import LectureFormats
package import LectureModel
import LectureSQLite

// Changes to a lecture's complete version when another one is requested, or the same one again.

extension VersionRows {
    /// The version that is complete; nil when there is none.
    package func completeVersion(_ content: ContentID) throws -> CompleteVersion? {
        try connection.completeVersion(content)
    }

    /// Whether a version that is being built was complete before, and is being repaired.
    package func wasComplete(_ version: VersionID) throws -> Bool {
        try connection.first("SELECT completed_ms IS NOT NULL FROM version WHERE id = ?", version) { $0.bool(0) }
            ?? false
    }

    /// Marks the complete version as outdated and queues the lecture for another one.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - version: the version that was found outdated. Another process may have replaced it since.
    ///   - successor: what is requested instead.
    ///   - now: the wall clock.
    /// - Returns: false, with nothing changed, where there is no such complete version or the lecture is leased.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func supersede(
        _ content: ContentID, version: VersionID, by successor: Successor, now: Timestamp
    ) throws -> Bool {
        try connection.atomically {
            guard let item = try connection.item(id: content), item.currentVersion == version,
                item.targetState != .remove, try !store.requests.isLeased(content)
            else { return false }
            try connection.execute(
                """
                UPDATE version SET is_outdated = 1 WHERE content_id = ? AND state = \(sql: VersionState.current)
                """, content)
            try discardUnfinished(of: content)
            switch successor {
            case .request(let request, let source): try setSource(request, source, of: content)
            case .newerAtSource:
                try connection.execute(
                    "UPDATE content SET expected_sha256 = NULL, expected_bytes = NULL WHERE id = ?", content)
            case .expected: break
            }
            // The source's description belongs to the version, so it is asked for again.
            try connection.execute("UPDATE content SET is_loaded = 0 WHERE id = ?", content)
            try queue(content, now: now)
            return true
        }
    }

    /// Keeps the complete version after all: the download that was to replace it is discarded.
    ///
    /// - Parameters:
    ///   - content: a lecture without a lease.
    ///   - version: its complete version, without missing chunks.
    ///   - source: the source that the lecture has from now on; nil keeps it.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    func restore(
        _ content: ContentID, _ version: CompleteVersion, source: (url: String, identity: [UInt8])?, now: Timestamp
    ) throws {
        try discardUnfinished(of: content)
        try connection.execute("UPDATE version SET is_outdated = 0 WHERE id = ?", version.id)
        try connection.execute(
            """
            UPDATE content SET state = \(sql: ItemState.completed), desire = \(sql: TargetState.fetch),
                stop_reason = NULL, error_code = NULL, error_detail = '', error_cause = '', attempts = 0,
                next_attempt_ms = NULL, wait_set_ms = NULL, is_loaded = 1,
                completed_ms = coalesce(?1, added_ms), source_url = coalesce(?2, source_url),
                source_identity = coalesce(?3, source_identity), updated_ms = ?4
            WHERE id = ?5
            """, version.completed, source?.url, source?.identity, now, content)
        try store.contents.recount(content)
    }

    /// Marks a complete lecture whose file is gone as no longer complete. Its rows stay, since the file may come back,
    /// as on a disk that was not mounted.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - error: the error.
    ///   - isQueued: whether it is to be downloaded again; otherwise it counts as failed.
    ///   - now: the wall clock.
    /// - Returns: false, with nothing changed, for a lecture that is not complete or is leased.
    /// - Throws: ``LectureError``.
    @discardableResult
    package func markMissing(
        _ content: ContentID, _ error: LectureError, isQueued: Bool, now: Timestamp
    ) throws -> Bool {
        try connection.execute(
            """
            UPDATE content SET state = ?1, error_code = ?2, error_detail = ?3, error_cause = ?4, completed_ms = NULL,
                attempts = 0, next_attempt_ms = NULL, wait_set_ms = NULL, updated_ms = ?5
            WHERE id = ?6 AND state = ?7 AND \(Claim.content.isFree)
            """,
            isQueued ? ItemState.queued : .failed, error.code.number, error.detail, error.cause, now, content,
            ItemState.completed) == 1
    }

    /// Lectures that count as failed because their file was gone, with the file.
    package func missingMedia() throws -> [(id: ContentID, media: FinalizedFile)] {
        let rows = try connection.query(
            """
            SELECT content.id, \(ContentColumns.media) FROM content INDEXED BY content_state
            WHERE content.state = ? AND content.error_code = ? AND \(Claim.content.isFree)
            """, ItemState.failed, LectureError.Code.mediaMissing.number
        ) { row -> (ContentID, FinalizedFile?) in (row.id(0), ContentColumns.media(row, 1)) }
        return rows.compactMap { id, media in media.map { (id: id, media: $0) } }
    }

    /// Marks a lecture whose file has reappeared unchanged as complete.
    package func markFound(_ content: ContentID, now: Timestamp) throws {
        try connection.atomically {
            guard let version = try completeVersion(content), try !store.requests.isLeased(content), !version.isOutdated
            else {
                return
            }
            // No other source was requested, but perhaps a fresh signature of the same one.
            try restore(content, version, source: nil, now: now)
        }
    }

    /// Stores the digest of a complete version that had none.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - sha256: of its media, 32 bytes.
    /// - Throws: ``LectureError``.
    package func setDigest(_ version: CompleteVersion, _ sha256: [UInt8]) throws {
        try connection.atomically {
            let changed = try connection.execute(
                "UPDATE version SET sha256 = ? WHERE id = ? AND state = \(sql: VersionState.current)", sha256,
                version.id)
            guard changed == 1 else { return }
            try connection.execute("UPDATE resource SET sha256 = ? WHERE id = ?", sha256, version.media.id)
            try connection.execute(
                "UPDATE content SET sha256 = ? WHERE id = (SELECT content_id FROM version WHERE id = ?)", sha256,
                version.id)
        }
    }

    /// Stores a lecture's source, and the bytes that the request expects.
    func setSource(_ request: DownloadRequest, _ source: RequestSource, of content: ContentID) throws {
        try connection.execute(
            """
            UPDATE content SET source_url = ?, source_identity = ?, is_gateway = ?, mirrors = ?, expected_sha256 = ?,
                expected_bytes = ?
            WHERE id = ?
            """, request.url, source.identity, source.isGateway, try JSONText.encode(request.mirrors), request.sha256,
            request.size, content)
    }

    /// Discards the version that is being built. An engine deletes its files with its next chores.
    func discardUnfinished(of content: ContentID) throws {
        guard let (version, _) = try building(content) else { return }
        try retire(version, of: content, state: .discarded)
        try store.contents.recount(content)
    }

    /// Queues a lecture without a lease, complete or not.
    func queue(_ content: ContentID, now: Timestamp) throws {
        try connection.execute(
            """
            UPDATE content SET state = \(sql: ItemState.queued), desire = \(sql: TargetState.fetch),
                stop_reason = NULL, error_code = NULL, error_detail = '', error_cause = '', attempts = 0,
                next_attempt_ms = NULL, wait_set_ms = NULL, completed_ms = NULL,
                updated_ms = ?
            WHERE id = ? AND \(Claim.content.isFree)
            """, now, content)
    }
}

extension Connection {
    /// The complete version of a lecture, with its media.
    func completeVersion(_ content: ContentID) throws -> CompleteVersion? {
        let row = try first(
            """
            SELECT id, source_url, source_identity, completed_ms, is_outdated, sha256
            FROM version INDEXED BY version_current WHERE content_id = ? AND state = \(sql: VersionState.current)
            """, content
        ) { row -> (VersionID, String, [UInt8], Timestamp?, Bool, [UInt8]?) in
            (
                row.id(0), row.text(1), row.blob(2), row.optionalTimestamp(3), row.bool(4), row.optionalBlob(5)
            )
        }
        guard let (id, url, identity, completed, isOutdated, sha256) = row,
            var media = try headResources(of: id).first(where: { $0.role == .media })
        else { return nil }
        // Versions of earlier programs have it in one of the two columns.
        media.sha256 = media.sha256 ?? sha256
        var version = CompleteVersion(id: id, media: media)
        (version.sourceURL, version.sourceIdentity) = (url, identity)
        (version.completed, version.isOutdated) = (completed, isOutdated)
        return version
    }
}
