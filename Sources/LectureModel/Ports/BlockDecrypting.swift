/// Decrypts single blocks of AES-128 in CBC mode (NIST SP 800-38A section 6.2), so that an engine sees how an encrypted
/// segment ends without its media.
package protocol BlockDecrypting: Sendable {
    /// Decrypts blocks that have one key, without looking at padding.
    ///
    /// - Parameters:
    ///   - blocks: in any order.
    ///   - key: 16 bytes; it is overwritten with zeros, whether this succeeds or not.
    /// - Returns: 16 bytes for each block, in the order of the blocks.
    /// - Throws: ``LectureError`` with ``LectureError/Code/streamKey`` for a key, or
    ///   ``LectureError/Code/parameter`` for a block, that has not 16 bytes; ``LectureError/Code/cryptography``.
    func decrypted(_ blocks: [ChainedBlock], clearing key: inout [UInt8]) throws(LectureError) -> [[UInt8]]
}

/// A block of a text in CBC mode, with what it was combined with.
package struct ChainedBlock: Sendable, Hashable {
    /// The length of a block, of a key and of a vector in bytes.
    package static let length = 16
    /// The encrypted block.
    package var bytes: [UInt8]
    /// The encrypted block before it, or the initialisation vector.
    package var previous: [UInt8]

    /// Describes a block.
    ///
    /// - Parameters:
    ///   - bytes: 16 bytes.
    ///   - previous: 16 bytes.
    package init(_ bytes: [UInt8], after previous: [UInt8]) { (self.bytes, self.previous) = (bytes, previous) }
}
