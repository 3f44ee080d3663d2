/// Assembles lines from blocks of any length. A line that is too long is skipped without buffering it, and reported.
package struct LineAssembler {
    private let limit: Int
    private var line: [UInt8] = []
    private var isTooLong = false

    /// Makes an assembler.
    ///
    /// - Parameter limit: the longest line in bytes.
    package init(limit: Int) { self.limit = limit }

    /// Takes a block.
    ///
    /// - Parameters:
    ///   - piece: the next bytes.
    ///   - body: receives each line that ends in it, without its end; nil for one that was too long.
    /// - Throws: what `body` throws.
    package mutating func take<Failure: Error>(
        _ piece: [UInt8], _ body: ([UInt8]?) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = piece[...]
        while let end = rest.firstIndex(of: 0x0A) {
            append(rest[..<end])
            rest = rest[(end + 1)...]
            try body(takeLine())
        }
        append(rest)
    }

    /// Takes what is left after the last line end.
    ///
    /// - Returns: nil when nothing is left; else the line, which is nil when it was too long.
    package mutating func finish() -> [UInt8]?? {
        line.isEmpty && !isTooLong ? nil : .some(takeLine())
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        if isTooLong { return }
        if line.count + bytes.count > limit {
            isTooLong = true
            line = []
        } else {
            line.append(contentsOf: bytes)
        }
    }

    private mutating func takeLine() -> [UInt8]? {
        defer {
            line.removeAll(keepingCapacity: line.capacity <= 1 << 20)
            isTooLong = false
        }
        return isTooLong ? nil : line
    }
}
