// Checks of keys that OpenSSL does not make.

/// Numbers modulo the order of P-256.
enum P256Scalar {
    /// The order n of the group (FIPS 186-4, D.1.2.3), big endian.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6,
        0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Whether 32 bytes are a number in 1…n−1.
    static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == 32 && bytes.contains { $0 != 0 } && bytes.lexicographicallyPrecedes(order)
    }
}

/// Public keys of Ed25519 under which a signature proves nothing.
enum Ed25519Point {
    /// 2²⁵⁵ − 19, little endian.
    private static let prime: [UInt8] = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
    /// The y coordinates of the eight points whose order divides 8; the sign bit is not part of them.
    private static let smallOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0, 0xD5, 0xDF,
            0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F, 0x2A, 0x20,
            0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    /// Why a key of 32 bytes is refused, or nil. OpenSSL verifies one fixed signature for any message under a point of
    /// small order (RFC 8725 section 3.4, RFC 8032 section 5.1.7).
    static func weakness(_ key: [UInt8]) -> String? {
        var y = key
        y[31] &= 0x7F
        if !y.reversed().lexicographicallyPrecedes(prime.reversed()) { return "the Ed25519 key is not canonical" }
        return smallOrder.contains(y) ? "the Ed25519 key is a point of small order" : nil
    }
}

/// Numbers of RSA keys.
enum RSANumbers {
    /// The permitted length of a modulus in bits. Shorter ones can be factored, longer ones cost the verifier too much.
    static let permittedBits = 2048...8192
    /// The primes that reveal a modulus of the flawed generator.
    private static let fingerprintPrimes: [UInt32] = [
        3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
        113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ]

    /// Why an RSA key is refused, or nil.
    ///
    /// - Parameters:
    ///   - modulus: big endian without leading zeros.
    ///   - exponent: big endian without leading zeros.
    /// - Returns: a sentence without a full stop.
    static func weakness(modulus: [UInt8], exponent: [UInt8]) -> String? {
        guard let first = modulus.first, first != 0 else { return "the RSA modulus is empty or starts with 0" }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        if !permittedBits.contains(bits) { return "the RSA modulus has \(bits) bits" }
        if modulus.last.map({ $0 & 1 == 0 }) ?? true { return "the RSA modulus is even" }
        guard let top = exponent.first, top != 0, let last = exponent.last else {
            return "the RSA exponent is empty or starts with 0"
        }
        if last & 1 == 0 || exponent == [1] { return "the RSA exponent is even or below 3" }
        // FIPS 186-5 A.1.1 permits exponents below 2²⁵⁶; larger ones only cost the verifier.
        if exponent.count > 32 { return "the RSA exponent is too large" }
        if isOfFlawedGenerator(modulus) { return "the RSA key was made by a flawed generator (CVE-2017-15361)" }
        return nil
    }

    /// Primes of that generator are 65537ᵃ modulo the product of small primes, so the modulus is a power of 65537
    /// modulo each of them; for any other modulus the probability of that is below 2⁻²⁷.
    private static func isOfFlawedGenerator(_ modulus: [UInt8]) -> Bool {
        fingerprintPrimes.allSatisfy { prime in
            let residue = modulus.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % prime }
            var power: UInt32 = 1
            repeat {
                if power == residue { return true }
                power = power * (65_537 % prime) % prime
            } while power != 1
            return false
        }
    }
}
