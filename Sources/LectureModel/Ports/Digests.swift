/// A running digest of bytes that come in order.
package protocol RunningDigest: AnyObject {
    /// Takes the next bytes.
    ///
    /// - Parameter bytes: in the order of the file.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// Ends and answers the digest. Nothing may follow.
    func finish() -> [UInt8]
}

/// Makes whole-file digests and proofs of chunks.
///
/// A proof is 28 bytes: a random nonce of 12 and the AES-256-GMAC of 16 under the store's key, over the resource's row
/// (8 bytes big endian), the chunk's index (8 bytes), and the chunk's bytes. It costs a fifth of SHA-256.
package protocol DigestMaker: Sendable {
    /// A SHA-256, 32 bytes.
    func sha256() -> any RunningDigest
    /// A new proof with a fresh nonce.
    ///
    /// - Parameters:
    ///   - resource: the row the chunk belongs to.
    ///   - chunk: the index of the chunk.
    /// - Returns: a running digest whose result is the proof.
    func proof(resource: ResourceID, chunk: Int) -> any RunningDigest
    /// The proof that the same bytes would have had with the nonce of `proof`; equal bytes give equal proofs.
    ///
    /// - Parameters:
    ///   - proof: 28 bytes from the store.
    ///   - resource: the row the chunk belongs to.
    ///   - chunk: the index of the chunk.
    /// - Returns: a running digest whose result is the proof.
    func proof(repeating proof: [UInt8], resource: ResourceID, chunk: Int) -> any RunningDigest
    /// Compares without telling by its time where the two differ.
    func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool
}
