/// Seals and opens the files of one lecture with its key, without exposing the key. The format is in
/// docs/sealed-file.md.
package protocol ContentCipher: Sendable {
    /// Computes the proofs of chunks, over their plaintext, under a key derived from the lecture's: the database must
    /// not reveal anything about the bytes.
    var digests: any DigestMaker { get }
    /// Generates a header for a new file.
    ///
    /// - Returns: ``SealedFormat/headerBytes`` bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func newHeader() throws(LectureError) -> [UInt8]
    /// Seals under one header; refuses to seal a segment twice.
    ///
    /// - Parameters:
    ///   - header: of the file.
    ///   - sealedBefore: the segments already sealed under it.
    /// - Returns: the sealer.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` for bytes that are not a header, or
    ///   ``LectureError/Code/cryptography``.
    func sealer(header: [UInt8], sealedBefore: Set<Int>) throws(LectureError) -> any SegmentSealing
    /// Creates an opener for a header.
    ///
    /// - Parameter header: of the file.
    /// - Returns: the opener.
    /// - Throws: as ``sealer(header:sealedBefore:)``.
    func opener(header: [UInt8]) throws(LectureError) -> any SegmentOpening
    /// Seals received bytes of a chunk that is not whole yet, under a key of its own.
    ///
    /// - Parameters:
    ///   - bytes: the plaintext.
    ///   - place: what they are bound to: ``ChunkPiece/place(_:start:)``.
    /// - Returns: a random nonce of 12 bytes, the ciphertext, and the tag of 16.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func seal(piece bytes: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8]
    /// Opens such bytes.
    ///
    /// - Parameters:
    ///   - box: the result of ``seal(piece:place:)``.
    ///   - place: what they must be bound to.
    /// - Returns: the plaintext; nil when it is not what was sealed for this place.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func open(piece box: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8]?
}

/// Seals the segments of one file.
package protocol SegmentSealing: Sendable {
    /// Seals one segment.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - isLast: whether the file ends with it.
    ///   - plaintext: its plaintext.
    ///   - ciphertext: takes ``SealedFormat/tagBytes`` more. May begin where the plaintext does.
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

/// The public constants of the sealed format: Tink's AES256_GCM_HKDF_1MB.
package enum SealedFormat {
    /// The length of the header.
    package static let headerBytes = 40
    /// The length of a segment's tag.
    package static let tagBytes = 16
    /// The length of a segment with its tag; the first one's includes the header.
    package static let segmentBytes = 1 << 20
    /// The plaintext length of a segment, except the first, which has ``headerBytes`` less.
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

/// The purpose of a lecture's key. Stored, and each wrapped under a key of its own. Raw values are frozen.
package enum SealPurpose: Int, Sendable, CaseIterable {
    /// The media needs no licence; it is sealed because the store seals everything.
    case unlicensed = 0
    /// The media needs a licence.
    case licensed = 1
}

/// The key of a lecture as it is stored.
package struct WrappedKey: Hashable, Sendable {
    /// The key, wrapped: 40 bytes.
    package let wrapped: [UInt8]
    /// Its purpose.
    package let purpose: SealPurpose
    /// The granting keys of the licence it is bound to; nil for none. It unwraps with no others, so a row that says so
    /// was written with the device's key: it is known whose grants count even if the licence's row was lost.
    package let grantingKeys: GrantingKeys?

    /// Makes a value.
    package init(wrapped: [UInt8], purpose: SealPurpose, grantingKeys: GrantingKeys? = nil) {
        (self.wrapped, self.purpose, self.grantingKeys) = (wrapped, purpose, grantingKeys)
    }
}

/// Creates, wraps and unwraps the keys of lectures with the device's key, without exposing it.
package protocol ContentVault: Sendable {
    /// Generates a key for a lecture.
    ///
    /// - Parameters:
    ///   - key: the lecture; bound to its files.
    ///   - purpose: its purpose.
    ///   - keys: the granting keys of its licence, to which it is bound; nil for none.
    /// - Returns: the cipher, and the key wrapped for the store.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``, or the code with which the device's key
    ///   could not be read or created.
    func newCipher(
        for key: ContentKey, purpose: SealPurpose, boundTo keys: GrantingKeys?
    ) throws(LectureError) -> (any ContentCipher, WrappedKey)
    /// Unwraps a key.
    ///
    /// - Parameters:
    ///   - stored: as stored.
    ///   - key: the lecture.
    /// - Returns: the cipher.
    /// - Throws: ``LectureError`` with ``LectureError/Code/sealedElsewhere`` when another device has wrapped it, or
    ///   anything stored with it was changed.
    func cipher(_ stored: WrappedKey, for key: ContentKey) throws(LectureError) -> any ContentCipher
    /// Whether this device can unwrap a key, without creating a cipher: lists check it for every lecture.
    ///
    /// - Parameter stored: as stored.
    /// - Returns: false when another device has wrapped it, or anything stored with it was changed.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func opens(_ stored: WrappedKey) throws(LectureError) -> Bool
    /// Wraps the same key for other granting keys.
    ///
    /// - Parameters:
    ///   - stored: as stored.
    ///   - keys: what it is bound to from now on.
    /// - Returns: what is stored from now on; nil when this device cannot unwrap it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func bind(_ stored: WrappedKey, to keys: GrantingKeys) throws(LectureError) -> WrappedKey?
}

/// The seal state of a resource's files. Raw values are stored: frozen, never reused.
package enum SealState: Int, Sendable, CaseIterable {
    /// Not sealed.
    case plain = 0
    /// Sealed, and every segment that was ever sealed under the file's header is part of a committed chunk.
    case clean = 1
    /// Sealed, and more may have been sealed under the header than is committed: continuing needs a new one.
    case open = 2
}

/// Decides which resources are sealed and provides their ciphers. Confined to the executor of the store's writer.
package protocol ContentSealing: AnyObject {
    /// The cipher for a lecture's files of one role. Creates and stores the lecture's key on first use. While a lecture
    /// has sealed files it stays the same, and is not nil for their roles, whatever was configured since.
    ///
    /// - Parameters:
    ///   - item: the lecture.
    ///   - role: of the resource.
    ///   - transaction: the rows.
    /// - Returns: nil when such files are kept in clear.
    /// - Throws: ``LectureError``: `sealedElsewhere`, `sealRequired`, `deviceKeyRefused`, `cryptography`, a store's
    ///   code.
    func cipher(
        for item: ItemRecord, role: ResourceRole, in transaction: any StoreTransaction
    ) throws -> (any ContentCipher)?
}
