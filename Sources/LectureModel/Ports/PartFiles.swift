/// A buffer on its way from the transport's thread to the disk. Owned by one side at a time.
///
/// `@unchecked Sendable`: the memory is written only by the side that holds the block, and the block is handed over
/// whole, through a lock, and never used by the giver afterwards.
@safe package final class Block: @unchecked Sendable {
    /// Where the bytes belong in the resource.
    package let offset: UInt64
    /// How many bytes are filled.
    package private(set) var count = 0
    /// How many bytes fit.
    package let capacity: Int
    /// The byte of the resource after the last one the block stands for.
    package var end: UInt64 { offset + UInt64(length) }
    private let length: Int
    private let memory: UnsafeMutableRawPointer

    /// Allocates an empty block.
    ///
    /// - Parameters:
    ///   - offset: where its bytes belong in the resource.
    ///   - capacity: how many bytes fit.
    ///   - length: how many bytes of the resource it stands for; nil for as many as fit.
    package init(offset: UInt64, capacity: Int, length: Int? = nil) {
        self.offset = offset
        self.capacity = capacity
        self.length = length ?? capacity
        unsafe memory = BlockMemory.take(capacity)
    }

    deinit { unsafe BlockMemory.giveBack(memory, capacity) }

    /// How many bytes still fit.
    package var room: Int { capacity - count }

    /// Takes as many bytes as fit.
    ///
    /// - Parameter bytes: the next bytes.
    /// - Returns: how many were taken.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(room, bytes.count)
        if taken > 0, let source = bytes.baseAddress {
            unsafe (memory + count).copyMemory(from: source, byteCount: taken)
            count += taken
        }
        return taken
    }

    /// Lends the filled bytes.
    package func withBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }
}

/// A chunk whose bytes are durable, with its proof.
package struct WrittenChunk: Sendable, Hashable {
    /// The chunk's number, from 0.
    package var index: Int
    /// Nonce and tag; what verifying compares with.
    package var proof: [UInt8]
    /// Names a chunk and its proof.
    package init(index: Int, proof: [UInt8]) {
        self.index = index
        self.proof = proof
    }
}

/// What a part file tells its owner. Delivered on a thread of the adapter; the receiver only queues it.
package enum PartFileEvent: Sendable {
    /// The file exists and its space is reserved.
    case opened
    /// These chunks are durable (their bytes were synced).
    case flushed([WrittenChunk])
    /// A write or a sync failed; nothing more will be written.
    case failed(LectureError)
    /// The digest of the whole file.
    case digested(sha256: [UInt8])
    /// The file stands under its final name, durably.
    case placed
    /// The file is closed and, if asked for, deleted. `isClean`: no segment is sealed under the file's header that is
    /// not part of a chunk which was told or which the plan called proven. Of a file that is not sealed it says
    /// nothing.
    case closed(isClean: Bool)
}

/// How a part file is sealed.
package struct SealPlan: Sendable {
    /// The content's key at work.
    package var cipher: any ContentCipher
    /// Whether the file was left clean (``SealState/clean``), so that its header may be used on. Means something only
    /// for a plan that resumes.
    package var isClean: Bool
    /// The chunks that are proven: what of the file is worth something.
    package var proven: [Int]

    /// Makes a plan.
    package init(cipher: any ContentCipher, isClean: Bool = false, proven: [Int] = []) {
        self.cipher = cipher
        self.isClean = isClean
        self.proven = proven
    }
}

/// What a part file is made for.
package struct PartFilePlan: Sendable {
    /// The resource.
    package var resource: ResourceID
    /// The final path, relative to the store; the part file has the suffix `.part`.
    package var path: String
    /// The whole length; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk; of a sealed file a multiple of ``SealedFormat/plaintextBytes``.
    package var chunkBytes: UInt64
    /// Whether the SHA-256 of the whole is due.
    package var needsDigest: Bool
    /// Whether some chunks are proven, so that the file must exist.
    package var resumes: Bool
    /// How many bytes must stay free on the disk beside this file.
    package var reserveBytes: UInt64
    /// How the file is sealed; nil for one that lies in clear.
    package var seal: SealPlan?

    /// Makes a plan.
    package init(
        resource: ResourceID, path: String, total: UInt64?, chunkBytes: UInt64, needsDigest: Bool, resumes: Bool,
        reserveBytes: UInt64, seal: SealPlan? = nil
    ) {
        self.resource = resource
        self.path = path
        self.total = total
        self.chunkBytes = chunkBytes
        self.needsDigest = needsDigest
        self.resumes = resumes
        self.reserveBytes = reserveBytes
        self.seal = seal
    }

    /// How the file is cut into chunks.
    package var grid: ChunkGrid {
        ChunkGrid(length: chunkBytes, lead: seal == nil ? 0 : UInt64(SealedFormat.headerBytes))
    }
}

/// One resource being written. All methods return at once, except ``submit(_:from:endsObject:)``.
///
/// Order of a life: made; ``open(_:)`` → `opened`; any number of ``submit(_:from:endsObject:)`` and ``flush()`` →
/// `flushed`; ``digest(total:)`` → `digested`; ``place(total:)`` → `placed`; ``close(deleting:)`` → `closed`. The first
/// `failed` is the only one; after it only ``close(deleting:)`` is of use. A `flushed` that was under way may still
/// come after it and is true.
///
/// One path has one part file at a time: the next one is opened after `closed`, since a deletion may be under way.
package protocol PartFile: AnyObject, Sendable {
    /// Makes or opens the file and reserves its space.
    ///
    /// A plan that resumes needs the file: the part file or, after a crash behind the rename and before a repair, the
    /// file under its final name, which becomes the part file again. If there is neither, or it is shorter than the
    /// plan's total, `failed` has the code ``LectureError/Code/damaged``: the engine forgets the proven chunks and
    /// opens a new part file with a plan that does not resume. Such a plan empties whatever part file was left.
    ///
    /// A sealed file (``PartFilePlan/seal``) gets only ciphertext, in whole segments; all lengths, places, proofs and
    /// digests of this protocol are those of the plaintext. Where the nonce law asks for a new header (a file that was
    /// not left clean, a segment that comes again with other bytes) the proven segments are sealed anew into another
    /// file, which then takes the part file's name, durably; a segment that does not open is left out, and verifying
    /// finds it. A sealed file without a header has the code ``LectureError/Code/damaged``.
    ///
    /// - Parameter plan: what is to be written.
    func open(_ plan: PartFilePlan)
    /// Hands over a filled block. Blocks the caller while too much waits for the disk. May come before ``open(_:)``:
    /// the block then waits, and counts as waiting for the disk.
    ///
    /// Two transfers must not work on one chunk at the same time; a chunk may be written again after
    /// ``abandon(_:)``. Bytes out of order or past the end break the contract: `failed` with
    /// ``LectureError/Code/bug``, and they are not written.
    ///
    /// - Parameters:
    ///   - block: at a place that is aligned to the block size, or the last of its range. May be empty when
    ///     `endsObject` is true.
    ///   - transfer: blocks of one transfer follow each other without a gap, from the start of a chunk.
    ///   - endsObject: whether the last byte of the object has come, so that a short chunk is whole. Needed only while
    ///     the total is unknown.
    /// - Returns: false when the file has failed or is closed.
    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool
    /// Syncs what is written and then tells the chunks that became durable, each once. Tells nothing when there are
    /// none.
    func flush()
    /// Forgets a half-written chunk of a transfer that ended.
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
    func place(total: UInt64)
    /// Closes; later calls change nothing. Blocks that were handed over are still written, synced, and told with
    /// `flushed` before `closed`, unless the file is to be deleted.
    ///
    /// - Parameter deleting: whether the part file goes. A file that was placed stays.
    func close(deleting: Bool)
}

/// The store's directory of media.
package protocol PartFiles: Sendable {
    /// A part file that tells its events to `receiver`.
    ///
    /// - Parameter receiver: called on a thread of the adapter; only passes the event on.
    /// - Returns: a part file that is not open.
    func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile
    /// Deletes a file of the store, durable when it returns. Missing is fine.
    ///
    /// - Parameter path: relative to the store; final and part file go, or only the part file when the path has its
    ///   suffix.
    /// - Throws: ``LectureError``.
    func delete(path: String) throws(LectureError)
    /// Whether the final file and the part file are there, and how long; of sealed files the length of the ciphertext.
    /// A part file has its whole length from the start, where it was known.
    ///
    /// - Parameter path: relative to the store, without the part file's suffix.
    /// - Returns: the lengths in bytes.
    func look(path: String) -> (final: UInt64?, part: UInt64?)
    /// Re-reads chunks of a placed or part file and answers those whose proof does not match.
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
    ///   compared as well, so that an older file of the same content is found. A sealed resource without bytes has no
    ///   chunk; 0 stands for its damage.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile`` when there is no file or it cannot be opened.
    func verify(
        path: String, resource: ResourceID, total: UInt64, grid: ChunkGrid, cipher: (any ContentCipher)?,
        proofs: [WrittenChunk], pace: (Int) -> Bool
    ) throws(LectureError) -> [Int]
    /// Reads one chunk of a placed file and checks it before a byte is handed out.
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
    /// Makes the finished bytes of a file in clear also stand at `output` (shared blocks, a hard link, or a copy),
    /// never half. What stood there is replaced; a directory is not, and none is made.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - isSealed: whether the file is sealed; then it is refused.
    ///   - output: a path of the user's.
    /// - Throws: ``LectureError`` with ``LectureError/Code/isSealed``, ``LectureError/Code/outputRefused`` or a disk
    ///   code.
    func publish(path: String, isSealed: Bool, to output: String) throws(LectureError)
    /// Whether the media directory holds nothing at all.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func isEmpty() throws(LectureError) -> Bool
    /// Free bytes for an ordinary user on the store's file system.
    ///
    /// - Returns: bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func freeBytes() throws(LectureError) -> UInt64
    /// Relative paths of all files below the media directory, part files with their suffix, sorted. A file that was to
    /// take a part file's place counts as that.
    ///
    /// - Returns: paths as ``delete(path:)`` takes them.
    /// - Throws: ``LectureError`` with ``LectureError/Code/readFile``.
    func listing() throws(LectureError) -> [String]
}
