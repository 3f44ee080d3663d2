import LectureFormats
package import LectureModel

/// A key that signs tokens. Licences are signed by issuers only, never by a playing program: for them it is here for
/// the sandbox's issuer and for tests. A device signs the bundles that it makes.
package struct SigningKey: Sendable {
    private enum Material: Sendable {
        case secret(SecretBytes)
        case privateKey(PrivateKey)
    }

    /// The only algorithm that the key signs with.
    package let algorithm: SignatureAlgorithm
    /// The value of `kid`, if any.
    package let identifier: String?
    private let material: Material

    /// Makes a key for HS256.
    ///
    /// - Parameters:
    ///   - secret: of any length; the verifier decides whether a short one is accepted.
    ///   - identifier: for `kid`.
    package init(secret: SecretBytes, identifier: String? = nil) {
        material = .secret(secret)
        algorithm = .hs256
        self.identifier = identifier
    }

    /// Reads a private key on P-256, of Ed25519 or RSA; they sign with ES256, EdDSA and RS256 or PS256.
    ///
    /// - Parameters:
    ///   - privateKeyDER: PKCS#8 or the traditional form.
    ///   - identifier: for `kid`.
    ///   - usesPSS: whether an RSA key signs with PS256.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` or ``LectureError/Code/cryptography``.
    package init(
        privateKeyDER: [UInt8], identifier: String? = nil, usesPSS: Bool = false
    ) throws(LectureError) {
        self.init(try PrivateKey(der: privateKeyDER), identifier: identifier, usesPSS: usesPSS)
    }

    /// Generates a new key on P-256 for ES256.
    ///
    /// - Parameter identifier: for `kid`.
    /// - Returns: the key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func generateES256(identifier: String? = nil) throws(LectureError) -> SigningKey {
        SigningKey(try PrivateKey.generateP256(), identifier: identifier, usesPSS: false)
    }

    /// Generates a new key of Ed25519 for EdDSA.
    ///
    /// - Parameter identifier: for `kid`.
    /// - Returns: the key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func generateEdDSA(identifier: String? = nil) throws(LectureError) -> SigningKey {
        SigningKey(try PrivateKey(ed25519: try SecretBytes.random(32)), identifier: identifier, usesPSS: false)
    }

    init(_ key: PrivateKey, identifier: String?, usesPSS: Bool) {
        material = .privateKey(key)
        self.identifier = identifier
        algorithm =
            switch key.kind {
            case .p256: .es256
            case .ed25519: .edDSA
            case .rsa: usesPSS ? .ps256 : .rs256
            }
    }

    /// The key that verifies what this one signs.
    ///
    /// - Returns: for HMAC the same secret, however short.
    /// - Throws: ``KeyRefusal`` for an empty secret.
    package func verificationKey() throws(KeyRefusal) -> VerificationKey {
        switch material {
        case .secret(let secret):
            return try VerificationKey(secret: secret, identifier: identifier, isLegacy: true)
        case .privateKey(let key):
            return VerificationKey(.publicKey(key.publicKey), identifier: identifier, algorithms: [algorithm])
        }
    }

    /// The public half as a JWK, nil for HMAC.
    package var publicJWK: String? {
        guard case .privateKey(let key) = material else { return nil }
        return key.publicKey.parts.jwk(identifier: identifier, use: "sig", algorithm: algorithm.rawValue)
    }

    /// Signs a token with `alg` and, if the key has one, `kid`.
    ///
    /// - Parameters:
    ///   - payload: what is signed.
    ///   - type: the value of `typ`, if any.
    ///   - certificates: the contents of `x5c`, DER, the leaf first; none when empty.
    /// - Returns: the compact token in ASCII.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func sign(
        _ payload: [UInt8], type: String? = nil, certificates: [[UInt8]] = []
    ) throws(LectureError) -> [UInt8] {
        let header = JSONWriter.object { writer in
            writer.member("alg", algorithm.rawValue)
            if let type { writer.member("typ", type) }
            if let identifier { writer.member("kid", identifier) }
            if !certificates.isEmpty {
                writer.array("x5c") { writer in
                    for der in certificates { writer.element(Base64.text(der)) }
                }
            }
        }
        return try sign(payload, header: Array(header.utf8))
    }

    /// Signs a token under a given header, which may be invalid.
    ///
    /// - Parameters:
    ///   - payload: what is signed.
    ///   - header: the header's bytes.
    /// - Returns: the compact token in ASCII.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func sign(_ payload: [UInt8], header: [UInt8]) throws(LectureError) -> [UInt8] {
        let text = Array("\(Base64URL.text(header)).\(Base64URL.text(payload))".utf8)
        return text + [UInt8(ascii: ".")] + Array(Base64URL.text(try signature(of: text)).utf8)
    }

    private func signature(of text: [UInt8]) throws(LectureError) -> [UInt8] {
        switch material {
        case .secret(let secret): return try KeyDerivation.hmac(secret, text)
        case .privateKey(let key):
            guard let scheme = algorithm.scheme else { throw LectureError(.bug, detail: "a key without a scheme") }
            return try key.sign(text, scheme)
        }
    }
}

extension PublicKey.Parts {
    /// The key as a JWK with its use.
    func jwk(identifier: String?, use: String, algorithm: String) -> String {
        JSONWriter.object { writer in
            if let identifier { writer.member("kid", identifier) }
            writer.member("use", use)
            writer.member("alg", algorithm)
            switch self {
            case .p256(let x, let y):
                writer.member("kty", "EC")
                writer.member("crv", "P-256")
                writer.member("x", Base64URL.text(x))
                writer.member("y", Base64URL.text(y))
            case .ed25519(let bytes):
                writer.member("kty", "OKP")
                writer.member("crv", "Ed25519")
                writer.member("x", Base64URL.text(bytes))
            case .rsa(let modulus, let exponent):
                writer.member("kty", "RSA")
                writer.member("n", Base64URL.text(modulus))
                writer.member("e", Base64URL.text(exponent))
            }
        }
    }
}
