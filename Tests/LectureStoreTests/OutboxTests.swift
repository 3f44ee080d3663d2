import Foundation
import LectureFormats
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// Stored reports: once, whole, and unchanged.
@Suite struct OutboxTests {
    @Test func aReportIsStoredOnceHoweverOftenItIsHandedIn() throws {
        try OutboxFixture.with { box in
            let report = NewReport(OutboxFixture.record("a", sequence: 4))
            #expect(try box.add(report) == ["new", "4"])
            var later = report
            later.record.wall = Timestamp(milliseconds: 5)
            #expect(try box.add(later) == ["known", "4"])
            var next = later
            next.takesNextSequence = true
            #expect(try box.add(next) == ["known", "4"])
            next.record.id = "b"
            #expect(try box.add(next) == ["new", "5"])
            let account = try box.queries.account()
            #expect(account.created == 2)
            #expect(try box.queries.targets().map(\.open) == [2])
        }
    }

    private static let changes: [(String, @Sendable (inout ReportRecord) -> Void)] = [
        ("user", { $0.user = "another" }), ("session", { $0.session = "2" }), ("content", { $0.content = "other" }),
        ("course", { $0.course = "maths" }), ("note", { $0.note = "" }), ("sequence", { $0.sequence = 2 }),
        ("values", { $0.values = .object([JSONMember("play_time", .integer(8))]) }),
        ("target", { $0.target = OutboxFixture.other }),
        ("a letter in another spelling", { $0.user = "lea\u{301}rner" }),
    ]

    @Test(arguments: changes.indices)
    func anIdThatIsKnownWithAnotherContentIsRefused(place: Int) throws {
        try OutboxFixture.with { box in
            var record = OutboxFixture.record("a", user: "le\u{E1}rner")
            if place < 8 { record.user = "learner" }
            try box.put(record)
            Self.changes[place].1(&record)
            let error = lectureError { _ = try box.outbox.add(NewReport(record), now: box.now) }
            #expect(error?.code == .reportConflict, "\(Self.changes[place].0)")
            #expect(error?.detail == "a")
            #expect(try box.queries.account().created == 1)
        }
    }

    @Test func theOrderOfMembersIsNoContent() throws {
        try OutboxFixture.with { box in
            var record = OutboxFixture.record("a")
            let inner = [JSONMember("x", .integer(1)), JSONMember("y", .bool(true))]
            record.values = .object([JSONMember("b", .object(inner)), JSONMember("a", .null)])
            try box.put(record)
            record.values = .object([JSONMember("a", .null), JSONMember("b", .object(inner.reversed()))])
            #expect(try box.add(NewReport(record)) == ["known", "1"])
        }
    }

    @Test func aRepetitionMayNameNoTargetOrOneItHadOrHas() throws {
        try OutboxFixture.with { box in
            let record = OutboxFixture.record("a")
            try box.put(record)
            #expect(try box.outbox.readdress(to: try box.outbox.target(OutboxFixture.other)) == 1)
            for target in [nil, OutboxFixture.address, OutboxFixture.other] {
                var again = record
                again.target = target
                #expect(try box.add(NewReport(again)) == ["known", "1"])
            }
            var elsewhere = record
            elsewhere.target = ReportRecord.Target(url: "http://127.0.0.1/third", format: .json)
            let error = lectureError { _ = try box.outbox.add(NewReport(elsewhere), now: box.now) }
            #expect(error?.code == .reportConflict)
            #expect(try box.stored(try box.row("a")).record.target == OutboxFixture.other)
        }
    }

    @Test func aReportThatWaitsForATargetIsGivenTheOneItsRepetitionNames() throws {
        try OutboxFixture.with { box in
            let record = OutboxFixture.record("a", target: nil)
            try box.put(record)
            #expect(try box.queries.targets().map(\.open) == [0])
            #expect(try box.add(NewReport(OutboxFixture.record("a"))) == ["known", "1"])
            #expect(try box.queries.targets().map(\.open) == [1])
            #expect(try box.outbox.planRows(box.target, queues: 1, rows: 1).count == 1)
        }
    }

    @Test func everythingThatWasHandedInIsReadBack() throws {
        try OutboxFixture.with { box in
            var record = OutboxFixture.record(
                "\u{1F600} \"'id", user: "O'Brien \"x\"\n\t\u{202E}", session: "s,\r\n;--")
            (record.content, record.course, record.note) = ("강의", "", "=1+1\u{7F}")
            (record.boot, record.bootID) = (BootInstant(nanoseconds: .max), "boot")
            record.corrected = Timestamp(milliseconds: -5)
            record.sequence = .min
            record.target = OutboxFixture.other
            let number = try #require(JSONNumber("-0.1e-7"))
            record.values = .object([
                JSONMember("\u{0}", .string("\u{0}\u{1}\\")), JSONMember("", .array([.null, .number(number)])),
            ])
            try box.put(record)
            #expect(try box.stored(try box.row(record.id)).record == record)
            #expect(try box.queries.reports(ReportSelection(), after: nil, limit: 9).map(\.record) == [record])
        }
    }

    @Test func aMebibyteOfValuesIsStoredAndNoByteMore() throws {
        try OutboxFixture.with { box in
            var record = OutboxFixture.record("a")
            let left = ReportCheck.valuesLimit - #"{"x":""}"#.utf8.count
            record.values = .object([JSONMember("x", .string(String(repeating: "y", count: left)))])
            try box.put(record)
            #expect(try box.stored(try box.row("a")).record == record)
            record.values = .object([JSONMember("x", .string(String(repeating: "y", count: left + 1)))])
            record.id = "b"
            let error = lectureError { _ = try box.outbox.add(NewReport(record), now: box.now) }
            #expect(error?.code == .reportInvalid && error?.detail == "values")
        }
    }

    private static let faults: [(String, @Sendable (inout ReportRecord) -> Void)] = [
        ("id", { $0.id = "" }), ("id", { $0.id = String(repeating: "x", count: 257) }), ("id", { $0.id = "a\0" }),
        ("user", { $0.user = "\0" }), ("session", { $0.session = "1\0" }), ("content", { $0.content = "\0c" }),
        ("course", { $0.course = "\0" }), ("note", { $0.note = "\0" }), ("boot_id", { $0.bootID = "\0" }),
        ("values", { $0.values = .array([]) }),
        ("values", { $0.values = .object([JSONMember("a", .null), JSONMember("a", .null)]) }),
        ("values", { record in for _ in 0..<64 { record.values = .object([JSONMember("a", record.values)]) } }),
        ("target", { $0.target?.method = "PUT" }),
    ]

    @Test(arguments: faults.indices)
    func whatCouldNotBeReadBackIsRefusedByName(place: Int) throws {
        try OutboxFixture.with { box in
            var record = OutboxFixture.record("a")
            Self.faults[place].1(&record)
            let error = lectureError { _ = try box.outbox.add(NewReport(record), now: box.now) }
            #expect(error?.code == .reportInvalid)
            #expect(error?.detail == Self.faults[place].0)
            let account = try box.queries.account()
            #expect(account.created == 0)
        }
    }

    @Test func theNumbersOfASessionGoOnWhereverItsReportsGo() throws {
        try OutboxFixture.with { box in
            try box.add()
            try box.add(target: OutboxFixture.other)
            try box.add(target: nil)
            try box.add(session: "2")
            try box.add(user: "another")
            let found = try box.queries.reports(ReportSelection(), after: nil, limit: 9)
            #expect(found.map(\.record.sequence) == [1, 2, 3, 1, 1])
            var last = OutboxFixture.record("last", sequence: .max)
            #expect(try box.add(NewReport(last)) == ["new", "\(Int64.max)"])
            last.id = "beyond"
            var next = NewReport(last)
            next.takesNextSequence = true
            let error = lectureError { [next] in _ = try box.outbox.add(next, now: box.now) }
            #expect(error?.code == .reportInvalid)
        }
    }

    @Test func targetsAreWhatTheirFourColumnsSay() throws {
        try OutboxFixture.with { box in
            let other = try box.outbox.target(OutboxFixture.other)
            #expect(other != box.target)
            #expect(try box.outbox.target(OutboxFixture.other) == other)
            var renamed = OutboxFixture.other
            renamed.parameters[0].name = "tm"
            #expect(try box.outbox.target(renamed) != other)
            #expect(try box.outbox.targets().map(\.address) == [OutboxFixture.address, OutboxFixture.other, renamed])
        }
    }

    @Test func theConditionOfATargetIsKept() throws {
        try OutboxFixture.with { box in
            var condition = TargetCondition()
            #expect(try box.outbox.targets()[0].condition == condition)
            condition.failures = 3
            condition.wait = RetryWait(setAt: box.now, delay: .seconds(9))
            condition.suspension = .forbidden
            condition.bytesLimit = 1_000
            let long = String(repeating: "é", count: 600)
            condition.lastFailure = box.answer(503, long, .busy)
            try box.outbox.store(condition, of: box.target)
            condition.lastFailure?.text = String(repeating: "é", count: 512)
            #expect(try box.queries.targets()[0].condition == condition)
            try box.outbox.store(TargetCondition(), of: box.target)
            #expect(try box.queries.targets()[0].condition == TargetCondition())
        }
    }

    @Test func halfACharacterOfAnAnswerIsNotKept() {
        let text = "x" + String(repeating: "é", count: 600)
        #expect(AnswerLimit.text(text) == "x" + String(repeating: "é", count: 511))
        #expect(AnswerLimit.text("short") == "short")
    }
}
