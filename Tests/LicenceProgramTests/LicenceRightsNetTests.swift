import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

/// Rights that bad luck must not take away, and plays that no copy gives back.
@Suite(.timeLimit(.minutes(3))) struct LicenceRightsNetTests {
    private static let three = LicenceLifeNetTests.policy { ($0.expirationIn, $0.expirationCount) = (3600, 3) }

    // MARK: No right lost

    @Test func `a command with another device directory changes nothing and creates no key`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            try await me.goOffline()
            let elsewhere = ["LECTURE_DEVICE": me.home.file("elsewhere")]
            let rows = "SELECT hex(mac), suspicion FROM licence UNION ALL SELECT hex(code), id FROM time_ledger"
            let before = try await me.sql(rows)
            for words in [
                ["show", key], ["why", key], ["licence", "show", key], ["licence", "list"], ["list"], ["status"],
                ["verify", key], ["cat", key], ["precache"], ["licence", "renew", "--all"], ["store", "check"],
                ["precache", "--header", "A: b", "\(me.sandbox.http)/media/bytes-64K-9.mp4"],
            ] {
                let ending = try await me.run(words, environment: elsewhere)
                #expect(try await me.sql(rows) == before, "\(words)")
                #expect(
                    !FileManager.default.fileExists(atPath: me.home.file("elsewhere/device.key")),
                    "\(words): \(ending.errorText)")
            }
            let played = try await me.run(["cat", key], environment: elsewhere)
            #expect(played.status == 77 && played.errorText.contains("device import"), "\(played.errorText)")
            #expect(try await me.plays(key) == 3)
        }
    }

    @Test func `a play that cannot be recorded is refused, named before, and not lost`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            try await me.goOffline()
            let script = """
                mount --bind "$LECTURE_DEVICE" "$LECTURE_DEVICE"
                mount -o remount,bind,ro "$LECTURE_DEVICE"
                "$0" licence show "$1" --json
                for round in 1 2 3 4; do "$0" cat "$1" > /dev/null && exit 1; done
                "$0" cat "$1"
                """
            let ending = try await me.withMounts(script, key)
            #expect(ending.status == 73, "\(ending.errorText)")
            #expect(ending.text.contains(#""reasons":["anchor_unwritable"]"#), "\(ending.text)")
            #expect(ending.errorText.contains("the device's directory"), "\(ending.errorText)")
            #expect(try await me.licence(key).countLeft == 3)
            #expect(try await me.plays(key) == 3)
        }
    }

    @Test func `a complete lecture whose licence is lost plays again after removal and a new download`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            try await me.sql("DELETE FROM licence")
            let refused = try await me("cat", key)
            #expect(refused.status == 77 && refused.errorText.contains("'lecturectl remove'"), "\(refused.errorText)")
            // The remedy that the message names.
            #expect(try await me("remove", key).status == 0)
            try await me.fetch("64K-1")
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
        }
    }

    // MARK: No play beyond the grant

    @Test func `a copy of a young store gives no play back when its anchor is deleted`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            let early = try me.copy("early")
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
            for _ in 1...3 {
                try me.deleteAnchors()
                try LicenceScene.copy(early.store, to: me.store)
                #expect(try await me.plays(key) == 0)
                try await me.expectRefused(key, "store_rolled_back", -20107)
            }
        }
    }

    @Test func `an anchor that an older copy leaves lets no newer copy play`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            let oldest = try me.copy("oldest")
            #expect(try await me.plays(key) == 3)
            // Found as rolled back, and granted again by its server: that is the copy to come back to.
            try LicenceScene.copy(oldest.store, to: me.store)
            #expect(try await me("licence", "regrant", key).status == 0)
            let newer = try me.copy("newer")
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
            for _ in 1...2 {
                try me.deleteAnchors()
                try LicenceScene.copy(oldest.store, to: me.store)
                #expect(try await me.plays(key) == 0)
                try LicenceScene.copy(newer.store, to: me.store)
                #expect(try await me.plays(key) == 0)
            }
            // The first anchor, made again for an emptied store: its new row is never anchored, as after a kill.
            try me.deleteAnchors()
            let emptied = try me.copy("emptied", device: false)
            try await emptied.sql(
                "DROP TRIGGER IF EXISTS time_ledger_is_append_only", "DELETE FROM time_ledger", "DELETE FROM licence",
                "DELETE FROM content_key", "DELETE FROM content")
            try await me.goOnline()
            let process = try emptied.start(["precache", "--progress", "none", try await me.link("bytes-64K-2")])
            while me.anchors.isEmpty, !process.hasEnded {}
            process.send(SIGKILL)
            _ = await process.ending()
            try await me.goOffline()
            try LicenceScene.copy(oldest.store, to: me.store)
            #expect(try await me.plays(key) == 0)
        }
    }

    @Test func `the tables of a copy give no play back in a store that has gone on`() async throws {
        try await LicenceScene.play { me in
            let key = try await me.fetch("64K-1", Self.three)
            let backup = me.home.file("backup.db")
            #expect(try await me("store", "backup", backup).status == 0)
            try await me.goOffline()
            #expect(try await me.plays(key) == 3)
            try me.deleteAnchors()
            // Without the generated column.
            let columns = try await me.sql("SELECT group_concat(name) FROM pragma_table_info('licence')")
            try await me.sql(
                "ATTACH '\(backup)' AS early", "DROP TRIGGER IF EXISTS time_ledger_is_append_only",
                "DELETE FROM time_ledger", "INSERT INTO time_ledger SELECT * FROM early.time_ledger",
                "DELETE FROM licence", "INSERT INTO licence(\(columns)) SELECT \(columns) FROM early.licence")
            #expect(try await me.plays(key) == 0)
        }
    }
}
