import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// The life of a licence through the built program, from the grant to the end.
@Suite(.timeLimit(.minutes(3))) struct LicenceLifeNetTests {
    /// A policy with some members set.
    static func policy(_ change: (inout CallbackPolicy) -> Void) -> CallbackPolicy {
        var policy = CallbackPolicy()
        change(&policy)
        return policy
    }

    private static var hourFromNow: Int64 { Int64(Date().timeIntervalSince1970) + 3600 }

    @Test func `an ungranted lecture is never written to disk, and is once granted`() async throws {
        try await LicenceScene.play { me in
            try await me.sandbox.set(policy: .refusal("The course begins in March."))
            let link = try await me.link("bytes-200K-1")
            for _ in 0..<2 {
                let refused = try await me("precache", "--json", link)
                #expect(refused.status == 77)
                #expect(refused.text.contains(#""code":-8655"#) && refused.text.contains("The course begins in March."))
            }
            #expect(LicenceScene.files("\(me.store)/media").isEmpty)
            #expect(try await me.sandbox.requests(for: "/media/bytes-200K-1.mp4").isEmpty)
            #expect(try await me.refusal(of: "bytes-200K-1") == LicenceScene.Refusal(status: 75, code: -8629))
            #expect(try await me.licence("bytes-200K-1").reasons == ["media_incomplete", "missing"])
            let shown = try await me("licence", "show", "bytes-200K-1")
            #expect(shown.text.contains("grant  status 200  refused"), "\(shown.text)")
            // The provider changes its answer: another link to the same lecture requests the licence again.
            try await me.fetch("200K-1", .ending(in: 3600))
            #expect(try await me.licence("bytes-200K-1").verdict == "playable")
        }
    }

    @Test
    func `the figures for monitoring have licences by what is left of them, and when a server last permitted one`()
        async throws
    {
        try await LicenceScene.play { me in
            for (name, seconds) in [("64K-1", 3600), ("64K-2", 3 * 86_400), ("64K-3", 90 * 86_400)] as [(String, Int)] {
                try await me.fetch(name, .ending(in: seconds))
            }
            let figures = try await me("metrics").text.split(separator: "\n").map(String.init)
            let due = [
                "lecturekit_licences 3", "lecturekit_licences_ended 0", #"lecturekit_licences_ending{within="1d"} 1"#,
                #"lecturekit_licences_ending{within="7d"} 2"#, #"lecturekit_licences_ending{within="30d"} 2"#,
                "lecturekit_licences_check_overdue 0",
            ]
            for line in due { #expect(figures.contains(line), "\(line)") }
            let renewed = #"lecturekit_last_success_timestamp_seconds{task="licence_renewal"} "#
            let time = try #require(figures.first { $0.hasPrefix(renewed) }?.dropFirst(renewed.count))
            #expect(abs(try #require(Double(time)) - Date().timeIntervalSince1970) < 180)
            // In a store that is older than what the device last wrote every licence needs its server.
            let copy = me.home.file("older.db")
            #expect(try await me("store", "backup", copy).status == 0)
            try await me.fetch("64K-4", .ending(in: 3600))
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(me.store)/lecturekit.db\(suffix)")
            }
            try Data(contentsOf: URL(filePath: copy)).write(to: URL(filePath: "\(me.store)/lecturekit.db"))
            let restored = try await me("metrics").text
            #expect(restored.contains("\nlecturekit_licences_check_overdue 3\n"), "\(restored)")
        }
    }

    @Test func `a licensed lecture is refused with --no-seal, and downloaded without it`() async throws {
        try await LicenceScene.play { me in
            try await me.sandbox.set(policy: .ending(in: 3600), for: ["bytes-64K-1"])
            let link = try await me.link("bytes-64K-1")
            let refused = try await me("precache", "--json", "--no-seal", link)
            #expect(refused.status != 0 && refused.text.contains(#""name":"seal_required""#), "\(refused.text)")
            #expect(LicenceScene.files("\(me.store)/media").isEmpty)
            #expect(try await me("precache", link).status == 0)
            #expect(try await me.licence("bytes-64K-1").verdict == "playable")
        }
    }

    @Test func `a licensed lecture stays playable when a list names a digest that the server lacks`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("200K-1", .ending(in: 3600))
            let original = try await me.original(key)
            let right = try await me.sandbox.sha256(of: "/media/\(key).mp4")
            for (digest, status) in [(String(repeating: "0", count: 64), Int32(1)), (right, 0)] {
                let line = try JSONSerialization.data(
                    withJSONObject: ["url": try await me.link(key), "sha256": digest], options: .withoutEscapingSlashes)
                let list = try me.home.write([UInt8](line), to: "list.jsonl")
                let ending = try await me("precache", "--progress", "none", list)
                #expect(ending.status == status, "\(ending.errorText)")
                #expect(try await me.licence(key).verdict == "playable")
                #expect(try await me("cat", key).output == original)
            }
            let plan = try await me(
                "precache", "-n", "--json", "--check", "head", try await me.link(key, expiresIn: 601))
            #expect(plan.text.contains(#""plan":"complete""#), "\(plan.text)")
        }
    }

    @Test func `a granted lecture is sealed, counted, limited, reported and renewed`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch(
                "3000000-7", Self.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) })
            let original = try await me.original(key)
            try await Self.expectSealed(me, original)
            let first = try await me.licence(key)
            #expect(first.verdict == "playable" && first.countLeft == 3 && first.countUsed == 0)
            #expect(try await me.licences().map(\.key) == [key])
            #expect(try await me("path", key).status != 0, "a sealed file has no path to be played from")

            #expect(try await me("cat", key).output == original)
            let edge = try await me("cat", key, "--range", "1048510-1048530")
            #expect(edge.output == original[1_048_510...1_048_530])
            #expect(try await me.licence(key).countLeft == 1)
            let last = try await me("cat", key, "--range", "2999990-")
            #expect(last.output == original[2_999_990...])
            try await me.goOffline()
            try await me.expectRefused(key, "count_used_up", -8644)

            // The server grants new plays with a reset; without one used plays stay used.
            try await me.goOnline()
            #expect(try await me("licence", "renew", key, "--verbose").status == 0)
            try await me.goOffline()
            #expect(try await me.plays(key) == 0)
            try await me.goOnline()
            try await me.sandbox.set(
                policy: Self.policy { ($0.expirationCount, $0.contentExpireReset) = (2, 1) }, for: [key])
            #expect(try await me("licence", "renew", "--all").status == 0)
            try await me.goOffline()
            #expect(try await me.plays(key) == 2)
            for words in [
                ["show", key], ["why", key], ["status"], ["list"], ["store", "info"], ["licence", "list"],
            ] {
                #expect(try await me.run(words).status == 0)
                #expect(try await me.run(words + ["--json", "--verbose"]).status == 0)
            }
            #expect(try await me("store", "check").status == 0)
        }
    }

    /// No 64 bytes of the media are in any file of the store: such a window contains a block of 32 that starts at a
    /// multiple of 32.
    static func expectSealed(
        _ me: LicenceScene, _ original: Data, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let media = try me.home.write(Array(original), to: "original")
        let script = """
            import sys
            media = open(sys.argv[1], "rb").read()
            blocks = {media[at:at + 32] for at in range(0, len(media) - 31, 32)}
            for path in sys.argv[1:]:
                held = open(path, "rb").read()
                if any(held[at:at + 32] in blocks for at in range(len(held))): print(path)
            """
        let files = LicenceScene.files(me.store)
        let ending = try await ChildProcess.run("/usr/bin/python3", ["-c", script, media] + files)
        #expect(ending.status == 0, "\(ending.errorText)", sourceLocation: sourceLocation)
        // The original itself is found, which shows that the search works.
        #expect(ending.text == media + "\n", sourceLocation: sourceLocation)
    }

    @Test func `an expiry holds, and only the session key that was sent revives a licence`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch(
                "200K-2", Self.policy { $0.expirationDate = Int64(Date().timeIntervalSince1970) - 60 })
            try await me.goOffline()
            try await me.expectRefused(key, "expired", -8643)
            try await me.goOnline()
            let end = Self.hourFromNow
            // A new end alone does not restore a licence that was once seen to have ended.
            try await me.sandbox.set(policy: Self.policy { $0.expirationDate = end }, for: [key])
            #expect(try await me("licence", "renew", "--expired").status == 0)
            try await me.goOffline()
            try await me.expectRefused(key, "expired", -8643, "a new end without a reset")
            let reset = Self.policy { ($0.expirationDate, $0.contentExpireReset) = (end, 1) }
            try await me.sandbox.set(policy: reset, for: [key])
            for habit in ["wrong-session", "no-session"] {
                try await me.sandbox.set(habits: habit)
                let ending = try await me("licence", "renew", "--json", key)
                #expect(ending.status == 1 && ending.text.contains(#""code":-8681"#), "\(habit): \(ending.text)")
                try await me.goOffline()
                try await me.expectRefused(key, "expired", -8643, habit)
            }
            try await me.goOnline()
            #expect(try await me("licence", "renew", "--json", key).status == 0)
            #expect(try await me.licence(key).expiresMs == end * 1000)
            try await me.goOffline()
            #expect(try await me.plays(key, atMost: 2) == 2)
        }
    }

    @Test func `a server can end a licence and order the lecture deleted`() async throws {
        try await LicenceScene.play { me in
            let (ended, deleted) = (try await me.fetch("200K-3", .ending(in: 3600)), try await me.fetch("200K-4"))
            try await me.sandbox.set(policy: Self.policy { $0.contentExpired = 1 }, for: [ended])
            try await me.sandbox.set(policy: Self.policy { $0.contentDelete = 1 }, for: [deleted])
            let file = try await me.media(deleted)
            #expect(FileManager.default.fileExists(atPath: file))
            let process = try me.start(["licence", "renew", "--all", "--json"])
            try await process.wait(forOutput: #""change":"deleted""#)
            #expect(!FileManager.default.fileExists(atPath: file), "the event came before the file was deleted")
            let ending = await process.ending()
            me.keep(ending)
            #expect(ending.status == 1)
            for code in ["-8658", "-8680"] { #expect(ending.text.contains(#""code":\#(code)"#), "\(ending.text)") }
            #expect(try await me("cat", deleted).status != 0)
            try await me.goOffline()
            try await me.expectRefused(ended, "force_expired", -8658)
            // Both are restored when their server permits it.
            try await me.goOnline()
            try await me.sandbox.set(
                policy: Self.policy { ($0.contentExpireReset, $0.expirationIn) = (1, 3600) }, for: [ended])
            #expect(try await me("licence", "renew", ended).status == 0)
            try await me.fetch("200K-4", .ending(in: 3600))
            try await me.goOffline()
            for key in [ended, deleted] { #expect(try await me.plays(key, atMost: 1) == 1, "\(key)") }
        }
    }

    @Test func `checks are requested when they are due, and decide`() async throws {
        try await LicenceScene.play { me in
            let always = try await me.fetch("200K-5", Self.policy { $0.checkAbuse = 1 })
            let dated = try await me.fetch(
                "200K-6", Self.policy { $0.checkExpirationDate = Int64(Date().timeIntervalSince1970) - 60 })
            try await me.goOffline()
            for key in [always, dated] { try await me.expectRefused(key, "check_due", -8687) }
            try await me.goOnline()
            #expect(try await me.plays(always, atMost: 1) == 1)
            try await me.sandbox.set(policy: Self.policy { $0.checkExpirationIn = 3600 }, for: [dated])
            #expect(try await me.plays(dated, atMost: 1) == 1)
            try await me.goOffline()
            // Permitted once does not last; permitted until a date does.
            try await me.expectRefused(always, "check_due", -8687)
            #expect(try await me.plays(dated, atMost: 1) == 1)
            try await me.goOnline()
            try await me.sandbox.set(policy: .refusal("Another user is watching."), for: [always], kind: 3)
            let refused = try await me("cat", always)
            #expect(refused.status == 77 && refused.errorText.contains("Another user is watching."))
        }
    }

    @Test(arguments: [false, true])
    func `an unreported completed download is a pending callback`(isStrict: Bool) async throws {
        try await LicenceScene.play(drm: isStrict ? #","strict":true"# : "") { me in
            // The first request is the grant; later ones are not answered.
            try await me.sandbox.set(habits: "status:503;after=1")
            let key = try await me.fetch("200K-7", .ending(in: 3600))
            let callbacks = try await me("licence", "debts", "--json")
            #expect(callbacks.status == 0 && callbacks.text.contains(#""key":"\#(key)""#), "\(callbacks.text)")
            #expect(try await me.plays(key, atMost: 1) == (isStrict ? 0 : 1))
            #expect(try await me("licence", "debts", "--pay").status == 75)
            try await me.goOnline()
            #expect(try await me("licence", "debts", "--pay", "--json").status == 0)
            #expect(try await me("licence", "debts", "--json").text.isEmpty)
            #expect(try await me.plays(key, atMost: 1) == 1)
            let counts = try await me.sandbox.callbackCounts().filter { $0.kind == 2 }
            #expect(counts.map(\.granted) == [1])
        }
    }

    @Test func `used plays stay used when a lecture is removed and fetched again`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("200K-8", Self.policy { $0.expirationCount = 2 })
            try await me.goOffline()
            #expect(try await me.plays(key, atMost: 1) == 1)
            #expect(try await me("remove", key).status == 0)
            #expect(try await me.licences().isEmpty)
            #expect(LicenceScene.files("\(me.store)/media").isEmpty)
            try await me.goOnline()
            try await me.fetch("200K-8")
            try await me.goOffline()
            #expect(try await me.plays(key) == 1)
        }
    }
}
