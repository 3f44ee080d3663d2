import COpenSSL
import LectureModel

/// HMAC with SHA-256 (RFC 2104) under one key, prepared once: looking up the digest and hashing the key cost more than
/// a short message does.
///
/// `@unchecked Sendable`: the context is only used inside the lock.
@safe final class KeyedCode: @unchecked Sendable {
    /// The length of a code in bytes.
    static let length = 32
    private let context: OpaquePointer
    private let lock = Guarded(())

    /// Takes a key; OpenSSL keeps its own state of it and clears that with the context.
    ///
    /// - Parameter key: of any length but 0.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(_ key: SecretBytes) throws(LectureError) {
        guard let method = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
            throw OpenSSLFailure.drain("EVP_MAC_fetch HMAC")
        }
        defer { unsafe EVP_MAC_free(method) }
        guard let context = unsafe EVP_MAC_CTX_new(method) else { throw OpenSSLFailure.drain("EVP_MAC_CTX_new") }
        guard unsafe key.withOctets({ unsafe copenssl_hmac_init(context, $0, key.count) }) == 1 else {
            let failure = OpenSSLFailure.drain("EVP_MAC_init")
            unsafe EVP_MAC_CTX_free(context)
            throw failure
        }
        unsafe self.context = context
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// The code over a message.
    ///
    /// - Parameter message: what is authenticated.
    /// - Returns: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func code(_ message: [UInt8]) throws(LectureError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Self.length)
        var written = 0
        let isMade = lock.withLock { _ in
            // Without a key the context restarts with its current key.
            unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                && EVP_MAC_update(context, message, message.count) == 1
                && EVP_MAC_final(context, &code, &written, code.count) == 1
        }
        guard isMade, written == Self.length else { throw OpenSSLFailure.drain("EVP_MAC") }
        return code
    }
}
