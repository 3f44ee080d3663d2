/// Writes the few DER structures (X.690) that pass keys and signatures to OpenSSL. Building a key from fixed bytes
/// rules out other curves and unexpected parameters.
enum DER {
    /// `SubjectPublicKeyInfo` of a key on P-256 up to the point: `id-ecPublicKey`, the named curve, 66 bytes of bits.
    static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    /// `SubjectPublicKeyInfo` of an Ed25519 key up to its 32 bytes (RFC 8410 section 4).
    static let ed25519Prefix: [UInt8] = [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]
    /// `ECPrivateKey` on P-256 without the public key (RFC 5915 section 3): what precedes the 32 bytes.
    static let p256PrivatePrefix: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    /// What follows them: the named curve.
    static let p256PrivateSuffix: [UInt8] = [
        0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    /// The `AlgorithmIdentifier` of `rsaEncryption` with its NULL (RFC 8017 appendix A.1).
    private static let rsaIdentifier: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    /// A `SEQUENCE`.
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap(\.self)) }

    /// A non-negative `INTEGER`.
    ///
    /// - Parameter magnitude: big endian; leading zeros are dropped.
    /// - Returns: its encoding.
    static func integer(_ magnitude: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(magnitude.drop { $0 == 0 })
        let needsZero = digits.first.map { $0 >= 0x80 } ?? true
        return value(0x02, needsZero ? [0] + digits : digits)
    }

    /// `SubjectPublicKeyInfo` of an RSA key.
    static func rsaPublicKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        sequence(rsaIdentifier, value(0x03, [0] + sequence(integer(modulus), integer(exponent))))
    }

    /// `RSAPrivateKey` (RFC 8017 appendix A.1.2) from modulus, exponents, primes, exponents of the primes, coefficient.
    static func rsaPrivateKey(_ numbers: [[UInt8]]) -> [UInt8] {
        value(0x30, integer([0]) + numbers.flatMap { integer($0) })
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length = content.count
        if length < 0x80 { return [tag, UInt8(length)] + content }
        var digits: [UInt8] = []
        while length > 0 {
            digits.insert(UInt8(truncatingIfNeeded: length), at: 0)
            length >>= 8
        }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }
}
