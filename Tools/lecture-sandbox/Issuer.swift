import Glibc
import SandboxSecurity

/// Issues licence files: its own authority, created at run time, and everything that a verifier must trust.
///
/// The directory is a trust directory: `roots.pem`, `crl.pem`, `jwks.json`, `hs.key`. The private keys are below it in
/// `issuer/`. Belongs to one thread at a time.
final class Issuer {
    /// The purpose of certificates that sign licences.
    static let purpose = "2.25.89899942137799056936344897307910326261"
    private static let lifetime = 10 * 365 * 86_400
    /// The identities that are created once and kept, in this order: each is signed by one before it.
    private static let kept = ["root", "issuer", "es256", "ed25519", "rsa", "revoked"]

    private let directory: String
    private let identities: [String: Identity]
    private let secret: [UInt8]
    private var signers: [String: Signer] = [:]

    /// The files that an issuer leaves in its directory, those of `issuer/` first.
    static var files: [String] {
        kept.flatMap { ["issuer/\($0).pem", "issuer/\($0).key"] } + ["roots.pem", "crl.pem", "jwks.json", "hs.key"]
    }

    /// Opens the issuer of a directory, or creates one.
    ///
    /// - Parameter directory: the directory of the trust files; created if missing.
    /// - Throws: ``Problem``, or GnuTLS's error.
    init(in directory: String) throws {
        self.directory = directory
        for path in [directory, "\(directory)/issuer"] {
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw Problem.cannotCreate("cannot make \(path): \(systemMessage())")
            }
        }
        // Written last, so that an incomplete directory is created again.
        let isMade = unsafe access("\(directory)/roots.pem", F_OK) == 0
        if unsafe access("\(directory)/hs.key", F_OK) != 0 {
            try writeFile(Array(Text.hex(randomBytes(32)).utf8), to: "\(directory)/hs.key")
        }
        secret = try readFile("\(directory)/hs.key")
        identities = try isMade ? Self.read(directory) : Self.make()
        if !isMade { try write() }
    }

    private static func read(_ directory: String) throws -> [String: Identity] {
        var identities: [String: Identity] = [:]
        for name in kept {
            let (pem, key) = (
                try readFile("\(directory)/issuer/\(name).pem"), try readFile("\(directory)/issuer/\(name).key")
            )
            identities[name] = Identity(
                certificatePEM: String(decoding: pem, as: UTF8.self), keyPEM: String(decoding: key, as: UTF8.self))
        }
        return identities
    }

    private static func make() throws -> [String: Identity] {
        let root = try Identity(authority("Lecture Sandbox Licence Root"))
        let issuer = try Identity(authority("Lecture Sandbox Licence Issuer"), by: root)
        return [
            "root": root, "issuer": issuer, "es256": try Identity(leaf(.ec), by: issuer),
            "ed25519": try Identity(leaf(.ed25519), by: issuer), "rsa": try Identity(leaf(.rsa(2048)), by: issuer),
            "revoked": try Identity(leaf(.ec), by: issuer),
        ]
    }

    private static func authority(_ name: String) -> Identity.Plan {
        var plan = Identity.Plan(name)
        (plan.isAuthority, plan.signsLists, plan.ends) = (true, true, lifetime)
        return plan
    }

    private static func leaf(_ key: Identity.Plan.Key) -> Identity.Plan {
        var plan = Identity.Plan("Lecture Sandbox Licences")
        (plan.key, plan.purposes, plan.ends) = (key, [purpose], lifetime)
        return plan
    }

    private func identity(_ name: String) throws -> Identity {
        guard let identity = identities[name] else { throw Problem.input("there is no key called '\(name)'") }
        return identity
    }

    private func write() throws {
        for (name, identity) in identities {
            try writeFile(Array(identity.certificatePEM.utf8), to: "\(directory)/issuer/\(name).pem")
            try writeFile(Array(identity.keyPEM.utf8), to: "\(directory)/issuer/\(name).key")
        }
        let (root, issuer) = (try identity("root"), try identity("issuer"))
        // A list of each authority: if there are any lists, they must cover every certificate.
        let lists =
            try revocationList(by: root, revoking: [], goodFor: Self.lifetime)
            + revocationList(by: issuer, revoking: [try identity("revoked")], goodFor: Self.lifetime)
        try writeFile(Array(lists.utf8), to: "\(directory)/crl.pem")
        try writeFile(Array((try keySet().text + "\n").utf8), to: "\(directory)/jwks.json")
        try writeFile(Array(root.certificatePEM.utf8), to: "\(directory)/roots.pem")
    }

    // MARK: Keys

    /// The public keys (RFC 7517 section 5): a key is only for the algorithm that names it.
    private func keySet() throws -> JSON {
        let keys = try LicenceOrder.Algorithm.allCases.filter { $0 != .hs256 }.map { algorithm in
            JSON.object(
                try members(of: signer(algorithm.keyName)) + [
                    ("kid", .string(algorithm.keyIdentifier)), ("alg", .string(algorithm.rawValue)),
                    ("use", .string("sig")),
                ])
        }
        return .object([("keys", .array(keys))])
    }

    private func members(of signer: Signer) throws -> [(String, JSON)] {
        func text(_ bytes: [UInt8]) -> JSON { .string(Text.base64URL(bytes)) }
        switch try signer.parts() {
        case .ec(let x, let y):
            return [("kty", .string("EC")), ("crv", .string("P-256")), ("x", text(x)), ("y", text(y))]
        case .ed25519(let x): return [("kty", .string("OKP")), ("crv", .string("Ed25519")), ("x", text(x))]
        case .rsa(let modulus, let exponent):
            return [("kty", .string("RSA")), ("n", text(modulus)), ("e", text(exponent))]
        }
    }

    /// A kept key, read once.
    private func signer(_ name: String) throws -> Signer {
        if let known = signers[name] { return known }
        let signer = try Signer(try identity(name))
        signers[name] = signer
        return signer
    }

    /// A key with the certificates that lead to a root, or do not.
    private func certified(_ order: LicenceOrder) throws -> (signer: Signer, chain: [[UInt8]]) {
        let issuer = try signer("issuer").certificate
        let name = order.algorithm.keyName
        switch order.leaf {
        case .good: return (try signer(name), [try signer(name).certificate, issuer])
        case .revoked: return (try signer("revoked"), [try signer("revoked").certificate, issuer])
        case .noChain: return (try signer(name), [try signer(name).certificate])
        default: break
        }
        var plan = Self.leaf(order.algorithm.newKey)
        var authority: Identity? = try identity("issuer")
        switch order.leaf {
        case .expired: (plan.begins, plan.ends) = (-2 * 86_400, -3600)
        case .early: plan.begins = 86_400
        case .otherPurpose: plan.purposes = ["1.3.6.1.5.5.7.3.1"]
        case .anyPurpose: plan.purposes = ["2.5.29.37.0"]
        case .noPurpose: plan.purposes = []
        case .authority: plan.isAuthority = true
        case .rsa1024: plan.key = .rsa(1024)
        case .otherIssuer: authority = try Identity(Self.authority("Another Issuer"))
        case .namesake: authority = try Identity(Self.authority("Lecture Sandbox Licence Issuer"))
        case .selfSigned: authority = nil
        case .good, .revoked, .noChain: break
        }
        let made = try Signer(try Identity(plan, by: authority))
        return (made, order.leaf == .selfSigned ? [made.certificate] : [made.certificate, issuer])
    }

    /// The names by which licences remember the keys: docs/licences.md says how they are made.
    ///
    /// - Returns: `secret`, `root`, and the public keys by their `kid`.
    /// - Throws: ``Problem``, or GnuTLS's error.
    func thumbprints() throws -> JSON {
        var names: [(String, JSON)] = [
            (
                "secret",
                .string(Text.base64URL(hmacSHA256(key: secret, message: Array("lecturekit/granting-key/1".utf8))))
            )
        ]
        guard case .ec(let x, let y) = try signer("root").parts() else {
            throw Problem.input("the root is not on P-256")
        }
        // SubjectPublicKeyInfo (RFC 5480 section 2): an uncompressed point on P-256.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        names.append(("root", .string(Text.base64URL(sha256(head + x + y)))))
        for algorithm in LicenceOrder.Algorithm.allCases where algorithm != .hs256 {
            // RFC 7638 section 3: the required members in lexicographic order.
            let members = try members(of: signer(algorithm.keyName)).sorted { $0.0 < $1.0 }
            let name = Text.base64URL(sha256(Array(JSON.object(members).text.utf8)))
            names.append((algorithm.keyIdentifier, .string(name)))
        }
        return .object(names)
    }

    // MARK: Licences

    /// Signs what was ordered.
    ///
    /// - Parameter order: a licence file or an application key.
    /// - Returns: the compact form (RFC 7515 section 3.1).
    /// - Throws: ``Problem``, or GnuTLS's error.
    func issue(_ order: LicenceOrder) throws -> String {
        var header: [(String, JSON)] = [("alg", .string(order.algorithm.rawValue)), ("typ", .string("JWT"))]
        var signer: Signer?
        switch order.proof {
        case .secret: break
        case .kid:
            header.append(("kid", .string(order.algorithm.keyIdentifier)))
            signer = try self.signer(order.algorithm.keyName)
        case .x5c:
            let (key, chain) = try certified(order)
            header.append(("x5c", .array(chain.map { .string(Text.base64($0)) })))
            signer = key
        }
        header = LicenceOrder.merged(header, order.header)
        let parts = [JSON.object(header), .object(order.claims)].map { Text.base64URL(Array($0.text.utf8)) }
        let signed = parts.joined(separator: ".")
        if order.spoiling == .unsigned { return signed + "." }
        var signature =
            if let signer, let algorithm = Signer.Algorithm(rawValue: order.algorithm.rawValue) {
                try signer.sign(Array(signed.utf8), algorithm)
            } else {
                hmacSHA256(key: secret, message: Array(signed.utf8))
            }
        if order.spoiling == .signature { signature[signature.count - 1] ^= 1 }
        return signed + "." + Text.base64URL(signature)
    }
}
