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
        unsafe memory = .allocate(byteCount: capacity, alignment: 4096)
    }

    deinit { unsafe memory.deallocate() }

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
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe body(UnsafeRawBufferPointer(start: memory, count: count))
    }
}

/// A chunk whose bytes are durable, with its proof.
package struct WrittenChunk: Sendable, Hashable {
    package var index: Int
    package var proof: [UInt8]
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
    /// The file is closed and, if asked for, deleted.
    case closed
}

/// What a part file is made for.
package struct PartFilePlan: Sendable, Hashable {
    /// The resource.
    package var resource: ResourceID
    /// The final path, relative to the store; the part file has the suffix `.part`.
    package var path: String
    /// The whole length; nil while unknown.
    package var total: UInt64?
    /// The length of a chunk.
    package var chunkBytes: UInt64
    /// Whether the SHA-256 of the whole is due.
    package var needsDigest: Bool
    /// Whether some chunks are proven, so that the file must exist.
    package var resumes: Bool
    /// How many bytes must stay free on the disk beside this file.
    package var reserveBytes: UInt64

    /// Makes a plan.
    package init(
        resource: ResourceID, path: String, total: UInt64?, chunkBytes: UInt64, needsDigest: Bool, resumes: Bool,
        reserveBytes: UInt64
    ) {
        self.resource = resource
        self.path = path
        self.total = total
        self.chunkBytes = chunkBytes
        self.needsDigest = needsDigest
        self.resumes = resumes
        self.reserveBytes = reserveBytes
    }
}

/// One resource being written. All methods return at once, except ``submit(_:from:endsObject:)``.
///
/// Order of a life: made; ``open(_:)`` → `opened`; any number of ``submit(_:from:endsObject:)`` and ``flush()``
/// → `flushed`; ``digest(proven:)`` → `digested`; ``place()`` → `placed`; ``close(deleting:)`` → `closed`. After
/// `failed` only ``close(deleting:)`` is of use.
package protocol PartFile: AnyObject, Sendable {
    /// Makes or opens the file and reserves its space.
    func open(_ plan: PartFilePlan)
    /// Hands over a filled block. Blocks the caller while too much waits for the disk. May come before `opened`.
    ///
    /// - Parameters:
    ///   - block: at a place that is aligned to the block size, or the last of its range.
    ///   - transfer: blocks of one transfer follow each other without a gap, from the start of a chunk.
    ///   - endsObject: whether the last byte of the object is in the block, so that a short chunk is whole.
    /// - Returns: false when the file has failed or is closed.
    func submit(_ block: Block, from transfer: TransferID, endsObject: Bool) -> Bool
    /// Syncs what is written and then tells the chunks that became durable. Never tells an empty list unless
    /// ``close(deleting:)`` was called.
    func flush()
    /// Forgets a half-written chunk of a transfer that ended.
    func abandon(_ transfer: TransferID)
    /// Sets the length once it is known and computes the SHA-256 of the whole.
    func digest(total: UInt64)
    /// Cuts or checks the length, syncs, gives the file its final name, syncs the directory.
    func place(total: UInt64)
    /// Closes; deletes the part file when asked to.
    func close(deleting: Bool)
}

/// The store's directory of media.
package protocol PartFiles: Sendable {
    /// A part file that tells its events to `receiver`.
    func make(receiver: @escaping @Sendable (PartFileEvent) -> Void) -> any PartFile
    /// Deletes a file of the store, final or part; durable when it returns. Missing is fine.
    ///
    /// - Throws: ``LectureError``.
    func delete(path: String) throws(LectureError)
    /// Whether the final file and the part file are there, and how long.
    func look(path: String) -> (final: UInt64?, part: UInt64?)
    /// Re-reads chunks of a placed or part file and answers those whose proof does not match.
    ///
    /// - Parameters:
    ///   - path: relative to the store.
    ///   - resource: the row.
    ///   - total: the whole length.
    ///   - chunkBytes: the length of a chunk.
    ///   - proofs: the chunks to check.
    ///   - pace: called with the bytes read, may block to bound the rate; false stops.
    /// - Returns: the indices of damaged chunks, in order.
    /// - Throws: ``LectureError`` when the file cannot be read at all.
    func verify(
        path: String, resource: ResourceID, total: UInt64, chunkBytes: UInt64, proofs: [WrittenChunk],
        pace: (Int) -> Bool
    ) throws(LectureError) -> [Int]
    /// Makes the finished bytes also stand at `output` (shared blocks, a hard link, or a copy), never half.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/outputRefused`` or a disk code.
    func publish(path: String, to output: String) throws(LectureError)
    /// Free bytes for this user on the store's file system.
    func freeBytes() throws(LectureError) -> UInt64
    /// Relative paths of all files below the media directory, part files with their suffix.
    func listing() throws(LectureError) -> [String]
}
