import Foundation
import LectureFormats
import LectureKit
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// Reports are exported as files that other programs read.
@Suite struct ReportExportTests {
    @Test func `JSON Lines are imported as exported, into another store too`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        let bytes = try await shelf.exported(.jsonLines)
        #expect(try ReportShelf.records(bytes) == records)
        let other = try ReportShelf()
        let (result, refused) = try await other.imported(try other.directory.write(bytes, to: "x"))
        #expect(result.stored == records.count && result.damage == nil && refused.isEmpty)
        #expect(try await other.exported(.jsonLines) == bytes)
    }

    @Test func `the summary counts the states and names the digest of the lines before it`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let path = shelf.directory.file("out.jsonl")
        let result = try await shelf.manager.reports.export(to: .file(path, mayReplace: false))
        let script = "head -n -1 \"$0\" | sha256sum | cut -c-64; tail -n 1 \"$0\""
        let lines = try await ChildProcess.run("/bin/bash", ["-euc", script, path]).text.split(separator: "\n")
        let summary = try JSONScanner.value(of: String(try #require(lines.last)))
        #expect(summary["digest"]?.string == lines.first.map(String.init))
        #expect(summary["reports"]?.integer == Int64(result.reports))
        for state in ReportState.allCases {
            #expect(summary["states"]?[state.name]?.integer == Int64(result.states[state] ?? 0))
        }
    }

    private static let names = [
        ("out.csv.gz", "gzip"), ("out.csv.zst", "zstd"), ("out.jsonl.gz", "gzip"), ("out.xapi.zst", "zstd"),
    ]

    @Test(arguments: names)
    func `the file name determines the compression`(name: String, program: String) async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let path = shelf.directory.file(name)
        let format = ReportExportFormat(path: path) ?? .xapi
        _ = try await shelf.manager.reports.export(to: .file(path, mayReplace: false), format: format)
        let ending = try await ChildProcess.run(try Places.command(program), ["-dc", path])
        #expect(ending.status == 0)
        #expect(Array(ending.output) == (try await shelf.exported(format)))
    }

    @Test func `Python reads the CSV, and no cell is a formula`() async throws {
        let shelf = try ReportShelf()
        let records = ReportShelf.records()
        try await shelf.fill(records)
        let path = shelf.directory.file("out.csv")
        _ = try await shelf.manager.reports.export(to: .file(path, mayReplace: false), format: .csv)
        let script = """
            import csv, json, re, sys
            csv.field_size_limit(1 << 24)
            with open(sys.argv[1], newline='', encoding='utf-8') as file:
                for row in csv.DictReader(file, strict=True):
                    for name, cell in row.items():
                        assert name in ('seq', 'wall_ms') or not re.match('[=+@\\t\\r\\n＝＋－＠-]', cell), (name, cell)
                    text = lambda cell: cell[1:] if re.match("'+[=+@\\t\\r\\n＝＋－＠-]", cell) else cell
                    print(json.dumps([row['id'], text(row['user']), text(row['session']), json.loads(row['values'])]))
            """
        let ending = try await ChildProcess.run(try Places.command("python3"), ["-c", script, path])
        #expect(ending.status == 0, "\(ending.errorText)")
        let rows = try ending.text.split(separator: "\n").map { try JSONScanner.value(of: String($0)) }
        let due = records.map { record in
            JSONValue.array([.string(record.id), .string(record.user), .string(record.session), record.values])
        }
        #expect(rows == due)
    }

    @Test func `CSV is imported as exported`() async throws {
        let (shelf, other, records) = (try ReportShelf(), try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        let path = shelf.directory.file("out.csv.gz")
        _ = try await shelf.manager.reports.export(to: .file(path, mayReplace: false), format: .csv)
        let (result, refused) = try await other.imported(path)
        #expect(result.stored == records.count && refused.isEmpty)
        #expect(try ReportShelf.records(try await other.exported(.jsonLines)) == records)
    }

    @Test func `xAPI is an array with one statement per report`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        let statements = try #require(
            try JSONScanner.value(
                of: try await shelf.exported(.xapi), limits: JSONScanner.Limits(depth: 40, items: 1_000_000)
            ).elements)
        #expect(statements.map { $0["actor"]?["account"]?["name"]?.string } == records.map(\.user))
        #expect(Set(statements.compactMap { $0["id"]?.string }).count == records.count)
        #expect(
            statements.allSatisfy {
                $0["verb"]?["id"]?.string?.hasPrefix("http") == true && $0["object"]?["id"]?.string != nil
            })
    }

    @Test func `every rule of a filter has to match`() async throws {
        let (shelf, records) = (try ReportShelf(), ReportShelf.records())
        try await shelf.fill(records)
        var filter = ReportExportFilter()
        filter.since = Timestamp(milliseconds: 1_700_000_002_000)
        filter.until = Timestamp(milliseconds: 1_700_000_009_000)
        (filter.states, filter.course) = ([.dead, .pending], "Algebra, \"1\"")
        func due(_ filter: ReportExportFilter) -> [ReportRecord] {
            records.filter { record in
                (filter.since.map { record.time >= $0 } ?? true) && (filter.until.map { record.time < $0 } ?? true)
                    && (filter.states.isEmpty || filter.states.contains(record.state))
                    && (filter.course.map { $0.utf8.elementsEqual((record.course ?? "").utf8) } ?? true)
                    && (filter.user.map { $0.utf8.elementsEqual(record.user.utf8) } ?? true)
            }
        }
        #expect(!due(filter).isEmpty)
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines, filter)) == due(filter))
        filter = ReportExportFilter()
        filter.user = "é"
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines, filter)).isEmpty)
        filter.user = "=1+2"
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines, filter)) == due(filter))
        #expect(due(filter).count == 5)
    }

    @Test(arguments: ReportExportFormat.allCases)
    func `under a key no learner is named, and the same learner has the same pseudonym`(
        format: ReportExportFormat
    ) async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let key = try PseudonymKey(file: try shelf.key("sixteen bytes ok"))
        let bytes = try await shelf.exported(format, key: key)
        #expect(try await shelf.exported(format, key: key) == bytes)
        let other = try PseudonymKey(file: try shelf.key("another one of 16", "other"))
        #expect(try await shelf.exported(format, key: other) != bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        // Shorter ids, and those that are JSON literals, also occur in texts that name no learner.
        for learner in ReportShelf.learners where learner.utf8.count >= 4 && learner != "null" {
            for spelling in LearnerSpelling.all(of: learner) {
                #expect(text.range(of: String(decoding: spelling, as: UTF8.self)) == nil, "\(learner)")
            }
        }
        guard format == .jsonLines else { return }
        let pseudonyms = try ReportShelf.records(bytes).map(\.user)
        let learners = ReportShelf.records().map(\.user)
        #expect(Set(pseudonyms).count == Set(learners.map { Array($0.utf8) }).count)
        #expect(pseudonyms.allSatisfy { $0.wholeMatch(of: /p-[0-9a-f]{32}/) != nil })
        for (left, right) in zip(pseudonyms, learners) {
            let same = zip(pseudonyms, learners).filter { $0.0 == left }.map { Array($0.1.utf8) }
            #expect(Set(same) == [Array(right.utf8)])
        }
    }

    @Test func `a short key, or one that other users may read, is refused`() throws {
        let shelf = try ReportShelf()
        #expect(throws: LectureError(.parameter)) { try PseudonymKey(file: try shelf.key("fifteen bytes !")) }
        let open = try shelf.directory.write("sixteen bytes ok", to: "open")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        #expect(throws: LectureError(.secretReadable)) { try PseudonymKey(file: open) }
        #expect(throws: LectureError(.readFile)) { try PseudonymKey(file: shelf.directory.file("missing")) }
    }

    @Test func `an existing file stays until the export is complete`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let path = try shelf.directory.write("old", to: "out.csv")
        await #expect(throws: LectureError(.outputExists)) {
            try await shelf.manager.reports.export(to: .file(path, mayReplace: false), format: .csv)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
        _ = try await shelf.manager.reports.export(to: .file(path, mayReplace: true), format: .csv)
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == (try await shelf.exported(.csv)))
    }

    @Test func `a cancelled task leaves no file`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        let path = shelf.directory.file("out.jsonl")
        let manager = shelf.manager
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await manager.reports.export(to: .file(path, mayReplace: false))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `an error of a stream ends the export`() async throws {
        let shelf = try ReportShelf()
        try await shelf.fill()
        await #expect(throws: LectureError(.storageFull)) {
            try await shelf.manager.reports.export(to: .stream { _ in throw LectureError(.storageFull) })
        }
    }

    @Test func `an empty store gives an empty but complete export`() async throws {
        let shelf = try ReportShelf()
        #expect(try ReportShelf.records(try await shelf.exported(.jsonLines)).isEmpty)
        let header = CSVWriter.columns.joined(separator: ",") + "\r\n"
        #expect(try await shelf.exported(.csv) == Array(header.utf8))
        #expect(try await shelf.exported(.xapi) == Array("[]\n".utf8))
    }

    @Test func `earlier reports are exported once, even if others are added meanwhile`() async throws {
        let shelf = try ReportShelf()
        let before = (0..<3000).map { Self.plain("before-\($0)") }
        try await shelf.fill(before)
        let more = try shelf.file((0..<3000).map { Self.plain("meanwhile-\($0)") }, "more.jsonl")
        let other = try LectureManager(LectureConfiguration(storeDirectory: shelf.directory.file("store")))
        async let adding = other.reports.import(from: more) { _ in }
        let ids = try ReportShelf.records(try await shelf.exported(.jsonLines)).map(\.id)
        #expect(try await adding.stored == 3000)
        await other.close()
        #expect(ids.filter { $0.hasPrefix("before") } == before.map(\.id))
        #expect(Set(ids).count == ids.count)
    }

    private static func plain(_ id: String) -> ReportRecord {
        ReportRecord(
            id: id, content: "c", user: "u", session: "s", sequence: 1,
            wall: Timestamp(milliseconds: 1_700_000_000_000))
    }
}
