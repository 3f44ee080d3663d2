import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Unusual and faulty servers: valid answers grant and renew; invalid ones change nothing.
@Suite(.timeLimit(.minutes(3))) struct ServerHabitNetTests {
    private static let policy = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 5) }

    private static let keys = ["64K-1", "64K-2", "64K-3"]

    private struct Renewed: Decodable {
        let event: String
        let code: Int?
        let renewed: Int?
    }

    @Test func `every permitted server behaviour grants and renews`() async throws {
        let habits = [
            "type:text/html", "type:application/json", "first-only", "object", "claims", "message", "no-user-key",
            "busy:30;retry=0", "status:503;retry=0;times=1", "missing:30;times=1",
        ]
        try await LicenceScene.play { me in
            for (number, habit) in habits.enumerated() {
                try await me.sandbox.set(habits: habit)
                let names = (0..<3).map { "64K-\(number * 10 + $0 + 1)" }
                try await me.sandbox.set(policy: Self.policy)
                var links: [String] = []
                for name in names { links.append(try await me.link("bytes-\(name)")) }
                let ending = try await me.run(["precache", "--deadline", "60s", "--progress", "none"] + links)
                #expect(ending.status == 0, "\(habit): \(ending.errorText)")
                let keys = names.map { "bytes-\($0)" }
                let renewal = try await me.run(["licence", "renew", "--json"] + keys)
                #expect(renewal.status == 0, "\(habit): \(renewal.text)")
                let reported = try LicenceScene.lines(Renewed.self, renewal.text)
                #expect(reported.count { $0.event == "renewed" } == 3 && reported.last?.renewed == 3, "\(habit)")
                try await me.goOffline()
                #expect(try await me.plays(keys[0], atMost: 1) == 1, "\(habit)")
                try await me.goOnline()
            }
        }
    }

    @Test func `unverifiable answers neither grant nor remove anything`() async throws {
        let codes = [
            "wrong-signature": -8634, "alg-none": -8634, "text-before": -8634, "text-after": -8634, "html": -8634,
            "empty": -8651, "huge:20000000": -8634, "strings": -8636, "doubled": -8636, "other-kind": -8682,
            "other-key": -8682, "missing:100": -8682, "status:500": -9500, "status:404": -9404, "status:302": -9302,
        ]
        try await LicenceScene.play { me in
            for name in Self.keys { try await me.fetch(name, Self.policy) }
            let known = Self.keys.map { "bytes-\($0)" }
            let rights = "SELECT content_key, count_limit, count_used, expires_ms, form, suspicion FROM licence "
            let before = try await me.sql(rights + "WHERE form NOT NULL ORDER BY id")
            var number = 10
            for habit in codes.keys.sorted() {
                try await me.sandbox.set(habits: habit)
                let renewal = try await me.run(["licence", "renew", "--json", "--max-attempts", "1"] + known)
                let reported = try LicenceScene.lines(Renewed.self, renewal.text)
                #expect(renewal.status == 1 || renewal.status == 75, "\(habit): \(renewal.text)")
                #expect(reported.last?.renewed == 0, "\(habit): \(renewal.text)")
                let found = Set(reported.compactMap(\.code))
                #expect(found == [try #require(codes[habit])], "\(habit): \(found)")
                #expect(try await me.sql(rights + "WHERE form NOT NULL ORDER BY id") == before, "\(habit)")
                // No byte is sent of a lecture that was not granted.
                number += 1
                let key = "bytes-64K-\(number)"
                let ending = try await me.run(
                    ["precache", "--deadline", "1s", "--progress", "none", try await me.link(key)])
                #expect(ending.status != 0, "\(habit)")
                #expect(try await me.sandbox.requests(for: "/media/\(key).mp4").isEmpty, "\(habit)")
            }
            try await me.sandbox.set(habits: "status:503")
            for key in known { #expect(try await me.plays(key) == 5) }
        }
    }

    @Test func `a server without the account's key is ignored`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.policy)
            let config = try String(contentsOfFile: me.home.file("config.json"), encoding: .utf8)
            try me.home.write(
                config.replacingOccurrences(of: #""user_key":"sandbox""#, with: #""user_key":"another""#),
                to: "config.json")
            let renewal = try await me("licence", "renew", "--json", "--max-attempts", "1", key)
            #expect(renewal.status == 1 && renewal.text.contains(#""code":-8634"#), "\(renewal.text)")
            #expect(try await me.plays(key, atMost: 1) == 1)
        }
    }

    @Test func `a server that does not decode the form answers nothing, and the message says so`() async throws {
        let server = try await PHPCallbackServer.start(decodesForm: false)
        try await LicenceScene.play { me in
            let mine = #"{"id":"php","algorithm":"HS256","secret_file":"\#(server.keyFile)"}"#
            try me.home.write(#"{"drm":{"keys":[\#(mine)],"user_key":"\#(server.userKey)"}}"#, to: "config.json")
            let link = try await me.link("bytes-64K-1", query: "licensed=\(server.url)&drm-key=php")
            let ending = try await me.run(["precache", "--max-attempts", "1", "--progress", "none", link])
            #expect(ending.status != 0)
            let why = try await me("why", "bytes-64K-1").text + ending.errorText
            #expect(why.contains("answer is empty") && why.contains("decode the form"), "\(why)")
        }
        await server.stop()
    }

    @Test func `an independent server implementation grants, renews, ends and deletes`() async throws {
        let server = try await PHPCallbackServer.start()
        try await LicenceScene.play { me in
            let mine = #"{"id":"php","algorithm":"HS256","secret_file":"\#(server.keyFile)"}"#
            try me.home.write(
                #"{"drm":{"keys":[\#(mine)],"user_key":"\#(server.userKey)","strict":true}}"#, to: "config.json")
            let keys = (1...3).map { "bytes-64K-\($0)" }
            var links: [String] = []
            for key in keys { links.append(try await me.link(key, query: "licensed=\(server.url)&drm-key=php")) }
            try server.set([
                keys[0]: ["expiration_count": 2], keys[1]: ["result": 0], keys[2]: ["expiration_count": 1],
            ])
            #expect(try await me.run(["precache", "--progress", "none"] + links).status != 0)
            #expect(try await me.plays(keys[0], atMost: 1) == 1)
            #expect(try await me("cat", keys[1]).status != 0)
            try server.set([
                keys[0]: ["content_expired": 1], keys[2]: ["content_expire_reset": 1, "expiration_count": 3],
            ])
            #expect(try await me("licence", "renew", "--all").status == 1)
            try await me.expectRefused(keys[0], "force_expired", -8658)
            try server.set([keys[2]: ["expiration_count": 1]])
            #expect(try await me.plays(keys[2]) == 3)
            try server.set([keys[2]: ["content_delete": 1]])
            #expect(try await me("licence", "renew", keys[2]).status == 1)
            #expect(try await me("cat", keys[2]).status != 0)
            let kinds = try server.items().map(\.kind)
            #expect(Set(kinds) == [1, 2, 3])
            #expect(try await me("licence", "debts", "--json").text.isEmpty)
        }
        await server.stop()
    }
}
