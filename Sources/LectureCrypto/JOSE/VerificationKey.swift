import LectureFormats
package import LectureModel

/// A key that verifies signatures, with the algorithms it accepts. They belong to the key and never to a token
/// (RFC 8725 section 3.1). A class, since every token has its keys chosen from a list: copies of all their parts would
/// cost as much as the choice.
package final class VerificationKey: Sendable {
    enum Material: Sendable {
        case secret(SecretBytes)
        case publicKey(PublicKey)
    }

    /// The name of the key in `kid`, if it has one.
    package let identifier: String?
    /// The algorithms that may be used with it.
    package let algorithms: Set<SignatureAlgorithm>
    let material: Material

    /// Whether the same key could also sign.
    package var isSecret: Bool {
        if case .secret = material { true } else { false }
    }

    init(_ material: Material, identifier: String?, algorithms: Set<SignatureAlgorithm>) {
        self.material = material
        self.identifier = identifier
        self.algorithms = algorithms
    }

    /// Makes a key for HMAC.
    ///
    /// - Parameters:
    ///   - secret: at least as long as the digest (RFC 7518 section 3.2); with `isLegacy` at least one byte.
    ///   - identifier: the name in `kid`.
    ///   - algorithm: one of the HMAC algorithms.
    ///   - isLegacy: whether the configuration permits a short secret, as some old servers have.
    /// - Throws: ``KeyRefusal``.
    package convenience init(
        secret: SecretBytes, identifier: String? = nil, algorithm: SignatureAlgorithm = .hs256, isLegacy: Bool = false
    ) throws(KeyRefusal) {
        guard let digest = algorithm.secretDigest else {
            throw KeyRefusal("a secret is not for \(algorithm.rawValue)")
        }
        let least = isLegacy ? 1 : digest.length
        guard secret.count >= least else {
            throw KeyRefusal("a secret for \(algorithm.rawValue) needs \(least) bytes or more")
        }
        self.init(.secret(secret), identifier: identifier, algorithms: [algorithm])
    }

    convenience init(_ key: PublicKey, identifier: String? = nil) {
        self.init(.publicKey(key), identifier: identifier, algorithms: SignatureAlgorithm.all(for: key.parts))
    }

    /// Whether a signature is right under this key; never for an algorithm that the key does not accept. Tokens are
    /// judged by ``TokenVerifier``, which also reads their headers.
    ///
    /// - Parameters:
    ///   - signature: as RFC 7518 section 3 writes it, so r‖s for ES256.
    ///   - message: what was signed.
    ///   - algorithm: the claimed algorithm.
    /// - Returns: whether it is right.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when OpenSSL cannot judge.
    package func verifies(
        _ signature: [UInt8], of message: [UInt8], _ algorithm: SignatureAlgorithm
    ) throws(LectureError) -> Bool {
        guard algorithms.contains(algorithm) else { return false }
        switch material {
        case .secret(let secret):
            guard let digest = algorithm.secretDigest else { return false }
            return OpenSSLDigests.equal(try KeyDerivation.hmac(secret, message, digest), signature)
        case .publicKey(let key):
            guard let scheme = algorithm.scheme else { return false }
            return try key.verifies(signature, of: message, scheme)
        }
    }

    /// The thumbprint of the key (RFC 7638): SHA-256 over its required members in order.
    ///
    /// - Returns: 32 bytes as base64url.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func thumbprint() throws(LectureError) -> String {
        switch material {
        case .secret(let secret):
            // The text contains the secret, but only its digest leaves this function.
            let text = #"{"k":"\#(Base64URL.text(secret.exposed()))","kty":"oct"}"#
            return try Self.digest(text)
        case .publicKey(let key): return try Self.digest(key.parts.canonicalText)
        }
    }

    /// The name under which a licence remembers the key that granted it. Like ``thumbprint()`` for a public key; for a
    /// secret a code under it over a fixed text, which is no digest of the secret and no signature of any token.
    ///
    /// - Returns: 32 bytes as base64url.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func signerThumbprint() throws(LectureError) -> String {
        guard case .secret(let secret) = material else { return try thumbprint() }
        return Base64URL.text(try KeyDerivation.hmac(secret, Array("lecturekit/granting-key/1".utf8)))
    }

    static func digest(_ text: String) throws(LectureError) -> String {
        let running = try SHA256Digest(SHA256Algorithm())
        unsafe Array(text.utf8).withUnsafeBytes { unsafe running.update($0) }
        return Base64URL.text(try running.finish())
    }
}

extension PublicKey.Parts {
    /// The required members of the key's JWK in lexicographic order, without spaces (RFC 7638 section 3.2).
    var canonicalText: String {
        switch self {
        case .p256(let x, let y):
            #"{"crv":"P-256","kty":"EC","x":"\#(Base64URL.text(x))","y":"\#(Base64URL.text(y))"}"#
        case .ed25519(let bytes): #"{"crv":"Ed25519","kty":"OKP","x":"\#(Base64URL.text(bytes))"}"#
        case .rsa(let modulus, let exponent):
            #"{"e":"\#(Base64URL.text(exponent))","kty":"RSA","n":"\#(Base64URL.text(modulus))"}"#
        }
    }
}
