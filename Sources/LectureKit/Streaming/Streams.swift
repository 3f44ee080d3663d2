import LectureCrypto
import LectureDownload
import LectureFiles
import LectureFormats
import LectureLicence
import LectureModel
import LectureStore
import LectureTransport

extension LectureManager {
    /// Streams: media that is read without being stored as a lecture, and the cache of what was read.
    ///
    /// ```swift
    /// let stream = try await manager.streams.open(url)
    /// try await stream.read { bytes in feed(bytes) }
    /// await stream.end()
    /// ```
    ///
    /// It works as long as its manager is open.
    ///
    /// ## Topics
    /// ### Streaming
    /// - ``open(_:)``
    /// - ``key(of:)``
    /// ### The cache
    /// - ``setCacheLimit(_:)``
    /// - ``cacheLimit()``
    /// - ``cacheBytes()``
    /// - ``clearCache()``
    public actor Streams: CorePart {
        nonisolated let core: StoreCore
        /// Their play time is charged here.
        private let licences: Licences
        /// The active cache; opened with the first stream.
        private var service: StreamService?

        /// The queue of the store's writer, which the manager and all of its façades share.
        public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

        init(_ core: StoreCore, _ licences: Licences) { (self.core, self.licences) = (core, licences) }

        /// Runs a query or a request on the core queue and waits for it. Must not be called on that queue.
        package nonisolated func wait<Result: Sendable>(
            _ body: @Sendable (isolated LectureManager.Streams) throws -> Result
        ) rethrows -> Result {
            try core.wait { try assumeIsolated { try body($0) } }
        }
    }
}

extension LectureManager.Streams {
    /// Opens a stream. No lecture is registered.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the stream; ``LectureStream/end()`` releases its place in the cache.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a transfer's or the server's code, `notMedia`,
    ///   `playlistUnsupported`, `descriptorUnreadable`, `badLength` when the length of the media is unknown;
    ///   `configuration`, `secretReadable` or `deviceKeyRefused` where its plays need a permission.
    ///   `CancellationError` when the task is cancelled, which also ends the request.
    public func open(_ url: String) async throws -> LectureStream {
        let session = try openSession()
        let text = try CurlURL.normalise(url)
        // Servers label playlists carelessly, so the name counts as well as the media type.
        if case let parts = try URLParts(text), parts.namesPlaylist {
            throw LectureError(.playlistUnsupported, detail: "\(parts.lastPathPart)")
        }
        let probe = SourceProbe(session, clock: clock, configuration: configuration)
        let source = StreamSource(url: text, probe: probe)
        let media = try await source.patiently(attempts: configuration.maxAttempts)
        // A stream that its caller does not get would never be ended.
        try Task.checkCancellation()
        if isClosed { throw LectureError(.closing) }
        let identity = try digests.sha256(of: media.identity)
        let derived = try ContentKeys.identity(ofURL: text) { try digests.sha256(of: $0) }.key
        let key = media.key ?? derived
        let counter = try await licences.streamCounter(key, byteCount: media.validator.total ?? 0)
        if isClosed { throw LectureError(.closing) }
        let door = try door(key, media.description, session)
        let parts = LectureStream.Parts(
            streams: self, source: source, description: media.description, transport: session.transport,
            numbers: session.numbers, identity: identity,
            stallTimeout: configuration.stallTimeout, attempts: configuration.maxAttempts, counter: counter, door: door)
        let stream = LectureStream(
            key: key, media: media, parts: parts,
            place: joinCache(identity, key: key, validator: media.validator))
        service?.add(stream)
        return stream
    }

    /// What asks the servers that permit the plays of a stream; nil where its gateway names none. Only then is the
    /// device's key needed.
    private func door(
        _ key: ContentKey, _ description: StreamSource.Description, _ session: StoreSession
    ) throws -> PlayDoor? {
        let source = description.permission
        guard source.url != nil || source.duplicateURL != nil else { return nil }
        var question = PlayQuestion(
            .permission, mediaContentKey: key.text, playerID: try licensing.deviceLedger().playerID,
            deviceName: Machine.model(), localTime: clock.now())
        (question.clientUserID, question.userValues) = (description.channels.user, description.channels.userValues)
        question.extra = licensing.parameter
        return PlayDoor(
            source: source, question: question, key: key, session: session,
            verifier: try ConfiguredAnswerVerifier(configuration.rights), clock: clock,
            inspector: configuration.inspector, stallTimeout: configuration.stallTimeout,
            trustedNow: { [licences] in try await licences.trustedNow() },
            playID: UUIDv7.text(at: clock.now(), random: SystemRandom()))
    }

    /// The key of media without a gateway that names one: it is derived from its URL.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the key that ``open(_:)`` gives it. No server is asked.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`.
    public nonisolated func key(of url: String) throws(LectureError) -> ContentKey {
        try LectureError.only {
            let text = try CurlURL.normalise(url)
            return try ContentKeys.identity(ofURL: text) { try core.digests.sha256(of: $0) }.key
        }
    }

    /// Limits the streaming cache, for every process on this store; the excess is deleted at once, least recently used
    /// first. What is being streamed stays.
    ///
    /// - Parameter bytes: 0 keeps a stream's bytes only until it ends.
    /// - Throws: ``LectureError`` of the store or the disk; `parameter` for a negative number.
    public func setCacheLimit(_ bytes: Int64) throws(LectureError) {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            guard bytes >= 0 else { throw LectureError(.parameter, detail: "the limit of the streaming cache") }
            let cleaning = try self.cleaning()
            try cleaning.dismissDead()
            try cleaning.cache.setLimit(bytes)
            if bytes == 0 {
                try cleaning.files.delete(try cleaning.cache.removeUnused(onlyOver: false))
            } else {
                try cleaning.files.delete(try cleaning.cache.trim(to: bytes))
            }
        }
    }

    /// What the streaming cache may take, in bytes; 0 keeps a stream's bytes only until it ends.
    ///
    /// - Returns: the last limit set by any process; 512 MiB by default.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func cacheLimit() throws(LectureError) -> Int64 {
        try LectureError.only {
            try SQLiteStreamCache(index: writer).limit() ?? StreamLimit.standard
        }
    }

    /// Bytes on disk used by the streaming cache.
    ///
    /// - Returns: the sum of the lengths of its files.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func cacheBytes() throws(LectureError) -> Int64 {
        try LectureError.only { try cacheFiles().bytes() }
    }

    /// Empties the streaming cache, except what any process is streaming.
    ///
    /// - Throws: ``LectureError`` of the store or the disk.
    public func clearCache() throws(LectureError) {
        try LectureError.only {
            if isClosed { throw LectureError(.closing) }
            let cleaning = try self.cleaning()
            try cleaning.run()
            try cleaning.files.delete(try cleaning.cache.removeUnused(onlyOver: false))
        }
    }

    // MARK: For the streams

    /// Takes a place in the cache for a version; nil when it cannot be cached, which is reported once.
    func joinCache(_ identity: [UInt8], key: ContentKey, validator: Validator) -> StreamPlace? {
        do {
            let service = try openService()
            guard StreamVersion.isKept(validator) else { return nil }
            return try service.join(identity, key: key, validator: validator)
        } catch let error as LectureError {
            hub.send(.trouble(error))
            return nil
        } catch {
            return nil
        }
    }

    /// Reserves space for blocks of a stream.
    func reserveSpace(_ blocks: [StreamBlock]) throws -> (granted: Set<Int>, isDiskFull: Bool) {
        try service?.reserveSpace(blocks) ?? ([], false)
    }

    /// Releases space that a stream could not use.
    func releaseSpace(_ blocks: [StreamBlock]) { try? service?.releaseSpace(blocks) }

    /// Records which blocks a stream has returned.
    func touch(_ blocks: Set<Int>, of item: StreamItemID) { try? service?.touch(blocks, of: item) }

    /// Releases a stream's place.
    func leave(_ item: StreamItemID) {
        do {
            try service?.leave(item)
        } catch let error as LectureError {
            hub.send(.trouble(error))
        } catch {}
    }

    /// Reports that a stream continues without its cache.
    func reportFailure(_ error: LectureError) { hub.send(.trouble(error)) }

    /// Ends every stream, when the manager is closed.
    func endAll() async {
        guard let service else { return }
        for stream in service.open { await stream.end() }
        service.forgetStreams()
    }

    private func openService() throws -> StreamService {
        if let service { return service }
        let (files, configuration) = (files, configuration)
        let made = try StreamService(
            index: writer, files: cacheFiles(), session: try openSession(), clock: clock,
            reserve: configuration.reserveBytes, freeBytes: { try files.freeBytes() },
            vault: { DeviceVault(try configuration.deviceHome().key()) })
        service = made
        return made
    }

    private func cacheFiles() throws -> CacheFiles {
        if let service { return service.files }
        return CacheFiles(root: try location.make())
    }

    private func cleaning() throws -> StreamCleaning {
        StreamCleaning(
            index: writer, cache: SQLiteStreamCache(index: writer), files: try cacheFiles(), locks: locks,
            now: clock.now())
    }
}
