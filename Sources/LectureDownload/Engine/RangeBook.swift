package import LectureModel

/// Which transfer fetches which chunk of one resource. Pure: positions come in, plans go out.
///
/// Every chunk is in one of four states:
///
///         begin/split            ended (received)        committed
///     absent ───────▶ assigned ───────────────▶ submitted ─────────▶ committed
///        ▲               │ ended (not received)
///        └───────────────┘
///
/// A chunk that is found damaged on the disk goes from committed back to absent. Other losses of the disk are not
/// handled here: the item's work ends, and the next book starts with what is committed.
///
/// - absent: no transfer fetches it. ``begin(_:started:)``
/// - assigned: inside the range of a running transfer. ``begin(_:started:)``, ``split(minimum:position:)``
/// - submitted: received whole and handed to the disk, not yet durable. ``ended(_:position:)``
/// - committed: durable, with its row committed. ``commit(_:)``, and back with ``lost(_:)``
///
/// Invariants: assigned ranges never overlap, no submitted chunk is committed, and none is assigned. Chunks become
/// committed while the transfer that fetched them still runs; and a transfer from a server that cannot send ranges
/// covers committed chunks, which its sink skips.
package struct RangeBook: Sendable {
    /// The part of a resource that one transfer is to fetch, in chunks.
    package struct Assignment: Sendable, Hashable {
        /// The first chunk.
        package var first: Int
        /// The chunk after the last; nil when the length is unknown.
        package var end: Int?
    }

    /// The length of the resource; nil while unknown.
    package private(set) var total: UInt64?
    /// How the resource is divided into chunks.
    package private(set) var grid: ChunkGrid
    /// Chunks that are durable with their proof.
    package private(set) var committed: ChunkSet
    private var submitted = ChunkSet()
    /// Running transfers.
    package private(set) var assignments: [TransferID: Assignment] = [:]

    /// Opens the book of a resource.
    ///
    /// - Parameters:
    ///   - total: its length in bytes; nil while unknown.
    ///   - grid: how it is divided into chunks.
    ///   - committed: the chunks that need not be fetched.
    package init(total: UInt64?, grid: ChunkGrid, committed: some Sequence<Int>) {
        self.total = total
        self.grid = grid
        self.committed = ChunkSet(committed)
    }

    /// How many chunks there are; nil while the length is unknown.
    package var chunkCount: Int? { total.map(grid.count) }

    /// The grid for a resource: chunks of 1 MiB, or of one segment of a sealed file, doubled until there are at most
    /// 65,536 chunks. A chunk of one block can be continued by a later run; so all but giant files have such chunks.
    ///
    /// - Parameters:
    ///   - total: its length in bytes; nil while unknown.
    ///   - isSealed: whether its files are sealed.
    /// - Returns: the grid of its chunks.
    package static func grid(total: UInt64?, isSealed: Bool) -> ChunkGrid {
        var segments: UInt64 = 1
        let one: UInt64 = isSealed ? UInt64(SealedFormat.plaintextBytes) : 1 << 20
        if let total { while total / (segments * one) > 65_536 { segments <<= 1 } }
        return isSealed ? SealedFormat.grid(segments: segments) : ChunkGrid(length: segments * one)
    }

    /// Whether all chunks are committed.
    package var isWhole: Bool { chunkCount.map { committed.count >= $0 } ?? false }

    /// Whether all chunks were received, so that only the disk remains to finish.
    package var isReceived: Bool { chunkCount.map { committed.count + submitted.count >= $0 } ?? false }

    /// Bytes of chunks that were received whole.
    package var receivedBytes: UInt64 { bytes(of: committed) + bytes(of: submitted) }

    /// Bytes that are committed.
    package var committedBytes: UInt64 { bytes(of: committed) }

    /// The bytes of one chunk.
    package func byteCount(of chunk: Int) -> UInt64 {
        UInt64(grid.range(of: chunk, total: total).count)
    }

    /// The length became known, and with it the length of a chunk. Nothing may be committed yet if the latter changes.
    package mutating func learn(total: UInt64) {
        self.total = total
        if committed.count == 0, submitted.count == 0 { grid = Self.grid(total: total, isSealed: grid.isSealed) }
        let count = chunkCount
        for (id, assignment) in assignments where assignment.end == nil { assignments[id]?.end = count }
    }

    private func isAbsent(_ chunk: Int) -> Bool {
        !committed.contains(chunk) && !submitted.contains(chunk)
            && !assignments.values.contains { $0.first <= chunk && chunk < ($0.end ?? .max) }
    }

    /// The first run of absent chunks, which ends before the next partial one; nil when there is none.
    func firstAbsent(started: some Collection<Int>) -> Assignment? {
        guard let count = chunkCount else {
            return assignments.isEmpty ? Assignment(first: 0, end: nil) : nil
        }
        guard let first = (0..<count).first(where: isAbsent) else { return nil }
        var end = first + 1
        while end < count, isAbsent(end), !started.contains(end) { end += 1 }
        return Assignment(first: first, end: end)
    }

    /// Assigns the first run of absent chunks to a transfer.
    ///
    /// - Parameters:
    ///   - id: the new transfer.
    ///   - started: partly received chunks; a transfer that continues one must start with it.
    /// - Returns: what it is to fetch; nil when nothing is absent.
    package mutating func begin(_ id: TransferID, started: some Collection<Int> = [Int]()) -> Assignment? {
        guard let run = firstAbsent(started: started) else { return nil }
        assignments[id] = run
        return run
    }

    /// Takes the second half of the largest remainder from the transfer that has it.
    ///
    /// - Parameters:
    ///   - id: the new transfer.
    ///   - minimum: each half must have at least this many bytes.
    ///   - position: the next byte of a running transfer.
    /// - Returns: which transfer must stop at which chunk, and what the new transfer is to fetch; nil when no remainder
    ///   is large enough.
    package mutating func split(
        _ id: TransferID, minimum: UInt64, position: (TransferID) -> UInt64
    ) -> (victim: TransferID, victimEnd: Int, taken: Assignment)? {
        var best: (id: TransferID, from: Int, end: Int)?
        for (other, assignment) in assignments {
            guard let end = assignment.end else { continue }
            let from = max(assignment.first, grid.chunk(at: position(other)) + 1)
            let size = end - from
            // Of equal remainders the older transfer's, so that the choice never depends on the order of a dictionary.
            let (bestSize, bestID) = best.map { ($0.end - $0.from, $0.id.value) } ?? (0, 0)
            if size > bestSize || (size == bestSize && other.value < bestID) { best = (other, from, end) }
        }
        guard let best, UInt64(best.end - best.from) * grid.length >= 2 * minimum, best.end - best.from >= 2 else {
            return nil
        }
        let middle = best.from + (best.end - best.from) / 2
        assignments[best.id]?.end = middle
        assignments[id] = Assignment(first: middle, end: best.end)
        return (best.id, middle, Assignment(first: middle, end: best.end))
    }

    /// The victim of a split had already passed its new end; the border moves.
    package mutating func moveBorder(victim: TransferID, taker: TransferID, to chunk: Int) {
        assignments[victim]?.end = chunk
        assignments[taker]?.first = chunk
    }

    /// The server cannot send ranges: the transfer starts at the first byte and skips committed chunks.
    package mutating func restart(_ id: TransferID) {
        guard assignments[id] != nil else { return }
        assignments = [id: Assignment(first: 0, end: chunkCount)]
    }

    /// A split came too late: its chunks return to the transfer they were taken from.
    package mutating func giveBack(taker: TransferID, to victim: TransferID) {
        guard let taken = assignments.removeValue(forKey: taker) else { return }
        assignments[victim]?.end = taken.end
    }

    /// A transfer is over.
    ///
    /// - Parameters:
    ///   - id: the transfer.
    ///   - position: the byte after the last one it handed to the disk as part of a whole chunk.
    package mutating func ended(_ id: TransferID, position: UInt64) {
        guard let assignment = assignments.removeValue(forKey: id) else { return }
        var end = grid.chunk(at: position)
        if let total, position >= total { end = chunkCount ?? end }
        end = min(end, assignment.end ?? end)
        guard end > assignment.first else { return }
        for chunk in assignment.first..<end where !committed.contains(chunk) { submitted.insert(chunk) }
    }

    /// Chunks became durable and their rows are committed.
    package mutating func commit(_ chunks: some Sequence<Int>) {
        for chunk in chunks {
            committed.insert(chunk)
            submitted.remove(chunk)
        }
    }

    /// Chunks were found damaged, and their rows are gone.
    package mutating func lost(_ chunks: some Sequence<Int>) {
        for chunk in chunks { committed.remove(chunk) }
    }

    /// Bytes that were not received yet.
    ///
    /// - Parameter position: the next byte of a running transfer.
    /// - Returns: 0 when the length is unknown.
    package func missingBytes(position: (TransferID) -> UInt64) -> UInt64 {
        guard let total else { return 0 }
        var bytes = total - min(total, self.bytes(of: committed) + self.bytes(of: submitted))
        for (id, assignment) in assignments {
            let reached = min(total, position(id))
            // Chunk by chunk, since some of what a transfer has passed may be committed by now.
            var chunk = assignment.first
            while grid.start(of: chunk) < reached {
                if !committed.contains(chunk), !submitted.contains(chunk) {
                    bytes -= min(bytes, UInt64(grid.range(of: chunk, total: reached).count))
                }
                chunk += 1
            }
        }
        return bytes
    }

    private func bytes(of set: ChunkSet) -> UInt64 {
        guard set.count > 0 else { return 0 }
        var bytes = UInt64(set.count) * grid.length
        if set.contains(0) { bytes -= grid.lead }
        if let total, let count = chunkCount, count > 0, set.contains(count - 1) {
            bytes -= grid.start(of: count) - total
        }
        return bytes
    }
}
