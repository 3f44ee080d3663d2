import COpenSSL
import LectureModel

/// The algorithm GMAC, fetched once.
///
/// `@unchecked Sendable`: an `EVP_MAC` does not change after it was fetched, and its reference count is atomic.
@safe final class GMACAlgorithm: @unchecked Sendable {
    fileprivate let method: OpaquePointer

    /// Fetches the algorithm from OpenSSL's providers.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init() throws(LectureError) {
        guard let method = unsafe EVP_MAC_fetch(nil, "GMAC", nil) else {
            throw OpenSSLFailure.drain("EVP_MAC_fetch GMAC")
        }
        unsafe self.method = method
    }

    deinit { unsafe EVP_MAC_free(method) }
}

/// The proof of one chunk in progress: AES-256-GMAC (NIST SP 800-38D) over the chunk's position and its bytes. Used by
/// one thread at a time.
///
/// Random nonces of 96 bits keep the probability of a repetition below 2⁻³² up to 2³² proofs under one key (SP 800-38D,
/// section 8.3): 4 PiB of chunks of 1 MiB, more than any store writes.
@safe final class ChunkTag: RunningDigest {
    /// The length of a nonce in bytes.
    static let nonceLength = 12
    /// The length of a tag in bytes.
    static let tagLength = 16
    /// The length of a whole proof in bytes.
    static let length = nonceLength + tagLength

    private let context: OpaquePointer
    private let nonce: [UInt8]
    private var failure: LectureError?

    /// Starts a proof.
    ///
    /// - Parameters:
    ///   - algorithm: fetched before.
    ///   - key: the store's key.
    ///   - nonce: 12 bytes, new for everything that is stored.
    ///   - resource: the row the chunk belongs to.
    ///   - chunk: the index of the chunk.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(
        _ algorithm: GMACAlgorithm, key: ChunkTagKey, nonce: [UInt8], resource: ResourceID, chunk: Int
    ) throws(LectureError) {
        guard let context = unsafe EVP_MAC_CTX_new(algorithm.method) else {
            throw OpenSSLFailure.drain("EVP_MAC_CTX_new")
        }
        guard unsafe Self.start(context, key: key, nonce: nonce) else {
            let failure = OpenSSLFailure.drain("EVP_MAC_init")
            unsafe EVP_MAC_CTX_free(context)
            throw failure
        }
        unsafe self.context = context
        self.nonce = nonce
        bind(UInt64(bitPattern: resource.value))
        bind(UInt64(bitPattern: Int64(chunk)))
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// Sets cipher, nonce and key.
    private static func start(_ context: OpaquePointer, key: ChunkTagKey, nonce: [UInt8]) -> Bool {
        var nonce = nonce
        return unsafe key.withBytes { key in
            let start = unsafe key.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe copenssl_gmac_init(context, start, key.count, &nonce, nonce.count) == 1
        }
    }

    /// Takes a number of the chunk's position, big endian.
    private func bind(_ number: UInt64) {
        unsafe withUnsafeBytes(of: number.bigEndian) { unsafe update($0) }
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil, unsafe !bytes.isEmpty else { return }
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        if unsafe EVP_MAC_update(context, start, bytes.count) != 1 {
            failure = OpenSSLFailure.drain("EVP_MAC_update")
        }
    }

    func finish() throws(LectureError) -> [UInt8] {
        if let failure { throw failure }
        // A second call must not read a context that OpenSSL has already closed.
        failure = LectureError(.bug, detail: "a proof was finished twice")
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        var written = 0
        guard unsafe EVP_MAC_final(context, &tag, &written, tag.count) == 1, written == Self.tagLength else {
            throw OpenSSLFailure.drain("EVP_MAC_final")
        }
        return nonce + tag
    }
}
