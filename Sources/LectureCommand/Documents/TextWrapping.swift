/// Wraps paragraphs at blanks.
enum TextWrapping {
    /// The width of help texts, whatever the terminal: they are compared, copied and mailed.
    static let helpWidth = 80

    /// Wraps a paragraph.
    ///
    /// - Parameters:
    ///   - text: words separated by blanks.
    ///   - width: cells per line; a longer word gets its own line.
    /// - Returns: at least one line.
    static func lines(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if TerminalText.width(line) + 1 + TerminalText.width(String(word)) <= width {
                line += " \(word)"
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        return lines + [line]
    }
}
