import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A learner who signs a licence for themselves: with an issuer or a licence server of their own.
@Suite(.timeLimit(.minutes(3))) struct GrantingKeyAttackNetTests {
    /// A licence file of another issuer, newer than everything and without a limit.
    private static func sign(_ me: LicenceScene, _ issuer: SandboxIssuer, _ key: String, _ alg: String = "ES256")
        async throws -> String
    {
        var order = SandboxIssuer.Order(mck: key)
        (order.alg, order.serial, order.jti) = (alg, 1_000, UUID().uuidString)
        (order.by, order.policy) = (alg == "HS256" ? "secret" : alg == "EdDSA" ? "kid" : nil, CallbackPolicy())
        let token = try await issuer.issue(order)
        me.addSecret(Data(token.utf8))
        return try me.home.write(token, to: "mine-\(UUID().uuidString)")
    }

    /// The options that name the issuer's keys, with a file signed by each.
    private static func ways(_ me: LicenceScene, _ issuer: SandboxIssuer, _ key: String) async throws -> [[String]] {
        [
            [try await sign(me, issuer, key), "--trust", issuer.rootsFile],
            [try await sign(me, issuer, key, "EdDSA"), "--jwks", issuer.keySetFile],
            [try await sign(me, issuer, key, "HS256"), "--hmac-key-file", issuer.secretFile],
        ]
    }

    private static func expectRefused(
        _ me: LicenceScene, _ words: [String], _ code: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let ending = try await me.run(["licence", "import", "--json"] + words)
        #expect(ending.text.contains("\"code\":\(code)"), "\(words) \(ending.text)", sourceLocation: sourceLocation)
        #expect(ending.status == 65, "\(words)", sourceLocation: sourceLocation)
    }

    /// A configuration of the learner's own.
    private static func configure(_ me: LicenceScene, _ keys: [String]) throws -> [String: String] {
        let name = "config-\(UUID().uuidString).json"
        try me.home.write(#"{"drm":{"keys":[\#(keys.joined(separator: ","))]}}"#, to: name)
        return ["LECTURE_CONFIG": me.home.file(name)]
    }

    @Test func `a file of one's own replaces no licence of a server, used up or ended`() async throws {
        try await LicenceScene.play { me in
            let issuer = try await SandboxIssuer.make()
            let used = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 1 })
            #expect(try await me.plays(used) == 1)
            let ended = try await me.fetch("64K-2", LicenceLifeNetTests.policy { $0.contentExpired = 1 })
            #expect(try await me("licence", "renew", ended).status == 1)
            try await me.goOffline()
            for key in [used, ended] {
                for words in try await Self.ways(me, issuer, key) { try await Self.expectRefused(me, words, -20072) }
                #expect(try await me.plays(key) == 0)
            }
            #expect(try await me.licence(used).reasons == ["count_used_up"])
            // The key of the configuration at the time of the grant still counts.
            let file = try await me.sandbox.issue(#"{"mck":"\#(used)","policy":{"expiration_count":2}}"#)
            me.addSecret(Data(file.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
            let good = try me.home.write(file.trimmingCharacters(in: .whitespacesAndNewlines), to: "good")
            let imported = try await me("licence", "import", good)
            #expect(imported.status == 0, "\(imported.errorText)")
            #expect(try await me.plays(used) == 2)
        }
    }

    @Test func `an issuer of one's own in the configuration replaces no licence of a server`() async throws {
        try await LicenceScene.play { me in
            let issuer = try await SandboxIssuer.make()
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 1 })
            #expect(try await me.plays(key) == 1)
            let mine = #"{"id":"mine","algorithm":"ES256","ca_file":"\#(issuer.rootsFile)"}"#
            me.environment = try Self.configure(me, [mine])
            try await Self.expectRefused(me, [try await Self.sign(me, issuer, key)], -20072)
            #expect(try await me.plays(key) == 0)
        }
    }

    @Test func `a file of an unknown issuer is stored once the configuration names its key`() async throws {
        try await LicenceScene.play { me in
            let issuer = try await SandboxIssuer.make()
            // There is a server to ask, and it has granted nothing.
            let key = try await me.fetch("64K-1", .refusal("Not yet."), status: 77)
            let file = try await Self.sign(me, issuer, key)
            try await Self.expectRefused(me, [file, "--trust", issuer.rootsFile], -20073)
            #expect(try await me.licence(key).reasons.contains("missing"))
            let named = #"{"id":"issuer","algorithm":"ES256","ca_file":"\#(issuer.rootsFile)"}"#
            me.environment = try Self.configure(me, [named])
            let stored = try await me("licence", "import", file)
            #expect(stored.status == 0, "\(stored.errorText)")
            #expect(try await !me.licence(key).reasons.contains("missing"))
        }
    }

    @Test func `a licence server of one's own grants nothing that another one has granted`() async throws {
        try await LicenceScene.play { me in
            let other = try await SandboxOrigin.start(["--licensed", "--no-https"])
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 1 })
            #expect(try await me.plays(key) == 1)
            let before = try await me.sql("SELECT token, granting_keys, count_used FROM licence")
            try await other.set(policy: LicenceLifeNetTests.policy { $0.contentExpireReset = 1 }, for: [key])

            // The learner's server is named by the link, and their key by the configuration.
            let callback = other.drmCallback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let mine = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(other.drmKeyFile)"}"#
            me.environment = try Self.configure(me, [mine])
            let link = try await me.link(key, query: "licensed=\(callback)")
            #expect(try await me("remove", key).status == 0)
            #expect(try await me.run(["precache", "--progress", "none", link]).status == 0)
            #expect(try await me.sql("SELECT callback_url FROM licence") == other.drmCallback)
            let renewal = try await me("licence", "renew", "--json", key)
            #expect(renewal.status == 1 && renewal.text.contains("-20072"), "\(renewal.text)")
            #expect(try await me.plays(key) == 0)
            #expect(try await other.callbackItems().contains { $0.outcome == "granted" })
            #expect(try await me.sql("SELECT token, granting_keys, count_used FROM licence") == before)
            await other.stop()
        }
    }

    /// The learner's row leads to their own licence server, whose key the configuration names.
    private static func takeOver(
        _ me: inout LicenceScene, _ other: SandboxOrigin, _ key: String, deletes: Bool
    ) async throws {
        let mine = #"{"id":"sandbox","algorithm":"HS256","secret_file":"\#(other.drmKeyFile)"}"#
        me.environment = try configure(me, [mine])
        if deletes {
            try await me.sql(
                "DELETE FROM licence",
                """
                INSERT INTO licence(content_key, content_id, callback_url, form, mac)
                SELECT key, id, '\(other.drmCallback)', 0, zeroblob(32) FROM content WHERE key = '\(key)'
                """)
        } else {
            try await me.sql("UPDATE licence SET callback_url = '\(other.drmCallback)', granting_keys = NULL")
        }
    }

    @Test(arguments: [true, false])
    func `a row deleted or edited is granted by its own server only`(deletes: Bool) async throws {
        try await LicenceScene.play { me in
            let other = try await SandboxOrigin.start(["--licensed", "--no-https"])
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 1 })
            #expect(try await me.plays(key) == 1)
            let honest = me.environment
            try await Self.takeOver(&me, other, key, deletes: deletes)
            let regrant = try await me("licence", "regrant", "--json", key)
            #expect(regrant.status == 1 && regrant.text.contains("-20072"), "\(regrant.text)")
            #expect(try await me.plays(key) == 0)
            #expect(try await other.callbackItems().contains { $0.outcome == "granted" })
            // The provider's own server may grant it again.
            me.environment = honest
            try await me.sql("UPDATE licence SET callback_url = '\(me.sandbox.drmCallback)'")
            let again = try await me("licence", "regrant", key)
            #expect(again.status == 0, "\(again.errorText)")
            #expect(try await me.plays(key) == 1)
            await other.stop()
        }
    }

    @Test func `a key put back after the grant of another server permits no play`() async throws {
        try await LicenceScene.play { me in
            let other = try await SandboxOrigin.start(["--licensed", "--no-https"])
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 1 })
            #expect(try await me.plays(key) == 1)
            try await me.sql("CREATE TABLE kept AS SELECT * FROM content_key", "DELETE FROM content_key")
            try await Self.takeOver(&me, other, key, deletes: true)
            let regrant = try await me("licence", "regrant", key)
            #expect(regrant.status == 0, "\(regrant.errorText)")
            try await me.sql(
                "DELETE FROM content_key", "INSERT INTO content_key SELECT * FROM kept", "DROP TABLE kept")
            try await me.expectRefused(key, "other_key", -20077)
            #expect(try await me.plays(key) == 0)
            // What the error advises: the media is downloaded again, and sealed under another key.
            #expect(try await me("remove", key).status == 0)
            let callback = other.drmCallback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let link = try await me.link(key, query: "licensed=\(callback)")
            #expect(try await me.run(["precache", "--progress", "none", link]).status == 0)
            #expect(try await me.plays(key, atMost: 1) == 1)
            await other.stop()
        }
    }

    @Test func `granting keys edited with sqlite3 are found, and permit no play`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 3 })
            try await me.goOffline()
            for (number, text) in ["NULL", "'/'", "'mine/mine'", "granting_keys || ' '"].enumerated() {
                let victim = try me.copy("\(number)")
                try await victim.sql("UPDATE licence SET granting_keys = \(text)")
                try await victim.expectRefused(key, "ledger_forged", -20106, text)
            }
            #expect(try await me.plays(key) == 3)
        }
    }
}
