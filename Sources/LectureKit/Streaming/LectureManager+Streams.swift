import LectureCrypto
import LectureDownload
import LectureFiles
import LectureModel
import LectureStore
import LectureTransport

extension LectureManager {
    /// Opens a stream. Nothing is registered among the contents.
    ///
    /// - Parameter url: a media file or a gateway link, http or https.
    /// - Returns: the stream; ``LectureStream/end()`` gives its place in the cache free.
    /// - Throws: ``LectureError``: `urlScheme`, `urlInvalid`, a transfer's or the server's code, `notMedia`,
    ///   `playlistUnsupported`, `descriptorUnreadable`, `badLength` when nobody tells how long the media is.
    ///   `CancellationError` when the task is cancelled, which also ends the request.
    public func openStream(_ url: String) async throws -> LectureStream {
        let seat = try openSeat()
        let text = try CurlURL.normalise(url)
        // Servers name playlists carelessly, so the name counts as well as the media type.
        if case let parts = try URLParts(text), parts.path.hasSuffix(".m3u8") {
            throw LectureError(.playlistUnsupported, detail: "\(parts.lastPathPart)")
        }
        let probe = SourceProbe(transport: seat.transport, clock: clock, configuration: configuration)
        let source = StreamSource(url: text, probe: probe)
        let media = try await source.patiently(attempts: configuration.maxAttempts)
        // Nobody would end a stream that its caller does not get.
        try Task.checkCancellation()
        if isClosed { throw LectureError(.closing) }
        let identity = try digests.sha256(of: media.identity)
        let derived = try ContentKeys.identity(ofURL: text) { try digests.sha256(of: $0) }.key
        let parts = LectureStream.Parts(
            manager: self, source: source, transport: seat.transport, identity: identity,
            stallTimeout: configuration.stallTimeout, attempts: configuration.maxAttempts)
        let stream = LectureStream(
            key: media.key ?? derived, media: media, parts: parts,
            place: joinCache(identity, key: media.key ?? derived, validator: media.validator))
        streams?.add(stream)
        return stream
    }

    /// Bounds the streaming cache, for every process on this store; what is beyond goes at once, the longest unused
    /// first. What is being streamed stays.
    ///
    /// - Parameter bytes: 0 keeps a stream's bytes only until it ends.
    /// - Throws: ``LectureError`` of the store or the disk; `parameter` for a negative number.
    public func setStreamCacheLimit(_ bytes: Int64) async throws {
        if isClosed { throw LectureError(.closing) }
        guard bytes >= 0 else { throw LectureError(.parameter, detail: "the limit of the streaming cache") }
        let cleaning = try streamCleaning()
        try cleaning.dismissDead()
        try cleaning.cache.setLimit(bytes)
        if bytes == 0 {
            try cleaning.files.delete(try cleaning.cache.removeUnused(onlyOver: false))
        } else {
            try cleaning.files.delete(try cleaning.cache.trim(to: bytes))
        }
    }

    /// What the streaming cache may take, in bytes; 0 keeps a stream's bytes only until it ends.
    ///
    /// - Returns: what was set last, by whichever process; 512 MiB where nothing was.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func streamCacheLimit() throws -> Int64 {
        try SQLiteStreamCache(index: writer).limit() ?? StreamLimit.standard
    }

    /// Bytes on the disk that the streaming cache takes.
    ///
    /// - Returns: the sum of the lengths of its files.
    /// - Throws: ``LectureError`` when the store cannot be read.
    public func streamCacheBytes() throws -> Int64 { try cacheFiles().bytes() }

    /// Empties the streaming cache, except of what is being streamed, by whichever process.
    ///
    /// - Throws: ``LectureError`` of the store or the disk.
    public func clearStreamCache() async throws {
        if isClosed { throw LectureError(.closing) }
        let cleaning = try streamCleaning()
        try cleaning.run()
        try cleaning.files.delete(try cleaning.cache.removeUnused(onlyOver: false))
    }

    // MARK: For the streams

    /// Takes a place in the cache for a version; nil when it cannot be kept, which is told once.
    func joinCache(_ identity: [UInt8], key: ContentKey, validator: Validator) -> StreamPlace? {
        do {
            let room = try openStreams()
            guard StreamVersion.isKept(validator) else { return nil }
            return try room.join(identity, key: key, validator: validator)
        } catch let error as LectureError {
            hub.send(.trouble(error))
            return nil
        } catch {
            return nil
        }
    }

    /// Takes room for blocks of a stream.
    func takeStreamRoom(_ blocks: [StreamBlock]) throws -> (granted: Set<Int>, isDiskFull: Bool) {
        try streams?.takeRoom(blocks) ?? ([], false)
    }

    /// Gives room back that a stream could not use.
    func giveStreamRoomBack(_ blocks: [StreamBlock]) { try? streams?.giveRoomBack(blocks) }

    /// Notes which blocks a stream has handed out.
    func touchStream(_ blocks: Set<Int>, of item: StreamItemID) { try? streams?.touch(blocks, of: item) }

    /// Gives a stream's place up.
    func leaveStream(_ item: StreamItemID) {
        do {
            try streams?.leave(item)
        } catch let error as LectureError {
            hub.send(.trouble(error))
        } catch {}
    }

    /// Tells that a stream goes on without its cache.
    func tellStreamTrouble(_ error: LectureError) { hub.send(.trouble(error)) }

    /// Ends every stream, when the manager is closed.
    func endStreams() async {
        guard let room = streams else { return }
        for stream in room.open { await stream.end() }
        room.forgetStreams()
    }

    private func openStreams() throws -> StreamRoom {
        if let streams { return streams }
        let (files, configuration) = (files, configuration)
        let made = try StreamRoom(
            index: writer, files: cacheFiles(), seat: try openSeat(), clock: clock,
            reserve: configuration.reserveBytes, freeBytes: { try files.freeBytes() },
            vault: { DeviceVault(try configuration.deviceHome().key()) })
        streams = made
        return made
    }

    private func cacheFiles() throws -> CacheFiles {
        if let streams { return streams.files }
        return CacheFiles(root: try location.make())
    }

    private func streamCleaning() throws -> StreamCleaning {
        StreamCleaning(
            index: writer, cache: SQLiteStreamCache(index: writer), files: try cacheFiles(), locks: locks,
            now: clock.now())
    }
}
