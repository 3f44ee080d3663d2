import LectureFormats
import LectureModel
import LectureStatistics
import LectureTestSupport

/// Makes rows with every kind of text that a cell or a line can contain.
struct RecordMaker {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// Characters with a meaning in CSV, JSON, a spreadsheet or a terminal.
    private static let hard: [Unicode.Scalar] = [
        "\"", "'", ",", ";", "\n", "\r", "\t", "\0", "\u{1}", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}", "\u{FEFF}",
        "=", "+", "-", "@", "\\", "/", " ", "{", "}", "e", "\u{301}", "é", "한", "🎓", "\u{10FFFF}", "\u{FFFF}", "1",
    ]

    mutating func text(upTo length: Int = 12) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...length, using: &generator) {
            if Bool.random(using: &generator) {
                text.append(Self.hard[Int.random(in: 0..<Self.hard.count, using: &generator)])
            } else {
                text.append(Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &generator)) ?? "x")
            }
        }
        return String(text)
    }

    mutating func value(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<(depth < 4 ? 8 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &generator))
        case 3: return JSONNumber("-0.10e+2").map { .number($0) } ?? .null
        case 6: return .array((0..<count()).map { _ in value(depth: depth + 1) })
        case 7:
            // A numeric prefix keeps the names distinct.
            return .object((0..<count()).map { JSONMember("\($0)\(text())", value(depth: depth + 1)) })
        default: return .string(text())
        }
    }

    mutating func record() -> ReportRecord {
        var record = ReportRecord(
            id: "x" + text(), content: text(), user: text(), session: text(), sequence: integer(),
            wall: Timestamp(milliseconds: integer()), values: value(),
            state: ReportState.allCases.randomElement(using: &generator) ?? .pending,
            attempts: Int64.random(in: 0...Int64.max, using: &generator))
        record.course = optional { $0.text() }
        record.boot = optional { BootInstant(nanoseconds: $0.integer()) }
        record.bootID = optional { $0.text() }
        record.corrected = optional { Timestamp(milliseconds: $0.integer()) }
        record.reason = optional { $0.text() }
        record.note = optional { $0.text() }
        record.target = optional { maker in
            ReportRecord.Target(
                url: maker.text(), method: maker.text(), format: .kollus,
                parameters: (0..<maker.count()).map {
                    ReportRecord.Target.Parameter(name: "\($0)\(maker.text())", template: maker.text())
                })
        }
        return record
    }

    private mutating func count() -> Int { Int.random(in: 0...3, using: &generator) }

    private mutating func integer() -> Int64 { Int64.random(in: .min ... .max, using: &generator) }

    private mutating func optional<Value>(_ make: (inout Self) -> Value) -> Value? {
        Bool.random(using: &generator) ? make(&self) : nil
    }
}

/// A hash sufficient for tests: four parts of FNV-1a, 32 bytes.
func testHash(_ bytes: [UInt8]) -> [UInt8] {
    (0..<4).flatMap { part in
        var state: UInt64 = 0xCBF2_9CE4_8422_2325 &+ UInt64(part) &* 0x9E37_79B9_7F4A_7C15
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: state >> ($0 * 8)) }
    }
}

/// A running digest of its whole input.
func testDigest() -> ExportDigest {
    var seen: [UInt8] = []
    return ExportDigest(update: { seen.append(contentsOf: $0) }, finish: { () throws(LectureError) in testHash(seen) })
}

/// The bytes of a whole export.
func export(_ records: [ReportRecord], _ writer: some ReportWriter) throws -> [UInt8] {
    var writer = writer
    var file: [UInt8] = []
    var buffer: [UInt8] = []
    for record in records {
        writer.append(record, to: &buffer)
        file += buffer
        buffer.removeAll(keepingCapacity: true)
    }
    try writer.finish(into: &buffer)
    return file + buffer
}

extension [ImportEvent] {
    /// The rows alone.
    var records: [ReportRecord] {
        compactMap { if case .report(_, let record) = $0 { record } else { nil } }
    }

    /// The lines of the faults.
    var faultLines: [Int] {
        compactMap { if case .fault(let line, _) = $0 { line } else { nil } }
    }
}

/// Compares by bytes: `String` equality ignores normalisation, and two exports must not differ in it.
func isSame(_ left: [ReportRecord], _ right: [ReportRecord]) -> Bool {
    func bytes(_ records: [ReportRecord]) -> [[UInt8]] {
        records.map { record in
            var writer = JSONWriter()
            record.write(to: &writer)
            return writer.bytes
        }
    }
    return left == right && bytes(left) == bytes(right)
}
