package import LectureModel
import LectureSQLite

/// Servers: the URLs that lead to them, the attempts made, and their own state. Tables url_lease, attempt and origin.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ServerRows: ServerStore {
    let connection: Connection

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
            try connection.requireLease(lease)
            try connection.execute("DELETE FROM url_lease WHERE resource_id = ?", resource)
            try insertURLLeases(resource, urls: urls, expires: expires, now: now)
        }
    }

    @discardableResult
    func insertURLLeases(
        _ resource: ResourceID, urls: [String], expires: Timestamp?, now: Timestamp
    ) throws -> [URLLeaseRecord] {
        try urls.enumerated().map { rank, url in
            try connection.execute(
                "INSERT INTO url_lease(resource_id, url, rank, obtained_ms, expires_ms) VALUES (?, ?, ?, ?, ?)",
                resource, url, rank, now, expires)
            return URLLeaseRecord(
                id: URLLeaseID(connection.lastInsertedID), resource: resource, url: url, rank: rank, state: .usable,
                expires: expires)
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

    /// How much was downloaded in a period, and how long downloads were active in it.
    ///
    /// - Parameter time: the start of the period.
    /// - Returns: bytes, and the length of all attempts, counting concurrent ones once.
    /// - Throws: ``LectureError``.
    package func throughput(since time: Timestamp) throws -> (bytes: Int64, busy: Duration) {
        let attempts = try connection.query(
            "SELECT at_ms, duration_ms, bytes FROM attempt WHERE at_ms >= ? AND bytes > 0 ORDER BY at_ms LIMIT 20000",
            time
        ) { (start: $0.int64(0), length: $0.int64(1), bytes: $0.int64(2)) }
        var (bytes, busy, end): (Int64, Int64, Int64) = (0, 0, .min)
        for attempt in attempts {
            bytes += attempt.bytes
            let stop = attempt.start + attempt.length
            busy += max(0, stop - max(end, attempt.start))
            end = max(end, stop)
        }
        return (bytes, .milliseconds(busy))
    }

    /// How much of a server's past its speed is taken from: half an hour in which something ran. What is older says
    /// little of a server, or a line, that has become faster or slower.
    package static let memory = Duration.seconds(1800)

    /// How much each server has sent in a period, and how long transfers from it were active: the newest attempts,
    /// those of the last half hour in which any was active.
    ///
    /// - Parameters:
    ///   - time: the start of the period.
    ///   - bound: the limit that applied at a time; nil for none.
    /// - Returns: by server, in the order of their names: of what was sent without a limit if there is anything, else
    ///   of all, with the largest limit.
    /// - Throws: ``LectureError``.
    package func throughputs(
        since time: Timestamp, bound: (Timestamp) -> Int64?
    ) throws -> [(origin: String, bytes: Int64, busy: Duration, bound: Int64?)] {
        let attempts = try connection.query(
            """
            SELECT origin, at_ms, duration_ms, bytes FROM attempt WHERE at_ms >= ? AND bytes > 0
            ORDER BY at_ms DESC LIMIT 100000
            """, time
        ) { PastAttempt(origin: $0.text(0), start: $0.timestamp(1), length: $0.int64(2), bytes: $0.int64(3)) }
        return Dictionary(grouping: attempts.reversed(), by: \.origin).sorted { $0.key < $1.key }.map {
            origin, attempts in
            let free = attempts.filter { bound($0.start) == nil }
            let (newest, busy) = PastAttempt.newest(free.isEmpty ? attempts : free, busy: Self.memory)
            let limit = free.isEmpty ? newest.compactMap { bound($0.start) }.max() : nil
            return (origin, newest.reduce(0) { $0 + $1.bytes }, busy, limit)
        }
    }
}

/// What the speed of a server is taken from.
private struct PastAttempt {
    let origin: String
    let start: Timestamp
    /// Milliseconds.
    let length: Int64
    let bytes: Int64

    /// The newest attempts.
    ///
    /// - Parameters:
    ///   - attempts: in the order of their beginnings.
    ///   - wanted: how long at least one of them was active, at least, if they were for so long.
    /// - Returns: the attempts, and how long at least one was active.
    static func newest(_ attempts: [Self], busy wanted: Duration) -> (attempts: ArraySlice<Self>, busy: Duration) {
        var (sums, sum, end): ([Int64], Int64, Int64) = ([], 0, .min)
        for attempt in attempts {
            let (start, stop) = (attempt.start.milliseconds, attempt.start.milliseconds + attempt.length)
            sum += max(0, stop - max(end, start))
            end = max(end, stop)
            sums.append(sum)
        }
        // Those after the last one before which there is enough.
        let first = sums.lastIndex { sum - $0 >= wanted.milliseconds }.map { $0 + 1 } ?? 0
        return (attempts[first...], .milliseconds(sum - (first > 0 ? sums[first - 1] : 0)))
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
