import Dispatch
import LectureDownload
import LectureFiles
import LectureLicence
import LectureModel
import LectureStore

/// Reads the media of complete lectures. An actor on the core queue, which it leaves for the disk and for its callers.
actor MediaReader: CorePart {
    nonisolated let core: StoreCore

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe core.executor.asUnownedSerialExecutor() }

    init(_ core: StoreCore) { self.core = core }

    /// Reads media; every chunk is checked against its proof before any of its bytes is returned. `receive` is not
    /// called on the core queue, so it may block.
    nonisolated func read(
        _ media: FinalizedMedia, _ key: ContentKey, range: Range<Int64>?, charging charge: PlayRead? = nil,
        _ receive: @Sendable ([UInt8]) throws -> Void
    ) async throws {
        let (resource, cipher) = (media.resource, media.cipher)
        let total = Int64(clamping: resource.total ?? 0)
        let wanted = (range ?? 0..<total).clamped(to: 0..<total)
        guard !wanted.isEmpty else { return }
        let grid = resource.grid
        let chunks = grid.chunk(at: UInt64(wanted.lowerBound))...grid.chunk(at: UInt64(wanted.upperBound - 1))
        let rows = try await proofs(resource, chunks)
        let proofs = Dictionary(rows.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
        // By position and not by row: a missing row must not leave a gap in the returned bytes.
        func read(_ index: Int) async throws -> [UInt8] {
            guard let proof = proofs[index], let chunk = try await readChunk(resource, proof, cipher) else {
                throw LectureError(.damaged, detail: key.text)
            }
            return chunk
        }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await read(chunks.lowerBound) }
            for index in chunks {
                guard let chunk = try await group.next() else { throw LectureError(.bug, detail: "chunk \(index)") }
                try Task.checkCancellation()
                // While a chunk is used, the next one is read.
                if index < chunks.upperBound { group.addTask { try await read(index + 1) } }
                let place = grid.range(of: index, total: resource.total)
                let start = Int64(clamping: place.lowerBound)
                let part = (start..<Int64(clamping: place.upperBound)).clamped(to: wanted)
                let bytes = chunk[Int(part.lowerBound - start)..<Int(part.upperBound - start)]
                if let charge {
                    try await charge.pass(bytes, rest: wanted.upperBound - part.lowerBound, receive)
                } else {
                    try receive(bytes.count == chunk.count ? chunk : Array(bytes))
                }
            }
        }
    }

    private func proofs(_ media: ResourceRecord, _ chunks: ClosedRange<Int>) throws -> [WrittenChunk] {
        try index.resources.chunks(media.id, in: chunks)
    }

    private nonisolated func readChunk(
        _ media: ResourceRecord, _ proof: WrittenChunk, _ cipher: (any ContentCipher)?
    ) async throws -> [UInt8]? {
        let files = files
        return try await onDiskThread {
            try files.read(
                path: media.path, resource: media.id, total: media.total ?? 0, grid: media.grid, cipher: cipher,
                proof: proof)
        }
    }

    /// How long a lecture plays, from its container where possible.
    ///
    /// - Parameters:
    ///   - media: its file.
    ///   - key: the lecture.
    /// - Returns: more than zero, whatever can be read.
    /// - Throws: `CancellationError`, or ``LectureError`` of the store.
    func playingTime(of media: ResourceRecord, _ key: ContentKey) async throws -> Duration {
        let finalized = FinalizedMedia(resource: media, cipher: try cipher(for: media, of: key))
        let total = media.total ?? 0
        var contained: Duration?
        do {
            contained = try await containedTime(finalized, key, total)
        } catch let error as LectureError where error.code == .damaged || error.code == .readFile {
            // What can be read of a damaged lecture may still be played.
        }
        return PlayingTime.of(byteCount: total, contained: contained, recorded: try lecture(key)?.duration)
    }

    /// Reads more at once than the search needs, since a chunk is checked as a whole for each read.
    private nonisolated func containedTime(
        _ media: FinalizedMedia, _ key: ContentKey, _ total: UInt64
    ) async throws -> Duration? {
        var search = MediaDurationSearch(byteCount: total)
        var window: (start: UInt64, bytes: [UInt8]) = (0, [])
        while true {
            switch search.demand {
            case .unknown: return nil
            case .found(let time): return time
            case .bytes(let range):
                if range.lowerBound < window.start || range.upperBound > window.start + UInt64(window.bytes.count) {
                    let end = min(total, range.lowerBound + Self.windowBytes)
                    let read = Guarded<[UInt8]>([])
                    try await self.read(
                        media, key, range: Int64(clamping: range.lowerBound)..<Int64(clamping: end)
                    ) { bytes in read.withLock { $0 += bytes } }
                    window = (range.lowerBound, read.withLock { $0 })
                }
                let start = Int(range.lowerBound - window.start)
                search.take(Array(window.bytes[start..<(start + range.count)]))
            }
        }
    }

    private static let windowBytes: UInt64 = 65_536
}

/// Runs blocking work on a thread that may block. A cancelled task does not wait for its end.
func onDiskThread<Result: Sendable>(
    _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
    let waiter = Waiter<Result>()
    DispatchQueue.global(qos: .utility).async {
        do { waiter.answer(try work()) } catch { waiter.fail(error) }
    }
    return try await waiter.value()
}
