import LectureFormats

/// Received bytes of a chunk that is not whole yet.
package struct ChunkPiece: Sendable, Hashable {
    /// The chunk's number, from 0.
    package var chunk: Int
    /// Where its first byte belongs in the resource.
    package var start: UInt64
    /// The bytes.
    package var bytes: [UInt8]

    /// Creates a value.
    package init(chunk: Int, start: UInt64, bytes: [UInt8]) {
        self.chunk = chunk
        self.start = start
        self.bytes = bytes
    }

    /// What a stored piece is bound to: its resource and its place, 8 bytes each, big endian.
    ///
    /// - Parameters:
    ///   - resource: the row.
    ///   - start: where the piece begins in the resource.
    /// - Returns: 16 bytes.
    package static func place(_ resource: ResourceID, start: UInt64) -> [UInt8] {
        resource.value.bigEndianBytes + start.bigEndianBytes
    }
}

/// A ``ChunkPiece`` as it is stored: sealed, or in clear behind its proof.
package struct StoredPiece: Sendable, Hashable {
    /// How much longer ``box`` is than the bytes: a nonce and a tag, or a proof.
    package static let overhead = 28

    /// The chunk's number, from 0.
    package var chunk: Int
    /// Where its first byte belongs in the resource.
    package var start: UInt64
    /// How many bytes of the chunk it has.
    package var count: Int
    /// The protected bytes.
    package var box: [UInt8]

    /// Creates a value.
    package init(chunk: Int, start: UInt64, count: Int, box: [UInt8]) {
        self.chunk = chunk
        self.start = start
        self.count = count
        self.box = box
    }
}
