/// How a resource is cut into chunks: all of one length, except the first, which may be shorter, and the last.
///
/// In a sealed file the first segment also holds the file's header, so its chunk is shorter by that (``lead``): chunks
/// are whole segments, and ranges can be written in any order.
package struct ChunkGrid: Hashable, Sendable {
    /// The length of every chunk but the first and the last, in bytes of the resource.
    package let length: UInt64
    /// By how many bytes the first chunk is shorter.
    package let lead: UInt64

    /// Whether it is that of a sealed file, whose header makes the first chunk shorter.
    package var isSealed: Bool { lead > 0 }
    /// How much memory follows the bytes of a block: that of a sealed file is sealed where it is.
    package var spareBytes: Int { isSealed ? SealedFormat.tagBytes : 0 }

    /// Creates a grid.
    ///
    /// - Parameters:
    ///   - length: the length of a chunk in bytes; more than `lead`.
    ///   - lead: by how many bytes the first chunk is shorter.
    package init(length: UInt64, lead: UInt64 = 0) { (self.length, self.lead) = (length, lead) }

    /// The first byte of a chunk.
    ///
    /// - Parameter chunk: its number, from 0.
    /// - Returns: an offset in the resource; the largest number for an impossible chunk.
    package func start(of chunk: Int) -> UInt64 {
        // Chunk numbers come from rows, which may be damaged.
        guard chunk > 0 else { return 0 }
        let (end, overflow) = UInt64(chunk).multipliedReportingOverflow(by: length)
        return overflow ? .max : end - lead
    }

    /// The chunk that holds a byte.
    ///
    /// - Parameter offset: in the resource.
    /// - Returns: its number, from 0.
    package func chunk(at offset: UInt64) -> Int { Int((offset + lead) / length) }

    /// Whether a chunk starts at a byte.
    ///
    /// - Parameter offset: in the resource.
    /// - Returns: true also for the end of the last chunk, when that is whole.
    package func isStart(_ offset: UInt64) -> Bool { offset == 0 || (offset + lead).isMultiple(of: length) }

    /// How many chunks a resource has.
    ///
    /// - Parameter total: its length in bytes.
    /// - Returns: none for an empty one.
    package func count(total: UInt64) -> Int { total == 0 ? 0 : chunk(at: total - 1) + 1 }

    /// The bytes of a chunk.
    ///
    /// - Parameters:
    ///   - chunk: its number, from 0.
    ///   - total: the length of the resource; nil while it is unknown.
    /// - Returns: offsets in the resource; empty past its end.
    package func range(of chunk: Int, total: UInt64?) -> Range<UInt64> {
        let (start, end) = (start(of: chunk), chunk == .max ? .max : self.start(of: chunk + 1))
        guard let total else { return start..<end }
        return start >= total ? total..<total : start..<min(end, total)
    }
}
