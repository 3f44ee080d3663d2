/// A set of chunk numbers of one resource, a bit each.
package struct ChunkSet: Sendable, Hashable {
    private var words: [UInt64] = []
    /// How many numbers are in the set.
    package private(set) var count = 0

    /// Whether nothing is in the set.
    package var isEmpty: Bool { count == 0 }

    /// Makes a set.
    ///
    /// - Parameter indices: the numbers in it; repeats are fine.
    package init(_ indices: some Sequence<Int> = []) {
        for index in indices { insert(index) }
    }

    /// Whether a number is in the set.
    package func contains(_ index: Int) -> Bool {
        let word = index >> 6
        return word < words.count && words[word] & (1 << UInt64(index & 63)) != 0
    }

    /// The numbers, in order.
    package var indices: [Int] { (0..<words.count << 6).filter(contains) }

    /// Inserts a number; returns whether it was not there.
    @discardableResult
    package mutating func insert(_ index: Int) -> Bool {
        let word = index >> 6
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        let bit: UInt64 = 1 << UInt64(index & 63)
        if words[word] & bit != 0 { return false }
        words[word] |= bit
        count += 1
        return true
    }

    /// Removes a number; returns whether it was there.
    @discardableResult
    package mutating func remove(_ index: Int) -> Bool {
        guard contains(index) else { return false }
        words[index >> 6] &= ~(1 << UInt64(index & 63))
        count -= 1
        return true
    }
}
