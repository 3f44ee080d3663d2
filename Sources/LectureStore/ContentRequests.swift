import LectureFormats
package import LectureModel
import LectureSQLite

/// How a request becomes a row of `content`.
///
/// Confined to the owner of the store's writer, like its connection.
package struct ContentRequests: ContentRequestStore {
    let store: SQLiteDownloadIndex
    var connection: Connection { store.connection }

    /// Registers a request, or finds its lecture: by key if given, else by `identity`, else by `derivedKey`. A lecture
    /// that is not complete becomes `queued` with target state `fetch`, its attempts and waiting time reset, unless it
    /// is leased.
    ///
    /// A known lecture is updated from the request: its URL (a link with a fresh signature, for example) and everything
    /// the request names. When the URL or the mirrors changed, the source has to be asked again. A complete one is
    /// compared with the request (``CompleteVersion/match(_:source:isGateway:check:)``): where another version is
    /// requested, the lecture is queued and its version marked as outdated; until then it keeps its source.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the key to use when the request has none, the identity shared by repeated requests for the same
    ///     source, and whether its URL is a gateway link.
    ///   - check: how far a complete lecture is compared with the request.
    ///   - now: the wall clock.
    /// - Returns: what became of the request.
    /// - Throws: ``LectureError``: `parameter` for a priority out of range, `storeBusy` while another process removes
    ///   the lecture, or downloads other streams of it.
    package func enqueue(
        _ request: DownloadRequest, source: RequestSource, check: SourceCheck, now: Timestamp
    ) throws -> RegisteredRequest {
        try connection.atomically {
            guard let known = try known(request.key, source) else { return try add(request, source, now: now) }
            return try enqueue(request, source: source, for: known, check: check, now: now)
        }
    }

    /// Registers a request for a lecture that the store has.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the source of its URL.
    ///   - known: the lecture, as ``find(_:_:)`` returned it in the same transaction.
    ///   - check: how far a complete lecture is compared with the request.
    ///   - now: the wall clock.
    /// - Returns: what became of the request.
    /// - Throws: as ``enqueue(_:source:check:now:)``.
    package func enqueue(
        _ request: DownloadRequest, source: RequestSource, for known: ItemRecord, check: SourceCheck, now: Timestamp
    ) throws -> RegisteredRequest {
        try Self.check(request)
        return try connection.atomically {
            try store.outputs.add(request, content: known.id)
            let outcome = try apply(request, source, to: known, check: check, now: now)
            return RegisteredRequest(id: known.id, key: known.content.key, outcome: outcome, added: nil)
        }
    }

    /// Applies a request whose link turned out to lead to a lecture that was known. The lecture already has the link as
    /// its source: see ``ContentRows/merge(_:into:)``.
    ///
    /// - Parameters:
    ///   - content: the lecture.
    ///   - sha256: the requested digest; nil for any.
    ///   - bytes: the requested size; nil for any.
    ///   - now: the wall clock.
    /// - Returns: the outcome, as of a request under the lecture's key.
    /// - Throws: ``LectureError``.
    package func request(
        _ content: ContentID, sha256: [UInt8]?, bytes: Int64?, now: Timestamp
    ) throws -> EnqueueOutcome {
        try connection.atomically {
            guard let known = try connection.item(id: content), known.content.state != .removing else {
                return .alreadyQueued
            }
            var request = DownloadRequest(url: known.content.sourceURL)
            (request.sha256, request.size, request.mirrors) = (sha256, bytes, known.mirrors)
            let source = RequestSource(
                derivedKey: known.content.key, identity: try sourceIdentity(of: content), isGateway: true)
            return try apply(request, source, to: known, check: .list, now: now)
        }
    }

    private func apply(
        _ request: DownloadRequest, _ source: RequestSource, to known: ItemRecord, check: SourceCheck, now: Timestamp
    ) throws -> EnqueueOutcome {
        let isLeased = try isLeased(known.id)
        if !isLeased, known.content.state != .removing, let version = try store.versions.completeVersion(known.id) {
            let outcome = try compare(known, version, request, source, check: check, now: now)
            if let outcome { return outcome }
        }
        return try renew(known, request, source, isLeased: isLeased, now: now)
    }

    /// Compares a request with the complete version.
    ///
    /// - Returns: the outcome of the request; nil when the lecture is not complete and its download continues.
    private func compare(
        _ known: ItemRecord, _ version: CompleteVersion, _ request: DownloadRequest, _ source: RequestSource,
        check: SourceCheck, now: Timestamp
    ) throws -> EnqueueOutcome? {
        let pending = try sourceIdentity(of: known.id)
        var match = version.match(
            request, source: (requested: source.identity, pending: pending), isGateway: source.isGateway, check: check)
        // Rebuilt from a file. The same bytes are repaired from this source; other bytes replace it.
        let isRebuilt = version.sourceURL.isEmpty && known.content.sourceURL.isEmpty
        if isRebuilt, match == .sourceUnknown, known.needsRepair { match = .other }
        if let selection = request.selection, known.content.type == .adaptiveDownload, selection != known.selection {
            try connection.execute("UPDATE content SET selection = ? WHERE id = ?", selection.text, known.id)
            if !selection.hasStreams(of: known.selection) { match = .other }
        }
        let isComplete = known.content.state == .completed
        let isSameLink = source.isGateway && known.isGateway
        // Another source is not stored before it was checked; the same one may have a fresh signature or token.
        try describe(known, request, keepsSource: source.identity != pending && !isSameLink, now: now)
        if isRebuilt, match == .same, request.sha256 != nil {
            try adopt(request, source, known.id, version, now: now)
        }
        switch match {
        case .same where known.needsRepair, .digestUnknown where known.needsRepair,
            .sourceUnknown where known.needsRepair:
            // Damage was found: only the damaged chunks are downloaded again.
            try store.versions.queue(known.id, now: now)
            return .damaged
        case .same:
            guard !isComplete else { return .alreadyComplete }
            // The signature of the version's own URL may have expired since.
            let isOwn = source.identity == version.sourceIdentity || isSameLink
            try store.versions.restore(
                known.id, version,
                source: isOwn
                    ? (request.url, isSameLink ? pending : source.identity)
                    : (version.sourceURL, version.sourceIdentity), now: now)
            // What the discarded version was expected to be no longer counts.
            try connection.execute(
                "UPDATE content SET expected_sha256 = ?, expected_bytes = ? WHERE id = ?", request.sha256,
                request.size, known.id)
            return .alreadyComplete
        case .digestUnknown, .sourceUnknown: return isComplete ? .checking : nil
        case .other:
            // A running update continues, unless it is to other bytes than are requested now.
            if version.isOutdated, try isSameUpdate(known, request, source, pending: pending) { return nil }
            try store.versions.supersede(known.id, version: version.id, by: .request(request, source), now: now)
            return .outdated
        }
    }

    /// Gives a version of unknown source the source that has the same bytes.
    ///
    /// - Parameters:
    ///   - request: names it.
    ///   - source: the source of its URL.
    ///   - content: the lecture.
    ///   - version: its complete version.
    ///   - now: the wall clock.
    /// - Throws: ``LectureError``.
    package func adopt(
        _ request: DownloadRequest, _ source: RequestSource, _ content: ContentID, _ version: CompleteVersion,
        now: Timestamp
    ) throws {
        try connection.atomically {
            // Another process may have requested another source meanwhile.
            guard try connection.item(id: content)?.content.sourceURL.isEmpty == true else { return }
            try store.versions.setSource(request, source, of: content)
            try connection.execute(
                "UPDATE version SET source_url = ?, source_identity = ? WHERE id = ?", request.url, source.identity,
                version.id)
            try connection.execute(
                "UPDATE resource SET expected_sha256 = ? WHERE id = ?", request.sha256, version.media.id)
            try connection.execute("DELETE FROM url_lease WHERE resource_id = ?", version.media.id)
            try store.servers.insertURLLeases(
                version.media.id, urls: [request.url] + request.mirrors, expires: nil, now: now)
        }
    }

    /// Whether the download that is to replace a complete version is what is requested now.
    private func isSameUpdate(
        _ known: ItemRecord, _ request: DownloadRequest, _ source: RequestSource, pending: [UInt8]
    ) throws -> Bool {
        let isSameDigest = request.sha256 == nil || request.sha256 == known.expectedSHA256
        return isSameDigest && (request.sha256 != nil || source.isGateway || source.identity == pending)
    }

    private func sourceIdentity(of content: ContentID) throws -> [UInt8] {
        try connection.first("SELECT source_identity FROM content WHERE id = ?", content) { $0.blob(0) } ?? []
    }

    /// Stores a request's metadata for a complete lecture.
    private func describe(
        _ known: ItemRecord, _ request: DownloadRequest, keepsSource: Bool, now: Timestamp
    ) throws {
        try connection.execute(
            """
            UPDATE content SET desire = \(sql: TargetState.fetch), source_url = ?, priority = ?, headers = ?,
                mirrors = ?, title = coalesce(?, title), course = coalesce(?, course),
                teacher = coalesce(?, teacher), folder = coalesce(?, folder), updated_ms = ?
            WHERE id = ?
            """,
            keepsSource ? known.content.sourceURL : request.url,
            request.priority == 0 ? known.content.priority : request.priority,
            try store.contents.stored(keepsSource || request.headers.isEmpty ? known.headers : request.headers),
            try JSONText.encode(keepsSource || request.mirrors.isEmpty ? known.mirrors : request.mirrors),
            request.title, request.course, request.teacher, request.folder, now, known.id)
    }

    /// The lecture of a request; nil when there is none yet. Nothing is changed.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the source of its URL.
    /// - Returns: the lecture.
    /// - Throws: ``LectureError``.
    package func find(_ request: DownloadRequest, _ source: RequestSource) throws -> ItemRecord? {
        try known(request.key, source)
    }

    func known(_ key: ContentKey?, _ source: RequestSource) throws -> ItemRecord? {
        if let key { return try connection.item(key: key) }
        return try connection.contentID(of: source).flatMap { try connection.item(id: $0) }
    }

    /// Updates an incomplete lecture from a request, and puts it back into the queue.
    private func renew(
        _ known: ItemRecord, _ request: DownloadRequest, _ source: RequestSource, isLeased: Bool, now: Timestamp
    ) throws -> EnqueueOutcome {
        if known.content.state == .removing {
            guard !isLeased else {
                throw LectureError(.storeBusy, detail: known.content.key.text, cause: "the lecture is being removed")
            }
            // Some files are already gone: nothing may count as committed that a removal had started to delete.
            try connection.execute("DELETE FROM version WHERE content_id = ?", known.id)
            try store.contents.recount(known.id)
        }
        let headers = request.headers.isEmpty ? known.headers : request.headers
        let mirrors = request.mirrors.isEmpty ? known.mirrors : request.mirrors
        let isSameSource = known.content.sourceURL == request.url && known.mirrors == mirrors
        // A link that has once led to a description stays a gateway link with a fresh signature.
        let isDescribed = try source.isGateway || (known.isGateway && hasIdentity(known.id, source.identity))
        if !isLeased, let digest = request.sha256, let expected = known.expectedSHA256, digest != expected {
            // Bytes downloaded for another digest belong to another version.
            try store.versions.discardUnfinished(of: known.id)
        }
        if let selection = request.selection, selection != known.selection {
            try select(selection, of: known, isLeased: isLeased)
        }
        var isLoaded = known.isLoaded && isSameSource
        if !isSameSource, !isDescribed {
            isLoaded = try renewURLs(of: known.id, [request.url] + mirrors, source, now: now) && known.isLoaded
        }
        try connection.execute(
            """
            UPDATE content SET desire = \(sql: TargetState.fetch), source_url = ?, source_identity = ?,
                is_gateway = ?, is_loaded = ?, priority = ?, headers = ?, mirrors = ?, title = coalesce(?, title),
                course = coalesce(?, course), teacher = coalesce(?, teacher), folder = coalesce(?, folder),
                expected_sha256 = coalesce(?, expected_sha256), expected_bytes = coalesce(?, expected_bytes),
                updated_ms = ?
            WHERE id = ?
            """,
            request.url, source.identity, isDescribed, isLoaded,
            request.priority == 0 ? known.content.priority : request.priority, try store.contents.stored(headers),
            try JSONText.encode(mirrors), request.title, request.course, request.teacher, request.folder,
            request.sha256, request.size, now, known.id)
        // The version being built must also have the digest given now.
        if let digest = request.sha256,
            let media = try store.versions.building(known.id)?.resources.first(where: { $0.role == .media })
        {
            try connection.execute("UPDATE resource SET expected_sha256 = ? WHERE id = ?", digest, media.id)
        }
        if !isLeased { try startAnew("id = ?", [known.id.sqliteValue], now: now) }
        return switch known.content.state {
        case .completed: .alreadyComplete
        case .queued, .loading, .downloading, .verifying: .alreadyQueued
        case .stopped, .failed, .removing: .resumed
        }
    }

    /// Other streams are kept from now on: those of the version being built belong to another one. That gaps are
    /// accepted changes none of them. While they are downloaded the selection stays, since what is complete in the end
    /// would pass for what was requested now.
    private func select(_ selection: StreamSelection, of known: ItemRecord, isLeased: Bool) throws {
        if !selection.hasStreams(of: known.selection) {
            guard !isLeased || known.isLoaded && known.content.type != .adaptiveDownload else {
                throw LectureError(
                    .storeBusy, detail: known.content.key.text, cause: "other streams of it are being downloaded")
            }
            if !isLeased { try store.versions.discardUnfinished(of: known.id) }
        }
        try connection.execute("UPDATE content SET selection = ? WHERE id = ?", selection.text, known.id)
    }

    private func hasIdentity(_ content: ContentID, _ identity: [UInt8]) throws -> Bool {
        try connection.first("SELECT source_identity = ? FROM content WHERE id = ?", identity, content) { $0.bool(0) }
            ?? false
    }

    /// The version being built continues from the new URLs; its committed bytes stay.
    ///
    /// - Returns: whether there is such a version.
    private func renewURLs(
        of content: ContentID, _ urls: [String], _ source: RequestSource, now: Timestamp
    ) throws -> Bool {
        guard let (version, resources) = try store.versions.building(content),
            let media = resources.first(where: { $0.role == .media })
        else { return false }
        try connection.execute(
            "UPDATE version SET source_url = ?, source_identity = ? WHERE id = ?", urls.first ?? "", source.identity,
            version)
        try connection.execute("DELETE FROM url_lease WHERE resource_id = ?", media.id)
        try store.servers.insertURLLeases(media.id, urls: urls, expires: nil, now: now)
        return true
    }

    /// Makes unleased incomplete lectures `queued` and resets their attempts and waiting times.
    func startAnew(_ condition: String, _ values: [SQLiteValue], now: Timestamp) throws {
        try connection.execute(
            """
            UPDATE content SET state = \(sql: ItemState.queued), stop_reason = NULL, error_code = NULL,
                error_detail = '', error_cause = '', attempts = 0, next_attempt_ms = NULL, wait_set_ms = NULL,
                updated_ms = ?
            WHERE \(condition) AND \(Claim.content.isFree) AND state <> \(sql: ItemState.completed)
            """, values: [now.sqliteValue] + values)
    }

    func isLeased(_ content: ContentID) throws -> Bool {
        try connection.first("SELECT \(Claim.content.isHeld) FROM content WHERE id = ?", content) { $0.bool(0) }
            ?? false
    }
}

/// What became of a request that was registered.
package struct RegisteredRequest: Sendable {
    /// The row of its lecture.
    package let id: ContentID
    /// The lecture's key.
    package let key: ContentKey
    /// The outcome.
    package var outcome: EnqueueOutcome
    /// The lecture as it was added, so that its row need not be read again; nil when it was known before.
    package let added: Content?
}
