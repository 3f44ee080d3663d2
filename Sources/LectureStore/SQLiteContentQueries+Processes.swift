package import LectureModel
import LectureSQLite

// The processes that use the store, and their requests.

extension SQLiteContentQueries {
    /// The resources of the version that is being downloaded, media first; nil without one.
    package func unfinishedResources(_ key: ContentKey) throws -> [ResourceRecord]? {
        try consistently {
            let version: VersionID? = try connection.first(
                "SELECT id FROM version WHERE content_id = ? AND state = \(sql: VersionState.building)",
                try connection.contentID(key)
            ) { $0.id(0) }
            return try version.map { try connection.resources(of: $0) }
        }
    }

    /// The owner that has leased the lecture.
    package func leaseOwner(_ key: ContentKey) throws -> OwnerID? {
        try connection.first(
            "SELECT lease_owner FROM content WHERE id = ? AND lease_owner IS NOT NULL", try connection.contentID(key)
        ) { $0.id(0) }
    }

    /// All processes with a row, in the order they started. Only its lock shows whether one still runs.
    package func owners() throws -> [OwnerRecord] {
        try connection.query(
            """
            SELECT id, pid, command, started_ms,
                (SELECT count(*) FROM content INDEXED BY content_lease WHERE lease_owner = owner.id)
            FROM owner ORDER BY id
            """
        ) { row in
            OwnerRecord(
                id: row.id(0), pid: row.int(1), command: row.text(2), started: row.timestamp(3), leases: row.int(4))
        }
    }

    /// The processes whose runs include a lecture.
    package func ownersWanting(_ key: ContentKey) throws -> [OwnerID] {
        try connection.query(
            """
            SELECT DISTINCT run.owner_id FROM run_item INDEXED BY run_item_content
            CROSS JOIN run ON run.id = run_item.run_id
            WHERE run_item.content_id = ? ORDER BY run.owner_id
            """, try connection.contentID(key)
        ) { $0.id(0) }
    }

    /// How many lectures come before one in a process's queue, including those it works on.
    package func ahead(of key: ContentKey, in owner: OwnerID) throws -> Int {
        let sql = """
            SELECT count(*) FROM content AS mine
            JOIN run ON run.owner_id = ?2
            JOIN run_item ON run_item.run_id = run.id
            JOIN content AS other ON other.id = run_item.content_id
            WHERE mine.id = ?1 AND other.id <> mine.id AND other.desire = \(sql: TargetState.fetch)
                AND (other.state IN \(sql: [ItemState.loading, .downloading, .verifying])
                    OR other.state = \(sql: ItemState.queued) AND (other.priority > mine.priority
                        OR other.priority = mine.priority AND (other.position, other.id) < (mine.position, mine.id)))
            """
        return try connection.first(sql, try connection.contentID(key), owner) { $0.int(0) } ?? 0
    }
}
