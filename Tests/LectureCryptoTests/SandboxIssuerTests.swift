import Foundation
import LectureCrypto
import LectureModel
import LectureTestSupport
import Testing

/// Licence files of an issuer that uses another library (GnuTLS): two implementations agree.
@Suite struct SandboxIssuerNetTests {
    private typealias Order = SandboxIssuer.Order

    private static func pem(_ file: String) throws -> [[UInt8]] {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return text.components(separatedBy: "-----BEGIN ").dropFirst().compactMap { block in
            let lines = block.split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("-----") }
            return Data(base64Encoded: lines.joined()).map { Array($0) }
        }
    }

    private func policy(_ issuer: SandboxIssuer) throws -> KeyPolicy {
        let keys = try JWKSet(Array(Data(contentsOf: URL(filePath: issuer.keySetFile))))
        #expect(keys.skipped.isEmpty)
        let secret = try SecretBytes(copying: Array(Data(contentsOf: URL(filePath: issuer.secretFile))))
        return KeyPolicy(
            keys: keys.keys + [try VerificationKey(secret: secret, identifier: nil, algorithm: .hs256)],
            certificates: try CertificateVerifier(
                roots: Self.pem(issuer.rootsFile), revocationLists: Self.pem(issuer.listsFile)))
    }

    private func verdict(_ token: String, _ policy: KeyPolicy) throws -> VerificationVerdict {
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        return try TokenVerifier.verify(Array(token.utf8), keys: policy, at: now)
    }

    @Test func `all its algorithms and ways to name a key verify`() async throws {
        let issuer = try await SandboxIssuer.make()
        let policy = try policy(issuer)
        let ways = ["ES256", "EdDSA", "RS256", "PS256"].flatMap { [($0, "x5c"), ($0, "kid")] } + [("HS256", "secret")]
        for (alg, by) in ways {
            var order = Order(mck: "a")
            (order.alg, order.by) = (alg, by)
            let good = try verdict(try await issuer.issue(order), policy)
            #expect(good.reasons.isEmpty, "\(alg) by \(by)")
            #expect(good.token?.algorithm.rawValue == alg)
            order.spoil = "signature"
            #expect(try verdict(try await issuer.issue(order), policy).reasons == [.signatureWrong], "\(alg) by \(by)")
            order.spoil = "unsigned"
            #expect(
                try verdict(try await issuer.issue(order), policy).reasons == [.signatureMissing], "\(alg) by \(by)")
        }
    }

    @Test func `each invalid leaf is refused for its fault`() async throws {
        let issuer = try await SandboxIssuer.make()
        let policy = try policy(issuer)
        let cases: [(String, CertificateRefusal)] = [
            ("expired", .expired), ("early", .notYetValid), ("revoked", .revoked), ("other-purpose", .purpose),
            ("any-purpose", .purpose), ("no-purpose", .purpose), ("authority", .leafIsAuthority), ("rsa1024", .weak),
            ("other-issuer", .untrusted), ("self-signed", .untrusted), ("no-chain", .untrusted),
        ]
        for (leaf, refusal) in cases {
            var order = Order(mck: "a")
            (order.leaf, order.alg) = (leaf, leaf == "rsa1024" ? "RS256" : "ES256")
            let verdict = try verdict(try await issuer.issue(order), policy)
            #expect(verdict.reasons.contains(.certificate(refusal)), "\(leaf): \(verdict.reasons)")
        }
        var order = Order(mck: "a")
        order.leaf = "namesake"
        #expect(try verdict(try await issuer.issue(order), policy).token == nil)
    }
}
