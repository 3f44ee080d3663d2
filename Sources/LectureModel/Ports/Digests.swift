/// A running digest of bytes in order.
package protocol RunningDigest: AnyObject {
    /// Adds the next bytes. A failure is kept and thrown by ``finish()``, so that the hot path has no error branch.
    ///
    /// - Parameter bytes: in the order of the file.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// Ends and returns the digest. Nothing may follow.
    ///
    /// - Returns: the digest of all bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when a step failed.
    func finish() throws(LectureError) -> [UInt8]
}

/// Computes whole-file digests and proofs of chunks.
///
/// A proof is 28 bytes: a random nonce of 12 and the AES-256-GMAC of 16 (NIST SP 800-38D) under the store's key, over
/// the resource's row (8 bytes big endian), the chunk's index (8 bytes big endian), and the chunk's bytes. It costs a
/// fifth of SHA-256.
package protocol DigestMaker: Sendable {
    /// A SHA-256 (FIPS 180-4), 32 bytes.
    ///
    /// - Returns: a running digest.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func sha256() throws(LectureError) -> any RunningDigest
    /// A new proof with a fresh nonce.
    ///
    /// - Parameters:
    ///   - resource: the row the chunk belongs to.
    ///   - chunk: the index of the chunk.
    /// - Returns: a running digest whose result is the proof.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func proof(resource: ResourceID, chunk: Int) throws(LectureError) -> any RunningDigest
    /// The proof the same bytes would have with the nonce of `proof`; equal bytes give equal proofs.
    ///
    /// The result is for comparing only. It must not be stored in place of `proof`: two different texts under one nonce
    /// reveal the authentication key (NIST SP 800-38D, appendix A).
    ///
    /// - Parameters:
    ///   - proof: 28 bytes from the store.
    ///   - resource: the row the chunk belongs to.
    ///   - chunk: the index of the chunk.
    /// - Returns: a running digest whose result is the proof.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when `proof` has another length, or
    ///   ``LectureError/Code/cryptography``.
    func proof(repeating proof: [UInt8], resource: ResourceID, chunk: Int) throws(LectureError) -> any RunningDigest
    /// Compares in constant time.
    ///
    /// - Parameters:
    ///   - left: a digest or a proof.
    ///   - right: another of the same kind.
    /// - Returns: whether they are the same bytes.
    func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool
}
