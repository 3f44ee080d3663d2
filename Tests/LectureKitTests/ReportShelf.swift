import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// A separate store with reports in it, and its exports and imports.
struct ReportShelf {
    let directory: TemporaryDirectory
    let manager: LectureManager

    init() throws {
        directory = try TemporaryDirectory()
        manager = try LectureManager(LectureConfiguration(storeDirectory: directory.file("store")))
    }

    var database: String { directory.file("store/lecturekit.db") }

    /// Learner ids from the worst case: quotes, line ends, formulas, other directions, everything at once.
    static let learners = [
        "kim7", "a\"b\\c", "line\nbreak\r\nand\ttab", "=1+2", "+82-10", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "'=1",
        "''a", "홍길동 학생", "🎓👩‍🏫", "\u{202E}evil", "a%20b c+d&e=f", "{\"user\":1}", "[]", "null", " space ", "\u{1B}[31m",
        "x,y;z", "한", "＝1+2", "＠SUM(A1)", "\n=1", ";=1", "e\u{301}", "\u{FEFF}bom", String(repeating: "é", count: 256),
    ]

    /// A report of each learner in each state, with every possible member.
    static func records() -> [ReportRecord] {
        var records: [ReportRecord] = []
        for (number, learner) in learners.enumerated() {
            for state in ReportState.allCases where state != .leased {
                var record = ReportRecord(
                    id: "r-\(number)-\(state.name)", content: "lecture-\(number % 3)", user: learner,
                    session: "\(learner)1700000000", sequence: Int64(state.rawValue),
                    wall: Timestamp(milliseconds: 1_700_000_000_000 + Int64(number) * 1000),
                    values: .object([
                        JSONMember("JSON_DATA", .object([JSONMember("client_user_id", .string(learner))])),
                        JSONMember("TEXT", .string("id=\(learner); \u{2028}\u{7F}")), JSONMember("N", .integer(-7)),
                    ]), state: state, attempts: Int64(number))
                if state == .dead { record.reason = "too_large" }
                if number % 2 == 0 { record.course = "Algebra, \"1\"" }
                if number % 3 == 0 {
                    record.boot = BootInstant(nanoseconds: 5_000_000_000)
                    record.bootID = "8d5b7a9e"
                    record.corrected = Timestamp(milliseconds: 1_700_000_500_000)
                    record.note = "=HYPERLINK(\"\(learner)\")"
                }
                if number % 4 == 0 {
                    record.target = ReportRecord.Target(
                        url: "https://lms.example/api?x=1", method: "GET", format: .kollus,
                        parameters: [ReportRecord.Target.Parameter(name: "u", template: "{CLIENT_USER_ID}")])
                }
                records.append(record)
            }
        }
        return records
    }

    /// An export of these reports, made by hand.
    func file(_ records: [ReportRecord], _ name: String = "in.jsonl") throws -> String {
        var (bytes, writer): ([UInt8], JSONLinesWriter) = ([], JSONLinesWriter())
        for record in records { writer.append(record, to: &bytes) }
        try writer.finish(into: &bytes)
        return try directory.write(bytes, to: name)
    }

    /// Imports a file, and returns what was refused.
    func imported(
        _ path: String, _ format: ReportImportFormat? = nil
    ) async throws -> (result: ReportImportResult, refused: [LectureError]) {
        let refused = Guarded<[LectureError]>([])
        let result = try await manager.reports.import(from: path, format: format) { error in
            refused.withLock { $0.append(error) }
        }
        return (result, refused.withLock { $0 })
    }

    func fill(_ records: [ReportRecord] = Self.records()) async throws {
        let (result, refused) = try await imported(try file(records))
        try #require(result.stored == records.count && refused.isEmpty && result.damage == nil, "\(result) \(refused)")
    }

    /// An export as bytes.
    func exported(
        _ format: ReportExportFormat, _ filter: ReportExportFilter = ReportExportFilter(), key: PseudonymKey? = nil
    ) async throws -> [UInt8] {
        let bytes = Guarded<[UInt8]>([])
        let result = try await manager.reports.export(
            to: .stream { piece in bytes.withLock { $0 += piece } }, format: format, filter: filter, pseudonymKey: key)
        #expect(result.bytes == bytes.withLock { $0.count })
        return bytes.withLock { $0 }
    }

    /// The reports of a JSON Lines export, which must be whole.
    static func records(_ bytes: [UInt8]) throws -> [ReportRecord] {
        var reader = ImportReader()
        var records: [ReportRecord] = []
        for event in reader.feed(bytes[...]) + reader.finish() {
            switch event {
            case .report(_, let record): records.append(record)
            case .fault(let line, let error): Issue.record("line \(line): \(error.message)")
            case .summary: break
            }
        }
        #expect(reader.isWhole)
        return records
    }

    /// A key in a file with owner-only permissions.
    func key(_ text: String, _ name: String = "key") throws -> String {
        let path = try directory.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }
}
