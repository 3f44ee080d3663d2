import Foundation
import LectureCrypto
import LectureFormats
import LectureModel
import Testing

/// Tokens with certificates, through the whole verifier.
@Suite struct CertificateTests {
    private let authority: Authority
    private let payload = Array("{}".utf8)
    /// Every certificate of these tests is valid at this time: validity starts when the test runs.
    private let soon = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 86_400_000)

    init() async throws { authority = try await Authority() }

    /// Signs with the first name's key, adds the chain, and returns the reasons for a refusal.
    private func reasons(
        _ names: [String], lists: [[UInt8]] = [], at time: Timestamp? = nil
    ) async throws -> [TokenRefusal] {
        let chain = try await authority.chain(names)
        let verifier = try await authority.verifier(lists: lists)
        let token = try await authority.signer(names[0]).sign(payload, certificates: chain)
        let verdict = try TokenVerifier.verify(
            token, keys: KeyPolicy(keys: [], certificates: verifier), at: time ?? soon)
        #expect((verdict.token == nil) != verdict.reasons.isEmpty)
        return verdict.reasons
    }

    // MARK: Leaves

    @Test func `A leaf below a root signs, and the proof names it`() async throws {
        try await authority.add("leaf")
        #expect(try await reasons(["leaf"]).isEmpty)
        let chain = try await authority.chain(["leaf"])
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let token = try await authority.signer("leaf").sign(payload, certificates: chain)
        let sum = try OpenSSLDigests(proofKey: sample(32)).sha256(of: chain[0])
        let verified = try #require(try TokenVerifier.verify(token, keys: policy, at: soon).token)
        #expect(verified.proof == .certificate(sha256: sum))
        #expect(verified.algorithm == .es256)
    }

    /// Changes of the leaf's extensions and the expected refusals of each.
    private static let profiles: [(String, String, [CertificateRefusal])] = [
        ("extendedKeyUsage = \(CertificateVerifier.licencePurpose)", "", [.purpose]),
        (CertificateVerifier.licencePurpose, "anyExtendedKeyUsage", [.purpose]),
        (CertificateVerifier.licencePurpose, "serverAuth,codeSigning", [.purpose]),
        (CertificateVerifier.licencePurpose, "\(CertificateVerifier.licencePurpose).1", [.purpose]),
        ("keyUsage = critical,digitalSignature", "", [.keyUsage]),
        ("critical,digitalSignature", "critical,keyAgreement", [.keyUsage]),
        ("CA:FALSE", "CA:FALSE\n1.2.3.4 = critical,DER:0500", [.criticalExtension]),
    ]

    @Test(arguments: profiles.indices)
    func `A leaf with another profile is refused`(index: Int) async throws {
        let (old, new, due) = Self.profiles[index]
        try await authority.add("leaf", Authority.leaf.replacing(old, with: new))
        #expect(try await reasons(["leaf"]) == due.map { .certificate($0) })
    }

    @Test func `A leaf that is an authority or may sign certificates is refused`() async throws {
        let purpose = "\nextendedKeyUsage = \(CertificateVerifier.licencePurpose)"
        try await authority.add(
            "ca", Authority.issuer.replacing("keyCertSign", with: "digitalSignature,keyCertSign") + purpose)
        let both: [TokenRefusal] = [.certificate(.leafIsAuthority), .certificate(.keyUsage)]
        #expect(try await reasons(["ca"]) == both)
        try await authority.add(
            "signs", Authority.leaf.replacing("digitalSignature", with: "digitalSignature,keyCertSign"))
        #expect(try await reasons(["signs"]).contains(.certificate(.keyUsage)))
    }

    @Test func `A leaf of version 1 is refused`() async throws {
        try await authority.add("old", "")
        let found = try await reasons(["old"])
        #expect(Set(found).isSuperset(of: [.certificate(.version), .certificate(.keyUsage), .certificate(.purpose)]))
    }

    @Test(arguments: [
        ("0", false), ("-5", false), ("0x00FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", true),
        ("0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", true), ("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", false),
        ("1", true),
    ])
    func `A serial number is positive and at most 20 octets long`(serial: String, isProper: Bool) async throws {
        try await authority.add("leaf", serial: serial)
        #expect(try await reasons(["leaf"]) == (isProper ? [] : [.certificate(.serial)]))
    }

    @Test(arguments: [
        ["-algorithm", "ED25519"], ["-algorithm", "RSA"], ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"],
    ])
    func `Leaves with other permitted key types sign`(options: [String]) async throws {
        try await authority.key("leaf", options)
        try await authority.issue("leaf")
        #expect(try await reasons(["leaf"]).isEmpty)
    }

    /// Signed with a permitted key, since a token cannot be signed with these; the certificates are judged first.
    @Test(arguments: [
        ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], ["-algorithm", "RSA-PSS"],
        ["-algorithm", "ED448"],
        ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"],
        ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"],
    ])
    func `Leaves with other key types are refused`(options: [String]) async throws {
        try await authority.key("leaf", options)
        try await authority.issue("leaf")
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let chain = try await authority.chain(["leaf"])
        let token = try SigningKey.generateES256().sign(payload, certificates: chain)
        let found = try TokenVerifier.verify(token, keys: policy, at: soon).reasons
        #expect(found.count == 1)
        switch found.first {
        case .certificate(.key), .certificate(.weak), .certificate(.chain): break
        default: Issue.record("\(found)")
        }
    }

    @Test func `Another key than the leaf's does not sign for it`() async throws {
        try await authority.add("leaf")
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let token = try SigningKey.generateES256().sign(payload, certificates: try await authority.chain(["leaf"]))
        #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons == [.signatureWrong])
    }

    // MARK: Chains

    @Test func `Issuers between leaf and root are followed, four of them and no more`() async throws {
        var issuer = "root"
        var names: [String] = []
        for number in 1...5 {
            try await authority.add("ca\(number)", by: issuer, Authority.issuer)
            issuer = "ca\(number)"
            names.insert(issuer, at: 0)
            if number == 4 || number == 5 {
                try await authority.add("leaf\(number)", by: issuer)
                let due: [TokenRefusal] = number == 4 ? [] : [.certificate(.tooDeep)]
                #expect(try await reasons(["leaf\(number)"] + names) == due)
            }
        }
        // The order of the rest does not matter, and a root among them is not trusted for being there.
        #expect(try await reasons(["leaf4", "ca1", "ca3", "root", "ca2", "ca4"]).isEmpty)
        #expect(try await reasons(["leaf4", "ca4", "ca3", "ca1"]) == [.certificate(.untrusted)])
    }

    @Test func `A chain to another root is refused, even if it brings that root`() async throws {
        let foreign = try await Authority()
        try await foreign.add("leaf")
        let token = try await foreign.signer("leaf").sign(payload, certificates: foreign.chain(["leaf", "root"]))
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        // The foreign root has the name of ours, so that OpenSSL finds the name and then another key.
        let found = try TokenVerifier.verify(token, keys: policy, at: soon).reasons
        #expect(found.count == 1 && found.first != nil)
    }

    @Test func `A leaf that is signed by itself is refused`() async throws {
        let foreign = try await Authority()
        let chain = try await foreign.chain(["root"])
        let token = try await foreign.signer("root").sign(payload, certificates: chain)
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons.contains(.certificate(.untrusted)))
    }

    @Test func `A leaf may not issue a leaf`() async throws {
        try await authority.add("leaf")
        try await authority.add("child", by: "leaf")
        let found = try await reasons(["child", "leaf"])
        #expect(found == [.certificate(.authority)])
    }

    @Test func `The path length constraint of an issuer is obeyed`() async throws {
        let limited = Authority.issuer.replacing("CA:TRUE", with: "CA:TRUE,pathlen:0")
        try await authority.add("ca", limited)
        try await authority.add("sub", by: "ca", Authority.issuer)
        try await authority.add("leaf", by: "sub")
        try await authority.add("direct", by: "ca")
        #expect(try await reasons(["leaf", "sub", "ca"]) == [.certificate(.authority)])
        #expect(try await reasons(["direct", "ca"]).isEmpty)
    }

    @Test func `An issuer that is limited to other purposes is refused`() async throws {
        for (purpose, due) in [
            ("serverAuth", [TokenRefusal.certificate(.issuerPurpose)]), ("anyExtendedKeyUsage", []),
            (CertificateVerifier.licencePurpose, []),
        ] {
            try await authority.add("ca", Authority.issuer + "\nextendedKeyUsage = \(purpose)")
            try await authority.add("leaf", by: "ca")
            #expect(try await reasons(["leaf", "ca"]) == due)
        }
    }

    /// What only strict RFC 5280 checks and the security level find.
    @Test func `A sloppy or weak issuer is refused`() async throws {
        try await authority.add("ca", Authority.issuer.replacing("critical,CA:TRUE", with: "CA:TRUE"))
        try await authority.add("leaf", by: "ca")
        guard case .certificate(.chain)? = try await reasons(["leaf", "ca"]).first else {
            Issue.record("accepted")
            return
        }
        try await authority.key("weak", ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
        try await authority.issue("weak", Authority.issuer)
        try await authority.add("below", by: "weak")
        #expect(try await reasons(["below", "weak"]) == [.certificate(.weak)])
    }

    @Test func `Certificates are valid at the trusted time or not at all`() async throws {
        try await authority.key("leaf")
        try await authority.issue("leaf", days: 10)
        let day: Int64 = 86_400_000
        #expect(try await reasons(["leaf"], at: Timestamp(milliseconds: soon.milliseconds + 8 * day)).isEmpty)
        let late = Timestamp(milliseconds: soon.milliseconds + 10 * day)
        #expect(try await reasons(["leaf"], at: late) == [.certificate(.expired)])
        let early = Timestamp(milliseconds: soon.milliseconds - 2 * day)
        #expect(try await reasons(["leaf"], at: early) == [.certificate(.notYetValid)])
        #expect(try await reasons(["leaf"], at: Timestamp(milliseconds: -1)) == [.certificate(.notYetValid)])
        let far = Timestamp(milliseconds: 4_000_000_000_000)
        #expect(try await reasons(["leaf"], at: far) == [.certificate(.expired)])
    }

    /// A verifier caches its verdict on a chain: only for that chain, and only for that second.
    @Test func `A chain that was trusted is judged again at another time and with other certificates`() async throws {
        try await authority.add("ca", Authority.issuer)
        try await authority.key("leaf")
        try await authority.issue("leaf", by: "ca", days: 10)
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let signer = try await authority.signer("leaf")
        let whole = try signer.sign(payload, certificates: try await authority.chain(["leaf", "ca"]))
        let bare = try signer.sign(payload, certificates: try await authority.chain(["leaf"]))
        let late = Timestamp(milliseconds: soon.milliseconds + 20 * 86_400_000)
        for _ in 0..<2 {
            #expect(try TokenVerifier.verify(whole, keys: policy, at: soon).reasons.isEmpty)
            #expect(try TokenVerifier.verify(whole, keys: policy, at: late).reasons == [.certificate(.expired)])
            #expect(try TokenVerifier.verify(bare, keys: policy, at: soon).reasons == [.certificate(.untrusted)])
        }
        var other = try #require(policy.certificates)
        other.purpose = "1.2.3"
        let elsewhere = KeyPolicy(keys: [], certificates: other)
        #expect(try !TokenVerifier.verify(whole, keys: elsewhere, at: soon).reasons.isEmpty)
    }

    // MARK: Revocation

    @Test func `A revoked certificate is refused, and silence is no answer`() async throws {
        try await authority.add("ca", Authority.issuer, serial: "7")
        try await authority.add("leaf", by: "ca", serial: "4660")
        let root = try await authority.list(by: "root")
        let good = try await authority.list(by: "ca", revoking: ["99"])
        let bad = try await authority.list(by: "ca", revoking: ["1234"])
        let revokesIssuer = try await authority.list(by: "root", revoking: ["07"])
        #expect(try await reasons(["leaf", "ca"], lists: [root, good]).isEmpty)
        #expect(try await reasons(["leaf", "ca"], lists: [root, bad]) == [.certificate(.revoked)])
        #expect(try await reasons(["leaf", "ca"], lists: [revokesIssuer, good]) == [.certificate(.revoked)])
        #expect(try await reasons(["leaf", "ca"], lists: [root]) == [.certificate(.revocationUnknown)])
        #expect(try await reasons(["leaf", "ca"], lists: [good]) == [.certificate(.revocationUnknown)])
        let later = Timestamp(milliseconds: soon.milliseconds + 40 * 86_400_000)
        #expect(
            try await reasons(["leaf", "ca"], lists: [root, good], at: later) == [.certificate(.revocationUnknown)])
    }

    // MARK: The member x5c

    @Test func `What is not one to eight certificates in plain base64 is refused`() async throws {
        try await authority.add("leaf")
        let der = try await authority.certificate("leaf")
        let signer = try await authority.signer("leaf")
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let text = Base64.text(der)
        var broken = der
        broken[der.count - 1] ^= 1
        let cases: [(String, TokenRefusal)] = [
            ("[]", .headerMember("x5c")), ("null", .headerMember("x5c")), (#""\#(text)""#, .headerMember("x5c")),
            ("[5]", .headerMember("x5c")), (#"["\#(text)",null]"#, .headerMember("x5c")),
            (#"["\#(Base64URL.text(der))"]"#, .certificate(.encoding)), (#"["\#(text)\n"]"#, .certificate(.encoding)),
            (#"["\#(Base64.text(der + [0]))"]"#, .certificate(.encoding)), (#"[""]"#, .certificate(.encoding)),
            (#"["\#(Base64.text(Array(der.dropLast())))"]"#, .certificate(.encoding)),
            (#"["\#(text)","AAAA"]"#, .certificate(.encoding)),
            (#"["\#(Base64.text(broken))"]"#, .certificate(.signature)),
            ("[" + [String](repeating: #""\#(text)""#, count: 9).joined(separator: ",") + "]", .certificate(.count)),
        ]
        for (value, due) in cases {
            let token = try signer.sign(payload, header: Array(#"{"alg":"ES256","x5c":\#(value)}"#.utf8))
            #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons == [due], "\(value.prefix(40))")
        }
    }

    @Test func `The thumbprint beside the certificates must be the leaf's`() async throws {
        try await authority.add("leaf")
        let der = try await authority.certificate("leaf")
        let sum = Base64URL.text(try OpenSSLDigests(proofKey: sample(32)).sha256(of: der))
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        for (print, due) in [(sum, []), (Base64URL.text(sample(32)), [TokenRefusal.certificateThumbprint])] {
            let header = #"{"alg":"ES256","x5c":["\#(Base64.text(der))"],"x5t#S256":"\#(print)"}"#
            let token = try await authority.signer("leaf").sign(payload, header: Array(header.utf8))
            #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons == due)
        }
    }

    @Test func `The algorithm must be one of the leaf's key`() async throws {
        try await authority.add("leaf")
        let text = Base64.text(try await authority.certificate("leaf"))
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        for name in ["HS256", "RS256", "EdDSA"] {
            let header = Array(#"{"alg":"\#(name)","x5c":["\#(text)"]}"#.utf8)
            let token = try await authority.signer("leaf").sign(payload, header: header)
            #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons == [.algorithmNotOfKey])
        }
    }

    @Test func `With roots alone a token without certificates has no key`() async throws {
        let policy = KeyPolicy(keys: [], certificates: try await authority.verifier())
        let token = try SigningKey.generateES256().sign(payload)
        #expect(try TokenVerifier.verify(token, keys: policy, at: soon).reasons == [.keyUnknown])
    }

    @Test func `Only self-signed authorities in DER are accepted as roots`() async throws {
        try await authority.add("leaf")
        try await authority.add("ca", Authority.issuer)
        #expect(throws: LectureError(.configuration)) { try CertificateVerifier(roots: []) }
        let leaf = try await authority.certificate("leaf")
        let issuer = try await authority.certificate("ca")
        let root = try await authority.certificate("root")
        for wrong in [leaf, issuer, root + [0], [], Array("-----BEGIN".utf8)] {
            #expect(throws: LectureError(.configuration)) { try CertificateVerifier(roots: [wrong]) }
        }
        #expect(throws: LectureError(.configuration)) {
            try CertificateVerifier(roots: [root], revocationLists: [root])
        }
    }
}
