import LectureCommand
import LectureModel
import Testing

@Suite struct TerminalTextTests {
    @Test(arguments: [
        ("abc", 3), ("수학 개론", 9), ("数学", 4), ("ｶﾀｶﾅ", 4), ("é", 1), ("e\u{301}", 1), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("👩‍🏫", 2), ("☎️", 2), ("…", 1), ("", 0), ("क्ष", 2), ("\u{D4E} ", 2), ("🇰🇷", 2), ("👩🏽‍🚀", 2),
        ("1\u{FE0F}\u{20E3}", 2), ("\u{1112}\u{D7B0}\u{D7CB}", 2),
    ])
    func `cells are counted as a terminal counts them`(text: String, cells: Int) {
        #expect(TerminalText.width(text) == cells)
    }

    @Test func `a cut never splits a wide character and never exceeds the cells`() {
        #expect(TerminalText.clipped("수학 개론", to: 9) == "수학 개론")
        #expect(TerminalText.clipped("수학 개론", to: 8) == "수학 개…")
        #expect(TerminalText.clipped("수학 개론", to: 4) == "수…")
        #expect(TerminalText.clipped("수학", to: 2) == "…")
        #expect(TerminalText.clipped("abc", to: 0).isEmpty)
        for cells in 0..<12 { #expect(TerminalText.width(TerminalText.clipped("a수b학c개d론", to: cells)) <= cells) }
    }

    @Test func `padding fills exactly, on either side`() {
        #expect(TerminalText.padded("수", to: 4) == "수  ")
        #expect(TerminalText.padded("7", to: 3, alignRight: true) == "  7")
        #expect(TerminalText.width(TerminalText.padded("수학수학", to: 5)) == 5)
    }

    @Test func `terminal control sequences are shown, not executed`() {
        let text = TerminalText.neutralised("a\u{1B}[2Jb\r\nc\u{7F}\u{9B}d\u{202E}e\u{2028}")
        #expect(text == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}c\u{FFFD}\u{FFFD}d\u{FFFD}e\u{FFFD}")
        #expect(TerminalText.neutralised("수학 👩‍🏫") == "수학 👩‍🏫")
    }
}

@Suite struct HumanTextTests {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "0.97 KiB"), (1024, "1.00 KiB"), (1536, "1.50 KiB"),
            (10_240, "10.0 KiB"),
            (102_400, "100 KiB"), (1_023_999, "999 KiB"), (1_024_000, "0.97 MiB"), (157_286_400, "150 MiB"),
            (4_294_967_296, "4.00 GiB"), (-5, "0 B"), (Int64.max, "7.99 EiB"),
        ] as [(Int64, String)])
    func `bytes have three digits`(bytes: Int64, text: String) { #expect(HumanText.byteCount(bytes) == text) }

    @Test(
        arguments: [
            (0, "0:00"), (42, "0:42"), (725, "12:05"), (11_220, "3:07:00"), (187_200, "2d 04h"),
            (8_640_000, "over 99d"),
            (-1, "0:00"),
        ] as [(Int64, String)])
    func `durations fit eight characters`(seconds: Int64, text: String) {
        #expect(HumanText.duration(seconds: seconds) == text)
        #expect(text.count <= 8)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (1_700_000_000_999, "2023-11-14T22:13:20Z"), (4_102_444_800_000, "2100-01-01T00:00:00Z"),
            (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        ] as [(Int64, String)])
    func `dates are right at their boundaries`(milliseconds: Int64, text: String) {
        #expect(HumanText.utc(Timestamp(milliseconds: milliseconds)) == text)
        #expect(HumanText.date(Timestamp(milliseconds: milliseconds), isTerminal: false) == text)
    }

    @Test func `a hundred percent means everything`() {
        #expect(HumanText.percent(999, of: 1000) == 99)
        #expect(HumanText.percent(1000, of: 1000) == 100)
        #expect(HumanText.percent(2000, of: 1000) == 100)
        #expect(HumanText.percent(0, of: 0) == 100)
        #expect(HumanText.percent(-1, of: 10) == 0)
        #expect(HumanText.percent(.max / 2, of: .max) == 49)
        #expect(HumanText.percent(.max, of: .max) == 100)
    }
}

@Suite struct TableRendererTests {
    private let table = TableRenderer(columns: [
        .init("KEY", mayShrink: true), .init("SIZE", alignRight: true), .init("TITLE", mayShrink: true),
    ])
    private let plain = Style(choice: "never", environment: [:], isTerminal: true)

    @Test func `columns are aligned by cells`() {
        let lines = table.lines([["a", "1.50 KiB", "수학"], ["bcd", "9 B", "x"]], width: 80, style: plain)
        #expect(lines == ["KEY      SIZE  TITLE", "a    1.50 KiB  수학", "bcd       9 B  x"])
    }

    @Test func `the widest column shrinks on a narrow terminal`() {
        let title = String(repeating: "수", count: 40)
        let lines = table.lines([["algebra-01", "1.50 KiB", title]], width: 40, style: plain)
        for line in lines { #expect(TerminalText.width(line.text) <= 40) }
        #expect(lines[1].text.hasPrefix("algebra-01  1.50 KiB  수수"))
        #expect(lines[1].text.hasSuffix("…"))
    }

    @Test func `without a terminal values are complete, tab-separated, and without a header`() {
        let lines = table.lines([["a", "1", "two\tparts\n"]], width: nil, style: plain)
        #expect(lines == ["a\t1\ttwo\u{FFFD}parts\u{FFFD}"])
        #expect(table.lines([], width: nil, style: plain).isEmpty)
    }
}

@Suite struct StyleTests {
    @Test func `colours need a terminal and obey NO_COLOR unless they are asked for`() {
        func isColored(_ choice: String?, _ environment: [String: String], _ isTerminal: Bool) -> Bool {
            Style(choice: choice, environment: environment, isTerminal: isTerminal).isColored
        }
        #expect(isColored(nil, [:], true))
        #expect(isColored("auto", ["NO_COLOR": ""], true))
        #expect(!isColored("auto", ["NO_COLOR": "1"], true))
        #expect(!isColored("auto", ["TERM": "dumb"], true))
        #expect(!isColored("auto", [:], false))
        #expect(isColored("always", ["NO_COLOR": "1"], false))
        #expect(!isColored("never", [:], true))
    }
}
