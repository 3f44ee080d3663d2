import LectureEngine
import LectureModel

/// Keeps what was received of chunks that are not whole yet, so that short runs on slow lines get through.
extension ItemStep {
    /// Memory for received beginnings: a block each.
    private static let piecesLimit = 32

    /// Whether the received part of a chunk could be continued by a later run.
    private func keepsPieces(_ resource: PartToken) -> Bool {
        item[resource].machine.isFetching && item[resource].record.total != nil && canResume(item[resource].record)
    }

    /// Stores what the transfers that take long for a chunk have of it.
    mutating func keepPieces() throws {
        for resource in item.tokens where keepsPieces(resource) {
            for (_, sink) in item[resource].sinks.sorted(by: { $0.key.value < $1.key.value }) {
                guard let piece = sink.takePiece(grid: item[resource].book.grid) else { continue }
                try keep(piece, resource)
            }
        }
    }

    private mutating func keep(_ piece: ChunkPiece, _ resource: PartToken) throws {
        guard keepsPieces(resource), !item[resource].book.committed.contains(piece.chunk) else { return }
        try index.keepPiece(item.lease, item[resource].record.id, try stored(piece, resource))
    }

    /// Stores what the item's ended transfers have received of their last chunks; no transfer continues them here.
    mutating func keepRemainders() throws {
        for resource in item.tokens {
            for remainder in item[resource].chunks.takeRemainders() {
                guard let piece = remainder.unkept(grid: item[resource].book.grid),
                    item.course != .ending(discarding: true)
                else { continue }
                try keep(piece, resource)
            }
        }
    }

    /// Makes remainders of the pieces that an earlier run has stored, when the cipher is known and before the part file
    /// is opened.
    ///
    /// What does not match its tag or its proof, or leaves a gap, is not used: the chunk is downloaded from there on.
    mutating func restorePieces(_ resource: PartToken) throws {
        guard item[resource].mayHavePieces, keepsPieces(resource), let total = item[resource].record.total else {
            return
        }
        var chunks: [Int: [StoredPiece]] = [:]
        for piece in try index.pieces(item[resource].record.id) { chunks[piece.chunk, default: []].append(piece) }
        for (chunk, pieces) in chunks.sorted(by: { $0.key < $1.key }).prefix(Self.piecesLimit)
        where chunk < item[resource].book.chunkCount ?? 0 && !item[resource].book.committed.contains(chunk) {
            let start = item[resource].book.grid.start(of: chunk)
            let end = RangeSink.blockEnd(after: start, grid: item[resource].book.grid, limit: total)
            let block = Block(offset: start, capacity: Int(end - start))
            for piece in pieces where try !restore(piece, into: block, resource) {
                try index.dropPieces(item.lease, item[resource].record.id, chunk: chunk, from: piece.start)
                break
            }
            guard block.count > 0, block.space > 0 else { continue }
            item[resource].evidence.foundEarlierBytes()
            let remainder = ChunkRemainder(
                stream: step.newTransfer(), offset: start + UInt64(block.count), block: block, kept: block.count)
            if let stream = item[resource].chunks.keep(remainder) { command(resource, .abandon(stream)) }
            shared.statistics.bytesReused += item.reuse.found(Int64(block.count))
        }
    }

    private func restore(_ piece: StoredPiece, into block: Block, _ resource: PartToken) throws -> Bool {
        guard piece.start == block.offset + UInt64(block.count), piece.count < block.space,
            let bytes = try opened(piece, resource)
        else { return false }
        unsafe bytes.withUnsafeBytes { _ = unsafe block.append($0) }
        return true
    }

    // MARK: Their protection

    private func stored(_ piece: ChunkPiece, _ resource: PartToken) throws -> StoredPiece {
        let place = ChunkPiece.place(item[resource].record.id, start: piece.start)
        let box: [UInt8]
        if let cipher = item[resource].cipher {
            box = try cipher.seal(piece: piece.bytes, place: place)
        } else {
            let proof = try step.store.digests.proof(resource: item[resource].record.id, chunk: piece.chunk)
            box = try finish(proof, place, piece.bytes) + piece.bytes
        }
        return StoredPiece(chunk: piece.chunk, start: piece.start, count: piece.bytes.count, box: box)
    }

    /// The bytes of a piece; nil when they are not those that were stored.
    private func opened(_ piece: StoredPiece, _ resource: PartToken) throws -> [UInt8]? {
        guard piece.count > 0, piece.box.count == piece.count + StoredPiece.overhead else { return nil }
        let place = ChunkPiece.place(item[resource].record.id, start: piece.start)
        if let cipher = item[resource].cipher { return try cipher.open(piece: piece.box, place: place) }
        let proof = Array(piece.box.prefix(StoredPiece.overhead))
        let bytes = Array(piece.box.dropFirst(StoredPiece.overhead))
        let again = try step.store.digests.proof(
            repeating: proof, resource: item[resource].record.id, chunk: piece.chunk)
        return step.store.digests.equal(try finish(again, place, bytes), proof) ? bytes : nil
    }

    private func finish(_ proof: any RunningDigest, _ place: [UInt8], _ bytes: [UInt8]) throws -> [UInt8] {
        for part in [place, bytes] { unsafe part.withUnsafeBytes { unsafe proof.update($0) } }
        return try proof.finish()
    }
}

extension ChunkRemainder {
    /// The bytes that were not passed on as a piece yet, if they continue the pieces before.
    ///
    /// - Parameter grid: how the resource is divided into chunks.
    /// - Returns: nil when there are none, or when earlier blocks of the chunk are with the disk.
    func unkept(grid: ChunkGrid) -> ChunkPiece? {
        guard let block, grid.isStart(block.offset), block.count > kept else { return nil }
        let bytes = unsafe block.withBytes { unsafe Array($0[kept...]) }
        return ChunkPiece(
            chunk: grid.chunk(at: block.offset), start: block.offset + UInt64(kept), bytes: bytes)
    }
}
