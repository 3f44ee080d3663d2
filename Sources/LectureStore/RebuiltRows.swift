package import LectureModel
import LectureSQLite

extension KeptFile {
    /// The row that the file gets: the number in its name. Nil for a name that no store gives.
    package var resource: ResourceID? { MediaNumbers.number(of: path).map { ResourceID($0) } }
}

/// How a media file of a lost database becomes a complete lecture again.
///
/// Confined to the owner of the store's writer, like its connection.
package struct RebuiltRows {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// Makes a kept file a complete lecture, in one transaction.
    ///
    /// - Parameters:
    ///   - file: the file. No resource has it.
    ///   - mediaType: by its name.
    ///   - survey: what is in it, with proofs for the row of its number.
    ///   - request: the lecture: its key, URL, title and so on. An empty URL is an unknown source.
    ///   - source: the source of its URL; its identity is empty for an unknown one.
    ///   - now: the wall clock.
    /// - Returns: `recorded`; or `present` or `licensed`, with nothing changed.
    /// - Throws: ``LectureError``: `storeBusy` while another process works on the lecture; `parameter` for a file that
    ///   is not kept.
    package func record(
        _ file: KeptFile, _ mediaType: String, _ survey: FileSurvey, as request: DownloadRequest,
        _ source: RequestSource, now: Timestamp
    ) throws -> RebuildOutcome {
        try connection.atomically {
            guard let row = file.resource, try row.value <= connection.keptMedia() else {
                throw LectureError(.parameter, detail: file.path, cause: "it belongs to this database")
            }
            let owner: ContentID? = try connection.first(
                "SELECT version.content_id FROM resource JOIN version ON version.id = version_id WHERE resource.id = ?",
                row
            ) { $0.id(0) }
            if let owner, let item = try connection.item(id: owner) { return .present(item.content.key) }
            let known = try store.requests.known(request.key, source)
            let key = known?.content.key ?? request.key ?? source.derivedKey
            guard try connection.first("SELECT 1 FROM licence WHERE content_key = ?", key, read: { _ in true }) == nil
            else { return .licensed(key) }
            let content: ContentID
            if let known {
                if try store.versions.completeVersion(known.id) != nil { return .present(key) }
                guard try !store.requests.isLeased(known.id), known.content.state != .removing else {
                    throw LectureError(.storeBusy, detail: key.text, cause: "the lecture is being worked on")
                }
                content = known.id
                try store.versions.discardUnfinished(of: content)
                try store.versions.setSource(request, source, of: content)
            } else {
                content = try store.requests.add(request, source, now: now).id
            }
            let version = try connection.insertComplete(of: content, survey, request, source, now: now)
            try connection.insertMedia(row, of: version, file, mediaType, survey, request, now: now)
            if !request.url.isEmpty {
                try store.servers.insertURLLeases(row, urls: [request.url] + request.mirrors, expires: nil, now: now)
            }
            // Its state and counters, and its source as requested.
            guard let complete = try store.versions.completeVersion(content), complete.id == version else {
                throw LectureError(.bug, detail: "a rebuilt version is not the complete one")
            }
            try store.versions.restore(content, complete, source: nil, now: now)
            try connection.execute(
                "UPDATE content SET sha256 = ?, headers = '{}' WHERE id = ?", survey.sha256, content)
            return .recorded(key)
        }
    }
}

extension Connection {
    fileprivate func insertComplete(
        of content: ContentID, _ survey: FileSurvey, _ request: DownloadRequest, _ source: RequestSource,
        now: Timestamp
    ) throws -> VersionID {
        try execute(
            """
            INSERT INTO version(content_id, number, state, sha256, created_ms, completed_ms, source_url,
                source_identity)
            SELECT ?1, coalesce(max(number), 0) + 1, \(sql: VersionState.current), ?2, ?3, ?3, ?4, ?5
            FROM version WHERE content_id = ?1
            """, content, survey.sha256, now, request.url, source.identity)
        return VersionID(lastInsertedID)
    }

    fileprivate func insertMedia(
        _ row: ResourceID, of version: VersionID, _ file: KeptFile, _ mediaType: String, _ survey: FileSurvey,
        _ request: DownloadRequest, now: Timestamp
    ) throws {
        let (bytes, count) = (survey.bytes, survey.chunks.count)
        try execute(
            """
            INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count,
                proven_count, proven_bytes, sha256, expected_sha256, file_path, media_type)
            VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            row, version, ResourceRole.media.rawValue, ResourceRecord.State.finalized.rawValue, bytes,
            survey.grid.length, count, count, bytes, survey.sha256, request.sha256, file.path, mediaType)
        for chunk in survey.chunks {
            try execute(
                "INSERT INTO chunk(resource_id, idx, proof, proven_ms) VALUES (?, ?, ?, ?)", row, chunk.index,
                chunk.proof, now)
        }
    }
}
