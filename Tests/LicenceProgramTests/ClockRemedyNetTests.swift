import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A clock that was ahead during one boot, and what the error for it advises.
@Suite(.timeLimit(.minutes(3)), .enabled(if: FakeClock.isPossible, "libfaketime is not installed: run Tools/setup"))
struct ClockRemedyNetTests {
    private static let permitted = LicenceScene.Refusal(status: 0)
    private static let doubted = LicenceScene.Refusal(status: 77, code: -8664)

    /// Runs a command in another boot, in which the clock shows another time.
    private static func inAnotherBoot(
        _ me: LicenceScene, _ time: String, _ words: String...
    ) async throws -> ChildProcess.Ending {
        var other = me
        other.environment.merge(FakeClock.at(time)) { _, new in new }
        return try await other.withMounts(LicenceScene.anotherBoot + #"exec "$0" \#(words.joined(separator: " "))"#)
    }

    /// A boot with the clock ahead, in which a lecture was played; then the clock is right.
    private static func doubt(_ me: LicenceScene, _ key: String, _ time: String = "+9h") async throws {
        _ = try await inAnotherBoot(me, time, "cat", key, ">", "/dev/null")
        #expect(try await me.refusal(of: key) == doubted)
    }

    @Test func `the error advises what the tests of this suite do`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 86_400))
            try await me.goOffline()
            try await Self.doubt(me, key)
            let refused = try await me("cat", key)
            for words in ["'lecturectl licence renew --all'", "import a licence file", "over https"] {
                #expect(refused.errorText.contains(words), "\(refused.errorText)")
            }
        }
    }

    @Test func `a renewal over https ends a doubt`() async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let callback = "licensed=\(me.sandbox.https)/drm/callback"
            let key = try await me.fetch("64K-1", .ending(in: 86_400), query: callback)
            try await me.goOffline()
            try await Self.doubt(me, key)
            try await me.goOnline()
            let renewal = try await me("licence", "renew", "--all")
            #expect(renewal.status == 0, "\(renewal.errorText)")
            try await me.goOffline()
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }

    @Test func `a renewal over http with signed times ends a doubt`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", .ending(in: 86_400))
            try await me.goOffline()
            try await Self.doubt(me, key)
            try await me.goOnline()
            try await me.sandbox.set(habits: "claims")
            let renewal = try await me("licence", "renew", "--all")
            #expect(renewal.status == 0, "\(renewal.errorText)")
            try await me.goOffline()
            #expect(try await me.refusal(of: key) == Self.permitted)
        }
    }

    @Test(arguments: ["+9h", "+400d"])
    func `a licence file issued since ends a doubt, and an older one does not`(time: String) async throws {
        try await LicenceScene.play { me in
            // No server grants it: the licence is a file.
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationDate = 1_600_000_000 })
            try await me.goOffline()
            func issue(_ seconds: Int, _ id: String) async throws -> String {
                let issued = Int(Date().timeIntervalSince1970) - seconds
                let token = try await me.sandbox.issue(
                    #"{"mck":"\#(key)","jti":"\#(id)","expires_in":86400,"policy":{"expiration_in":86400},"#
                        + #""claims":{"iat":\#(issued)}}"#
                ).trimmingCharacters(in: .whitespacesAndNewlines)
                me.addSecret(Data(token.utf8))
                return try me.home.write(token, to: id)
            }
            let older = try await issue(300, "older")
            #expect(try await me("licence", "import", try await issue(200, "first")).status == 0)
            #expect(try await me.refusal(of: key) == Self.permitted)
            _ = try await Self.inAnotherBoot(me, time, "cat", key, ">", "/dev/null")
            #expect(try await me.refusal(of: key).status == 77)
            for old in [older, me.home.file("first")] { _ = try await me("licence", "import", old) }
            #expect(try await me.refusal(of: key).status == 77)
            let imported = try await me("licence", "import", try await issue(0, "new"))
            #expect(imported.status == 0, "\(imported.errorText)")
            #expect(try await me.refusal(of: key) == Self.permitted)
            #expect(try await me.licence(key).reasons.isEmpty)
        }
    }

    @Test(arguments: ["system", "ca_file", "SSL_CERT_FILE"])
    func `a download over https ends a doubt, unless the user has named the authority`(roots: String) async throws {
        try await LicenceScene.play(isSecure: true) { me in
            let key = try await me.fetch("64K-1", .ending(in: 86_400))
            try await me.goOffline()
            try await Self.doubt(me, key)
            let named = me.environment
            me.environment["SSL_CERT_DIR"] = ""
            me.environment["SSL_CERT_FILE"] = roots == "SSL_CERT_FILE" ? me.sandbox.authorityFile : ""
            if roots != "ca_file" {
                let server = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(me.sandbox.drmKeyFile)"}"#
                try me.home.write(#"{"drm":{"keys":[\#(server)]}}"#, to: "system.json")
                me.environment["LECTURE_CONFIG"] = me.home.file("system.json")
            }
            // The system trusts the authority, for this command only.
            let script = """
                mount --bind "$1" /etc/ssl/certs/ca-certificates.crt
                exec "$0" precache --progress none "$2"
                """
            let fetched = try await me.withMounts(
                script, me.sandbox.authorityFile, "\(me.sandbox.https)/media/bytes-64K-9.mp4")
            #expect(fetched.status == 0, "\(fetched.errorText)")
            me.environment = named
            #expect(try await me.refusal(of: key) == (roots == "system" ? Self.permitted : Self.doubted))
        }
    }
}
