/// What a licence file is checked against: the time, the caller, and what is already known of it. A member that is nil
/// checks nothing; any other must match, and a file without the claim is refused.
public struct LicenceFileContext: Hashable, Sendable {
    /// The trusted time.
    public var now: Timestamp
    /// The thumbprint of the device's key (RFC 7638) as base64url, for `cnf`.
    public var device: String?
    /// The lecture, for `mck`.
    public var content: String?
    /// The learner, for `sub`.
    public var user: String?
    /// Who is to accept it, for `aud`.
    public var audience: String?
    /// Who may have issued it, for `iss`.
    public var issuer: String?
    /// How many plays were already used.
    public var countUsed: Int64 = 0
    /// How much play time was already used.
    public var playTimeUsed: Duration = .zero
    /// The latest time that was ever seen; a clock before it is not trusted.
    public var lastSeen: Timestamp?
    /// The serial number of the current licence: an older one is refused. Compared with `iat` in seconds where a file
    /// has no `serial`.
    public var serialFloor: Int64?
    /// The identities (`jti`) that were already used.
    public var seenTokens: [String] = []
    /// The extended key usage that a signer's certificate needs, in dotted numbers; nil for that of licences.
    public var purpose: String?
    /// Whether a file that names no lecture is refused even if ``content`` is nil; an application's key names a bundle.
    public var needsContent = false

    /// A context that checks only the time.
    ///
    /// - Parameter now: the trusted time.
    public init(now: Timestamp) { self.now = now }
}
