import COpenSSL
import LectureModel

/// An owned `EVP_PKEY`.
///
/// `@unchecked Sendable`: the key is not changed after `init`, and OpenSSL's operations on it make their own contexts;
/// its reference count is atomic.
@safe final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the reference; it is released with the object.
    init(takingOwnership pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Reads a `SubjectPublicKeyInfo` without trailing bytes.
    static func publicKey(der: [UInt8]) throws(LectureError) -> KeyHandle {
        let handle: KeyHandle? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let end = unsafe cursor.map { unsafe $0 + buffer.count }
            guard let key = unsafe d2i_PUBKEY(nil, &cursor, buffer.count) else { return nil }
            let handle = unsafe KeyHandle(takingOwnership: key)
            return unsafe cursor == end ? handle : nil
        }
        guard let handle else { throw OpenSSLFailure.drain("d2i_PUBKEY") }
        return handle
    }

    /// The DER form of the public half.
    func publicDER() throws(LectureError) -> [UInt8] {
        let length = unsafe i2d_PUBKEY(pointer, nil)
        guard length > 0 else { throw OpenSSLFailure.drain("i2d_PUBKEY") }
        var bytes = [UInt8](repeating: 0, count: Int(length))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe i2d_PUBKEY(pointer, &cursor)
        }
        guard written == length else { throw OpenSSLFailure.drain("i2d_PUBKEY") }
        return bytes
    }

    /// One number of the key, big endian without leading zeros.
    func number(_ name: String) throws(LectureError) -> [UInt8] {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number = unsafe number else {
            throw OpenSSLFailure.drain("EVP_PKEY_get_bn_param")
        }
        defer { unsafe BN_clear_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(unsafe BN_num_bits(number) + 7) / 8)
        guard unsafe bytes.isEmpty || BN_bn2bin(number, &bytes) == Int32(bytes.count) else {
            throw OpenSSLFailure.drain("BN_bn2bin")
        }
        return bytes
    }

    /// Runs a closure with a context for one operation on this key.
    func withContext<Result>(
        _ body: (OpaquePointer) throws(LectureError) -> Result
    ) throws(LectureError) -> Result {
        guard let context = unsafe EVP_PKEY_CTX_new(pointer, nil) else {
            throw OpenSSLFailure.drain("EVP_PKEY_CTX_new")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return try unsafe body(context)
    }
}

/// Why a key is refused, as a sentence that does not contain the key.
package struct KeyRefusal: Error, Hashable, Sendable {
    /// What is wrong, without a full stop.
    package let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

/// How a signature of a public key algorithm is made.
enum SignatureScheme: Hashable, Sendable {
    /// ECDSA on P-256 with SHA-256; signatures are r‖s.
    case ecdsaP256
    /// Ed25519 (RFC 8032).
    case ed25519
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    case rsaPKCS1(SHA2)
    /// RSASSA-PSS with MGF1 of the same digest and a salt of its length (RFC 8017 section 8.1).
    case rsaPSS(SHA2)

    /// Sets the parameters of a context for signing or verifying beyond digest and key.
    func prepare(_ context: OpaquePointer?) -> Bool {
        guard case .rsaPSS(let digest) = self else { return true }
        return unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
            && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.method) == 1
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, Int32(digest.length)) == 1
    }

    /// The digest of the message; none for Ed25519, which digests by itself.
    var digest: SHA2? {
        switch self {
        case .ecdsaP256: .sha256
        case .ed25519: nil
        case .rsaPKCS1(let digest), .rsaPSS(let digest): digest
        }
    }
}

/// The digests of the SHA-2 family that signatures use.
enum SHA2: Hashable, Sendable {
    /// SHA-256.
    case sha256
    /// SHA-384.
    case sha384
    /// SHA-512.
    case sha512

    /// The length of a digest in bytes.
    var length: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// OpenSSL's name of it.
    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    /// OpenSSL's method, static and never freed.
    var method: OpaquePointer? {
        switch self {
        case .sha256: unsafe EVP_sha256()
        case .sha384: unsafe EVP_sha384()
        case .sha512: unsafe EVP_sha512()
        }
    }
}

/// A checked public key: only these kinds exist, and none has a known weakness.
struct PublicKey: Sendable {
    /// What kind of key it is, and its parts as RFC 7518 names them.
    enum Parts: Hashable, Sendable {
        /// A point on P-256; 32 bytes each.
        case p256(x: [UInt8], y: [UInt8])
        /// An Ed25519 key of 32 bytes.
        case ed25519([UInt8])
        /// Modulus and exponent, big endian without leading zeros.
        case rsa(modulus: [UInt8], exponent: [UInt8])
    }

    let parts: Parts
    let handle: KeyHandle
    private let verifications = PreparedVerifications()

    /// Checks the parts of a key.
    ///
    /// - Throws: ``KeyRefusal`` with a sentence.
    init(_ parts: Parts) throws(KeyRefusal) {
        self.parts = parts
        switch parts {
        case .p256(let x, let y):
            guard x.count == 32, y.count == 32 else { throw KeyRefusal("a coordinate on P-256 has 32 bytes") }
            handle = try Self.load(DER.p256Prefix + [4] + x + y, "the point is not on P-256")
        case .ed25519(let bytes):
            guard bytes.count == 32 else { throw KeyRefusal("an Ed25519 key has 32 bytes") }
            if let weakness = Ed25519Point.weakness(bytes) { throw KeyRefusal(weakness) }
            handle = try Self.load(DER.ed25519Prefix + bytes, "this is not an Ed25519 key")
        case .rsa(let modulus, let exponent):
            if let weakness = RSANumbers.weakness(modulus: modulus, exponent: exponent) { throw KeyRefusal(weakness) }
            let der = DER.rsaPublicKey(modulus: modulus, exponent: exponent)
            handle = try Self.load(der, "this is not an RSA key")
        }
    }

    private static func load(_ der: [UInt8], _ sentence: String) throws(KeyRefusal) -> KeyHandle {
        do {
            let handle = try KeyHandle.publicKey(der: der)
            let isSound = try unsafe handle.withContext { context in unsafe EVP_PKEY_public_check(context) == 1 }
            ERR_clear_error()
            if isSound { return handle }
        } catch { ERR_clear_error() }
        throw KeyRefusal(sentence)
    }

    /// Whether a signature is right. Any failure inside OpenSSL means that it is not: the key was checked before, so
    /// only the signature can fail.
    ///
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when there is no memory.
    func verifies(_ signature: [UInt8], of message: [UInt8], _ scheme: SignatureScheme) throws(LectureError) -> Bool {
        guard let signature = encoded(signature, scheme) else { return false }
        return try verifications.verification(handle, scheme).verifies(signature, of: message)
    }

    /// The signature in OpenSSL's form, or nil when it cannot be one: of another length, or with r or s out of range.
    private func encoded(_ signature: [UInt8], _ scheme: SignatureScheme) -> [UInt8]? {
        switch (scheme, parts) {
        case (.ecdsaP256, .p256):
            let (r, s) = (signature.prefix(32), signature.dropFirst(32))
            guard signature.count == 64, P256Scalar.isValid(r), P256Scalar.isValid(s) else { return nil }
            return DER.sequence(DER.integer(r), DER.integer(s))
        case (.ed25519, .ed25519): return signature.count == 64 ? signature : nil
        case (.rsaPKCS1, .rsa(let modulus, _)), (.rsaPSS, .rsa(let modulus, _)):
            return signature.count == modulus.count ? signature : nil
        case (.ecdsaP256, _), (.ed25519, _), (.rsaPKCS1, _), (.rsaPSS, _): return nil
        }
    }
}
