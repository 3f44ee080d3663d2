/// A buffer on its way from the transport's thread to the disk. Owned by one side at a time.
///
/// `@unchecked Sendable`: the memory is written only by the side that owns the block, and the block is passed on whole,
/// through a lock, and not used by the sender afterwards. Where another side reads it meanwhile
/// (`RangeSink.takePiece`), both hold the same lock.
@safe package final class Block: @unchecked Sendable {
    /// Where the bytes belong in the resource.
    package let offset: UInt64
    /// How many bytes are filled.
    package private(set) var count = 0
    /// How many bytes fit.
    package let capacity: Int
    /// The offset after the last byte of the resource that the block covers.
    package var end: UInt64 { offset + UInt64(length) }
    private let length: Int
    /// How many bytes of memory are taken at once.
    private let stripBytes: Int
    /// How many bytes of memory follow the last byte that fits.
    private let spare: Int
    /// The proof of the chunk that begins with the block, over the bytes that are filled; nil where the part file
    /// computes it later. While bytes arrive they are in the processor's caches, and afterwards they are not.
    package var proof: (any RunningDigest)?
    /// Memory in the order of the bytes; all but the last strip are full.
    private var strips: [UnsafeMutableRawPointer] = unsafe []

    /// Allocates an empty block.
    ///
    /// - Parameters:
    ///   - offset: where its bytes belong in the resource.
    ///   - capacity: how many bytes fit.
    ///   - length: how many bytes of the resource it covers; nil for as many as fit.
    ///   - strips: how many bytes of memory are taken at once, so that a block which is being filled has little more
    ///     than its bytes; nil for all.
    ///   - spare: how many bytes of memory follow, so that ``withSpare(_:_:)`` need not copy.
    package init(offset: UInt64, capacity: Int, length: Int? = nil, strips: Int? = nil, spare: Int = 0) {
        self.offset = offset
        self.capacity = capacity
        self.length = length ?? capacity
        stripBytes = max(1, min(capacity, strips ?? capacity))
        self.spare = spare
    }

    deinit {
        for index in unsafe strips.indices { unsafe BlockMemory.giveBack(strips[index], memoryBytes(ofStrip: index)) }
    }

    private func memoryBytes(ofStrip index: Int) -> Int {
        let rest = capacity - index * stripBytes
        return rest > stripBytes ? stripBytes : rest + spare
    }

    /// How many bytes still fit.
    package var space: Int { capacity - count }

    /// Appends as many bytes as fit.
    ///
    /// - Parameter bytes: the next bytes.
    /// - Returns: how many were taken.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(space, bytes.count)
        guard let source = bytes.baseAddress else { return 0 }
        var done = 0
        while done < taken {
            let (index, place) = count.quotientAndRemainder(dividingBy: stripBytes)
            if place == 0 { unsafe strips.append(BlockMemory.take(memoryBytes(ofStrip: index))) }
            let piece = min(taken - done, stripBytes - place)
            unsafe proof?.update(UnsafeRawBufferPointer(start: source + done, count: piece))
            unsafe BlockMemory.copy(source + done, piece, to: strips[index] + place, of: capacity)
            count += piece
            done += piece
        }
        return taken
    }

    /// Lends the filled bytes. Those in several strips are copied together for it.
    package func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if unsafe strips.count <= 1 {
            return try unsafe body(UnsafeRawBufferPointer(start: strips.first, count: count))
        }
        return try unsafe withCopy(spare: 0) { bytes throws(Failure) in
            try unsafe body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Lends the filled bytes to be changed where they are, with memory after them. They are copied for it only if
    /// they are in several strips, or if the block has less spare memory. What they are afterwards is undefined.
    ///
    /// - Parameters:
    ///   - spare: how many bytes of memory follow the filled ones.
    ///   - body: gets the filled bytes and that memory, from the beginning of a page.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    package func withSpare<Result, Failure>(
        _ spare: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard unsafe strips.count == 1, memoryBytes(ofStrip: 0) - count >= spare else {
            return try unsafe withCopy(spare: spare, body)
        }
        return try unsafe body(UnsafeMutableRawBufferPointer(start: strips.first, count: count + spare))
    }

    private func withCopy<Result, Failure>(
        spare: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count + spare, alignment: 4096)
        defer { unsafe copy.deallocate() }
        unsafe withStrips { bytes, place in
            unsafe UnsafeMutableRawBufferPointer(rebasing: copy[Int(place - offset)...]).copyMemory(from: bytes)
        }
        return try unsafe body(copy)
    }

    /// The first filled bytes.
    ///
    /// - Parameter length: how many, at most as many as a strip holds.
    /// - Returns: fewer where fewer are filled.
    package func first(_ length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        unsafe withStrips { strip, place in
            if place == offset { unsafe bytes.append(contentsOf: strip.prefix(length)) }
        }
        return bytes
    }

    /// Lends the filled bytes of all strips, in order. An empty block lends an empty one.
    package func withAllStrips<Result, Failure>(
        _ body: ([UnsafeRawBufferPointer]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var lent: [UnsafeRawBufferPointer] = unsafe []
        unsafe withStrips { strip, _ in unsafe lent.append(strip) }
        return try unsafe body(lent)
    }

    /// Lends the filled bytes strip by strip, in order, each with its place in the resource. An empty block lends an
    /// empty one.
    package func withStrips<Failure>(
        _ body: (UnsafeRawBufferPointer, UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        if count == 0 { return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0), offset) }
        for index in unsafe strips.indices {
            let start = index * stripBytes
            try unsafe body(
                UnsafeRawBufferPointer(start: strips[index], count: min(stripBytes, count - start)),
                offset + UInt64(start))
        }
    }
}

/// A chunk whose bytes are durable, with its proof.
package struct WrittenChunk: Sendable, Hashable {
    /// The chunk's number, from 0.
    package var index: Int
    /// Nonce and tag; verification compares with it.
    package var proof: [UInt8]
    /// Creates a value.
    package init(index: Int, proof: [UInt8]) {
        self.index = index
        self.proof = proof
    }
}

/// An event of a part file. Delivered on a thread of the adapter; the receiver only queues it.
package enum PartFileEvent: Sendable {
    /// The file exists and its space is reserved.
    case opened
    /// These chunks are durable (their bytes were synced).
    case flushed([WrittenChunk])
    /// A write or a sync failed; nothing more will be written.
    case failed(LectureError)
    /// The digest of the whole file.
    case digested(sha256: [UInt8])
    /// The file has its final name, durably.
    case finalized
    /// The file has finished by itself (``PartFilePlan/Finish``): these are all its chunks, they are durable, and so is
    /// its final name. It is closed. `sha256` is the digest of the whole, if one was due.
    case finished([WrittenChunk], sha256: [UInt8]?)
    /// The file is closed and, if requested, deleted. `isClean`: every segment sealed under the file's header is part
    /// of a chunk that was reported or that the plan listed as committed. Meaningless for a file that is not sealed.
    case closed(isClean: Bool)
}

/// How a part file is sealed.
package struct SealPlan: Sendable {
    /// The lecture's cipher.
    package var cipher: any ContentCipher
    /// Whether the file was closed cleanly (``SealState/clean``), so that its header may still be used. Only relevant
    /// for a plan that resumes.
    package var isClean: Bool
    /// The committed chunks: the part of the file worth keeping.
    package var committed: [Int]

    /// Creates a plan.
    package init(cipher: any ContentCipher, isClean: Bool = false, committed: [Int] = []) {
        self.cipher = cipher
        self.isClean = isClean
        self.committed = committed
    }
}

/// The plan of a part file.
package struct PartFilePlan: Sendable, Equatable {
    /// Whether the file gets its final name by itself.
    ///
    /// It does when a flush finds it whole and nothing of it was reported before. A small lecture then costs one sync,
    /// one event and one commit. A file under its final name without a committed chunk is what a crash between a rename
    /// and its row leaves as well; the next plan that does not resume empties it.
    package enum Finish: Sendable, Equatable {
        /// It waits for ``PartFile/finalize(total:)``.
        case whenAsked
        /// It does not wait.
        case byItself
        /// It does not wait if the whole has this SHA-256.
        case ifDigestIs([UInt8])
    }

    /// The resource.
    package var resource: ResourceID
    /// The final path, relative to the store; the part file has the suffix `.part`.
    package var path: String
    /// The whole length; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk; of a sealed file a multiple of ``SealedFormat/plaintextBytes``.
    package var chunkBytes: UInt64
    /// Whether the SHA-256 of the whole file is needed.
    package var needsDigest: Bool
    /// Whether some chunks are committed, so that the file must exist.
    package var resumes: Bool
    /// How many bytes must stay free on the disk besides this file.
    package var reserveBytes: UInt64
    /// How the file is sealed; nil for one in clear.
    package var seal: SealPlan?
    /// Whether it gets its final name by itself. Only for a new file of known length.
    package var finish: Finish

    /// Creates a plan.
    package init(
        resource: ResourceID, path: String, total: UInt64?, chunkBytes: UInt64, needsDigest: Bool, resumes: Bool,
        reserveBytes: UInt64, seal: SealPlan? = nil, finish: Finish = .whenAsked
    ) {
        self.resource = resource
        self.path = path
        self.total = total
        self.chunkBytes = chunkBytes
        self.needsDigest = needsDigest
        self.resumes = resumes
        self.reserveBytes = reserveBytes
        self.seal = seal
        self.finish = finish
    }

    /// How the file is cut into chunks.
    package var grid: ChunkGrid {
        ChunkGrid(length: chunkBytes, lead: seal == nil ? 0 : UInt64(SealedFormat.headerBytes))
    }
}

/// One resource being written. All methods return at once, except ``submit(_:from:endsObject:)``.
///
/// Life cycle: created; ``open(_:)`` → `opened`; any number of ``submit(_:from:endsObject:)`` and ``flush()`` →
/// `flushed`; ``digest(total:)`` → `digested`; ``finalize(total:)`` → `finalized`; ``close(deleting:)`` → `closed`. The
/// first `failed` is the only one; after it only ``close(deleting:)`` is useful. A pending `flushed` may still follow
/// it and is valid.
///
/// A file with a plan that finishes by itself sends `finished` in place of `flushed`, `finalized` and `closed`, unless
/// a part of it was flushed before, or its digest differs. One that was closed meanwhile sends `closed` as well. Its
/// `opened` is left out: it would only cost a step.
///
/// One path has one part file at a time: the next one is opened after `closed`, since a deletion may be pending.
package protocol PartFile: AnyObject, Sendable {
    /// Creates or opens the file and reserves its space.
    ///
    /// A plan that resumes needs the file: the part file or, after a crash after the rename and before a repair, the
    /// file under its final name, which becomes the part file again. If there is neither, or it is shorter than the
    /// plan's total, `failed` has the code ``LectureError/Code/damaged``: the engine drops the committed chunks and
    /// opens a new part file with a plan that does not resume. Such a plan empties any part file that was left.
    ///
    /// A sealed file (``PartFilePlan/seal``) gets only ciphertext, in whole segments; all lengths, offsets, proofs and
    /// digests of this protocol are those of the plaintext. Where the nonce invariant requires a new header (a file
    /// that was not closed cleanly, a segment that arrives again with other bytes) the committed segments are sealed
    /// again into another file, which then replaces the part file, durably; a segment that does not open is left out,
    /// and verifying finds it. A sealed file without a header has the code ``LectureError/Code/damaged``.
    ///
    /// - Parameter plan: what is to be written.
    func open(_ plan: PartFilePlan)
    /// Begins the proof of a chunk, for the block that begins with it (``Block/proof``).
    ///
    /// - Parameter offset: where the block begins.
    /// - Returns: nil inside a chunk, before ``open(_:)``, and where a proof cannot be computed; the part file then
    ///   computes it from the block, and reports what fails.
    func proof(ofChunkAt offset: UInt64) -> (any RunningDigest)?
    /// Passes on a filled block. Blocks the caller while too much waits for the disk. May be called before
    /// ``open(_:)``: the block then waits, and counts as waiting for the disk.
    ///
    /// Two transfers must not work on one chunk at the same time; a chunk may be written again after
    /// ``abandon(_:)``. Bytes out of order or past the end break the contract: `failed` with
    /// ``LectureError/Code/bug``, and they are not written.
    ///
    /// - Parameters:
    ///   - block: at an offset aligned to the block size, or the last of its range. May be empty when `endsObject` is
    ///     true.
    ///   - transfer: blocks of one transfer follow each other without a gap, from the start of a chunk.
    ///   - endsObject: whether the last byte of the object was received, so that a short chunk is whole. Needed only
    ///     while the total is unknown.
    /// - Returns: false when the file has failed or is closed.
    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool
    /// Syncs what is written and then reports the chunks that became durable, each once. Reports nothing when there are
    /// none.
    func flush()
    /// Drops a half-written chunk of a transfer that ended.
    ///
    /// - Parameter transfer: the transfer.
    func abandon(_ transfer: TransferID)
    /// Computes the SHA-256 of the whole. Ends without an event when the file is closed meanwhile.
    ///
    /// - Parameter total: the length, in bytes.
    func digest(total: UInt64)
    /// Cuts or checks the length, syncs, gives the file its final name, syncs the directory.
    ///
    /// - Parameter total: the length, in bytes.
    func finalize(total: UInt64)
    /// Closes; later calls change nothing. Submitted blocks are still written, synced, and reported with `flushed`
    /// before `closed`, unless the file is to be deleted.
    ///
    /// - Parameter deleting: whether the part file is deleted. A finalized file stays.
    func close(deleting: Bool)
}

/// The store's directory of media.
package protocol PartFiles: Sendable {
    /// A part file that sends its events to `receiver`.
    ///
    /// - Parameter receiver: called on a thread of the adapter; only passes the event on.
    /// - Returns: a part file that is not open.
    func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile
    /// Deletes a file of the store, durable when it returns. A missing file is not an error.
    ///
    /// - Parameter path: relative to the store; deletes the final and the part file, or only the part file when the
    ///   path has its suffix.
    /// - Throws: ``LectureError``.
    func delete(path: String) throws(LectureError)
    /// The lengths of the final file and the part file, nil when missing; for sealed files the length of the
    /// ciphertext. A part file has its whole length from the start, where it was known.
    ///
    /// - Parameter path: relative to the store, without the part file's suffix.
    /// - Returns: the lengths in bytes.
    func status(path: String) -> (final: UInt64?, part: UInt64?)
    /// Re-reads chunks of a finalized or part file and returns those whose proof does not match.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - resource: the row.
    ///   - total: the whole length.
    ///   - grid: how it is cut into chunks.
    ///   - cipher: opens a sealed file; nil for one in clear.
    ///   - proofs: the chunks to check.
    ///   - pace: called with the bytes read, may block to bound the rate; false stops.
    /// - Returns: the indices of damaged chunks, in order; a part that cannot be read or is missing counts as damaged.
    ///   In a sealed file every segment is opened, the last one as the last, and the proof over the plaintext is
    ///   compared as well, so that an older file of the same lecture is found. An empty sealed resource has no chunk; 0
    ///   reports its damage.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile`` when there is no file or it cannot be opened.
    func verify(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proofs: [WrittenChunk], pace: (Int) -> Bool
    ) throws(LectureError) -> [Int]
    /// Reads one chunk of a finalized file and checks it before returning a byte.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - resource: the row.
    ///   - total: the whole length.
    ///   - grid: how it is cut into chunks.
    ///   - cipher: opens a sealed file; nil for one in clear.
    ///   - proof: the chunk.
    /// - Returns: the bytes; nil when they do not match the proof.
    /// - Throws: ``LectureError`` when the file cannot be read.
    func read(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proof: WrittenChunk
    ) throws(LectureError) -> [UInt8]?
    /// What is at a place outside the store.
    ///
    /// - Parameter output: an absolute path.
    /// - Returns: the file; nil when the name is free, or its directory is missing, which may still be created.
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` for a place that is never used: below the
    ///   store, or a directory, a device, a FIFO or a socket.
    func status(output: String) throws(LectureError) -> OutputFacts?
    /// Also places a finished file in clear at `output` (shared blocks, a hard link, or a copy), whole or not at all.
    /// A file with the same bytes stays; another one is replaced only with the right to do so, atomically. Directories
    /// and devices are never replaced, nothing is placed below the store, and no directory is created.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - isSealed: whether the file is sealed; then it is refused.
    ///   - output: a path chosen by the user.
    ///   - right: what may be replaced.
    /// - Returns: the file that is there now.
    /// - Throws: ``LectureError`` with ``LectureError/Code/isSealed``, ``LectureError/Code/outputRefused``,
    ///   ``LectureError/Code/outputExists`` or a disk code.
    func publish(
        path: String, isSealed: Bool, to output: String, replacing right: OutputRight
    ) throws(LectureError) -> OutputFacts
    /// The same for several files: what makes their names durable is shared.
    ///
    /// - Parameter orders: the files, each with its output.
    /// - Returns: the file that is there now, or the error, in the same order.
    func publish(_ orders: [OutputOrder]) -> [Result<OutputFacts, LectureError>]
    /// Whether the media directory is empty.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func isEmpty() throws(LectureError) -> Bool
    /// Free bytes for an ordinary user on the store's file system.
    ///
    /// - Returns: bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func freeBytes() throws(LectureError) -> UInt64
    /// How long ``PartFile/submit(_:from:endsObject:)`` has kept callers waiting for the disk until now, in any file;
    /// two that wait at once count once.
    var blockedTime: Duration { get }
    /// Relative paths of all files below the media directory, part files with their suffix, sorted. A file that was to
    /// replace a part file counts as that.
    ///
    /// - Returns: paths as ``delete(path:)`` takes them.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func listing() throws(LectureError) -> [String]
}

extension PartFiles {
    /// One file after the other.
    package func publish(_ orders: [OutputOrder]) -> [Result<OutputFacts, LectureError>] {
        orders.map { order in
            do throws(LectureError) {
                return .success(
                    try publish(
                        path: order.path, isSealed: order.isSealed, to: order.output, replacing: order.right))
            } catch {
                return .failure(error)
            }
        }
    }
}
