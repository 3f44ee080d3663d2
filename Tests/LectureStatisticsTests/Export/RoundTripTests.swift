import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport
import Testing

/// Exported reports are read back unchanged, in every format that can be read back.
@Suite struct RoundTripTests {
    private static func records(seed: UInt64, count: Int = 40) -> [ReportRecord] {
        var maker = RecordMaker(seed: seed)
        return (0..<count).map { _ in maker.record() }
    }

    /// Feeds a file in pieces of random lengths.
    private static func pieces(_ file: [UInt8], seed: UInt64) -> [ArraySlice<UInt8>] {
        var generator = SeededGenerator(seed: seed)
        var pieces: [ArraySlice<UInt8>] = []
        var rest = file[...]
        while !rest.isEmpty {
            let length = Int.random(in: 1...60, using: &generator)
            pieces.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return pieces
    }

    private static func readLines(_ pieces: [ArraySlice<UInt8>]) -> (events: [ImportEvent], isWhole: Bool) {
        var reader = ImportReader(makeDigest: testDigest)
        var events: [ImportEvent] = []
        for piece in pieces { events += reader.feed(piece) }
        events += reader.finish()
        return (events, reader.isWhole)
    }

    private static func readCSV(_ pieces: [ArraySlice<UInt8>]) -> [ImportEvent] {
        var reader = CSVImportReader()
        var events: [ImportEvent] = []
        for piece in pieces { events += reader.feed(piece) }
        return events + reader.finish()
    }

    @Test(arguments: 0..<25) func `JSON Lines restore every row`(seed: Int) throws {
        let records = Self.records(seed: UInt64(seed))
        let file = try export(records, JSONLinesWriter(digest: testDigest()))
        let (events, isWhole) = Self.readLines(Self.pieces(file, seed: UInt64(seed)))
        #expect(isSame(events.records, records))
        #expect(events.last == .summary(line: records.count + 1, reports: records.count))
        #expect(events.count == records.count + 1)
        #expect(isWhole)
        #expect(file.filter { $0 == 0x0A }.count == records.count + 1)
        #expect(file.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
    }

    @Test(arguments: 0..<25) func `CSV restores every row`(seed: Int) throws {
        let records = Self.records(seed: UInt64(seed) + 1000)
        let file = try export(records, CSVWriter())
        let events = Self.readCSV(Self.pieces(file, seed: UInt64(seed)))
        #expect(isSame(events.records, records))
        #expect(events.count == records.count)
    }

    @Test func `equal rows give equal bytes`() throws {
        let statement = XAPIStatement(
            homePage: "https://a.example", activityPrefix: "https://b.example/", hash: testHash)
        for seed in UInt64(0)..<5 {
            let (left, right) = (Self.records(seed: seed), Self.records(seed: seed))
            #expect(try export(left, JSONLinesWriter()) == export(right, JSONLinesWriter()))
            #expect(try export(left, CSVWriter()) == export(right, CSVWriter()))
            #expect(try export(left, XAPIWriter(statement)) == export(right, XAPIWriter(statement)))
        }
    }

    @Test(arguments: ["\"", "=\n한"]) func `a text of a mebibyte is restored`(piece: String) throws {
        let text = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        let record = ReportRecord(
            id: "1", content: "c", user: "u", session: "s", sequence: 1, wall: Timestamp(milliseconds: 1),
            values: .object([JSONMember("v", .string(text))]))
        let lines = try export([record], JSONLinesWriter())
        #expect(isSame(Self.readLines([lines[...]]).events.records, [record]))
        let table = try export([record], CSVWriter())
        #expect(isSame(Self.readCSV([table[...]]).records, [record]))
    }

    @Test func `a row as deep as the scanner permits is restored`() throws {
        let text = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        let record = ReportRecord(
            id: "1", content: "c", user: "u", session: "s", sequence: 1, wall: Timestamp(milliseconds: 1),
            values: try JSONScanner.value(of: text))
        let lines = try export([record], JSONLinesWriter())
        #expect(isSame(Self.readLines([lines[...]]).events.records, [record]))
        let table = try export([record], CSVWriter())
        #expect(isSame(Self.readCSV([table[...]]).records, [record]))
    }

    // MARK: JSON Lines

    private static let line =
        #"{"id":"1","content":"c","user":"u","session":"s","seq":1,"wall_ms":5,"state":"dead","attempts":0,"#
        + #""values":{}}"#

    /// One line each, and whether it is a row.
    private static let lines: [(String, Bool)] = [
        (line, true),
        (line.replacing("{\"id\"", with: "{\"new\":[1],\"id\""), true),
        (line.replacing(":5,", with: ":5,\"course\":null,"), true),
        (line + "\r", true),
        (line.replacing("\"1\"", with: "\"\""), false),
        (line.replacing("\"1\"", with: "1"), false),
        (line.replacing("\"dead\"", with: "\"lost\""), false),
        (line.replacing("\"attempts\":0", with: "\"attempts\":-1"), false),
        (line.replacing(":5,", with: ":5.5,"), false),
        (line.replacing(",\"values\":{}", with: ""), false),
        (line.replacing("\"user\":\"u\",", with: ""), false),
        (line.replacing("{}}", with: "{},\"target\":{\"url\":\"u\",\"method\":\"GET\",\"format\":\"x\"}}"), false),
        (line.replacing("{}}", with: "{},\"record\":\"licence\"}"), false),
        (String(line.dropLast()), false),
        ("\"half \\ud800\"", false),
        ("\u{FF}", false),
        ("[]", false),
    ]

    @Test func `a bad line is reported with its number and affects no other`() {
        var text = ""
        for (line, _) in Self.lines { text += "\(Self.line)\n\n\(line)\n" }
        let (events, isWhole) = Self.readLines([Array(text.utf8)[...]])
        let bad = Self.lines.indices.filter { !Self.lines[$0].1 }
        #expect(events.faultLines == bad.map { $0 * 3 + 3 })
        #expect(events.records.count == Self.lines.count * 2 - bad.count)
        #expect(!isWhole)
        for case .fault(let line, let error) in events { #expect(error.detail == "line \(line)") }
    }

    @Test func `a line that is too long is skipped`() {
        var reader = ImportReader(limit: 200)
        let long = String(repeating: "x", count: 1000)
        let text = "\(Self.line)\n\(long)\n\(Self.line)\n\(long)"
        var events: [ImportEvent] = []
        for byte in text.utf8 { events += reader.feed([byte]) }
        events += reader.finish()
        #expect(events.records.count == 2)
        #expect(events.faultLines == [2, 4])
    }

    @Test func `a lost, added or changed line is detected by the summary`() throws {
        let file = try export(Self.records(seed: 7, count: 3), JSONLinesWriter(digest: testDigest()))
        let lines = file.split(separator: 0x0A).map { Array($0) + [0x0A] }
        func faults(_ lines: [[UInt8]]) -> [Int] { Self.readLines([lines.flatMap(\.self)[...]]).events.faultLines }
        #expect(faults(lines) == [])
        #expect(faults(lines + lines) == [])
        #expect(faults([lines[0], lines[2], lines[3]]) == [3])
        #expect(faults([lines[0], lines[1], lines[1], lines[2], lines[3]]) == [5])
        #expect(faults([lines[1], lines[0], lines[2], lines[3]]) == [4])
        #expect(!Self.readLines([lines.dropLast().flatMap(\.self)[...]]).isWhole)
        #expect(Self.readLines([]).isWhole)
    }

    @Test func `the summary counts every state`() throws {
        let records = Self.records(seed: 3, count: 200)
        let file = try export(records, JSONLinesWriter())
        let summary = try JSONScanner.value(of: Array(try #require(file.split(separator: 0x0A).last)))
        #expect(summary["reports"]?.integer == 200)
        #expect(summary["digest"] == nil)
        for state in ReportState.names {
            #expect(summary["states"]?[state]?.integer == Int64(records.count { $0.state.name == state }))
        }
        #expect(summary["states"]?.members?.map(\.name) == ReportState.names)
    }

    // MARK: CSV

    /// A text and its cell.
    private static let cells: [(String, String)] = [
        ("plain", "plain"), ("", "\"\""), ("=1", "'=1"), ("+1", "'+1"), ("-1", "'-1"), ("@a", "'@a"),
        ("\ta", "\"'\ta\""),
        ("\ra", "\"'\ra\""), ("'=1", "''=1"), ("'a", "'a"), ("''", "''"), ("a=1", "a=1"), ("a,b", "\"a,b\""),
        ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), (" a", "\" a\""), ("=\"x\"", "\"'=\"\"x\"\"\""), ("1", "1"),
        ("\na", "\"'\na\""), ("＝1", "'＝1"), ("＋1", "'＋1"), ("－1", "'－1"), ("＠a", "'＠a"), ("'＝1", "''＝1"),
        ("！a", "！a"), ("a＝1", "a＝1"), (";=1", "\";=1\""), ("a;b", "\"a;b\""), ("a|b", "\"a|b\""), ("a\tb", "\"a\tb\""),
    ]

    @Test(arguments: cells) func `a cell is safe and exact`(text: String, cell: String) throws {
        var record = ReportRecord(
            id: "1", content: "c", user: text, session: "s", sequence: -5, wall: Timestamp(milliseconds: -7))
        record.course = "m"
        let file = try export([record], CSVWriter())
        let due =
            CSVWriter.columns.joined(separator: ",") + "\r\n"
            + "1,c,m,\(cell),s,-5,-7,,,,pending,0,,,,,,,{}\r\n"
        #expect(Array(due.utf8) == file)
        #expect(isSame(Self.readCSV([file[...]]).records, [record]))
    }

    @Test func `a bad row is reported with its line and affects no other`() throws {
        let record = ReportRecord(
            id: "1", content: "a\nb", user: "u", session: "s", sequence: 1, wall: Timestamp(milliseconds: 1))
        let lines = String(decoding: try export([record], CSVWriter()), as: UTF8.self).split(separator: "\r\n")
        let (header, good) = (lines[0], lines[1])
        let bad = [
            good.replacing("\"a\nb\"", with: "\"a\nb\"c"), good.replacing(",u,", with: ",u\"v,"),
            good.replacing(",u,", with: ",u\rv,"), good.replacing(",u,", with: ",,"), good.replacing(",u,", with: ","),
            good.replacing(",pending,", with: ",lost,"), good.replacing("{}", with: "{"),
            good.replacing(",1,1,", with: ",1,x,"),
        ]
        let pairs = bad.map { "\($0)\r\n\(good)\r\n\r\n" }.joined()
        let text = "\(header)\n\(pairs)\"open"
        let events = Self.readCSV([Array(text.utf8)[...]])
        // A row has two lines, and an empty one follows each pair.
        #expect(events.faultLines == (0...bad.count).map { $0 * 5 + 2 })
        #expect(isSame(events.records, bad.map { _ in record }))
    }

    @Test func `columns may come in any order`() {
        let text =
            "\u{FEFF}values,attempts,state,wall_ms,seq,session,user,content,id,mine\r\n{},0,dead,5,1,s,u,c,1,x\r\n"
        let events = Self.readCSV([Array(text.utf8)[...]])
        #expect(events.records.map(\.state) == [.dead])
        #expect(events.faultLines == [])
        #expect(Self.readCSV([Array("id,id\r\n1,1\r\n".utf8)[...]]).faultLines == [1, 2])
    }

    @Test func `an empty export is complete`() throws {
        #expect(try export([], CSVWriter()) == Array((CSVWriter.columns.joined(separator: ",") + "\r\n").utf8))
        let lines = try export([], JSONLinesWriter())
        #expect(Self.readLines([lines[...]]).events == [.summary(line: 1, reports: 0)])
        let statement = XAPIStatement(
            homePage: "https://a.example", activityPrefix: "https://b.example/", hash: testHash)
        #expect(try JSONScanner.value(of: export([], XAPIWriter(statement))) == .array([]))
    }
}
