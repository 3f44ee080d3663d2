/// A table for a list: aligned and cut to the terminal's width, or separated by tabs where no terminal is.
package struct TableRenderer: Sendable {
    /// A column.
    package struct Column: Sendable {
        /// Its head.
        package let title: String
        /// Whether its values stand at the right.
        package let alignRight: Bool
        /// Whether it gives way when the terminal is too narrow.
        package let mayShrink: Bool

        /// Makes a column.
        ///
        /// - Parameters:
        ///   - title: its head.
        ///   - alignRight: whether its values stand at the right.
        ///   - mayShrink: whether it gives way when the terminal is too narrow.
        package init(_ title: String, alignRight: Bool = false, mayShrink: Bool = false) {
            self.title = title
            self.alignRight = alignRight
            self.mayShrink = mayShrink
        }
    }

    private static let gap = 2
    /// Below this, a column says nothing any more.
    private static let narrowest = 8
    private let columns: [Column]

    /// Makes a renderer.
    ///
    /// - Parameter columns: from left to right.
    package init(columns: [Column]) { self.columns = columns }

    /// Lays rows out.
    ///
    /// - Parameters:
    ///   - rows: a value a column each; control characters are shown, not obeyed.
    ///   - width: the terminal's cells, or nil where no terminal is: then every value is whole, values are separated
    ///     by tabs, and there is no head.
    ///   - style: colours for the head and for values with a meaning.
    ///   - meaning: what a value's colour says, by row and column; nil for a plain one.
    /// - Returns: lines without line ends.
    package func lines(
        _ rows: [[String]], width: Int?, style: Style, meaning: (Int, Int) -> Style.Meaning? = { _, _ in nil }
    ) -> [String] {
        let rows = rows.map { $0.map(TerminalText.neutralised) }
        guard let width else { return rows.map { $0.joined(separator: "\t") } }
        let widths = widths(rows, total: width)
        let head = style.apply(line(columns.map(\.title), widths), .faint)
        return [head]
            + rows.enumerated().map { number, row in
                line(row, widths) { column, text in
                    meaning(number, column).map { style.apply(text, $0) } ?? text
                }
            }
    }

    private func widths(_ rows: [[String]], total: Int) -> [Int] {
        var widths = columns.map { TerminalText.width($0.title) }
        for row in rows {
            for (position, value) in row.prefix(widths.count).enumerated() {
                widths[position] = max(widths[position], TerminalText.width(value))
            }
        }
        var excess = widths.reduce(0, +) + Self.gap * (columns.count - 1) - total
        // The widest column that may shrink gives way first, a cell at a time, until the line fits.
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
