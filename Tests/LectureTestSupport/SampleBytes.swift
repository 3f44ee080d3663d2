/// The bytes of generated files.
package enum SampleBytes {
    /// Makes bytes that do not repeat. Word by word: a test that is built without optimisation needs a second for ten
    /// megabytes that are made byte by byte.
    ///
    /// - Parameters:
    ///   - count: how many.
    ///   - seed: the same one makes the same bytes.
    /// - Returns: the bytes.
    package static func make(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var words = [UInt64](repeating: 0, count: (count + 7) / 8)
        for index in words.indices { words[index] = generator.next() }
        return unsafe words.withUnsafeBytes { unsafe Array($0.prefix(count)) }
    }
}
