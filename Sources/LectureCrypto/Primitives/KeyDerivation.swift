import COpenSSL
package import LectureModel

/// Keys from other keys, and from passphrases.
package enum KeyDerivation {
    /// HMAC with SHA-256 (RFC 2104).
    ///
    /// - Parameters:
    ///   - key: of any length.
    ///   - message: what is authenticated.
    /// - Returns: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func hmac(_ key: SecretBytes, _ message: [UInt8]) throws(LectureError) -> [UInt8] {
        try hmac(key, message, .sha256)
    }

    static func hmac(_ key: SecretBytes, _ message: [UInt8], _ digest: SHA2) throws(LectureError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: digest.length)
        var length: UInt32 = 0
        let isMade = unsafe key.withOctets { start in
            unsafe HMAC(digest.method, start, Int32(key.count), message, message.count, &tag, &length) != nil
        }
        guard isMade, Int(length) == tag.count else { throw OpenSSLFailure.drain("HMAC") }
        return tag
    }

    /// HKDF with SHA-256 (RFC 5869): extract, then expand.
    ///
    /// - Parameters:
    ///   - key: the input key material.
    ///   - salt: may be empty.
    ///   - info: the purpose of the new key; at most 1,024 bytes, which is OpenSSL's limit.
    ///   - count: the length of the new key in bytes, 1…8,160.
    /// - Returns: the new key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for a length out of range, or
    ///   ``LectureError/Code/cryptography``.
    package static func hkdf(
        _ key: SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(LectureError) -> SecretBytes {
        guard (1...255 * 32).contains(count), info.count <= 1024 else {
            throw LectureError(.parameter, detail: "key derivation", cause: "a length is out of range")
        }
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else {
            throw OpenSSLFailure.drain("EVP_PKEY_CTX_new_id HKDF")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let isReady = unsafe key.withOctets { start in
            unsafe EVP_PKEY_derive_init(context) == 1
                && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
                && EVP_PKEY_CTX_set1_hkdf_key(context, start, Int32(key.count)) == 1
                && (salt.isEmpty || EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1)
                && (info.isEmpty || EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1)
        }
        guard isReady else { throw OpenSSLFailure.drain("EVP_PKEY_derive_init HKDF") }
        return try unsafe SecretBytes(count: count) { buffer throws(LectureError) in
            var length = count
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard unsafe EVP_PKEY_derive(context, start, &length) == 1, length == count else {
                throw OpenSSLFailure.drain("EVP_PKEY_derive HKDF")
            }
        }
    }

    /// The key for AES-256-KW from an agreed secret: one round of the Concat KDF (RFC 7518 section 4.6.2, NIST SP
    /// 800-56A section 5.8.1), which is all that 256 bits need.
    ///
    /// - Parameters:
    ///   - secret: the x coordinate that both sides have.
    ///   - algorithm: the name of the key's algorithm.
    ///   - partyU: `apu` of the header, decoded.
    ///   - partyV: `apv` of the header, decoded.
    /// - Returns: 32 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    static func concat(
        _ secret: SecretBytes, algorithm: String, partyU: [UInt8], partyV: [UInt8]
    ) throws(LectureError) -> SecretBytes {
        let running = try SHA256Digest(SHA256Algorithm())
        feed(bigEndian(1), to: running)
        unsafe secret.withBytes { unsafe running.update($0) }
        for part in [Array(algorithm.utf8), partyU, partyV] { feed(bigEndian(UInt32(part.count)) + part, to: running) }
        feed(bigEndian(256), to: running)
        var key = try running.finish()
        defer { unsafe OPENSSL_cleanse(&key, key.count) }
        return try SecretBytes(copying: key)
    }

    /// A key from a passphrase by scrypt (RFC 7914).
    ///
    /// - Parameters:
    ///   - passphrase: its UTF-8.
    ///   - salt: new for every use.
    ///   - cost: the parameters.
    ///   - count: the length of the key in bytes.
    /// - Returns: the key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    static func scrypt(
        _ passphrase: SecretBytes, salt: [UInt8], cost: ScryptCost, count: Int
    ) throws(LectureError) -> SecretBytes {
        try unsafe SecretBytes(count: count) { buffer throws(LectureError) in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let result = unsafe passphrase.withOctets { text in
                unsafe text.withMemoryRebound(to: CChar.self, capacity: passphrase.count) { text in
                    unsafe EVP_PBE_scrypt(
                        text, passphrase.count, salt, salt.count, 1 << UInt64(cost.logN), UInt64(cost.r),
                        UInt64(cost.p), UInt64(ScryptCost.memoryLimit), start, count)
                }
            }
            guard result == 1 else { throw OpenSSLFailure.drain("EVP_PBE_scrypt") }
        }
    }

    /// Four bytes, big endian.
    static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
    }

    private static func feed(_ bytes: [UInt8], to running: SHA256Digest) {
        unsafe bytes.withUnsafeBytes { unsafe running.update($0) }
    }
}

/// The cost of scrypt: memory is 128 · r · 2^logN bytes, work p times that.
package struct ScryptCost: Hashable, Sendable {
    /// The logarithm of N.
    package var logN: UInt8
    /// The block size r.
    package var r: UInt8
    /// The parallelisation p.
    package var p: UInt8

    /// The most memory in bytes for a derivation: a foreign file names its own cost.
    static let memoryLimit = 300 << 20

    /// Makes a cost. The default needs 128 MiB and about half a second.
    ///
    /// - Parameters:
    ///   - logN: the logarithm of N.
    ///   - r: the block size.
    ///   - p: the parallelisation.
    package init(logN: UInt8 = 17, r: UInt8 = 8, p: UInt8 = 1) {
        self.logN = logN
        self.r = r
        self.p = p
    }

    /// Whether a file may ask for this cost.
    var isPermitted: Bool {
        (10...20).contains(logN) && (1...16).contains(r) && (1...4).contains(p) && 128 * Int(r) << Int(logN) < 256 << 20
    }
}
