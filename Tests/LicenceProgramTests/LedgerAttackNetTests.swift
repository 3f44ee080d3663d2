import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Changes to the ledger with `sqlite3`: each is found, named, and permits no play.
@Suite(.timeLimit(.minutes(3))) struct LedgerAttackNetTests {
    /// Four lectures: one with plays left, of which one was taken; another with plays; one that has expired; one that
    /// was ended. `old` is the store before the play.
    private struct Table {
        let me: LicenceScene
        let old: String
        static let (played, other, over, ended) = ("bytes-64K-1", "bytes-64K-2", "bytes-64K-3", "bytes-64K-4")
        static let all = [played, other, over, ended]

        init(_ me: LicenceScene) async throws {
            self.me = me
            let counted = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) }
            try await me.fetch("64K-1", counted)
            try await me.fetch("64K-2", counted)
            let past = Int64(Date().timeIntervalSince1970) - 60
            try await me.fetch("64K-3", LicenceLifeNetTests.policy { $0.expirationDate = past })
            try await me.fetch("64K-4", LicenceLifeNetTests.policy { $0.contentExpired = 1 })
            #expect(try await me("licence", "renew", Self.ended).status == 1)
            try await me.goOffline()
            old = try me.copy("old").database
            #expect(try await me.plays(Self.played, atMost: 1) == 1)
            #expect(try await me.plays(Self.over) == 0)
        }
    }

    private static let editable = "DROP TRIGGER time_ledger_is_append_only"

    private static func row(_ key: String) -> String { "WHERE content_key = '\(key)'" }

    /// Statements by their aim; `old.` is the older copy.
    private static let edits: [(name: String, statements: [String])] = [
        ("a count lowered", ["UPDATE licence SET count_used = 0 \(row(Table.played))"]),
        ("a limit raised", ["UPDATE licence SET count_limit = 1000 \(row(Table.played))"]),
        ("a limit taken away", ["UPDATE licence SET count_limit = NULL \(row(Table.played))"]),
        ("an end moved", ["UPDATE licence SET expires_ms = 4000000000000 \(row(Table.over))"]),
        ("what was seen forgotten", ["UPDATE licence SET was_seen_expired = 0, expires_ms = NULL \(row(Table.over))"]),
        ("a flag cleared", ["UPDATE licence SET is_force_expired = 0 \(row(Table.ended))"]),
        ("another device", ["UPDATE licence SET device_thumbprint = zeroblob(32) \(row(Table.played))"]),
        ("play time", ["UPDATE licence SET play_time_used_ms = 5 \(row(Table.played))"]),
        ("a token exchanged", ["UPDATE licence SET token = 'a.b.c', token_id = 'x' \(row(Table.played))"]),
        ("a code of its own", ["UPDATE licence SET mac = zeroblob(32) \(row(Table.played))"]),
        (
            "rows exchanged between lectures",
            [
                "UPDATE licence SET content_key = 'between' \(row(Table.played))",
                "UPDATE licence SET content_key = '\(Table.played)' \(row(Table.ended))",
                "UPDATE licence SET content_key = '\(Table.ended)' WHERE content_key = 'between'",
            ]
        ),
        ("a row deleted", ["DELETE FROM licence \(row(Table.other))"]),
        (
            "a row put back with its code",
            [
                """
                UPDATE licence SET (count_used, mac) = (SELECT count_used, mac FROM old.licence AS was
                WHERE was.content_key = licence.content_key) \(row(Table.played))
                """
            ]
        ),
        ("the whole chain deleted", ["DELETE FROM time_ledger"]),
        (
            "the middle of the chain deleted",
            ["DELETE FROM time_ledger WHERE id = (SELECT max(id) - 1 FROM time_ledger)"]
        ),
        (
            "a time edited",
            [editable, "UPDATE time_ledger SET estimate_ms = 5 WHERE id = (SELECT max(id) FROM time_ledger)"]
        ),
        (
            "the sum edited",
            [
                editable, "UPDATE licence SET count_used = 0 \(row(Table.played))",
                """
                UPDATE time_ledger SET licence_sum = (SELECT licence_sum FROM old.time_ledger ORDER BY id DESC LIMIT 1)
                WHERE id = (SELECT max(id) FROM time_ledger)
                """,
            ]
        ),
        (
            "a time put in",
            [
                """
                INSERT INTO time_ledger SELECT (SELECT max(id) + 1 FROM time_ledger), * FROM
                (SELECT \(timeColumns) FROM old.time_ledger ORDER BY id DESC LIMIT 1)
                """
            ]
        ),
        ("the newest links cut off", ["DELETE FROM time_ledger WHERE id > (SELECT max(id) FROM old.time_ledger)"]),
    ]

    private static let timeColumns = """
        source, device, proven_ms, estimate_ms, offset_ms, is_anchored, has_leapt, doubt, wall_ms, boot_ns, boot_id,
        licence_sum, previous, code
        """

    @Test func `every edit is detected and named, and allows no play`() async throws {
        try await LicenceScene.play { me in
            let table = try await Table(me)
            for (number, edit) in Self.edits.enumerated() {
                let victim = try me.copy("\(number)")
                try await victim.attach(table.old, edit.statements)
                // Some edits have their own refusal, which may come first.
                let refusal = try await victim.refusal(of: Table.played)
                #expect(refusal.status == 77, "\(edit.name)")
                #expect(try await victim.licence(Table.played).reasons.contains("ledger_forged"), "\(edit.name)")
                for key in Table.all { #expect(try await victim.plays(key) == 0, "\(edit.name): \(key)") }
                // The finding is covered by the codes as well.
                if number == 0 {
                    #expect(refusal.code == -20106)
                    try await victim.sql("UPDATE licence SET suspicion = 0")
                    for key in Table.all { #expect(try await victim.plays(key) == 0, "\(key)") }
                }
                // Lists show it, too.
                #expect(try await victim.licences().allSatisfy { $0.licence.reasons.contains("ledger_forged") })
            }
            // In the unchanged store the lecture plays as often as permitted.
            #expect(try await me.plays(Table.played) == 2)
            #expect(try await me.plays(Table.other) == 3)
        }
    }

    @Test func `a restored row with its chain is an older store`() async throws {
        try await LicenceScene.play { me in
            let table = try await Table(me)
            try await me.attach(
                table.old,
                [
                    """
                    UPDATE licence SET (count_used, mac) = (SELECT count_used, mac FROM old.licence AS was
                    WHERE was.content_key = licence.content_key) \(Self.row(Table.played))
                    """, "DELETE FROM time_ledger WHERE id > (SELECT max(id) FROM old.time_ledger)",
                ])
            // Taking a play and seeing an end are two commits; both rows have to go back.
            try await me.attach(
                table.old,
                [
                    """
                    UPDATE licence SET (was_seen_expired, mac) = (SELECT was_seen_expired, mac FROM old.licence AS was
                    WHERE was.content_key = licence.content_key) \(Self.row(Table.over))
                    """
                ])
            try await me.expectRefused(Table.played, "store_rolled_back", -20107)
            for key in Table.all { #expect(try await me.plays(key) == 0, "\(key)") }
        }
    }

    @Test func `content keys are neither exchanged nor given another purpose`() async throws {
        try await LicenceScene.play { me in
            _ = try await Table(me)
            let place = { (key: String) in "WHERE content_id = (SELECT id FROM content WHERE key = '\(key)')" }
            let flip = "UPDATE content_key SET purpose = 0 \(place(Table.played))"
            let delete = "DELETE FROM licence \(Self.row(Table.played))"
            for (number, statements) in [[flip], [flip, delete]].enumerated() {
                let victim = try me.copy("flip-\(number)")
                try await victim.sql(statements[0])
                for statement in statements.dropFirst() { try await victim.sql(statement) }
                let ending = try await victim("cat", Table.played)
                #expect(ending.status != 0 && ending.output.isEmpty, "\(statements): \(ending.errorText)")
                #expect(try await victim.plays(Table.played) == 0)
            }
            let victim = try me.copy("exchange")
            try await victim.sql(
                """
                UPDATE content_key SET wrapped = (SELECT wrapped FROM content_key \(place(Table.other)))
                \(place(Table.played))
                """)
            let refusal = try await victim.refusal(of: Table.played)
            #expect(refusal == LicenceScene.Refusal(status: 65, code: -8646))
            #expect(try await victim.plays(Table.played) == 0)
        }
    }

    @Test func `a renewal by the server repairs a forged ledger`() async throws {
        try await LicenceScene.play { me in
            _ = try await Table(me)
            let free = try await { () in
                try await me.goOnline()
                return try await me.fetch("64K-5", .ending(in: 3600))
            }()
            try await me.sql("UPDATE licence SET count_used = 0 \(Self.row(Table.played))")
            try await me.goOffline()
            for key in Table.all + [free] { #expect(try await me.plays(key) == 0, "\(key)") }
            // A new permission is enough without a count; a count needs a reset.
            try await me.goOnline()
            try await me.sandbox.set(policy: .ending(in: 3600), for: [free])
            #expect(try await me("licence", "renew", "--all").status == 1, "one was ended by its server")
            try await me.goOffline()
            #expect(try await me.plays(free, atMost: 2) == 2)
            #expect(try await me.plays(Table.played) == 0)
            try await me.goOnline()
            try await me.sandbox.set(
                policy: LicenceLifeNetTests.policy {
                    ($0.expirationIn, $0.expirationCount, $0.contentExpireReset) = (3600, 2, 1)
                }, for: Table.all)
            #expect(try await me("licence", "renew", "--all").status == 0)
            try await me.goOffline()
            for key in Table.all { #expect(try await me.plays(key) == 2, "\(key)") }
            #expect(try await me("store", "check").status == 0)
        }
    }
}

extension LicenceScene {
    /// Runs statements with another database attached as `old`.
    func attach(_ other: String, _ statements: [String]) async throws {
        let script = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1], isolation_level=None)
            store.execute("ATTACH ? AS old", (sys.argv[2],))
            for statement in sys.argv[3:]:
                if store.execute(statement).rowcount == 0: sys.exit("nothing was changed by " + statement)
            """
        let ending = try await ChildProcess.run("/usr/bin/python3", ["-c", script, database, other] + statements)
        #expect(ending.status == 0, "\(ending.errorText)")
    }
}
