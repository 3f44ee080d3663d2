package import LectureModel
import LectureSQLite

/// Adaptive lectures: the files that follow from a version's playlists. Tables playlist and resource.
///
/// Confined to the owner of the store's writer, like its connection.
package struct AdaptiveRows: AdaptiveStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// The URL that answered a playlist; nil where none is stored.
    package func base(_ resource: ResourceID) throws -> String? {
        try connection.first("SELECT base_url FROM resource WHERE id = ?", resource) { $0.optionalText(0) } ?? nil
    }

    /// Stores the URL that answered a playlist.
    package func setBase(_ lease: ContentLease, _ resource: ResourceID, url: String) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try connection.execute("UPDATE resource SET base_url = ? WHERE id = ?", url, resource)
        }
    }

    /// The next free position of a version.
    package func nextPosition(_ version: VersionID) throws -> Int {
        try connection.first(
            "SELECT coalesce(max(position), -1) + 1 FROM resource WHERE version_id = ?", version
        ) { $0.int(0) } ?? 0
    }

    /// Adds files, at the positions from the next free one on.
    package func add(
        _ lease: ContentLease, _ version: VersionID, _ requests: [ResourceRequest], now: Timestamp
    ) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            var position = try nextPosition(version)
            for request in requests {
                try connection.execute(
                    """
                    INSERT INTO resource(version_id, role, position, name, chunk_count, expected_bytes)
                    VALUES (?, ?, ?, ?, 1, ?)
                    """, version, request.role.rawValue, position, request.name, request.expectedBytes)
                let resource = ResourceID(connection.lastInsertedID)
                try store.servers.insertURLLeases(resource, urls: request.urls, expires: nil, now: now)
                position += 1
            }
            try store.contents.recount(lease.content)
        }
    }

    // MARK: Playlists

    /// Stores the playlists that play the version from the store.
    package func setPlaylists(_ lease: ContentLease, _ version: VersionID, _ texts: [String]) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try connection.execute("DELETE FROM playlist WHERE version_id = ?", version)
            for (position, text) in texts.enumerated() {
                try connection.execute(
                    "INSERT INTO playlist(version_id, position, text) VALUES (?, ?, ?)", version, position, text)
            }
        }
    }

    /// The playlists; empty until they are stored.
    package func playlists(_ version: VersionID) throws -> [String] { try connection.playlists(of: version) }

    /// Whether the playlists are stored.
    package func hasPlaylists(_ version: VersionID) throws -> Bool {
        try connection.first("SELECT 1 FROM playlist WHERE version_id = ? LIMIT 1", version) { _ in true } ?? false
    }

    /// Has the source's playlist downloaded again, and forgets the others.
    package func reopenPlaylists(_ lease: ContentLease, _ version: VersionID) throws -> [String] {
        try connection.atomically {
            try connection.requireLease(lease)
            let others = "version_id = ? AND role = \(sql: ResourceRole.playlist)"
            let paths = try connection.query(
                "SELECT file_path FROM resource WHERE \(others) AND file_path <> ''", version
            ) { $0.text(0) }
            try connection.execute("DELETE FROM resource WHERE \(others)", version)
            let source: ResourceID? = try connection.first(
                "SELECT id FROM resource WHERE version_id = ? AND role = \(sql: ResourceRole.media)", version
            ) { $0.id(0) }
            if let source { try startOver(source, chunks: 0) }
            try store.contents.recount(lease.content)
            return paths
        }
    }

    /// Nothing is there of a file.
    ///
    /// - Parameters:
    ///   - resource: its row.
    ///   - chunks: as how many it counts until its length is known.
    /// - Throws: what the database throws.
    private func startOver(_ resource: ResourceID, chunks: Int) throws {
        try connection.execute("DELETE FROM chunk WHERE resource_id = ?", resource)
        try connection.execute(
            """
            UPDATE resource SET state = \(sql: ResourceRecord.State.absent), total_bytes = NULL, chunk_count = ?,
                proven_count = 0, proven_bytes = 0, sha256 = NULL, etag = NULL, last_modified = NULL,
                seal = \(sql: SealState.plain)
            WHERE id = ?
            """, chunks, resource)
    }

    // MARK: Encrypted files

    /// The playlists that name keys.
    package func encryptedPlaylists(_ version: VersionID) throws -> [String] {
        try connection.query(
            "SELECT text FROM playlist WHERE version_id = ? AND instr(text, '#EXT-X-KEY:') > 0 ORDER BY position",
            version
        ) { $0.text(0) }
    }

    /// The file of the streams that has a name.
    package func file(_ version: VersionID, named name: String) throws -> ResourceRecord? {
        try connection.fileOfStreams(version, name)
    }

    /// The positions of segments and initialisation sections in a state.
    package func positions(_ version: VersionID, in state: ResourceRecord.State) throws -> [Int] {
        try connection.query(
            """
            SELECT position FROM resource INDEXED BY resource_version
            WHERE version_id = ? AND role IN \(sql: [ResourceRole.segment, .initialisation]) AND state = ?
            ORDER BY position
            """, version, state.rawValue
        ) { $0.int(0) }
    }

    /// Has files downloaded again from their beginning.
    package func refetch(_ lease: ContentLease, _ version: VersionID, named names: Set<String>) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            for name in names.sorted() {
                if let file = try connection.fileOfStreams(version, name) { try startOver(file.id, chunks: 1) }
            }
            try store.contents.recount(lease.content)
        }
    }

    /// Has a playlist downloaded again from the URL that it has. Its file stays until the new one has its name.
    package func reload(_ lease: ContentLease, _ playlist: ResourceID) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            try startOver(playlist, chunks: 0)
            try store.contents.recount(lease.content)
        }
    }

    // MARK: Files

    /// Where the last files of a version's streams came from: their rows of each role along the index.
    package func sources(
        _ version: VersionID, limit: Int
    ) throws -> [(name: String, role: ResourceRole, url: String)] {
        try ResourceRole.ofStreams.flatMap { role in
            try connection.query(
                """
                SELECT name, (SELECT url FROM url_lease WHERE resource_id = resource.id ORDER BY rank LIMIT 1)
                FROM resource INDEXED BY resource_version WHERE version_id = ? AND role = ?
                ORDER BY position DESC LIMIT ?
                """, version, role.rawValue, limit
            ) { (name: $0.text(0), role: role, url: $0.optionalText(1) ?? "") }
        }
    }

    /// Files of one role that have not got their final names, along the index.
    static let unfinishedOfRole = """
        SELECT position, id FROM resource INDEXED BY resource_version
        WHERE version_id = ? AND role = ? AND position > ?
            AND state NOT IN \(sql: [ResourceRecord.State.finalized, .failed])
        ORDER BY position LIMIT ?
        """

    /// Files that have not got their final names, in the order of play. One look a role, each along the index.
    package func unfinished(_ version: VersionID, after position: Int, limit: Int) throws -> [ResourceRecord] {
        var found: [(position: Int, id: ResourceID)] = []
        for role in ResourceRole.ofStreams {
            found += try connection.query(
                Self.unfinishedOfRole, version, role.rawValue, position, limit
            ) { ($0.int(0), $0.id(1)) }
        }
        let next = found.sorted { $0.position < $1.position }.prefix(limit)
        return try next.compactMap { try connection.resource($0.id) }
    }

    /// What all files of the streams have, what the finished ones have, and the position of the first.
    package func totals(
        _ version: VersionID
    ) throws -> (all: StreamTotals, finished: StreamTotals, first: Int) {
        let groups = try connection.query(
            """
            SELECT state = \(sql: ResourceRecord.State.finalized), count(*), sum(chunk_count),
                coalesce(sum(total_bytes), 0), min(position)
            FROM resource WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams) GROUP BY 1
            """, version
        ) { row in
            var totals = StreamTotals()
            (totals.files, totals.chunks, totals.bytes) = (row.int(1), row.int(2), row.int64(3))
            return (isFinished: row.bool(0), totals: totals, first: row.int(4))
        }
        var all = StreamTotals()
        for group in groups {
            all.files += group.totals.files
            all.chunks += group.totals.chunks
            all.bytes += group.totals.bytes
        }
        let finished = groups.first(where: \.isFinished)?.totals ?? StreamTotals()
        return (all, finished, groups.map(\.first).min() ?? 0)
    }

    /// The finished files of the streams.
    package func kept(_ version: VersionID) throws -> [ResourceRecord] { try connection.keptOfStreams(version) }

    /// The first of the files that could not be downloaded, and how many there are.
    package func missing(_ version: VersionID, limit: Int) throws -> (count: Int, first: [ResourceRecord]) {
        try connection.missingOfStreams(version, limit: limit)
    }

    /// The files of the streams that have one of these names, in the order of play. One look over the version.
    package func files(_ version: VersionID, named names: Set<String>) throws -> [ResourceRecord] {
        guard !names.isEmpty else { return [] }
        let found: [(id: ResourceID, name: String)] = try connection.query(
            """
            SELECT id, name FROM resource WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams)
            ORDER BY position
            """, version
        ) { ($0.id(0), $0.text(1)) }
        return try found.filter { names.contains($0.name) }.compactMap { try connection.resource($0.id) }
    }

    /// Has files that could not be downloaded tried again.
    package func retryMissing(_ lease: ContentLease, _ version: VersionID) throws {
        try connection.atomically {
            try connection.requireLease(lease)
            let changed = try connection.execute(
                """
                UPDATE resource SET state = \(sql: ResourceRecord.State.absent), chunk_count = 1
                WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams)
                    AND state = \(sql: ResourceRecord.State.failed)
                """, version)
            if changed > 0 { try store.contents.recount(lease.content) }
        }
    }

    /// Replaces the URLs of the files that are not finished.
    package func renew(
        _ lease: ContentLease, _ version: VersionID, _ requests: [ResourceRequest], now: Timestamp
    ) throws -> RenewedURLs {
        try connection.atomically {
            try connection.requireLease(lease)
            let rows = try connection.query(
                """
                SELECT id, role, name, state, (SELECT url FROM url_lease WHERE resource_id = resource.id LIMIT 1)
                FROM resource WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams) ORDER BY position
                """, version
            ) { row in
                (
                    id: row.id(0) as ResourceID, role: try row.enumeration(1, ResourceRole.self), name: row.text(2),
                    state: try row.enumeration(3, ResourceRecord.State.self), url: row.optionalText(4)
                )
            }
            let isSame = zip(rows, requests).allSatisfy { $0.role == $1.role && $0.name == $1.name }
            guard rows.count == requests.count, isSame else { return .others }
            var renewed = RenewedURLs.same
            for (row, request) in zip(rows, requests) where row.state != .finalized && row.url != request.urls.first {
                try store.servers.replaceURLLeases(lease, row.id, urls: request.urls, expires: nil, now: now)
                renewed = .new
            }
            return renewed
        }
    }
}

extension Connection {
    /// The file of a version's streams that has a name, found by the position in it.
    func fileOfStreams(_ version: VersionID, _ name: String) throws -> ResourceRecord? {
        guard let position = Int(name.prefix { $0 != "." }) else { return nil }
        let rows: [ResourceID] = try query(
            """
            SELECT id FROM resource INDEXED BY resource_version
            WHERE version_id = ? AND role IN \(sql: ResourceRole.ofStreams) AND position = ? AND name = ?
            """, version, position, name
        ) { $0.id(0) }
        return try rows.first.flatMap { try resource($0) }
    }

    /// The finished files of a version's streams, in the order of play.
    func keptOfStreams(_ version: VersionID) throws -> [ResourceRecord] {
        try resources(of: version).filter { $0.role.isOfStream && $0.state == .finalized }
            .sorted { $0.position < $1.position }
    }

    /// The first files of a version's streams that could not be downloaded, and how many there are.
    func missingOfStreams(_ version: VersionID, limit: Int) throws -> (count: Int, first: [ResourceRecord]) {
        let condition = """
            version_id = ? AND role IN \(sql: ResourceRole.ofStreams)
                AND state = \(sql: ResourceRecord.State.failed)
            """
        let count = try first("SELECT count(*) FROM resource WHERE \(condition)", version) { $0.int(0) }
        let ids: [ResourceID] = try query(
            "SELECT id FROM resource WHERE \(condition) ORDER BY position LIMIT ?", version, limit
        ) { $0.id(0) }
        return (count ?? 0, try ids.compactMap { try resource($0) })
    }

    /// The playlists of a version, the multivariant one first.
    func playlists(of version: VersionID) throws -> [String] {
        try query("SELECT text FROM playlist WHERE version_id = ? ORDER BY position", version) { $0.text(0) }
    }
}
