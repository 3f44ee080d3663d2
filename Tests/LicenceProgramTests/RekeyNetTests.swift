import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// A provider that changes its key.
@Suite(.timeLimit(.minutes(3))) struct RekeyNetTests {
    private struct Change: Decodable, Equatable {
        let changed: Int
        let oldKey: String
        let newKeys: [String]
    }

    /// The names of a sandbox's keys.
    private static func names(_ sandbox: SandboxOrigin) async throws -> [String: String] {
        let ending = try await ChildProcess.run(
            Places.builtProduct("lecture-sandbox"), ["thumbprints", "--dir", sandbox.directory])
        return try JSONDecoder().decode([String: String].self, from: ending.output)
    }

    /// A statement, signed by a sandbox's secret.
    private static func statement(
        _ me: LicenceScene, _ sandbox: SandboxOrigin, _ members: String
    ) async throws -> String {
        let token = try await sandbox.issue(#"{"alg":"HS256",\#(members)}"#)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        me.addSecret(Data(token.utf8))
        return try me.home.write(token, to: "statement-\(UUID().uuidString)")
    }

    /// From now on the configuration names both servers' keys, and a link leads to the new one.
    private static func move(_ me: inout LicenceScene, to new: SandboxOrigin, _ key: String) async throws {
        // The new key has the name that the link uses.
        let keys = [("old", me.sandbox), ("sandbox", new)].map { name, sandbox in
            #"{"id":"\#(name)","algorithm":"HS256","secret_file":"\#(sandbox.drmKeyFile)"}"#
        }
        try me.home.write(#"{"drm":{"keys":[\#(keys.joined(separator: ","))]}}"#, to: "both.json")
        me.environment = ["LECTURE_CONFIG": me.home.file("both.json")]
        let callback = new.drmCallback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try await me("remove", key).status == 0)
        let link = try await me.link(key, query: "licensed=\(callback)")
        _ = try await me.run(["precache", "--progress", "none", link])
    }

    @Test func `licences take a new key that the old one names, and then only that one`() async throws {
        try await LicenceScene.play { me in
            let new = try await SandboxOrigin.start(["--licensed", "--no-https"])
            let policy = LicenceLifeNetTests.policy { $0.expirationCount = 2 }
            let key = try await me.fetch("64K-1", policy)
            try await new.set(policy: policy, for: [key])
            try await Self.move(&me, to: new, key)
            let early = try await me("licence", "renew", "--json", key)
            #expect(early.status == 1 && early.text.contains("-20072"), "\(early.text)")
            // What the error advises.
            let advice = try await me("licence", "renew", key)
            #expect(advice.errorText.contains("'lecturectl licence rekey'"), "\(advice.errorText)")

            let (oldNames, newNames) = (try await Self.names(me.sandbox), try await Self.names(new))
            let name = try #require(newNames["secret"])
            let file = try await Self.statement(me, me.sandbox, #""new_keys":["\#(name)"]"#)
            let changed = try await me("licence", "rekey", file, "--json")
            #expect(changed.status == 0, "\(changed.errorText)")
            let line = try #require(try LicenceScene.lines(Change.self, changed.text).first)
            #expect(line == Change(changed: 1, oldKey: try #require(oldNames["secret"]), newKeys: [name]))
            let again = try await me("licence", "rekey", file)
            #expect(again.status == 0 && again.errorText.contains("already"), "\(again.errorText)")

            let renewal = try await me("licence", "renew", key)
            #expect(renewal.status == 0, "\(renewal.errorText)")
            #expect(try await me.plays(key) > 0)
            #expect(try await me.sql("SELECT granting_keys LIKE '\(name)/%' FROM licence") == "1")
            #expect(try await me.sql("SELECT granting_keys LIKE '\(name)/%' FROM content_key") == "1")
            await new.stop()
        }
    }

    @Test func `a statement of another key, of another type or without its claims changes nothing`() async throws {
        try await LicenceScene.play { me in
            let other = try await SandboxOrigin.start(["--licensed", "--no-https"])
            let key = try await me.fetch("64K-1", LicenceLifeNetTests.policy { $0.expirationCount = 2 })
            let before = try await me.sql("SELECT granting_keys FROM licence")
            let name = try #require(try await Self.names(other)["secret"])
            let keys = #""new_keys":["\#(name)"]"#
            let hmac = ["--hmac-key-file", other.drmKeyFile]
            for (sandbox, members, words, code) in [
                (other, keys, hmac, -20072), (other, keys, [], -20076),
                (me.sandbox, #"\#(keys),"spoil":"signature""#, [], -20076),
                (me.sandbox, #"\#(keys),"header":{"typ":"JWT"}"#, [], -20076),
                (me.sandbox, #"\#(keys),"claims":{"iat":null}"#, [], -20076),
                (me.sandbox, #""new_keys":["short"]"#, [], -20076),
                (me.sandbox, #""mck":"\#(key)""#, [], -20076),
            ] {
                let file = try await Self.statement(me, sandbox, members)
                let ending = try await me.run(["licence", "rekey", "--json", file] + words)
                #expect(ending.status == 65 && ending.text.contains("\"code\":\(code)"), "\(members) \(ending.text)")
            }
            // Nor is a statement a licence file.
            let file = try await Self.statement(me, me.sandbox, #"\#(keys),"mck":"\#(key)""#)
            let verdict = try await me(
                "licence", "verify", "--json", file, "--hmac-key-file", me.sandbox.drmKeyFile)
            #expect(verdict.status == 65 && verdict.text.contains("typ"), "\(verdict.text)")
            #expect(try await me.sql("SELECT granting_keys FROM licence") == before)
            #expect(try await me.plays(key) == 2)
            await other.stop()
        }
    }
}
