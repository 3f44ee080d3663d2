import CSandbox

/// The body of an answer: pieces that are generated when they are sent.
struct Body: Sendable {
    /// One stretch of bytes.
    enum Piece: Sendable {
        case bytes([UInt8])
        case media(Media, Range<Int>)

        var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .media(_, let range): range.count
            }
        }
    }

    private let pieces: [Piece]
    /// Where each piece begins, and finally where the body ends.
    private let starts: [Int]

    init(_ pieces: [Piece]) {
        self.pieces = pieces.filter { $0.count > 0 }
        starts = self.pieces.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
    }

    init(text: String) { self.init([.bytes(Array(text.utf8))]) }

    static let empty = Body([])

    /// How many bytes it has.
    var count: Int { starts.last ?? 0 }

    /// Writes the bytes from `offset` on into the buffer.
    ///
    /// - Parameters:
    ///   - offset: the first byte.
    ///   - buffer: filled from its start.
    /// - Returns: how many bytes were written; 0 at the end.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        var index = pieceIndex(at: offset)
        while done < buffer.count, index < pieces.count {
            let within = offset + done - starts[index]
            let part = min(buffer.count - done, pieces[index].count - within)
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + part])
            switch pieces[index] {
            case .bytes(let bytes):
                unsafe bytes.withUnsafeBytes {
                    unsafe target.copyMemory(from: .init(rebasing: $0[within..<within + part]))
                }
            case .media(let media, let range): unsafe media.read(at: range.lowerBound + within, into: target)
            }
            done += part
            index += 1
        }
        return done
    }

    /// The piece that holds this byte, by bisection.
    private func pieceIndex(at offset: Int) -> Int {
        var low = 0
        var high = pieces.count
        while low < high {
            let middle = (low + high) / 2
            if starts[middle + 1] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Body {
    /// The media as a gzip file of stored blocks (RFC 1952, RFC 1951 section 3.2.4): a real content coding that needs
    /// no compression.
    static func gzip(_ media: Media) -> Body {
        let blockSize = 65535
        var pieces: [Piece] = [.bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])]
        var crc: UInt32 = 0
        var buffer = [UInt8](repeating: 0, count: blockSize)
        for start in stride(from: 0, to: media.count, by: blockSize) {
            let end = min(start + blockSize, media.count)
            let length = UInt16(end - start)
            crc = unsafe buffer.withUnsafeMutableBytes { bytes in
                let slice = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<(end - start)])
                unsafe media.read(at: start, into: slice)
                guard let base = slice.baseAddress else { return crc }
                return unsafe csandbox_crc32(crc, base.assumingMemoryBound(to: UInt8.self), end - start)
            }
            pieces.append(.bytes([end == media.count ? 1 : 0] + littleEndian(length) + littleEndian(~length)))
            pieces.append(.media(media, start..<end))
        }
        if media.count == 0 { pieces.append(.bytes([1, 0, 0, 255, 255])) }
        pieces.append(.bytes(littleEndian(crc) + littleEndian(UInt32(truncatingIfNeeded: media.count))))
        return Body(pieces)
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
