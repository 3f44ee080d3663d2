import LectureCrypto
import LectureFiles
public import LectureModel

/// What tokens are verified with: secrets, public keys, roots. Read once; each kind may be missing or unusable by
/// itself, and then refuses only the tokens that need it.
public struct LicenceTrust: Sendable {
    /// What a token is to be verified with.
    public enum Kind: String, Sendable, CaseIterable {
        /// A secret that is shared with the issuer.
        case secret = "hs"
        /// The public keys of a JWK set.
        case keySet = "jwks"
        /// A chain of certificates to a root (`x5c`).
        case certificates = "x5c"
    }

    /// The longest file of keys or certificates, in bytes.
    static let longest = 1 << 20

    enum Part<Value: Sendable>: Sendable {
        case missing
        case unusable(LectureError)
        case ready(Value)

        init(_ body: () throws(LectureError) -> Value) {
            do throws(LectureError) { self = .ready(try body()) } catch { self = .unusable(error) }
        }

        var value: Value? {
            if case .ready(let value) = self { value } else { nil }
        }

        var fault: LectureError? {
            if case .unusable(let error) = self { error } else { nil }
        }
    }

    private(set) var secrets = Part<[VerificationKey]>.missing
    private(set) var keys = Part<[VerificationKey]>.missing
    private(set) var certificates = Part<CertificateVerifier>.missing
    /// Files with secrets that others may read.
    public private(set) var exposedFiles: [String] = []

    /// Trusts nothing.
    public init() {}

    /// Reads files. An unusable file does not stop the reading: see ``faults``.
    ///
    /// - Parameters:
    ///   - hmacKeyFile: the raw bytes of a secret, at least 32.
    ///   - keySetFile: a JWK set (RFC 7517); weak and broken keys in it are skipped.
    ///   - rootsFile: certificates of authorities, PEM or one in DER.
    ///   - revocationFile: revocation lists, PEM or one in DER; when there are any, every certificate must be covered.
    public init(
        hmacKeyFile: String? = nil, keySetFile: String? = nil, rootsFile: String? = nil, revocationFile: String? = nil
    ) {
        if let path = hmacKeyFile {
            var isExposed = false
            secrets = Part { () throws(LectureError) in [try Self.secret(path, id: nil, isExposed: &isExposed)] }
            if isExposed { exposedFiles.append(path) }
        }
        if let path = keySetFile {
            keys = Part { () throws(LectureError) in try JWKSet(Self.bytes(path), passesBroken: true).keys }
        }
        if let path = rootsFile {
            certificates = Part { () throws(LectureError) in
                let lists = try revocationFile.map { path throws(LectureError) in
                    try PEM.values(of: Self.bytes(path), .revocationList)
                }
                return try CertificateVerifier(
                    roots: try PEM.values(of: Self.bytes(path), .certificate), revocationLists: lists ?? [])
            }
        }
    }

    /// Reads a directory with `hs.key`, `jwks.json`, `roots.pem` and `crl.pem`, each of which may be missing.
    ///
    /// - Parameter directory: the directory.
    public init(directory: String) {
        func place(_ name: String) -> String? {
            let path = "\(directory)/\(name)"
            return PathCheck.exists(path) ? path : nil
        }
        self.init(
            hmacKeyFile: place("hs.key"), keySetFile: place("jwks.json"), rootsFile: place("roots.pem"),
            revocationFile: place("crl.pem"))
    }

    /// Reads the keys of a configuration. Unlike with files, an unusable key is an error: the configuration is the
    /// user's own.
    ///
    /// - Parameter rights: the configuration.
    /// - Throws: ``LectureError``: `configuration`, `secretReadable`, `readFile`, `json`.
    public init(_ rights: RightsConfiguration) throws(LectureError) { self = try ConfiguredKeys(rights.keys).trust }

    /// Uses keys that were read elsewhere.
    init(secrets: [VerificationKey], keys: [VerificationKey], certificates: CertificateVerifier?) {
        if !secrets.isEmpty { self.secrets = .ready(secrets) }
        if !keys.isEmpty { self.keys = .ready(keys) }
        if let certificates { self.certificates = .ready(certificates) }
    }

    /// The same without secrets: a holder of a secret could sign licence files as well as the issuer.
    var withoutSecrets: LicenceTrust {
        var trust = self
        trust.secrets = .missing
        return trust
    }

    /// Whether there are no usable keys.
    var isEmpty: Bool {
        if case .missing = secrets, case .missing = keys, case .missing = certificates { true } else { false }
    }

    /// What could not be used.
    public var faults: [LectureError] { [secrets.fault, keys.fault, certificates.fault].compactMap(\.self) }

    /// The kinds that are usable.
    public var kinds: Set<Kind> {
        var kinds: Set<Kind> = []
        if secrets.value != nil { kinds.insert(.secret) }
        if keys.value != nil { kinds.insert(.keySet) }
        if certificates.value != nil { kinds.insert(.certificates) }
        return kinds
    }

    // MARK: Files

    private static func secret(
        _ path: String, id: String?, isExposed: inout Bool
    ) throws(LectureError) -> VerificationKey {
        let file = try SecretFile.open(path, limit: longest, .open)
        isExposed = file.isExposed
        let bytes = try unsafe SecretBytes(count: file.count) { buffer throws(LectureError) in
            try unsafe file.read(into: buffer)
        }
        do throws(KeyRefusal) { return try VerificationKey(secret: bytes, identifier: id) } catch {
            throw LectureError(.configuration, detail: path, cause: error.sentence)
        }
    }

    /// The bytes of a file that may be public.
    static func bytes(_ path: String) throws(LectureError) -> [UInt8] {
        try SecretFile.open(path, limit: longest, .open).bytes()
    }
}
