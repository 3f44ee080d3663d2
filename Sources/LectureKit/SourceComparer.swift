import LectureAdaptive
import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureModel
import LectureStore
import LectureTransport

/// The result of asking a lecture's source.
public enum RefreshOutcome: Sendable, Hashable {
    /// Its source still has the version that is in the store, as far as the server's answer can show.
    case unchanged
    /// Its source has another version, which is queued. The old one stays playable until the new one is complete.
    case outdated
    /// Its file was missing or damaged; what is missing is queued to be downloaded again.
    case damaged
}

/// Compares complete lectures with what is requested, and with their sources. An actor on the core queue.
actor SourceComparer: CorePart, SourceChecking {
    nonisolated let core: StoreCore
    /// Lectures that are being compared with their sources.
    private var checks = SourceChecks()
    private var service: DownloadService? { core.state.service }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore) { self.core = core }

    /// A lecture whose server is to be asked once its link is resolved.
    func wantsHead(_ id: ContentID) { checks.headIsWanted.insert(id) }

    /// As ``LectureManager/Downloads/refresh(_:)``.
    func refresh(_ keys: [ContentKey]) async throws -> [ContentKey: Result<RefreshOutcome, LectureError>] {
        try Task.checkCancellation()
        let service = try openService()
        var results: [ContentKey: Result<RefreshOutcome, LectureError>] = [:]
        var open: [ContentKey: Waiter<RefreshResult>] = [:]
        for key in keys where results[key] == nil && open[key] == nil {
            guard let item = try index.contents.item(key) else {
                results[key] = .failure(LectureError(.unknownContent, detail: key.text))
                continue
            }
            guard item.content.state == .completed else {
                results[key] = .failure(LectureError(.notComplete, detail: key.text))
                continue
            }
            guard !item.content.sourceURL.isEmpty else {
                results[key] = .failure(LectureError(.sourceUnknown, detail: key.text))
                continue
            }
            if try requeueIfMissing(item) {
                try index.transaction { try $0.index.owners.join(service.run, content: item.id) }
                service.engine.setNeedsStep()
                results[key] = .success(.damaged)
                continue
            }
            try index.transaction { try $0.index.owners.join(service.run, content: item.id) }
            checks.forget(item.id)
            open[key] = checks.wait(for: item.id)
            start([try checkOfOwnSource(item)])
        }
        service.wake()
        for (key, waiter) in open {
            let result = try await waiter.value()
            if case .failure(let error) = result, error.code == .closing { throw error }
            results[key] = result
        }
        return results
    }

    private func checkOfOwnSource(_ item: ItemRecord) throws -> CheckRequest {
        var request = DownloadRequest(url: item.content.sourceURL)
        (request.headers, request.mirrors) = (item.headers, item.mirrors)
        return CheckRequest(
            content: item.id, key: item.content.key, request: request, source: try source(of: request))
    }

    /// Whether complete lectures are being compared with their sources.
    nonisolated func isCheckingSources() -> Bool { assumeIsolated { $0.checks.isBusy } }

    nonisolated func linkLed(to id: ContentID, digest: [UInt8]?) {
        assumeIsolated { $0.compareLed(to: id, digest: digest) }
    }

    /// A link led to a complete lecture, and the gateway's answer does not contradict it.
    private func compareLed(to id: ContentID, digest: [UInt8]?) {
        guard let service, let item = try? index.contents.item(id), item.content.state == .completed else { return }
        do {
            if try requeueIfMissing(item) {
                service.engine.setNeedsStep()
                return service.wake()
            }
            if digest == nil, checks.headIsWanted.isEmpty { return hub.send(.unchanged(item.content)) }
            var check = try checkOfOwnSource(item)
            if let digest {
                var request = check.request
                request.sha256 = digest
                check = CheckRequest(content: id, key: check.key, request: request, source: check.source)
            }
            start([check])
        } catch {
            hub.send(.checkFailed(key: item.content.key, error: error as? LectureError ?? LectureError(.bug)))
        }
    }

    // MARK: Running checks

    /// Starts checks, a few at once.
    func start(_ requests: [CheckRequest]) {
        for request in requests where checks.add(request) == .answered {
            checks.ended(request.content, .success(reportUnchanged(request.content)))
        }
        while let (number, check) = checks.next() {
            checks.tasks[number] = Task { await self.run(check, number: number) }
        }
    }

    /// Ends all checks; unchecked lectures stay as they are.
    func endAll() async {
        checks.dropWaiting()
        let tasks = Array(checks.tasks.values)
        // A cancelled task ends its exchange, or stops reading its file.
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func run(_ check: CheckRequest, number: Int) async {
        let result: RefreshResult
        do {
            guard let version = try index.versions.completeVersion(check.content) else {
                throw LectureError(.notComplete, detail: check.key.text)
            }
            let verdict = try await examine(check, version)
            if isClosed { throw LectureError(.closing) }
            result = .success(try conclude(check, verdict, of: version))
        } catch {
            let error =
                isClosed
                ? LectureError(.closing) : error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
            if !isClosed { hub.send(.checkFailed(key: check.key, error: error)) }
            result = .failure(error)
        }
        checks.ended(number, check.content, result)
        start([])
        service?.wake()
    }

    /// Asks the source, or reads the file for a requested digest.
    private func examine(_ check: CheckRequest, _ version: CompleteVersion) async throws -> CheckVerdict {
        if let digest = check.request.sha256 { return try await compareDigest(digest, check, version) }
        if check.source.identity == version.sourceIdentity, try isCapture(version) { return .same }
        let answer = try await answer(of: check.request, check.source, unlessChangedSince: version)
        return try await verdict(check, version, answer)
    }

    /// Whether a version is a broadcast that was captured: its source shows something else by now, or nothing.
    private func isCapture(_ version: CompleteVersion) throws -> Bool {
        StreamCapture.isCapture(try index.adaptive.playlists(version.id))
    }

    /// Asks a source once. A server that did not answer several times is not asked again.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - source: the source of its URL.
    ///   - version: asks only whether it has changed, if it came from this source.
    /// - Returns: the answer.
    /// - Throws: ``LectureError``; `CancellationError` when the task is cancelled.
    func answer(
        of request: DownloadRequest, _ source: RequestSource, unlessChangedSince version: CompleteVersion?
    ) async throws -> SourceProbe.Answer {
        let known = !source.isGateway && source.identity == version?.sourceIdentity ? version?.media.validator : nil
        return try await ask(request.url, headers: request.headers, unless: known)
    }

    private func ask(
        _ url: String, headers: [String: String] = [:], unless known: Validator? = nil
    ) async throws -> SourceProbe.Answer {
        guard let service else { throw LectureError(.closing) }
        let origin = try Origin(url: url)
        if let error = checks.refusal(of: origin) { throw error }
        do {
            let probe = SourceProbe(service.session, clock: clock, configuration: configuration)
            let answer = try await probe.ask(url, headers: headers, unless: known, acceptsPlaylist: true)
            checks.answered(origin, nil)
            return answer
        } catch let error as LectureError {
            checks.answered(origin, error)
            throw error
        }
    }

    /// Compares an answer with a version. A gateway's lecture also needs its media server where the description is not
    /// sufficient.
    ///
    /// - Returns: the verdict.
    /// - Throws: ``LectureError``; `CancellationError` when the task is cancelled.
    func verdict(
        _ check: CheckRequest, _ version: CompleteVersion, _ answer: SourceProbe.Answer
    ) async throws -> CheckVerdict {
        let media = version.media
        switch answer {
        case .unchanged: return .same
        case .media(let plan):
            let isOwn = check.source.isGateway || check.source.identity == version.sourceIdentity
            return SourceChecks.compare(plan, with: media, isOwnSource: isOwn)
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            if let code = descriptor.refusal { throw LectureError(code, detail: check.key.text) }
            if let key = descriptor.facts.key, key != check.key { return .other }
            guard let url = descriptor.mediaURLs.first, let item = try index.contents.item(check.content),
                let request = descriptor.requests(expecting: item).first
            else { return .same }
            if let isSame = request.describes(media) { return isSame ? .same : .other }
            switch try await ask(url, unless: media.validator) {
            case .unchanged, .descriptor: return .same
            case .media(let plan): return SourceChecks.compare(plan, with: media, isOwnSource: true)
            }
        }
    }

    /// Reads the file once and stores its digest.
    private func compareDigest(
        _ digest: [UInt8], _ check: CheckRequest, _ version: CompleteVersion
    ) async throws -> CheckVerdict {
        let finalized = FinalizedMedia(resource: version.media, cipher: try cipher(for: version.media, of: check.key))
        let running = Guarded(try digests.sha256())
        do {
            try await MediaReader(core).read(finalized, check.key, range: nil) { bytes in
                try Task.checkCancellation()
                running.withLock { digest in unsafe bytes.withUnsafeBytes { unsafe digest.update($0) } }
            }
        } catch is CancellationError {
            throw LectureError(.closing)
        }
        let sha256 = try running.withLock { digest throws(LectureError) in try digest.finish() }
        try writer.versions.setDigest(version, sha256)
        return sha256 == digest ? .same : .other
    }

    private func conclude(
        _ check: CheckRequest, _ verdict: CheckVerdict, of version: CompleteVersion
    ) throws -> RefreshOutcome {
        guard verdict == .other else {
            if version.sourceURL.isEmpty {
                try writer.requests.adopt(check.request, check.source, check.content, version, now: clock.now())
            }
            return reportUnchanged(check.content)
        }
        let isOwn = version.sourceIdentity == check.source.identity
        let successor: Successor =
            isOwn && check.request.sha256 == nil ? .newerAtSource : .request(check.request, check.source)
        // Another process may have replaced the version meanwhile, or be replacing it.
        let isQueued = try index.versions.supersede(check.content, version: version.id, by: successor, now: clock.now())
        guard isQueued, let content = try index.contents.item(check.content)?.content else { return .outdated }
        hub.send(.outdated(content))
        hub.send(.queued(content))
        service?.engine.setNeedsStep()
        return .outdated
    }

    @discardableResult
    private func reportUnchanged(_ id: ContentID) -> RefreshOutcome {
        guard let content = (try? index.contents.item(id))??.content, content.state == .completed else {
            return .unchanged
        }
        // The request may have named an output path.
        service?.engine.publish(id)
        hub.send(.unchanged(content))
        return .unchanged
    }

}
