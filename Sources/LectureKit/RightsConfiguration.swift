/// What is sealed before it is written.
public enum SealPolicy: String, Sendable, CaseIterable {
    /// Licensed lectures.
    case licensed
    /// Everything.
    case always
    /// Nothing; licensed lectures are refused.
    case never
}

/// How the answers of DRM callbacks and play callbacks are verified, and what happens when a server does not answer.
public struct RightsConfiguration: Sendable, Hashable {
    /// A key for verifying answers.
    public struct Key: Sendable, Hashable {
        /// Where a key is. Secrets come only from files that no other user may read.
        public enum Place: Sendable, Hashable {
            /// A file with a secret for HMAC; one line end after a text secret does not count.
            case secret(String)
            /// A file with a JWK set.
            case keySet(String)
            /// A file with root certificates (PEM).
            case roots(String)
        }

        /// The name that descriptors use for it (`drm.key_id`).
        public var id: String
        /// The only algorithm it is for; nil for any that fits its kind.
        public var algorithm: String?
        /// Where it is.
        public var place: Place
        /// Whether a secret of fewer than 32 bytes is permitted, because an old server uses one.
        public var isLegacy: Bool

        /// Creates a key.
        ///
        /// - Parameters:
        ///   - id: the name by which descriptors call it.
        ///   - place: where it is.
        ///   - algorithm: the only algorithm it is for.
        ///   - isLegacy: whether a short secret is permitted.
        public init(id: String, place: Place, algorithm: String? = nil, isLegacy: Bool = false) {
            (self.id, self.place, self.algorithm, self.isLegacy) = (id, place, algorithm, isLegacy)
        }
    }

    /// The keys; answers are refused when there is none, unless ``permitsUnverified`` is set.
    public var keys: [Key] = []
    /// The required value of an answer's `X-KOLLUS-USERKEY`, when it has one.
    public var userKey: String?
    /// Whether a lecture stays locked until the server has acknowledged its download (kind 2).
    public var isStrict = false
    /// Whether answers are accepted unverified when there is no key. Anyone who can answer in the server's place can
    /// then grant anything.
    public var permitsUnverified = false

    /// Creates a configuration without keys.
    public init() {}
}

/// The application's key (section *Application key* of the command's contract).
public struct ApplicationConfiguration: Sendable, Hashable {
    /// The key: a licence file issued for the bundle.
    public var key: String
    /// The bundle it is issued for.
    public var bundleID: String
    /// When it ends, as issued: see ``ApplicationKey/check(_:trust:now:)`` for the ways to write it.
    public var expires: String
    /// A directory with what the key is verified with, as ``LicenceTrust/init(directory:)`` reads it; nil for the
    /// public keys and roots of ``RightsConfiguration/keys``.
    public var trustDirectory: String?

    /// Creates an application's configuration.
    ///
    /// - Parameters:
    ///   - key: a licence file that is issued for the bundle.
    ///   - bundleID: the bundle.
    ///   - expires: when it ends, as issued.
    ///   - trustDirectory: what the key is verified with; nil for the public keys and roots of the configuration.
    public init(key: String, bundleID: String, expires: String, trustDirectory: String? = nil) {
        (self.key, self.bundleID, self.expires) = (key, bundleID, expires)
        self.trustDirectory = trustDirectory
    }
}
