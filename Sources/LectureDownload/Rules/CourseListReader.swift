import LectureFormats
package import LectureModel

/// Reads a course list incrementally, in constant memory.
///
/// ```swift
/// var reader = CourseListReader(format: .jsonLines)
/// while let chunk = try file.read() { for item in reader.read(chunk[...]) { … } }
/// for item in reader.finish() { … }
/// ```
///
/// A line that cannot be read becomes an issue, and reading continues. In CSV a quote that is never closed swallows
/// what follows up to the line limit; then the reader resumes after the next line end.
package struct CourseListReader {
    /// The format of the list.
    package enum Format: Hashable, Sendable, CaseIterable {
        /// One JSON object a line.
        case jsonLines
        /// Comma-separated values with a header row (RFC 4180).
        case csv
        /// One URL a line; `#` starts a comment line.
        case text

        /// The format a file name's extension stands for.
        ///
        /// - Parameter path: a path or a name.
        package init?(path: String) {
            switch path.split(separator: ".").last.map({ FieldText.lowercased($0) }) {
            case "jsonl": self = .jsonLines
            case "csv": self = .csv
            case "txt": self = .text
            default: return nil
            }
        }
    }

    /// What a line is.
    package enum Item: Sendable {
        /// A lecture, and the number of the line where it starts, from 1.
        case entry(CourseEntry, line: Int)
        /// What is wrong with a line; `.courseLine`, or `.courseList` when nothing of the list can be read.
        case issue(LectureError, line: Int)
        /// An unknown member or column, which is ignored. Reported once per list.
        case unknown(String, line: Int)
    }

    /// The most unknown names that are remembered, to bound the memory a hostile list can take.
    private static let mostUnknown = 100

    /// The longest line, or CSV record, in bytes.
    package static let lineLimit = 256 * 1024

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private let format: Format
    private var record: [UInt8] = []
    private var isTooLong = false
    /// Only CSV has quotes; inside them a line end belongs to the cell.
    private var isQuoted = false
    private var line = 1
    private var firstLine = 1
    private var isFirstRecord = true
    private var columns: [String]?
    private var isUnusable = false
    private var unknown: Set<String> = []

    /// Makes a reader.
    ///
    /// - Parameter format: the format of the list.
    package init(format: Format) { self.format = format }

    /// Takes the next bytes.
    ///
    /// - Parameter chunk: bytes, cut anywhere.
    /// - Returns: the lines that ended in them.
    package mutating func read(_ chunk: ArraySlice<UInt8>) -> [Item] {
        var items: [Item] = []
        if format == .csv {
            for byte in chunk { take(byte, &items) }
            return items
        }
        // Without quotes a line ends at its line end, and what is before that is copied at once.
        var rest = chunk
        while let end = rest.firstIndex(of: 0x0A) {
            append(rest[..<end])
            line += 1
            endRecord(&items)
            rest = rest[(end + 1)...]
        }
        append(rest)
        return items
    }

    /// Takes a byte of a format with quotes.
    private mutating func take(_ byte: UInt8, _ items: inout [Item]) {
        if byte == UInt8(ascii: "\"") { isQuoted = !isQuoted && opensQuote }
        if byte == 0x0A {
            line += 1
            if !isQuoted { return endRecord(&items) }
        }
        append(CollectionOfOne(byte))
    }

    /// Takes the end of the list; the last line may lack its line end.
    ///
    /// - Returns: the last lines.
    package mutating func finish() -> [Item] {
        var items: [Item] = []
        if isQuoted {
            issue("a quote is not closed", &items)
            reset()
        } else if !record.isEmpty || isTooLong {
            endRecord(&items)
        }
        if format == .csv, columns == nil, !isUnusable { unusable("the header row is missing", line: 1, &items) }
        return items
    }

    // MARK: Records

    /// A quote opens only at the start of a cell, so that a stray one (`5" disk`) spoils no other line; after a quote
    /// the quoted text continues, since two quotes stand for one.
    private var opensQuote: Bool {
        switch record.last {
        case nil, UInt8(ascii: ","), UInt8(ascii: "\""): true
        default: isFirstRecord && record == Self.byteOrderMark
        }
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        let space = Self.lineLimit - record.count
        record.append(contentsOf: bytes.prefix(space))
        if bytes.count > space {
            isTooLong = true
            isQuoted = false
        }
    }

    private mutating func reset() {
        record.removeAll(keepingCapacity: true)
        isTooLong = false
        isQuoted = false
        firstLine = line
        isFirstRecord = false
    }

    private mutating func endRecord(_ items: inout [Item]) {
        defer { reset() }
        if isUnusable { return }
        if isTooLong { return issue("longer than \(Self.lineLimit) bytes", &items) }
        if record.last == 0x0D { record.removeLast() }
        // Spreadsheets write a byte order mark; in JSON it is an error (RFC 8259 section 8.1) and stays one.
        if isFirstRecord, format != .jsonLines, record.starts(with: Self.byteOrderMark) { record.removeFirst(3) }
        guard let text = String(validating: record, as: UTF8.self) else { return issue("not UTF-8", &items) }
        if FieldText.trimmed(text).isEmpty { return }
        do throws(LectureError) {
            guard let entry = try entry(text) else { return name(unknownColumns, &items) }
            name(entry.unknown, &items)
            items.append(.entry(entry, line: firstLine))
        } catch {
            switch error.code {
            case .courseList: unusable(error.detail, line: firstLine, &items)
            case .courseLine, .json: issue(error.detail, cause: error.cause, &items)
            case .headerReserved:
                let named = LectureError(.headerReserved, detail: "line \(firstLine): \(error.detail)")
                items.append(.issue(named, line: firstLine))
            default: issue(error.detail, cause: error.code.summary, &items)
            }
        }
    }

    /// The unknown columns, for the header row; later lines have no others.
    private var unknownColumns: [String] { (columns ?? []).filter { !CourseEntry.memberNames.contains($0) } }

    private mutating func name(_ names: [String], _ items: inout [Item]) {
        for name in names where unknown.count < Self.mostUnknown && unknown.insert(name).inserted {
            items.append(.unknown(name, line: firstLine))
        }
    }

    private mutating func entry(_ text: String) throws(LectureError) -> CourseEntry? {
        switch format {
        case .jsonLines: return try CourseEntry(JSONScanner.value(of: record))
        case .text:
            let url = String(FieldText.trimmed(text))
            return url.utf8.first == UInt8(ascii: "#") ? nil : try CourseEntry(url: url)
        case .csv:
            let cells = try CSVRecord.cells(record)
            guard let columns else {
                self.columns = try Self.columns(cells)
                return nil
            }
            guard cells.count == columns.count else {
                throw LectureError(.courseLine, detail: "\(cells.count) cells, the header row has \(columns.count)")
            }
            return try CourseEntry(cells: Dictionary(zip(columns, cells)) { first, _ in first })
        }
    }

    private static func columns(_ cells: [String]) throws(LectureError) -> [String] {
        let names = cells.map { FieldText.lowercased(FieldText.trimmed($0)) }
        if !names.contains("url") { throw LectureError(.courseList, detail: "the header row has no column 'url'") }
        if Set(names).count != names.count {
            throw LectureError(.courseList, detail: "a column appears twice in the header row")
        }
        return names
    }

    private func issue(_ what: String, cause: String = "", _ items: inout [Item]) {
        let error = LectureError(.courseLine, detail: "line \(firstLine): \(what)", cause: cause)
        items.append(.issue(error, line: firstLine))
    }

    private mutating func unusable(_ what: String, line: Int, _ items: inout [Item]) {
        isUnusable = true
        items.append(.issue(LectureError(.courseList, detail: "line \(line): \(what)"), line: line))
    }
}

/// One record of RFC 4180.
private enum CSVRecord {
    /// Splits a record into its cells; a cell is quoted as a whole or not at all.
    static func cells(_ bytes: [UInt8]) throws(LectureError) -> [String] {
        var cells: [String] = []
        var position = 0
        while true {
            var cell: [UInt8] = []
            if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
                position = try quoted(bytes, from: position + 1, into: &cell)
            } else {
                let rest = bytes[position...]
                cell = Array(rest.prefix { $0 != UInt8(ascii: ",") })
                if cell.contains(UInt8(ascii: "\"")) {
                    throw LectureError(
                        .courseLine, detail: "a quote inside cell \(cells.count + 1), which is not quoted")
                }
                position += cell.count
            }
            cells.append(String(decoding: cell, as: UTF8.self))
            if position == bytes.count { return cells }
            guard bytes[position] == UInt8(ascii: ",") else {
                throw LectureError(.courseLine, detail: "text after the closing quote of cell \(cells.count)")
            }
            position += 1
        }
    }

    /// Reads up to the closing quote, where two quotes stand for one, and returns the position after it.
    private static func quoted(_ bytes: [UInt8], from start: Int, into cell: inout [UInt8]) throws(LectureError) -> Int
    {
        var position = start
        while position < bytes.count {
            if bytes[position] != UInt8(ascii: "\"") {
                cell.append(bytes[position])
                position += 1
            } else if position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "\"") {
                cell.append(UInt8(ascii: "\""))
                position += 2
            } else {
                return position + 1
            }
        }
        throw LectureError(.courseLine, detail: "a quote is not closed")
    }
}
