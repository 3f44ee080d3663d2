import COpenSSL
package import LectureModel

/// Judges the certificates of a token (`x5c`): a chain to a configured root, and a leaf that is only for signing
/// licences (RFC 5280, RFC 7515 section 4.1.6).
package struct CertificateVerifier: Sendable {
    /// The purpose of signing licences, an object identifier below `2.25`, where nothing needs to be registered (ITU-T
    /// X.667): the number is the UUID 43a1e25b-bf19-587b-99b3-7b1cb77cc295.
    package static let licencePurpose = "2.25.89899942137799056936344897307910326261"
    /// How many certificates a token may contain.
    package static let limit = 8
    /// How many certificates may be between leaf and root.
    package static let depth = 4

    /// The result of a judgement.
    enum Verdict: Sendable {
        /// The leaf's key may verify signatures; with the thumbprint of the root's key.
        case trusted(VerificationKey, root: String)
        /// Every reason against it; never empty.
        case refused([CertificateRefusal])
    }

    private let store: CertificateStore
    /// The thumbprints of the roots' public keys: SHA-256 of the SubjectPublicKeyInfo as base64url.
    package let rootThumbprints: [String]
    private let verdicts = VerdictCache()
    /// The extended key usage that a leaf needs, in dotted numbers.
    package var purpose: String

    /// Reads roots and lists.
    ///
    /// - Parameters:
    ///   - roots: self-signed certificates of authorities in DER, at least one.
    ///   - revocationLists: in DER; when there are any, each certificate below a root must be covered by a valid one.
    ///   - purpose: the extended key usage that a leaf needs, in dotted numbers.
    /// - Throws: ``LectureError`` with ``LectureError/Code/configuration``, or ``LectureError/Code/cryptography``.
    package init(
        roots: [[UInt8]], revocationLists: [[UInt8]] = [], purpose: String = licencePurpose
    ) throws(LectureError) {
        if roots.isEmpty { throw LectureError(.configuration, detail: "root certificates", cause: "none was found") }
        store = try CertificateStore(roots: roots, lists: revocationLists)
        var thumbprints: [String] = []
        for root in roots.compactMap({ Certificate(der: $0) }) { thumbprints.append(try root.keyThumbprint()) }
        rootThumbprints = thumbprints
        self.purpose = purpose
    }

    /// Judges a chain.
    ///
    /// - Parameters:
    ///   - chain: DER, the leaf first.
    ///   - time: the trusted time.
    /// - Returns: the leaf's key, or every reason against it.
    /// - Throws: ``LectureError`` with ``LectureError/Code/cryptography`` when OpenSSL cannot judge.
    func judge(_ chain: [[UInt8]], at time: Timestamp) throws(LectureError) -> Verdict {
        guard (1...Self.limit).contains(chain.count) else { return .refused([.count]) }
        // Rounded down, as a certificate's times count whole seconds.
        let seconds = Int(time.milliseconds / 1000) - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let question = VerdictCache.Question(chain: chain, seconds: seconds, purpose: purpose)
        if let verdict = verdicts.answer(to: question) { return verdict }
        let verdict = try judge(chain, seconds: seconds)
        verdicts.remember(verdict, of: question)
        return verdict
    }

    private func judge(_ chain: [[UInt8]], seconds: Int) throws(LectureError) -> Verdict {
        let certificates = chain.compactMap { Certificate(der: $0) }
        guard let leaf = certificates.first, certificates.count == chain.count else { return .refused([.encoding]) }
        var reasons: [CertificateRefusal] = []
        var trusted = ""
        let others = Array(certificates.dropFirst())
        switch try store.chain(from: leaf, over: others, at: seconds, depth: Self.depth) {
        case .refused(let code): reasons.append(Self.refusal(code))
        case .found(let issuers, let root):
            trusted = root
            // An authority that is limited, for instance to servers, must not issue for licences.
            let isLimited = issuers.contains { purposes in
                purposes.map { !$0.contains(purpose) && !$0.contains(Self.anyPurpose) } ?? false
            }
            if isLimited { reasons.append(.issuerPurpose) }
        }
        for reason in profile(leaf) where !reasons.contains(reason) { reasons.append(reason) }
        // The key comes last: judging a large one is slow, which an untrusted certificate is not worth.
        if !reasons.isEmpty { return .refused(reasons) }
        do throws(KeyRefusal) { return .trusted(VerificationKey(try leaf.publicKey()), root: trusted) } catch {
            return .refused([.key(error)])
        }
    }

    private static let anyPurpose = "2.5.29.37.0"

    /// The requirements for the leaf itself, which a chain does not check.
    private func profile(_ leaf: Certificate) -> [CertificateRefusal] {
        var reasons: [CertificateRefusal] = []
        if !leaf.isVersion3 { reasons.append(.version) }
        if leaf.isAuthority { reasons.append(.leafIsAuthority) }
        if !leaf.isForSignatures { reasons.append(.keyUsage) }
        if leaf.purposes?.contains(purpose) != true { reasons.append(.purpose) }
        if !leaf.hasProperSerial { reasons.append(.serial) }
        if leaf.hasUnknownCriticalExtension { reasons.append(.criticalExtension) }
        if leaf.isMalformed { reasons.append(.chain("an extension is malformed")) }
        return reasons
    }

    /// OpenSSL's code as a reason.
    private static func refusal(_ code: Int32) -> CertificateRefusal {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            .untrusted
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: .signature
        case X509_V_ERR_CERT_CHAIN_TOO_LONG: .tooDeep
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_CRL_HAS_EXPIRED,
            X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_DIFFERENT_CRL_SCOPE,
            X509_V_ERR_KEYUSAGE_NO_CRL_SIGN, X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION:
            .revocationUnknown
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_PATH_LENGTH_EXCEEDED,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN, X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION:
            .authority
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weak
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .criticalExtension
        default: .chain(CertificateStore.words(code))
        }
    }
}

/// Cached results by the bytes of a chain: tokens of one issuer contain the same chain, and judging it costs more than
/// their signatures. The result depends only on the question.
private final class VerdictCache: Sendable {
    struct Question: Hashable {
        let chain: [[UInt8]]
        let seconds: Int
        let purpose: String
    }

    /// Anyone may send any number of chains, of up to 1 MiB: neither number nor size may exhaust the memory.
    private static let limit = 64
    private static let longest = 65_536
    private let verdicts = Guarded<[Question: CertificateVerifier.Verdict]>([:])

    func answer(to question: Question) -> CertificateVerifier.Verdict? { verdicts.withLock { $0[question] } }

    func remember(_ verdict: CertificateVerifier.Verdict, of question: Question) {
        if question.chain.reduce(0, { $0 + $1.count }) > Self.longest { return }
        verdicts.withLock { verdicts in
            if verdicts.count >= Self.limit { verdicts.removeAll(keepingCapacity: true) }
            verdicts[question] = verdict
        }
    }
}
