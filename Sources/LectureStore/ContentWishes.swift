package import LectureModel
import LectureSQLite

// How a wish becomes a row of content.

extension SQLiteDownloadIndex {
    /// Registers a wish, or finds the content it means: by key if given, else by `identity`, else by `derivedKey`.
    ///
    /// A content that is known learns what the wish says anew: its URL (a link with a fresh signature, for example) and
    /// everything the wish names. When the URL or the mirrors changed, the source has to be asked again.
    ///
    /// - Parameters:
    ///   - request: the wish.
    ///   - derivedKey: the key to use when the wish has none.
    ///   - identity: what repeated wishes for the same source have in common.
    ///   - isGateway: whether the URL is a gateway link.
    ///   - now: the wall clock.
    /// - Returns: the row, its key, and what became of the wish.
    /// - Throws: ``LectureError``: `parameter` for a priority out of range, `storeBusy` while another process removes
    ///   the content.
    package func enqueue(
        _ request: DownloadRequest, derivedKey: ContentKey, identity: [UInt8], isGateway: Bool, now: Timestamp
    ) throws -> (id: ContentID, key: ContentKey, outcome: EnqueueOutcome) {
        guard (-100...100).contains(request.priority) else {
            throw LectureError(.parameter, detail: "priority", cause: "-100 to 100")
        }
        return try atomically {
            if let known = try known(request.key, derivedKey: derivedKey, identity: identity) {
                return try renew(known, request, identity: identity, isGateway: isGateway, now: now)
            }
            let key = request.key ?? derivedKey
            let id = try insert(request, key: key, identity: identity, isGateway: isGateway, now: now)
            try addOutput(request.outputPath, content: id)
            return (id, key, .added)
        }
    }

    private func known(_ key: ContentKey?, derivedKey: ContentKey, identity: [UInt8]) throws -> ItemRecord? {
        if let key { return try connection.item(key: key) }
        let sameSource = try connection.first(
            "SELECT id FROM content WHERE source_identity = ? ORDER BY id LIMIT 1", identity
        ) { row -> ContentID in row.id(0) }
        if let sameSource { return try connection.item(id: sameSource) }
        return try connection.item(key: derivedKey)
    }

    private func insert(
        _ request: DownloadRequest, key: ContentKey, identity: [UInt8], isGateway: Bool, now: Timestamp
    ) throws -> ContentID {
        try connection.execute(
            """
            INSERT INTO content(key, priority, position, added_ms, updated_ms, is_gateway, source_identity,
                expected_sha256, expected_bytes, title, course, teacher, folder, source_url, headers, mirrors)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            key, request.priority, try lastPosition(priority: request.priority) + Self.positionGap, now, now, isGateway,
            identity, request.sha256, request.size, request.title ?? Self.lastPart(of: request.url),
            request.course ?? "", request.teacher ?? "", request.folder ?? "", request.url,
            try JSONText.encode(request.headers), try JSONText.encode(request.mirrors))
        return ContentID(connection.lastInsertedID)
    }

    private func renew(
        _ known: ItemRecord, _ request: DownloadRequest, identity: [UInt8], isGateway: Bool, now: Timestamp
    ) throws -> (id: ContentID, key: ContentKey, outcome: EnqueueOutcome) {
        let isLeased = try isLeased(known.id)
        if known.content.state == .removing {
            guard !isLeased else {
                throw LectureError(.storeBusy, detail: known.content.key.text, cause: "the content is being removed")
            }
            // Some files are gone already: nothing may count as proven that a removal had begun to delete.
            try connection.execute("DELETE FROM version WHERE content_id = ?", known.id)
            try recount(known.id)
        }
        let headers = request.headers.isEmpty ? known.headers : request.headers
        let mirrors = request.mirrors.isEmpty ? known.mirrors : request.mirrors
        let isSameSource = known.content.sourceURL == request.url && known.mirrors == mirrors
        // A fresh signature does not make media of a link that has once led to a description.
        let isDescribed = try isGateway || (known.isGateway && hasIdentity(known.id, identity))
        var isLoaded = known.isLoaded && isSameSource
        if !isSameSource, !isDescribed {
            isLoaded = try renewURLs(of: known.id, [request.url] + mirrors, now: now) && known.isLoaded
        }
        try connection.execute(
            """
            UPDATE content SET desire = 0, source_url = ?, source_identity = ?, is_gateway = ?, is_loaded = ?,
                priority = ?, headers = ?, mirrors = ?, title = coalesce(?, title), course = coalesce(?, course),
                teacher = coalesce(?, teacher), folder = coalesce(?, folder),
                expected_sha256 = coalesce(?, expected_sha256), expected_bytes = coalesce(?, expected_bytes),
                updated_ms = ?
            WHERE id = ?
            """,
            request.url, identity, isDescribed, isLoaded,
            request.priority == 0 ? known.content.priority : request.priority, try JSONText.encode(headers),
            try JSONText.encode(mirrors), request.title, request.course, request.teacher, request.folder,
            request.sha256, request.size, now, known.id)
        // What is being built must have the digest that is named now, too.
        if let digest = request.sha256,
            let media = try building(known.id)?.resources.first(where: { $0.role == .media })
        {
            try connection.execute("UPDATE resource SET expected_sha256 = ? WHERE id = ?", digest, media.id)
        }
        try addOutput(request.outputPath, content: known.id)
        if !isLeased { try startAnew("id = ?", [known.id.sqliteValue], now: now) }
        let outcome: EnqueueOutcome =
            switch known.content.state {
            case .completed: .alreadyComplete
            case .queued, .loading, .downloading, .verifying: .alreadyQueued
            case .stopped, .failed, .removing: .resumed
            }
        return (known.id, known.content.key, outcome)
    }

    private func hasIdentity(_ content: ContentID, _ identity: [UInt8]) throws -> Bool {
        try connection.first("SELECT source_identity = ? FROM content WHERE id = ?", identity, content) { $0.bool(0) }
            ?? false
    }

    /// The version being built goes on from the new URLs; its proven bytes stay.
    ///
    /// - Returns: whether there is such a version.
    private func renewURLs(of content: ContentID, _ urls: [String], now: Timestamp) throws -> Bool {
        let media = try building(content)?.resources.first { $0.role == .media }
        guard let media else { return false }
        try connection.execute("DELETE FROM url_lease WHERE resource_id = ?", media.id)
        try insertURLLeases(media.id, urls: urls, expires: nil, now: now)
        return true
    }

    /// Makes unleased contents that are not complete `queued`, their attempts and waiting times forgotten.
    func startAnew(_ condition: String, _ values: [SQLiteValue], now: Timestamp) throws {
        try connection.execute(
            """
            UPDATE content SET state = 0, stop_reason = NULL, error_code = NULL, error_detail = '', error_cause = '',
                attempts = 0, next_attempt_ms = NULL, wait_set_ms = NULL, updated_ms = ?
            WHERE \(condition) AND lease_owner IS NULL AND state <> 4
            """, values: [now.sqliteValue] + values)
    }

    func isLeased(_ content: ContentID) throws -> Bool {
        try connection.first("SELECT lease_owner IS NOT NULL FROM content WHERE id = ?", content) { $0.bool(0) }
            ?? false
    }

    private func addOutput(_ path: String?, content: ContentID) throws {
        guard let path else { return }
        try connection.execute("INSERT OR IGNORE INTO output(content_id, path) VALUES (?, ?)", content, path)
    }

    /// The last part of a URL's path, for a title; the whole URL when the path is empty.
    private static func lastPart(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let afterScheme = path.firstRange(of: "://").map { path[$0.upperBound...] } ?? path
        let parts = afterScheme.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count > 1, let last = parts.last else { return url }
        return String(last)
    }
}
