/// A content cut into equal parts.
///
/// Block i holds the milliseconds from ⌊duration·i/count⌋ up to ⌊duration·(i+1)/count⌋. The last block also holds all
/// that lies behind the duration, because a stated duration is often a little short; while the duration is unknown (0)
/// the first block holds everything. So no millisecond that was played is in no block, and none is in two.
package struct BlockGrid: Hashable, Sendable {
    /// More blocks than this are not made.
    package static let mostBlocks = 10_000

    /// The length of the content in milliseconds; 0 while unknown.
    package let duration: Int64
    /// How many blocks there are, at least one.
    package let count: Int

    /// Cuts a content.
    ///
    /// - Parameters:
    ///   - duration: its length in milliseconds; 0 while unknown.
    ///   - count: how many blocks; held within 1…10 000.
    package init(duration: Int64, count: Int) {
        self.duration = min(max(0, duration), PlayInterval.furthest)
        self.count = min(max(1, count), Self.mostBlocks)
    }

    /// The part of the content that is one block, in milliseconds, without what lies behind the duration.
    ///
    /// - Parameter block: 0-based.
    /// - Returns: the milliseconds; some blocks have none when they are more than the milliseconds.
    package func range(of block: Int) -> Range<Int64> {
        boundary(block)..<boundary(block + 1)
    }

    /// The block that holds a millisecond.
    ///
    /// - Parameter position: not negative.
    /// - Returns: 0-based.
    package func block(at position: Int64) -> Int {
        if duration == 0 { return 0 }
        if position >= duration { return count - 1 }
        // ⌊duration·i/count⌋ ≤ position, solved for i.
        return Int(((position + 1) * Int64(count) - 1) / duration)
    }

    /// Cuts a part of the content where blocks end.
    ///
    /// - Parameter part: in milliseconds.
    /// - Returns: the pieces in their order, none empty, each with its block.
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
