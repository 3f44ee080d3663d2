import LectureFormats
package import LectureModel

/// How a content key is encrypted for a device, by its name in `alg` (RFC 7518 section 4.1).
package enum ContentKeyAlgorithm: String, CaseIterable, Hashable, Sendable {
    /// A key agreement on P-256 whose result wraps the key.
    case ecdhESA256KW = "ECDH-ES+A256KW"
    /// RSA-OAEP with SHA-256.
    case rsaOAEP256 = "RSA-OAEP-256"

    /// Registered names that are not permitted: RSA1_5 and password or direct modes among them.
    static let othersKnown: Set<String> = [
        "RSA1_5", "RSA-OAEP", "RSA-OAEP-384", "RSA-OAEP-512", "dir", "ECDH-ES", "ECDH-ES+A128KW", "ECDH-ES+A192KW",
        "A128KW", "A192KW", "A256KW", "A128GCMKW", "A192GCMKW", "A256GCMKW", "PBES2-HS256+A128KW",
        "PBES2-HS384+A192KW", "PBES2-HS512+A256KW",
    ]
}

/// A private key that decrypts content keys, with the one algorithm it accepts.
package struct DecryptionKey: Sendable {
    /// The only algorithm that is accepted.
    package let algorithm: ContentKeyAlgorithm
    /// The name of the key in `kid`, if it has one.
    package let identifier: String?
    let key: PrivateKey

    init(_ key: PrivateKey, algorithm: ContentKeyAlgorithm, identifier: String?) {
        self.key = key
        self.algorithm = algorithm
        self.identifier = identifier
    }
}

/// The result of decrypting a content key.
package enum ContentKeyVerdict: Sendable {
    /// The content key.
    case opened(SecretBytes)
    /// Every reason against it; never empty.
    case refused([TokenRefusal])

    /// The content key, nil when it was refused.
    package var key: SecretBytes? {
        if case .opened(let key) = self { key } else { nil }
    }

    /// The reasons, empty when it was opened.
    package var reasons: [TokenRefusal] {
        if case .refused(let reasons) = self { reasons } else { [] }
    }
}

/// Decrypts compact encrypted tokens with a content key (RFC 7516): A256GCM under a key that is encrypted with
/// ECDH-ES+A256KW or RSA-OAEP-256.
package enum ContentKeyToken {
    /// The only content encryption.
    static let encryption = "A256GCM"
    /// The parts of a token.
    static let parts = ["header", "encrypted key", "initialisation vector", "ciphertext", "tag"]

    /// Decrypts a token.
    ///
    /// - Parameters:
    ///   - token: the whole token in ASCII.
    ///   - key: the device's key.
    /// - Returns: the content key, or every reason against it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when OpenSSL cannot work.
    package static func open(_ token: [UInt8], with key: DecryptionKey) throws(LectureError) -> ContentKeyVerdict {
        let parsed: CompactToken
        do {
            parsed = try CompactToken(token, names: parts)
        } catch { return .refused(error.reasons) }
        var reasons: [TokenRefusal] = []
        parsed.forbidden(&reasons)
        judgeNames(parsed, key, &reasons)
        guard reasons.isEmpty else { return .refused(reasons) }
        let wrapped = parsed.parts[1]
        let contentKey: SecretBytes?
        switch key.algorithm {
        case .rsaOAEP256: contentKey = try RSAOAEP.open(wrapped, key: key.key.handle)
        case .ecdhESA256KW:
            guard let agreed = try agree(parsed, key.key, &reasons) else { return .refused(reasons) }
            contentKey = try KeyWrap.unwrap(wrapped, with: agreed)
        }
        guard let text = try decrypt(parsed, contentKey) else { return .refused([.notForThisKey]) }
        return .opened(text)
    }

    /// `alg`, `enc`, `kid`.
    private static func judgeNames(_ token: CompactToken, _ key: DecryptionKey, _ reasons: inout [TokenRefusal]) {
        if token.header["alg"] == nil { reasons.append(.algorithmMissing) }
        if let name = token.text("alg", &reasons), name != key.algorithm.rawValue {
            let isOurs = ContentKeyAlgorithm(rawValue: name) != nil
            let isKnown = ContentKeyAlgorithm.othersKnown.contains(name)
            reasons.append(isOurs ? .algorithmNotOfKey : isKnown ? .algorithmNotPermitted : .algorithmUnknown)
        }
        if token.text("enc", &reasons) != encryption { reasons.append(.encryptionUnknown) }
        _ = token.text("typ", &reasons)
        if let given = token.text("kid", &reasons), let due = key.identifier, !given.utf8.elementsEqual(due.utf8) {
            reasons.append(.keyUnknown)
        }
    }

    /// The key that wraps the content key (RFC 7518 section 4.6). The ephemeral key is checked to be on the curve
    /// before the private key is used with it (RFC 8725 section 3.4).
    private static func agree(
        _ token: CompactToken, _ key: PrivateKey, _ reasons: inout [TokenRefusal]
    ) throws(LectureError) -> SecretBytes? {
        let names = ["apu", "apv"].map { name -> [UInt8] in
            guard let text = token.text(name, &reasons) else { return [] }
            if let bytes = Base64URL.bytes(text) { return bytes }
            reasons.append(.headerMember(name))
            return []
        }
        let peer = token.header["epk"].flatMap { value -> PublicKey? in
            guard value["d"] == nil, let parts = try? JWK.parts(value), case .p256 = parts else { return nil }
            return try? PublicKey(parts)
        }
        if peer == nil { reasons.append(.ephemeralKey) }
        guard reasons.isEmpty, let peer else { return nil }
        return try KeyDerivation.concat(
            try key.sharedSecret(with: peer), algorithm: ContentKeyAlgorithm.ecdhESA256KW.rawValue, partyU: names[0],
            partyV: names[1])
    }

    /// Decrypts under the content encryption key. Without one a random key is used, so that wrong padding and a wrong
    /// tag have the same result and timing (RFC 7516 section 11.5).
    private static func decrypt(_ token: CompactToken, _ key: SecretBytes?) throws(LectureError) -> SecretBytes? {
        let substitute = try SecretBytes.random(AESGCM.keyLength)
        let isUsable = key?.count == AESGCM.keyLength
        let box = token.parts[3] + token.parts[4]
        guard token.parts[2].count == AESGCM.nonceLength, token.parts[4].count == AESGCM.tagLength else { return nil }
        let cipher = try AESGCM()
        var isOpen = false
        let text = try unsafe SecretBytes(count: token.parts[3].count) { buffer throws(LectureError) in
            isOpen = try unsafe cipher.open(
                box, into: buffer, key: (isUsable ? key : nil) ?? substitute, nonce: token.parts[2],
                associated: Array(token.headerText))
        }
        return isOpen && isUsable ? text : nil
    }
}
