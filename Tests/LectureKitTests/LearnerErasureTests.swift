import Foundation
import LectureKit
import LectureModel
import LectureTestSupport
import Testing

/// A learner is erased from every byte, or the receipt lists where not.
@Suite struct LearnerErasureTests {
    /// How often a text occurs in the raw bytes of a file, counted by an independent program.
    private static func places(_ text: String, in path: String) async throws -> Int {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        let script = "import sys; print(open(sys.argv[1], 'rb').read().count(sys.argv[2].encode()))"
        let ending = try await ChildProcess.run(try Places.command("python3"), ["-c", script, path, text])
        return try #require(Int(ending.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(ending.errorText)")
    }

    private static func expectNowhere(
        _ text: String, _ shelf: ReportShelf, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for suffix in ["", "-wal", "-journal"] {
            let count = try await places(text, in: shelf.database + suffix)
            #expect(count == 0, "in \(suffix)", sourceLocation: sourceLocation)
        }
    }

    @Test func `an erased learner is gone from every byte, and the others stay`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        let learner = "홍길동 학생"
        let files = [shelf.database, shelf.database + "-wal"]
        let before = try await Self.places(learner, in: files[0]) + Self.places(learner, in: files[1])
        #expect(before > 0)
        let receipt = try await shelf.manager.reports.eraseLearner(learner)
        #expect(receipt.problems.isEmpty && receipt.isSearched && receipt.traces.isEmpty, "\(receipt)")
        #expect(receipt.reports == [.pending: 1, .delivered: 1, .dead: 1, .superseded: 1, .expired: 1])
        #expect(receipt.sessions == 1 && receipt.requests == 0)
        try await Self.expectNowhere(learner, shelf)
        let left = try ReportShelf.records(try await shelf.exported(.jsonLines))
        #expect(left == records.filter { !$0.user.utf8.elementsEqual(learner.utf8) })
        // Again: nothing is left to erase.
        let again = try await shelf.manager.reports.eraseLearner(learner)
        #expect(again.reports.isEmpty && again.sessions == 0 && again.problems.isEmpty)
    }

    @Test(arguments: ReportShelf.learners.filter { $0.utf8.count >= 4 && $0 != "null" })
    func `any learner id can be erased`(learner: String) async throws {
        let shelf = try ReportShelf()
        try await shelf.fill(
            ReportShelf.records().filter { $0.user == "kim7" || $0.user.utf8.elementsEqual(learner.utf8) })
        let receipt = try await shelf.manager.reports.eraseLearner(learner)
        #expect(receipt.problems.isEmpty, "\(receipt.traces)")
        #expect(receipt.reports.values.reduce(0, +) == 5)
        try await Self.expectNowhere(learner, shelf)
    }

    @Test func `a dry run reports the findings and changes nothing`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let before = try await shelf.exported(.jsonLines)
        let receipt = try await shelf.manager.reports.eraseLearner("kim7", isDryRun: true)
        #expect(receipt.isDryRun && receipt.reports.values.reduce(0, +) == 5 && receipt.sessions == 1)
        #expect(try await shelf.exported(.jsonLines) == before)
    }

    @Test func `a short id is erased and not searched for`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let receipt = try await shelf.manager.reports.eraseLearner("한")
        #expect(!receipt.isSearched && receipt.reports.values.reduce(0, +) == 5)
        await #expect(throws: LectureError(.parameter)) { try await shelf.manager.reports.eraseLearner("") }
    }

    @Test func `reports of others that name the learner are listed`() async throws {
        let shelf = try ReportShelf()
        var record = ReportShelf.records()[0]
        record.id = "other"
        record.user = "lee8"
        record.session = "lee8"
        record.note = "sat beside kim7"
        record.values = .object([])
        try await shelf.fill(ReportShelf.records() + [record])
        let receipt = try await shelf.manager.reports.eraseLearner("kim7")
        #expect(receipt.traces.contains(ErasureReceipt.Trace(place: "reports of other learners", count: 1)))
        #expect(receipt.problems.contains(LectureError(.learnerLeft)))
    }

    @Test func `copies of the store are erased as well`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let (store, copy) = (shelf.directory.file("store"), shelf.directory.file("copy.db"))
        #expect(try StoreTools.backup(store, to: copy))
        #expect(try await Self.places("홍길동 학생", in: copy) > 0)
        let receipt = try await shelf.manager.reports.eraseLearner("홍길동 학생")
        #expect(receipt.problems.isEmpty && receipt.copies.map(\.reports) == [5], "\(receipt)")
        #expect(try await Self.places("홍길동 학생", in: copy) == 0)
        // The copy is a whole store with the other learners in it.
        let other = shelf.directory.file("other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: copy, toPath: "\(other)/lecturekit.db")
        #expect(try StoreTools.check(other).isEmpty)
    }

    @Test func `an unreachable copy is listed until it is forgotten`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let copy = shelf.directory.file("copy.db")
        try StoreTools.backup(shelf.directory.file("store"), to: copy)
        try FileManager.default.removeItem(atPath: copy)
        let receipt = try await shelf.manager.reports.eraseLearner("kim7")
        #expect(receipt.copies.map(\.problem) == [LectureError(.openStore)])
        #expect(receipt.problems == [LectureError(.openStore)])
        #expect(receipt.reports.values.reduce(0, +) == 5)
        try await shelf.manager.reports.forgetCopy(at: copy)
        #expect(try await shelf.manager.reports.eraseLearner("kim7").problems.isEmpty)
    }

    @Test func `a failed copy is not remembered`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let there = try shelf.directory.write("mine", to: "there")
        #expect(throws: LectureError(.createFile)) { try StoreTools.backup(shelf.directory.file("store"), to: there) }
        #expect(throws: LectureError(.createFile)) {
            try StoreTools.backup(shelf.directory.file("store"), to: shelf.directory.file("missing/copy"))
        }
        #expect(try await shelf.manager.reports.eraseLearner("kim7").copies.isEmpty)
    }
}
