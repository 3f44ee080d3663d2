import Glibc

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
        var start = 0
        while let end = Self.lineEnd(in: piece, from: start) {
            // Nearly all lines lie in one block: they need only one copy.
            if line.isEmpty, !isTooLong, end - start <= limit {
                try body(Array(piece[start..<end]))
            } else {
                append(piece[start..<end])
                try body(takeLine())
            }
            start = end + 1
        }
        append(piece[start...])
    }

    /// The next line end.
    private static func lineEnd(in piece: [UInt8], from start: Int) -> Int? {
        unsafe piece.withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress,
                let end = unsafe memchr(base + start, 0x0A, buffer.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(end) - base
        }
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
