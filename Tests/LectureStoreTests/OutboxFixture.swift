import Foundation
import LectureFormats
import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

/// A store with an outbox, two targets and an owner.
final class OutboxFixture {
    let store: StoreFixture
    let outbox: SQLiteOutbox
    let queries: SQLiteContentQueries
    let owner: OwnerID
    let target: TargetID
    var now: Timestamp { store.now }
    private var names = 0

    static let address = ReportRecord.Target(url: "http://127.0.0.1/lms", format: .json)
    static let other = ReportRecord.Target(
        url: "http://127.0.0.1/other", method: "GET", format: .kollus,
        parameters: [.init(name: "TM", template: "{PLAY_TIME}"), .init(name: "data", template: "{JSON_DATA}")])

    private init(_ store: StoreFixture) throws {
        self.store = store
        outbox = SQLiteOutbox(index: store.index)
        queries = try store.queries()
        owner = store.owner
        target = try outbox.target(Self.address)
    }

    /// Runs a test; at its end no report may be lost and the store must be sound.
    static func with(_ body: (OutboxFixture) throws -> Void) throws {
        try StoreFixture.with { store in
            let fixture = try OutboxFixture(store)
            try body(fixture)
            #expect(try fixture.queries.account().isConserved)
        }
    }

    /// Another process on the same store.
    func another() throws -> (outbox: SQLiteOutbox, index: SQLiteDownloadIndex, owner: OwnerID) {
        let (index, owner) = try store.another()
        return (SQLiteOutbox(index: index), index, owner)
    }

    static func record(
        _ id: String, user: String = "learner", session: String = "1", sequence: Int64 = 1,
        target: ReportRecord.Target? = address
    ) -> ReportRecord {
        var record = ReportRecord(
            id: id, content: "content", user: user, session: session, sequence: sequence,
            wall: Timestamp(milliseconds: 1_700_000_000_000), values: .object([JSONMember("play_time", .integer(7))]))
        record.target = target
        return record
    }

    /// Stores a report under the next number and returns its row.
    @discardableResult
    func add(
        _ id: String? = nil, user: String = "learner", session: String = "1", cumulative: Bool = false,
        target: ReportRecord.Target? = address
    ) throws -> OutboxID {
        names += 1
        let uuid = id ?? "report-\(names)"
        var report = NewReport(Self.record(uuid, user: user, session: session, target: target))
        (report.takesNextSequence, report.isCumulative) = (true, cumulative)
        #expect(try outbox.add(report, now: now).isNew)
        return try row(uuid)
    }

    /// Stores a report unchanged.
    func put(_ record: ReportRecord) throws {
        let addition = try outbox.add(NewReport(record), now: now)
        #expect(addition == ReportAddition(isNew: true, sequence: record.sequence))
    }

    /// Whether a report is new, and its number.
    func add(_ report: NewReport) throws -> [String] {
        let addition = try outbox.add(report, now: now)
        return [addition.isNew ? "new" : "known", "\(addition.sequence)"]
    }

    func row(_ uuid: String) throws -> OutboxID {
        try #require(try store.index.connection.first("SELECT id FROM report WHERE uuid = ?", uuid) { $0.id(0) })
    }

    func stored(_ id: OutboxID) throws -> StoredReport { try #require(try outbox.rows.report(id)) }

    func state(_ id: OutboxID) throws -> ReportState { try stored(id).record.state }

    static func frozen(_ id: String, _ reports: [OutboxID]) -> FrozenRequest {
        FrozenRequest(
            id: id, reports: reports, mediaType: "application/json", body: Array("body of \(id)".utf8))
    }

    func begin(_ id: String, _ reports: [OutboxID], rest: [OutboxID] = []) throws -> InFlightBatchID {
        try outbox.begin(Self.frozen(id, reports), rest: rest, target: target, owner: owner, now: now)
    }

    func answer(_ status: Int?, _ text: String = "", _ reason: KeepReason? = nil) -> SendAnswer {
        SendAnswer(at: now, status: status, reason: reason, text: text)
    }

    func accept(_ inFlightBatch: InFlightBatchID, _ reports: [OutboxID]) throws {
        try outbox.settle(inFlightBatch, reports, dead: nil, answer: answer(200), now: now)
    }

    func refuse(_ inFlightBatch: InFlightBatchID, _ reports: [OutboxID], _ text: String = "no") throws {
        try outbox.settle(inFlightBatch, reports, dead: .refused, answer: answer(400, text), now: now)
    }

    func inFlightBatches() throws -> Int {
        try #require(try store.index.connection.first("SELECT count(*) FROM lms_flight") { $0.int(0) })
    }
}
