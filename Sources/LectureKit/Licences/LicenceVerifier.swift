import LectureCrypto
import LectureFormats
package import LectureLicence
public import LectureModel

/// The verdict on a licence file.
public struct LicenceFileVerdict: Sendable, Hashable {
    /// One reason against it.
    public struct Reason: Sendable, Hashable {
        /// The frozen name, for programs.
        public let name: String
        /// A sentence for people, without a full stop.
        public let sentence: String

        init(_ name: String, _ sentence: String) { (self.name, self.sentence) = (name, sentence) }
    }

    /// All reasons against it, in order of evaluation; empty when it is accepted.
    public let reasons: [Reason]
    /// The algorithm of a valid signature; nil without one.
    public let algorithm: String?
    /// The claims of a licence file with a valid signature.
    package let file: LicenceFile?
    private let payload: [UInt8]

    init(_ reasons: [Reason], algorithm: String? = nil, payload: [UInt8] = [], file: LicenceFile? = nil) {
        (self.reasons, self.algorithm, self.payload, self.file) = (reasons, algorithm, payload, file)
    }

    /// Whether there is no reason against it.
    public var isAccepted: Bool { reasons.isEmpty }

    /// The names of the reasons, each once.
    public var reasonNames: [String] {
        var names: [String] = []
        for reason in reasons where !names.contains(reason.name) { names.append(reason.name) }
        return names
    }

    /// The claims, for people; none for a token with an invalid signature. In order, non-text values as JSON; an
    /// encrypted key is only mentioned.
    public var claims: [(name: String, value: String)] {
        let members = (try? JSONScanner.value(of: payload))?.members ?? []
        return members.map { member in
            if member.name == "content_key" { return (member.name, "encrypted for the device") }
            return (member.name, member.value.string ?? member.value.text)
        }
    }
}

/// Verifies licence files and answers of DRM callbacks: first the signature, then, only when it is valid, the claims.
/// Nothing of a token with an invalid signature is read or returned. Any thread may use it.
public struct LicenceVerifier: Sendable {
    private let trust: LicenceTrust
    /// The policies of secrets, of public keys, and of both, made once instead of for each token.
    private let (secrets, keys): (Result<KeyPolicy, Unfit>, Result<KeyPolicy, Unfit>)
    private let both: KeyPolicy

    /// Makes a verifier.
    ///
    /// - Parameter trust: what tokens are verified with.
    public init(trust: LicenceTrust) {
        self.trust = trust
        secrets = Self.policy(trust.secrets) { KeyPolicy(keys: $0) }
        keys = Self.policy(trust.keys) { KeyPolicy(keys: $0) }
        both = KeyPolicy(keys: (trust.secrets.value ?? []) + (trust.keys.value ?? []))
    }

    /// Verifies a token.
    ///
    /// - Parameters:
    ///   - token: the whole compact token, with nothing before or after it.
    ///   - kind: what it is to be verified with; nil for anything available that fits.
    ///   - context: what its claims are checked against.
    /// - Returns: the verdict. It is also a refusal when what it should be verified with is missing.
    /// - Throws: ``LectureError`` with the code `cryptography` when nothing can be verified.
    public func verify(
        token: String, trust kind: LicenceTrust.Kind? = nil, context: LicenceFileContext
    ) throws(LectureError) -> LicenceFileVerdict {
        try examine(token, kind, context).verdict
    }

    /// Verifies a token, and says who signed it.
    ///
    /// - Parameters:
    ///   - token: as above.
    ///   - context: as above.
    /// - Returns: the verdict, and the thumbprint of the key; empty for a token whose signature is not valid.
    /// - Throws: ``LectureError`` with the code `cryptography` when nothing can be verified.
    func verifySigner(
        token: String, context: LicenceFileContext
    ) throws(LectureError) -> (verdict: LicenceFileVerdict, signer: String) {
        let (verdict, verified) = try examine(token, nil, context)
        return (verdict, try verified?.signerThumbprint() ?? "")
    }

    /// Verifies a statement about new keys.
    ///
    /// - Parameters:
    ///   - token: the compact token.
    ///   - now: the earliest time it can be; nil when none is known.
    /// - Returns: the statement, and the thumbprint of the key that signed it.
    /// - Throws: ``LectureError`` with the code `rekeyRefused`, whose cause names every reason, or `cryptography`.
    func statement(
        token: String, at now: Timestamp?
    ) throws(LectureError) -> (statement: KeyStatement, signer: String) {
        func refusal(_ reasons: [LicenceFileVerdict.Reason]) -> LectureError {
            LectureError(.rekeyRefused, cause: reasons.map(\.sentence).joined(separator: "; "))
        }
        let policy: KeyPolicy
        switch self.policy(nil, purpose: nil) {
        case .failure(let reason): throw refusal([reason.reason])
        case .success(let found): policy = found
        }
        if token.utf8.count > 1 << 20 { throw refusal([Self.reason(.tooLong)]) }
        // Without a time no certificate is valid: 1970 is before all of them.
        let time = now ?? Timestamp(milliseconds: 0)
        let verdict = try TokenVerifier.verify(Array(token.utf8), keys: policy, at: time)
        guard let verified = verdict.token else { throw refusal(verdict.reasons.map(Self.reason)) }
        guard verified.header["typ"]?.string == KeyStatement.type else { throw refusal([Self.reason(.type)]) }
        let payload: JSONValue
        do throws(LectureError) { payload = try JSONScanner.value(of: verified.payload) } catch {
            throw LectureError(.rekeyRefused, cause: error.cause)
        }
        return (try KeyStatement(payload, at: now), try verified.signerThumbprint())
    }

    private func examine(
        _ token: String, _ kind: LicenceTrust.Kind?, _ context: LicenceFileContext
    ) throws(LectureError) -> (verdict: LicenceFileVerdict, verified: VerifiedToken?) {
        let policy: KeyPolicy
        switch self.policy(kind, purpose: context.purpose) {
        case .failure(let reason): return (LicenceFileVerdict([reason.reason]), nil)
        case .success(let found): policy = found
        }
        // Before copying: a line of many megabytes is not worth more memory.
        if token.utf8.count > 1 << 20 { return (LicenceFileVerdict([Self.reason(.tooLong)]), nil) }
        let verdict = try TokenVerifier.verify(Array(token.utf8), keys: policy, at: context.now)
        guard let verified = verdict.token else { return (LicenceFileVerdict(verdict.reasons.map(Self.reason)), nil) }
        if let type = verified.header["typ"]?.string, Self.isForeign(type) {
            return (LicenceFileVerdict([Self.reason(.type)]), nil)
        }
        let finding = LicenceFileJudge.judge(verified.payload, context) { try? JWK.thumbprint($0) }
        let found = LicenceFileVerdict(
            finding.reasons.map { .init($0.name, $0.sentence) }, algorithm: verified.algorithm.rawValue,
            payload: verified.payload, file: finding.file)
        return (found, verified)
    }

    // MARK: Keys

    fileprivate struct Unfit: Error {
        let reason: LicenceFileVerdict.Reason
    }

    private func policy(_ kind: LicenceTrust.Kind?, purpose: String?) -> Result<KeyPolicy, Unfit> {
        switch kind {
        case .secret: return secrets
        case .keySet: return keys
        case .certificates:
            return Self.policy(trust.certificates) { KeyPolicy(keys: [], certificates: Self.certificates($0, purpose)) }
        case nil:
            var policy = both
            policy.certificates = trust.certificates.value.map { Self.certificates($0, purpose) }
            if policy.keys.isEmpty, policy.certificates == nil { return .failure(Self.missing) }
            return .success(policy)
        }
    }

    private static func certificates(_ verifier: CertificateVerifier, _ purpose: String?) -> CertificateVerifier {
        guard let purpose else { return verifier }
        var verifier = verifier
        verifier.purpose = purpose
        return verifier
    }

    private static func policy<Value>(
        _ part: LicenceTrust.Part<Value>, _ make: (Value) -> KeyPolicy
    ) -> Result<KeyPolicy, Unfit> {
        switch part {
        case .missing: .failure(missing)
        case .unusable(let error):
            .failure(Unfit(reason: .init("trust_unusable", "what verifies it is unusable: \(error.cause)")))
        case .ready(let value): .success(make(value))
        }
    }

    private static let missing = Unfit(reason: .init("trust_missing", "what verifies it is missing"))

    private static func reason(_ refusal: TokenRefusal) -> LicenceFileVerdict.Reason {
        .init(refusal.name, refusal.sentence)
    }

    // MARK: Types

    /// Token types registered for other purposes (RFC 8725 section 3.11): no licence has one of them, so a token that
    /// does was not issued as a licence, whatever its claims. Issuers of licences write `JWT`, a type of their own, or
    /// nothing.
    private static let foreignTypes: Set<String> = [
        "at+jwt", "dpop+jwt", "secevent+jwt", "logout+jwt", "token-introspection+jwt", "oauth-authz-req+jwt",
        "kb+jwt", "sd-jwt", "vc+sd-jwt", "dc+sd-jwt", "vc+jwt", "vp+jwt", "entity-statement+jwt", "trust-mark+jwt",
        "client-authentication+jwt", KeyStatement.type, "jwk-set+jwt", "passport", "rats-eat+jwt", "jose+json",
    ]

    private static func isForeign(_ type: String) -> Bool {
        let lower = type.lowercased()
        let prefix = "application/"
        return foreignTypes.contains(lower.hasPrefix(prefix) ? String(lower.dropFirst(prefix.count)) : lower)
    }
}
