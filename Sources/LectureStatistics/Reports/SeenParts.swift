/// Which parts of a lecture were seen at least once, however often and in any order.
package struct SeenParts: Hashable, Sendable {
    /// The parts in milliseconds: ascending, none empty, no two that touch.
    package private(set) var ranges: [Range<Int64>] = []

    /// Makes an empty set.
    package init() {}

    /// How much was seen, in milliseconds.
    package var total: Int64 { ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }

    /// Marks a part as seen.
    ///
    /// - Parameter part: in milliseconds; an empty one changes nothing.
    package mutating func insert(_ part: Range<Int64>) {
        if part.isEmpty { return }
        let first = firstIndex { $0.upperBound >= part.lowerBound }
        let behind = firstIndex { $0.lowerBound > part.upperBound }
        guard first < behind else { return ranges.insert(part, at: first) }
        let lower = min(part.lowerBound, ranges[first].lowerBound)
        let upper = max(part.upperBound, ranges[behind - 1].upperBound)
        ranges.replaceSubrange(first..<behind, with: CollectionOfOne(lower..<upper))
    }

    /// The index of the first range with a property that all later ones have too.
    private func firstIndex(where holds: (Range<Int64>) -> Bool) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = low + (high - low) / 2
            if holds(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
