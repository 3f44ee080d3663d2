import LectureModel

/// The text of a CSV cell, safe in a spreadsheet.
///
/// A spreadsheet reads a cell that starts with one of `= + - @ TAB CR LF` as a formula, and with a Chinese, Japanese or
/// Korean setting also one that starts with `＝ ＋ － ＠`. Such a text gets a leading apostrophe; so does a text with
/// apostrophes before one of them, so that reading reverses it exactly:
///
/// | text | cell |
/// | --- | --- |
/// | `=1` | `'=1` |
/// | `'=1` | `''=1` |
/// | `'a` | `'a` |
enum CSVCell {
    /// Whether a text needs a leading apostrophe, or a cell's apostrophe must be removed.
    private static func isFormula(_ text: some Sequence<UInt8>) -> Bool {
        var bytes = text.lazy.drop { $0 == UInt8(ascii: "'") }.makeIterator()
        switch bytes.next() {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A, 0x0D: return true
        // The full-width forms U+FF0B, U+FF0D, U+FF1D and U+FF20 are three bytes each.
        case 0xEF:
            return switch (bytes.next(), bytes.next()) {
            case (0xBC, 0x8B), (0xBC, 0x8D), (0xBC, 0x9D), (0xBC, 0xA0): true
            default: false
            }
        default: return false
        }
    }

    /// Appends a text. An empty one is quoted, so that it differs from an absent one; so is one with a character that
    /// separates cells somewhere.
    static func append(_ text: String, to buffer: inout [UInt8]) {
        let utf8 = text.utf8
        let isPlain = utf8.allSatisfy {
            $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: ",") && $0 != 0x0A && $0 != 0x0D
        }
        // Separators of other regions and programs.
        let hasSeparator = utf8.contains { $0 == UInt8(ascii: ";") || $0 == 0x09 || $0 == UInt8(ascii: "|") }
        let isQuoted = !isPlain || hasSeparator || utf8.isEmpty || utf8.first == 0x20 || utf8.last == 0x20
        if isQuoted { buffer.append(UInt8(ascii: "\"")) }
        if isFormula(utf8) { buffer.append(UInt8(ascii: "'")) }
        if isPlain {
            buffer.append(contentsOf: utf8)
        } else {
            for byte in utf8 {
                if byte == UInt8(ascii: "\"") { buffer.append(byte) }
                buffer.append(byte)
            }
        }
        if isQuoted { buffer.append(UInt8(ascii: "\"")) }
    }

    /// The text of a cell; nil when it is not UTF-8.
    static func text(_ cell: [UInt8]) -> String? {
        let isEscaped = cell.first == UInt8(ascii: "'") && isFormula(cell)
        return String(validating: isEscaped ? cell.dropFirst() : cell[...], as: UTF8.self)
    }
}

/// Splits CSV (RFC 4180) into rows incrementally. CRLF and LF end a row.
struct CSVRows {
    /// A row.
    struct Row {
        /// Its first line, from 1.
        var line = 1
        /// Its cells; nil for one that is empty and not quoted.
        var cells: [[UInt8]?] = []
        /// What is wrong with it.
        var fault: String?
    }

    private enum Place {
        case start
        case plain
        case quoted
        case quote
    }

    private let limit: Int
    private var place = Place.start
    private var row = Row()
    private var cell: [UInt8] = []
    private var isQuoted = false
    private var hasReturn = false
    private var size = 0
    private var line = 1

    /// Makes a reader of rows with at most `limit` bytes each.
    init(limit: Int) { self.limit = limit }

    /// Takes the next bytes.
    ///
    /// - Returns: the rows that are complete now; empty lines are skipped.
    mutating func feed(_ bytes: some Sequence<UInt8>) -> [Row] {
        var rows: [Row] = []
        for byte in bytes {
            if byte == 0x0A { line += 1 }
            if place != .quoted, byte == 0x0A {
                if let row = endRow() { rows.append(row) }
            } else {
                take(byte)
            }
        }
        return rows
    }

    /// Ends the text.
    mutating func finish() -> Row? {
        if place == .quoted { fail("a quoted cell does not end") }
        return endRow()
    }

    private mutating func take(_ byte: UInt8) {
        size += 1
        if hasReturn {
            fail("a carriage return that ends no line")
            hasReturn = false
        }
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .quote
        case (.quoted, _): keep(byte)
        case (.quote, UInt8(ascii: "\"")):
            keep(byte)
            place = .quoted
        case (_, UInt8(ascii: ",")): endCell()
        case (_, 0x0D): hasReturn = true
        case (.start, UInt8(ascii: "\"")):
            isQuoted = true
            place = .quoted
        case (.quote, _):
            fail("text after a quoted cell")
            place = .plain
        case (_, UInt8(ascii: "\"")): fail("a quote inside an unquoted cell")
        case (_, _):
            keep(byte)
            place = .plain
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if size > limit { return fail("more than \(limit) bytes") }
        cell.append(byte)
    }

    private mutating func fail(_ fault: String) {
        if row.fault == nil { row.fault = fault }
        cell = []
    }

    private mutating func endCell() {
        // The columns are few; a line of commas must not fill the memory.
        if row.cells.count < 1000 { row.cells.append(cell.isEmpty && !isQuoted ? nil : cell) }
        cell = []
        isQuoted = false
        place = .start
    }

    private mutating func endRow() -> Row? {
        let isEmpty = place == .start && row.cells.isEmpty
        endCell()
        defer {
            row = Row(line: line)
            size = 0
            hasReturn = false
        }
        return isEmpty && row.fault == nil ? nil : row
    }
}
