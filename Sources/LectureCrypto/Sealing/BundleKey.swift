import LectureFormats
package import LectureModel

/// The key of one bundle, random: encrypted for each device that may open it, and the source of the content keys of its
/// lectures. No key of the store leaves it.
package struct BundleKey: Sendable {
    private let secret: SecretBytes

    /// Generates a key.
    ///
    /// - Returns: a key that no other bundle has.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func generate() throws(LectureError) -> BundleKey {
        BundleKey(secret: try SecretBytes.random(AESGCM.keyLength))
    }

    private init(secret: SecretBytes) { self.secret = secret }

    /// Encrypts the key for a device (JWE, ECDH-ES+A256KW and A256GCM).
    ///
    /// - Parameter device: from ``BundleRecipient``.
    /// - Returns: the compact token.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func wrapped(for device: BundleRecipient) throws(LectureError) -> String {
        String(decoding: try device.sealer.seal(secret), as: UTF8.self)
    }

    /// Decrypts a key that was encrypted for this device.
    ///
    /// - Parameters:
    ///   - token: from ``wrapped(for:)``.
    ///   - device: the device's key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/bundleNotForDevice``, or
    ///   ``LectureError/Code/cryptography``.
    package init(_ token: String, device: DeviceKey) throws(LectureError) {
        let verdict = try ContentKeyToken.open(Array(token.utf8), with: try device.decryptionKey())
        guard let key = verdict.key, key.count == AESGCM.keyLength else {
            throw LectureError(.bundleNotForDevice, cause: "its key cannot be decrypted with this device's")
        }
        secret = key
    }

    /// The cipher of a lecture's files in the bundle: docs/bundle.md has the derivation.
    ///
    /// - Parameter lecture: the lecture; its key is bound to the files as in a store.
    /// - Returns: a cipher under HKDF-SHA-256 of the bundle's key (RFC 5869).
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func cipher(for lecture: ContentKey) throws(LectureError) -> any ContentCipher {
        let key = try KeyDerivation.hkdf(
            secret, salt: [], info: Array("lecturekit/bundle/1:\(lecture.text)".utf8), count: AESGCM.keyLength)
        return try SealedContent(key, content: lecture.text)
    }
}

/// A device that may open a bundle.
package struct BundleRecipient: Sendable {
    /// The thumbprint of its public key (RFC 7638) as base64url: its player id.
    package let thumbprint: String
    fileprivate let sealer: ContentKeySealer

    /// Takes the public key of a device.
    ///
    /// - Parameter jwk: on P-256, as `lecturectl device show` prints it.
    /// - Throws: ``KeyRefusal``: another kind of key, a private or a broken one, or a `kid` that is not its thumbprint.
    package init(_ jwk: JSONValue) throws(KeyRefusal) {
        thumbprint = try JWK.thumbprint(jwk)
        if let name = jwk["kid"], name.string != thumbprint { throw KeyRefusal("its kid is not its thumbprint") }
        sealer = try ContentKeySealer(jwk)
        guard sealer.algorithm == .ecdhESA256KW else { throw KeyRefusal("a device's key is on P-256") }
    }
}

/// Signs the manifests of bundles.
package struct BundleSigner: Sendable {
    /// The value of `typ` in the manifest's header.
    package static let type = "lecturekit-bundle+jwt"
    /// The value of `typ` in the header of an offer, which another store is sent: docs/peers.md.
    package static let offerType = "lecturekit-offer+jwt"

    private let key: SigningKey
    /// The public half, a JWK.
    package let publicKey: JSONValue
    /// Its thumbprint (RFC 7638) as base64url.
    package let thumbprint: String

    /// Signs as a device.
    ///
    /// - Parameter device: the device's key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package init(device: DeviceKey) throws(LectureError) { try self.init(try device.signingKey()) }

    /// Signs with a key from a file.
    ///
    /// - Parameter pem: PKCS#8 on P-256 or of Ed25519, in PEM or DER.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` for another kind or a broken key, or
    ///   ``LectureError/Code/cryptography``.
    package init(pem: [UInt8]) throws(LectureError) {
        guard let der = try PEM.values(of: pem, .privateKey).first else { throw LectureError(.configuration) }
        let unnamed: SigningKey
        do throws(LectureError) { unnamed = try SigningKey(privateKeyDER: der) } catch {
            throw LectureError(.configuration, detail: "private key", cause: error.cause)
        }
        guard [.es256, .edDSA].contains(unnamed.algorithm) else {
            throw LectureError(.configuration, detail: "private key", cause: "it is neither on P-256 nor of Ed25519")
        }
        let name = try unnamed.verificationKeyOfBundle().thumbprint()
        try self.init(try SigningKey(privateKeyDER: der, identifier: name))
    }

    private init(_ key: SigningKey) throws(LectureError) {
        self.key = key
        thumbprint = try key.verificationKeyOfBundle().thumbprint()
        guard let text = key.publicJWK, let value = try? JSONScanner.scan(text) else {
            throw LectureError(.bug, detail: "a key without a public half")
        }
        publicKey = value
    }

    /// Signs a manifest.
    ///
    /// - Parameters:
    ///   - payload: the manifest.
    ///   - type: what it is, so that nothing else that is signed is taken for it.
    /// - Returns: the compact token in ASCII.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func sign(_ payload: [UInt8], type: String = type) throws(LectureError) -> [UInt8] {
        try key.sign(payload, type: type)
    }

    /// Verifies a manifest with the key that it names itself. Whether that key is trusted is another question.
    ///
    /// - Parameters:
    ///   - token: the signed manifest.
    ///   - key: the signer's public key.
    ///   - type: what it must be.
    /// - Returns: the payload; nil when the signature is wrong or the header is refused.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func payload(
        of token: [UInt8], signedWith key: VerificationKey, type: String = type
    ) throws(LectureError) -> [UInt8]? {
        let policy = KeyPolicy(keys: [key], algorithms: [.es256, .edDSA], types: [type])
        return try TokenVerifier.verify(token, keys: policy, at: Timestamp(milliseconds: 0)).token?.payload
    }

    /// The payload of a token that was not verified yet: it is read to find the signer's key in it.
    ///
    /// - Parameter token: the signed manifest.
    /// - Returns: nil for anything that is no compact token.
    package static func unverifiedPayload(of token: [UInt8]) -> [UInt8]? {
        (try? CompactToken(token, names: ["header", "payload", "signature"])).map { $0.parts[1] }
    }
}

extension SigningKey {
    fileprivate func verificationKeyOfBundle() throws(LectureError) -> VerificationKey {
        do throws(KeyRefusal) { return try verificationKey() } catch {
            throw LectureError(.cryptography, detail: "signing key", cause: error.sentence)
        }
    }
}
