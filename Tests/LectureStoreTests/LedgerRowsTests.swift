import Foundation
import Glibc
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

@Suite struct LedgerRowsTests {
    /// A licence that uses every column.
    private func full(_ store: LedgerFixture, _ name: String) throws -> LicenceEntry {
        try store.licence(name, deadline: 2_000) { entry in
            entry.source.keyID = "main"
            entry.source.clientUserID = "learner"
            entry.source.userValues = ["uservalue0": "7", "uservalue1": "ß \"}"]
            var policy = LicencePolicy()
            policy.startsAt = Timestamp(milliseconds: 1)
            policy.expiresAt = Timestamp(milliseconds: 2_000)
            policy.countLimit = 5
            policy.playTimeLimit = .seconds(600)
            policy.playTimeUnit = .running
            policy.checkAt = Timestamp(milliseconds: 1_500)
            policy.checksEveryPlay = true
            policy.asksBeforeRenewal = true
            policy.bookmarks = .all
            policy.bookmarksAreReadOnly = true
            var record = LicenceRecord(form: .file, policy: policy, isVerified: true)
            record.countUsed = 2
            record.playTimeUsed = .milliseconds(61_003)
            record.deviceThumbprint = [UInt8](repeating: 7, count: 32)
            record.wasSeenExpired = true
            entry.record = record
            entry.issued = Timestamp(milliseconds: 3)
            entry.tokenID = "jti"
            entry.granted = Timestamp(milliseconds: 4)
            entry.checked = Timestamp(milliseconds: 5)
            entry.owesCompletion = true
            entry.suspicion = .rolledBack
            entry.grantingKeys = GrantingKeys(answers: ["answer"], files: ["one", "two"])
            entry.attempts = 3
            entry.nextAttempt = Timestamp(milliseconds: 6)
            entry.waitSet = Timestamp(milliseconds: 7)
            entry.error = LectureError(.licenceMissing, detail: "drm.example")
        }
    }

    @Test func `whether another key has granted a licence is known without reading them all`() throws {
        let store = try LedgerFixture()
        let ledger = store.ledger
        func keep(_ name: String, _ keys: GrantingKeys?) throws {
            var entry = try full(store, name)
            entry.grantingKeys = keys
            try store.commit {
                try store.addContent(name)
                try ledger.store(entry)
            }
        }
        func others(_ signer: String) throws -> [Bool] {
            [
                try ledger.hasLicence(grantedByOtherThan: signer),
                try ledger.hasLicence(forFilesOfOthersThan: signer, orUnknown: false),
                try ledger.hasLicence(forFilesOfOthersThan: signer, orUnknown: true),
            ]
        }
        #expect(try others("one") == [false, false, false])
        for number in 0..<40 { try keep("a\(number)", GrantingKeys(answers: ["one"], files: ["file", "one"])) }
        #expect(try others("one") == [false, false, false] && others("file") == [true, false, false])
        // A part of a thumbprint is another one.
        #expect(try others("on") == [true, true, true])
        try keep("b", GrantingKeys(answers: ["one", "two"], files: ["one"]))
        #expect(try others("one") == [false, false, false] && others("two") == [true, true, true])
        #expect(try others("file") == [true, true, true])
        try keep("c", nil)
        #expect(try others("one") == [false, false, true])
        try keep("d", GrantingKeys(answers: ["two"], files: ["file"]))
        #expect(try others("one") == [true, true, true])
        for sql in [SQLiteLicenceLedger.isGrantedByOther("keys"), SQLiteLicenceLedger.isGrantedByUnknown] {
            let plan = try store.index.connection.plan(sql, values: sql.contains("?") ? [.text("one")] : [])
            let rows = plan.filter { $0.contains("licence") }
            #expect(!rows.isEmpty && rows.allSatisfy { $0.contains("SEARCH") && $0.contains("licence_granting") })
        }
    }

    @Test("A licence is read as it was stored, replaced and deleted")
    func roundTrip() throws {
        let store = try LedgerFixture()
        let entry = try full(store, "a")
        try store.commit { try store.ledger.store(entry) }
        #expect(try store.entry("a") == entry)
        #expect(try store.entry("a")?.error?.detail == "drm.example")
        var changed = try store.licence("a")
        changed.record = nil
        try store.commit { try store.ledger.store(changed) }
        #expect(try store.entry("a") == changed)
        #expect(try store.isIntact)
        try store.commit { try store.ledger.forget(try ContentKey("a")) }
        #expect(try store.entry("a") == nil)
        #expect(try store.isIntact)
    }

    @Test("A row of the time ledger is read back to the nanosecond")
    func timeRow() throws {
        let store = try LedgerFixture()
        var row = store.time()
        row.offset = .milliseconds(-5)
        (row.isAnchored, row.hasLeapt, row.doubt) = (true, true, .forwardThenBack)
        let anchor = try store.ledger.append(row, source: .server)
        #expect(try store.ledger.newestTime() == row)
        #expect(anchor.revision == 1)
        #expect(anchor.proven == row.proven && anchor.estimate == row.estimate)
    }

    @Test("Every column that affects a verdict is part of the code")
    func everyColumnIsCoded() throws {
        let store = try LedgerFixture()
        let names = try store.index.connection.query("SELECT name FROM pragma_table_xinfo('licence')") { $0.text(0) }
        let free: Set = [
            "id", "content_id", "mac", "deadline_ms", "attempts", "next_attempt_ms", "wait_set_ms", "error_code",
            "error_detail",
        ]
        #expect(Set(names).subtracting(free) == Set(LicenceColumns.coded.map(\.name)))
        #expect(LicenceColumns.coded[Int(LicenceColumns.suspicion)].name == "suspicion")
    }

    @Test("The result of the last attempt is stored without a code and without an append")
    func attemptOnly() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000)])
        var entry = try #require(try store.entry("a"))
        entry.attempts = 4
        entry.nextAttempt = Timestamp(milliseconds: 99)
        entry.waitSet = Timestamp(milliseconds: 98)
        entry.error = LectureError(.answerMissing, detail: "x")
        entry.record?.countUsed = 5
        try store.ledger.storeAttempt(entry)
        entry.record?.countUsed = 0
        #expect(try store.entry("a") == entry)
        #expect(try store.isIntact)
    }

    // MARK: Transactions

    @Test("A transaction that was rolled back leaves no trace in the sum")
    func rollback() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000)])
        for isOfTransaction in [false, true] {
            let error = lectureError {
                try store.index.transaction { transaction in
                    let ledger = isOfTransaction ? try transaction.ledger : store.ledger
                    try ledger.store(store.licence("a", deadline: 5_000))
                    try ledger.store(store.licence("z"))
                    throw LectureError(.cancelled)
                }
            }
            #expect(error?.code == .cancelled)
            #expect(try store.isIntact)
            try store.commit { try store.ledger.store(store.licence("a", deadline: 6_000)) }
            #expect(try store.isIntact)
        }
    }

    @Test("A rolled-back append is not in the chain, and the next one continues from before it")
    func rolledBackAppend() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000)])
        _ = lectureError {
            try store.index.transaction { _ in
                try store.ledger.store(store.licence("a", deadline: 5_000))
                _ = try store.ledger.append(store.time(), source: .clocks)
                throw LectureError(.cancelled)
            }
        }
        #expect(try store.isIntact)
        try store.commit {}
        #expect(store.anchor?.revision == 2)
        #expect(try store.isIntact)
    }

    @Test("Licences change only in a transaction that ends with an append")
    func appendIsRequired() throws {
        let store = try LedgerFixture()
        #expect(lectureError { try store.ledger.store(store.licence("a")) }?.code == .bug)
        #expect(lectureError { try store.index.transaction { try $0.ledger.store(store.licence("a")) } }?.code == .bug)
        #expect(
            lectureError { try store.index.transaction { _ in try store.ledger.store(store.licence("a")) } }?.code
                == .bug)
        #expect(
            lectureError {
                try store.index.transaction { _ in
                    _ = try store.ledger.append(store.time(), source: .clocks)
                    try store.ledger.store(store.licence("a"))
                }
            }?.code == .bug)
        #expect(try store.entry("a") == nil)
        #expect(try store.finding() == .new)
    }

    @Test("Two alternating processes keep one chain and one sum")
    func twoConnections() throws {
        let store = try LedgerFixture()
        let other = try store.another()
        for turn in 0..<12 {
            try store.commit {
                try store.ledger.store(store.licence("own \(turn)"))
                try store.ledger.store(store.licence("shared") { $0.record?.countUsed = 2 * turn })
            }
            store.anchor = try other.index.transaction { _ in
                try other.ledger.store(store.licence("other \(turn)"))
                try other.ledger.store(store.licence("shared") { $0.record?.countUsed = 2 * turn + 1 })
                if turn > 5 { try other.ledger.forget(try ContentKey("own \(turn - 5)")) }
                return try other.ledger.append(store.time(), source: .server)
            }
        }
        #expect(store.anchor?.revision == 24)
        #expect(try store.isIntact)
        #expect(try store.entry("shared")?.record?.countUsed == 23)
    }

    @Test("Three concurrent processes keep one chain and one sum")
    func threeProcesses() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let key = try DeviceKey.generate()
        let bytes = try key.fileBytes().exposed()
        await withTaskGroup { group in
            for process in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, bytes = bytes as [UInt8], process = process as Int] in
                        let now = Timestamp(milliseconds: 1)
                        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
                        let device = try DeviceKey(fileBytes: try SecretBytes(copying: bytes))
                        let ledger = try SQLiteLicenceLedger(
                            index: index, authenticator: try LedgerAuthenticator(device))
                        for turn in 0..<12 {
                            try index.transaction { _ in
                                for name in ["shared", "\(process) \(turn)"] {
                                    var source = LicenceSource()
                                    source.clientUserID = "\(process) \(turn)"
                                    try ledger.store(LicenceEntry(key: try ContentKey(name), source: source))
                                }
                                let boot = BootInstant(nanoseconds: Int64(process * 100 + turn))
                                let row = TimeRow(reading: ClockReading(wall: now, boot: boot, bootID: ""))
                                _ = try ledger.append(row, source: .clocks)
                            }
                        }
                    }
                }
            }
        }
        let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: Timestamp(milliseconds: 1))
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerAuthenticator(key))
        let newest = try #require(try index.connection.newestTime())
        #expect(newest.revision == 36)
        let anchor = LedgerAnchor(revision: 36, code: newest.code, proven: nil, estimate: nil)
        #expect(try ledger.inspect(against: anchor) == .intact(newest.row))
        #expect(try index.connection.first("SELECT count(*) FROM licence") { $0.int(0) } == 37)
    }

    @Test("A kill inside a transaction leaves an intact ledger as it was before")
    func killInside() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("store")
        let key = try DeviceKey.generate()
        let bytes = try key.fileBytes().exposed()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, bytes = bytes as [UInt8]] in
            let now = Timestamp(milliseconds: 1)
            let index = try SQLiteDownloadIndex(opening: StoreLocation(directory: path), now: now)
            let device = try DeviceKey(fileBytes: try SecretBytes(copying: bytes))
            let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerAuthenticator(device))
            var row = TimeRow(reading: ClockReading(wall: now, boot: BootInstant(nanoseconds: 1), bootID: ""))
            try index.transaction { _ in
                try ledger.store(LicenceEntry(key: try ContentKey("a"), source: LicenceSource()))
                _ = try ledger.append(row, source: .clocks)
            }
            row.reading.boot.nanoseconds = 2
            try index.transaction { _ in
                try ledger.store(LicenceEntry(key: try ContentKey("b"), source: LicenceSource()))
                _ = try ledger.append(row, source: .clocks)
                kill(getpid(), SIGKILL)
            }
        }
        let index = try SQLiteDownloadIndex(
            opening: StoreLocation(directory: path), now: Timestamp(milliseconds: 1))
        let ledger = try SQLiteLicenceLedger(index: index, authenticator: try LedgerAuthenticator(key))
        let anchor = LedgerAnchor.beforeFirst(StoredTime.noCode)
        #expect(try ledger.inspect(against: anchor) == .intact(try #require(try ledger.newestTime())))
        #expect(try ledger.newestTime()?.reading.boot.nanoseconds == 1)
        #expect(try ledger.entry(try ContentKey("a")) != nil)
        #expect(try ledger.entry(try ContentKey("b")) == nil)
    }

    @Test("A long chain keeps its newest rows, and is intact from the oldest of them on")
    func pruning() throws {
        let store = try LedgerFixture()
        try store.index.transaction { _ in
            for _ in 0..<11_300 { store.anchor = try store.ledger.append(store.time(), source: .clocks) }
        }
        let kept = try store.index.connection.first("SELECT count(*), min(id) FROM time_ledger") {
            ($0.int(0), $0.int(1))
        }
        // Pruned at revision 11,264, the eleventh multiple of 1,024.
        #expect(kept?.0 == 10_036 && kept?.1 == 1_265)
        #expect(try store.isIntact)
        store.anchor?.code[0] ^= 1
        #expect(try store.doubt() == .storeRolledBack)
    }

    // MARK: Licences that are not believed

    @Test("Only rejected licences are granted again, and a store with no others has none to lose")
    func unbelieved() throws {
        let store = try LedgerFixture()
        #expect(try !store.ledger.hasBelievedLicences() && !store.ledger.hasOwnRows())
        try store.fill([("a", 1_000), ("b", 2_000), ("c", nil)])
        #expect(try store.ledger.hasBelievedLicences() && store.ledger.hasOwnRows())
        #expect(try store.ledger.candidates(.all, .regrant, now: store.now).isEmpty)
        #expect(try store.ledger.renewals.begin(.all, .regrant, now: store.now).total == 0)
        try store.commit { try store.ledger.store(store.licence("b", deadline: 2_000) { $0.suspicion = .copied }) }
        let keys = [try ContentKey("a"), try ContentKey("b")]
        for selection in [RenewalSelection.all, .keys(keys), .expired] {
            #expect(try store.ledger.candidates(selection, .regrant, now: store.now).map(\.key.text) == ["b"])
        }
        // The two kinds of runs are distinguished.
        let (run, total, _, _) = try store.ledger.renewals.begin(.all, .regrant, now: store.now)
        #expect(total == 1)
        #expect(try store.ledger.renewals.begin(.all, .renewal, now: store.now).total == 3)
        #expect(try store.ledger.renewals.renewedKeys(run).isEmpty)
        try store.ledger.renewals.settle(run, keys[1], error: nil)
        #expect(try store.ledger.renewals.renewedKeys(run) == [keys[1]])
        #expect(try store.ledger.hasBelievedLicences())
        try store.removeContent("a")
        try store.removeContent("c")
        #expect(try !store.ledger.hasBelievedLicences(), "those of lectures that are gone do not count")
    }

    // MARK: Retired licences, lists

    @Test("The licence of a removed lecture is in no list, and returns with it, including what was used")
    func retired() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", 2_000), ("c", nil)])
        try store.commit { try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.countUsed = 3 }) }
        try store.removeContent("a")
        let queries = try SQLiteContentQueries(opening: store.location).checking(store.authenticator)
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.key.text) == ["b", "c"])
        #expect(try store.ledger.entries(deadlineBefore: nil, limit: 9).map(\.key.text) == ["b"])
        #expect(try store.ledger.count(deadlineBefore: nil) == 2)
        #expect(try queries.licenceCount(deadlineBefore: Timestamp(milliseconds: 2_000)) == 0)
        #expect(try store.ledger.candidates(.all, .renewal, now: store.now).map(\.key.text) == ["b", "c"])
        #expect(try store.ledger.candidates(.keys([try ContentKey("a")]), .renewal, now: store.now).isEmpty)
        #expect(try store.entry("a")?.record?.countUsed == 3)
        #expect(try store.isIntact)
        try store.addContent("a")
        #expect(try store.ledger.entries(deadlineBefore: nil, limit: 9).map(\.key.text) == ["a", "b"])
        #expect(try store.entry("a")?.record?.countUsed == 3)
        #expect(try StoreMaintenance.check(store.location) == [])
    }

    @Test("A lecture that gets its final key has that key's licence, and loses its former one")
    func renamedContent() throws {
        let store = try LedgerFixture()
        try store.fill([("derived", 1_000)])
        try store.commit { try store.ledger.store(store.licence("named", deadline: 2_000)) }
        try store.index.connection.execute("UPDATE content SET key = 'named' WHERE key = 'derived'")
        #expect(try store.ledger.entries(after: nil, limit: 9).map(\.key.text) == ["named"])
        #expect(try StoreMaintenance.check(store.location) == [])
        try store.index.connection.execute("UPDATE content SET key = 'neither' WHERE key = 'named'")
        #expect(try store.ledger.entries(after: nil, limit: 9).isEmpty)
        #expect(try StoreMaintenance.check(store.location) == [])
    }

    @Test("Lists are paged by key and by deadline, with the lecture's title and state")
    func lists() throws {
        let store = try LedgerFixture()
        try store.fill([("c", 3_000), ("a", 1_000), ("e", nil), ("b", 2_000), ("d", 2_000)])
        try store.commit {
            try store.ledger.store(store.licence("e") { $0.record?.isForceExpired = true })
            try store.ledger.store(store.licence("a", deadline: 1_000) { $0.record?.isDeleted = true })
        }
        let queries = try SQLiteContentQueries(opening: store.location).checking(store.authenticator)
        var last: ContentKey?
        var seen: [String] = []
        while case let page = try queries.licences(after: last, limit: 2), !page.isEmpty {
            #expect(page.map(\.entry) == (try store.ledger.entries(after: last, limit: 2)))
            seen += page.map(\.entry.key.text)
            last = page.last?.entry.key
        }
        #expect(seen == ["a", "b", "c", "d", "e"])
        // Ended by the server is first; one with a deletion order is not listed.
        #expect(try store.ledger.entries(deadlineBefore: nil, limit: 9).map(\.key.text) == ["e", "b", "d", "c"])
        let bound = Timestamp(milliseconds: 3_000)
        #expect(try store.ledger.entries(deadlineBefore: bound, limit: 2).map(\.key.text) == ["e", "b"])
        #expect(try store.ledger.count(deadlineBefore: bound) == 3)
        let first = try queries.licences(deadlineBefore: bound, after: nil, limit: 1)
        #expect(first.map(\.entry.key.text) == ["e"])
        let place = (try #require(first.last?.entry.deadline), try ContentKey("e"))
        let page = try queries.licences(deadlineBefore: bound, after: place, limit: 5)
        #expect(page.map(\.entry.key.text) == ["b", "d"])
        // Two with the same deadline are ordered by key; paging continues after a lecture that was removed.
        let (two, three) = (Timestamp(milliseconds: 2_000), Timestamp(milliseconds: 3_000))
        for (key, due) in [("b", ["d", "c"]), ("d", ["c"]), ("gone", ["c"])] {
            let rest = try queries.licences(deadlineBefore: nil, after: (two, try ContentKey(key)), limit: 9)
            #expect(rest.map(\.entry.key.text) == due)
        }
        #expect(try queries.licences(deadlineBefore: nil, after: (three, try ContentKey("c")), limit: 9).isEmpty)
        #expect(page.map(\.state) == [.queued, .queued])
        #expect(page.map(\.title) == ["b", "d"])
        let contents = try queries.contents(ContentFilter(), sort: .expiry, page: ContentPage())
        #expect(contents.map(\.key.text) == ["e", "b", "d", "c", "a"])
    }

    @Test("The stored deadline equals the licence's own, for every record")
    func deadlines() throws {
        let store = try LedgerFixture()
        try store.addContent("a")
        let moments: [Int64?] = [nil, 0, 5, 7]
        for (expires, check) in moments.flatMap({ one in moments.map { (one, $0) } }) {
            for flags in 0..<8 {
                let entry = try store.licence("a", deadline: expires) { entry in
                    entry.record?.policy.checkAt = check.map { Timestamp(milliseconds: $0) }
                    entry.record?.isDeleted = flags & 1 != 0
                    entry.record?.isForceExpired = flags & 2 != 0
                    if flags & 4 != 0 { entry.record = nil }
                }
                try store.commit { try store.ledger.store(entry) }
                for table in ["licence", "content"] {
                    let stored = try store.index.connection.first("SELECT deadline_ms FROM \(table)") {
                        $0.optionalTimestamp(0)
                    }
                    #expect(stored == .some(entry.deadline), "\(table)")
                }
            }
        }
    }

    // MARK: Queries, keys

    @Test("The latest twenty checks of a licence are kept, and deleted with it")
    func attempts() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", 1_000)])
        let key = try ContentKey("a")
        func attempt(_ number: Int) -> LicenceAttempt {
            LicenceAttempt(
                at: Timestamp(milliseconds: Int64(number)), duration: .milliseconds(3), kind: 3, status: 200,
                outcome: "permitted", error: number == 25 ? LectureError(.answerMissing) : nil)
        }
        for number in 1...25 { try store.ledger.record(attempt(number), of: key) }
        try store.ledger.record(attempt(1), of: try ContentKey("b"))
        try store.ledger.record(attempt(1), of: try ContentKey("unknown"))
        #expect(try store.ledger.attempts(key, limit: 99) == (6...25).reversed().map(attempt))
        let queries = try SQLiteContentQueries(opening: store.location)
        #expect(try queries.licenceAttempts(key, limit: 2) == [attempt(25), attempt(24)])
        #expect(try store.ledger.attempts(try ContentKey("b"), limit: 9).count == 1)
        try store.commit { try store.ledger.forget(key) }
        #expect(try store.ledger.attempts(key, limit: 9).isEmpty)
    }

    @Test("A lecture's key is stored once and deleted with the lecture")
    func contentKeys() throws {
        let store = try LedgerFixture()
        let content = try store.addContent("a")
        #expect(try store.ledger.contentKeys.key(content) == nil)
        for byte in [UInt8(1), 2] {
            try store.ledger.contentKeys.add(
                content,
                WrappedKey(
                    wrapped: [UInt8](repeating: byte, count: 40), purpose: byte == 1 ? .licensed : .unlicensed),
                now: store.now)
        }
        let key = try #require(try store.ledger.contentKeys.key(content))
        #expect(key.wrapped == [UInt8](repeating: 1, count: 40) && key.purpose == .licensed)
        try store.removeContent("a")
        #expect(try store.ledger.contentKeys.key(content) == nil)
    }

    @Test("A backup contains the ledger: it is the same store for the same anchor")
    func backup() throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", nil)])
        try store.ledger.callbacks.add(try ContentKey("a"), kind: 2, now: store.now)
        let copy = StoreLocation(directory: store.directory.file("copy"))
        _ = try copy.make()
        try StoreMaintenance.backup(store.location, to: "\(copy.directory)/lecturekit.db")
        let ledger = try SQLiteLicenceLedger(
            index: try SQLiteDownloadIndex(opening: copy, now: store.now), authenticator: store.authenticator)
        #expect(
            try ledger.inspect(against: store.anchor) == .intact(try #require(try store.ledger.newestTime())))
        #expect(try ledger.pendingCallbacks(limit: 9) == store.ledger.pendingCallbacks(limit: 9))
        #expect(try ledger.entries(after: nil, limit: 9) == store.ledger.entries(after: nil, limit: 9))
    }

    @Test(
        "A check of the store finds violations of the rules between licence tables",
        arguments: [
            ("UPDATE licence SET content_id = NULL WHERE content_key = 'a'", "do not refer to each other"),
            ("UPDATE content SET deadline_ms = 7 WHERE key = 'a'", "another deadline"),
            ("DELETE FROM time_ledger", "no time ledger"),
            ("DELETE FROM time_ledger WHERE id = 2", "does not follow"),
            ("UPDATE renewal_run SET ended_ms = 1", "still wants"),
            ("UPDATE renewal SET next_attempt_ms = 1", "another moment"),
            (
                """
                INSERT INTO version(id, content_id, number, state, created_ms) VALUES (1, 1, 1, 0, 1);
                INSERT INTO resource(version_id, role, position, state, file_path, seal) VALUES (1, 0, 0, 3, 'x', 1)
                """, "has no key"
            ),
        ])
    func check(damage: String, finding: String) throws {
        let store = try LedgerFixture()
        try store.fill([("a", 1_000), ("b", nil)])
        for _ in 0..<2 { try store.commit {} }
        _ = try store.ledger.renewals.begin(.all, .renewal, now: store.now)
        #expect(try StoreMaintenance.check(store.location) == [])
        try store.tamper(damage)
        let findings = try StoreMaintenance.check(store.location)
        #expect(findings.contains { $0.contains(finding) }, "\(findings)")
    }
}
