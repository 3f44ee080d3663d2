import Dispatch
import LectureModel

/// Takes the digest of a part file as it is written: beside the writes of a large file, else between them.
///
/// Between the writes a disk would stand still for as long as SHA-256 takes, 0.7 ms for a MiB. Beside them a file with
/// a digest arrives as fast as one without, where the disk is the limit. A small file is written before another thread
/// has woken up.
///
/// Everything is done in the order of the calls. Bytes may be written again while an earlier call still waits: the call
/// that announced it follows, and starts the digest again.
///
/// `@unchecked Sendable`: beside the writes, `prefix` and `reader` are used on the queue only, else by the caller only.
final class DigestLine: @unchecked Sendable {
    /// The length in bytes from which a file's digest is taken beside its writes.
    static let leastBytes: UInt64 = 8 << 20

    private var prefix: PrefixDigest
    private let reader: () -> any ByteSource
    /// Nil between the writes.
    private let queue: DispatchQueue?
    private let fail: @Sendable (LectureError) -> Void
    private let isOver = Guarded(false)

    /// Starts at the beginning of the file.
    ///
    /// - Parameters:
    ///   - digests: makes the digest.
    ///   - isBeside: whether it is taken beside the writes.
    ///   - reader: what reads chunks that arrive out of order; beside the writes nothing else uses it.
    ///   - fail: takes an error that occurs beside the writes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(
        _ digests: any DigestMaker, isBeside: Bool,
        reader: @escaping () -> any ByteSource, fail: @escaping @Sendable (LectureError) -> Void
    ) throws(LectureError) {
        prefix = try PrefixDigest(digests)
        self.reader = reader
        queue = isBeside ? DispatchQueue(label: "lecturekit.files.digest") : nil
        self.fail = fail
    }

    /// Must be called before a block is written, with the chunks that end in it.
    ///
    /// - Parameters:
    ///   - block: its bytes do not change; those of a block that is sealed where it is only when this is called between
    ///     the writes.
    ///   - chunks: their places in the file, in bytes.
    ///   - ticket: kept until the block is no longer used.
    /// - Throws: ``LectureError``; nothing beside the writes.
    func willWrite(
        _ block: Block, ending chunks: [Range<UInt64>], _ ticket: DiskBudget.Ticket
    ) throws(LectureError) {
        if chunks.isEmpty {
            return try perform { [offset = block.offset] prefix, _ throws(LectureError) in
                try prefix.willWrite(at: offset)
            }
        }
        try perform { prefix, _ throws(LectureError) in
            defer { withExtendedLifetime(ticket) {} }
            try prefix.willWrite(at: block.offset)
            for chunk in chunks { prefix.take(chunk, in: block) }
        }
    }

    /// Must be called when the bytes of whole chunks are written.
    ///
    /// - Parameter chunks: their places in the file, in bytes.
    /// - Throws: ``LectureError``; nothing beside the writes.
    func didWrite(_ chunks: [Range<UInt64>]) throws(LectureError) {
        if chunks.isEmpty { return }
        try perform { prefix, reader throws(LectureError) in
            for chunk in chunks { try prefix.didWrite(chunk, reader) }
        }
    }

    private func perform(
        _ work: @escaping @Sendable (inout PrefixDigest, any ByteSource) throws(LectureError) -> Void
    ) throws(LectureError) {
        guard let queue else { return try work(&prefix, reader()) }
        queue.async { [self] in
            if isOver.withLock({ $0 }) { return }
            do throws(LectureError) { try work(&prefix, reader()) } catch { fail(error) }
        }
    }

    /// Reads the rest and returns the digest of the whole file, after everything that was called before.
    ///
    /// - Parameters:
    ///   - total: the whole length in bytes.
    ///   - continues: called before every step; false ends it.
    /// - Returns: 32 bytes, or nil when it was ended.
    /// - Throws: ``LectureError``, with ``LectureError/Code/damaged`` when the file is shorter than `total`.
    func finish(total: UInt64, while continues: () -> Bool) throws(LectureError) -> [UInt8]? {
        guard let queue else { return try prefix.finish(total: total, reader(), while: continues) }
        // proof: the queue's work waits for nothing but the disk.
        let outcome = queue.sync {
            Result { () throws(LectureError) in try prefix.finish(total: total, reader(), while: continues) }
        }
        return try outcome.get()
    }

    /// Drops the work that waits and lets the current piece of it end. Nothing is read or reported after that.
    func end() {
        isOver.withLock { $0 = true }
        // proof: the queue's work waits for nothing but the disk.
        queue?.sync {}
    }
}
