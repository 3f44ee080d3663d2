package import LectureModel

/// Decides when progress is written and what exactly. Pure: it answers text, the caller writes it in one call.
///
/// ```
/// bar:    nothing drawn ──update──▶ drawn ──update (≥ 100 ms later, or resized)──▶ drawn
///                 ▲                   │
///                 └──interrupt, finish┘   the bars are erased, so that a sentence can stand above them
/// plain:  a line every few seconds, when something changed
/// none:   nothing
/// ```
package struct ProgressRenderer: Sendable {
    /// How progress is shown.
    package enum Mode: Sendable, Equatable {
        /// Bars that are drawn again in place.
        case bar
        /// A line every few seconds.
        case plain
        /// Nothing.
        case none
    }

    /// The least time between two drawings of the bars: 10 a second.
    package static let barInterval = Duration.milliseconds(100)
    /// The least time between two plain lines.
    package static let plainInterval = Duration.seconds(3)

    private let mode: Mode
    private let style: Style
    private var lastWritten: BootInstant?
    private var lastPlain = ""
    /// The widths of the lines on the terminal, for the way back up.
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
    ///   - isQuiet: whether `--quiet` was given; it counts unless a way was named.
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

    /// Shows how far the run is, unless it is too early for that.
    ///
    /// - Parameters:
    ///   - snapshot: how far the run is.
    ///   - instant: now.
    ///   - size: the terminal now. Another size than before is drawn at once.
    /// - Returns: what is to be written, or nil.
    package mutating func update(_ snapshot: ProgressSnapshot, at instant: BootInstant, size: TerminalSize) -> String? {
        switch mode {
        case .none:
            return nil
        case .bar:
            let isDue = lastWritten.map { instant - $0 >= Self.barInterval } ?? true
            guard isDue || (size != drawnSize && !drawnWidths.isEmpty) else { return nil }
            lastWritten = instant
            return draw(ProgressLayout.bars(snapshot, size: size, style: style), size: size)
        case .plain:
            // The first line comes after the first interval: a run that is over by then says so in its last sentence.
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

    /// Makes room for a sentence: takes the bars away. The next ``update(_:at:size:)`` draws them below it.
    ///
    /// - Parameter size: the terminal now.
    /// - Returns: what is to be written before the sentence; empty when nothing is drawn.
    package mutating func interrupt(size: TerminalSize) -> String {
        guard !drawnWidths.isEmpty else { return "" }
        let text = "\(wayUp(size))\u{1B}[J"
        drawnWidths = []
        lastWritten = nil
        return text
    }

    /// Ends the progress: the bars stay as they were last and the cursor goes below them.
    ///
    /// - Parameters:
    ///   - snapshot: how far the run came.
    ///   - size: the terminal now.
    /// - Returns: what is to be written; empty when nothing is shown.
    package mutating func finish(_ snapshot: ProgressSnapshot, size: TerminalSize) -> String {
        guard mode == .bar, !drawnWidths.isEmpty else { return "" }
        let text = draw(ProgressLayout.bars(snapshot, size: size, style: style), size: size)
        drawnWidths = []
        return "\(text)\n"
    }

    private mutating func draw(_ lines: [String], size: TerminalSize) -> String {
        // Synchronised output is not known to all terminals; one write and erasing to the line's end do not flicker.
        let text = wayUp(size) + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J"
        drawnWidths = lines.map { Self.visibleWidth($0) }
        drawnSize = size
        return text
    }

    /// Back to the first drawn line. A terminal that got narrower has wrapped the lines, so each may take several rows.
    private func wayUp(_ size: TerminalSize) -> String {
        let columns = max(1, size.columns)
        let rows = drawnWidths.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return rows > 1 ? "\r\u{1B}[\(rows - 1)A" : "\r"
    }

    /// The cells of a line with colours in it.
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
