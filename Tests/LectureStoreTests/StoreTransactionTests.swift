import Foundation
import LectureCrypto
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// The rows of one transaction, for all subjects.
struct StoreTransactionTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    /// A call of every kind of row: contents, licences, reports and streams, reading and writing.
    private static let calls: [(name: String, call: @Sendable (SQLiteTransaction) throws -> Void)] = [
        ("item", { _ = try $0.contents.contents.item(ContentID(1)) }),
        ("versions", { _ = try $0.contents.versions.discardedVersions() }),
        ("outputs", { _ = try $0.contents.outputs.written(ContentKey("a")) }),
        ("data version", { _ = try $0.contents.dataVersion() }),
        (
            "supersede",
            { try $0.contents.versions.supersede(ContentID(1), version: VersionID(1), by: .expected, now: now) }
        ),
        ("setting", { try $0.index.settings.set("a", "b") }),
        ("licence", { _ = try $0.licences.entry(ContentKey("a")) }),
        ("attempt", { try $0.licences.storeAttempt(LicenceEntry(key: ContentKey("a"), source: LicenceSource())) }),
        ("renewals", { _ = try $0.licences.renewals.begin(.all, .renewal, now: now) }),
        ("callbacks", { try $0.licences.callbacks.add(ContentKey("a"), kind: 2, now: now) }),
        ("content keys", { _ = try $0.licences.contentKeys.key(ContentID(1)) }),
        ("inspect", { _ = try $0.licences.inspect(against: nil) }),
        ("targets", { _ = try $0.reports.targets() }),
        ("supersede reports", { try $0.reports.supersede([OutboxID(1)], now: now) }),
        ("streams", { _ = try $0.streams.sums() }),
    ]

    /// The rows as code that breaks the rule would keep them.
    private struct Kept {
        let contents: any DownloadIndex
        let item: (ContentID) throws -> ItemRecord?
        let licences: any LicenceLedger
        let callbacks: PendingCallbackRows
        let reports: any StatisticsOutbox
        let outputs: OutputRows

        init(_ transaction: SQLiteTransaction) throws {
            (contents, licences, reports) = (transaction.contents, try transaction.licences, transaction.reports)
            (callbacks, outputs) = (try transaction.ledger.callbacks, transaction.index.outputs)
            let rows = transaction.index.contents
            item = { try rows.item($0) }
        }

        /// The errors of all of them.
        func errors() throws -> [LectureError?] {
            let key = try ContentKey("a")
            return [
                lectureError { _ = try contents.contents.item(ContentID(1)) },
                lectureError { _ = try item(ContentID(1)) },
                lectureError { _ = try licences.newestTime() },
                lectureError { _ = try callbacks.nextDue() },
                lectureError { try callbacks.add(key, kind: 2, now: now) },
                lectureError { _ = try reports.targets() },
                lectureError { _ = try outputs.written(key) },
            ]
        }
    }

    @Test func `within the transaction every row can be used`() throws {
        let store = try LedgerFixture()
        for (name, call) in Self.calls {
            let error = lectureError { try store.index.transaction { try call($0) } }
            #expect(error == nil, "\(name)")
        }
    }

    @Test func `after the transaction no row can be used, even through the transaction itself`() throws {
        let store = try LedgerFixture()
        let late = LectureError(.bug, detail: "a row is used after its transaction")
        let transaction = try store.index.transaction { $0 }
        for (name, call) in Self.calls {
            #expect(lectureError { try call(transaction) } == late, "\(name)")
        }
        // Nor inside a later transaction, where SQLite would not object.
        try store.index.transaction { _ in
            for (name, call) in Self.calls { #expect(lectureError { try call(transaction) } == late, "\(name)") }
        }
        #expect(try store.index.settings.value(of: "a") == nil && store.index.owners.all() == [store.owner])
    }

    @Test func `rows that were kept are refused after a commit, after a roll-back, and after a snapshot`() throws {
        let store = try LedgerFixture()
        let late = LectureError(.bug, detail: "a row is used after its transaction")
        var kept: [Kept] = []
        try store.index.transaction {
            kept.append(try Kept($0))
            #expect(try kept[0].errors().allSatisfy { $0 == nil })
        }
        _ = lectureError {
            try store.index.transaction {
                kept.append(try Kept($0))
                throw LectureError(.cancelled)
            }
        }
        try store.index.read { kept.append(try Kept($0)) }
        #expect(kept.count == 3)
        for rows in kept { #expect(try rows.errors().allSatisfy { $0 == late }) }
    }

    @Test func `the writer's own rows stay usable, in and outside transactions`() throws {
        let store = try LedgerFixture()
        let (contents, ledger) = (store.index.contents, store.ledger)
        let isFound = try store.index.transaction { _ in try contents.item(ContentID(1)) != nil }
        #expect(try !isFound && contents.item(ContentID(1)) == nil && ledger.newestTime() == nil)
    }

    @Test func `all rows of a transaction are committed together, or none`() throws {
        let store = try LedgerFixture()
        let key = try ContentKey("a")
        func change(_ transaction: SQLiteTransaction) throws {
            try transaction.index.settings.set("a", "b")
            try transaction.ledger.store(store.licence("a"))
            store.anchor = try transaction.ledger.append(store.time(), source: .clocks)
            try transaction.ledger.callbacks.add(key, kind: 2, now: Self.now)
            _ = try transaction.outbox.target(OutboxFixture.address)
        }
        func stored() throws -> [Bool] {
            try store.index.read {
                [
                    try $0.index.settings.value(of: "a") != nil, try $0.ledger.entry(key) != nil,
                    try $0.ledger.callbacks.nextDue() != nil, try !$0.outbox.targets().isEmpty,
                ]
            }
        }
        let error = lectureError {
            try store.index.transaction {
                try change($0)
                throw LectureError(.cancelled)
            }
        }
        #expect(try error?.code == .cancelled && stored() == [false, false, false, false])
        try store.index.transaction { try change($0) }
        #expect(try stored() == [true, true, true, true] && store.isIntact)
    }

    @Test func `a transaction has the ledger that was opened last, and an error where none is open`() throws {
        let store = try LedgerFixture()
        let index = try SQLiteDownloadIndex(opening: store.location, now: Self.now)
        #expect(lectureError { try index.transaction { _ = try $0.licences } }?.code == .bug)
        try index.transaction { transaction in
            // A machine may open it within its step.
            _ = try SQLiteLicenceLedger(index: index, authenticator: store.authenticator)
            #expect(try transaction.licences.newestTime() == nil)
        }
    }

    @Test func `a transaction that SQLite has rolled back takes no more changes`() throws {
        let store = try LedgerFixture()
        let error = lectureError {
            try store.index.transaction { transaction in
                try transaction.index.settings.set("a", "b")
                // As SQLite itself does on a full disk.
                try store.index.connection.run(script: "ROLLBACK")
                let refusal = lectureError { try transaction.index.settings.set("c", "d") }
                #expect(refusal?.code == .storeFailed)
                if let refusal { throw refusal }
            }
        }
        #expect(error?.code == .storeFailed)
        #expect(try store.index.settings.value(of: "a") == nil && store.index.settings.value(of: "c") == nil)
    }

    @Test func `a snapshot is of the open transaction when there is one`() throws {
        let store = try LedgerFixture()
        try store.index.transaction { transaction in
            try transaction.index.settings.set("a", "b")
            #expect(try store.index.read { try $0.index.settings.value(of: "a") } == "b")
            #expect(try transaction.index.read { try $0.index.settings.value(of: "a") } == "b")
        }
    }

    @Test func `queries keep the writer's connection open, and closing it leaves no write-ahead log`() throws {
        let directory = try TemporaryDirectory.inMemory()
        let location = StoreLocation(directory: directory.file("store"))
        func use() throws {
            var writer: SQLiteDownloadIndex? = try SQLiteDownloadIndex(opening: location, now: Self.now)
            let reader = try #require(writer).queries
            try writer?.transaction { try $0.index.settings.set("a", "b") }
            writer = nil
            #expect(try reader.contents(ContentFilter(), sort: .added, page: ContentPage()).isEmpty)
        }
        try use()
        let files = try FileManager.default.contentsOfDirectory(atPath: location.directory)
        #expect(Set(files) == ["lecturekit.db", "space.reserve"])
    }
}
