/// Text for people. What others wrote (titles, addresses, a server's words, file names) cannot control a terminal.
///
/// It is made from literals, whose characters stay, and from values, which are neutralised: a `String` from elsewhere
/// only becomes a `SafeText` that way, and ``ByteSink`` takes nothing else for people but ``SafeRows``.
///
/// ```
/// try output.write("\(content.title): \(state)\n")     // the title cannot contain an escape sequence any more
/// ```
package struct SafeText: Sendable, Hashable {
    /// The text as it is written.
    package let text: String

    /// A text that a renderer has drawn from neutralised values, with its own control sequences.
    ///
    /// - Parameter drawn: the text. Only for the files of `Rendering`.
    init(drawn: String) { text = drawn }

    /// One line, neutralised as a whole.
    ///
    /// - Parameter line: any text, without a line end.
    package init(_ line: String) { text = TerminalText.neutralised(line) }

    /// Lines, each with its end.
    ///
    /// - Parameter lines: the lines.
    /// - Returns: one text.
    package static func lines(_ lines: [SafeText]) -> SafeText {
        SafeText(drawn: lines.map { "\($0.text)\n" }.joined())
    }

    /// Lines of any text, each neutralised and with its end.
    ///
    /// - Parameter lines: the lines.
    /// - Returns: one text.
    package static func lines(_ lines: [String]) -> SafeText { .lines(lines.map { SafeText($0) }) }

    /// One row of values that are separated by tabs, with its end.
    ///
    /// - Parameter values: any texts.
    /// - Returns: one text.
    package static func row(_ values: [String]) -> SafeText {
        SafeText(drawn: "\(values.map(TerminalText.neutralised).joined(separator: "\t"))\n")
    }

    /// Joins two texts.
    ///
    /// - Parameters:
    ///   - one: the first.
    ///   - other: the second.
    /// - Returns: both.
    package static func + (one: SafeText, other: SafeText) -> SafeText { SafeText(drawn: one.text + other.text) }

    /// Appends a text.
    ///
    /// - Parameters:
    ///   - one: the text.
    ///   - other: what follows it.
    package static func += (one: inout SafeText, other: SafeText) { one = one + other }

    /// Whether there is nothing to write.
    package var isEmpty: Bool { text.isEmpty }

    /// Clips a line to a number of cells.
    ///
    /// - Parameter cells: the available cells.
    /// - Returns: a text of at most that width.
    func clipped(to cells: Int) -> SafeText { SafeText(drawn: TerminalText.clipped(text, to: cells)) }
}

extension SafeText: ExpressibleByStringInterpolation {
    /// A text of the program itself.
    ///
    /// - Parameter value: a literal.
    package init(stringLiteral value: StaticString) { text = "\(value)" }

    /// A text of the program itself with values.
    ///
    /// - Parameter stringInterpolation: literals and neutralised values.
    package init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Collects literals and values.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        /// Makes an empty one.
        ///
        /// - Parameters:
        ///   - literalCapacity: the bytes of the literals.
        ///   - interpolationCount: the values.
        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        /// Appends a part of the literal.
        ///
        /// - Parameter literal: the part.
        package mutating func appendLiteral(_ literal: StaticString) { text += "\(literal)" }

        /// Appends a text that is safe already.
        ///
        /// - Parameter value: the text.
        package mutating func appendInterpolation(_ value: SafeText) { text += value.text }

        /// Appends a value, neutralised.
        ///
        /// - Parameter value: the value.
        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += TerminalText.neutralised(value.description)
        }
    }
}
