/// The nearest word to a mistyped one.
package enum Suggestion {
    /// Finds the word that was probably meant.
    ///
    /// - Parameters:
    ///   - word: what was typed.
    ///   - candidates: what exists.
    /// - Returns: the nearest candidate within a third of its length (at least one change), or nil.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        // A long argument is not a mistyped word; measuring it would cost its length for every candidate.
        guard word.utf8.count <= 40 else { return nil }
        let scored = candidates.map { (word: $0, distance: distance(Array(word), Array($0))) }
        guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.word.count / 3) ? best.word : nil
    }

    /// The end of a sentence about an unknown word.
    ///
    /// - Parameters:
    ///   - word: what was written.
    ///   - candidates: what exists.
    /// - Returns: ` (did you mean 'title'?)`, or an empty text when nothing is near.
    package static func hint(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { " (did you mean '\($0)'?)" } ?? ""
    }

    /// Counts the insertions, deletions, replacements and swaps of neighbours between two words (optimal string
    /// alignment).
    ///
    /// - Parameters:
    ///   - left: one word.
    ///   - right: the other.
    /// - Returns: the number of changes.
    package static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: right.count + 1)
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = previous[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, previous[column + 1] + 1, current[column] + 1)
                let isSwap = row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwap { best = min(best, beforePrevious[column - 1] + 1) }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
