import LectureModel
import SandboxSecurity

/// Signs the certificates of the listeners: one for the process, since key generation is slow.
final class Authority: Sendable {
    static let shared = Result { try Authority() }

    /// What a client must trust, PEM.
    var pem: String { root.certificatePEM }
    private let root: Identity
    private let made = Guarded<[Security.Certificate: Identity]>([:])
    private let between = Guarded<[Security.Certificate: Identity]>([:])

    private init() throws { root = try Identity(Self.authority("Hostile Authority")) }

    /// The certificate of a server.
    func identity(_ certificate: Security.Certificate) throws -> Identity {
        if let known = made.withLock({ $0[certificate] }) { return known }
        let identity = try make(certificate)
        // Two threads may have made one each; both are valid.
        made.withLock { $0[certificate] = identity }
        return identity
    }

    /// What a server sends along with its certificate, PEM.
    func chain(_ certificate: Security.Certificate) throws -> String {
        guard certificate != .lacksIntermediate else { return "" }
        return try intermediate(certificate)?.certificatePEM ?? ""
    }

    /// The authority between the root and the server.
    private func intermediate(_ certificate: Security.Certificate) throws -> Identity? {
        if let known = between.withLock({ $0[certificate] }) { return known }
        var plan = Self.authority("Hostile Intermediate")
        switch certificate {
        case .goodChain, .lacksIntermediate: break
        case .outsideConstraints: plan.permittedHosts = ["example.org"]
        case .expiredIntermediate: plan.ends = -3600
        case .md5: plan.key = .rsa(2048)
        case .signedByServer:
            plan = .init("localhost")
            plan.hosts = ["localhost"]
        default: return nil
        }
        let identity = try Identity(plan, by: root)
        return between.withLock { between in
            between[certificate] = between[certificate] ?? identity
            return between[certificate]
        }
    }

    private func make(_ certificate: Security.Certificate) throws -> Identity {
        var plan = Identity.Plan("localhost")
        plan.hosts = ["localhost"]
        var issuer: Identity? = try intermediate(certificate) ?? root
        switch certificate {
        case .good, .goodChain, .lacksIntermediate, .signedByServer, .outsideConstraints, .expiredIntermediate: break
        case .selfSigned: issuer = nil
        case .expired: plan.ends = -3600
        case .early: (plan.begins, plan.ends) = (86_400, 2 * 86_400)
        case .otherHost: (plan.commonName, plan.hosts) = ("lectures.example.org", ["lectures.example.org"])
        case .starHost: (plan.commonName, plan.hosts) = ("everybody", ["*"])
        case .partialStar: (plan.commonName, plan.hosts) = ("many", ["local*", "l*t", "*host"])
        case .zeroInHost:
            (plan.commonName, plan.hosts, plan.rawHost) = ("unrelated", [], Array("localhost\0.example.org".utf8))
        case .addressOnly: (plan.commonName, plan.hosts, plan.addresses) = ("address", [], [[127, 0, 0, 1]])
        case .commonNameOnly: plan.hosts = []
        case .unknownAuthority: issuer = try Identity(Self.authority("Unknown Authority"))
        case .namesakeAuthority: issuer = try Identity(Self.authority("Hostile Authority"))
        case .sha1: plan.digest = .sha1
        case .md5: (plan.digest, plan.key) = (.md5, .rsa(2048))
        case .rsa1024: plan.key = .rsa(1024)
        case .rsa2048: plan.key = .rsa(2048)
        }
        return try Identity(plan, by: issuer)
    }

    private static func authority(_ name: String) -> Identity.Plan {
        var plan = Identity.Plan(name)
        plan.isAuthority = true
        return plan
    }
}
