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

    @Test func `what is not granted never comes near the disk, and comes once it is granted`() async throws {
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
            // The provider thinks better of it: another link to the same lecture asks anew.
            try await me.fetch("200K-1", .ending(in: 3600))
            #expect(try await me.licence("bytes-200K-1").verdict == "playable")
        }
    }

    @Test func `what is granted lies sealed, and is counted, limited, told and renewed`() async throws {
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

            // The server gives new plays with a reset; without one what was used stays used.
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

    /// No 64 bytes of the media stand in any file of the store: such a window holds a block of 32 that begins at a
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
        // The original itself is found, so that the search is seen to work.
        #expect(ending.text == media + "\n", sourceLocation: sourceLocation)
    }

    @Test func `an end in time holds, and only the session key that was sent revives what has ended`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch(
                "200K-2", Self.policy { $0.expirationDate = Int64(Date().timeIntervalSince1970) - 60 })
            try await me.goOffline()
            try await me.expectRefused(key, "expired", -8643)
            try await me.goOnline()
            let end = Self.hourFromNow
            // A new end alone does not revive what was once seen to have ended.
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

    @Test func `a server can end a licence and order the lecture away`() async throws {
        try await LicenceScene.play { me in
            let (ended, deleted) = (try await me.fetch("200K-3", .ending(in: 3600)), try await me.fetch("200K-4"))
            try await me.sandbox.set(policy: Self.policy { $0.contentExpired = 1 }, for: [ended])
            try await me.sandbox.set(policy: Self.policy { $0.contentDelete = 1 }, for: [deleted])
            let file = try await me.media(deleted)
            #expect(FileManager.default.fileExists(atPath: file))
            let process = try me.start(["licence", "renew", "--all", "--json"])
            try await process.wait(forOutput: #""change":"deleted""#)
            #expect(!FileManager.default.fileExists(atPath: file), "the event came before the file had gone")
            let ending = await process.ending()
            me.keep(ending)
            #expect(ending.status == 1)
            for code in ["-8658", "-8680"] { #expect(ending.text.contains(#""code":\#(code)"#), "\(ending.text)") }
            #expect(try await me("cat", deleted).status != 0)
            try await me.goOffline()
            try await me.expectRefused(ended, "force_expired", -8658)
            // Both come back when their server says so.
            try await me.goOnline()
            try await me.sandbox.set(
                policy: Self.policy { ($0.contentExpireReset, $0.expirationIn) = (1, 3600) }, for: [ended])
            #expect(try await me("licence", "renew", ended).status == 0)
            try await me.fetch("200K-4", .ending(in: 3600))
            try await me.goOffline()
            for key in [ended, deleted] { #expect(try await me.plays(key, atMost: 1) == 1, "\(key)") }
        }
    }

    @Test func `checks are asked for when they are due, and decide`() async throws {
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
            // Permitted once is not permitted for ever; permitted until a day is.
            try await me.expectRefused(always, "check_due", -8687)
            #expect(try await me.plays(dated, atMost: 1) == 1)
            try await me.goOnline()
            try await me.sandbox.set(policy: .refusal("Somebody else is watching."), for: [always], kind: 3)
            let refused = try await me("cat", always)
            #expect(refused.status == 77 && refused.errorText.contains("Somebody else is watching."))
        }
    }

    @Test(arguments: [false, true])
    func `a completed download that nobody was told of is a debt`(isStrict: Bool) async throws {
        try await LicenceScene.play(drm: isStrict ? #","strict":true"# : "") { me in
            // The first question is the grant; what comes behind it is not answered.
            try await me.sandbox.set(habits: "status:503;after=1")
            let key = try await me.fetch("200K-7", .ending(in: 3600))
            let debts = try await me("licence", "debts", "--json")
            #expect(debts.status == 0 && debts.text.contains(#""key":"\#(key)""#), "\(debts.text)")
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

    @Test func `what was used stays used when a lecture is removed and fetched again`() async throws {
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
