package import LectureModel
import LectureSQLite

// Tables url_lease, attempt, origin and setting.

extension SQLiteDownloadIndex {
    /// How many attempts of a lecture are kept.
    package static let attemptsKept = 100

    /// The URLs of a resource, by rank.
    package func urlLeases(_ resource: ResourceID) throws -> [URLLeaseRecord] {
        try connection.query(
            """
            SELECT id, resource_id, url, rank, state, expires_ms FROM url_lease
            WHERE resource_id = ? ORDER BY rank, id
            """, resource
        ) { row in
            URLLeaseRecord(
                id: row.id(0), resource: row.id(1), url: row.text(2), rank: row.int(3),
                state: try row.enumeration(4, URLLeaseRecord.State.self), expires: row.optionalTimestamp(5))
        }
    }

    /// Replaces the URLs of a resource.
    package func replaceURLLeases(
        _ lease: ContentLease, _ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp
    ) throws {
        try connection.atomically {
            try requireLease(lease)
            try connection.execute("DELETE FROM url_lease WHERE resource_id = ?", resource)
            try insertURLLeases(resource, urls: urls, expires: expires, now: now)
        }
    }

    func insertURLLeases(_ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp) throws {
        for (rank, url) in urls.enumerated() {
            try connection.execute(
                "INSERT INTO url_lease(resource_id, url, rank, obtained_ms, expires_ms) VALUES (?, ?, ?, ?, ?)",
                resource,
                url, rank, now, expires)
        }
    }

    /// Stores the state of a URL.
    package func setURLLease(_ id: URLLeaseID, state: URLLeaseRecord.State, rank: Int) throws {
        try connection.execute("UPDATE url_lease SET state = ?, rank = ? WHERE id = ?", state.rawValue, rank, id)
    }

    /// Stores an attempt; deletes the oldest beyond 100 of a lecture. An attempt of a removed lecture is not stored.
    package func record(_ attempt: Attempt, content: ContentID, resource: ResourceID?) throws {
        try connection.atomically {
            let inserted = try connection.execute(
                """
                INSERT INTO attempt(content_id, resource_id, at_ms, duration_ms, status, curl_code, bytes, range_first,
                    range_count, origin, decision, detail)
                SELECT id, (SELECT id FROM resource WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
                FROM content WHERE id = ?
                """,
                resource, attempt.at, attempt.duration.milliseconds, attempt.status, attempt.curlCode, attempt.bytes,
                attempt.rangeFirst, attempt.rangeCount, attempt.origin, attempt.decision, attempt.detail, content)
            guard inserted == 1 else { return }
            try connection.execute(
                """
                DELETE FROM attempt WHERE content_id = ?1 AND id <= (
                    SELECT id FROM attempt WHERE content_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                """, content, Self.attemptsKept)
        }
    }

    /// The stored state of a server.
    package func origin(_ origin: String) throws -> OriginRecord? { try connection.origin(origin) }

    /// Stores the state of a server.
    package func setOrigin(_ origin: OriginRecord, now: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO origin(origin, connection_limit, wait_until_ms, wait_set_ms, updated_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (origin) DO UPDATE SET connection_limit = excluded.connection_limit,
                wait_until_ms = excluded.wait_until_ms, wait_set_ms = excluded.wait_set_ms,
                updated_ms = excluded.updated_ms
            """, origin.origin, origin.limit, origin.waitUntil, origin.waitSet, now)
    }

    /// A setting of the queue.
    package func setting(_ name: String) throws -> String? {
        try connection.first("SELECT value FROM setting WHERE name = ?", name) { $0.text(0) }
    }

    /// Stores a setting of the queue; nil deletes it.
    package func setSetting(_ name: String, _ value: String?) throws {
        guard let value else {
            try connection.execute("DELETE FROM setting WHERE name = ?", name)
            return
        }
        try connection.execute(
            "INSERT INTO setting(name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name, value)
    }
}

extension Connection {
    /// The stored state of a server.
    func origin(_ origin: String) throws -> OriginRecord? {
        try first("SELECT origin, connection_limit, wait_until_ms, wait_set_ms FROM origin WHERE origin = ?", origin) {
            OriginRecord(
                origin: $0.text(0), limit: $0.int(1), waitUntil: $0.optionalTimestamp(2),
                waitSet: $0.optionalTimestamp(3))
        }
    }
}
