import LectureCrypto
import LectureDownload
import LectureFiles
public import LectureModel
import LectureStore
import LectureTransport

/// What became of a lecture whose source was asked.
public enum RefreshOutcome: Sendable, Hashable {
    /// Its source still has the version that is in the store, as far as the server's answer can show.
    case unchanged
    /// Its source has another version, which is queued. The old one stays playable until the new one is complete.
    case outdated
    /// Its file was missing or damaged; what is missing is queued to be downloaded again.
    case damaged
}

/// Whether what is complete is what is requested, and is on the disk.
extension LectureManager {
    /// Asks the sources of complete lectures whether they have newer versions, and queues those.
    ///
    /// Nothing of the media is read: validators, length and announced digests are compared. A lecture whose source
    /// cannot be asked stays as it is.
    ///
    /// - Parameter keys: complete lectures.
    /// - Returns: for each lecture what became of it, or why it could not be found out: `unknownContent`,
    ///   `notComplete`, a transfer's or the server's code.
    /// - Throws: ``LectureError`` when the store cannot be written; `CancellationError` when the task is cancelled:
    ///   sources that are being asked are asked to the end, and what they have is queued all the same.
    public func refresh(_ keys: [ContentKey]) async throws -> [ContentKey: Result<RefreshOutcome, LectureError>] {
        try Task.checkCancellation()
        let room = try openRoom()
        var results: [ContentKey: Result<RefreshOutcome, LectureError>] = [:]
        // The outcome of each comes as an event; listening begins before the first one is asked.
        let stream = hub.stream(hearsCostly: false)
        var open: Set<ContentKey> = []
        for key in keys where results[key] == nil && !open.contains(key) {
            guard let item = try index.item(key) else {
                results[key] = .failure(LectureError(.unknownContent, detail: key.text))
                continue
            }
            guard item.content.state == .completed else {
                results[key] = .failure(LectureError(.notComplete, detail: key.text))
                continue
            }
            if let error = try mediaFault(of: item) {
                try requireMediaDirectory()
                try index.transaction {
                    try writer.markMissing(item.id, error, isQueued: true, now: clock.now())
                    try index.join(room.run, content: item.id)
                }
                room.engine.poke()
                results[key] = .success(.damaged)
                continue
            }
            try index.transaction { try index.join(room.run, content: item.id) }
            checks.forget(item.id)
            start([try checkOfOwnSource(item)])
            open.insert(key)
        }
        room.wake()
        guard !open.isEmpty else { return results }
        for await event in stream {
            switch event {
            case .unchanged(let content): results[content.key] = .success(.unchanged)
            case .outdated(let content): results[content.key] = .success(.outdated)
            case .checkFailed(let key, let error): results[key] = .failure(error)
            default: continue
            }
            open.subtract(results.keys)
            if open.isEmpty { break }
        }
        try Task.checkCancellation()
        if !open.isEmpty { throw LectureError(.closing) }
        return results
    }

    private func checkOfOwnSource(_ item: ItemRecord) throws -> CheckRequest {
        var request = DownloadRequest(url: item.content.sourceURL)
        (request.headers, request.mirrors) = (item.headers, item.mirrors)
        return CheckRequest(
            content: item.id, key: item.content.key, request: request, source: try source(of: request))
    }

    /// A link led to a lecture that is complete, and nothing that its gateway said speaks against it.
    func linkLed(to id: ContentID, digest: [UInt8]?) {
        guard let room, let item = try? index.item(id), item.content.state == .completed else { return }
        do {
            if let error = try mediaFault(of: item) {
                try requireMediaDirectory()
                _ = try index.transaction { try writer.markMissing(id, error, isQueued: true, now: clock.now()) }
                room.engine.poke()
                return room.wake()
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

    /// Begins checks, a few at once.
    func start(_ requests: [CheckRequest]) {
        for request in requests where checks.add(request) == .answered { reportUnchanged(request.content) }
        while let (number, check) = checks.next() {
            checks.tasks[number] = Task { await self.run(check, number: number) }
        }
    }

    /// Ends all checks; lectures that were not looked at stay as they are.
    func endChecks() async {
        checks.dropWaiting()
        let tasks = Array(checks.tasks.values)
        for task in tasks { task.cancel() }
        // Exchanges end with the transport, which is shut down below; those that read a file look at `isClosed`.
        if !tasks.isEmpty, let seat { await seat.endExchanges() }
        for task in tasks { await task.value }
    }

    private func run(_ check: CheckRequest, number: Int) async {
        do {
            let verdict = try await examine(check)
            if isClosed { throw LectureError(.closing) }
            try conclude(check, verdict)
        } catch {
            let error = error as? LectureError ?? LectureError(.bug, cause: "\(type(of: error))")
            if !isClosed { hub.send(.checkFailed(key: check.key, error: error)) }
        }
        checks.ended(number, check.content)
        start([])
        room?.wake()
    }

    private func examine(_ check: CheckRequest) async throws -> CheckVerdict {
        guard let version = try index.completeVersion(check.content) else {
            throw LectureError(.notComplete, detail: check.key.text)
        }
        if let digest = check.request.sha256 { return try await compareDigest(digest, check, version) }
        let origin = try Origin(url: check.request.url)
        if let error = checks.refusal(of: origin) { throw error }
        do {
            let verdict = try await ask(check, version)
            checks.answered(origin, nil)
            return verdict
        } catch let error as LectureError {
            checks.answered(origin, error)
            throw error
        }
    }

    /// Asks the source, and of a gateway's lecture the server of the media where the description does not say enough.
    private func ask(_ check: CheckRequest, _ version: CompleteVersion) async throws -> CheckVerdict {
        guard let room else { throw LectureError(.closing) }
        let probe = SourceProbe(room: room, clock: clock, configuration: configuration)
        let media = version.media
        let known = Validator(etag: media.entityTag, lastModified: media.lastModified, total: media.total)
        let isOwn = check.source.isGateway || check.source.identity == version.sourceIdentity
        let answer = try await probe.ask(
            check.request.url, headers: check.request.headers, unless: isOwn && !check.source.isGateway ? known : nil)
        switch answer {
        case .unchanged: return .same
        case .media(let plan): return SourceChecks.compare(plan, with: media, isOwnSource: isOwn)
        case .descriptor(let document):
            let descriptor = try ContentDescriptor(document)
            if let code = descriptor.refusal { throw LectureError(code, detail: check.key.text) }
            if let key = descriptor.facts.key, key != check.key { return .other }
            guard let url = descriptor.mediaURLs.first, let item = try index.item(check.content),
                let wish = descriptor.wishes(expecting: item).first
            else { return .same }
            if let verdict = SourceChecks.compare(wish, with: media) { return verdict }
            switch try await probe.ask(url, unless: known) {
            case .unchanged, .descriptor: return .same
            case .media(let plan): return SourceChecks.compare(plan, with: media, isOwnSource: true)
            }
        }
    }

    /// Reads the file once; from then on its digest is in the store.
    private func compareDigest(
        _ digest: [UInt8], _ check: CheckRequest, _ version: CompleteVersion
    ) async throws -> CheckVerdict {
        let placed = PlacedMedia(resource: version.media, cipher: try cipher(for: version.media, of: check.key))
        let running = Guarded(try digests.sha256())
        do {
            try await read(placed, check.key, range: nil) { bytes in
                try Task.checkCancellation()
                running.withLock { digest in unsafe bytes.withUnsafeBytes { unsafe digest.update($0) } }
            }
        } catch is CancellationError {
            throw LectureError(.closing)
        }
        let sha256 = try running.withLock { digest throws(LectureError) in try digest.finish() }
        try writer.setDigest(version, sha256)
        return sha256 == digest ? .same : .other
    }

    private func conclude(_ check: CheckRequest, _ verdict: CheckVerdict) throws {
        guard verdict == .other else { return reportUnchanged(check.content) }
        let isOwn = try index.completeVersion(check.content)?.sourceIdentity == check.source.identity
        let successor: Successor =
            isOwn && check.request.sha256 == nil ? .newerAtSource : .request(check.request, check.source)
        let isQueued = try index.transaction {
            try index.supersede(check.content, by: successor, now: clock.now())
        }
        guard isQueued, let content = try index.item(check.content)?.content else { return }
        hub.send(.outdated(content))
        hub.send(.queued(content))
        room?.engine.poke()
    }

    private func reportUnchanged(_ id: ContentID) {
        guard let content = (try? index.item(id))??.content, content.state == .completed else { return }
        // A place for the bytes may have come with the request.
        try? room?.engine.publish(id)
        hub.send(.unchanged(content))
    }

    // MARK: Files that are gone

    /// Looks at the files of all complete lectures, at their directory entries only. A lecture whose file is missing or
    /// was cut short counts as failed with `mediaMissing` from now on; one whose file is there again is complete again.
    ///
    /// - Returns: how many lectures lack their file.
    /// - Throws: ``LectureError`` when the store cannot be read, or written where something has to be noted.
    @discardableResult
    public func checkFiles() throws -> Int {
        try markFound()
        try markMissing(isQueued: false)
        return try writer.missingMedia().count
    }

    /// Lectures whose file is there again are complete again.
    func markFound() throws {
        let back = try writer.missingMedia().filter { mediaFault($0.media, key: nil) == nil }
        guard !back.isEmpty else { return }
        try index.transaction { for row in back { try writer.markFound(row.id, now: clock.now()) } }
    }

    /// Looks at the files of all complete lectures and marks those whose file is gone.
    func markMissing(isQueued: Bool) throws {
        var last: ContentID?
        var isChecked = false
        while true {
            let page = try queries.completeMedia(after: last, limit: 1000)
            guard let end = page.last else { return }
            last = end.id
            let gone = page.compactMap { row in mediaFault(row.media, key: row.key).map { (row.id, $0) } }
            guard !gone.isEmpty else { continue }
            if isQueued, !isChecked { try requireMediaDirectory() }
            isChecked = true
            try index.transaction {
                for (id, error) in gone { try writer.markMissing(id, error, isQueued: isQueued, now: clock.now()) }
            }
        }
    }

    /// Where every file is gone nothing is downloaded again: more likely a disk is not mounted, and a whole library
    /// would be fetched into the place where it should be.
    func requireMediaDirectory() throws {
        guard try files.isEmpty() else { return }
        throw LectureError(
            .mediaMissing, detail: "\(try location.make())/media",
            cause:
                "no file is there at all; is a disk not mounted? "
                + "'lecturectl verify --all --repair' downloads them again"
        )
    }

    /// What the directory says of the media of a content that is complete, or was before its file went.
    func mediaFault(of item: ItemRecord) throws -> LectureError? {
        guard let media = try index.completeVersion(item.id)?.media else { return nil }
        return mediaFault(PlacedFile(path: media.path, fileBytes: media.fileBytes), key: item.content.key)
    }

    /// As above, of a file.
    func mediaFault(_ file: PlacedFile, key: ContentKey?) -> LectureError? {
        let detail = key?.text ?? ""
        guard let length = files.look(path: file.path).final else {
            return LectureError(.mediaMissing, detail: detail, cause: "\(file.path) is not there")
        }
        guard let due = file.fileBytes, length < due else { return nil }
        return LectureError(.mediaMissing, detail: detail, cause: "\(file.path) has \(length) of \(due) bytes")
    }

    /// A content as it is, and not only as its row says: one whose file is gone is not complete.
    func truthful(_ content: Content, _ file: PlacedFile?) -> Content {
        guard let file, let error = mediaFault(file, key: content.key) else { return content }
        var content = content
        content.isPlayable = false
        guard content.state == .completed else { return content }
        content.state = .failed
        content.error = error
        content.provenBytes = 0
        return content
    }
}
