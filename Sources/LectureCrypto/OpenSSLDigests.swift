import COpenSSL
package import LectureModel

/// Digests and proofs by OpenSSL 3.
package struct OpenSSLDigests: DigestMaker {
    private let key: ChunkTagKey
    private let digest: SHA256Algorithm
    private let mac: GMACAlgorithm

    /// Fetches the algorithms and takes a copy of the key.
    ///
    /// - Parameter proofKey: the store's key for proofs, 32 bytes from ``SecureRandom``.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a key of another length, or
    ///   ``LectureError/Code/cryptography`` when OpenSSL lacks an algorithm.
    package init(proofKey: [UInt8]) throws(LectureError) {
        key = try ChunkTagKey(copying: proofKey)
        digest = try SHA256Algorithm()
        mac = try GMACAlgorithm()
    }

    /// As ``init(proofKey:)-([UInt8])``, for a key that must not be in an array.
    ///
    /// - Parameter proofKey: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` or ``LectureError/Code/cryptography``.
    package init(proofKey: SecretBytes) throws(LectureError) {
        key = try ChunkTagKey(copying: proofKey)
        digest = try SHA256Algorithm()
        mac = try GMACAlgorithm()
    }

    /// A SHA-256 that takes bytes incrementally.
    package func sha256() throws(LectureError) -> any RunningDigest { try SHA256Digest(digest) }

    /// A new proof of a chunk, under a random nonce that no other proof has.
    package func proof(resource: ResourceID, chunk: Int) throws(LectureError) -> any RunningDigest {
        let nonce = try SecureRandom.bytes(ChunkTag.nonceLength)
        return try ChunkTag(mac, key: key, nonce: nonce, resource: resource, chunk: chunk)
    }

    /// The proof of a chunk computed under the nonce of a stored one, to be compared with it.
    package func proof(
        repeating proof: [UInt8], resource: ResourceID, chunk: Int
    ) throws(LectureError) -> any RunningDigest {
        guard proof.count == ChunkTag.length else {
            throw LectureError(.damaged, detail: "the proof of chunk \(chunk)", cause: "\(proof.count) bytes")
        }
        let nonce = Array(proof.prefix(ChunkTag.nonceLength))
        return try ChunkTag(mac, key: key, nonce: nonce, resource: resource, chunk: chunk)
    }

    /// Compares two proofs or digests in constant time.
    package func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { Self.equal(left, right) }

    /// Compares two secrets or digests; the time depends only on their length, never on where they differ. All such
    /// comparisons are made here.
    ///
    /// - Parameters:
    ///   - left: some bytes.
    ///   - right: some bytes.
    /// - Returns: whether they are the same bytes.
    package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe CRYPTO_memcmp(left, right, left.count) == 0
    }

    /// The SHA-256 of bytes that are in memory already.
    ///
    /// - Parameter bytes: the whole text.
    /// - Returns: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func sha256(of bytes: [UInt8]) throws(LectureError) -> [UInt8] {
        let running = try SHA256Digest(digest)
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
        return try running.finish()
    }
}
