package import LectureModel

/// Decides when progress is written, and what. Pure: it returns text, which the caller writes in one call.
///
/// ```
/// bar:    nothing drawn ──update──▶ drawn ──update (≥ 100 ms later, or resized)──▶ drawn
///                 ▲                   │
///                 └──interrupt, finish┘   the bars are erased, so that a message can be printed above them
/// plain:  a line every few seconds, when something changed
/// none:   nothing
/// ```
package struct ProgressRenderer: Sendable {
    /// How progress is shown.
    package enum Mode: Sendable, Equatable {
        /// Bars that are redrawn in place.
        case bar
        /// A line every few seconds.
        case plain
        /// Nothing.
        case none
    }

    /// The minimum time between two drawings of the bars: 10 per second.
    package static let barInterval = Duration.milliseconds(100)
    /// The minimum time between two plain lines.
    package static let plainInterval = Duration.seconds(3)

    private let mode: Mode
    /// Whether it draws bars, for which it needs the size of the terminal.
    package var drawsBars: Bool { mode == .bar }
    private let style: Style
    private var lastWritten: BootInstant?
    private var lastPlain = ""
    /// The widths of the lines on the terminal, to move back up.
    private var drawnWidths: [Int] = []
    private var drawnSize = TerminalSize.standard

    /// Makes a renderer.
    ///
    /// - Parameters:
    ///   - mode: how progress is shown.
    ///   - style: colours.
    package init(mode: Mode, style: Style) {
        self.mode = mode
        self.style = style
    }

    /// Decides how progress is shown.
    ///
    /// - Parameters:
    ///   - choice: the value of `--progress`; nil is `auto`.
    ///   - isQuiet: whether `--quiet` was given; an explicit `--progress` overrides it.
    ///   - isTerminal: whether standard error is a terminal.
    ///   - environment: `TERM=dumb` cannot draw in place.
    /// - Returns: the mode.
    package static func mode(
        choice: String?, isQuiet: Bool, isTerminal: Bool, environment: [String: String]
    ) -> Mode {
        switch choice {
        case "bar": .bar
        case "plain": .plain
        case "none": .none
        default: isQuiet ? .none : isTerminal && environment["TERM"] != "dumb" ? .bar : .plain
        }
    }

    /// Shows the run's progress, unless it is too early.
    ///
    /// - Parameters:
    ///   - snapshot: the run's progress.
    ///   - instant: now.
    ///   - size: the terminal now. A new size is drawn at once.
    /// - Returns: the text to write, or nil.
    package mutating func update(_ snapshot: ProgressSnapshot, at instant: BootInstant, size: TerminalSize) -> SafeText?
    {
        switch mode {
        case .none:
            return nil
        case .bar:
            let isDue = lastWritten.map { instant - $0 >= Self.barInterval } ?? true
            guard isDue || (size != drawnSize && !drawnWidths.isEmpty) else { return nil }
            lastWritten = instant
            return SafeText(drawn: draw(ProgressLayout.bars(snapshot, size: size, style: style), size: size))
        case .plain:
            // The first line comes after the first interval: a shorter run has only its last message.
            guard let last = lastWritten else {
                lastWritten = instant
                return nil
            }
            guard instant - last >= Self.plainInterval else { return nil }
            lastWritten = instant
            let line = ProgressLayout.plain(snapshot)
            guard line != lastPlain else { return nil }
            lastPlain = line
            return "\(line)\n"
        }
    }

    /// Erases the bars so that a message can be printed. The next ``update(_:at:size:)`` draws them below it.
    ///
    /// - Parameter size: the terminal now.
    /// - Returns: the text to write before the message; empty when nothing is drawn.
    package mutating func interrupt(size: TerminalSize) -> SafeText {
        guard !drawnWidths.isEmpty else { return "" }
        let text = "\(wayUp(size))\u{1B}[J"
        drawnWidths = []
        lastWritten = nil
        return SafeText(drawn: text)
    }

    /// Ends the progress: the bars keep their last state and the cursor moves below them.
    ///
    /// - Parameters:
    ///   - snapshot: the run's final progress.
    ///   - size: the terminal now.
    /// - Returns: the text to write; empty when nothing is shown.
    package mutating func finish(_ snapshot: ProgressSnapshot, size: TerminalSize) -> SafeText {
        guard mode == .bar, !drawnWidths.isEmpty else { return "" }
        let text = draw(ProgressLayout.bars(snapshot, size: size, style: style), size: size)
        drawnWidths = []
        return SafeText(drawn: "\(text)\n")
    }

    private mutating func draw(_ lines: [String], size: TerminalSize) -> String {
        // Not all terminals support synchronised output; one write that erases to the line ends does not flicker.
        let text = wayUp(size) + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J"
        drawnWidths = lines.map { Self.visibleWidth($0) }
        drawnSize = size
        return text
    }

    /// Moves to the first drawn line. A terminal that got narrower has wrapped lines, so each may fill several rows.
    private func wayUp(_ size: TerminalSize) -> String {
        let columns = max(1, size.columns)
        let rows = drawnWidths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }

    /// The cells of a line with colours.
    private static func visibleWidth(_ line: String) -> Int {
        var plain = ""
        var isEscape = false
        for character in line {
            if isEscape {
                isEscape = character != "m"
            } else if character == "\u{1B}" {
                isEscape = true
            } else {
                plain.append(character)
            }
        }
        return TerminalText.width(plain)
    }
}
