import CMemory

/// The memory of blocks, and of what is read past the page cache: pieces of huge pages.
///
/// Fresh memory from the system costs a page fault every 4 KiB, which on a large file exceeds the cost of copying the
/// bytes into it. And a direct write of 1 MiB from ordinary memory is 256 pieces for the disk: more than one request of
/// a virtual disk takes (254), and each costs time. From huge pages it is one piece. One thread that wrote 2 GiB to
/// such a disk in blocks of 1 MiB, with a sync each 8 MiB, wrote 440 to 490 MB/s in place of 230 to 255, for 0.16 s of
/// CPU time in place of 0.39.
package enum BlockMemory {
    /// A block of at most this many bytes gets memory from the allocator. Larger ones leave gaps between the small
    /// pieces of everything else, by which its heaps then grow: 15 MiB after 20,000 files of 64 KiB.
    private static let smallBytes = 1 << 14
    /// A block of at least this many bytes is filled past the caches. Its memory was last used by the thread that seals
    /// and by the disk, and an ordinary store first fetches the line from the processor that has it: up to 0.4 s of CPU
    /// for a GiB, where it is 0.05 this way. Files of 64 KiB cost the same both ways.
    private static let pastCacheBytes = 1 << 18
    /// The smallest piece. A smaller block gets one, too.
    private static let leastPiece = 1 << 16
    /// The largest piece: half a page.
    private static let mostPiece = Int(CMEMORY_HUGE_PAGE) / 2
    /// Of pages without a used piece 8 MiB are kept.
    private static let pages = Guarded(HugePageMap(pageBytes: Int(CMEMORY_HUGE_PAGE), keptPages: 4))

    /// Uninitialised memory for a block, aligned to a page of 4 KiB.
    ///
    /// - Parameter count: how many bytes are needed.
    /// - Returns: the memory, to be returned with the same count.
    @unsafe package static func take(_ count: Int) -> UnsafeMutableRawPointer {
        guard let bytes = pieceBytes(for: count) else { return .allocate(byteCount: count, alignment: 4096) }
        while true {
            if let address = pages.withLock({ $0.take(bytes) }),
                let memory = unsafe UnsafeMutableRawPointer(bitPattern: address)
            {
                return unsafe memory
            }
            let page = unsafe UInt(bitPattern: cmemory_take_huge_page())
            pages.withLock { $0.add(page) }
        }
    }

    /// Returns memory.
    ///
    /// - Parameters:
    ///   - memory: the result of ``take(_:)``; not used by the caller afterwards.
    ///   - count: how many bytes were requested.
    @unsafe package static func giveBack(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        guard pieceBytes(for: count) != nil else { return unsafe memory.deallocate() }
        let piece = UInt(bitPattern: memory)
        guard let page = pages.withLock({ $0.giveBack(piece) }) else { return }
        if let memory = unsafe UnsafeMutableRawPointer(bitPattern: page) { unsafe cmemory_give_huge_page(memory) }
    }

    /// Copies into a block's memory.
    ///
    /// - Parameters:
    ///   - source: the bytes.
    ///   - count: how many.
    ///   - memory: where they go.
    ///   - capacity: how many bytes the block can hold.
    @unsafe static func copy(
        _ source: UnsafeRawPointer, _ count: Int, to memory: UnsafeMutableRawPointer, of capacity: Int
    ) {
        if capacity >= pastCacheBytes {
            unsafe cmemory_copy_past_cache(memory, source, count)
        } else {
            unsafe memory.copyMemory(from: source, byteCount: count)
        }
    }

    /// The size of the piece for a block; nil for the allocator.
    private static func pieceBytes(for count: Int) -> Int? {
        guard count > smallBytes, count <= mostPiece else { return nil }
        return max(leastPiece, 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount))
    }
}
