import Foundation
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Whatever is done to a store without the device's key is found and named, and nothing else is.
@Suite struct LedgerTamperTests {
    /// Three licences, of which one was played once: two commits after the first.
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

    @Test("A licence that does not fit its code is read as forged, and the others as they are")
    func entryChecksItsCode() throws {
        let store = try played()
        try store.tamper("UPDATE licence SET form = 7, bookmark_scope = 9, user_values = '{' WHERE content_key = 'a'")
        #expect(try store.entry("a")?.suspicion == .forged)
        #expect(try store.entry("b")?.suspicion == nil)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, nil, nil])
        let queries = try SQLiteContentQueries(opening: store.location, authenticator: store.authenticator)
        #expect(try queries.licence(try ContentKey("a"))?.suspicion == .forged)
        #expect(try queries.licences(after: nil, limit: 9).map(\.entry.suspicion) == [.forged, nil, nil])
    }

    @Test("A licence that is put back from an older copy, code and all, is forged")
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
        // The row fits its own code: only the sum tells.
        #expect(try store.entry("a")?.suspicion == nil)
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("Two licences that are both put back do not make up for each other")
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

    @Test("Of a forged chain the newest row that fits its code is told")
    func newestBelievedRow() throws {
        let store = try played()
        let before = try store.ledger.newestTime()
        store.now = Timestamp(milliseconds: 1_800_000_000_000)
        try store.commit {}
        try store.tamper("UPDATE time_ledger SET estimate_ms = 1 WHERE id = 4")
        #expect(try store.finding() == .suspect(.ledgerForged, before))
    }

    @Test("Newest rows that were cut off are found: as forged where licences changed with them, else as put back")
    func cutOff() throws {
        let store = try played()
        try store.tamper("DELETE FROM time_ledger WHERE id = 3")
        #expect(try store.doubt() == .storeRolledBack)
        try store.tamper("DELETE FROM time_ledger WHERE id = 2")
        #expect(try store.doubt() == .ledgerForged)
    }

    @Test("The whole store put back from an older copy is found")
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
        // It goes on, but never with a number that was given before, and the same number would have another code.
        let other = try old()
        _ = try other.append(store.time(), source: .clocks)
        #expect(try old().inspect(against: store.anchor) == .suspect(.storeRolledBack, try other.newestTime()))
    }

    @Test("A store that was emptied is put back too")
    func emptied() throws {
        let store = try played()
        try store.tamper("DELETE FROM licence; DELETE FROM time_ledger")
        #expect(try store.finding() == .suspect(.storeRolledBack, nil))
    }

    @Test("A store whose anchor is lost is not believed, unless it has only just begun")
    func lostAnchor() throws {
        let store = try played()
        store.anchor = nil
        #expect(try store.isIntact)
        for _ in 0..<SQLiteLicenceLedger.timesWithoutAnchor { try store.commit {} }
        store.anchor = nil
        #expect(try store.doubt() == .storeRolledBack)
    }

    @Test("The store of another device is named so, also after its rows were given this device's name")
    func otherDevice() throws {
        let store = try played()
        let stranger = try LedgerFixture.device()
        let ledger = try SQLiteLicenceLedger(index: try store.another().index, authenticator: stranger)
        #expect(try ledger.inspect(against: nil) == .suspect(.storeCopied, try store.ledger.newestTime()))
        #expect(try ledger.entry(try ContentKey("b"))?.suspicion == .forged)
        let digits = stranger.device.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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

    // MARK: What becomes of a ledger that is not believed

    @Test("After a finding every licence is suspect, nothing is forgotten, and the ledger is whole again")
    func suspectAll() throws {
        let store = try played()
        try store.tamper("UPDATE licence SET count_used = 0 WHERE content_key = 'a'")
        try store.commit(source: .finding) { try store.ledger.suspectAll(.forged) }
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, .forged, .forged])
        #expect(try store.entry("b")?.token == "token of b")
        #expect(try store.entry("b")?.deadline == Timestamp(milliseconds: 0))
        // A server answers for one of them.
        try store.commit { try store.ledger.store(store.licence("b", deadline: 5_000)) }
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.suspicion) == [.forged, nil, .forged])
    }

    @Test("A forged chain is whole again after the finding, and what was forged before it stays judged")
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

    @Test("After a roll-back numbers go on behind the anchor, also when a kill keeps the new anchor from being written")
    func rollBackIsGoneOnWith() throws {
        let store = try played()
        try store.tamper("DELETE FROM time_ledger WHERE id = 3")
        #expect(try store.doubt() == .storeRolledBack)
        let (_, ledger, _) = try store.another()
        _ = try ledger.inspect(against: store.anchor)
        let anchor = try ledger.transaction {
            try ledger.suspectAll(.rolledBack)
            return try ledger.append(store.time(), source: .finding)
        }
        #expect(anchor.revision == 4)
        #expect(try store.isIntact)
        store.anchor = anchor
        #expect(try store.isIntact)
        #expect(try store.ledger.entries(after: nil, limit: 9).allSatisfy { $0.suspicion == .rolledBack })
    }

    @Test("A copy that was made right after a finding is older than what came after it")
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
        // The licence is granted anew and played; then the copy comes back.
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 1 }) }
        #expect(try old().inspect(against: store.anchor) == .suspect(.storeRolledBack, row))
    }

    @Test("A store that came from another device is this device's after the finding")
    func copiedStoreIsTakenOver() throws {
        let store = try played()
        let (index, _, _) = try store.another()
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerFixture.device())
        let anchor = try ledger.transaction {
            try ledger.suspectAll(.copied)
            return try ledger.append(store.time(), source: .finding)
        }
        #expect(try ledger.inspect(against: anchor) == .intact(try #require(try ledger.newestTime())))
        #expect(try ledger.entry(try ContentKey("a"))?.suspicion == .copied)
        #expect(try ledger.entry(try ContentKey("a"))?.record?.countUsed == 1)
        #expect(try store.doubt() == .storeCopied)
    }
}
