/// A body that is read ahead of its client: what was read and not sent yet, and where the next piece begins.
///
/// A value. Who reads and who sends share it inside a lock: ``advance(to:_:)`` begins to read a piece,
/// ``received(_:)`` takes it, and ``fill(_:)`` hands its bytes to the server. One piece is read at a time, and as many
/// as were permitted wait to be sent.
package struct ReadAhead: Sendable {
    /// How many pieces may wait to be sent.
    private let most: Int
    /// The first byte that was not requested yet.
    private var next: Int64
    private let end: Int64
    /// Those that were read, the first one as far as it was not sent.
    private var pieces: [ArraySlice<UInt8>] = []
    private var reading: Task<Void, Never>?
    private var isStopped = false

    /// Creates a body of which nothing was read.
    ///
    /// - Parameters:
    ///   - range: its bytes, as offsets in what is read.
    ///   - most: how many pieces may wait to be sent, from 1.
    package init(_ range: Range<Int64>, most: Int) {
        (next, end) = (range.lowerBound, range.upperBound)
        self.most = max(1, most)
    }

    /// Copies the next bytes.
    ///
    /// - Parameter buffer: where they go.
    /// - Returns: what it did: `wait` until a piece was received, `end` after the last byte, `failed` once stopped.
    package mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> HTTPFill {
        guard !isStopped else { return .failed }
        guard let piece = pieces.first else { return next >= end && reading == nil ? .end : .wait }
        let count = min(buffer.count, piece.count)
        unsafe piece.prefix(count).withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        if count == piece.count { pieces.removeFirst() } else { pieces[0] = piece.dropFirst(count) }
        return .bytes(count)
    }

    /// Begins to read the next piece, if there is one that may be in memory, and none is being read.
    ///
    /// - Parameters:
    ///   - border: where the piece that begins at an offset should end; the body may end before.
    ///   - read: begins to read, and calls ``received(_:)`` or ``stop()`` when it is over.
    package mutating func advance(to border: (Int64) -> Int64, _ read: (Range<Int64>) -> Task<Void, Never>) {
        guard !isStopped, reading == nil, next < end, pieces.count < most else { return }
        // At least a byte: else nothing would ever be read.
        let piece = next..<min(end, max(next + 1, border(next)))
        next = piece.upperBound
        reading = read(piece)
    }

    /// Takes the piece that was being read.
    ///
    /// - Parameter bytes: all of it; dropped once stopped.
    package mutating func received(_ bytes: ArraySlice<UInt8>) {
        reading = nil
        guard !isStopped, !bytes.isEmpty else { return }
        pieces.append(bytes)
    }

    /// Drops what was read, and cancels what is being read. Nothing is read or sent after that.
    package mutating func stop() {
        isStopped = true
        pieces = []
        reading?.cancel()
    }
}
