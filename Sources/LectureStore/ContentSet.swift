package import LectureModel

/// A set of lectures. Those that were registered one after the other take a bit each: a million of them take half a
/// megabyte, where `Set` takes sixteen.
package struct ContentSet: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// A bit for each of 64 rows, by the number of the first of them divided by 64.
    private var words: [Int64: UInt64] = [:]

    /// How many there are.
    package private(set) var count = 0

    /// Makes a set.
    ///
    /// - Parameter contents: lectures; one that occurs twice is there once.
    package init(_ contents: some Sequence<ContentID>) { insert(contents) }

    /// Makes a set of some lectures.
    package init(arrayLiteral contents: ContentID...) { insert(contents) }

    /// Adds lectures.
    ///
    /// - Parameter contents: lectures; those that are there stay.
    package mutating func insert(_ contents: some Sequence<ContentID>) {
        for content in contents {
            let bit = UInt64(1) << UInt64(content.value & 63)
            let former = words[content.value >> 6, default: 0]
            if former & bit == 0 { count += 1 }
            words[content.value >> 6] = former | bit
        }
    }

    /// The lectures, in the order of their rows.
    package var sorted: [ContentID] {
        words.sorted { $0.key < $1.key }.flatMap { base, word in
            (0..<64).lazy.filter { word & 1 << UInt64($0) != 0 }.map { ContentID(base << 6 + Int64($0)) }
        }
    }
}
