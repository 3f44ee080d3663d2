package import LectureModel

/// The identity of this device: a secret that protects content keys and the ledger, and a key pair to which licences
/// are bound and content keys are sent. It can open everything that is sealed here.
package struct DeviceKey: Sendable {
    private static let plainMagic = Array("LKDEVKEY".utf8)
    private static let copyMagic = Array("LKDEVCPY".utf8)
    private static let version: UInt8 = 1
    private static let partLength = 32
    private static let checkLength = 8
    private static let saltLength = 32

    private let secret: SecretBytes
    private let pair: PrivateKey
    private let wrappingKeys: (unlicensed: SecretBytes, licensed: SecretBytes)
    /// The wrapping key of the granting keys that were used last: a list and a renewal have the same ones for thousands
    /// of lectures. It can open no more than the secret beside it.
    private let lastBound = Guarded<BoundKey?>(nil)

    private struct BoundKey {
        let keys: GrantingKeys
        let key: SecretBytes
        /// Checks content keys with it.
        let opener: KeyWrap.Opener
    }

    private init(secret: SecretBytes, pair: PrivateKey) throws(LectureError) {
        self.secret = secret
        self.pair = pair
        wrappingKeys = (
            try Self.derive(secret, "unlicensed content keys"), try Self.derive(secret, "content keys")
        )
    }

    /// Generates a new key.
    ///
    /// - Returns: a key that no other device has.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package static func generate() throws(LectureError) -> DeviceKey {
        try DeviceKey(secret: try SecretBytes.random(partLength), pair: try PrivateKey.generateP256())
    }

    // MARK: Uses

    /// Wraps a content key for the ledger (AES-256-KW).
    ///
    /// - Parameters:
    ///   - key: 16 bytes or more, a multiple of 8.
    ///   - purpose: its purpose; each has its own wrapping key, so that the stored purpose cannot be changed.
    ///   - keys: the granting keys of its licence, from which the wrapping key is derived as well, so that they cannot
    ///     be changed either; nil for none.
    /// - Returns: 8 bytes more.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` or ``LectureError/Code/cryptography``.
    package func wrap(
        _ key: SecretBytes, for purpose: SealPurpose = .licensed, boundTo keys: GrantingKeys? = nil
    ) throws(LectureError) -> [UInt8] {
        try KeyWrap.wrap(key, with: try wrappingKey(purpose, keys))
    }

    /// Unwraps a content key.
    ///
    /// - Parameters:
    ///   - box: from ``wrap(_:for:boundTo:)``.
    ///   - purpose: the purpose it was wrapped for.
    ///   - keys: the granting keys it was wrapped for.
    /// - Returns: the content key, or nil when it was wrapped by another device, for another purpose, for other
    ///   granting keys, or changed.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func unwrap(
        _ box: [UInt8], for purpose: SealPurpose = .licensed, boundTo keys: GrantingKeys? = nil
    ) throws(LectureError) -> SecretBytes? {
        try KeyWrap.unwrap(box, with: try wrappingKey(purpose, keys))
    }

    private func wrappingKey(_ purpose: SealPurpose, _ keys: GrantingKeys?) throws(LectureError) -> SecretBytes {
        switch purpose {
        case .unlicensed: wrappingKeys.unlicensed
        case .licensed:
            if let keys { try bound(keys).key } else { wrappingKeys.licensed }
        }
    }

    private func bound(_ keys: GrantingKeys) throws(LectureError) -> BoundKey {
        if let last = lastBound.withLock({ $0 }), last.keys == keys { return last }
        let key = try Self.derive(secret, "content keys:\(keys.text)")
        let bound = BoundKey(keys: keys, key: key, opener: try KeyWrap.Opener(key))
        lastBound.withLock { $0 = bound }
        return bound
    }

    /// The length of a wrapped content key, without making the key.
    ///
    /// - Parameters:
    ///   - box: as in ``unwrap(_:for:boundTo:)``.
    ///   - purpose: the purpose it was wrapped for.
    ///   - keys: the granting keys it was wrapped for.
    /// - Returns: nil where ``unwrap(_:for:boundTo:)`` returns nil.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func unwrappedLength(
        _ box: [UInt8], for purpose: SealPurpose = .licensed, boundTo keys: GrantingKeys? = nil
    ) throws(LectureError) -> Int? {
        guard purpose == .licensed, let keys, box.count <= KeyWrap.Opener.longest else {
            return try unwrap(box, for: purpose, boundTo: keys)?.count
        }
        return try bound(keys).opener.length(box)
    }

    /// The key of the codes over the ledger's rows.
    ///
    /// - Returns: 32 bytes, the same at each call.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func ledgerKey() throws(LectureError) -> SecretBytes { try Self.derive(secret, "ledger") }

    /// The key under which header fields of requests are stored.
    ///
    /// - Returns: 32 bytes, the same at each call.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func fieldKey() throws(LectureError) -> SecretBytes { try Self.derive(secret, "request headers") }

    /// One key for one purpose: the secret itself is never used as a key.
    private static func derive(_ secret: SecretBytes, _ purpose: String) throws(LectureError) -> SecretBytes {
        let info = Array("lecturekit/device/1:\(purpose)".utf8)
        return try KeyDerivation.hkdf(secret, salt: [], info: info, count: partLength)
    }

    /// The thumbprint of the public key (RFC 7638), to which a licence is bound (`cnf`, RFC 7800).
    ///
    /// - Returns: 32 bytes as base64url.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func thumbprint() throws(LectureError) -> String {
        try VerificationKey.digest(pair.publicKey.parts.canonicalText)
    }

    /// The public key for issuers, as a JWK whose `kid` is its thumbprint.
    ///
    /// - Returns: JSON on one line.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func publicJWK() throws(LectureError) -> String {
        pair.publicKey.parts.jwk(
            identifier: try thumbprint(), use: "enc", algorithm: ContentKeyAlgorithm.ecdhESA256KW.rawValue)
    }

    /// The key that decrypts content keys sent to this device.
    ///
    /// - Returns: the private key under its thumbprint.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func decryptionKey() throws(LectureError) -> DecryptionKey {
        DecryptionKey(pair, algorithm: .ecdhESA256KW, identifier: try thumbprint())
    }

    /// The key that signs what this device makes for other devices (ES256), under its thumbprint.
    ///
    /// - Returns: the private key.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func signingKey() throws(LectureError) -> SigningKey {
        SigningKey(pair, identifier: try thumbprint(), usesPSS: false)
    }

    // MARK: The file

    /// The key as stored in a file that only its owner may read; docs/sealed-file.md has the offsets.
    ///
    /// - Returns: 81 bytes.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func fileBytes() throws(LectureError) -> SecretBytes {
        let parts = try joined()
        let head = Self.plainMagic + [Self.version]
        let check = try Self.check(head, parts)
        return try unsafe SecretBytes(count: head.count + parts.count + check.count) { buffer in
            unsafe buffer.copyBytes(from: head)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...])
            unsafe parts.withBytes { unsafe rest.copyMemory(from: $0) }
            unsafe UnsafeMutableRawBufferPointer(rebasing: rest[parts.count...]).copyBytes(from: check)
        }
    }

    /// Reads the key from its file.
    ///
    /// - Parameter bytes: the whole file.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when it is not such a file, or
    ///   ``LectureError/Code/cryptography``.
    package init(fileBytes bytes: SecretBytes) throws(LectureError) {
        let head = Self.plainMagic + [Self.version]
        let isKnown = unsafe bytes.withBytes { unsafe $0.starts(with: head) }
        guard isKnown, bytes.count == head.count + 2 * Self.partLength + Self.checkLength else {
            throw LectureError(.damaged, detail: "device key", cause: "the file is not one of this version")
        }
        let parts = try Self.slice(bytes, head.count..<(head.count + 2 * Self.partLength))
        let given = try Self.slice(bytes, (bytes.count - Self.checkLength)..<bytes.count)
        guard try OpenSSLDigests.equal(given.exposed(), Self.check(head, parts)) else {
            throw LectureError(.damaged, detail: "device key", cause: "the file was changed")
        }
        try self.init(parts: parts)
    }

    private init(parts: SecretBytes) throws(LectureError) {
        let scalar = try Self.slice(parts, Self.partLength..<(2 * Self.partLength))
        try self.init(secret: try Self.slice(parts, 0..<Self.partLength), pair: try PrivateKey(p256: scalar))
    }

    // MARK: The passphrase-protected copy

    /// A copy of the key that only the passphrase opens: scrypt (RFC 7914), then AES-256-GCM.
    ///
    /// - Parameters:
    ///   - passphrase: its UTF-8, not empty.
    ///   - cost: the cost of trying one passphrase.
    /// - Returns: 136 bytes; docs/sealed-file.md has the offsets.
    /// - Throws: ``LectureError`` with ``LectureError/Code/parameter`` for an empty passphrase or a cost that no import
    ///   permits, or ``LectureError/Code/cryptography``.
    package func protectedCopy(
        passphrase: SecretBytes, cost: ScryptCost = ScryptCost()
    ) throws(LectureError) -> [UInt8] {
        guard passphrase.count > 0, cost.isPermitted else {
            throw LectureError(.parameter, detail: "passphrase", cause: "it is empty, or its cost is out of range")
        }
        let salt = try SecureRandom.bytes(Self.saltLength)
        let nonce = try SecureRandom.bytes(AESGCM.nonceLength)
        let head = Self.copyMagic + [Self.version, cost.logN, cost.r, cost.p] + salt + nonce
        let key = try KeyDerivation.scrypt(passphrase, salt: salt, cost: cost, count: AESGCM.keyLength)
        return head + (try AESGCM().seal(try joined(), key: key, nonce: nonce, associated: head))
    }

    /// Opens a copy.
    ///
    /// - Parameters:
    ///   - copy: from ``protectedCopy(passphrase:cost:)``.
    ///   - passphrase: its UTF-8.
    /// - Throws: ``LectureError`` with ``LectureError/Code/damaged`` when it is not such a copy, or
    ///   ``LectureError/Code/parameter`` when the passphrase is wrong or the copy was changed, which cannot be
    ///   distinguished.
    package init(protectedCopy copy: [UInt8], passphrase: SecretBytes) throws(LectureError) {
        let fixed = Self.copyMagic + [Self.version]
        let headLength = fixed.count + 3 + Self.saltLength + AESGCM.nonceLength
        guard copy.starts(with: fixed), copy.count == headLength + 2 * Self.partLength + AESGCM.tagLength else {
            throw LectureError(.damaged, detail: "copy of a device key", cause: "it is not one of this version")
        }
        let cost = ScryptCost(logN: copy[fixed.count], r: copy[fixed.count + 1], p: copy[fixed.count + 2])
        // The numbers are not authenticated until the key is known: a hostile copy must not exhaust the memory.
        guard cost.isPermitted, passphrase.count > 0 else {
            throw LectureError(.damaged, detail: "copy of a device key", cause: "its cost is out of range")
        }
        let head = Array(copy.prefix(headLength))
        let salt = Array(head.dropFirst(fixed.count + 3).prefix(Self.saltLength))
        let key = try KeyDerivation.scrypt(passphrase, salt: salt, cost: cost, count: AESGCM.keyLength)
        var isOpen = false
        let cipher = try AESGCM()
        let parts = try unsafe SecretBytes(count: 2 * Self.partLength) { buffer throws(LectureError) in
            isOpen = try unsafe cipher.open(
                Array(copy.dropFirst(headLength)), into: buffer, key: key,
                nonce: Array(head.suffix(AESGCM.nonceLength)), associated: head)
        }
        guard isOpen else {
            throw LectureError(
                .parameter, detail: "copy of a device key", cause: "the passphrase is wrong, or the copy was changed")
        }
        try self.init(parts: parts)
    }

    // MARK: Pieces

    private func joined() throws(LectureError) -> SecretBytes {
        let scalar = try pair.p256Scalar()
        return try unsafe SecretBytes(count: 2 * Self.partLength) { buffer in
            unsafe secret.withBytes { unsafe buffer.copyMemory(from: $0) }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[Self.partLength...])
            unsafe scalar.withBytes { unsafe rest.copyMemory(from: $0) }
        }
    }

    private static func slice(_ bytes: SecretBytes, _ range: Range<Int>) throws(LectureError) -> SecretBytes {
        try unsafe SecretBytes(count: range.count) { buffer in
            unsafe bytes.withBytes { unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }

    /// Detects a torn file; it does not protect against forgery.
    private static func check(_ head: [UInt8], _ parts: SecretBytes) throws(LectureError) -> [UInt8] {
        let running = try SHA256Digest(SHA256Algorithm())
        unsafe head.withUnsafeBytes { unsafe running.update($0) }
        unsafe parts.withBytes { unsafe running.update($0) }
        return Array(try running.finish().prefix(checkLength))
    }
}
