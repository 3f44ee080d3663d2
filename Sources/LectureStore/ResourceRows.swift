package import LectureModel
import LectureSQLite

/// The files of versions and their chunks. Tables resource, chunk and chunk_piece.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ResourceRows: ResourceStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// Stores length, path, chunk size, validator and other facts of the first answer. The counters of committed chunks
    /// are not taken from the record: they belong to `markCommitted` and `markUncommitted`.
    ///
    /// - Parameters:
    ///   - lease: the lease.
    ///   - resource: the record with its new values.
    /// - Throws: ``LectureError``; `bug` when the grid would change under committed chunks.
    package func updateResource(_ lease: ContentLease, _ resource: ResourceRecord) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            let stored = try connection.first(
                """
                SELECT resource.total_bytes, resource.chunk_count, resource.chunk_bytes, resource.proven_count,
                    resource.seal
                FROM resource JOIN version ON version.id = resource.version_id
                WHERE resource.id = ? AND version.content_id = ?
                """, resource.id, lease.content
            ) { row in
                (
                    total: row.optionalInt64(0), count: row.int(1), chunk: row.uint64(2), committed: row.int(3),
                    isSealed: row.int(4) != 0
                )
            }
            guard let stored else { throw LectureError(.bug, detail: "a resource of another content") }
            let isSame = stored.chunk == resource.chunkBytes && stored.isSealed == (resource.seal != .plain)
            guard stored.committed == 0 || isSame else {
                throw LectureError(.bug, detail: "another chunk size under committed chunks")
            }
            if !isSame { try connection.execute("DELETE FROM chunk_piece WHERE resource_id = ?", resource.id) }
            let count = resource.total.map { resource.grid.count(total: $0) } ?? 0
            try connection.execute(
                """
                UPDATE resource SET state = ?, name = ?, file_path = ?, total_bytes = ?, chunk_bytes = ?,
                    chunk_count = ?, etag = ?, last_modified = ?, expected_sha256 = ?, expected_bytes = ?, sha256 = ?,
                    media_type = ?, accepts_ranges = ?, seal = ?
                WHERE id = ?
                """,
                resource.state.rawValue, resource.name, resource.path, resource.total, resource.chunkBytes, count,
                resource.entityTag, resource.lastModified, resource.expectedSHA256, resource.expectedBytes,
                resource.sha256, resource.mediaType, resource.acceptsRanges, resource.seal.rawValue,
                resource.id)
            let total = resource.total.map { Int64(clamping: $0) }
            guard total != stored.total || count != stored.count else { return }
            // A difference, not a sum: a stream has thousands of resources, and each is updated.
            try connection.execute(
                VersionStatements.raiseTotals, resource.version, lease.content, (total ?? 0) - (stored.total ?? 0),
                count - stored.count)
        }
    }

    /// Committed chunk numbers and proofs, in order.
    package func chunks(_ resource: ResourceID) throws -> [WrittenChunk] { try connection.chunks(of: resource) }

    /// Some of the committed chunks, in order.
    ///
    /// - Parameters:
    ///   - resource: their file.
    ///   - numbers: the first and the last one that is wanted.
    /// - Returns: those of them that are committed.
    /// - Throws: ``LectureError`` of the store.
    package func chunks(_ resource: ResourceID, in numbers: ClosedRange<Int>) throws -> [WrittenChunk] {
        try connection.query(
            "SELECT idx, proof FROM chunk WHERE resource_id = ? AND idx BETWEEN ? AND ? ORDER BY idx", resource,
            numbers.lowerBound, numbers.upperBound
        ) { WrittenChunk(index: $0.int(0), proof: $0.blob(1)) }
    }

    /// Marks chunks committed; also raises the lecture's and the resource's counters. Idempotent: a chunk that was
    /// written again gets its new proof and counts once.
    package func markCommitted(
        _ lease: ContentLease, _ resource: ResourceID, _ chunks: [WrittenChunk], bytes: UInt64, now: Timestamp
    ) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            let geometry = try geometry(of: resource, content: lease.content)
            var fresh: [Int] = []
            for chunk in chunks {
                let inserted = try connection.execute(
                    "INSERT INTO chunk(resource_id, idx, proof, proven_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    resource, chunk.index, chunk.proof, now)
                if inserted == 1 {
                    fresh.append(chunk.index)
                } else {
                    try connection.execute(
                        "UPDATE chunk SET proof = ?, proven_ms = ? WHERE resource_id = ? AND idx = ?", chunk.proof, now,
                        resource, chunk.index)
                }
            }
            let gained = fresh.count == chunks.count ? Int64(clamping: bytes) : geometry.bytes(of: fresh)
            try count(resource, geometry.version, lease.content, chunks: fresh.count, bytes: gained, now: now)
        }
    }

    /// Marks a file finished that had no committed chunk.
    package func markFinished(
        _ lease: ContentLease, _ resource: ResourceRecord, _ chunks: [WrittenChunk], now: Timestamp
    ) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            for chunk in chunks {
                try connection.execute(
                    "INSERT INTO chunk(resource_id, idx, proof, proven_ms) VALUES (?, ?, ?, ?)", resource.id,
                    chunk.index, chunk.proof, now)
            }
            let changed = try connection.execute(
                """
                UPDATE resource SET state = ?1, sha256 = ?2, seal = ?3, proven_count = chunk_count,
                    proven_bytes = total_bytes
                WHERE id = ?4 AND version_id = ?5 AND chunk_count = ?6 AND total_bytes = ?7 AND proven_count = 0
                    AND EXISTS (SELECT 1 FROM version WHERE id = ?5 AND content_id = ?8)
                """,
                resource.state.rawValue, resource.sha256, resource.seal.rawValue, resource.id, resource.version,
                chunks.count, resource.total, lease.content)
            guard changed == 1 else { throw LectureError(.bug, detail: "a file that cannot be finished") }
        }
    }

    /// Raises the counters of a lecture by those of a finished file.
    package func countFinished(_ lease: ContentLease, _ resource: ResourceRecord, now: Timestamp) throws {
        let count = resource.total.map { resource.grid.count(total: $0) } ?? 0
        try connection.execute(
            VersionStatements.raiseCommitted, resource.version, lease.content, count,
            resource.total.map { Int64(clamping: $0) } ?? 0, now)
    }

    /// Marks chunks uncommitted (damage, a mirror that disagreed); lowers the counters by the deleted rows. A sealed
    /// file is no longer clean.
    package func markUncommitted(_ lease: ContentLease, _ resource: ResourceID, chunks: [Int], bytes: UInt64) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            let geometry = try geometry(of: resource, content: lease.content)
            // Even without a deleted row: the bytes of an absent chunk were sealed under the header, so the header must
            // not be used any more.
            try connection.execute(
                "UPDATE resource SET seal = ? WHERE id = ? AND seal = ?", SealState.open.rawValue, resource,
                SealState.clean.rawValue)
            var gone: [Int] = []
            for index in chunks
            where try connection.execute("DELETE FROM chunk WHERE resource_id = ? AND idx = ?", resource, index) == 1 {
                gone.append(index)
            }
            let lost = gone.count == chunks.count ? Int64(clamping: bytes) : geometry.bytes(of: gone)
            try count(resource, geometry.version, lease.content, chunks: -gone.count, bytes: -lost, now: nil)
            // A lost row is still in the counters.
            if gone.count < chunks.count { try recount(resource, geometry, of: lease.content) }
        }
    }

    /// Recomputes the counters of a resource from its rows.
    private func recount(_ resource: ResourceID, _ geometry: ChunkGeometry, of content: ContentID) throws {
        let committed = try connection.query("SELECT idx FROM chunk WHERE resource_id = ?", resource) { $0.int(0) }
        try connection.execute(
            "UPDATE resource SET proven_count = ?, proven_bytes = ? WHERE id = ?", committed.count,
            geometry.bytes(of: committed), resource)
        try store.contents.recount(content)
    }

    private func count(
        _ resource: ResourceID, _ version: VersionID, _ content: ContentID, chunks: Int, bytes: Int64, now: Timestamp?
    ) throws {
        guard chunks != 0 else { return }
        try connection.execute(
            "UPDATE resource SET proven_count = proven_count + ?, proven_bytes = proven_bytes + ? WHERE id = ?", chunks,
            bytes, resource)
        try connection.execute(VersionStatements.raiseCommitted, version, content, chunks, bytes, now)
    }

    private func geometry(of resource: ResourceID, content: ContentID) throws -> ChunkGeometry {
        let geometry = try connection.first(
            """
            SELECT resource.version_id, resource.total_bytes, resource.chunk_bytes, resource.seal
            FROM resource JOIN version ON version.id = resource.version_id
            WHERE resource.id = ? AND version.content_id = ?
            """, resource, content
        ) { row in
            let lead = row.int(3) == SealState.plain.rawValue ? 0 : UInt64(SealedFormat.headerBytes)
            return ChunkGeometry(
                version: row.id(0), total: row.optionalUInt64(1), grid: ChunkGrid(length: row.uint64(2), lead: lead))
        }
        guard let geometry else { throw LectureError(.bug, detail: "a resource of another content") }
        return geometry
    }

    /// Bytes of all planned resources that are not discarded: what the quota counts.
    package func plannedBytes() throws -> UInt64 {
        try connection.first(
            """
            SELECT coalesce(sum(total_bytes), 0) FROM resource INDEXED BY resource_planned
            WHERE state IN \(sql: [ResourceRecord.State.planned, .committed, .finalized])
            """
        ) { $0.uint64(0) } ?? 0
    }
}

/// Where the chunks of a resource are.
private struct ChunkGeometry {
    let version: VersionID
    let total: UInt64?
    let grid: ChunkGrid

    /// The total length of some chunks.
    func bytes(of chunks: [Int]) -> Int64 {
        chunks.reduce(0) { $0 + Int64(clamping: grid.range(of: $1, total: total).count) }
    }
}

extension Connection {
    /// The resources of a version, media first.
    func resources(of version: VersionID) throws -> [ResourceRecord] {
        try query(
            "\(ResourceColumns.select) WHERE resource.version_id = ? ORDER BY resource.role, resource.position", version
        ) { try ResourceColumns.record($0) }
    }

    /// The resources of a version without the files of streams, media first: few, whatever a playlist names.
    func headResources(of version: VersionID) throws -> [ResourceRecord] {
        try query(
            """
            \(ResourceColumns.select) WHERE resource.version_id = ? AND resource.role IN \(sql: ResourceRole.ofHead)
            ORDER BY resource.role, resource.position
            """, version
        ) { try ResourceColumns.record($0) }
    }

    /// The resource of this row.
    func resource(_ id: ResourceID) throws -> ResourceRecord? {
        try first("\(ResourceColumns.select) WHERE resource.id = ?", id) { try ResourceColumns.record($0) }
    }

    /// Committed chunk numbers and proofs, in order.
    func chunks(of resource: ResourceID) throws -> [WrittenChunk] {
        try query("SELECT idx, proof FROM chunk WHERE resource_id = ? ORDER BY idx", resource) { row in
            WrittenChunk(index: row.int(0), proof: row.blob(1))
        }
    }
}

/// The columns of `resource` for the engine, and their conversion to values.
private enum ResourceColumns {
    static let select = """
        SELECT resource.id, resource.version_id, version.content_id, resource.role, resource.name, resource.state,
            resource.file_path, resource.total_bytes, resource.chunk_bytes, resource.proven_count,
            resource.proven_bytes, resource.etag, resource.last_modified, resource.expected_sha256,
            resource.expected_bytes, resource.sha256, resource.media_type, resource.accepts_ranges, resource.seal,
            resource.position
        FROM resource JOIN version ON version.id = resource.version_id
        """

    /// Reads a row of ``select``.
    static func record(_ row: borrowing Row) throws -> ResourceRecord {
        var record = ResourceRecord(
            id: row.id(0), version: row.id(1), content: row.id(2), role: try row.enumeration(3, ResourceRole.self))
        record.name = row.text(4)
        record.state = try row.enumeration(5, ResourceRecord.State.self)
        record.path = row.text(6)
        record.total = row.optionalUInt64(7)
        record.chunkBytes = row.uint64(8)
        record.committedChunks = row.int(9)
        record.committedBytes = row.uint64(10)
        record.entityTag = row.optionalText(11)
        record.lastModified = row.optionalText(12)
        record.expectedSHA256 = row.optionalBlob(13)
        record.expectedBytes = row.optionalUInt64(14)
        record.sha256 = row.optionalBlob(15)
        record.mediaType = row.optionalText(16)
        record.acceptsRanges = row.bool(17)
        record.seal = try row.enumeration(18, SealState.self)
        record.position = row.int(19)
        return record
    }
}
