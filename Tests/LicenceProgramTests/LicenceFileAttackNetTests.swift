import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Licence files for another device, lecture or person, or that were already used up.
@Suite(.timeLimit(.minutes(3))) struct LicenceFileAttackNetTests {
    private static func issue(_ me: LicenceScene, _ key: String, _ members: String) async throws -> String {
        let token = try await me.sandbox.issue(#"{"mck":"\#(key)","policy":{"expiration_count":2},\#(members)}"#)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        me.addSecret(Data(token.utf8))
        return try me.home.write(token, to: "licence-\(UUID().uuidString)")
    }

    /// Claims issued some seconds ago.
    private static func issued(_ seconds: Int64) -> String {
        #""claims":{"iat":\#(Int64(Date().timeIntervalSince1970) - seconds)}"#
    }

    private static func expectRefused(
        _ me: LicenceScene, _ file: String, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let ending = try await me("licence", "import", "--json", file)
        #expect(ending.text.contains(#""code":-20112"#), "\(what) \(ending.text)", sourceLocation: sourceLocation)
        #expect(ending.status == 65, "\(what)", sourceLocation: sourceLocation)
    }

    /// A lecture whose licence comes only from a file: no server grants it.
    private static func fetch(_ me: LicenceScene, _ name: String) async throws -> String {
        try await me.fetch(name, LicenceLifeNetTests.policy { $0.expirationDate = 1_600_000_000 })
    }

    @Test func `a file for another user, device or lecture is refused, and nothing is stored`() async throws {
        try await LicenceScene.play { me in
            let key = try await Self.fetch(me, "64K-1")
            try await me.goOffline()
            let before = try await me.sql("SELECT * FROM licence ORDER BY id")
            let elsewhere = String(repeating: "A", count: 43)
            for members in [
                #""device":"\#(elsewhere)""#, #""user":"another-user""#, #""spoil":"signature""#,
                #""spoil":"unsigned""#,
                #""leaf":"expired""#, #""leaf":"self-signed""#, #""leaf":"other-purpose""#, #""expires_in":-60"#,
            ] {
                try await Self.expectRefused(me, try await Self.issue(me, key, members), members)
            }
            let unknown = try await me("licence", "import", try await Self.issue(me, "bytes-64K-9", #""jti":"n""#))
            #expect(unknown.status != 0)
            #expect(try await me.sql("SELECT * FROM licence ORDER BY id") == before)
            #expect(try await me.plays(key) == 0)
        }
    }

    @Test func `neither an older nor the same licence file restores a play`() async throws {
        try await LicenceScene.play { me in
            let key = try await Self.fetch(me, "64K-1")
            try await me.goOffline()
            let old = try await Self.issue(me, key, #""jti":"old",\#(Self.issued(100))"#)
            let new = try await Self.issue(me, key, #""jti":"new",\#(Self.issued(50))"#)
            #expect(try await me("licence", "import", old).status == 0)
            #expect(try await me.plays(key, atMost: 1) == 1)
            #expect(try await me("licence", "import", old).status == 0)
            #expect(try await me.plays(key) == 1)
            #expect(try await me("licence", "import", new).status == 0)
            #expect(try await me.plays(key) == 2)
            try await Self.expectRefused(me, old)
            #expect(try await me("licence", "import", new).status == 0)
            #expect(try await me.plays(key) == 0)
        }
    }

    @Test func `a file already checked with a server is recognised when it comes again`() async throws {
        try await LicenceScene.play { me in
            let key = try await Self.fetch(me, "64K-1")
            let file = try await Self.issue(me, key, #""jti":"once",\#(Self.issued(100))"#)
            try await me.sandbox.set(policy: CallbackPolicy(), for: [key])
            #expect(try await me("licence", "import", file).status == 0)
            #expect(try await me.plays(key) == 2)
            // The server permits it without a reset.
            #expect(try await me("licence", "renew", key).status == 0)
            try await me.goOffline()
            #expect(try await me.plays(key) == 0)
            #expect(try await me("licence", "import", file).status == 0)
            #expect(try await me.plays(key) == 0)
        }
    }

    @Test func `a file does not become new when its row is removed or restored`() async throws {
        try await LicenceScene.play { me in
            let (key, other) = (try await Self.fetch(me, "64K-1"), try await Self.fetch(me, "64K-2"))
            try await me.goOffline()
            let before = try me.copy("before")
            let file = try await Self.issue(me, key, #""jti":"once",\#(Self.issued(100))"#)
            #expect(try await me("licence", "import", file).status == 0)
            #expect(try await me.plays(key) == 2)

            let victim = try me.copy("row")
            try await victim.sql("DELETE FROM licence WHERE content_key = '\(key)'")
            #expect(try await victim.licence(key).reasons.first == "missing")
            #expect(try await victim.licence(other).reasons.contains("ledger_forged"))
            #expect(try await victim("licence", "import", file).status == 0)
            try await victim.expectRefused(key, "ledger_forged", -20106)

            var yesterday = try me.copy("yesterday")
            yesterday.store = before.store
            #expect(try await yesterday("licence", "import", file).status == 0)
            try await yesterday.expectRefused(key, "store_rolled_back", -20107)

            // One that was issued since is believed. Files have whole seconds, so the test waits for the next second.
            let found = try await victim.sql("SELECT max(estimate_ms) FROM time_ledger WHERE source = 3")
            var (again, issued) = ("", Int64(0))
            repeat {
                issued = Int64(Date().timeIntervalSince1970)
                again = try await Self.issue(me, key, #""jti":"again","claims":{"iat":\#(issued)}"#)
            } while issued * 1000 <= Int64(found) ?? .max
            #expect(try await victim("licence", "import", again).status == 0)
            #expect(try await victim.plays(key) == 2)
        }
    }
}
