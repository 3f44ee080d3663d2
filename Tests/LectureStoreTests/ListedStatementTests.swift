import LectureModel
import LectureSQLite
import LectureTestSupport
import Testing

@testable import LectureStore

struct ListedStatementTests {
    @Test(arguments: [0, 1, 3, 4, 100, 133])
    func `every row of a list is changed once, in few statements`(count: Int) throws {
        try OutboxFixture.with { box in
            let reports = try (0..<count).map { try box.add("r\($0)", session: "\($0)") }
            let spare = try box.add("spare", session: "spare")
            let connection = box.store.index.connection
            var texts: [String] = []
            connection.faultPoint = { point in
                if case .statement(let text) = point, text.hasPrefix("UPDATE report") { texts.append(text) }
            }
            defer { connection.faultPoint = nil }
            let changed = try ReportStatements.markDelivered.execute(
                reports, on: connection, [box.now.sqliteValue])
            connection.faultPoint = nil
            #expect(changed == count)
            #expect(texts.count == [0: 0, 1: 1, 3: 3, 4: 1, 100: 4, 133: 4][count])
            for report in reports { #expect(try box.state(report) == .delivered) }
            #expect(try box.state(spare) == .pending)
        }
    }

    @Test func `a request of many reports starts only if all of them are free`() throws {
        try OutboxFixture.with { box in
            let reports = try (0..<70).map { try box.add("r\($0)", session: "\($0)") }
            let first = try box.begin("first", [reports[66]])
            #expect(lectureError { _ = try box.begin("second", reports) }?.code == .leaseLost)
            #expect(try box.inFlightBatches() == 1)
            try box.accept(first, [reports[66]])
            try box.outbox.end(first, owner: box.owner)
            let others = reports.filter { $0 != reports[66] }
            let second = try box.begin("third", others)
            for report in others { #expect(try box.state(report) == .leased) }
            try box.accept(second, others)
            try box.outbox.end(second, owner: box.owner)
            #expect(try box.queries.account().rows == [.delivered: 70])
        }
    }
}
