import Foundation
import LectureTestSupport
import Testing

/// The sandbox's licence files, checked by independent programs: Python's cryptography and the openssl command.
@Suite(.timeLimit(.minutes(2))) struct IssuerNetTests {
    private typealias Order = SandboxIssuer.Order

    private func order(_ alg: String, _ by: String?) -> Order {
        var order = Order(mck: "lecture-1")
        (order.alg, order.by) = (alg, by)
        return order
    }

    /// Python's verdicts on the signatures alone.
    private func verdicts(_ tokens: [String], _ directory: String) async throws -> [String] {
        let held = try TemporaryDirectory()
        let file = try held.write(tokens.map { $0 + "\n" }.joined(), to: "tokens")
        let script = Places.repository() + "/Tests/Fixtures/licence-check/check.py"
        let ending = try await ChildProcess.run(
            "/bin/sh", ["-c", "exec /usr/bin/python3 \"$0\" \"$1\" <\"$2\"", script, directory, file])
        try #require(ending.status == 0, "\(ending.errorText)")
        return ending.text.split(separator: "\n").map(String.init)
    }

    private func header(_ token: String) -> [String: Any] {
        CallbackExchange.object(String(token.prefix { $0 != "." }))
    }

    private func claims(_ token: String) -> [String: Any] {
        CallbackExchange.object(String(token.split(separator: ".", omittingEmptySubsequences: false)[1]))
    }

    /// The output of openssl on the certificates of a token: empty when it trusts them.
    private func opensslFindings(_ token: String, _ issuer: SandboxIssuer) async throws -> String {
        let chain = try #require(header(token)["x5c"] as? [String])
        let held = try TemporaryDirectory()
        let files = try chain.enumerated().map { index, text in
            try held.write("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n", to: "\(index).pem")
        }
        let others = files.dropFirst().flatMap { ["-untrusted", $0] }
        let ending = try await ChildProcess.run(
            Places.command("openssl"),
            [
                "verify", "-x509_strict", "-crl_check_all", "-CAfile", issuer.rootsFile, "-CRLfile", issuer.listsFile,
                "-auth_level", "2",
            ] + others + [files[0]])
        return ending.status == 0 ? "" : ending.errorText
    }

    @Test func `every algorithm verifies in Python, by certificate, by name and by secret`() async throws {
        let issuer = try await SandboxIssuer.make()
        let ways = ["ES256", "EdDSA", "RS256", "PS256"].flatMap { [($0, "x5c"), ($0, "kid")] } + [("HS256", "secret")]
        let orders = ways.map { order($0, $1) }
        let tokens = try await issuer.issue(orders)
        #expect(tokens.map { header($0)["alg"] as? String } == ways.map(\.0))
        #expect(try await verdicts(tokens, issuer.directory) == [String](repeating: "ok", count: ways.count))
        let spoiled = try await issuer.issue(
            orders.map { order in
                var order = order
                order.spoil = "signature"
                return order
            })
        #expect(try await verdicts(spoiled, issuer.directory) == [String](repeating: "wrong", count: ways.count))
        for token in tokens where header(token)["x5c"] != nil {
            #expect(try await opensslFindings(token, issuer) == "")
        }
    }

    @Test func `the claims are the requested ones`() async throws {
        let issuer = try await SandboxIssuer.make()
        var order = Order(mck: "lecture-1")
        (order.user, order.iss, order.aud, order.jti) = ("u7", "us", "them", "id-1")
        (order.device, order.serial, order.beginsIn, order.expiresIn) = ("thumb", 12, -60, 3600)
        order.policy = .ending(in: 100)
        order.policy?.expirationCount = 3
        order.claims = #"{"extra":[1.5,null],"iss":null}"#
        order.header = #"{"crit":["x"],"typ":null}"#
        let before = Int(Date().timeIntervalSince1970)
        let token = try await issuer.issue(order)
        let claims = claims(token)
        let issued = try #require(claims["iat"] as? Int)
        #expect((before...Int(Date().timeIntervalSince1970)).contains(issued))
        #expect(
            try CallbackExchange.sorted(claims)
                == #"{"aud":"them","cnf":{"jkt":"thumb"},"exp":\#(issued + 3600),"extra":[1.5,null],"iat":\#(issued),"#
                + #""jti":"id-1","mck":"lecture-1","nbf":\#(issued - 60),"#
                + #""policy":{"expiration_count":3,"expiration_date":\#(issued + 100)},"serial":12,"sub":"u7"}"#)
        #expect(header(token)["crit"] as? [String] == ["x"])
        #expect(header(token)["typ"] == nil)
    }

    @Test func `an application key names a bundle and an expiry, and no lecture`() async throws {
        let issuer = try await SandboxIssuer.make()
        var order = Order()
        (order.app, order.appExpiresIn) = ("com.example.academy", 86_400)
        let claims = claims(try await issuer.issue(order))
        let application = try #require(claims["app"] as? [String: Any])
        #expect(application["bundle_id"] as? String == "com.example.academy")
        #expect(application["exp"] as? Int == (claims["iat"] as? Int).map { $0 + 86_400 })
        #expect(claims["aud"] as? String == "lecturekit-app")
        #expect(claims["mck"] == nil && claims["policy"] == nil)
    }

    @Test(
        arguments: [
            ("expired", "ES256", "certificate has expired"), ("early", "ES256", "not yet valid"),
            ("revoked", "ES256", "certificate revoked"), ("rsa1024", "RS256", "key too weak"),
            ("other-issuer", "ES256", "unable to get"), ("namesake", "ES256", ""),
            ("self-signed", "EdDSA", "self-signed certificate"), ("no-chain", "PS256", "unable to get local issuer"),
        ])
    func `openssl refuses invalid chains with the reason`(
        _ leaf: String, _ alg: String, _ words: String
    ) async throws {
        let issuer = try await SandboxIssuer.make()
        var order = order(alg, "x5c")
        order.leaf = leaf
        let findings = try await opensslFindings(try await issuer.issue(order), issuer)
        #expect(!findings.isEmpty)
        #expect(words.isEmpty || findings.contains(words), "\(findings)")
    }

    @Test(arguments: ["other-purpose", "any-purpose", "no-purpose", "authority"])
    func `the other invalid leaves are wrong in themselves, not in their chain`(_ leaf: String) async throws {
        let issuer = try await SandboxIssuer.make()
        var order = order("ES256", "x5c")
        order.leaf = leaf
        let token = try await issuer.issue(order)
        #expect(try await opensslFindings(token, issuer) == "")
        let chain = try #require(header(token)["x5c"] as? [String])
        let held = try TemporaryDirectory()
        let file = try held.write(Array(try #require(Data(base64Encoded: chain[0]))), to: "leaf.der")
        let text = try await ChildProcess.run(
            Places.command("openssl"), ["x509", "-inform", "DER", "-in", file, "-noout", "-text"]
        ).text
        let purpose = text.contains("2.25.89899942137799056936344897307910326261")
        #expect(purpose == (leaf == "authority"))
        #expect(text.contains("CA:TRUE") == (leaf == "authority"))
    }

    @Test func `an issuer is stored, and other users may not read its keys`() async throws {
        let issuer = try await SandboxIssuer.make()
        let root = try String(contentsOfFile: issuer.rootsFile, encoding: .utf8)
        let token = try await issuer.issue(order("EdDSA", "kid"))
        #expect(try String(contentsOfFile: issuer.rootsFile, encoding: .utf8) == root)
        #expect(try await verdicts([token], issuer.directory) == ["ok"])
        for name in ["hs.key", "issuer/root.key", "issuer/es256.key", "issuer/rsa.key"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(issuer.directory)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func `a running sandbox issues too, under the secret of its callback`() async throws {
        let sandbox = try await SandboxOrigin.start(["--no-https"])
        let tokens = [
            try await sandbox.issue(#"{"mck":"a","alg":"HS256"}"#),
            try await sandbox.issue(#"{"mck":"a","alg":"RS256","by":"kid"}"#),
        ]
        #expect(try await verdicts(tokens, sandbox.directory) == ["ok", "ok"])
        await #expect(throws: ChildProcess.Failure.self) { try await sandbox.issue(#"{"mcq":"a"}"#) }
        await sandbox.stop()
    }

    @Test(
        arguments: [
            ["--alg", "ES512"], ["--by", "jku"], ["--alg", "HS256", "--by", "x5c"], ["--leaf", "rotten"],
            ["--leaf", "revoked", "--alg", "RS256"], ["--leaf", "rsa1024"], ["--policy", "[]"], ["--claims", "{"],
        ])
    func `orders that are not understood are refused`(_ words: [String]) async throws {
        let held = try TemporaryDirectory()
        let ending = try await ChildProcess.run(
            Places.builtProduct("lecture-sandbox"), ["issue", "--dir", held.file("trust"), "--key", "a"] + words)
        #expect(ending.status == 65)
        #expect(ending.text.isEmpty)
    }
}
