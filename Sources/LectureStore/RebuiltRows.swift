package import LectureModel
import LectureSQLite

// How a media file of a lost database becomes a complete lecture again.

/// A whole media file that no row describes.
package struct RebuiltMedia: Sendable {
    /// Relative to the store. The number in its name becomes that of its row.
    package let path: String
    /// Its length in bytes.
    package let bytes: UInt64
    /// The length of its chunks in bytes.
    package let chunkBytes: UInt64
    /// Its SHA-256.
    package let sha256: [UInt8]
    /// Proofs of all its chunks, made for its row.
    package let chunks: [WrittenChunk]
    /// By its name.
    package let mediaType: String

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - bytes: its length.
    ///   - chunkBytes: the length of its chunks.
    ///   - sha256: its digest.
    ///   - chunks: proofs of all its chunks.
    ///   - mediaType: by its name.
    package init(
        path: String, bytes: UInt64, chunkBytes: UInt64, sha256: [UInt8], chunks: [WrittenChunk], mediaType: String
    ) {
        (self.path, self.bytes, self.chunkBytes, self.sha256) = (path, bytes, chunkBytes, sha256)
        (self.chunks, self.mediaType) = (chunks, mediaType)
    }

    /// The row that a kept file gets.
    ///
    /// - Parameter path: relative to the store.
    /// - Returns: nil for a name that no store gives.
    package static func row(of path: String) -> ResourceID? { MediaNumbers.number(of: path).map { ResourceID($0) } }
}

/// The result of recording a media file of a lost database.
package enum RebuildRecord: Sendable, Hashable {
    /// It is a complete lecture.
    case recorded(ContentKey)
    /// The lecture is complete without it.
    case present(ContentKey)
    /// The lecture needs a licence, and licensed media is never stored unsealed.
    case licensed(ContentKey)
}

extension SQLiteDownloadIndex {
    /// Makes a kept file a complete lecture, in one transaction.
    ///
    /// - Parameters:
    ///   - media: the file. No resource has it.
    ///   - request: the lecture: its key, URL, title and so on. An empty URL is an unknown source.
    ///   - source: the source of its URL; its identity is empty for an unknown one.
    ///   - now: the wall clock.
    /// - Returns: what happened; only for ``RebuildRecord/recorded(_:)`` anything was changed.
    /// - Throws: ``LectureError``: `storeBusy` while another process works on the lecture; `parameter` for a file that
    ///   is not kept.
    package func record(
        _ media: RebuiltMedia, as request: DownloadRequest, _ source: RequestSource, now: Timestamp
    ) throws -> RebuildRecord {
        try atomically {
            guard let row = RebuiltMedia.row(of: media.path), try row.value <= connection.keptMedia() else {
                throw LectureError(.parameter, detail: media.path, cause: "it belongs to this database")
            }
            let owner: ContentID? = try connection.first(
                "SELECT version.content_id FROM resource JOIN version ON version.id = version_id WHERE resource.id = ?",
                row
            ) { $0.id(0) }
            if let owner, let item = try connection.item(id: owner) { return .present(item.content.key) }
            let known = try known(request.key, source)
            let key = known?.content.key ?? request.key ?? source.derivedKey
            guard try connection.first("SELECT 1 FROM licence WHERE content_key = ?", key, read: { _ in true }) == nil
            else { return .licensed(key) }
            let content: ContentID
            if let known {
                if try completeVersion(known.id) != nil { return .present(key) }
                guard try !isLeased(known.id), known.content.state != .removing else {
                    throw LectureError(.storeBusy, detail: key.text, cause: "the lecture is being worked on")
                }
                content = known.id
                try discardUnfinished(of: content)
                try setSource(request, source, of: content)
            } else {
                content = try insert(request, source, key: key, now: now)
            }
            let version = try insertComplete(media, row, of: content, request, source, now: now)
            // Its state and counters, and its source as requested.
            guard let complete = try completeVersion(content), complete.id == version else {
                throw LectureError(.bug, detail: "a rebuilt version is not the complete one")
            }
            try restore(content, complete, source: nil, now: now)
            try connection.execute(
                "UPDATE content SET sha256 = ?, headers = '{}' WHERE id = ?", media.sha256, content)
            return .recorded(key)
        }
    }

    private func insertComplete(
        _ media: RebuiltMedia, _ row: ResourceID, of content: ContentID, _ request: DownloadRequest,
        _ source: RequestSource, now: Timestamp
    ) throws -> VersionID {
        try connection.execute(
            """
            INSERT INTO version(content_id, number, state, sha256, created_ms, completed_ms, source_url,
                source_identity)
            SELECT ?1, coalesce(max(number), 0) + 1, \(sql: VersionState.current), ?2, ?3, ?3, ?4, ?5
            FROM version WHERE content_id = ?1
            """, content, media.sha256, now, request.url, source.identity)
        let version = VersionID(connection.lastInsertedID)
        try connection.execute(
            """
            INSERT INTO resource(id, version_id, role, position, state, total_bytes, chunk_bytes, chunk_count,
                proven_count, proven_bytes, sha256, expected_sha256, file_path, media_type)
            VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            row, version, ResourceRole.media.rawValue, ResourceRecord.State.finalized.rawValue, media.bytes,
            media.chunkBytes, media.chunks.count, media.chunks.count, media.bytes, media.sha256, request.sha256,
            media.path, media.mediaType)
        for chunk in media.chunks {
            try connection.execute(
                "INSERT INTO chunk(resource_id, idx, proof, proven_ms) VALUES (?, ?, ?, ?)", row, chunk.index,
                chunk.proof, now)
        }
        if !request.url.isEmpty {
            try insertURLLeases(row, urls: [request.url] + request.mirrors, expires: nil, now: now)
        }
        return version
    }
}
