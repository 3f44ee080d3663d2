package import LectureModel

/// The content keys of lectures, wrapped under the device's key.
package struct DeviceVault: ContentVault {
    private let device: DeviceKey

    /// Makes a vault.
    ///
    /// - Parameter device: wraps and unwraps; another device's key opens nothing.
    package init(_ device: DeviceKey) { self.device = device }

    /// Generates 32 random bytes and wraps them.
    package func newCipher(
        for key: ContentKey, purpose: SealPurpose, boundTo keys: GrantingKeys? = nil
    ) throws(LectureError) -> (any ContentCipher, WrappedKey) {
        let contentKey = try SecretBytes.random(AESGCM.keyLength)
        let wrapped = try device.wrap(contentKey, for: purpose, boundTo: keys)
        return (
            try SealedContent(contentKey, content: key.text),
            WrappedKey(wrapped: wrapped, purpose: purpose, grantingKeys: keys)
        )
    }

    /// Unwraps a key.
    package func cipher(_ stored: WrappedKey, for key: ContentKey) throws(LectureError) -> any ContentCipher {
        guard let contentKey = try unwrap(stored) else { throw LectureError(.sealedElsewhere, detail: key.text) }
        return try SealedContent(contentKey, content: key.text)
    }

    /// Checks whether a key can be unwrapped.
    package func opens(_ stored: WrappedKey) throws(LectureError) -> Bool {
        try device.unwrappedLength(stored.wrapped, for: stored.purpose, boundTo: stored.grantingKeys)
            == AESGCM.keyLength
    }

    /// Wraps the same key for other granting keys.
    package func bind(_ stored: WrappedKey, to keys: GrantingKeys) throws(LectureError) -> WrappedKey? {
        guard let contentKey = try unwrap(stored) else { return nil }
        let wrapped = try device.wrap(contentKey, for: stored.purpose, boundTo: keys)
        return WrappedKey(wrapped: wrapped, purpose: stored.purpose, grantingKeys: keys)
    }

    private func unwrap(_ stored: WrappedKey) throws(LectureError) -> SecretBytes? {
        let key = try device.unwrap(stored.wrapped, for: stored.purpose, boundTo: stored.grantingKeys)
        return key.flatMap { $0.count == AESGCM.keyLength ? $0 : nil }
    }
}

/// The cipher of one lecture.
package struct SealedContent: ContentCipher {
    /// Makes the proofs of the lecture's chunks.
    package let digests: any DigestMaker
    private let contentKey: SecretBytes
    private let associatedData: [UInt8]

    /// Takes a content key.
    ///
    /// - Parameters:
    ///   - contentKey: 32 bytes.
    ///   - content: the key that names the lecture.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for another length, or
    ///   ``LectureError/Code/cryptography``.
    package init(_ contentKey: SecretBytes, content: String) throws(LectureError) {
        self.contentKey = contentKey
        associatedData = SealedFileHeader.associatedData(content: content)
        guard contentKey.count == AESGCM.keyLength else {
            throw LectureError(.parameter, detail: "content key", cause: "it must have \(AESGCM.keyLength) bytes")
        }
        // A separate key, since GMAC is the authentication of GCM: no nonce may be shared with a segment.
        let proofKey = try KeyDerivation.hkdf(
            contentKey, salt: [], info: Array("lecturekit/proofs/1:\(content)".utf8), count: AESGCM.keyLength)
        digests = try OpenSSLDigests(proofKey: proofKey)
    }

    /// Generates a header.
    package func newHeader() throws(LectureError) -> [UInt8] { try SealedFileHeader.random().bytes }

    /// Seals under a header.
    package func sealer(header: [UInt8], sealedBefore: Set<Int>) throws(LectureError) -> any SegmentSealing {
        try SegmentSealer(
            contentKey: contentKey, header: try SealedFileHeader(header), associatedData: associatedData,
            sealedBefore: sealedBefore)
    }

    /// Opens what was sealed under a header.
    package func opener(header: [UInt8]) throws(LectureError) -> any SegmentOpening {
        try PlaceOpener(
            contentKey: contentKey, header: try SealedFileHeader(header), associatedData: associatedData)
    }

    /// Seals received bytes under the key of pieces.
    package func seal(piece bytes: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8] {
        let nonce = try SecureRandom.bytes(AESGCM.nonceLength)
        return nonce + (try AESGCM().seal(bytes, key: try pieceKey(), nonce: nonce, associated: place))
    }

    /// Opens received bytes.
    package func open(piece box: [UInt8], place: [UInt8]) throws(LectureError) -> [UInt8]? {
        let nonce = Array(box.prefix(AESGCM.nonceLength))
        guard nonce.count == AESGCM.nonceLength else { return nil }
        let sealed = Array(box.dropFirst(nonce.count))
        return try AESGCM().open(sealed, key: try pieceKey(), nonce: nonce, associated: place)
    }

    /// A key of its own for each purpose: the nonces of pieces are random, those of segments are not.
    private func pieceKey() throws(LectureError) -> SecretBytes {
        try KeyDerivation.hkdf(
            contentKey, salt: [], info: Array("lecturekit/pieces/1:".utf8) + associatedData, count: AESGCM.keyLength)
    }
}

extension SegmentSealer: SegmentSealing {}

/// Opens segments whose position the caller knows: an unfinished file has no length to derive it from.
final class PlaceOpener: SegmentOpening {
    private let header: SealedFileHeader
    private let key: SecretBytes
    private let cipher: AESGCM

    /// Derives the key of a file.
    ///
    /// - Parameters:
    ///   - contentKey: 32 bytes.
    ///   - header: of the file.
    ///   - associatedData: the data bound to the file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` or ``LectureError/Code/cryptography``.
    init(contentKey: SecretBytes, header: SealedFileHeader, associatedData: [UInt8]) throws(LectureError) {
        self.header = header
        key = try header.segmentKey(contentKey, associatedData)
        cipher = try AESGCM()
    }

    func open(
        segment: Int, isLast: Bool, _ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer
    ) throws(LectureError) {
        guard let index = UInt32(exactly: segment), ciphertext.count >= AESGCM.tagLength,
            plaintext.count == ciphertext.count - AESGCM.tagLength,
            try unsafe cipher.open(
                ciphertext, into: plaintext, key: key, nonce: header.nonce(segment: index, isLast: isLast))
        else {
            throw LectureError(.damaged, detail: "segment \(segment)", cause: "it is not the one that was sealed here")
        }
    }
}
