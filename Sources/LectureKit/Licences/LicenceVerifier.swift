import LectureCrypto
package import LectureLicence
public import LectureModel

/// What a licence file is worth.
public struct LicenceFileVerdict: Sendable, Hashable {
    /// One thing that speaks against it.
    public struct Reason: Sendable, Hashable {
        /// The frozen name, for programs.
        public let name: String
        /// A sentence for people, without a full stop.
        public let sentence: String

        init(_ name: String, _ sentence: String) { (self.name, self.sentence) = (name, sentence) }
    }

    /// Everything that speaks against it, the first that applies first; empty when it is accepted.
    public let reasons: [Reason]
    /// The algorithm of a signature that is right; nil when none is.
    public let algorithm: String?
    /// The claims of a licence file whose signature is right.
    package let file: LicenceFile?
    private let payload: [UInt8]

    init(_ reasons: [Reason], algorithm: String? = nil, payload: [UInt8] = [], file: LicenceFile? = nil) {
        (self.reasons, self.algorithm, self.payload, self.file) = (reasons, algorithm, payload, file)
    }

    /// Whether nothing speaks against it.
    public var isAccepted: Bool { reasons.isEmpty }

    /// The names of the reasons, each once.
    public var reasonNames: [String] {
        var names: [String] = []
        for reason in reasons where !names.contains(reason.name) { names.append(reason.name) }
        return names
    }

    /// The claims, for people; none of a token whose signature is wrong. In their order, values that are no text as
    /// JSON; of an encrypted key only that it is there.
    public var claims: [(name: String, value: String)] {
        let members = (try? JSONScanner.value(of: payload))?.members ?? []
        return members.map { member in
            if member.name == "content_key" { return (member.name, "encrypted for the device") }
            return (member.name, member.value.string ?? member.value.text)
        }
    }
}

/// Judges licence files and answers of DRM callbacks: first the signature, then, only when it is right, the claims.
/// Nothing of a token whose signature is wrong is read or told. Any thread may use it.
public struct LicenceVerifier: Sendable {
    private let trust: LicenceTrust

    /// Makes a verifier.
    ///
    /// - Parameter trust: what tokens are judged by.
    public init(trust: LicenceTrust) { self.trust = trust }

    /// Judges a token.
    ///
    /// - Parameters:
    ///   - token: the whole compact token, nothing before and nothing behind it.
    ///   - kind: what it is to be judged by; nil for whatever is there and fits.
    ///   - context: what its claims are held against.
    /// - Returns: the verdict. It is a refusal also when what it should be judged by is missing.
    /// - Throws: ``LectureError`` with the code `cryptography` when nothing can be judged.
    public func verify(
        token: String, trust kind: LicenceTrust.Kind? = nil, context: LicenceFileContext
    ) throws(LectureError) -> LicenceFileVerdict {
        let policy: KeyPolicy
        switch self.policy(kind, purpose: context.purpose) {
        case .failure(let reason): return LicenceFileVerdict([reason.reason])
        case .success(let found): policy = found
        }
        // Before it is copied: a line of many megabytes is not worth more of them.
        if token.utf8.count > 1 << 20 { return LicenceFileVerdict([Self.reason(.tooLong)]) }
        let verdict = try TokenVerifier.verify(Array(token.utf8), keys: policy, at: context.now)
        guard let verified = verdict.token else { return LicenceFileVerdict(verdict.reasons.map(Self.reason)) }
        if let type = verified.header["typ"]?.string, Self.isForeign(type) {
            return LicenceFileVerdict([Self.reason(.type)])
        }
        let finding = LicenceFileJudge.judge(verified.payload, context) { try? JWK.thumbprint($0) }
        return LicenceFileVerdict(
            finding.reasons.map { .init($0.name, $0.sentence) }, algorithm: verified.algorithm.rawValue,
            payload: verified.payload, file: finding.file)
    }

    // MARK: Keys

    private struct Unfit: Error {
        let reason: LicenceFileVerdict.Reason
    }

    private func policy(_ kind: LicenceTrust.Kind?, purpose: String?) -> Result<KeyPolicy, Unfit> {
        var certificates = trust.certificates.value
        if let purpose { certificates?.purpose = purpose }
        switch kind {
        case .secret: return Self.policy(trust.secrets) { KeyPolicy(keys: $0) }
        case .keySet: return Self.policy(trust.keys) { KeyPolicy(keys: $0) }
        case .certificates:
            return Self.policy(trust.certificates) { KeyPolicy(keys: [], certificates: certificates ?? $0) }
        case nil:
            let keys = (trust.secrets.value ?? []) + (trust.keys.value ?? [])
            if keys.isEmpty, certificates == nil { return .failure(Self.missing) }
            return .success(KeyPolicy(keys: keys, certificates: certificates))
        }
    }

    private static func policy<Value>(
        _ part: LicenceTrust.Part<Value>, _ make: (Value) -> KeyPolicy
    ) -> Result<KeyPolicy, Unfit> {
        switch part {
        case .missing: .failure(missing)
        case .unusable(let error):
            .failure(Unfit(reason: .init("trust_unusable", "what it is to be judged by is unusable: \(error.cause)")))
        case .ready(let value): .success(make(value))
        }
    }

    private static let missing = Unfit(reason: .init("trust_missing", "what it is to be judged by is not there"))

    private static func reason(_ refusal: TokenRefusal) -> LicenceFileVerdict.Reason {
        .init(refusal.name, refusal.sentence)
    }

    // MARK: Types

    /// Types of tokens that others have registered for something else (RFC 8725 section 3.11): no licence says that it
    /// is one of them, so a token that does was not issued to be a licence, whatever its claims. Issuers of licences
    /// write `JWT`, something of their own, or nothing.
    private static let foreignTypes: Set<String> = [
        "at+jwt", "dpop+jwt", "secevent+jwt", "logout+jwt", "token-introspection+jwt", "oauth-authz-req+jwt",
        "kb+jwt", "sd-jwt", "vc+sd-jwt", "dc+sd-jwt", "vc+jwt", "vp+jwt", "entity-statement+jwt", "trust-mark+jwt",
        "client-authentication+jwt", "jwk-set+jwt", "passport", "rats-eat+jwt", "jose+json",
    ]

    private static func isForeign(_ type: String) -> Bool {
        let lower = type.lowercased()
        let prefix = "application/"
        return foreignTypes.contains(lower.hasPrefix(prefix) ? String(lower.dropFirst(prefix.count)) : lower)
    }
}
