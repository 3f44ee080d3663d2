/// Seals and opens the files of one content: the content's key at work, without the key being seen. The format is in
/// docs/sealed-file.md.
package protocol ContentCipher: Sendable {
    /// Makes the proofs of chunks, over their plaintext, under a key that follows from the content's: what lies in the
    /// database must not tell anything of the bytes.
    var digests: any DigestMaker { get }
    /// Draws a header for a new file.
    ///
    /// - Returns: ``SealedFormat/headerBytes`` bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func newHeader() throws(LectureError) -> [UInt8]
    /// Seals under one header; refuses to seal a segment twice.
    ///
    /// - Parameters:
    ///   - header: of the file.
    ///   - sealedBefore: the segments that lie sealed under it already.
    /// - Returns: what seals.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` for bytes that are no header, or
    ///   ``LectureError/Code/cryptography``.
    func sealer(header: [UInt8], sealedBefore: Set<Int>) throws(LectureError) -> any SegmentSealing
    /// Opens what was sealed under a header.
    ///
    /// - Parameter header: of the file.
    /// - Returns: what opens.
    /// - Throws: as ``sealer(header:sealedBefore:)``.
    func opener(header: [UInt8]) throws(LectureError) -> any SegmentOpening
}

/// Seals the segments of one file.
package protocol SegmentSealing: Sendable {
    /// Seals one segment.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - isLast: whether the file ends with it.
    ///   - plaintext: all that it holds.
    ///   - ciphertext: takes ``SealedFormat/tagBytes`` more.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bug`` for a segment that was sealed before.
    func seal(
        segment: Int, isLast: Bool, _ plaintext: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer
    ) throws(LectureError)
}

/// Opens the segments of one file.
package protocol SegmentOpening: Sendable {
    /// Opens one segment.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - isLast: whether the file ends with it.
    ///   - ciphertext: with its tag.
    ///   - plaintext: takes ``SealedFormat/tagBytes`` less.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when it is not the one that was sealed here.
    func open(
        segment: Int, isLast: Bool, _ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
    ) throws(LectureError)
}

/// The numbers of the sealed format that its users need: Tink's AES256_GCM_HKDF_1MB.
package enum SealedFormat {
    /// The length of the header.
    package static let headerBytes = 40
    /// The length of a segment's tag.
    package static let tagBytes = 16
    /// The length of a segment with its tag; the first one's includes the header.
    package static let segmentBytes = 1 << 20
    /// What a segment holds, except the first, which holds ``headerBytes`` less.
    package static let plaintextBytes = segmentBytes - tagBytes

    /// The grid of a sealed resource.
    ///
    /// - Parameter segments: how many segments make a chunk.
    /// - Returns: chunks that are whole segments.
    package static func grid(segments: UInt64) -> ChunkGrid {
        ChunkGrid(length: segments * UInt64(plaintextBytes), lead: UInt64(headerBytes))
    }

    /// The length of the whole file.
    ///
    /// - Parameter total: the length of the plaintext in bytes.
    /// - Returns: the length of the ciphertext in bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/badLength`` for more than a sealed file can hold.
    package static func fileLength(total: UInt64) throws(LectureError) -> UInt64 {
        guard let length = Int(exactly: total), let layout = SealedLayout(plaintextLength: length) else {
            throw LectureError(.badLength, cause: "\(total) bytes")
        }
        return UInt64(layout.ciphertextLength)
    }
}

/// What a content's key is for. Stored, and each wrapped under a key of its own. Raw values are frozen.
package enum SealPurpose: Int, Sendable, CaseIterable {
    /// The media needs no licence; it is sealed because the store seals everything.
    case unlicensed = 0
    /// The media needs a licence.
    case licensed = 1
}

/// Makes, wraps and unwraps the keys of contents: the device's key at work, without it being seen.
package protocol ContentVault: Sendable {
    /// Draws a key for a content.
    ///
    /// - Parameters:
    ///   - key: the content; bound to its files.
    ///   - purpose: what for.
    /// - Returns: the cipher, and the key wrapped for the store.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``, or the code with which the device's key
    ///   could not be read or made.
    func newCipher(for key: ContentKey, purpose: SealPurpose) throws(LectureError) -> (any ContentCipher, [UInt8])
    /// Takes a key out again.
    ///
    /// - Parameters:
    ///   - wrapped: as stored.
    ///   - key: the content.
    ///   - purpose: as stored.
    /// - Returns: the cipher.
    /// - Throws: ``LectureError`` with ``LectureError/Code/sealedElsewhere`` when another device has wrapped it, or the
    ///   purpose or the bytes were changed.
    func cipher(wrapped: [UInt8], for key: ContentKey, purpose: SealPurpose) throws(LectureError) -> any ContentCipher
    /// Whether this device can take a key out, without a cipher being made: lists ask it of every lecture.
    ///
    /// - Parameters:
    ///   - wrapped: as stored.
    ///   - purpose: as stored.
    /// - Returns: false when another device has wrapped it, or the purpose or the bytes were changed.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func opens(wrapped: [UInt8], purpose: SealPurpose) throws(LectureError) -> Bool
}

/// What seals a resource's files. Raw values are stored: frozen, never reused.
package enum SealState: Int, Sendable, CaseIterable {
    /// Nothing: it lies in clear.
    case plain = 0
    /// Sealed, and every segment that was ever sealed under the file's header is part of a proven chunk.
    case clean = 1
    /// Sealed, and more may have been sealed under the header than is proven: whoever goes on makes a new one.
    case open = 2
}

/// Decides which resources are sealed and hands out their ciphers. Confined to the executor of the store's writer.
package protocol ContentSealing: AnyObject {
    /// The cipher for a content's files of one role. Makes and stores the content's key when it is the first time.
    /// While a content has sealed files it stays the same, and is not nil for their roles, whatever was configured
    /// since.
    ///
    /// - Parameters:
    ///   - item: the content.
    ///   - role: of the resource.
    /// - Returns: nil when such files are kept in clear.
    /// - Throws: ``LectureError``: `sealedElsewhere`, `sealRequired`, `deviceKeyRefused`, `cryptography`, a store's
    ///   code.
    func cipher(for item: ItemRecord, role: ResourceRole) throws -> (any ContentCipher)?
}
