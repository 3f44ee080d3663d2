import LectureCrypto
import LectureDownload
public import LectureModel
import LectureTransport

/// Learning what a source is, before a byte of it is fetched.
extension LectureManager {
    /// Asks the source what it is and registers it, without fetching it. What was asked for a content that is known
    /// (fetched, paused, cancelled) stays as it was; a source that cannot be loaded leaves nothing behind.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the content; the same source again gives the same content.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a transfer's or the server's code, `notMedia`,
    ///   `descriptorUnreadable`, `playlistUnsupported`. `CancellationError` when the task is cancelled; then nothing is
    ///   registered.
    public func load(_ url: String) async throws -> Content { try await load(url, asksForIt: true) }

    /// As ``load(_:)``.
    ///
    /// - Parameters:
    ///   - url: a media file or a gateway link, http or https.
    ///   - asksForIt: whether a new content counts as asked for, so that ``downloadUnfinished()`` takes it up, here or
    ///     in another process.
    /// - Returns: the content.
    /// - Throws: as ``load(_:)``.
    package func load(_ url: String, asksForIt: Bool) async throws -> Content {
        let room = try openRoom()
        let wish = DownloadRequest(url: url)
        // What would be refused is refused before anybody is asked.
        _ = try prepared(wish)
        let answer = try await SourceProbe(room: room, clock: clock, configuration: configuration).ask(url)
        try Task.checkCancellation()
        // In one transaction, so that the engine, which looks at the same rows, sees only its end.
        return try index.transaction {
            let known = try find(url)
            let desire = try known.flatMap { try index.item($0.key)?.desire } ?? .fetch
            let (id, key, _) = try register(wish)
            let final = try store(answer, id: id, key: key, room: room)
            if let known, desire != .fetch || known.state == .failed {
                _ = try index.setDesire(final, desire == .fetch ? .pause : desire, now: clock.now())
            } else if known == nil, !asksForIt, try index.item(id) != nil {
                // Still its own row, so it is new and not another name of a content that was there.
                _ = try index.setDesire(final, .cancel, now: clock.now())
            }
            if case .media(let plan) = answer { announced[final] = plan.total.map { Int64(clamping: $0) } }
            guard let content = try index.item(final)?.content else {
                throw LectureError(.unknownContent, detail: final.text)
            }
            return content
        }
    }

    /// Stores what a probe brought; within a transaction.
    ///
    /// - Returns: the key of the content that is meant.
    private func store(
        _ answer: SourceProbe.Answer, id: ContentID, key: ContentKey, room: EngineRoom
    ) throws -> ContentKey {
        let now = clock.now()
        guard let item = try index.claim(content: id, owner: room.owner, now: now) else { return key }
        if item.currentVersion != nil {
            try index.release(item.lease)
            return key
        }
        if let other = try keep(answer, item, room: room, now: now) {
            try index.merge(item.lease, into: other)
            return try index.item(other)?.content.key ?? key
        }
        try index.release(item.lease)
        return try index.item(id)?.content.key ?? key
    }

    /// Stores facts, resources, and where a licence comes from; answers the content that is meant when it is another.
    private func keep(
        _ answer: SourceProbe.Answer, _ item: ItemRecord, room: EngineRoom, now: Timestamp
    ) throws -> ContentID? {
        let wishes: [ResourceWish]
        switch answer {
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            if let code = descriptor.refusal { throw LectureError(code) }
            if let other = try index.setFacts(item.lease, descriptor.facts, now: now) { return other }
            try makeDesk()(room.engine.inbox).noteSource(
                descriptor.licence, of: descriptor.facts.key ?? item.content.key)
            wishes = descriptor.wishes(expecting: item)
        case .media, .unchanged:
            if let other = try index.setFacts(item.lease, ContentFacts(), now: now) { return other }
            wishes = [item.directWish]
        }
        if try index.building(item.id) == nil { _ = try index.beginVersion(item.lease, wishes: wishes, now: now) }
        return nil
    }

    // MARK: Registering

    /// Registers one request; within a transaction when the caller has one.
    func register(_ request: DownloadRequest) throws -> (id: ContentID, key: ContentKey, outcome: EnqueueOutcome) {
        let request = try prepared(request)
        return try index.enqueue(request, source: try source(of: request), check: .list, now: clock.now())
    }

    /// What a request's URL says.
    ///
    /// - Parameter request: as ``prepared(_:)`` returns it.
    /// - Returns: its derived key, its identity, and whether it is a gateway link.
    /// - Throws: ``LectureError``.
    func source(of request: DownloadRequest) throws -> RequestSource {
        let identity = try digests.sha256(of: ContentKeys.identityBytes(ofURL: request.url))
        // The key's hexadecimal part is the beginning of the same digest.
        let derived = try ContentKeys.derivedKey(fromURL: request.url) { _ in identity }
        return RequestSource(
            derivedKey: try ContentKey(derived), identity: identity,
            isGateway: ContentKeys.isGatewayLink(try URLParts(request.url)))
    }

    /// A request as it is stored.
    ///
    /// - Parameter request: as the caller made it.
    /// - Returns: the same with normalised URLs and an absolute path.
    /// - Throws: ``LectureError`` for what no request can be.
    func prepared(_ request: DownloadRequest) throws -> DownloadRequest {
        var request = request
        request.url = try CurlURL.normalise(request.url)
        request.mirrors = try request.mirrors.map { mirror throws(LectureError) in try CurlURL.normalise(mirror) }
        for (name, value) in request.headers { _ = try HeaderField(outgoing: name, value: value) }
        if let path = request.outputPath { request.outputPath = try AbsolutePath.resolve(path) }
        let parts = try URLParts(request.url)
        // Servers name playlists carelessly, so the name counts as well as the media type.
        if parts.path.hasSuffix(".m3u8") { throw LectureError(.playlistUnsupported, detail: "\(parts.lastPathPart)") }
        return request
    }
}
