package import LectureModel
import LectureSQLite

/// The versions of lectures. Table version.
///
/// Confined to the owner of the store's writer, like its connection.
package struct VersionRows: VersionStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// The version being built, with its resources but those of streams; nil when there is none.
    package func building(_ content: ContentID) throws -> (version: VersionID, resources: [ResourceRecord])? {
        let version: VersionID? = try connection.first(VersionStatements.building, content) { $0.id(0) }
        return try version.map { ($0, try connection.headResources(of: $0)) }
    }

    /// The resources of a version but those of streams, media first.
    package func resources(_ version: VersionID) throws -> [ResourceRecord] {
        try connection.headResources(of: version)
    }

    /// Starts a version with these resources.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - requests: the resources, in their order.
    ///   - now: the wall clock.
    /// - Returns: the version, with its rows as they were inserted.
    /// - Throws: ``LectureError``; `bug` when a version is being built already.
    package func beginVersion(
        _ lease: ContentLease, requests: [ResourceRequest], now: Timestamp
    ) throws -> NewVersion {
        try connection.atomically {
            try connection.requireLease(lease)
            try requireNothingBuilding(lease.content)
            try connection.execute(VersionStatements.begin, lease.content, now)
            let version = VersionID(connection.lastInsertedID)
            var files: [NewVersion.File] = []
            for (place, request) in requests.enumerated() {
                let record = try insert(request, at: place, of: version, lease.content)
                let urls = try store.servers.insertURLLeases(record.id, urls: request.urls, expires: nil, now: now)
                files.append(NewVersion.File(record: record, urls: urls))
            }
            try connection.execute(VersionStatements.countNothing, lease.content)
            return NewVersion(id: version, files: files)
        }
    }

    private func insert(
        _ request: ResourceRequest, at place: Int, of version: VersionID, _ content: ContentID
    ) throws -> ResourceRecord {
        try connection.execute(
            """
            INSERT INTO resource(version_id, role, position, name, expected_sha256, expected_bytes)
            VALUES (?, ?, ?, ?, ?, ?)
            """, version, request.role.rawValue, place, request.name, request.expectedSHA256, request.expectedBytes)
        var record = ResourceRecord(
            id: ResourceID(connection.lastInsertedID), version: version, content: content, role: request.role)
        record.position = place
        record.name = request.name
        record.expectedSHA256 = request.expectedSHA256
        record.expectedBytes = request.expectedBytes
        return record
    }

    /// Marks a version discarded and returns the paths of its files, which the caller deletes and then forgets.
    package func discardVersion(_ lease: ContentLease, _ version: VersionID) throws -> [String] {
        try connection.atomically {
            try connection.requireLease(lease)
            try retire(version, of: lease.content, state: .discarded)
            try store.contents.recount(lease.content)
            return try connection.paths(of: version)
        }
    }

    /// Deletes the rows of a discarded or superseded version.
    package func forgetVersion(_ version: VersionID) throws {
        try connection.execute(
            "DELETE FROM version WHERE id = ? AND state IN \(sql: [VersionState.superseded, .discarded])", version)
    }

    /// Discarded and superseded versions whose files may still exist, with the paths.
    package func discardedVersions() throws -> [(VersionID, [String])] {
        let versions: [VersionID] = try connection.query(
            VersionStatements.versionsLeft
        ) { $0.id(0) }
        return try versions.map { ($0, try connection.paths(of: $0)) }
    }

    /// Makes the version current, the former one superseded, and the lecture completed; releases the lease.
    package func completeVersion(_ lease: ContentLease, _ version: VersionID, sha256: [UInt8]?, now: Timestamp) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            let former: VersionID? = try connection.first(VersionStatements.otherCurrent, lease.content, version) {
                $0.id(0)
            }
            if let former { try retire(former, of: lease.content, state: .superseded) }
            let changed = try connection.execute(VersionStatements.makeCurrent, sha256, now, version, lease.content)
            guard changed == 1 else { throw LectureError(.bug, detail: "a version that is not being built") }
            try connection.execute(VersionStatements.completeContent, lease.content, sha256, now, version)
        }
    }

    /// Reopens a complete lecture for repair in place: its current version becomes `building`, its media and every
    /// other resource that lacks a chunk `planned`, the lecture `queued`. The counters are recomputed from the rows,
    /// since a row may be what was damaged.
    package func reopenVersion(_ lease: ContentLease, _ version: VersionID, now: Timestamp) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try requireNothingBuilding(lease.content)
            let changed = try connection.execute(
                """
                UPDATE version SET state = \(sql: VersionState.building)
                WHERE id = ? AND content_id = ? AND state = \(sql: VersionState.current)
                """, version, lease.content)
            guard changed == 1 else { throw LectureError(.bug, detail: "a version that is not current") }
            try connection.execute(
                """
                UPDATE resource SET (proven_count, proven_bytes) = (
                    SELECT count(*), coalesce(sum(
                        min((idx + 1) * chunk_bytes - lead, total_bytes) - max(idx * chunk_bytes - lead, 0)), 0)
                    FROM chunk, (SELECT iif(resource.seal = \(sql: SealState.plain), 0, ?) AS lead)
                    WHERE resource_id = resource.id)
                WHERE version_id = ? AND state IN \(sql: [ResourceRecord.State.committed, .finalized])
                """, SealedFormat.headerBytes, version)
            try connection.execute(
                """
                UPDATE resource SET state = \(sql: ResourceRecord.State.planned)
                WHERE version_id = ? AND state IN \(sql: [ResourceRecord.State.committed, .finalized])
                    AND file_path <> ''
                    AND (role = \(sql: ResourceRole.media) OR chunk_count = 0 OR proven_count < chunk_count)
                """, version)
            try connection.execute(
                """
                UPDATE content SET state = \(sql: ItemState.queued), stop_reason = NULL, error_code = NULL,
                    error_detail = '', error_cause = '', completed_ms = NULL, attempts = 0, next_attempt_ms = NULL,
                    wait_set_ms = NULL,
                    updated_ms = ?
                WHERE id = ?
                """, now, lease.content)
            try store.contents.recount(lease.content)
        }
    }

    private func requireNothingBuilding(_ content: ContentID) throws {
        let isBuilding = try connection.first(VersionStatements.building, content) { _ in true }
        guard isBuilding == nil else { throw LectureError(.bug, detail: "a version is being built already") }
    }

    /// Takes a version out of use: its chunks are dropped, its resources no longer count, their paths stay until the
    /// files are gone.
    func retire(_ version: VersionID, of content: ContentID, state: VersionState) throws {
        let changed = try connection.execute(
            "UPDATE version SET state = ? WHERE id = ? AND content_id = ?", state.rawValue, version, content)
        guard changed == 1 else { throw LectureError(.bug, detail: "a version of another content") }
        try connection.execute(
            "DELETE FROM chunk WHERE resource_id IN (SELECT id FROM resource WHERE version_id = ?)", version)
        try connection.execute(
            """
            UPDATE resource SET state = \(sql: ResourceRecord.State.absent), proven_count = 0, proven_bytes = 0
            WHERE version_id = ?
            """, version)
    }
}

extension Connection {
    /// The paths of a version's files, which may or may not be there.
    func paths(of version: VersionID) throws -> [String] {
        try query("SELECT file_path FROM resource WHERE version_id = ? AND file_path <> '' ORDER BY id", version) {
            $0.text(0)
        } + playlistPaths(of: version)
    }

    /// The paths of the playlists that may have been written beside a version's files.
    func playlistPaths(of version: VersionID) throws -> [String] {
        try query("SELECT position FROM playlist WHERE version_id = ? ORDER BY position", version) {
            StreamPlaylistPath.path(version, $0.int(0))
        }
    }
}
