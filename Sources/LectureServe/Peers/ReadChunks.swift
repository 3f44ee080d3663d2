/// What was read of a file by whole chunks, and not taken yet.
///
/// A value. Segments of a sealed file do not end where chunks of a plain one do, so a chunk belongs to two of them:
/// what is behind the end of the first is kept for the second, and no chunk is read twice.
struct ReadChunks: Sendable {
    private var held: ArraySlice<UInt8> = []
    /// Where the first held byte is in the file.
    private var start: Int64 = 0
    private var end: Int64 { start + Int64(held.count) }

    /// What has to be read before bytes can be taken. Bytes before them are dropped.
    ///
    /// - Parameters:
    ///   - wanted: the bytes.
    ///   - chunkEnd: where the chunk ends that has a byte.
    /// - Returns: up to the end of a chunk; nil when they are here.
    mutating func missing(of wanted: Range<Int64>, chunkEnd: (UInt64) -> Int64) -> Range<Int64>? {
        if (start...end).contains(wanted.lowerBound) {
            held = held.dropFirst(Int(wanted.lowerBound - start))
        } else {
            held = []
        }
        start = wanted.lowerBound
        guard wanted.upperBound > end, let last = UInt64(exactly: wanted.upperBound - 1) else { return nil }
        return end..<max(wanted.upperBound, chunkEnd(last))
    }

    /// Adds what was read.
    ///
    /// - Parameters:
    ///   - bytes: as many as there were.
    ///   - place: where the first of them is; behind the last held one.
    mutating func add(_ bytes: [UInt8], at place: Int64) {
        if held.isEmpty || place != end { (held, start) = (bytes[...], place) } else { held += bytes }
    }

    /// Takes bytes from the start of what is held.
    ///
    /// - Parameter wanted: where they are.
    /// - Returns: all of them; nil when they are not here.
    mutating func take(_ wanted: Range<Int64>) -> ArraySlice<UInt8>? {
        guard wanted.lowerBound == start, wanted.upperBound <= end else { return nil }
        let taken = held.prefix(wanted.count)
        held = held.dropFirst(wanted.count)
        start = wanted.upperBound
        return taken
    }
}
