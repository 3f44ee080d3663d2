package import LectureFormats
package import LectureModel

/// Encrypts content keys for devices, as an issuer does, and as a device does for the bundles that it makes.
package struct ContentKeySealer: Sendable {
    private let recipient: PublicKey
    private let identifier: String?
    /// How the key is encrypted: by the kind of the recipient's key.
    package let algorithm: ContentKeyAlgorithm

    /// Takes the public key of a device.
    ///
    /// - Parameter jwk: on P-256 or RSA.
    /// - Throws: ``KeyRefusal``.
    package init(_ jwk: JSONValue) throws(KeyRefusal) {
        recipient = try PublicKey(try JWK.parts(jwk))
        identifier = jwk["kid"]?.string
        switch recipient.parts {
        case .p256: algorithm = .ecdhESA256KW
        case .rsa: algorithm = .rsaOAEP256
        case .ed25519: throw KeyRefusal("Ed25519 only signs")
        }
    }

    /// Encrypts a content key.
    ///
    /// - Parameter key: the content key.
    /// - Returns: the compact token in ASCII.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func seal(_ key: SecretBytes) throws(LectureError) -> [UInt8] {
        let encryptionKey = try SecretBytes.random(AESGCM.keyLength)
        switch algorithm {
        case .rsaOAEP256:
            let wrapped = try RSAOAEP.seal(encryptionKey, key: recipient.handle)
            return try token(key, encryptionKey, wrapped, ephemeral: nil)
        case .ecdhESA256KW:
            let ephemeral = try PrivateKey.generateP256()
            let agreed = try KeyDerivation.concat(
                try ephemeral.sharedSecret(with: recipient), algorithm: algorithm.rawValue, partyU: [], partyV: [])
            let wrapped = try KeyWrap.wrap(encryptionKey, with: agreed)
            return try token(key, encryptionKey, wrapped, ephemeral: ephemeral.publicKey.parts)
        }
    }

    private func token(
        _ key: SecretBytes, _ encryptionKey: SecretBytes, _ wrapped: [UInt8], ephemeral: PublicKey.Parts?
    ) throws(LectureError) -> [UInt8] {
        let header = JSONWriter.object { writer in
            writer.member("alg", algorithm.rawValue)
            writer.member("enc", ContentKeyToken.encryption)
            if let identifier { writer.member("kid", identifier) }
            if case .p256(let x, let y) = ephemeral {
                writer.object("epk") { writer in
                    writer.member("kty", "EC")
                    writer.member("crv", "P-256")
                    writer.member("x", Base64URL.text(x))
                    writer.member("y", Base64URL.text(y))
                }
            }
        }
        let headerText = Base64URL.text(Array(header.utf8))
        let nonce = try SecureRandom.bytes(AESGCM.nonceLength)
        let box = try AESGCM().seal(key, key: encryptionKey, nonce: nonce, associated: Array(headerText.utf8))
        let rest = [wrapped, nonce, Array(box.dropLast(AESGCM.tagLength)), Array(box.suffix(AESGCM.tagLength))]
        return Array(([headerText] + rest.map { Base64URL.text($0) }).joined(separator: ".").utf8)
    }
}
