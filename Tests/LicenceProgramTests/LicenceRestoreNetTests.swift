import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Backups that are restored, stores that are moved, and how to make a lecture playable again.
@Suite(.timeLimit(.minutes(3))) struct LicenceRestoreNetTests {
    private static let counted = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) }

    private struct Summary: Decodable, Equatable {
        let total, renewed, failed, playable, needGrant, left: Int
    }

    /// The last line of a batch.
    private static func summary(_ ending: ChildProcess.Ending) throws -> Summary {
        struct Line: Decodable { let event: String }
        let line = try #require(ending.text.split(separator: "\n").last.map(String.init))
        #expect(try LicenceScene.lines(Line.self, line).first?.event == "summary")
        return try #require(try LicenceScene.lines(Summary.self, line).first)
    }

    /// A device with a lecture of three plays, two of which are taken after the backup that is restored.
    private static func restored(
        _ story: (inout LicenceScene, String) async throws -> Void
    ) async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", counted)
            let backup = try me.copy("backup")
            try await me.goOffline()
            #expect(try await me.plays(key, atMost: 2) == 2)
            try LicenceScene.copy(backup.store, to: me.store)
            try await story(&me, key)
        }
    }

    // MARK: A restored backup

    @Test func `from the first call every list shows what a play finds after a restore`() async throws {
        for first in ["licence list", "licence show", "list", "show", "why", "cat"] {
            try await Self.restored { me, key in
                var order = ["licence list", "licence show", "list", "show", "why", "cat"]
                order.removeAll { $0 == first }
                for command in [first] + order {
                    try await Self.expectReason("store_rolled_back", -20107, command, key, me)
                }
            }
        }
    }

    @Test func `due renewals are known from the first call after a restore`() async throws {
        for words in [
            ["status", "--json"], ["licence", "list", "--expiring", "1s", "--json"], ["licence", "renew", "--dry-run"],
        ] {
            try await Self.restored { me, key in
                let ending = try await me.run(words)
                #expect(ending.status == 0, "\(ending.errorText)")
                #expect(ending.text.contains(words[0] == "status" ? #""licences_due":1"# : key), "\(ending.text)")
            }
        }
    }

    /// The reason that a command reports for a lecture that does not play.
    private static func expectReason(
        _ reason: String, _ code: Int, _ command: String, _ key: String, _ me: LicenceScene
    ) async throws {
        if command == "cat" {
            #expect(try await me.refusal(of: key) == LicenceScene.Refusal(status: 77, code: code))
            return
        }
        struct Line: Decodable { let licence: LicenceScene.Licence.Judgement }
        let hasKey = !command.hasSuffix("list")
        let words = command.split(separator: " ").map(String.init) + ["--json"] + (hasKey ? [key] : [])
        let ending = try await me.run(words)
        #expect(ending.status == 0, "\(command): \(ending.errorText)")
        let line = try #require(ending.text.split(separator: "\n").first.map(String.init), "\(command)")
        let licence = try #require(try LicenceScene.lines(Line.self, line).first).licence
        #expect(licence.verdict == "refused" && licence.reasons.first == reason, "\(command): \(licence.reasons)")
    }

    @Test func `after a restore a renewal reports no effect, and a new grant helps`() async throws {
        try await Self.restored { me, key in
            try await me.goOnline()
            let fetched = try await me.sandbox.requests(for: "/media/\(key).mp4").count
            let renewed = try await me("licence", "renew", "--all")
            #expect(renewed.status == 1)
            let advice = "run 'lecturectl licence regrant \(key)'"
            #expect(renewed.errorText.contains("1 answered, 0 playable; 1 needs a new grant: \(advice)"))
            let json = try Self.summary(try await me("licence", "renew", "--all", "--json"))
            #expect(json == Summary(total: 1, renewed: 1, failed: 0, playable: 0, needGrant: 1, left: 0))
            try await me.expectRefused(key, "store_rolled_back", -20107)
            // The remedy that the refusal names.
            let refused = try await me("cat", key)
            #expect(refused.errorText.contains("'lecturectl licence regrant --all'"))
            let plan = try await me("licence", "regrant", key, "--dry-run")
            #expect(plan.status == 0 && plan.text.contains("\(key)\trequest 1"), "\(plan.text)")
            let granted = try await me("licence", "regrant", "--all", "--json", "--acks")
            #expect(granted.status == 0 && granted.text.contains("ACK \(key)"), "\(granted.errorText)")
            #expect(
                try Self.summary(granted)
                    == Summary(total: 1, renewed: 1, failed: 0, playable: 1, needGrant: 0, left: 0))
            #expect(try await me.sandbox.requests(for: "/media/\(key).mp4").count == fetched, "nothing is downloaded")
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
        }
    }

    @Test func `a refused or unanswered regrant leaves everything as it was`() async throws {
        try await Self.restored { me, key in
            let row = "SELECT count_limit, count_used, expires_ms, suspicion, token FROM licence"
            try await me.expectRefused(key, "store_rolled_back", -20107)
            let before = try await me.sql(row)
            #expect(try await me("licence", "regrant", key, "--max-attempts", "1").status == 1)
            try await me.goOnline()
            try await me.sandbox.set(policy: .refusal("Not twice."), for: [key], kind: 1)
            let refused = try await me("licence", "regrant", "--all")
            #expect(refused.status == 1 && refused.errorText.contains("Not twice."), "\(refused.errorText)")
            #expect(try await me.sql(row) == before)
            try await me.sandbox.set(policy: Self.counted, for: [key], kind: 1)
            #expect(try await me("licence", "regrant", key).status == 0)
            #expect(try await me.plays(key, atMost: 1) == 1)
        }
    }

    @Test func `a valid licence is not granted again, so used plays stay used`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.counted)
            #expect(try await me.plays(key, atMost: 2) == 2)
            let grants = try await me.sandbox.callbackCounts().filter { $0.kind == 1 }.map(\.granted)
            let named = try await me("licence", "regrant", key)
            #expect(named.status == 0 && named.errorText.contains("no new grant is needed"), "\(named.errorText)")
            #expect(try await me("licence", "regrant", "--all").status == 0)
            #expect(try await me.sandbox.callbackCounts().filter { $0.kind == 1 }.map(\.granted) == grants)
            #expect(try await me.licence(key).countLeft == 1)
        }
    }

    @Test func `new grants are requested ten a request`() async throws {
        try await LicenceScene.play { me in
            let names = (1...12).map { "64K-\($0)" }
            for name in names { try await me.fetch(name, Self.counted) }
            let backup = try me.copy("backup")
            #expect(try await me.plays("bytes-64K-1", atMost: 1) == 1)
            try LicenceScene.copy(backup.store, to: me.store)
            let plan = try await me("licence", "regrant", "--all", "--dry-run")
            #expect(plan.errorText.contains("12 licences in 2 requests"), "\(plan.errorText)")
            let granted = try await me("licence", "regrant", "--all")
            #expect(granted.status == 0 && granted.errorText.contains("12 granted, 0 failed"), "\(granted.errorText)")
            #expect(try await me.licences().allSatisfy { $0.licence.verdict == "playable" })
        }
    }

    // MARK: A moved store

    /// A device with a lecture, and its store on a machine with another key; `copy` is the exported key.
    private static func moved(
        _ story: (inout LicenceScene, _ key: String, _ words: [String]) async throws -> Void
    ) async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", counted)
            try await me.fetch("64K-7", .ending(in: 3600))
            let importing = try await me.exportKey()
            var other = try me.copy("machine", device: false)
            other.device = me.home.file("other-device")
            try await story(&other, key, importing + ["--replace"])
        }
    }

    @Test func `on a copied store every list shows what a play finds, and nothing is written`() async throws {
        try await Self.moved { me, key, _ in
            let rows = "SELECT hex(mac), suspicion FROM licence UNION ALL SELECT hex(code), id FROM time_ledger"
            let before = try await me.sql(rows)
            for command in ["licence list", "cat", "licence show", "list", "show", "why", "licence list"] {
                try await Self.expectReason("store_copied", -20105, command, key, me)
            }
            for words in [["licence", "renew", "--all"], ["licence", "renew", key], ["licence", "regrant", "--all"]] {
                let refused = try await me.run(words)
                #expect(refused.status == 77 && refused.errorText.contains("device import"), "\(refused.errorText)")
            }
            #expect(try await me("licence", "debts", "--pay").status == 77)
            let link = try await me.link("bytes-64K-2")
            let fetched = try await me("precache", "--json", link)
            #expect(fetched.status == 77 && fetched.text.contains("-20105"), "\(fetched.text) \(fetched.errorText)")
            #expect(try await me.sandbox.requests(for: "/media/bytes-64K-2.mp4").isEmpty)
            #expect(try await me.sql(rows) == before)
        }
    }

    @Test func `a renewal before the key was imported is refused, and a regrant after it makes everything play`()
        async throws
    {
        try await Self.moved { me, key, importing in
            #expect(try await me("licence", "renew", "--all").status == 77)
            #expect(try await me.plays(key) == 0)
            #expect(try await me.run(importing).status == 0)
            // The device's old directory may have recorded more plays since.
            try await me.expectRefused(key, "store_rolled_back", -20107)
            #expect(try await me("licence", "regrant", "--all").status == 0)
            try await me.goOffline()
            #expect(try await me.licence(key).verdict == "playable")
            #expect(try await me.plays(key) == 3)
        }
    }

    @Test func `a store taken over by another device plays after import and regrant`() async throws {
        try await Self.moved { me, key, importing in
            // The command form of what an earlier version did automatically at the first contact.
            let taken = try await me("licence", "regrant", "--all", "--new-device")
            #expect(taken.status == 1 && taken.errorText.contains("sealed by another device"), "\(taken.errorText)")
            try await me.expectRefused(key, "store_copied", -20105)
            // Without a count a renewal is trusted there, and yet the other device's media stays closed.
            #expect(try await me("licence", "renew", "--all").status == 1)
            try await me.expectRefused("bytes-64K-7", "store_copied", -20105)
            #expect(try await me.run(importing).status == 0)
            for key in [key, "bytes-64K-7"] { try await me.expectRefused(key, "store_copied", -20105) }
            #expect(try await me("licence", "renew", "--all").status == 77)
            let plan = try await me("licence", "regrant", "--all", "--dry-run")
            #expect(plan.status == 0, "\(plan.errorText)")
            let granted = try await me("licence", "regrant", "--all")
            #expect(granted.status == 0 && granted.errorText.contains("2 granted"), "\(granted.errorText)")
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
            #expect(try await me.plays("bytes-64K-7", atMost: 2) == 2)
        }
    }

    @Test func `without the old key lectures are removed and downloaded again`() async throws {
        try await Self.moved { me, key, _ in
            #expect(try await me("licence", "renew", "--all").status == 77)
            #expect(try await me("remove", key, "bytes-64K-7").status == 0)
            try await me.fetch("64K-1", Self.counted)
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
        }
    }

    @Test func `a store that was taken over accepts new lectures beside locked ones`() async throws {
        try await Self.moved { me, key, _ in
            #expect(try await me("licence", "regrant", "--all", "--new-device").status == 1)
            let other = try await me.fetch("64K-2", Self.counted)
            try await me.goOffline()
            #expect(try await me.plays(other) == 3)
            try await me.expectRefused(key, "store_copied", -20105)
        }
    }

    // MARK: What is playable

    @Test func `a lecture whose file is missing is not playable in any list`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.counted)
            try FileManager.default.removeItem(atPath: try await me.media(key))
            for command in ["licence list", "licence show", "list", "show", "why"] {
                struct Line: Decodable { let licence: LicenceScene.Licence.Judgement }
                let words = command.split(separator: " ").map(String.init) + ["--json"]
                let ending = try await me.run(words + (command.hasSuffix("list") ? [] : [key]))
                let line = try #require(ending.text.split(separator: "\n").first.map(String.init))
                let reasons = try LicenceScene.lines(Line.self, line).first?.licence.reasons
                #expect(reasons == ["media_incomplete"], "\(command)")
            }
        }
    }

    // MARK: Unknown keys

    @Test func `a key that does not exist is an error, and the others are handled`() async throws {
        try await LicenceScene.play { me in
            let free = "free"
            let media = "\(me.sandbox.http)/media/bytes-64K-9.mp4"
            #expect(try await me("precache", media, "--key", free).status == 0)
            for verb in ["renew", "regrant"] {
                let alone = try await me("licence", verb, "nokey", "--json")
                #expect(alone.status == 1 && alone.text.contains(#""key":"nokey""#), "\(verb) without a licence")
            }
            let key = try await me.fetch("64K-1", Self.counted)
            for words in [["licence", "show", "nokey"], ["licence", "renew", "nokey", "--dry-run"]] {
                let ending = try await me.run(words)
                #expect(ending.status == 1 && ending.errorText.contains("nokey"), "\(words): \(ending.errorText)")
            }
            let mixed = try await me("licence", "renew", "nokey", key, free, "--json")
            #expect(mixed.status == 1 && mixed.errorText.contains("free: no licence is needed"), "\(mixed.errorText)")
            #expect(
                try Self.summary(mixed) == Summary(total: 1, renewed: 1, failed: 0, playable: 1, needGrant: 0, left: 2))
            #expect(try await me("licence", "renew", free).status == 0)
            #expect(try await me("licence", "regrant", key, "nokey").status == 1)
            #expect(try await me("licence", "regrant").status == 64)
        }
    }
}
