/// A table for a list: aligned and clipped to the terminal's width, or separated by tabs without a terminal.
package struct TableRenderer: Sendable {
    /// A column.
    package struct Column: Sendable {
        /// Its heading.
        package let title: String
        /// Whether its values are aligned right.
        package let alignRight: Bool
        /// Whether it may shrink when the terminal is too narrow.
        package let mayShrink: Bool

        /// Makes a column.
        ///
        /// - Parameters:
        ///   - title: its heading.
        ///   - alignRight: whether its values are aligned right.
        ///   - mayShrink: whether it may shrink when the terminal is too narrow.
        package init(_ title: String, alignRight: Bool = false, mayShrink: Bool = false) {
            self.title = title
            self.alignRight = alignRight
            self.mayShrink = mayShrink
        }
    }

    private static let gap = 2
    /// A narrower column would be useless.
    private static let narrowest = 8
    private let columns: [Column]

    /// Makes a renderer.
    ///
    /// - Parameter columns: from left to right.
    package init(columns: [Column]) { self.columns = columns }

    /// Lays out rows.
    ///
    /// - Parameters:
    ///   - rows: one value per column; control characters are replaced.
    ///   - width: the terminal's cells, or nil without a terminal: then values are not clipped, they are separated by
    ///     tabs, and there is no heading.
    ///   - style: colours for the heading and for values with a meaning.
    ///   - meaning: the meaning of a value's colour, by row and column; nil for a plain one.
    /// - Returns: lines without line ends.
    package func lines(
        _ rows: [[String]], width: Int?, style: Style, meaning: (Int, Int) -> Style.Meaning? = { _, _ in nil }
    ) -> [SafeText] {
        let rows = rows.map { $0.map(TerminalText.neutralised) }
        guard let width else { return rows.map { SafeText(drawn: $0.joined(separator: "\t")) } }
        let widths = widths(rows, total: width)
        let head = style.apply(line(columns.map(\.title), widths), .faint)
        let body = rows.enumerated().map { number, row in
            line(row, widths) { column, text in
                meaning(number, column).map { style.apply(text, $0) } ?? text
            }
        }
        return ([head] + body).map { SafeText(drawn: $0) }
    }

    private func widths(_ rows: [[String]], total: Int) -> [Int] {
        var widths = columns.map { TerminalText.width($0.title) }
        for row in rows {
            for (position, value) in row.prefix(widths.count).enumerated() {
                widths[position] = max(widths[position], TerminalText.width(value))
            }
        }
        var excess = widths.reduce(0, +) + Self.gap * (columns.count - 1) - total
        // The widest column that may shrink is narrowed by one cell at a time until the line fits.
        while excess > 0 {
            let candidates = columns.indices.filter { columns[$0].mayShrink && widths[$0] > Self.narrowest }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    private func line(
        _ values: [String], _ widths: [Int], _ colored: (Int, String) -> String = { $1 }
    ) -> String {
        var text = ""
        for (position, value) in values.prefix(widths.count).enumerated() {
            let isLast = position == widths.count - 1
            let cell = TerminalText.padded(value, to: widths[position], alignRight: columns[position].alignRight)
            text += colored(position, cell)
            if !isLast { text += String(repeating: " ", count: Self.gap) }
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}
