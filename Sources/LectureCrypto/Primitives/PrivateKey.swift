import COpenSSL
import LectureModel

/// A private key of OpenSSL: on P-256, Ed25519 or RSA. Never printed.
struct PrivateKey: Sendable {
    /// What kind of key it is.
    enum Kind: Hashable, Sendable {
        /// On P-256.
        case p256
        /// Ed25519.
        case ed25519
        /// RSA of 2048–8192 bits.
        case rsa
    }

    let handle: KeyHandle
    let kind: Kind
    /// The public half, checked like any public key.
    let publicKey: PublicKey

    /// Checks a key that OpenSSL has read.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for another kind or a weak key.
    init(_ handle: KeyHandle) throws(LectureError) {
        self.handle = handle
        let der = try handle.publicDER()
        do throws(KeyRefusal) {
            publicKey = try PublicKey(try Self.parts(handle, der))
        } catch {
            throw LectureError(.parameter, detail: "private key", cause: error.sentence)
        }
        switch publicKey.parts {
        case .p256: kind = .p256
        case .ed25519: kind = .ed25519
        case .rsa: kind = .rsa
        }
    }

    /// Reads a PKCS#8 or a traditional key in DER.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` or ``LectureError/Code/parameter``.
    init(der: [UInt8]) throws(LectureError) {
        let pointer = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &cursor, buffer.count)
        }
        guard let pointer = unsafe pointer else { throw OpenSSLFailure.drain("d2i_AutoPrivateKey") }
        try self.init(unsafe KeyHandle(takingOwnership: pointer))
    }

    /// Makes a key on P-256 from its number.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` when it is not in 1…n−1.
    init(p256 scalar: SecretBytes) throws(LectureError) {
        guard unsafe scalar.withBytes({ unsafe P256Scalar.isValid($0) }) else {
            throw LectureError(.parameter, detail: "private key", cause: "the number is out of range")
        }
        let count = DER.p256PrivatePrefix.count + scalar.count + DER.p256PrivateSuffix.count
        let der = try unsafe SecretBytes(count: count) { buffer in
            // Piece by piece in place: an array would leave the number in freed memory.
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[DER.p256PrivatePrefix.count...])
            unsafe buffer.copyBytes(from: DER.p256PrivatePrefix)
            unsafe scalar.withBytes { unsafe rest.copyMemory(from: $0) }
            unsafe UnsafeMutableRawBufferPointer(rebasing: rest[scalar.count...]).copyBytes(from: DER.p256PrivateSuffix)
        }
        let pointer = unsafe der.withOctets { start in
            var cursor: UnsafePointer<UInt8>? = unsafe start
            return unsafe d2i_PrivateKey(EVP_PKEY_EC, nil, &cursor, count)
        }
        guard let pointer = unsafe pointer else { throw OpenSSLFailure.drain("d2i_PrivateKey") }
        try self.init(unsafe KeyHandle(takingOwnership: pointer))
    }

    /// Makes an Ed25519 key from its seed of 32 bytes.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    init(ed25519 seed: SecretBytes) throws(LectureError) {
        let pointer = unsafe seed.withOctets {
            unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, $0, seed.count)
        }
        guard let pointer = unsafe pointer else { throw OpenSSLFailure.drain("EVP_PKEY_new_raw_private_key") }
        try self.init(unsafe KeyHandle(takingOwnership: pointer))
    }

    /// Generates a new key on P-256.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    static func generateP256() throws(LectureError) -> PrivateKey {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw OpenSSLFailure.drain("EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var pointer: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &pointer) == 1, let pointer = unsafe pointer
        else { throw OpenSSLFailure.drain("EVP_PKEY_generate") }
        return try PrivateKey(unsafe KeyHandle(takingOwnership: pointer))
    }

    /// The number of a key on P-256.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` for another kind of key.
    func p256Scalar() throws(LectureError) -> SecretBytes {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(handle.pointer, "priv", &number) == 1, let number = unsafe number else {
            throw OpenSSLFailure.drain("EVP_PKEY_get_bn_param")
        }
        defer { unsafe BN_clear_free(number) }
        return try unsafe SecretBytes(count: 32) { buffer throws(LectureError) in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard unsafe BN_bn2binpad(number, start, 32) == 32 else { throw OpenSSLFailure.drain("BN_bn2binpad") }
        }
    }

    /// Signs a message; ECDSA returns r‖s.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func sign(_ message: [UInt8], _ scheme: SignatureScheme) throws(LectureError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLFailure.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var settings: OpaquePointer?
        let method = unsafe scheme.digest.flatMap { unsafe $0.method }
        var length = 0
        guard unsafe EVP_DigestSignInit(context, &settings, method, nil, handle.pointer) == 1,
            unsafe scheme.prepare(settings),
            unsafe EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw OpenSSLFailure.drain("EVP_DigestSignInit") }
        var signature = [UInt8](repeating: 0, count: length)
        guard unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw OpenSSLFailure.drain("EVP_DigestSign")
        }
        signature.removeLast(signature.count - length)
        return scheme == .ecdsaP256 ? try Self.fixedWidth(signature) : signature
    }

    /// The two numbers of a DER signature in 32 bytes each (RFC 7518 section 3.4).
    private static func fixedWidth(_ signature: [UInt8]) throws(LectureError) -> [UInt8] {
        let pair = unsafe signature.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count)
        }
        guard let pair = unsafe pair else { throw OpenSSLFailure.drain("d2i_ECDSA_SIG") }
        defer { unsafe ECDSA_SIG_free(pair) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let isWritten = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(pair), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(pair), start + 32, 32) == 32
        }
        guard isWritten else { throw OpenSSLFailure.drain("BN_bn2binpad") }
        return bytes
    }

    /// The shared secret with a point on P-256: the x coordinate (RFC 7518 section 4.6, NIST SP 800-56A section
    /// 5.7.1.2).
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    func sharedSecret(with peer: PublicKey) throws(LectureError) -> SecretBytes {
        try unsafe handle.withContext { context throws(LectureError) in
            var length = 0
            guard unsafe EVP_PKEY_derive_init(context) == 1,
                unsafe EVP_PKEY_derive_set_peer(context, peer.handle.pointer) == 1,
                unsafe EVP_PKEY_derive(context, nil, &length) == 1, length == 32
            else { throw OpenSSLFailure.drain("EVP_PKEY_derive_init") }
            return try unsafe SecretBytes(count: length) { buffer throws(LectureError) in
                let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard unsafe EVP_PKEY_derive(context, start, &length) == 1, length == buffer.count else {
                    throw OpenSSLFailure.drain("EVP_PKEY_derive")
                }
            }
        }
    }

    /// The parts of the public half, from its DER form.
    static func parts(_ handle: KeyHandle, _ der: [UInt8]) throws(KeyRefusal) -> PublicKey.Parts {
        let point = DER.p256Prefix + [4]
        if der.count == point.count + 64, der.starts(with: point) {
            return .p256(x: Array(der.dropFirst(point.count).prefix(32)), y: Array(der.suffix(32)))
        }
        if der.count == DER.ed25519Prefix.count + 32, der.starts(with: DER.ed25519Prefix) {
            return .ed25519(Array(der.suffix(32)))
        }
        if unsafe EVP_PKEY_get_base_id(handle.pointer) == EVP_PKEY_RSA,
            let modulus = try? handle.number("n"), let exponent = try? handle.number("e")
        {
            return .rsa(modulus: modulus, exponent: exponent)
        }
        throw KeyRefusal("the key is neither on P-256 as a named curve, nor Ed25519, nor RSA")
    }
}
