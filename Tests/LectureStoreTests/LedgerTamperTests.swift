import Foundation
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import SchemaMigrations
import Testing

@testable import LectureStore

/// Every change of a store without the device's key is found and named, with no false findings.
@Suite struct LedgerTamperTests {
    /// Three licences, one of which was played once: two commits after the first.
    private func played() throws -> LedgerFixture {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", 2_000), ("c", nil)])
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 1 }) }
        try store.commit {}
        return store
    }

    @Test("A store without licences is new, and one that was used is intact")
    func newAndIntact() throws {
        let store = try LedgerFixture()
        #expect(try store.finding() == .new)
        try store.fill([("a", 1_000)])
        #expect(try store.finding() == .intact(try #require(try store.ledger.newestTime())))
    }

    @Test(
        "A licence that was changed without the key is forged",
        arguments: [
            "UPDATE licence SET expires_ms = 9999999999999 WHERE content_key = 'a'",
            "UPDATE licence SET expires_ms = NULL WHERE content_key = 'a'",
            "UPDATE licence SET count_used = 0 WHERE content_key = 'a'",
            "UPDATE licence SET is_force_expired = 1 WHERE content_key = 'a'",
            "UPDATE licence SET content_key = 'x' WHERE content_key = 'a'",
            "UPDATE licence SET token = (SELECT token FROM licence WHERE content_key = 'b') WHERE content_key = 'a'",
            "UPDATE licence SET mac = (SELECT mac FROM licence WHERE content_key = 'b') WHERE content_key = 'a'",
            "UPDATE licence SET form = 7 WHERE content_key = 'a'",
            "UPDATE licence SET user_values = '{' WHERE content_key = 'a'",
            "UPDATE licence SET callback_url = callback_url || drm_key_id || 'x', drm_key_id = ''",
            "DELETE FROM licence WHERE content_key = 'a'",
            "DELETE FROM licence",
            "INSERT INTO licence(content_key, mac) VALUES ('new', zeroblob(32))",
        ])
    func licence(change: String) throws {
        let store = try played()
        try store.tamper(change)
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test(
        "Granting keys that were changed, removed, added or taken from another licence are forged",
        arguments: [
            "UPDATE licence SET granting_keys = NULL WHERE content_key = 'a'",
            "UPDATE licence SET granting_keys = 'mine/mine' WHERE content_key = 'a'",
            "UPDATE licence SET granting_keys = 'answer/mine' WHERE content_key = 'a'",
            "UPDATE licence SET granting_keys = '/' WHERE content_key = 'c'",
            "UPDATE licence SET granting_keys = (SELECT granting_keys FROM licence WHERE content_key = 'b') "
                + "WHERE content_key = 'a'",
            "UPDATE licence SET token = token || granting_keys, granting_keys = NULL WHERE content_key = 'a'",
        ])
    func grantingKeys(change: String) throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", 2_000), ("c", nil)])
        try store.commit {
            for (name, keys) in [("a", GrantingKeys(answers: ["answer"], files: ["file"])), ("b", GrantingKeys())] {
                try store.ledger.store(store.licence(name, deadline: 1_000) { $0.grantingKeys = keys })
            }
        }
        #expect(try store.isIntact)
        try store.tamper(change)
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("A store of the schema before granting keys stays intact, and its licences have none")
    func beforeGrantingKeys() throws {
        let store = try played()
        let before = try store.ledger.entries(after: nil, limit: 9)
        let step = try #require(MigrationCatalogue.entries.first { $0.identifier.hasSuffix("_add_granting_keys") })
        let index = try #require(MigrationCatalogue.entries.first { $0.identifier.hasSuffix("_index_granting_keys") })
        let added = [step, index].map { String(decoding: $0.sql, as: UTF8.self) }.joined(separator: "\n")
        try store.tamper("DROP INDEX licence_granting; ALTER TABLE licence DROP COLUMN granting_keys; \(added)")
        #expect(try store.isIntact)
        #expect(try store.entry("a")?.grantingKeys == nil)
        #expect(try store.ledger.entries(after: nil, limit: 9) == before)
        // The first grant sets them, and they are covered from then on.
        let keys = GrantingKeys(answers: ["answer"])
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.grantingKeys = keys }) }
        #expect(try store.isIntact)
        #expect(try store.entry("a")?.grantingKeys == keys)
        try store.tamper("UPDATE licence SET granting_keys = NULL WHERE content_key = 'a'")
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("A licence that does not fit its code is read as forged, and the others as they are")
    func entryChecksItsCode() throws {
        let store = try played()
        try store.tamper("UPDATE licence SET form = 7, bookmark_scope = 9, user_values = '{' WHERE content_key = 'a'")
        #expect(try store.entry("a")?.suspicion == .forged)
        #expect(try store.entry("b")?.suspicion == nil)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, nil, nil])
        let queries = try SQLiteContentQueries(opening: store.location).checking(store.authenticator)
        #expect(try queries.licence(try ContentKey("a"))?.suspicion == .forged)
        #expect(try queries.licences(after: nil, limit: 9).map(\.entry.suspicion) == [.forged, nil, nil])
    }

    @Test("A licence restored from an older copy, code and all, is forged")
    func olderRow() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", 2_000)])
        try store.tamper("CREATE TABLE older AS SELECT * FROM licence WHERE content_key = 'a'")
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 3 }) }
        #expect(try store.isIntact)
        try store.tamper(
            """
            UPDATE licence SET count_used = (SELECT count_used FROM older), mac = (SELECT mac FROM older)
            WHERE content_key = 'a'; DROP TABLE older
            """)
        // The row fits its own code: only the sum shows the change.
        #expect(try store.entry("a")?.suspicion == nil)
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("Two licences that are both restored do not cancel each other out")
    func severalOlderRows() throws {
        let store = try LedgerFixture()
        let names = (0..<40).map { "k\($0)" }
        try store.fill(names.map { ($0, 1_000) })
        try store.tamper("CREATE TABLE older AS SELECT * FROM licence")
        try store.commit {
            for name in names {
                try store.ledger.store(store.licence(name, deadline: 1_000) { $0.record?.countUsed = 1 })
            }
        }
        for count in [2, 20, 40] {
            try store.tamper(
                """
                UPDATE licence SET count_used = 0, mac = (SELECT mac FROM older WHERE older.id = licence.id)
                WHERE id <= \(count)
                """)
            #expect(try store.doubt() == .ledgerForged)
        }
    }

    @Test("The sum of the codes cannot be read from the store: not even whether it stayed the same")
    func sumIsCovered() throws {
        let store = try played()
        try store.commit {}
        let sums = try store.index.connection.query("SELECT licence_sum FROM time_ledger") { $0.blob(0) }
        #expect(sums.count == 4)
        #expect(Set(sums).count == 4)
    }

    @Test(
        "A row of the time ledger that was changed is forged",
        arguments: [
            "UPDATE time_ledger SET estimate_ms = 1 WHERE id = 3",
            "UPDATE time_ledger SET doubt = NULL, wall_ms = 1 WHERE id = 3",
            "UPDATE time_ledger SET source = 9, offset_ms = 7 WHERE id = 2",
            "UPDATE time_ledger SET proven_ms = NULL WHERE id = 1",
            "UPDATE time_ledger SET licence_sum = zeroblob(32) WHERE id = 3",
            "UPDATE time_ledger SET code = zeroblob(32) WHERE id = 2",
            "DELETE FROM time_ledger WHERE id = 2",
            "DELETE FROM time_ledger",
            "INSERT INTO time_ledger SELECT 4, source, device, proven_ms, estimate_ms, offset_ms, is_anchored, "
                + "has_leapt, doubt, wall_ms, boot_ns, boot_id, licence_sum, code, code FROM time_ledger WHERE id = 3",
            "UPDATE time_ledger SET id = id + 100",
        ])
    func timeRow(change: String) throws {
        let store = try played()
        try store.tamper(change)
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("The finding on a forged chain has the newest row that fits its code")
    func newestBelievedRow() throws {
        let store = try played()
        let before = try store.ledger.newestTime()
        store.now = Timestamp(milliseconds: 1_800_000_000_000)
        try store.commit {}
        try store.tamper("UPDATE time_ledger SET estimate_ms = 1 WHERE id = 4")
        #expect(try store.finding() == .suspect(.ledgerForged, before))
    }

    @Test("Missing newest rows are detected: as forged where licences changed with them, else as restored")
    func cutOff() throws {
        let store = try played()
        try store.tamper("DELETE FROM time_ledger WHERE id = 3")
        #expect(try store.doubt() == .storeRolledBack)
        try store.tamper("DELETE FROM time_ledger WHERE id = 2")
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("A store restored from an older copy is detected")
    func rolledBack() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000)])
        let copy = StoreLocation(directory: store.directory.file("copy"))
        _ = try copy.make()
        try StoreMaintenance.backup(store.location, to: "\(copy.directory)/lecturekit.db")
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 1 }) }
        func old() throws -> SQLiteLicenceLedger {
            try SQLiteLicenceLedger(
                index: try SQLiteDownloadIndex(opening: copy, now: store.now), authenticator: store.authenticator)
        }
        let row = try #require(try old().newestTime())
        #expect(try old().inspect(against: store.anchor) == .suspect(.storeRolledBack, row))
        // Appending works, but never with a number that was used before, and the same number would have another code.
        let other = try old()
        _ = try other.append(store.time(), source: .clocks)
        #expect(try old().inspect(against: store.anchor) == .suspect(.storeRolledBack, try other.newestTime()))
    }

    @Test("An emptied store counts as rolled back")
    func emptied() throws {
        let store = try played()
        try store.tamper("DELETE FROM licence; DELETE FROM time_ledger")
        #expect(try store.finding() == .suspect(.storeRolledBack, nil))
    }

    @Test("A store whose anchor is lost is rejected, however young it is")
    func lostAnchor() throws {
        let store = try played()
        store.anchor = nil
        #expect(try store.doubt() == .storeRolledBack)
        let new = try LedgerFixture()
        #expect(try new.finding() == .new)
        new.anchor = .beforeFirst([UInt8](repeating: 7, count: 32))
        #expect(try new.finding() == .new)
        // Killed between the first commits and their anchor.
        _ = try new.ledger.append(new.time(), source: .clocks, after: new.anchor)
        for _ in 0..<40 { try new.commit(keepingAnchor: false) {} }
        #expect(try new.isIntact)
        // Made again for the emptied store, so that this one would be put back in its place.
        let first = new.anchor
        new.anchor = .beforeFirst([UInt8](repeating: 8, count: 32))
        #expect(try new.doubt() == .storeRolledBack)
        new.anchor = first
        try new.tamper("DELETE FROM time_ledger WHERE id < 20")
        #expect(try new.doubt() == .storeRolledBack)
    }

    @Test("A finding of an older copy leaves an anchor that no newer copy follows")
    func anchorOfAnOlderCopy() throws {
        let store = try played()
        // A finding and new grants, and then an anchor that an older copy left after the anchor had been deleted.
        let old = store.anchor
        try store.commit(source: .finding) { try store.ledger.suspectAll(.rolledBack) }
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000)) }
        #expect(try store.isIntact)
        var other = try #require(old)
        (other.revision, other.code[0]) = (other.revision + 1, other.code[0] ^ 1)
        store.anchor = other
        #expect(try store.doubt() == .storeRolledBack)
        // A kill between the finding and its anchor leads to another finding.
        store.anchor = old
        #expect(try store.doubt() == .storeRolledBack)
    }

    @Test("Another device's store is recognised, also after its rows were given this device's name")
    func otherDevice() throws {
        let store = try played()
        let foreign = try LedgerFixture.device()
        let ledger = try SQLiteLicenceLedger(index: try store.another().index, authenticator: foreign)
        #expect(try ledger.inspect(against: nil) == .suspect(.storeCopied, try store.ledger.newestTime()))
        #expect(try ledger.entry(try ContentKey("b"))?.suspicion == .forged)
        let digits = foreign.device.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try store.tamper("UPDATE time_ledger SET device = x'\(digits)'")
        guard case .suspect(.ledgerForged, _) = try ledger.inspect(against: nil) else {
            Issue.record("rows of another device's key were believed")
            return
        }
    }

    @Test("Rows of one store do not fit another store of the same device")
    func otherStore() throws {
        let store = try played()
        let other = try LedgerFixture(store.authenticator)
        try other.tamper(
            """
            ATTACH '\(store.database)' AS source; INSERT INTO time_ledger SELECT * FROM source.time_ledger;
            """)
        #expect(try other.index.connection.first("SELECT count(*) FROM time_ledger") { $0.int(0) } == 3)
        other.anchor = store.anchor
        #expect(try other.doubt() == .ledgerForged)
    }

    @Test("A store that is ahead of the anchor is intact: a kill came between the commit and the anchor")
    func aheadOfTheAnchor() throws {
        let store = try played()
        for count in 1...3 {
            try store.commit(keepingAnchor: false) {
                try store.ledger.store(store.licence("b") { $0.record?.countUsed = count })
            }
            #expect(try store.isIntact)
        }
        try store.tamper("UPDATE time_ledger SET wall_ms = 1 WHERE id = 5")
        #expect(try store.doubt() == .ledgerForged)
    }

    // MARK: A ledger that is not believed

    @Test("After a finding every licence is suspect, none is lost, and the ledger is intact again")
    func suspectAll() throws {
        let store = try played()
        try store.tamper("UPDATE licence SET count_used = 0 WHERE content_key = 'a'")
        try store.commit(source: .finding) { try store.ledger.suspectAll(.forged) }
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, .forged, .forged])
        #expect(try store.entry("b")?.token == "token of b")
        #expect(try store.entry("b")?.deadline == Timestamp(milliseconds: 0))
        // A server grants one of them again.
        try store.commit { try store.ledger.store(store.licence("b", deadline: 5_000)) }
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, nil, .forged])
    }

    @Test("A forged chain is intact again after the finding, and earlier forgeries stay suspect")
    func findingEndsTheForgery() throws {
        let store = try played()
        try store.tamper("UPDATE time_ledger SET wall_ms = 1 WHERE id = 2")
        #expect(try store.doubt() == .ledgerForged)
        try store.commit(source: .finding) { try store.ledger.suspectAll(.forged) }
        #expect(try store.isIntact)
        try store.commit {}
        #expect(try store.isIntact)
        try store.tamper("UPDATE time_ledger SET wall_ms = 1 WHERE id = 4")
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("After a roll-back numbers continue after the anchor, even if a kill prevents writing the new anchor")
    func rollBackIsGoneOnWith() throws {
        let store = try played()
        try store.tamper("DELETE FROM time_ledger WHERE id = 3")
        #expect(try store.doubt() == .storeRolledBack)
        let (index, ledger, _) = try store.another()
        _ = try ledger.inspect(against: store.anchor)
        let anchor = try index.transaction { _ in
            try ledger.suspectAll(.rolledBack)
            return try ledger.append(store.time(), source: .finding)
        }
        #expect(anchor.revision == 4)
        // Killed before the anchor was stored: another finding, which costs nothing.
        #expect(try store.doubt() == .storeRolledBack)
        store.anchor = anchor
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).allSatisfy { $0.suspicion == .rolledBack })
    }

    @Test("A copy made right after a finding is older than later changes")
    func copyAfterFinding() throws {
        let store = try played()
        try store.commit(source: .finding) { try store.ledger.suspectAll(.forged) }
        let copy = StoreLocation(directory: store.directory.file("copy"))
        _ = try copy.make()
        try StoreMaintenance.backup(store.location, to: "\(copy.directory)/lecturekit.db")
        func old() throws -> SQLiteLicenceLedger {
            try SQLiteLicenceLedger(
                index: try SQLiteDownloadIndex(opening: copy, now: store.now), authenticator: store.authenticator)
        }
        let row = try #require(try store.ledger.newestTime())
        #expect(try old().inspect(against: store.anchor) == .intact(row))
        // The licence is granted again and played; then the copy is restored.
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 1 }) }
        #expect(try old().inspect(against: store.anchor) == .suspect(.storeRolledBack, row))
    }

    @Test("A store that came from another device is this device's after the finding")
    func copiedStoreIsTakenOver() throws {
        let store = try played()
        let (index, _, _) = try store.another()
        let own = try #require(try store.ledger.newestTime())
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerFixture.device())
        let anchor = try index.transaction { _ in
            try ledger.suspectAll(.copied)
            return try ledger.append(store.time(), source: .finding)
        }
        #expect(try ledger.inspect(against: anchor) == .intact(try #require(try ledger.newestTime())))
        #expect(try ledger.entry(try ContentKey("a"))?.suspicion == .copied)
        #expect(try ledger.entry(try ContentKey("a"))?.record?.countUsed == 1)
        #expect(try store.finding() == .marked(own))
    }

    // MARK: Marks of another device

    /// Marks every licence as an earlier version did that was run with another device's directory.
    private func mark(_ store: LedgerFixture, _ rounds: Int = 1) throws {
        let index = try store.another().index
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: LedgerFixture.device())
        for _ in 0..<rounds {
            _ = try index.transaction { _ in
                try ledger.suspectAll(.copied)
                return try ledger.append(store.time(), source: .finding)
            }
        }
    }

    @Test("Marks that another device has left are taken back, and the ledger is intact again", arguments: [1, 3])
    func marksAreTakenBack(rounds: Int) throws {
        let store = try played()
        let (before, own) = (try store.entry("a"), try #require(try store.ledger.newestTime()))
        try mark(store, rounds)
        #expect(try store.entry("a")?.suspicion == .forged)
        #expect(try store.finding() == .marked(own))
        try store.commit { try store.ledger.believeAll() }
        #expect(try store.isIntact && store.entry("a") == before && store.entry("b")?.suspicion == nil)
        #expect(try store.ledger.newestFinding() == nil)
        // The chain continues from this device's own row.
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000)) }
        #expect(try store.isIntact)
        try mark(store)
        #expect(try self.own(store) != nil)
    }

    private func own(_ store: LedgerFixture) throws -> TimeRow? {
        if case .marked(let row) = try store.finding() { row } else { nil }
    }

    @Test(
        "Marks stay where anything else was changed",
        arguments: [
            "UPDATE licence SET count_used = 0 WHERE content_key = 'a'", "DELETE FROM licence WHERE content_key = 'a'",
            "UPDATE licence SET granting_keys = 'm/m'", "UPDATE licence SET suspicion = 0 WHERE content_key = 'b'",
            "UPDATE time_ledger SET wall_ms = wall_ms + 1 WHERE id = 1",
        ])
    func marksStay(change: String) throws {
        let store = try played()
        try mark(store)
        try store.tamper(change)
        #expect(try store.doubt() == .storeCopied)
    }

    @Test("Marks stay in an older copy, without an anchor, and on another device")
    func marksStayInCopies() throws {
        let store = try played()
        let old = store.anchor
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000)) }
        let newest = store.anchor
        try mark(store)
        #expect(try own(store) != nil)
        // A newer state was anchored than the store contains.
        var newer = try #require(newest)
        (newer.revision, newer.code) = (newer.revision + 9, [UInt8](repeating: 1, count: 32))
        store.anchor = newer
        #expect(try store.doubt() == .storeCopied)
        store.anchor = nil
        #expect(try store.doubt() == .storeCopied)
        // An older anchor of the same chain is what a kill leaves.
        store.anchor = old
        #expect(try own(store) != nil)
        let elsewhere = try SQLiteLicenceLedger(
            index: try store.another().index, authenticator: LedgerFixture.device())
        #expect(try elsewhere.inspect(against: newest) == .suspect(.storeCopied, try store.ledger.newestTime()))
    }
}
