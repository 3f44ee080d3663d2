import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureStore
import LectureTransport

/// Determines what a source is, before any of it is downloaded. An actor on the core queue.
actor SourceLoader: CorePart {
    nonisolated let core: StoreCore

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore) { self.core = core }

    /// As ``LectureManager/Downloads/load(_:)``.
    ///
    /// - Parameters:
    ///   - url: a media file or a gateway link, http or https.
    ///   - asksForIt: whether a new lecture counts as requested.
    /// - Returns: the lecture.
    /// - Throws: ``LectureError``; `CancellationError` when the task is cancelled.
    func load(_ url: String, asksForIt: Bool) async throws -> Content {
        let service = try openService()
        let request = DownloadRequest(url: url)
        // Invalid requests are refused before any server is asked.
        _ = try prepared(request)
        let answer = try await SourceProbe(service.session, clock: clock, configuration: configuration)
            .ask(url, acceptsPlaylist: true)
        try Task.checkCancellation()
        // In one transaction, so that the engine, which reads the same rows, sees only the result.
        return try core.transaction { transaction in
            let index = transaction.index
            let known = try self.lecture(url: url)
            let targetState = try known.flatMap { try index.contents.item($0.key)?.targetState } ?? .fetch
            let lecture = try register(request)
            let final = try store(answer, id: lecture.id, key: lecture.key, service: service, transaction)
            if let known, targetState != .fetch || known.state == .failed {
                _ = try index.targets.setTargetState(
                    final, targetState == .fetch ? .pause : targetState, now: clock.now())
            } else if known == nil, !asksForIt, try index.contents.item(lecture.id) != nil {
                // Still its own row, so it is new and not another name of an existing lecture.
                _ = try index.targets.setTargetState(final, .cancel, now: clock.now())
            }
            if case .media(let plan) = answer, !plan.isPlaylist {
                core.state.announced[final] = plan.total.map { Int64(clamping: $0) }
            }
            guard let content = try index.contents.item(final)?.content else {
                throw LectureError(.unknownContent, detail: final.text)
            }
            return content
        }
    }

    /// Stores the result of a probe.
    ///
    /// - Returns: the key of the resulting lecture.
    private func store(
        _ answer: SourceProbe.Answer, id: ContentID, key: ContentKey, service: DownloadService,
        _ transaction: SQLiteTransaction
    ) throws -> ContentKey {
        let (now, index) = (clock.now(), transaction.index)
        guard let item = try index.owners.claim(content: id, owner: service.owner, now: now) else { return key }
        if item.currentVersion != nil {
            try index.owners.release(item.lease)
            return key
        }
        if let other = try keep(answer, item, now: now, transaction) {
            try index.contents.merge(item.lease, into: other)
            return try index.contents.item(other)?.content.key ?? key
        }
        try index.owners.release(item.lease)
        return try index.contents.item(id)?.content.key ?? key
    }

    /// Stores facts, resources, and where a licence comes from; returns the actual lecture when it is another one.
    private func keep(
        _ answer: SourceProbe.Answer, _ item: ItemRecord, now: Timestamp, _ transaction: SQLiteTransaction
    ) throws -> ContentID? {
        let index = transaction.index
        let requests: [ResourceRequest]
        switch answer {
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            if let code = descriptor.refusal { throw LectureError(code) }
            if let other = try index.contents.setFacts(item.lease, descriptor.facts, now: now) { return other }
            try licensing.forDownloads().recordSource(
                descriptor.licence, of: descriptor.facts.key ?? item.content.key, in: transaction)
            requests = descriptor.requests(expecting: item)
        case .media, .unchanged:
            var facts = ContentFacts()
            if case .media(let plan) = answer, plan.isPlaylist { facts.type = .adaptiveDownload }
            if let other = try index.contents.setFacts(item.lease, facts, now: now) { return other }
            requests = [item.directResource]
        }
        if try index.versions.building(item.id) == nil {
            _ = try index.versions.beginVersion(item.lease, requests: requests, now: now)
        }
        return nil
    }

    /// Registers one request; within a transaction when the caller has one.
    func register(_ request: DownloadRequest) throws -> RegisteredRequest {
        let request = try prepared(request)
        let source = try source(of: request)
        try checkOutput(of: request, source)
        return try index.requests.enqueue(request, source: source, check: .list, now: clock.now())
    }
}

extension BodyPlan {
    /// Whether its media type is that of a playlist (HLS, DASH).
    var isPlaylist: Bool { mediaType.flatMap { MediaType($0) }?.isPlaylist ?? false }
}
