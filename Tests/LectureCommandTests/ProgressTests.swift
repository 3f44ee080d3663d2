import LectureCommand
import LectureModel
import Testing

private func item(_ title: String, _ bytes: Int64, _ total: Int64?, state: ItemState = .downloading)
    -> ProgressSnapshot.Item
{
    ProgressSnapshot.Item(
        key: "key", title: title, bytes: bytes, total: total, speed: 1_572_864, secondsLeft: 65, state: state)
}

private func snapshot(_ items: [ProgressSnapshot.Item]) -> ProgressSnapshot {
    var snapshot = ProgressSnapshot()
    snapshot.items = items
    snapshot.done = 3
    snapshot.count = 10
    snapshot.bytes = 1 << 30
    snapshot.total = 4 << 30
    snapshot.speed = 3_145_728
    snapshot.secondsLeft = 1024
    return snapshot
}

private let plain = Style(choice: "never", environment: [:], isTerminal: true)
private let colored = Style(choice: "always", environment: [:], isTerminal: true)

@Suite struct ProgressLayoutTests {
    @Test func `one line per lecture and a total, aligned`() {
        let lines = ProgressLayout.bars(
            snapshot([item("Algebra 1", 50 << 20, 100 << 20), item("선형대수 입문", 0, nil)]),
            size: TerminalSize(columns: 100, rows: 24), style: plain)
        #expect(
            lines == [
                "Algebra 1                                 [######------]  50%  50.0 MiB/100 MiB 1.50 MiB/s     1:05",
                "선형대수 입문                             [            ]                    0 B 1.50 MiB/s     1:05",
                "Total 3/10                                [###---------]  25% 1.00 GiB/4.00 GiB 3.00 MiB/s    17:04",
            ])
    }

    @Test(arguments: [1, 2, 5, 12, 20, 30, 40, 50, 60, 79, 80, 81, 120, 300])
    func `no line is as wide as the terminal, whatever its width`(columns: Int) {
        let titles = ["x", String(repeating: "수", count: 200), "", "esc \u{1B}[2J", String(repeating: "é", count: 90)]
        let states: [ItemState] = [.downloading, .verifying, .loading, .queued, .stopped]
        let items = zip(titles, states).map { item($0, 1 << 50, 1 << 52, state: $1) }
        for line in ProgressLayout.bars(snapshot(items), size: TerminalSize(columns: columns, rows: 50), style: plain) {
            #expect(TerminalText.width(line) < max(2, columns))
            #expect(!line.contains("\u{1B}"))
        }
    }

    @Test(arguments: [1, 2, 3, 5, 24])
    func `there are fewer lines than the terminal has rows, and what is hidden is counted`(rows: Int) {
        let items = (0..<40).map { item("item \($0)", 1, 2) }
        let lines = ProgressLayout.bars(snapshot(items), size: TerminalSize(columns: 80, rows: rows), style: plain)
        #expect(lines.count < max(2, rows))
        #expect(lines.last?.hasPrefix("Total 3/10") ?? false)
        if rows > 2 { #expect(lines[lines.count - 2] == "… and \(40 - (lines.count - 2)) more") }
    }

    @Test func `a stalled lecture shows its state, one without a title its key`() {
        let lines = ProgressLayout.bars(
            snapshot([item("A", 1, 1, state: .verifying), item("", 0, nil, state: .loading)]),
            size: TerminalSize(columns: 31, rows: 24), style: plain)
        #expect(lines[0] == "A                    verifying")
        #expect(lines[1] == "key                    loading")
    }

    @Test func `the plain line has all essential values`() {
        var whole = snapshot([])
        #expect(
            ProgressLayout.plain(whole) == "3 of 10 complete, 1.00 GiB/4.00 GiB, 3.00 MiB/s, 17:04 left")
        (whole.failed, whole.paused, whole.waiting) = (2, 1, 3)
        whole.total = nil
        whole.speed = 0
        whole.secondsLeft = nil
        #expect(ProgressLayout.plain(whole) == "3 of 10 complete, 2 failed, 1 paused, 3 waiting, 1.00 GiB")
    }
}

@Suite struct ProgressRendererTests {
    private let size = TerminalSize(columns: 80, rows: 24)

    private func at(_ milliseconds: Int64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }

    @Test func `the display is chosen by option, quiet mode and terminal`() {
        func mode(_ choice: String?, quiet: Bool = false, terminal: Bool = true, _ environment: [String: String] = [:])
            -> ProgressRenderer.Mode
        {
            ProgressRenderer.mode(choice: choice, isQuiet: quiet, isTerminal: terminal, environment: environment)
        }
        #expect(mode(nil) == .bar)
        #expect(mode("auto", terminal: false) == .plain)
        #expect(mode(nil, ["TERM": "dumb"]) == .plain)
        #expect(mode("auto", quiet: true) == .none)
        #expect(mode("bar", quiet: true, terminal: false) == .bar)
        #expect(mode("plain") == .plain)
        #expect(mode("none") == .none)
    }

    @Test func `bars are drawn at most ten times a second`() {
        var renderer = ProgressRenderer(mode: .bar, style: plain)
        #expect(renderer.update(snapshot([]), at: at(0), size: size) != nil)
        #expect(renderer.update(snapshot([]), at: at(99), size: size) == nil)
        #expect(renderer.update(snapshot([]), at: at(100), size: size) != nil)
    }

    @Test func `a redraw overwrites the previous one and erases the rest of it`() throws {
        var renderer = ProgressRenderer(mode: .bar, style: colored)
        let firstText = renderer.update(snapshot([item("A", 1, 2), item("B", 1, 2)]), at: at(0), size: size)
        let first = try #require(firstText).text
        #expect(first.hasPrefix("\rA"))
        let secondText = renderer.update(snapshot([item("B", 1, 2)]), at: at(200), size: size)
        let second = try #require(secondText).text
        #expect(second.hasPrefix("\r\u{1B}[2AB"))
        #expect(second.hasSuffix("\u{1B}[K\u{1B}[J"))
    }

    @Test func `a resize is drawn at once, and wrapped lines are counted`() throws {
        var renderer = ProgressRenderer(mode: .bar, style: colored)
        _ = renderer.update(snapshot([item("A", 1, 2)]), at: at(0), size: size)
        let narrow = TerminalSize(columns: 40, rows: 24)
        let textText = renderer.update(snapshot([item("A", 1, 2)]), at: at(10), size: narrow)
        let text = try #require(textText).text
        // Two lines of 79 cells take two rows each on 40 columns.
        #expect(text.hasPrefix("\r\u{1B}[3A"))
    }

    @Test func `a message is printed above the bars`() throws {
        var renderer = ProgressRenderer(mode: .bar, style: plain)
        #expect(renderer.interrupt(size: size).isEmpty)
        _ = renderer.update(snapshot([item("A", 1, 2)]), at: at(0), size: size)
        #expect(renderer.interrupt(size: size) == "\r\u{1B}[1A\u{1B}[J")
        let againText = renderer.update(snapshot([item("A", 1, 2)]), at: at(1), size: size)
        let again = try #require(againText).text
        #expect(again.hasPrefix("\rA"))
    }

    @Test func `the end keeps the last bars and moves below them`() {
        var renderer = ProgressRenderer(mode: .bar, style: plain)
        #expect(renderer.finish(snapshot([]), size: size).isEmpty)
        _ = renderer.update(snapshot([]), at: at(0), size: size)
        #expect(renderer.finish(snapshot([]), size: size).text.hasSuffix("\u{1B}[J\n"))
        #expect(renderer.finish(snapshot([]), size: size).isEmpty)
    }

    @Test func `plain lines come every few seconds and only when something changed`() {
        var renderer = ProgressRenderer(mode: .plain, style: plain)
        #expect(renderer.update(snapshot([]), at: at(0), size: size) == nil)
        #expect(renderer.update(snapshot([]), at: at(2999), size: size) == nil)
        #expect(renderer.update(snapshot([]), at: at(3000), size: size)?.text.hasSuffix("left\n") ?? false)
        #expect(renderer.update(snapshot([]), at: at(6000), size: size) == nil)
        var changed = snapshot([])
        changed.done = 4
        #expect(renderer.update(changed, at: at(9000), size: size)?.text.hasPrefix("4 of 10") ?? false)
        #expect(renderer.interrupt(size: size).isEmpty)
        #expect(renderer.finish(changed, size: size).isEmpty)
    }

    @Test func `progress mode 'none' shows nothing`() {
        var renderer = ProgressRenderer(mode: .none, style: plain)
        #expect(renderer.update(snapshot([]), at: at(0), size: size) == nil)
        #expect(renderer.finish(snapshot([]), size: size).isEmpty)
    }
}
