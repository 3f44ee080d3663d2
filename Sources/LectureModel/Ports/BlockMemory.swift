/// A pool of memory for blocks: fresh memory from the system costs a page fault every 4 KiB, which on a large file
/// exceeds the cost of copying the bytes into it.
enum BlockMemory {
    /// An unused piece of memory. Confined to the lock around it.
    @safe private struct Piece {
        let memory: UnsafeMutableRawPointer
    }

    /// The size of a pooled piece. A smaller block gets one too, unless it is so small that the allocator keeps its
    /// memory anyway.
    private static let pieceBytes = 1 << 20
    private static let smallBytes = 1 << 16
    /// How many unused pieces are kept.
    private static let keptPieces = 16
    private static let idle = Guarded<[Piece]>([])

    /// Uninitialised memory for a block, aligned to a page.
    ///
    /// - Parameter count: how many bytes are needed.
    /// - Returns: the memory, to be returned with the same count.
    @unsafe static func take(_ count: Int) -> UnsafeMutableRawPointer {
        guard isPiece(count) else { return .allocate(byteCount: count, alignment: 4096) }
        // The latest, which is most likely in the processor's cache.
        if let kept = idle.withLock({ $0.popLast() }) { return unsafe kept.memory }
        return .allocate(byteCount: pieceBytes, alignment: 4096)
    }

    /// Returns memory to the pool.
    ///
    /// - Parameters:
    ///   - memory: the result of ``take(_:)``; not used by the caller afterwards.
    ///   - count: how many bytes were requested.
    @unsafe static func giveBack(_ memory: UnsafeMutableRawPointer, _ count: Int) {
        let piece = unsafe Piece(memory: memory)
        let isKept =
            isPiece(count)
            && idle.withLock { idle in
                guard idle.count < keptPieces else { return false }
                idle.append(piece)
                return true
            }
        if !isKept { unsafe memory.deallocate() }
    }

    private static func isPiece(_ count: Int) -> Bool { count > smallBytes && count <= pieceBytes }
}
