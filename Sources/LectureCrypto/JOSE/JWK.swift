package import LectureFormats
package import LectureModel

/// Reads JSON Web Keys (RFC 7517, RFC 7518 section 6, RFC 8037 section 2).
package enum JWK {
    /// The members that only a private or secret key has.
    private static let privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    /// Reads a key for verifying signatures.
    ///
    /// - Parameters:
    ///   - value: the JWK.
    ///   - isLegacy: whether the configuration permits short HMAC secrets.
    /// - Returns: the key; `alg` restricts its algorithms to one.
    /// - Throws: ``KeyRefusal``: another use, private parts in a public key, or a weak or broken key.
    package static func verificationKey(
        _ value: JSONValue, isLegacy: Bool = false
    ) throws(KeyRefusal) -> VerificationKey {
        guard value.members != nil else { throw KeyRefusal("a key is a JSON object") }
        try requireUse(value, "sig", operations: ["verify"])
        let identifier = try text(value, "kid")
        let named = try algorithm(value)
        if try requiredText(value, "kty") == "oct" {
            return try secretKey(value, identifier, named, isLegacy)
        }
        if let member = privateMembers.first(where: { value[$0] != nil }) {
            throw KeyRefusal("a public key has the private member \(member)")
        }
        let key = try PublicKey(try parts(value))
        let possible = SignatureAlgorithm.all(for: key.parts)
        guard let named else { return VerificationKey(key, identifier: identifier) }
        guard possible.contains(named) else { throw KeyRefusal("the key is not of the kind for \(named.rawValue)") }
        return VerificationKey(.publicKey(key), identifier: identifier, algorithms: [named])
    }

    /// Reads a private key for decrypting content keys.
    ///
    /// - Parameter value: the JWK with its private members.
    /// - Returns: the key.
    /// - Throws: ``KeyRefusal``, or for an unreadable key a refusal that names no part of it.
    package static func decryptionKey(_ value: JSONValue) throws(KeyRefusal) -> DecryptionKey {
        guard value.members != nil else { throw KeyRefusal("a key is a JSON object") }
        try requireUse(value, "enc", operations: ["deriveKey", "deriveBits", "unwrapKey", "decrypt"])
        let publicParts = try parts(value)
        let algorithm: ContentKeyAlgorithm
        let key: PrivateKey
        do throws(LectureError) {
            switch publicParts {
            case .p256:
                algorithm = .ecdhESA256KW
                key = try PrivateKey(p256: try SecretBytes(copying: privateNumber(value, "d")))
            case .rsa(let modulus, let exponent):
                algorithm = .rsaOAEP256
                let rest = ["d", "p", "q", "dp", "dq", "qi"].map { privateNumber(value, $0) }
                key = try PrivateKey(der: DER.rsaPrivateKey([modulus, exponent] + rest))
            case .ed25519: throw LectureError(.parameter, cause: "Ed25519 only signs")
            }
        } catch {
            throw KeyRefusal("the private key cannot be read")
        }
        if let name = try text(value, "alg"), name != algorithm.rawValue {
            throw KeyRefusal("the key is not for \(algorithm.rawValue)")
        }
        guard key.publicKey.parts == publicParts else { throw KeyRefusal("the private key does not match the public") }
        return DecryptionKey(key, algorithm: algorithm, identifier: try text(value, "kid"))
    }

    /// The thumbprint of a public key (RFC 7638) for any use.
    ///
    /// - Parameter value: the JWK.
    /// - Returns: 32 bytes as base64url.
    /// - Throws: ``KeyRefusal``: private parts in it, or a weak or broken key.
    package static func thumbprint(_ value: JSONValue) throws(KeyRefusal) -> String {
        if let member = privateMembers.first(where: { value[$0] != nil }) {
            throw KeyRefusal("a public key has the private member \(member)")
        }
        let key = try PublicKey(try parts(value))
        do throws(LectureError) { return try VerificationKey.digest(key.parts.canonicalText) } catch {
            throw KeyRefusal("there is no memory for a digest")
        }
    }

    /// Reads a public key that signs bundles: that of a device, whose `use` is `enc`, or of another signer.
    ///
    /// - Parameter value: the JWK, on P-256 or of Ed25519.
    /// - Returns: the key, named by its thumbprint.
    /// - Throws: ``KeyRefusal``: private parts in it, another kind, or a broken key.
    package static func bundleKey(_ value: JSONValue) throws(KeyRefusal) -> VerificationKey {
        let name = try thumbprint(value)
        let key = try PublicKey(try parts(value))
        if case .rsa = key.parts { throw KeyRefusal("bundles are signed with ES256 or EdDSA") }
        return VerificationKey(key, identifier: name)
    }

    /// Reads the public parts of a key that is not an HMAC secret.
    static func parts(_ value: JSONValue) throws(KeyRefusal) -> PublicKey.Parts {
        switch try requiredText(value, "kty") {
        case "EC":
            guard try requiredText(value, "crv") == "P-256" else { throw KeyRefusal("the curve is not P-256") }
            return .p256(x: try bytes(value, "x"), y: try bytes(value, "y"))
        case "OKP":
            guard try requiredText(value, "crv") == "Ed25519" else { throw KeyRefusal("the curve is not Ed25519") }
            return .ed25519(try bytes(value, "x"))
        case "RSA": return .rsa(modulus: try bytes(value, "n"), exponent: try bytes(value, "e"))
        default: throw KeyRefusal("the key's kty is unknown")
        }
    }

    private static func secretKey(
        _ value: JSONValue, _ identifier: String?, _ named: SignatureAlgorithm?, _ isLegacy: Bool
    ) throws(KeyRefusal) -> VerificationKey {
        let secret: SecretBytes
        do throws(LectureError) {
            secret = try SecretBytes(copying: privateNumber(value, "k"))
        } catch { throw KeyRefusal("there is no memory for the secret") }
        return try VerificationKey(
            secret: secret, identifier: identifier, algorithm: named ?? .hs256, isLegacy: isLegacy)
    }

    /// `use` and `key_ops` (RFC 7517 sections 4.2 and 4.3): if present, they must permit the use.
    private static func requireUse(
        _ value: JSONValue, _ use: String, operations: Set<String>
    ) throws(KeyRefusal) {
        if let given = try text(value, "use"), given != use { throw KeyRefusal("the key's use is not \(use)") }
        guard let list = value["key_ops"] else { return }
        guard let elements = list.elements else { throw KeyRefusal("key_ops is not an array of strings") }
        let names = elements.compactMap(\.string)
        guard names.count == elements.count else { throw KeyRefusal("key_ops is not an array of strings") }
        guard Set(names).count == names.count else { throw KeyRefusal("key_ops names an operation twice") }
        if operations.isDisjoint(with: names) { throw KeyRefusal("key_ops does not permit this use") }
    }

    private static func algorithm(_ value: JSONValue) throws(KeyRefusal) -> SignatureAlgorithm? {
        guard let name = try text(value, "alg") else { return nil }
        guard let algorithm = SignatureAlgorithm(rawValue: name) else { throw KeyRefusal("the key's alg is unknown") }
        return algorithm
    }

    private static func text(_ value: JSONValue, _ name: String) throws(KeyRefusal) -> String? {
        guard let member = value[name] else { return nil }
        guard let text = member.string else { throw KeyRefusal("\(name) is not a string") }
        return text
    }

    private static func requiredText(_ value: JSONValue, _ name: String) throws(KeyRefusal) -> String {
        guard let text = try text(value, name) else { throw KeyRefusal("\(name) is missing") }
        return text
    }

    private static func bytes(_ value: JSONValue, _ name: String) throws(KeyRefusal) -> [UInt8] {
        guard let bytes = Base64URL.bytes(try requiredText(value, name)) else {
            throw KeyRefusal("\(name) is not base64url")
        }
        return bytes
    }

    /// A private member; empty when it is missing or unreadable, which no key accepts.
    private static func privateNumber(_ value: JSONValue, _ name: String) -> [UInt8] {
        value[name]?.string.flatMap { Base64URL.bytes($0) } ?? []
    }
}

/// A set of verification keys (RFC 7517 section 5).
package struct JWKSet: Sendable {
    /// How many keys a set may contain.
    package static let limit = 100

    /// A key that was skipped, because it is for another use.
    package struct Skipped: Hashable, Sendable {
        /// Its index in the set.
        package let index: Int
        /// The reason.
        package let refusal: KeyRefusal
    }

    /// The keys that can verify.
    package let keys: [VerificationKey]
    /// The keys of other kinds or uses, which are ignored as RFC 7517 section 5 says.
    package let skipped: [Skipped]

    /// Reads a set.
    ///
    /// - Parameters:
    ///   - text: the JSON text.
    ///   - isLegacy: whether the configuration permits short HMAC secrets.
    ///   - passesBroken: whether weak and broken keys, and secrets beside public keys, are ignored like foreign ones
    ///     (RFC 7517 section 5), and a `kid` may appear twice: for a set that another party maintains. None of them is
    ///     used then; otherwise the set is refused, so that its author notices.
    /// - Throws: ``LectureError`` with ``LectureError/Code/json``, or with ``LectureError/Code/configuration`` for a
    ///   set that mixes secrets with public keys, names a `kid` twice, has a weak or broken key, or no key at all.
    package init(_ text: [UInt8], isLegacy: Bool = false, passesBroken: Bool = false) throws(LectureError) {
        let value = try JSONScanner.value(of: text)
        guard let elements = value["keys"]?.elements, elements.count <= Self.limit else {
            throw Self.fault("it has no member 'keys' with at most \(Self.limit) keys")
        }
        var keys: [VerificationKey] = []
        var skipped: [Skipped] = []
        var names: Set<[UInt8]> = []
        for (index, element) in elements.enumerated() {
            if let name = element["kid"]?.string, !names.insert(Array(name.utf8)).inserted, !passesBroken {
                throw Self.fault("key \(index): its kid is used by another key")
            }
            do throws(KeyRefusal) {
                keys.append(try JWK.verificationKey(element, isLegacy: isLegacy))
            } catch {
                guard passesBroken || Self.isForeign(element) else {
                    throw Self.fault("key \(index): \(error.sentence)")
                }
                skipped.append(Skipped(index: index, refusal: error))
            }
        }
        let kinds = Set(elements.map { $0["kty"]?.string == "oct" })
        // Readers of such a set could sign with its secrets, so it must not be published; a published secret has
        // leaked.
        if kinds.count > 1 {
            guard passesBroken else { throw Self.fault("it mixes secrets with public keys") }
            keys.removeAll { $0.isSecret }
        }
        if keys.isEmpty { throw Self.fault("it contains no key that can verify") }
        self.keys = keys
        self.skipped = skipped
    }

    /// Whether a key states another use, kind, curve or algorithm.
    private static func isForeign(_ value: JSONValue) -> Bool {
        if let use = value["use"]?.string, use != "sig" { return true }
        if let operations = value["key_ops"]?.elements, !operations.contains(.string("verify")) { return true }
        if let name = value["alg"]?.string, SignatureAlgorithm(rawValue: name) == nil { return true }
        switch value["kty"]?.string {
        case "oct", "RSA": return false
        case "EC": return value["crv"]?.string.map { $0 != "P-256" } ?? false
        case "OKP": return value["crv"]?.string.map { $0 != "Ed25519" } ?? false
        case .some: return true
        case nil: return false
        }
    }

    private static func fault(_ cause: String) -> LectureError {
        LectureError(.configuration, detail: "JWK set", cause: cause)
    }
}
