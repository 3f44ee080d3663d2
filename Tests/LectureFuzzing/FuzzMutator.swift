/// Makes new inputs from known ones: a simple substitute for libFuzzer that needs no separate build. It ignores
/// coverage, so it finds what is near the corpus.
package struct FuzzMutator {
    private let corpus: [[UInt8]]
    private let words: [[UInt8]]
    private let longest: Int

    /// Makes a mutator.
    ///
    /// - Parameters:
    ///   - corpus: the initial inputs, at least one.
    ///   - dictionary: the text of a libFuzzer dictionary: one quoted word a line, with `\xNN` for a byte.
    ///   - longest: the longest input to make, in bytes.
    package init(corpus: [[UInt8]], dictionary: String, longest: Int) {
        self.corpus = corpus
        self.longest = longest
        words = dictionary.split(separator: "\n").map { Self.word($0.dropFirst().dropLast()) }
    }

    private static func word(_ line: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = line.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"),
                let value = UInt8(text(rest.dropFirst().prefix(2)), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// The next input.
    ///
    /// - Parameter generator: the source of randomness.
    /// - Returns: a known input with one to eight changes.
    package func next(_ generator: inout some RandomNumberGenerator) -> [UInt8] {
        var input = corpus.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...8, using: &generator) { change(&input, &generator) }
        return Array(input.prefix(longest))
    }

    private func change(_ input: inout [UInt8], _ generator: inout some RandomNumberGenerator) {
        let place = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, place + Int.random(in: 0...8, using: &generator))
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: if place < input.count { input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        case 1: input.insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
        case 2: input.removeSubrange(place..<end)
        case 3: input.insert(contentsOf: input[place..<end], at: place)
        case 4: input.replaceSubrange(place..<end, with: words.randomElement(using: &generator) ?? [])
        case 5:
            // The start of this one and the end of another.
            let other = corpus.randomElement(using: &generator) ?? []
            input = input[..<place] + other.suffix(Int.random(in: 0...other.count, using: &generator))
        default: input.insert(contentsOf: words.randomElement(using: &generator) ?? [], at: place)
        }
    }
}
