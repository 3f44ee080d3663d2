package import LectureModel

/// Writes CSV (RFC 4180): a header, CRLF, and cells that no spreadsheet reads as a formula. Numbers stay numbers.
///
/// The columns are frozen; new ones are only added after the last one. `values` and `target_parameters` hold JSON.
/// Nothing between two commas is an absent value, `""` an empty text.
package struct CSVWriter: ReportWriter {
    /// The columns in order.
    package static let columns = [
        "id", "content", "course", "user", "session", "seq", "wall_ms", "boot_ns", "boot_id", "corrected_ms", "state",
        "attempts", "reason", "note", "target_url", "target_method", "target_format", "target_parameters", "values",
    ]

    private var hasHeader = false

    /// Makes a writer.
    package init() {}

    /// Writes one row.
    package mutating func append(_ record: ReportRecord, to buffer: inout [UInt8]) {
        header(to: &buffer)
        var cells = Cells(buffer: buffer)
        buffer = []  // Otherwise the first byte would copy all of it.
        cells.text(record.id)
        cells.text(record.content)
        cells.text(record.course)
        cells.text(record.user)
        cells.text(record.session)
        cells.number(record.sequence)
        cells.number(record.wall.milliseconds)
        cells.number(record.boot?.nanoseconds)
        cells.text(record.bootID)
        cells.number(record.corrected?.milliseconds)
        cells.text(record.state.name)
        cells.number(record.attempts)
        cells.text(record.reason)
        cells.text(record.note)
        cells.text(record.target?.url)
        cells.text(record.target?.method)
        cells.text(record.target?.format.rawValue)
        cells.text(record.target?.parametersJSON.text)
        cells.text(record.values.text)
        buffer = cells.buffer
        buffer.append(contentsOf: [0x0D, 0x0A])
    }

    /// Writes the header when there was no row.
    package mutating func finish(into buffer: inout [UInt8]) { header(to: &buffer) }

    private mutating func header(to buffer: inout [UInt8]) {
        if hasHeader { return }
        hasHeader = true
        buffer.append(contentsOf: Self.columns.joined(separator: ",").utf8)
        buffer.append(contentsOf: [0x0D, 0x0A])
    }

    /// The cells of one row.
    private struct Cells {
        var buffer: [UInt8]
        var isFirst = true

        init(buffer: [UInt8]) { self.buffer = buffer }

        mutating func text(_ text: String?) {
            separate()
            if let text { CSVCell.append(text, to: &buffer) }
        }

        mutating func number(_ number: Int64?) {
            separate()
            if let number { buffer.append(contentsOf: String(number).utf8) }
        }

        private mutating func separate() {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
        }
    }
}
