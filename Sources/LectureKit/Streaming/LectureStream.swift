import LectureDownload
import LectureEngine
import LectureFormats
public import LectureModel

/// Media that is read without being stored as a lecture: data is kept, sealed, in the store's streaming cache, and is
/// not downloaded again while it is there.
///
/// A stream is one version of the media, from its opening to its end: it never returns bytes of another version. When
/// the server has another one, the stream restarts as long as nothing was returned and the length is the same;
/// otherwise it ends with `versionUnstable`, and must be opened again.
///
/// If the lecture is in the store with a licence that limits play time, the bytes of a stream count.
///
/// A gateway may name a play callback, which permits plays: ``permission(patience:)`` asks it, for a player. Reading
/// does not.
///
/// Reads run one after the other. `receive` is called on a thread of the stream's own and may block it: bytes arrive no
/// faster than they are consumed.
public actor LectureStream {
    /// The parts a stream works with.
    struct Parts: Sendable {
        let streams: LectureManager.Streams
        let source: StreamSource
        let description: StreamSource.Description
        let transport: any Transport
        /// The numbers of exchanges on that transport.
        let numbers: TransferNumbers
        let identity: [UInt8]
        let stallTimeout: Duration
        let attempts: Int
        /// Charges play time; nil where it is not limited.
        let counter: PlayCounter?
        /// Asks the servers that permit its plays; nil without one.
        let door: PlayDoor?
    }

    /// The lecture.
    public nonisolated let key: ContentKey
    /// The length of the media in bytes.
    public nonisolated let byteCount: Int64
    /// The title that its gateway sent; nil without one.
    public nonisolated var title: String? { description.title }
    /// How long the lecture plays, as its gateway says; nil without that.
    public nonisolated var duration: Duration? { description.duration }
    /// Whether its gateway names a server that permits each play: ``permission(patience:)`` has to be asked.
    public nonisolated var needsPermission: Bool { parts.door != nil }
    /// What its gateway lists: subtitles, chapters, bookmarks.
    public nonisolated var outline: ContentOutline { description.outline }
    /// The URL that the application opened.
    nonisolated var source: String { parts.source.url }
    /// What its gateway says of it.
    nonisolated var description: StreamSource.Description { parts.description }

    private nonisolated let executor = CoreExecutor()
    let parts: Parts
    let blocks: StreamBlocks
    var url: String
    var validator: Validator
    var shelf: StreamShelf
    var request = StreamRequest()
    /// Whether the server answers ranges with ranges, as far as is known.
    var servesRanges = true
    var tries = StreamTries()
    private(set) var returns = StreamReturns()
    /// Why nothing more is returned.
    var failure: LectureError?
    /// The block after the last one read.
    private var following: Int?
    private var turns = ReadTurns()

    /// The disk and the consumer block, so a stream has a queue of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(key: ContentKey, media: StreamSource.Media, parts: Parts, place: StreamPlace?) {
        (self.key, self.parts, url, validator) = (key, parts, media.url, media.validator)
        blocks = StreamBlocks(total: media.validator.total ?? 0)
        byteCount = Int64(clamping: blocks.total)
        shelf = StreamShelf(place, blocks)
    }

    deinit {
        // There is no reader any more. The place must not stay taken until the manager is closed.
        if let transfer = request.transfer { parts.transport.cancel(transfer) }
        if let item = shelf.place?.item.id {
            Task { [streams = parts.streams] in await streams.leave(item) }
        }
        if let counter = parts.counter { Task { try? await counter.end() } }
    }

    // MARK: Reading

    /// Reads media, from the cache where possible.
    ///
    /// - Parameters:
    ///   - range: which bytes, from 0; nil for all. Bytes beyond the end are left out.
    ///   - receive: gets the bytes in order; an error it throws ends the reading.
    /// - Throws: ``LectureError``: a transfer's or the server's code, `versionUnstable` when the media changed on the
    ///   server, `playTimeUsedUp` when the licence of the stored lecture permits no further byte, `closing` after the
    ///   end; and what `receive` throws. `CancellationError` when the task is cancelled,
    ///   also while it waits for another read; other reads continue.
    public func read(range: Range<Int64>? = nil, _ receive: @Sendable ([UInt8]) throws -> Void) async throws {
        try await takeTurn()
        defer { turns.give() }
        try check()
        let wanted = (range ?? 0..<byteCount).clamped(to: 0..<byteCount)
        guard !wanted.isEmpty else { return }
        returns.began()
        let last = blocks.grid.chunk(at: UInt64(wanted.upperBound - 1))
        for index in blocks.grid.chunk(at: UInt64(wanted.lowerBound))...last {
            let bytes = try await block(index, upTo: last)
            try check()
            let place = blocks.range(of: index)
            let start = Int64(clamping: place.lowerBound)
            let part = (start..<Int64(clamping: place.upperBound)).clamped(to: wanted)
            returns.returned()
            let piece = bytes[Int(part.lowerBound - start)..<Int(part.upperBound - start)]
            if let counter = parts.counter {
                try await pass(piece, counter, receive)
            } else {
                try receive(part.count == bytes.count ? bytes : Array(piece))
            }
            following = index + 1
        }
        await recordUse(atLeast: StreamShelf.recordedAtOnce)
    }

    /// Passes on what is charged.
    private func pass(
        _ bytes: ArraySlice<UInt8>, _ counter: PlayCounter, _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        do {
            try await PlayRead(counter: counter).pass(bytes, rest: 0, receive)
        } catch let error as CancellationError {
            stopFetching()
            throw error
        }
    }

    /// Ends the stream; its data may leave the cache from now on. It completes even in a cancelled task.
    public func end() async {
        guard failure?.code != .closing else { return }
        failure = LectureError(.closing)
        stopFetching()
        await recordUse(atLeast: 1)
        do { try await parts.counter?.end() } catch let error as LectureError {
            await parts.streams.reportFailure(error)
        } catch {}
        if let item = shelf.leave() { await parts.streams.leave(item) }
    }

    private func takeTurn() async throws {
        try Task.checkCancellation()
        guard let waiter = turns.take() else { return }
        do {
            try await waiter.value()
        } catch {
            turns.forget(waiter)
            throw error
        }
    }

    func check() throws {
        if let failure { throw failure }
        if Task.isCancelled {
            stopFetching()
            throw CancellationError()
        }
    }

    /// A block, from the cache or from the server.
    private func block(_ index: Int, upTo last: Int) async throws -> [UInt8] {
        while true {
            try check()
            if !isFetching(index) {
                if let bytes = shelf.read(index) { return bytes }
                let isSequential = following == index || last > index
                begin(run(from: index, upTo: last, isSequential: isSequential))
            }
            switch await piece() {
            case .block(let got, let bytes):
                tries.gotBlock()
                try check()
                await keep(bytes, as: got)
                if got == index { return bytes }
            case .ended(let ending):
                do {
                    try await resume(after: ending)
                } catch {
                    // Nothing more arrives for the request; the next read sends a new one.
                    stopFetching()
                    throw error
                }
            }
        }
    }

    /// What to fetch next: up to the next cached block. Without a strong validator only a single answer is one version,
    /// so it is read to its end; a server without ranges starts at the first byte.
    private func run(from index: Int, upTo last: Int, isSequential: Bool) -> Range<Int> {
        if !servesRanges { return 0..<blocks.count }
        if !isKept { return index..<blocks.count }
        return StreamAhead.run(
            first: index, last: last, isSequential: isSequential, count: blocks.count, cached: shelf.has)
    }

    /// Whether bytes of several answers may be combined.
    var isKept: Bool { StreamVersion.isKept(validator) }

    /// Whether the running request reaches a block soon.
    private func isFetching(_ index: Int) -> Bool {
        guard let collector = request.collector, collector.range.contains(index) else { return false }
        let ahead = index - collector.next
        return ahead >= 0 && (ahead <= StreamAhead.waiting || !servesRanges)
    }

    private func piece() async -> BlockCollector.Piece {
        guard let collector = request.collector else {
            let outcome = TransferOutcome(end: .cancelled, bodyBytes: 0, elapsed: .zero)
            return .ended(BlockCollector.Ending(verdict: nil, outcome: outcome, gained: 0))
        }
        let (transport, transfer) = (parts.transport, request.transfer)
        return await withTaskCancellationHandler {
            await collector.piece()
        } onCancel: {
            if let transfer { transport.cancel(transfer) }
        }
    }

    // MARK: Caching

    /// Puts a block into the cache, if there is space.
    private func keep(_ bytes: [UInt8], as index: Int) async {
        if isKept, let due = shelf.spaceToReserve(index, before: request.collector?.range.upperBound ?? 0) {
            do {
                let (granted, isDiskFull) = try await parts.streams.reserveSpace(due)
                shelf.got(granted)
                if isDiskFull { await notify(LectureError(.storageFull, detail: "the streaming cache")) }
            } catch {
                shelf.isWritable = false
                await notify(error as? LectureError ?? LectureError(.bug))
            }
        }
        guard isKept, failure == nil, !shelf.has(index) else { return }
        do throws(LectureError) {
            try shelf.write(bytes, as: index)
        } catch {
            await parts.streams.releaseSpace(shelf.releaseUnused())
            await notify(error)
        }
        await recordUse(atLeast: StreamShelf.recordedAtOnce)
    }

    /// Reports once that the stream continues without caching.
    private func notify(_ error: LectureError) async {
        if shelf.reportsFailure() { await parts.streams.reportFailure(error) }
    }

    private func recordUse(atLeast count: Int) async {
        guard let (item, touched) = shelf.takeTouched(atLeast: count) else { return }
        await parts.streams.touch(touched, of: item)
    }
}
