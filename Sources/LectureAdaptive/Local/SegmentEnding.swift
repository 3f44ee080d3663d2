package import LectureFormats
package import LectureModel

/// Why an encrypted segment is none.
package enum SegmentFault: Error, Sendable, Hashable {
    /// The file ends before the byte range of the segment does.
    case outside
    /// Its length is not a positive multiple of a block.
    case notWhole
    /// Its last block does not end in PKCS #7 padding: another key, another segment, or a cut.
    case wrongPadding
    /// It has nothing but padding.
    case empty

    /// What is wrong, in words behind a name.
    package var reason: String {
        switch self {
        case .outside: "it ends before its byte range does"
        case .notWhole: "its length is no multiple of 16 bytes"
        case .wrongPadding: "its key does not decrypt its end"
        case .empty: "nothing is encrypted in it"
        }
    }
}

/// A part of a file that was encrypted with AES-128 as one text: a segment or an initialisation section, that is the
/// whole file or a byte range of it (RFC 8216 section 4.3.2.4).
package struct EncryptedPart: Sendable, Hashable {
    /// The file of the key.
    package var key: String
    /// Its bytes; nil for all of the file.
    package var range: ByteRange?
    /// The initialisation vector, 16 bytes.
    package var vector: [UInt8]

    /// Describes a part.
    ///
    /// - Parameters:
    ///   - key: the file of the key.
    ///   - range: its bytes; nil for all.
    ///   - vector: 16 bytes.
    package init(key: String, range: ByteRange? = nil, vector: [UInt8]) {
        (self.key, self.range, self.vector) = (key, range, vector)
    }

    /// Which bytes show whether it is whole.
    ///
    /// - Parameter total: the length of the file in bytes.
    /// - Returns: its end.
    /// - Throws: ``SegmentFault`` where its length is wrong already: CBC with padding gives whole blocks, and at least
    ///   one (RFC 5652 section 6.3).
    package func ending(inFileOf total: UInt64) throws(SegmentFault) -> SegmentEnding {
        let (start, end) = (range?.start ?? 0, range?.end ?? total)
        guard end <= total else { throw .outside }
        let (length, block) = (end - start, UInt64(ChainedBlock.length))
        guard length % block == 0, let last = ByteRange(start: end - min(length, 2 * block), end: end) else {
            throw .notWhole
        }
        return SegmentEnding(bytes: last, vector: length == block ? vector : nil)
    }
}

/// The end of an encrypted part: its last two blocks, or its only one and the vector.
package struct SegmentEnding: Sendable, Hashable {
    /// Its bytes in the file: 16 or 32.
    package let bytes: ByteRange
    /// The initialisation vector, where it is the only block.
    private let vector: [UInt8]?

    fileprivate init(bytes: ByteRange, vector: [UInt8]?) { (self.bytes, self.vector) = (bytes, vector) }

    /// What is to be decrypted.
    ///
    /// - Parameter read: the bytes of ``bytes``.
    /// - Returns: the last block.
    package func block(of read: [UInt8]) -> ChainedBlock {
        ChainedBlock(
            Array(read.suffix(ChainedBlock.length)), after: vector ?? Array(read.prefix(ChainedBlock.length)))
    }

    /// Judges the last block: so many bytes as its last byte says, at least one, have that value (RFC 5652 section
    /// 6.3). Bytes of another key pass once in 256 times.
    ///
    /// - Parameters:
    ///   - clear: the block, decrypted.
    ///   - mayBeEmpty: whether nothing may be encrypted, as in a segment of subtitles.
    /// - Returns: nil when it ends as it should.
    package func fault(in clear: [UInt8], mayBeEmpty: Bool) -> SegmentFault? {
        guard clear.count == ChainedBlock.length, let count = clear.last.map({ Int($0) }),
            (1...ChainedBlock.length).contains(count), clear.suffix(count).allSatisfy({ Int($0) == count })
        else { return .wrongPadding }
        return vector != nil && count == ChainedBlock.length && !mayBeEmpty ? .empty : nil
    }
}
