import Foundation
import LectureArchive
import LectureFormats
import LectureKit
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// Reports are imported from files, however damaged.
@Suite struct ReportImportTests {
    @Test func `a repeated import changes nothing`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        let path = try shelf.file(records)
        _ = try await shelf.imported(path)
        let before = try await shelf.exported(.jsonLines)
        let (result, refused) = try await shelf.imported(path)
        #expect(result.stored == 0 && result.known == records.count && result.refused == 0 && refused.isEmpty)
        #expect(try await shelf.exported(.jsonLines) == before)
    }

    @Test func `an unfinished sending waits again, and the target is kept`() async throws {
        let shelf = try ReportShelf()
        var record = ReportShelf.records()[0]
        record.state = .leased
        try await shelf.fill([record])
        record.state = .pending
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines)) == [record])
        #expect(record.target != nil)
    }

    @Test func `a bad line is named and stops no other`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        let text = try String(contentsOfFile: try shelf.file(records), encoding: .utf8)
        var lines = text.components(separatedBy: "\n")
        lines[2] = "{\"record\":\"report\""
        lines[5] = "{\"record\":\"report\",\"id\":\"\"}"
        lines[7] = "not JSON at all"
        let path = try shelf.directory.write(lines.joined(separator: "\n"), to: "x")
        let (result, refused) = try await shelf.imported(path)
        #expect(result.stored == records.count - 3 && result.refused == 3)
        #expect(refused.map(\.code) == [.reportLine, .reportLine, .reportLine])
        #expect(refused.map(\.detail) == ["\(path), line 3", "\(path), line 6", "\(path), line 8"])
        #expect(!refused.contains { $0.message.contains("kim7") })
    }

    @Test func `a known id with other data is refused, and the stored report stays`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        let before = try await shelf.exported(.jsonLines)
        var changed = records
        changed[4].values = .object([JSONMember("other", .null)])
        let (result, refused) = try await shelf.imported(try shelf.file(changed, "changed"))
        #expect(result.known == records.count - 1 && result.refused == 1)
        #expect(refused.map(\.code) == [.reportConflict] && refused.first?.detail.hasSuffix("changed, line 5") == true)
        #expect(try await shelf.exported(.jsonLines) == before)
    }

    @Test func `a report that the store cannot hold is refused`() async throws {
        let shelf = try ReportShelf()
        var records = Array(ReportShelf.records().prefix(4))
        records[0].user = "a\0b"
        records[1].id = String(repeating: "x", count: 257)
        records[2].values = .array([])
        let (result, refused) = try await shelf.imported(try shelf.file(records))
        #expect(result.stored == 1 && result.refused == 3)
        #expect(refused.map(\.code) == [.reportInvalid, .reportInvalid, .reportInvalid])
        #expect(refused.map(\.cause) == ["member 'user'", "member 'id'", "member 'values'"])
    }

    @Test(arguments: [Compression?.none, .gzip, .zstd])
    func `a file truncated anywhere is reported, and its readable part is stored`(
        compression: Compression?
    ) async throws {
        let shelf = try ReportShelf()
        let records = ReportShelf.records()
        try await shelf.fill(records)
        let plain = try await shelf.exported(.jsonLines)
        let whole = try compression.map { try Compressor.compress(plain, $0) } ?? plain
        for place in [1, 5, whole.count / 4, whole.count / 2, whole.count - 2] {
            let other = try ReportShelf()
            let (result, _) = try await other.imported(try other.directory.write(Array(whole.prefix(place)), to: "cut"))
            #expect(result.damage == LectureError(.exportIncomplete), "cut at \(place)")
            let stored = try ReportShelf.records(try await other.exported(.jsonLines))
            #expect(stored == Array(records.prefix(stored.count)), "cut at \(place)")
            if compression == nil { #expect(stored.count >= plain.prefix(place).count { $0 == 0x0A }) }
        }
    }

    @Test func `removed, changed or reordered lines are detected by the summary`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let text = String(decoding: try await shelf.exported(.jsonLines), as: UTF8.self)
        var lines = text.components(separatedBy: "\n")
        let whole = lines
        lines.remove(at: 3)
        let removed = lines.joined(separator: "\n")
        lines = whole
        lines.swapAt(3, 4)
        let turned = lines.joined(separator: "\n")
        lines = whole
        lines[3] = lines[3].replacingOccurrences(of: "\"seq\":", with: "\"seq\":1")
        for (number, text) in [removed, turned, lines.joined(separator: "\n")].enumerated() {
            let other = try ReportShelf()
            let (result, refused) = try await other.imported(try other.directory.write(text, to: "x"))
            #expect(result.damage == LectureError(.exportIncomplete), "\(number)")
            #expect(refused.isEmpty && result.stored >= whole.count - 3)
        }
    }

    @Test func `concatenated exports are read as one`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        let first = try shelf.file(Array(records.prefix(10)), "a")
        let second = try shelf.file(Array(records.dropFirst(10)), "b")
        let both = try Data(contentsOf: URL(filePath: first)) + Data(contentsOf: URL(filePath: second))
        let (result, refused) = try await shelf.imported(try shelf.directory.write(Array(both), to: "both"))
        #expect(result.stored == records.count && result.damage == nil && refused.isEmpty)
    }

    @Test func `an empty file is not a truncated export, and a missing one is reported`() async throws {
        let shelf = try ReportShelf()
        let (result, _) = try await shelf.imported(try shelf.directory.write("", to: "empty"))
        #expect(result == ReportImportResult())
        await #expect(throws: LectureError(.readFile)) { try await shelf.imported(shelf.directory.file("missing")) }
    }

    @Test func `reports of a MiB go through`() async throws {
        let shelf = try ReportShelf()
        let records = (0..<5).map { number in
            ReportRecord(
                id: "big-\(number)", content: "c", user: "u", session: "s", sequence: Int64(number),
                wall: Timestamp(milliseconds: 1),
                values: .object([JSONMember("t", .string(String(repeating: "\"x", count: 300_000)))]))
        }
        try await shelf.fill(records)
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines)) == records)
    }
}
