/// Colours, or none.
package struct Style: Sendable, Equatable {
    /// Whether escape sequences are written.
    package let isColored: Bool

    /// Decides whether colours are used.
    ///
    /// - Parameters:
    ///   - choice: the value of `--color`: `auto`, `always` or `never`; nil is `auto`.
    ///   - environment: `NO_COLOR` (any value that is not empty) and `TERM=dumb` switch colours off in `auto`.
    ///   - isTerminal: whether the text goes to a terminal.
    package init(choice: String?, environment: [String: String], isTerminal: Bool) {
        switch choice {
        case "always": isColored = true
        case "never": isColored = false
        default:
            isColored = isTerminal && environment["NO_COLOR"]?.isEmpty ?? true && environment["TERM"] != "dumb"
        }
    }

    /// The meaning of a colour.
    package enum Meaning: String, Sendable {
        /// It is in order.
        case good = "32"
        /// It needs attention.
        case warning = "33"
        /// It failed.
        case bad = "31"
        /// It is less important.
        case faint = "2"
    }

    /// Colours a text for people.
    ///
    /// - Parameters:
    ///   - text: the text; its width is unchanged.
    ///   - meaning: the colour's meaning.
    /// - Returns: the text, with escape sequences if colours are used.
    package func apply(_ text: SafeText, _ meaning: Meaning) -> SafeText {
        SafeText(drawn: apply(text.text, meaning))
    }

    /// Colours a text.
    ///
    /// - Parameters:
    ///   - text: the text; its width is unchanged.
    ///   - meaning: the colour's meaning.
    /// - Returns: the text, with escape sequences if colours are used.
    package func apply(_ text: String, _ meaning: Meaning) -> String {
        isColored ? "\u{1B}[\(meaning.rawValue)m\(text)\u{1B}[0m" : text
    }
}
