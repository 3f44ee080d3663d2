package import LectureFormats
package import LectureModel

/// The policy for tokens: the keys, the roots, and the other requirements of the configuration.
package struct KeyPolicy: Sendable {
    /// How many keys are tried for a token that names none.
    static let keysTried = 8

    /// The configured keys.
    package var keys: [VerificationKey]
    /// The verifier of `x5c`, nil when no root is configured.
    package var certificates: CertificateVerifier?
    /// The algorithms that are permitted at all; a key narrows them down further.
    package var algorithms: Set<SignatureAlgorithm>
    /// The accepted values of `typ`, without `application/`; empty to accept any type or none.
    package var types: Set<String>

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - keys: the configured keys.
    ///   - certificates: the verifier of `x5c`.
    ///   - algorithms: the algorithms that are permitted at all.
    ///   - types: the accepted values of `typ`; empty for any.
    package init(
        keys: [VerificationKey], certificates: CertificateVerifier? = nil,
        algorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.licence, types: Set<String> = []
    ) {
        self.keys = keys
        self.certificates = certificates
        self.algorithms = algorithms
        self.types = Set(types.map { CompactToken.mediaType($0) })
    }
}

/// A token whose signature was verified. Only ``TokenVerifier`` makes one.
package struct VerifiedToken: Sendable {
    /// The key that verified it.
    package enum Proof: Hashable, Sendable {
        /// A configured key, by its `kid` if it has one.
        case key(identifier: String?)
        /// The first certificate of `x5c`, by the SHA-256 of its DER.
        case certificate(sha256: [UInt8])
    }

    /// The payload.
    package let payload: [UInt8]
    /// The header, an object.
    package let header: JSONValue
    /// The algorithm.
    package let algorithm: SignatureAlgorithm
    /// The key that verified it.
    package let proof: Proof
    private let key: VerificationKey
    private let root: String?

    fileprivate init(
        payload: [UInt8], header: JSONValue, algorithm: SignatureAlgorithm, proof: Proof, key: VerificationKey,
        root: String?
    ) {
        (self.payload, self.header, self.algorithm, self.proof) = (payload, header, algorithm, proof)
        (self.key, self.root) = (key, root)
    }

    /// The thumbprint of what the signature was traced back to: a configured key, or the root of its certificates,
    /// since issuers renew the certificates below it.
    ///
    /// - Returns: 32 bytes as base64url.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography``.
    package func signerThumbprint() throws(LectureError) -> String {
        if let root { return root }
        return try key.signerThumbprint()
    }
}

/// The result of a verification.
package enum VerificationVerdict: Sendable {
    /// The signature is right and nothing in the header is refused.
    case verified(VerifiedToken)
    /// Every reason that was found; never empty.
    case refused([TokenRefusal])

    /// The token, nil when it was refused.
    package var token: VerifiedToken? {
        if case .verified(let token) = self { token } else { nil }
    }

    /// The reasons, empty when it was verified.
    package var reasons: [TokenRefusal] {
        if case .refused(let reasons) = self { reasons } else { [] }
    }
}

/// Verifies compact signed tokens (RFC 7515, RFC 8725).
package enum TokenVerifier {
    /// The keys that a token may be signed with, as far as it names them.
    private struct Candidates {
        var keys: [VerificationKey] = []
        var leaf: [UInt8]?
        var root: String?
    }

    private static let partNames = ["header", "payload", "signature"]

    /// Verifies the signature of a token. It does not check the claims.
    ///
    /// - Parameters:
    ///   - token: the whole token in ASCII.
    ///   - policy: the policy.
    ///   - time: the trusted time, for certificates.
    /// - Returns: the verified token, or every reason against it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration`` when neither a key nor a root is configured,
    ///   or ``LectureError/Code/cryptography`` when OpenSSL cannot work.
    package static func verify(
        _ token: [UInt8], keys policy: KeyPolicy, at time: Timestamp
    ) throws(LectureError) -> VerificationVerdict {
        if policy.keys.isEmpty, policy.certificates == nil {
            throw LectureError(.configuration, detail: "licences", cause: "neither a key nor a root is configured")
        }
        let parts: CompactToken
        do {
            parts = try CompactToken(token, names: partNames)
        } catch { return .refused(error.reasons) }
        var reasons: [TokenRefusal] = []
        parts.forbidden(&reasons)
        let type = parts.text("typ", &reasons)
        if !policy.types.isEmpty, !policy.types.contains(type.map { CompactToken.mediaType($0) } ?? "") {
            reasons.append(.type)
        }
        let algorithm = algorithm(of: parts, policy, &reasons)
        let candidates = try candidates(for: parts, algorithm, policy, time, &reasons)
        let signature = parts.parts[2]
        if signature.isEmpty { reasons.append(.signatureMissing) }
        let key = try algorithm.flatMap { algorithm throws(LectureError) in
            try firstKey(in: candidates.keys, that: algorithm, verifies: signature, of: Array(parts.signedText))
        }
        if !candidates.keys.isEmpty, !signature.isEmpty, key == nil { reasons.append(.signatureWrong) }
        // The only place where a token is accepted: a key verified it, and there is no reason against it.
        guard reasons.isEmpty, let key, let algorithm else {
            return .refused(reasons.isEmpty ? [.signatureWrong] : reasons)
        }
        let proof: VerifiedToken.Proof =
            candidates.leaf.map { .certificate(sha256: $0) } ?? .key(identifier: key.identifier)
        return .verified(
            VerifiedToken(
                payload: parts.parts[1], header: parts.header, algorithm: algorithm, proof: proof, key: key,
                root: candidates.root))
    }

    private static func firstKey(
        in keys: [VerificationKey], that algorithm: SignatureAlgorithm, verifies signature: [UInt8], of text: [UInt8]
    ) throws(LectureError) -> VerificationKey? {
        for key in keys where try key.verifies(signature, of: text, algorithm) { return key }
        return nil
    }

    private static func algorithm(
        of parts: CompactToken, _ policy: KeyPolicy, _ reasons: inout [TokenRefusal]
    ) -> SignatureAlgorithm? {
        guard parts.header["alg"] != nil else {
            reasons.append(.algorithmMissing)
            return nil
        }
        guard let name = parts.text("alg", &reasons) else { return nil }
        guard let algorithm = SignatureAlgorithm(rawValue: name) else {
            reasons.append(name.lowercased() == "none" ? .algorithmNone : .algorithmUnknown)
            return nil
        }
        guard policy.algorithms.contains(algorithm) else {
            reasons.append(.algorithmNotPermitted)
            return nil
        }
        return algorithm
    }

    /// The keys to try. An empty result comes with a reason.
    private static func candidates(
        for parts: CompactToken, _ algorithm: SignatureAlgorithm?, _ policy: KeyPolicy, _ time: Timestamp,
        _ reasons: inout [TokenRefusal]
    ) throws(LectureError) -> Candidates {
        let identifier = parts.text("kid", &reasons)
        var candidates = Candidates()
        if let chain = parts.header["x5c"] {
            candidates = try certified(by: chain, parts, policy, time, &reasons)
            if candidates.keys.isEmpty { return candidates }
        } else {
            candidates.keys = configured(identifier, policy)
            if candidates.keys.isEmpty {
                reasons.append(.keyUnknown)
                return candidates
            }
        }
        // Without an algorithm there is nothing to try, and the reason was added already.
        guard let algorithm else { return Candidates() }
        candidates.keys.removeAll { !$0.algorithms.contains(algorithm) }
        if candidates.keys.isEmpty { reasons.append(.algorithmNotOfKey) }
        if candidates.keys.count > KeyPolicy.keysTried {
            reasons.append(.keyAmbiguous)
            candidates.keys = []
        }
        return candidates
    }

    /// The configured keys for a `kid`: those of that name, else those without a name, since a server may name a secret
    /// of which the configuration has only the bytes. Without `kid`, all.
    private static func configured(_ identifier: String?, _ policy: KeyPolicy) -> [VerificationKey] {
        guard let identifier else { return policy.keys }
        let named = policy.keys.filter { $0.identifier.map { TextBytes.areEqual($0, identifier) } ?? false }
        return named.isEmpty ? policy.keys.filter { $0.identifier == nil } : named
    }

    /// The key of the first certificate, when its chain is trusted (RFC 7515 section 4.1.6).
    private static func certified(
        by chain: JSONValue, _ parts: CompactToken, _ policy: KeyPolicy, _ time: Timestamp,
        _ reasons: inout [TokenRefusal]
    ) throws(LectureError) -> Candidates {
        guard let verifier = policy.certificates else {
            reasons.append(.noRoots)
            return Candidates()
        }
        let texts = chain.elements?.map(\.string) ?? []
        // Plain base 64 here, not base64url.
        let certificates = texts.compactMap { $0 }.map { Base64.bytes($0) }
        guard let leaf = certificates.first, certificates.count == texts.count else {
            reasons.append(.headerMember("x5c"))
            return Candidates()
        }
        let ders = certificates.compactMap(\.self)
        guard let leaf, ders.count == certificates.count else {
            reasons.append(.certificate(.encoding))
            return Candidates()
        }
        let digest = try SHA256Digest(SHA256Algorithm())
        unsafe leaf.withUnsafeBytes { unsafe digest.update($0) }
        let sum = try digest.finish()
        if let given = parts.text("x5t#S256", &reasons), Base64URL.bytes(given) != sum {
            reasons.append(.certificateThumbprint)
        }
        switch try verifier.judge(ders, at: time) {
        case .trusted(let key, let root): return Candidates(keys: [key], leaf: sum, root: root)
        case .refused(let refusals):
            reasons.append(contentsOf: refusals.map { .certificate($0) })
            return Candidates()
        }
    }
}
