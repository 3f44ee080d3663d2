import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// What the ledger remembers of the licences that it has read, and what it writes of one.
struct ReadLicenceTests {
    private struct Undone: Error {}

    /// Runs a closure, and returns the statements that match.
    private func statements(
        of store: LedgerFixture, with prefix: String, _ body: () throws -> Void
    ) rethrows -> [String] {
        let connection = store.index.connection
        var texts: [String] = []
        connection.faultPoint = { point in
            if case .statement(let text) = point, text.hasPrefix(prefix) { texts.append(text) }
        }
        defer { connection.faultPoint = nil }
        try body()
        return texts
    }

    /// A licence, as a transaction finds it.
    private func known(to store: LedgerFixture, _ name: String) throws -> LicenceEntry? {
        try store.index.transaction { _ in try store.entry(name) }
    }

    @Test func `a licence is read once for several transactions`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        let read = try statements(of: store, with: "SELECT \(LicenceColumns.list)") {
            for _ in 0..<3 { _ = try known(to: store, "a") }
        }
        #expect(read.count == 1)
    }

    @Test func `what another process has changed is read again`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        let other = try store.another()
        #expect(try known(to: store, "a")?.record?.countUsed == 0)
        var entry = try #require(try other.ledger.entry(try ContentKey("a")))
        entry.record?.countUsed = 1
        _ = try other.index.transaction { _ in
            try other.ledger.store(entry)
            return try other.ledger.append(store.time(), source: .clocks)
        }
        #expect(try known(to: store, "a") == entry)
    }

    @Test func `an edited row is read again, and is not trusted`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        #expect(try known(to: store, "a")?.suspicion == nil)
        try store.tamper("UPDATE licence SET expires_ms = 9")
        #expect(try known(to: store, "a")?.suspicion == .forged)
    }

    @Test func `nothing of a transaction that was rolled back is remembered`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5), ("b", 5)])
        let before = try #require(try store.entry("a"))
        var changed = before
        changed.record?.countUsed = 3
        #expect(throws: Undone.self) {
            try store.commit {
                _ = try store.entry("b")
                try store.ledger.store(changed)
                let inside = try store.entry("a")
                try store.ledger.forget(try ContentKey("b"))
                let gone = try store.entry("b")
                #expect(inside == changed && gone == nil)
                throw Undone()
            }
        }
        #expect(try known(to: store, "a") == before)
        #expect(try known(to: store, "b") != nil)
        #expect(throws: Undone.self) {
            try store.commit {
                try store.ledger.suspectAll(.rolledBack)
                let inside = try store.entry("a")
                #expect(inside?.suspicion == .rolledBack)
                throw Undone()
            }
        }
        #expect(try known(to: store, "a") == before)
        #expect(try store.isIntact)
    }

    @Test func `a licence that was deleted and granted again has its new row`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        let key = try ContentKey("a")
        let entry = try #require(try store.ledger.entry(key))
        try store.commit {
            _ = try store.entry("a")
            try store.ledger.forget(key)
            try store.ledger.store(entry)
            let attempt = LicenceAttempt(
                at: store.now, duration: .zero, kind: 1, status: 200, outcome: "permitted", error: nil)
            try store.ledger.record(attempt, of: key)
        }
        #expect(try store.ledger.rows.attempts(key, limit: 9).count == 1)
        #expect(try store.isIntact)
    }

    // MARK: What is written

    @Test func `a renewal writes only the columns that change`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        var entry = try #require(try store.entry("a"))
        entry.record?.policy.expiresAt = Timestamp(milliseconds: 7)
        (entry.token, entry.checked) = ("another", Timestamp(milliseconds: 6))
        let texts = try statements(of: store, with: "UPDATE licence") {
            try store.commit { try store.ledger.store(entry) }
        }
        #expect(texts == ["UPDATE licence SET expires_ms = ?, checked_ms = ?, token = ?, mac = ? WHERE id = ?"])
        #expect(try store.entry("a") == entry)
        #expect(try store.isIntact)
    }

    private static let changes: [@Sendable (inout LicenceEntry) -> Void] = [
        { $0.source.callbackURL = "https://drm.example/other" }, { $0.source.keyID = "k" },
        { $0.source.clientUserID = "u" }, { $0.source.userValues = ["uservalue0": "1"] }, { $0.record = nil },
        { $0.record?.form = .file }, { $0.record?.isVerified = false },
        { $0.record?.deviceThumbprint = [UInt8](repeating: 1, count: 32) },
        { $0.record?.policy.startsAt = Timestamp(milliseconds: 1) }, { $0.record?.policy.expiresAt = nil },
        { $0.record?.policy.countLimit = 2 }, { $0.record?.policy.playTimeLimit = .seconds(60) },
        { $0.record?.policy.playTimeUnit = .running }, { $0.record?.policy.checkAt = Timestamp(milliseconds: 1) },
        { $0.record?.policy.checksEveryPlay = true }, { $0.record?.policy.asksBeforeRenewal = true },
        { $0.record?.policy.bookmarks = .all }, { $0.record?.policy.bookmarksAreReadOnly = true },
        { $0.record?.countUsed = 1 }, { $0.record?.playTimeUsed = .seconds(1) },
        { $0.record?.isForceExpired = true }, { $0.record?.isDeleted = true }, { $0.record?.wasSeenExpired = true },
        { $0.owesCompletion = true }, { $0.suspicion = .copied }, { $0.issued = Timestamp(milliseconds: 1) },
        { $0.tokenID = "j" }, { $0.granted = Timestamp(milliseconds: 1) },
        { $0.checked = Timestamp(milliseconds: 1) }, { $0.token = "" },
        { $0.grantingKeys = GrantingKeys(answers: ["one"], files: ["two"]) }, { $0.attempts = 1 },
        { $0.nextAttempt = Timestamp(milliseconds: 1) }, { $0.waitSet = Timestamp(milliseconds: 1) },
        { $0.error = LectureError(.licenceMissing, detail: "d") },
    ]

    @Test func `each member can be changed alone, and back`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        let plain = try #require(try store.entry("a"))
        for change in Self.changes {
            var entry = plain
            change(&entry)
            #expect(entry != plain)
            for each in [entry, plain] {
                try store.commit { try store.ledger.store(each) }
                #expect(try store.entry("a") == each)
            }
        }
        #expect(try store.isIntact)
    }

    @Test func `a forged row is written as a whole`() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 5)])
        let entry = try #require(try store.entry("a"))
        try store.tamper("UPDATE licence SET count_used = 7, token_id = 'x'")
        try store.commit { try store.ledger.store(entry) }
        #expect(try store.entry("a") == entry)
    }
}
