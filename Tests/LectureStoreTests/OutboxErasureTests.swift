import Foundation
import LectureFormats
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// A learner is erased: from the rows, from the bytes of the files, and from copies of the store.
@Suite struct OutboxErasureTests {
    private static let learner = "Ada Lovelace-0xDEAD"

    /// The files of a store that contain a name.
    private static func isNamed(_ name: String, in path: String) throws -> [String] {
        try ["", "-wal", "-shm", "-journal"].filter { suffix in
            guard FileManager.default.fileExists(atPath: path + suffix) else { return false }
            return try Data(contentsOf: URL(filePath: path + suffix)).range(of: Data(name.utf8)) != nil
        }
    }

    private static func database(_ box: OutboxFixture) -> String { "\(box.store.location.directory)/lecturekit.db" }

    /// Reports of several learners, enough to split pages, in every state and in requests.
    private static func fill(_ box: OutboxFixture) throws {
        try box.store.index.transaction { _ in
            for number in 0..<1_500 {
                let user = number % 3 == 0 ? learner : "other learner \(number % 7)"
                var record = OutboxFixture.record("\(number)-\(user)", user: user, session: "\(user) \(number % 40)")
                record.values = .object([
                    JSONMember("name", .string(user)),
                    JSONMember("filler", .string(String(repeating: "x", count: number * 7 % 900))),
                ])
                record.state = ReportState.allCases[number % 6]
                record.reason = "refused"
                record.target = number % 5 == 0 ? nil : OutboxFixture.address
                _ = try box.outbox.add(imported: record, now: box.now)
            }
        }
        let open = try box.outbox.planRows(box.target, queues: 50, rows: 2)
        var condition = TargetCondition()
        condition.lastFailure = box.answer(500, "cannot store 'Ada%20Lovelace-0xDEAD'", .serverFailed)
        try box.outbox.store(condition, of: box.target)
        let frozen = FrozenRequest(
            id: "sealed", reports: open.map(\.id), mediaType: "", body: Array("body \(learner)".utf8))
        let inFlightBatch = try box.outbox.begin(frozen, rest: [], target: box.target, owner: box.owner, now: box.now)
        try box.outbox.release(inFlightBatch, owner: box.owner)
        let other = try #require(open.first { $0.queue.user != learner })
        try box.store.index.connection.execute(
            "UPDATE report SET answer_ms = 1, answer_text = ? WHERE id = ?", "not \(learner)!", other.id)
    }

    @Test func nothingOfALearnerIsLeftInAnyByte() throws {
        try OutboxFixture.with { box in
            try Self.fill(box)
            // Deleted before the erasure: such bytes stay in the file.
            #expect(try box.outbox.upkeep.prune(before: box.now + .seconds(1), limit: 300) == 300)
            #expect(try Self.isNamed(Self.learner, in: Self.database(box)) != [])
            let refused = lectureError { _ = try box.outbox.erasure.erase(user: Self.learner, isForced: false) }
            #expect(refused?.code == .reportsUnderWay)
            let before = try box.queries.account()
            #expect(before.erased == 0)
            let erased = try box.outbox.erasure.erase(user: Self.learner, isForced: true)
            let count = erased.reports.values.reduce(0, +)
            #expect(erased.inFlightBatches == 1 && erased.sessions == 40 && count > 300)
            #expect(try box.queries.account().erased == count)
            #expect(try box.outbox.erasure.scrub())
            #expect(try Self.isNamed(Self.learner, in: Self.database(box)) == [])
            #expect(try Self.isNamed("Ada%20Lovelace-0xDEAD", in: Self.database(box)) == [])
            #expect(try Self.isNamed("other learner 1", in: Self.database(box)) != [])
            #expect(try box.queries.targets()[0].condition.lastFailure?.text == "")
            #expect(try box.queries.otherTraces(of: Self.learner) == [])
            #expect(try box.outbox.erasure.erase(user: Self.learner, isForced: false) == ErasedReports())
            let left = try box.queries.reports(ReportSelection(), after: nil, limit: 9_999)
            #expect(left.count == before.rows.values.reduce(0, +) - count)
            #expect(!left.contains { $0.record.user == Self.learner })
        }
    }

    @Test func aReaderThatHoldsTheLogIsReported() throws {
        try OutboxFixture.with { box in
            try Self.fill(box)
            try box.store.index.connection.execute("PRAGMA busy_timeout = 0")
            let reader = try box.store.queries()
            try reader.consistently {
                _ = try reader.account()
                _ = try box.outbox.erasure.erase(user: Self.learner, isForced: true)
                #expect(try !box.outbox.erasure.scrub())
            }
            #expect(try box.outbox.erasure.scrub())
            #expect(try Self.isNamed(Self.learner, in: Self.database(box)) == [])
        }
    }

    @Test func aRequestUnderWayStopsAnErasure() throws {
        try OutboxFixture.with { box in
            let (own, other) = (try box.add(user: "a"), try box.add(user: "b"))
            let rest = try box.add(user: "c")
            let inFlightBatch = try box.begin("one", [own, other], rest: [rest])
            for user in ["a", "c"] {
                let error = lectureError { _ = try box.outbox.erasure.erase(user: user, isForced: false) }
                #expect(error?.code == .reportsUnderWay)
            }
            let erased = try box.outbox.erasure.erase(user: "a", isForced: true)
            #expect(erased.reports == [.pending: 1] && erased.inFlightBatches == 1 && erased.sessions == 1)
            #expect(try box.inFlightBatches() == 0)
            #expect(try [other, rest].map { try box.state($0) } == [.pending, .pending])
            let late = lectureError {
                try box.outbox.advance(
                    inFlightBatch, to: OutboxFixture.frozen("two", [rest]), owner: box.owner, now: box.now)
            }
            #expect(late?.code == .leaseLost)
            try box.accept(inFlightBatch, [own, other])
            #expect(try box.state(other) == .delivered)
        }
    }

    @Test func aLearnerIsErasedFromACopyOfTheStore() throws {
        try OutboxFixture.with { box in
            try Self.fill(box)
            let path = box.store.directory.file("copy.db")
            try StoreMaintenance.backup(box.store.location, to: path)
            try box.outbox.backups.record(path, made: box.now)
            try box.outbox.backups.record("/elsewhere", made: box.now)
            try box.outbox.backups.record(path, made: box.now + .seconds(1))
            #expect(try box.outbox.backups.all().map(\.path).sorted() == ["/elsewhere", path].sorted())
            #expect(try box.outbox.backups.all().first { $0.path == path }?.made == box.now + .seconds(1))
            try box.outbox.backups.forget("/elsewhere")
            #expect(try box.outbox.backups.all().map(\.path) == [path])
            #expect(try Self.isNamed(Self.learner, in: path) == [""])
            let result = try ReportErasure.erase(inBackup: path, user: Self.learner)
            #expect(result.erased.sessions == 40 && result.traces == [])
            #expect(try Self.isNamed(Self.learner, in: path) == [])
            #expect(try ReportErasure.erase(inBackup: path, user: Self.learner).erased == ErasedReports())
            let copy = try Connection(path: path, access: .immutable)
            #expect(try copy.integrityFindings() == [])
            #expect(try box.queries.account().erased == 0, "the store itself is another file")
        }
    }

    @Test(arguments: ["0001", "0002"])
    func aCopyOfAnOlderSchemaStaysWhatItIs(number: String) throws {
        let directory = try TemporaryDirectory()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/schema-\(number).sqlite")
        let path = directory.file("old.db")
        try FileManager.default.copyItem(at: fixture, to: URL(filePath: path))
        let result = try ReportErasure.erase(inBackup: path, user: "learner")
        #expect(result.erased == ErasedReports())
        #expect(result.traces == (number == "0002" ? ["licence of completed"] : []))
        #expect(try Connection(path: path, access: .immutable).pragmaNumber("user_version") == Int64(number))
    }

    @Test func whatIsNoCopyOfAStoreIsRefused() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("no.db")
        for missing in [path, directory.file("no/such.db")] {
            let error = lectureError { _ = try ReportErasure.erase(inBackup: missing, user: "a") }
            #expect(error?.code == .openStore)
        }
        try Connection(path: path, access: .create).run(script: "CREATE TABLE t(x)")
        let error = lectureError { _ = try ReportErasure.erase(inBackup: path, user: "a") }
        #expect(error?.code == .storeForeign)
    }

    @Test func otherPlacesThatNameALearnerAreReported() throws {
        try OutboxFixture.with { box in
            try box.store.add("plain")
            try box.store.add("linked") { $0.url = "http://127.0.0.1/si?user=ada%20l&x=1" }
            let connection = box.store.index.connection
            let mac = [UInt8](repeating: 0, count: 32)
            try connection.execute(
                "INSERT INTO licence(content_key, client_user_id, mac) VALUES ('plain', 'ada l', ?)", mac)
            let due = ["licence of plain", "content linked"]
            #expect(try box.queries.otherTraces(of: "ada l") == due)
            #expect(try box.queries.otherTraces(of: "ada") == due, "a word of a name may be an id")
            #expect(try box.queries.otherTraces(of: "da l") == [])
            #expect(try box.queries.otherTraces(of: "") == [])
            try connection.execute("DELETE FROM licence")
        }
    }

    @Test(arguments: [
        ("7", "user=7&x", true), ("7", "17 of 77", false), ("a b", "x=a+b", true), ("a\"b", #"{"u":"a\"b"}"#, true),
        ("é", "%C3%A9", true), ("é", "u=%c3%a9", true), ("-x", "a-x", true), ("", "anything", false),
        ("abc", "ab", false),
    ])
    func aNameIsFoundInItsSpellingsAndNotInsideOfWords(name: String, text: String, isFound: Bool) {
        #expect(LearnerName(name).isIn(text) == isFound)
    }
}
