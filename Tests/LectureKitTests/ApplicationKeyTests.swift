import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// Application keys of the sandbox's issuer, checked against the application's settings.
@Suite(.timeLimit(.minutes(2)))
struct ApplicationKeyTests {
    private static let bundle = "com.example.academy"

    /// A key with its end, an hour away unless the order says otherwise.
    private static func key(
        _ issuer: SandboxIssuer, _ change: (inout SandboxIssuer.Order) -> Void = { _ in }
    ) async throws -> (application: ApplicationConfiguration, end: Int64) {
        var order = SandboxIssuer.Order()
        (order.app, order.appExpiresIn) = (bundle, 3600)
        change(&order)
        let token = try await issuer.issue(order)
        let payload = token.split(separator: ".").dropFirst().first.map(String.init) ?? ""
        let claims = try JSONScanner.value(of: Base64URL.bytes(Array(payload.utf8)[...]) ?? [])
        let end = claims["app"]?["exp"]?.integer ?? 0
        return (ApplicationConfiguration(key: token, bundleID: bundle, expires: "\(end)"), end)
    }

    private static func check(
        _ application: ApplicationConfiguration, _ trust: LicenceTrust, at second: Int64
    ) -> LectureError? {
        do throws(LectureError) {
            try ApplicationKey.check(application, trust: trust, now: Timestamp(milliseconds: second * 1000))
            return nil
        } catch {
            #expect(!error.message.contains(application.key) && !error.message.contains("eyJ"), "the key leaks")
            return error
        }
    }

    @Test func `a key is accepted with any signature type, and refused where its trust root is missing`()
        async throws
    {
        let issuer = try await SandboxIssuer.make()
        let ways = [("ES256", "x5c"), ("ES256", "kid"), ("EdDSA", "kid"), ("RS256", "x5c"), ("HS256", "secret")]
        let whole = LicenceTrust(directory: issuer.directory)
        let parts = [
            "x5c": LicenceTrust(rootsFile: issuer.rootsFile, revocationFile: issuer.listsFile),
            "kid": LicenceTrust(keySetFile: issuer.keySetFile), "secret": LicenceTrust(hmacKeyFile: issuer.secretFile),
        ]
        for (algorithm, way) in ways {
            let (application, end) = try await Self.key(issuer) { ($0.alg, $0.by) = (algorithm, way) }
            #expect(Self.check(application, whole, at: end - 60) == nil, "\(algorithm) by \(way)")
            for (name, trust) in parts {
                let error = Self.check(application, trust, at: end - 60)
                #expect(error?.code == (name == way ? nil : .applicationKeyRefused), "\(algorithm) by \(way), \(name)")
            }
            #expect(Self.check(application, LicenceTrust(), at: end - 60)?.code == .applicationKeyRefused)
        }
    }

    @Test func `each wrong value has its own code, the first of them in order`() async throws {
        let issuer = try await SandboxIssuer.make()
        let trust = LicenceTrust(directory: issuer.directory)
        let (good, end) = try await Self.key(issuer)
        let now = end - 60
        for member in [\ApplicationConfiguration.key, \.bundleID, \.expires] {
            var application = good
            application[keyPath: member] = ""
            #expect(Self.check(application, trust, at: now)?.code == .applicationIncomplete)
        }
        var other = good
        other.bundleID = "com.example.academy2"
        #expect(Self.check(other, trust, at: now)?.code == .applicationOtherBundle)
        other.bundleID = "com.example.Academy"
        #expect(Self.check(other, trust, at: end + 9)?.code == .applicationOtherBundle)
        var late = good
        late.expires = "\(end + 1)"
        #expect(Self.check(late, trust, at: end + 9)?.code == .applicationDateDiffers)
        for text in ["soon", "2026-13-01", "2026-02-30", "2026/1/1", "20261231", " \(end)", "2026-12/31"] {
            late.expires = text
            #expect(Self.check(late, trust, at: now)?.code == .applicationDateDiffers, "\(text)")
        }
        #expect(Self.check(good, trust, at: end - 1) == nil)
        #expect(Self.check(good, trust, at: end)?.code == .applicationExpired)
    }

    @Test func `a forged, truncated or foreign key is refused`() async throws {
        let issuer = try await SandboxIssuer.make()
        let trust = LicenceTrust(directory: issuer.directory)
        let foreign = try await SandboxIssuer.make()
        let changes: [(String, (inout SandboxIssuer.Order) -> Void)] = [
            ("signature", { $0.spoil = "signature" }), ("unsigned", { $0.spoil = "unsigned" }),
            ("audience", { $0.aud = "lecturekit" }), ("no audience", { $0.claims = #"{"aud": null}"# }),
            ("revoked", { $0.leaf = "revoked" }), ("purpose", { $0.leaf = "other-purpose" }),
            ("certificate", { $0.leaf = "expired" }), ("foreign", { $0.leaf = "other-issuer" }),
            ("begins later", { $0.beginsIn = 3000 }), ("dated later", { $0.claims = #"{"iat": 4000000000}"# }),
            ("no bundle", { $0.claims = #"{"app": {"exp": 4000000000}}"# }),
            ("no end", { $0.claims = #"{"app": {"bundle_id": "com.example.academy"}}"# }),
            ("a lecture's", { $0.claims = #"{"mck": "a"}"# }), ("another type", { $0.header = #"{"typ": "at+jwt"}"# }),
        ]
        for (name, change) in changes {
            let application = try await Self.key(issuer, change).application
            let now = Int64(Date().timeIntervalSince1970)
            #expect(Self.check(application, trust, at: now)?.code == .applicationKeyRefused, "\(name)")
        }
        let (strange, end) = try await Self.key(foreign)
        #expect(Self.check(strange, trust, at: end - 60)?.code == .applicationKeyRefused)
        var (cut, until) = try await Self.key(issuer)
        for text in [String(cut.key.dropLast()), cut.key + " ", "a.b.c", String(repeating: "a", count: 2 << 20)] {
            cut.key = text
            #expect(Self.check(cut, trust, at: until - 60)?.code == .applicationKeyRefused)
        }
    }

    /// 2026-12-31T15:00:00Z is midnight in Seoul: the end of the 31st there, and the start of January 1st after it.
    @Test(arguments: [
        ("1798729200", true), ("2026-12-31T15:00:00Z", true), ("2027-01-01T00:00:00+09:00", true),
        ("2026-12-31T15:00:00.9Z", true), ("2026-12-31T15:00:01Z", false), ("2026-12-31T14:59:59Z", false),
        ("2026/12/31", true), ("2026-12-31", true), ("2027/01/01", true), ("2026/12/30", false),
        ("2027/01/02", false), ("2025/12/31", false),
    ])
    func `a date matches when the key ends on it anywhere on earth`(text: String, agrees: Bool) async throws {
        let issuer = try await SandboxIssuer.make()
        let end: Int64 = 1_798_729_200
        let until = #"{"app": {"bundle_id": "com.example.academy", "exp": \#(end)}, "iat": null}"#
        var application = try await Self.key(issuer) { $0.claims = until }.application
        application.expires = text
        let code = Self.check(application, LicenceTrust(keySetFile: issuer.keySetFile), at: end - 60)?.code
        // Signed by certificates, so a key set alone refuses it; the whole directory accepts it.
        #expect(code == .applicationKeyRefused)
        let now = Int64(Date().timeIntervalSince1970)
        let judged = Self.check(application, LicenceTrust(directory: issuer.directory), at: now)?.code
        let due: LectureError.Code? = now < end ? nil : .applicationExpired
        #expect(judged == (agrees ? due : .applicationDateDiffers))
    }

    @Test func `verification keys come from the environment, the configuration, or its public keys`()
        async throws
    {
        let (issuer, site) = (try await SandboxIssuer.make(), try Site())
        let (application, end) = try await Self.key(issuer)
        let shared = try await Self.key(issuer) { ($0.alg, $0.by) = ("HS256", "secret") }.application
        var configuration = LectureConfiguration(storeDirectory: site.store)
        func code(_ application: ApplicationConfiguration, _ environment: [String: String] = [:]) throws
            -> LectureError.Code?
        {
            let trust = try ApplicationKey.trust(configuration, environment: environment)
            return Self.check(application, trust, at: end - 60)?.code
        }
        #expect(try code(application) == .applicationKeyRefused)
        #expect(try code(application, ["LECTURE_TRUST": issuer.directory]) == nil)
        configuration.rights.keys = [
            .init(id: "a", place: .roots(issuer.rootsFile)), .init(id: "b", place: .secret(issuer.secretFile)),
        ]
        #expect(try code(application) == nil)
        // The servers that answer callbacks have the secret as well, and could issue keys.
        #expect(try code(shared) == .applicationKeyRefused)
        configuration.application = application
        configuration.application?.trustDirectory = issuer.directory
        #expect(try code(shared) == nil)
        #expect(try code(application, ["LECTURE_TRUST": site.root]) == .applicationKeyRefused)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: issuer.secretFile)
        #expect(throws: LectureError(.secretReadable)) { try ApplicationKey.trust(configuration) }
        try Data("{".utf8).write(to: URL(filePath: "\(site.root)/jwks.json"))
        #expect(throws: LectureError.self) {
            try ApplicationKey.trust(configuration, environment: ["LECTURE_TRUST": site.root])
        }
    }

    @Test func `the time used to judge a key is not before the clock`() async throws {
        let manager = try Site().manager()
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        #expect(try await manager.licences.trustedNow().milliseconds >= before)
        await manager.close()
    }
}
