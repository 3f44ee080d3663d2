import CGnuTLS

/// An incremental SHA-256.
@safe
package struct SHA256Hasher: ~Copyable {
    private var handle: gnutls_hash_hd_t?

    /// Starts with no bytes.
    package init() { _ = unsafe gnutls_hash_init(&handle, GNUTLS_DIG_SHA256) }

    deinit { if let handle = unsafe handle { unsafe gnutls_hash_deinit(handle, nil) } }

    /// Takes the next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let handle = unsafe handle, let base = bytes.baseAddress else { return }
        unsafe gnutls_hash(handle, base, bytes.count)
    }

    /// The digest of all bytes so far, 32 bytes; starts again.
    package mutating func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        guard let handle = unsafe handle else { return digest }
        unsafe digest.withUnsafeMutableBytes { unsafe gnutls_hash_output(handle, $0.baseAddress) }
        return digest
    }
}

/// SHA-256 (FIPS 180-4).
///
/// - Parameter message: what is digested.
/// - Returns: 32 bytes.
package func sha256(_ message: [UInt8]) -> [UInt8] {
    var hasher = SHA256Hasher()
    unsafe message.withUnsafeBytes { unsafe hasher.update($0) }
    return hasher.finish()
}

/// HMAC-SHA256 (RFC 2104).
///
/// - Parameters:
///   - key: the secret.
///   - message: what is signed.
/// - Returns: 32 bytes.
package func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    unsafe key.withUnsafeBytes { key in
        unsafe message.withUnsafeBytes { message in
            unsafe digest.withUnsafeMutableBytes { digest in
                _ = unsafe gnutls_hmac_fast(
                    GNUTLS_MAC_SHA256, key.baseAddress, key.count, message.baseAddress, message.count,
                    digest.baseAddress)
            }
        }
    }
    return digest
}

/// Bytes that cannot be guessed.
///
/// - Parameter count: how many.
/// - Returns: the bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}
