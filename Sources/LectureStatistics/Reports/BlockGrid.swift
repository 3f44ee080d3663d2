/// A lecture divided into equal parts.
///
/// Block i contains the milliseconds from ⌊duration·i/count⌋ up to ⌊duration·(i+1)/count⌋. The last block also contains
/// all beyond the duration, because a stated duration is often a little short; while the duration is unknown (0) the
/// first block contains everything. So every millisecond that was played is in exactly one block.
package struct BlockGrid: Hashable, Sendable {
    /// The most blocks that are made.
    package static let mostBlocks = 10_000

    /// The length of the lecture in milliseconds; 0 while unknown.
    package let duration: Int64
    /// How many blocks there are, at least one.
    package let count: Int

    /// Divides a lecture.
    ///
    /// - Parameters:
    ///   - duration: its length in milliseconds; 0 while unknown.
    ///   - count: how many blocks; clamped to 1…10 000.
    package init(duration: Int64, count: Int) {
        self.duration = min(max(0, duration), PlayInterval.furthest)
        self.count = min(max(1, count), Self.mostBlocks)
    }

    /// The range of a block in milliseconds, without what is beyond the duration.
    ///
    /// - Parameter block: 0-based.
    /// - Returns: the milliseconds; some blocks are empty when there are more blocks than milliseconds.
    package func range(of block: Int) -> Range<Int64> {
        boundary(block)..<boundary(block + 1)
    }

    /// The block that contains a millisecond.
    ///
    /// - Parameter position: not negative.
    /// - Returns: 0-based.
    package func block(at position: Int64) -> Int {
        if duration == 0 { return 0 }
        if position >= duration { return count - 1 }
        // ⌊duration·i/count⌋ ≤ position, solved for i.
        return Int(((position + 1) * Int64(count) - 1) / duration)
    }

    /// Divides a part of the lecture at the ends of blocks.
    ///
    /// - Parameter part: in milliseconds.
    /// - Returns: the pieces in order, none empty, each with its block.
    package func pieces(of part: Range<Int64>) -> [(block: Int, range: Range<Int64>)] {
        var pieces: [(block: Int, range: Range<Int64>)] = []
        var start = part.lowerBound
        while start < part.upperBound {
            let block = block(at: start)
            let isOpen = duration == 0 || block == count - 1
            let end = isOpen ? part.upperBound : min(boundary(block + 1), part.upperBound)
            pieces.append((block, start..<end))
            start = end
        }
        return pieces
    }

    private func boundary(_ block: Int) -> Int64 { duration * Int64(block) / Int64(count) }
}
