import LectureModel

/// The SHA-256 of a file that is written in any order.
///
/// Whole chunks are taken in the order of the file: from memory when the next chunk is the one being written, else from
/// the disk. At most one chunk is read for each chunk that is written, so that the writer never stops for long
/// when two ranges meet; the rest is read at the end. Rewriting bytes that the digest has already covered restarts it,
/// from the disk: what is on the disk counts.
struct PrefixDigest {
    private let digests: any DigestMaker
    private var running: any RunningDigest
    /// How far the digest has come, in bytes from the start.
    private(set) var hashed: UInt64 = 0
    /// The ends of whole chunks beyond ``hashed``, by their starts.
    private var ahead: [UInt64: UInt64] = [:]
    private var isWaitingForTheEnd = false

    /// Starts at the beginning of the file.
    ///
    /// - Parameter digests: makes the digest.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(_ digests: any DigestMaker) throws(LectureError) {
        self.digests = digests
        running = try digests.sha256()
    }

    /// Must be called before bytes are written.
    ///
    /// - Parameter offset: where they go.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    mutating func willWrite(at offset: UInt64) throws(LectureError) {
        if offset < hashed { try beginAnew() }
    }

    private mutating func beginAnew() throws(LectureError) {
        running = try digests.sha256()
        hashed = 0
        ahead = [:]
        isWaitingForTheEnd = true
    }

    /// May be called with the bytes of a whole chunk while they are in memory, also before they are written: the chunk
    /// is not read from the file then, if it is the next one.
    ///
    /// - Parameters:
    ///   - range: the chunk's place in the file, in bytes.
    ///   - block: with the chunk's last byte.
    mutating func take(_ range: Range<UInt64>, in block: Block) {
        guard !isWaitingForTheEnd, range.lowerBound == hashed, range.lowerBound >= block.offset else { return }
        unsafe block.withStrips { bytes, offset in
            let part = range.clamped(to: offset..<(offset + UInt64(bytes.count)))
            let piece = unsafe bytes[Int(part.lowerBound - offset)..<Int(part.upperBound - offset)]
            unsafe running.update(UnsafeRawBufferPointer(rebasing: piece))
        }
        hashed = range.upperBound
    }

    /// Must be called when the bytes of a whole chunk are written.
    ///
    /// - Parameters:
    ///   - range: the chunk's place in the file, in bytes.
    ///   - file: where everything that was not taken is read from.
    /// - Throws: ``LectureError``.
    mutating func didWrite(_ range: Range<UInt64>, _ file: any ByteSource) throws(LectureError) {
        if isWaitingForTheEnd { return }
        if range.upperBound > hashed { ahead[range.lowerBound] = range.upperBound }
        if let end = ahead.removeValue(forKey: hashed) { try advance(to: end, file) { true } }
    }

    /// Reads the rest and returns the digest of the whole file.
    ///
    /// - Parameters:
    ///   - total: the whole length in bytes.
    ///   - file: the file.
    ///   - continues: called before every step; false ends it.
    /// - Returns: 32 bytes, or nil when it was ended.
    /// - Throws: ``LectureError``, with ``LectureError/Code/damaged`` when the file is shorter than `total`.
    mutating func finish(
        total: UInt64, _ file: any ByteSource, while continues: () -> Bool
    ) throws(LectureError) -> [UInt8]? {
        if hashed > total { try beginAnew() }
        try advance(to: total, file, while: continues)
        guard hashed == total else { return nil }
        let digest = try running.finish()
        // A second call computes the same digest again, from the disk.
        try beginAnew()
        return digest
    }

    private mutating func advance(
        to end: UInt64, _ file: any ByteSource, while continues: () -> Bool
    ) throws(LectureError) {
        while hashed < end, continues() {
            let length = Int(min(UInt64(ReadableFile.bufferBytes), end - hashed))
            try unsafe file.read(length, at: hashed) { unsafe running.update($0) }
            hashed += UInt64(length)
        }
    }
}
