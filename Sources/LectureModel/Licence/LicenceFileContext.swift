/// What a licence file is held against: the time, who asks, and what is known of it already. A member that is nil asks
/// for nothing; one that is there has to be met, and a file that is silent about it is refused.
public struct LicenceFileContext: Hashable, Sendable {
    /// The trusted time.
    public var now: Timestamp
    /// The thumbprint of the device's key (RFC 7638) as base64url, for `cnf`.
    public var device: String?
    /// The content, for `mck`.
    public var content: String?
    /// The learner, for `sub`.
    public var user: String?
    /// Who is to accept it, for `aud`.
    public var audience: String?
    /// Who may have issued it, for `iss`.
    public var issuer: String?
    /// How many plays were taken already.
    public var countUsed: Int64 = 0
    /// How much play time was taken already.
    public var playTimeUsed: Duration = .zero
    /// The latest time that was ever seen; a clock before it is not believed.
    public var lastSeen: Timestamp?
    /// The serial number of the licence that is held: an older one is refused. Held against `iat` in seconds where a
    /// file has no `serial`.
    public var serialFloor: Int64?
    /// The identities (`jti`) that were taken already.
    public var seenTokens: [String] = []
    /// The extended key usage that a signer's certificate needs, in dotted numbers; nil for that of licences.
    public var purpose: String?
    /// Whether a file that names no content is refused even if ``content`` is nil; an application's key names a bundle.
    public var needsContent = false

    /// A context that asks for nothing but the time.
    ///
    /// - Parameter now: the trusted time.
    public init(now: Timestamp) { self.now = now }
}
