import LectureModel

/// Lays out a snapshot as lines: pure, so that every width can be tested.
package enum ProgressLayout {
    /// Lays out bars: one line per active item, and a total.
    ///
    /// - Parameters:
    ///   - snapshot: the run's progress.
    ///   - size: the terminal; a line is one cell narrower, because some terminals wrap at the last one, and the
    ///     lines are one fewer than its rows.
    ///   - style: colours.
    /// - Returns: lines without line ends, the total last.
    package static func bars(_ snapshot: ProgressSnapshot, size: TerminalSize, style: Style) -> [String] {
        let width = max(1, size.columns - 1)
        let most = max(0, size.rows - 2)
        let hidden = snapshot.items.count > most ? snapshot.items.count - max(0, most - 1) : 0
        let shown = snapshot.items.prefix(snapshot.items.count - hidden)
        var lines = shown.map { line($0, width: width, style: style) }
        if hidden > 0 && most > 0 { lines.append(TerminalText.clipped("… and \(hidden) more", to: width)) }
        lines.append(total(snapshot, width: width, style: style))
        return lines
    }

    /// One plain line for the whole run, for logs.
    ///
    /// - Parameter snapshot: the run's progress.
    /// - Returns: a line without its end.
    package static func plain(_ snapshot: ProgressSnapshot) -> String {
        var parts = ["\(snapshot.done) of \(snapshot.count) complete"]
        parts += stalled(snapshot)
        parts.append(amount(snapshot.bytes, snapshot.total))
        if snapshot.speed > 0 { parts.append(HumanText.rate(snapshot.speed)) }
        if let left = snapshot.secondsLeft { parts.append("\(HumanText.duration(seconds: left)) left") }
        return parts.joined(separator: ", ")
    }

    private static func line(_ item: ProgressSnapshot.Item, width: Int, style: Style) -> String {
        let title = TerminalText.neutralised(item.title.isEmpty ? item.key : item.title)
        guard item.state == .downloading else {
            return row(title, bar: nil, facts: [item.state.name], width: width, style: style)
        }
        let facts = [
            item.total.map { "\(HumanText.percent(item.bytes, of: $0))%" } ?? "",
            amount(item.bytes, item.total),
            HumanText.rate(item.speed),
            item.secondsLeft.map { HumanText.duration(seconds: $0) } ?? "-:--",
        ]
        return row(title, bar: item.total.map { (item.bytes, $0) }, facts: facts, width: width, style: style)
    }

    private static func total(_ snapshot: ProgressSnapshot, width: Int, style: Style) -> String {
        let title = (["\(snapshot.done)/\(snapshot.count)"] + stalled(snapshot)).joined(separator: ", ")
        let facts = [
            snapshot.total.map { "\(HumanText.percent(snapshot.bytes, of: $0))%" } ?? "",
            amount(snapshot.bytes, snapshot.total),
            HumanText.rate(snapshot.speed),
            snapshot.secondsLeft.map { HumanText.duration(seconds: $0) } ?? "",
        ]
        let bar = snapshot.total.map { (snapshot.bytes, $0) }
        return row("Total \(title)", bar: bar, facts: facts, width: width, style: style)
    }

    /// Items that make no progress, by reason.
    private static func stalled(_ snapshot: ProgressSnapshot) -> [String] {
        [(snapshot.failed, "failed"), (snapshot.paused, "paused"), (snapshot.waiting, "waiting")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }

    private static func amount(_ bytes: Int64, _ total: Int64?) -> String {
        guard let total else { return HumanText.byteCount(bytes) }
        return "\(HumanText.byteCount(bytes))/\(HumanText.byteCount(total))"
    }

    /// The cells of the facts: percent, amount, speed, time left.
    private static let factWidths = [4, 17, 10, 8]
    private static let barWidth = 14
    private static let narrowestTitle = 20

    /// A row. On narrow terminals the bar is dropped first, then the amount, then the time left, then the speed.
    private static func row(
        _ title: String, bar: (part: Int64, total: Int64)?, facts: [String], width: Int, style: Style
    ) -> String {
        guard facts.count == factWidths.count else {
            let note = facts.joined()
            let titleWidth = max(0, width - TerminalText.width(note) - 1)
            return TerminalText.clipped("\(TerminalText.padded(title, to: titleWidth)) \(note)", to: width)
        }
        var visible = [true, true, true, true]
        var needed: Int { zip(visible, factWidths).reduce(narrowestTitle) { $0 + ($1.0 ? $1.1 + 1 : 0) } }
        let showsBar = needed + barWidth + 1 <= width
        for column in [1, 3, 2, 0] where needed > width { visible[column] = false }
        let right = zip(visible, zip(facts, factWidths)).filter(\.0).map { pair in
            TerminalText.padded(pair.1.0, to: pair.1.1, alignRight: true)
        }
        var tail = right.isEmpty ? "" : " " + right.joined(separator: " ")
        if showsBar { tail = " " + drawn(bar, style: style) + tail }
        let tailWidth = needed - narrowestTitle + (showsBar ? barWidth + 1 : 0)
        return TerminalText.padded(title, to: max(0, width - tailWidth)) + tail
    }

    private static func drawn(_ bar: (part: Int64, total: Int64)?, style: Style) -> String {
        let cells = barWidth - 2
        guard let bar else { return "[\(String(repeating: " ", count: cells))]" }
        let filled = HumanText.percent(bar.part, of: bar.total) * cells / 100
        let done = String(repeating: "#", count: filled)
        return "[\(style.apply(done, .good))\(String(repeating: "-", count: cells - filled))]"
    }
}
