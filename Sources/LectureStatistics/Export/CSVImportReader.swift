import LectureFormats
import LectureModel

/// Reads a CSV export incrementally; columns are found by name, in any order.
///
/// A row that cannot be read is a fault with the number of its first line and does not affect other rows. CSV has no
/// summary line, so a file that was cut off between two rows cannot be detected.
package struct CSVImportReader {
    private var rows: CSVRows
    private var columns: [String: Int]?

    /// Makes a reader.
    ///
    /// - Parameter limit: how many bytes a row may have.
    package init(limit: Int = ImportReader.lineLimit) { rows = CSVRows(limit: limit) }

    /// Takes the next bytes.
    ///
    /// - Parameter bytes: the next piece of the file.
    /// - Returns: the contents of the rows that are complete now, in order.
    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [ImportEvent] {
        var events: [ImportEvent] = []
        for row in rows.feed(bytes) { read(row, &events) }
        return events
    }

    /// Takes the end of the file; the last row may lack its line end.
    ///
    /// - Returns: the last row.
    package mutating func finish() -> [ImportEvent] {
        var events: [ImportEvent] = []
        if let row = rows.finish() { read(row, &events) }
        return events
    }

    private mutating func read(_ row: CSVRows.Row, _ events: inout [ImportEvent]) {
        do throws(LectureError) {
            if let fault = row.fault { throw LectureError(.json, detail: fault) }
            guard let columns else { return try readHeader(row) }
            events.append(.report(line: row.line, try RowReader(row.cells, columns).record()))
        } catch {
            let cause = error.cause.isEmpty ? error.detail : "\(error.detail): \(error.cause)"
            events.append(.fault(line: row.line, LectureError(error.code, detail: "line \(row.line)", cause: cause)))
        }
    }

    private mutating func readHeader(_ row: CSVRows.Row) throws(LectureError) {
        var names: [String: Int] = [:]
        for (index, cell) in row.cells.enumerated() {
            guard let cell else { continue }
            // Spreadsheets put a byte order mark before the first name.
            let isMarked = index == 0 && cell.starts(with: [0xEF, 0xBB, 0xBF])
            guard let name = CSVCell.text(isMarked ? Array(cell.dropFirst(3)) : cell) else { continue }
            if names.updateValue(index, forKey: name) != nil {
                throw LectureError(.json, detail: "a column appears twice")
            }
        }
        if names["id"] == nil { throw LectureError(.json, detail: "there is no column 'id'") }
        columns = names
    }
}

/// Reads the cells of one row by the names of their columns.
private struct RowReader {
    let cells: [[UInt8]?]
    let columns: [String: Int]

    init(_ cells: [[UInt8]?], _ columns: [String: Int]) throws(LectureError) {
        if cells.count != columns.count {
            throw LectureError(.json, detail: "\(cells.count) cells instead of \(columns.count)")
        }
        self.cells = cells
        self.columns = columns
    }

    func record() throws(LectureError) -> ReportRecord {
        var record = ReportRecord(
            id: try ReportRecord.due(try text("id"), "id"),
            content: try ReportRecord.due(try text("content"), "content"),
            user: try ReportRecord.due(try text("user"), "user"),
            session: try ReportRecord.due(try text("session"), "session"),
            sequence: try ReportRecord.due(try number("seq"), "seq"),
            wall: Timestamp(milliseconds: try ReportRecord.due(try number("wall_ms"), "wall_ms")),
            values: try ReportRecord.due(try json("values"), "values"),
            state: try ReportRecord.state(try ReportRecord.due(try text("state"), "state")),
            attempts: try ReportRecord.due(try number("attempts"), "attempts"))
        record.course = try text("course")
        record.boot = try number("boot_ns").map { BootInstant(nanoseconds: $0) }
        record.bootID = try text("boot_id")
        record.corrected = try number("corrected_ms").map { Timestamp(milliseconds: $0) }
        record.reason = try text("reason")
        record.note = try text("note")
        if let url = try text("target_url") {
            record.target = ReportRecord.Target(
                url: url, method: try ReportRecord.due(try text("target_method"), "target_method"),
                format: try ReportRecord.Target.format(
                    try ReportRecord.due(try text("target_format"), "target_format")),
                parameters: try ReportRecord.Target.parameters(try json("target_parameters")?.members ?? []))
        }
        try record.check()
        return record
    }

    private func text(_ name: String) throws(LectureError) -> String? {
        guard let index = columns[name], let cell = cells[index] else { return nil }
        guard let text = CSVCell.text(cell) else {
            throw LectureError(.json, detail: "column '\(name)' is not UTF-8")
        }
        return text
    }

    private func number(_ name: String) throws(LectureError) -> Int64? {
        guard let text = try text(name) else { return nil }
        guard let number = Int64(text) else { throw LectureError(.json, detail: "column '\(name)' is not an integer") }
        return number
    }

    private func json(_ name: String) throws(LectureError) -> JSONValue? {
        guard let text = try text(name) else { return nil }
        do throws(LectureError) {
            return try JSONScanner.value(of: text, limits: ImportReader.limits)
        } catch {
            throw LectureError(.json, detail: "column '\(name)'", cause: error.detail)
        }
    }
}
