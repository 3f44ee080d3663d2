package import LectureModel
import LectureSQLite

// Table chunk_piece.

extension ResourceRows {
    /// Stores a piece of a chunk that is not committed; pieces of the same chunk from its start on are replaced. A
    /// trigger deletes the pieces when the chunk is committed.
    package func keepPiece(_ lease: ContentLease, _ resource: ResourceID, _ piece: StoredPiece) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try connection.execute(
                "DELETE FROM chunk_piece WHERE resource_id = ? AND idx = ? AND start >= ?", resource, piece.chunk,
                piece.start)
            try connection.execute(
                """
                INSERT INTO chunk_piece(resource_id, idx, start, bytes, box)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE resource_id = ?1 AND idx = ?2)
                """, resource, piece.chunk, piece.start, piece.count, piece.box)
        }
    }

    /// Deletes the pieces of a chunk from an offset on.
    package func dropPieces(_ lease: ContentLease, _ resource: ResourceID, chunk: Int, from start: UInt64) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try connection.execute(
                "DELETE FROM chunk_piece WHERE resource_id = ? AND idx = ? AND start >= ?", resource, chunk, start)
        }
    }

    /// The pieces of a resource, by chunk and offset.
    package func pieces(_ resource: ResourceID) throws -> [StoredPiece] {
        try connection.query(
            "SELECT idx, start, bytes, box FROM chunk_piece WHERE resource_id = ? ORDER BY idx, start", resource
        ) { row in
            StoredPiece(chunk: row.int(0), start: row.uint64(1), count: row.int(2), box: row.blob(3))
        }
    }
}
