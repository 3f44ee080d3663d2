import LectureEngine
import LectureModel

/// Keeps what was received of chunks that are not whole yet, so that short runs on slow lines get through.
extension ResourceWork {
    /// Memory for received beginnings: a block each.
    private static let piecesLimit = 32

    /// Whether the received part of a chunk could be continued by a later run.
    private func keepsPieces(_ settings: DownloadSettings) -> Bool {
        machine.isFetching && record.total != nil && settings.canResume(record)
    }

    /// Stores what the transfers that take long for a chunk have of it.
    func keepPieces(_ settings: DownloadSettings, _ step: Step<DownloadMachine>) throws {
        guard keepsPieces(settings) else { return }
        for (_, sink) in sinks.sorted(by: { $0.key.value < $1.key.value }) {
            guard let piece = sink.takePiece(grid: book.grid) else { continue }
            try keep(piece, step)
        }
    }

    /// Takes what ended transfers have received of their last chunks, which no transfer continues here, and stores it
    /// if a later run could.
    ///
    /// - Parameters:
    ///   - isDiscarded: whether the version is discarded, so that none could.
    ///   - settings: whether one could.
    ///   - step: where the rows are.
    /// - Throws: what the store throws.
    mutating func keepRemainders(
        isDiscarded: Bool, _ settings: DownloadSettings, _ step: Step<DownloadMachine>
    ) throws {
        for remainder in chunks.takeRemainders() {
            guard !isDiscarded, keepsPieces(settings), let piece = remainder.unkept(grid: book.grid) else { continue }
            try keep(piece, step)
        }
    }

    private func keep(_ piece: ChunkPiece, _ step: Step<DownloadMachine>) throws {
        guard !book.committed.contains(piece.chunk) else { return }
        try step.store.index.resources.keepPiece(lease, record.id, try PieceBox(self, step).stored(piece))
    }

    /// Makes remainders of the pieces that an earlier run has stored, when the cipher is known and before the part file
    /// is opened.
    ///
    /// What does not match its tag or its proof, or leaves a gap, is not used: the chunk is downloaded from there on.
    ///
    /// - Parameters:
    ///   - settings: whether they may be continued.
    ///   - step: where the rows are.
    /// - Returns: how many bytes were found.
    /// - Throws: what the store throws.
    mutating func restorePieces(_ settings: DownloadSettings, _ step: inout Step<DownloadMachine>) throws -> Int64 {
        guard mayHavePieces, keepsPieces(settings), let total = record.total else { return 0 }
        let (index, box) = (step.store.index, PieceBox(self, step))
        var found: Int64 = 0
        let blocks = try box.blocks(
            of: try index.resources.pieces(record.id), total: total, book: book, limit: Self.piecesLimit
        ) {
            try index.resources.dropPieces(lease, record.id, chunk: $0.chunk, from: $0.start)
        }
        for block in blocks {
            evidence.foundEarlierBytes()
            let remainder = ChunkRemainder(
                stream: step.newTransfer(), offset: block.offset + UInt64(block.count), block: block,
                kept: block.count)
            if let stream = chunks.keep(remainder) { command(.abandon(stream), &step) }
            found += Int64(block.count)
        }
        return found
    }
}

/// Protects the pieces of one resource in their rows: sealed like its chunks, or with a proof in front. Either is bound
/// to the resource and to the place in it.
struct PieceBox {
    let resource: ResourceID
    /// Nil for a resource whose files are in clear.
    let cipher: (any ContentCipher)?
    let digests: any DigestMaker

    /// A piece as it is stored.
    func stored(_ piece: ChunkPiece) throws -> StoredPiece {
        let place = ChunkPiece.place(resource, start: piece.start)
        let box: [UInt8]
        if let cipher {
            box = try cipher.seal(piece: piece.bytes, place: place)
        } else {
            let proof = try digests.proof(resource: resource, chunk: piece.chunk)
            box = try finish(proof, place, piece.bytes) + piece.bytes
        }
        return StoredPiece(chunk: piece.chunk, start: piece.start, count: piece.bytes.count, box: box)
    }

    /// The bytes of a piece; nil when they are not those that were stored.
    func bytes(of piece: StoredPiece) throws -> [UInt8]? {
        guard piece.count > 0, piece.box.count == piece.count + StoredPiece.overhead else { return nil }
        let place = ChunkPiece.place(resource, start: piece.start)
        if let cipher { return try cipher.open(piece: piece.box, place: place) }
        let proof = Array(piece.box.prefix(StoredPiece.overhead))
        let bytes = Array(piece.box.dropFirst(StoredPiece.overhead))
        let again = try digests.proof(repeating: proof, resource: resource, chunk: piece.chunk)
        return digests.equal(try finish(again, place, bytes), proof) ? bytes : nil
    }

    /// Appends a piece to the bytes before it; returns false when it does not follow them, fill the block only in part,
    /// and match.
    func restore(_ piece: StoredPiece, into block: Block) throws -> Bool {
        guard piece.start == block.offset + UInt64(block.count), piece.count < block.space,
            let bytes = try bytes(of: piece)
        else { return false }
        unsafe bytes.withUnsafeBytes { _ = unsafe block.append($0) }
        return true
    }

    /// The blocks that begin with stored pieces, in order of their chunks.
    ///
    /// - Parameters:
    ///   - pieces: in order of their places.
    ///   - total: the length of the resource.
    ///   - book: which chunks it has.
    ///   - limit: of how many chunks.
    ///   - drop: called with the first piece of a chunk that is not used.
    /// - Returns: those that are neither empty nor full.
    /// - Throws: what the store throws.
    func blocks(
        of pieces: [StoredPiece], total: UInt64, book: RangeBook, limit: Int, drop: (StoredPiece) throws -> Void
    ) throws -> [Block] {
        var chunks: [Int: [StoredPiece]] = [:]
        for piece in pieces { chunks[piece.chunk, default: []].append(piece) }
        var blocks: [Block] = []
        for (chunk, pieces) in chunks.sorted(by: { $0.key < $1.key }).prefix(limit)
        where chunk < book.chunkCount ?? 0 && !book.committed.contains(chunk) {
            let start = book.grid.start(of: chunk)
            let end = RangeSink.blockEnd(after: start, grid: book.grid, limit: total)
            let block = Block(offset: start, capacity: Int(end - start), spare: book.grid.spareBytes)
            for piece in pieces where try !restore(piece, into: block) {
                try drop(piece)
                break
            }
            if block.count > 0, block.space > 0 { blocks.append(block) }
        }
        return blocks
    }

    private func finish(_ proof: any RunningDigest, _ place: [UInt8], _ bytes: [UInt8]) throws -> [UInt8] {
        for part in [place, bytes] { unsafe part.withUnsafeBytes { unsafe proof.update($0) } }
        return try proof.finish()
    }
}

extension PieceBox {
    /// Protects those of a file in work.
    fileprivate init(_ file: ResourceWork, _ step: Step<DownloadMachine>) {
        self.init(resource: file.record.id, cipher: file.cipher, digests: step.store.digests)
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
