package import LectureModel
package import LectureSQLite

/// Lists and queries. On a connection that cannot write, one for each concurrent caller, or on the writer's, beside its
/// work. In WAL mode neither waits for a program that writes.
package final class SQLiteContentQueries {
    let connection: Connection
    /// Checks the codes of licences; nil trusts them.
    let authenticator: (any RowAuthenticator)?
    /// Created with the first query about licences.
    var knownLicenceRows: LicenceRows?

    /// Takes over a connection.
    ///
    /// - Parameters:
    ///   - connection: from ``StoreDatabase/openReader(_:)``, or another one of the same executor.
    ///   - authenticator: checks the codes of licences; without it they are shown as stored.
    package init(connection: Connection, authenticator: (any RowAuthenticator)? = nil) {
        (self.connection, self.authenticator) = (connection, authenticator)
    }

    /// Opens a reader of an existing store.
    ///
    /// - Parameter location: where the store is.
    /// - Throws: ``LectureError`` as ``StoreDatabase/openReader(_:)``.
    package convenience init(opening location: StoreLocation) throws {
        self.init(connection: try StoreDatabase.openReader(location))
    }

    /// Another reader on this connection, which checks the codes of licences.
    package func checking(_ authenticator: any RowAuthenticator) -> SQLiteContentQueries {
        SQLiteContentQueries(connection: connection, authenticator: authenticator)
    }

    /// Ends the running query from another thread.
    package var interrupter: Interrupter { connection.interrupter }

    /// One page of lectures.
    package func contents(_ filter: ContentFilter, sort: ContentSort, page: ContentPage) throws -> [Content] {
        try contents(filter, sort: sort, page: page) { content, _ in content }
    }

    /// Reads a page of lectures, each complete one with the file of its media; what `read` returns is collected.
    package func contents<Result>(
        _ filter: ContentFilter, sort: ContentSort, page: ContentPage, read: (Content, FinalizedFile?) throws -> Result
    ) throws -> [Result] {
        try consistently {
            let list = try ContentList(filter, sort: sort, on: connection)
            let limits: [SQLiteValue] = [max(0, page.limit).sqliteValue, max(0, page.offset).sqliteValue]
            return try connection.query(list.sql(columns: Self.pageColumns), values: list.values + limits) { row in
                try read(try ContentColumns.content(row), ContentColumns.media(row, ContentColumns.count))
            }
        }
    }

    /// Reads the lectures that follow a place in a list, each complete one with the file of its media; what `read`
    /// returns is collected.
    ///
    /// - Parameters:
    ///   - filter: which lectures.
    ///   - sort: in which order.
    ///   - place: the end of the page before, with the same filter and order; nil for the beginning.
    ///   - offset: how many are skipped.
    ///   - limit: the maximum number.
    ///   - read: gets each lecture.
    /// - Returns: the results, and the place of the last one; nil when nothing can follow it.
    /// - Throws: the error of the store when it cannot be read; what `read` throws.
    package func contents<Result>(
        _ filter: ContentFilter, sort: ContentSort, after place: ContentPlace?, skipping offset: Int, limit: Int,
        read: (Content, FinalizedFile?) throws -> Result
    ) throws -> (results: [Result], end: ContentPlace?) {
        var results: [Result] = []
        let rows = ListedRows(self, filter, sort: sort, after: place, skipping: offset, limit: limit)
        let end = try rows.forEach(ContentColumns.joinedList) { row in
            results.append(
                try read(try ContentColumns.content(row), ContentColumns.media(row, ContentColumns.count)))
        }
        return (results, end)
    }

    /// Reads at most `limit` lectures before one in a list, up to the one next to it, or after it, each complete one
    /// with the file of its media; it need not match the filter any more. What `read` returns is collected in the order
    /// of the list; nil when there is no such lecture.
    package func contents<Result>(
        _ filter: ContentFilter, sort: ContentSort, beside key: ContentKey, isBefore: Bool, limit: Int,
        read: (Content, FinalizedFile?) throws -> Result
    ) throws -> [Result]? {
        try consistently {
            let forward = try ContentList(filter, sort: sort, on: connection)
            let list = isBefore ? forward.reversed : forward
            guard let id = try item(key)?.id, let place = try list.place(of: id, on: connection) else { return nil }
            var results: [Result] = []
            for part in list.parts(after: place) where results.count < limit {
                let bounds = [(limit - results.count).sqliteValue, 0.sqliteValue]
                results += try connection.query(
                    list.sql(part, columns: Self.joinedColumns), values: list.values + part.values + bounds
                ) { try read(try ContentColumns.content($0), ContentColumns.media($0, ContentColumns.count)) }
            }
            return isBefore ? results.reversed() : results
        }
    }

    private static let pageColumns = "\(ContentColumns.list), \(ContentColumns.media)"
    private static let joinedColumns = "\(ContentColumns.joinedList), \(ContentColumns.joinedMedia)"

    /// The complete lectures after a row, with the files of their media, in the order of registration.
    package func completeMedia(
        after content: ContentID?, limit: Int
    ) throws -> [(id: ContentID, key: ContentKey, media: FinalizedFile)] {
        let rows = try connection.query(
            """
            SELECT content.id, content.key, \(ContentColumns.media) FROM content INDEXED BY content_state
            WHERE content.state = \(sql: ItemState.completed) AND content.id > ? ORDER BY content.id LIMIT ?
            """, content ?? ContentID(0), limit
        ) { row -> (ContentID, ContentKey, FinalizedFile?) in
            (row.id(0), ContentKey(stored: row.text(1)), ContentColumns.media(row, 2))
        }
        return rows.map { (id: $0.0, key: $0.1, media: $0.2 ?? FinalizedFile(path: "", fileBytes: nil)) }
    }

    /// The files of complete versions, media and all others, in the order of their rows; without those of lectures
    /// being removed, whose files are deleted before their rows.
    ///
    /// - Parameters:
    ///   - resource: after this row; nil for the first ones.
    ///   - limit: the maximum number.
    /// - Returns: each row with its file.
    /// - Throws: the error of the store when it cannot be read.
    package func finalizedFiles(
        after resource: ResourceID?, limit: Int
    ) throws -> [(id: ResourceID, file: FinalizedFile)] {
        let rows = try connection.query(
            """
            SELECT resource.id, resource.seal || ':' || coalesce(resource.total_bytes, '') || ':' || resource.file_path
            FROM resource JOIN version ON version.id = resource.version_id
            JOIN content ON content.id = version.content_id
            WHERE resource.id > ? AND resource.state = ? AND version.state = \(sql: VersionState.current)
                AND content.desire <> \(sql: TargetState.remove)
            ORDER BY resource.id LIMIT ?
            """, resource ?? ResourceID(0), ResourceRecord.State.finalized.rawValue, limit
        ) { row -> (ResourceID, FinalizedFile?) in (row.id(0), ContentColumns.media(row, 1)) }
        return rows.compactMap { id, file in file.map { (id: id, file: $0) } }
    }

    /// How many lectures match the filter.
    package func count(_ filter: ContentFilter) throws -> Int {
        try consistently {
            var statesOnly = ContentFilter()
            statesOnly.states = filter.states
            if statesOnly == filter {
                let status = try status()
                return status.counts.filter { filter.states.isEmpty || filter.states.contains($0.key) }.values.reduce(
                    0, +)
            }
            let list = try ContentList(filter, sort: .added, on: connection)
            return try connection.first(list.countSQL, values: list.values) { $0.int(0) } ?? 0
        }
    }

    /// The lecture with this key, or that had it until its gateway named it.
    package func item(_ key: ContentKey) throws -> ItemRecord? { try connection.item(key: key) }

    /// The lecture whose source has this identity.
    package func key(identity: [UInt8]) throws -> ContentKey? {
        try connection.first("SELECT key FROM content WHERE source_identity = ? ORDER BY id LIMIT 1", identity) { row in
            ContentKey(stored: row.text(0))
        }
    }

    /// How many lectures are still to be removed, by any process.
    package func removalsLeft() throws -> Int {
        try connection.first(
            "SELECT count(*) FROM content INDEXED BY content_removal WHERE desire = \(sql: TargetState.remove)"
        ) { $0.int(0) } ?? 0
    }

    /// Counts by state and bytes.
    package func status() throws -> StoreStatus {
        var status = StoreStatus()
        let rows = try connection.query("SELECT state, contents, bytes_proven, bytes_total FROM tally") { row in
            (
                state: try row.enumeration(0, ItemState.self), count: row.int(1), committed: row.int64(2),
                total: row.int64(3)
            )
        }
        for row in rows where row.count > 0 {
            status.counts[row.state] = row.count
            status.committedBytes += row.committed
            status.totalBytes += row.total
        }
        return status
    }

    /// The latest attempts, latest first.
    package func attempts(_ key: ContentKey, limit: Int) throws -> [Attempt] {
        try connection.query(
            """
            SELECT at_ms, origin, decision, duration_ms, status, curl_code, bytes, range_first, range_count, detail
            FROM attempt WHERE content_id = ? ORDER BY id DESC LIMIT ?
            """, try connection.contentID(key), limit
        ) { row in
            var attempt = Attempt(at: row.timestamp(0), origin: row.text(1), decision: row.text(2))
            attempt.duration = .milliseconds(row.int64(3))
            attempt.status = row.optionalInt(4)
            attempt.curlCode = row.int(5)
            attempt.bytes = row.int64(6)
            attempt.rangeFirst = row.int64(7)
            attempt.rangeCount = row.optionalInt64(8)
            attempt.detail = row.text(9)
            return attempt
        }
    }

    /// The resources of the current version (or, without one, of the one being built), media first.
    package func resources(_ key: ContentKey) throws -> [ResourceRecord] {
        try consistently {
            try streams.version(of: key).map { try connection.resources(of: $0) } ?? []
        }
    }

    /// Committed chunk numbers and proofs, in order.
    package func chunks(_ resource: ResourceID) throws -> [WrittenChunk] { try connection.chunks(of: resource) }

    /// The stored state of a server.
    package func origin(_ origin: String) throws -> OriginRecord? { try connection.origin(origin) }

    /// Changes when another connection has committed.
    package func dataVersion() throws -> Int64 { try connection.dataVersion() }

    /// The steps SQLite plans for a page, for tests.
    func plan(_ filter: ContentFilter, sort: ContentSort) throws -> [String] {
        let list = try ContentList(filter, sort: sort, on: connection)
        return try connection.plan(
            list.sql(columns: Self.pageColumns), values: list.values + [50.sqliteValue, 0.sqliteValue])
    }

    /// The steps SQLite plans for each part of what follows a lecture, for tests.
    func plans(_ filter: ContentFilter, sort: ContentSort, after content: ContentID) throws -> [[String]] {
        let list = try ContentList(filter, sort: sort, on: connection)
        return try list.parts(after: try list.place(of: content, on: connection)).map { part in
            try connection.plan(
                list.sql(part, columns: Self.joinedColumns),
                values: list.values + part.values + [50.sqliteValue, 0.sqliteValue])
        }
    }

    /// Runs several statements on one snapshot of the store.
    func consistently<Result>(_ body: () throws -> Result) throws -> Result {
        connection.isInTransaction ? try body() : try connection.transaction(.read, body)
    }
}
