import LectureModel

/// Cuts the bytes of transfers into chunks and computes the proof of each.
///
/// Per transfer: `idle ──first byte of a chunk──▶ open ──last byte of the chunk──▶ idle`. Bytes that do not continue
/// their transfer's open chunk, or that start inside one, break the contract of ``PartFile`` and are refused before
/// they are written: they would be recorded under a proof that does not cover them.
struct ChunkAssembler {
    /// A chunk whose last byte was received.
    struct Finished {
        /// The chunk and its proof.
        var chunk: WrittenChunk
        /// Its place in the file, in bytes.
        var range: Range<UInt64>
    }

    private struct Open {
        var index: Int
        var start: UInt64
        var next: UInt64
        var end: UInt64
        var proof: any RunningDigest
        /// The proof has the bytes before this already.
        var provenTo: UInt64
    }

    private let plan: PartFilePlan
    private let grid: ChunkGrid
    private let digests: any DigestMaker
    private var open: [TransferID: Open] = [:]

    /// Makes an assembler without an open chunk.
    ///
    /// - Parameters:
    ///   - plan: names the resource, its length and the chunk's length.
    ///   - digests: makes the proofs.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bug`` for chunks of no length.
    init(_ plan: PartFilePlan, _ digests: any DigestMaker) throws(LectureError) {
        let isWhole = plan.seal == nil || plan.chunkBytes.isMultiple(of: UInt64(SealedFormat.plaintextBytes))
        guard plan.chunkBytes > 0, isWhole else {
            throw LectureError(.bug, detail: plan.path, cause: "chunks of no length, or not of whole segments")
        }
        self.plan = plan
        grid = plan.grid
        self.digests = digests
    }

    /// Takes the next bytes of a transfer.
    ///
    /// - Parameters:
    ///   - bytes: from memory that stays until this returns.
    ///   - offset: their place in the file, in bytes.
    ///   - transfer: where they came from.
    ///   - endsObject: whether the object ends after them.
    ///   - block: where they are in; nil to compute their proof from them in any case.
    /// - Returns: the chunks that were completed, in order.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bug`` for bytes out of order or past the end, or
    ///   ``LectureError/Code/cryptography``.
    mutating func take(
        _ bytes: UnsafeRawBufferPointer, at offset: UInt64, from transfer: TransferID, endsObject: Bool,
        of block: Block? = nil
    ) throws(LectureError) -> [Finished] {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
        guard !overflow, end <= plan.total ?? .max - grid.length else { throw broken("past the end", at: offset) }
        var finished: [Finished] = []
        var position = offset
        while position < end {
            var chunk: Open
            if let started = open.removeValue(forKey: transfer) {
                chunk = started
            } else {
                chunk = try begin(at: position, with: block)
            }
            guard chunk.next == position else { throw broken("out of order", at: position) }
            let stop = min(end, chunk.end)
            let piece = unsafe bytes[Int(position - offset)..<Int(stop - offset)]
            if stop > chunk.provenTo { unsafe chunk.proof.update(UnsafeRawBufferPointer(rebasing: piece)) }
            chunk.next = stop
            position = stop
            if stop == chunk.end {
                finished.append(try finish(chunk))
            } else {
                open[transfer] = chunk
            }
        }
        if endsObject, let chunk = open.removeValue(forKey: transfer) {
            guard plan.total == nil else { throw broken("ended early", at: end) }
            finished.append(try finish(chunk))
        }
        return finished
    }

    /// Forgets the open chunk of a transfer that ended.
    ///
    /// - Parameter transfer: the transfer; nothing happens if it has none.
    mutating func abandon(_ transfer: TransferID) { open[transfer] = nil }

    private func begin(at offset: UInt64, with block: Block?) throws(LectureError) -> Open {
        guard grid.isStart(offset) else { throw broken("inside a chunk", at: offset) }
        let index = grid.chunk(at: offset)
        let end = grid.range(of: index, total: plan.total).upperBound
        // One that has bytes of another chunk as well is of no use.
        if let block, let proof = block.proof, block.offset == offset, offset + UInt64(block.count) <= end {
            return Open(
                index: index, start: offset, next: offset, end: end, proof: proof,
                provenTo: offset + UInt64(block.count))
        }
        return Open(
            index: index, start: offset, next: offset, end: end,
            proof: try digests.proof(resource: plan.resource, chunk: index), provenTo: offset)
    }

    private func finish(_ chunk: Open) throws(LectureError) -> Finished {
        Finished(
            chunk: WrittenChunk(index: chunk.index, proof: try chunk.proof.finish()), range: chunk.start..<chunk.next)
    }

    private func broken(_ rule: String, at offset: UInt64) -> LectureError {
        LectureError(.bug, detail: plan.path, cause: "bytes at \(offset) came \(rule)")
    }
}
