import CMemory

/// Pools of memory for blocks: fresh memory from the system costs a page fault every 4 KiB, which on a large file
/// exceeds the cost of copying the bytes into it.
enum BlockMemory {
    /// An unused piece of memory. Confined to the lock around it.
    @safe private struct Piece {
        let memory: UnsafeMutableRawPointer
    }

    /// Pieces of one size.
    private struct Pool: Sendable {
        /// The size of a piece.
        let bytes: Int
        /// How many unused ones are kept.
        let kept: Int
        let idle = Guarded<[Piece]>([])
    }

    /// A block of at most this many bytes gets memory from the allocator. Larger ones leave gaps between the small
    /// pieces of everything else, by which its heaps then grow: 15 MiB after 20,000 files of 64 KiB.
    private static let smallBytes = 1 << 14
    /// A block of at least this many bytes is filled past the caches. Its memory was last used by the thread that seals
    /// and by the disk, and an ordinary store first fetches the line from the processor that has it: up to 0.4 s of CPU
    /// for a GiB, where it is 0.05 this way. Files of 64 KiB cost the same both ways.
    private static let pastCacheBytes = 1 << 18
    /// The sizes of pieces, in order. A smaller block gets one, too.
    private static let pools = [
        Pool(bytes: 1 << 16, kept: 64), Pool(bytes: 1 << 17, kept: 64), Pool(bytes: 1 << 20, kept: 8),
    ]

    /// Uninitialised memory for a block, aligned to a page.
    ///
    /// - Parameter count: how many bytes are needed.
    /// - Returns: the memory, to be returned with the same count.
    @unsafe static func take(_ count: Int) -> UnsafeMutableRawPointer {
        guard let pool = pool(for: count) else { return .allocate(byteCount: count, alignment: 4096) }
        // The latest, which is most likely in the processor's cache.
        if let kept = pool.idle.withLock({ $0.popLast() }) { return unsafe kept.memory }
        return .allocate(byteCount: pool.bytes, alignment: 4096)
    }

    /// Returns memory to its pool.
    ///
    /// - Parameters:
    ///   - memory: the result of ``take(_:)``; not used by the caller afterwards.
    ///   - count: how many bytes were requested.
    @unsafe static func giveBack(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        let piece = unsafe Piece(memory: memory)
        let isKept = pool(for: count).map { pool in
            pool.idle.withLock { idle in
                guard idle.count < pool.kept else { return false }
                idle.append(piece)
                return true
            }
        }
        if isKept != true { unsafe memory.deallocate() }
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

    private static func pool(for count: Int) -> Pool? {
        count > smallBytes ? pools.first { count <= $0.bytes } : nil
    }
}
