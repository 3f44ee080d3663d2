import Foundation
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureCommand

@Suite struct SafeTextTests {
    private let title = "a\u{1B}]0;pwn\u{7}\r\n\u{9B}31m\u{202E}b"

    @Test func `values are neutralised, literals and safe texts stay`() {
        let safe: SafeText = "\u{1B}[1m\(title)\u{1B}[0m\n"
        #expect(safe.text == "\u{1B}[1m\(TerminalText.neutralised(title))\u{1B}[0m\n")
        #expect("<\(safe)>" as SafeText == SafeText(drawn: "<\(safe.text)>"))
    }

    @Test func `lines and rows neutralise every value`() {
        let clean = TerminalText.neutralised(title)
        #expect(SafeText.lines([title, title]).text == "\(clean)\n\(clean)\n")
        #expect(SafeText.row([title, "x"]).text == "\(clean)\tx\n")
        #expect(SafeText(title).text == clean)
    }

    @Test func `rows neutralise every value as texts do`() {
        let values =
            [title, "", "plain", "제목 – „1“ …", "\u{7F}", "\u{FEFF}x", "é", "a\tb\nc", "\u{2028}", "\u{200E}", "ÿ🙂"]
            + (0...0x9F).compactMap(Unicode.Scalar.init).map { String(Character($0)) }
        for value in values {
            var rows = SafeRows()
            rows.append(value)
            rows.append("x")
            rows.endRow()
            #expect(String(decoding: rows.bytes, as: UTF8.self) == SafeText.row([value, "x"]).text)
        }
    }

    @Test func `numbers of rows are written as texts write them`() {
        for number in [0, 9, 10, 99, 100, 1_234_567_890, -1, -90, Int.max, Int.min] {
            var rows = SafeRows()
            rows.append(number)
            rows.append(byteCount: Int64(number))
            rows.append(percent: 7)
            rows.endRow()
            rows.append("next")
            let expected = "\(number)\t\(HumanText.byteCount(Int64(number)))\t7%\nnext"
            #expect(String(decoding: rows.bytes, as: UTF8.self) == expected)
            rows.removeAll()
            rows.append("")
            rows.append("")
            #expect(rows.bytes == [0x09])
        }
    }

    @Test func `only the renderers make a text with control sequences of their own`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/LectureCommand")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 50)
        let users = try files.filter { file in
            try String(contentsOf: sources.appending(path: file), encoding: .utf8).contains("(drawn:")
        }
        #expect(!users.isEmpty)
        #expect(users.filter { !$0.hasPrefix("Rendering/") } == [])
    }
}

/// No command passes control characters of others on to a terminal.
@Suite(.timeLimit(.minutes(3))) struct HostileTextTests {
    /// ESC, BEL, CR, LF, a C1 control, a bidirectional override, and a line separator.
    private static let evil =
        "char(27)||']0;pwn'||char(7)||'x'||char(13)||char(10)||char(155,0x202E,0x2066,0x2028)||'y'"

    private static let commands = [
        "list", "list --state failed", "show a", "why a", "show b", "why b", "path a", "status", "verify --all",
        "licence list", "licence show a", "licence show b", "licence pending", "licence renew --all --dry-run",
        "licence regrant --all --dry-run", "lms list", "lms list --summary", "lms list --ids",
        "lms erase --user u --dry-run", "store info", "store check", "remove --all --dry-run", "precache -n",
        "pause --all", "resume --all", "cancel b", "resume b", "reorder b --first", "device show", "precache",
        "precache --verbose", "licence renew --all", "lms send", "remove a", "remove --all",
    ]

    private func poison(_ me: BadDay) async throws {
        let columns = [
            (
                "content",
                ["title", "course", "teacher", "folder", "error_detail", "error_cause", "synopsis", "company"]
            ),
            ("attempt", ["detail", "decision", "origin"]), ("owner", ["command"]),
            ("licence", ["error_detail", "error_cause", "callback_url", "client_user_id"]),
            ("debt", ["error_detail"]), ("report", ["content", "course", "note", "answer_text"]),
            ("lms_target", ["trouble_text"]), ("output_file", ["path"]), ("course_list", ["name"]),
        ]
        var script = """
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO licence(content_key, content_id, callback_url, mac, error_code, error_detail) SELECT key, id, \
            'http://127.0.0.1:1/', zeroblob(32), -9503, 'x' FROM content WHERE key = 'b';
            INSERT INTO debt(content_key, kind, created_ms, attempts, error_code) VALUES ('b', 2, 1, 1, -9503);

            """
        for (table, names) in columns {
            for name in names { script += "UPDATE OR IGNORE \(table) SET \(name) = \(Self.evil);\n" }
        }
        script += "UPDATE content SET source_url = source_url || '?' || \(Self.evil);\n"
        let ending = try await ChildProcess.run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], isolation_level=None)
                for line in sys.argv[2].splitlines():
                    try: connection.execute(line)
                    except sqlite3.Error as error: print(line.split(' = ')[0], error)
                """, me.store + "/lecturekit.db", script,
            ])
        #expect(ending.status == 0, "\(ending.errorText)")
        #expect(!ending.text.contains("content") && !ending.text.contains("INSERT"), "\(ending.text)")
    }

    private func expectSafe(_ ending: ChildProcess.Ending, _ line: String) {
        for (name, text) in [("output", ending.text), ("errors", ending.errorText)] {
            let bad = text.unicodeScalars.filter { scalar in
                switch scalar.value {
                case 0x09, 0x0A: false
                case 0...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069, 0x2028, 0x2029: true
                default: false
                }
            }
            #expect(bad.isEmpty, "\(line): \(name): \(text.debugDescription)")
        }
    }

    @Test func `no command prints control characters from the store`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let list = try shelf.list([
            ["url": shelf.url("a.mp4"), "key": "a", "file": "a.mp4"], ["url": shelf.url("none.mp4"), "key": "b"],
        ])
        let me = shelf.me
        let first = try await me("precache", list, "--output-dir", me.home.file("out"))
        #expect(first.status == 1, "\(first.errorText)")
        #expect(try await me("lms", "add", "--user", "u", "--content", "a").status == 0)
        try await poison(me)
        var shown = 0
        for line in Self.commands {
            let ending = try await me.run(line.split(separator: " ").map(String.init))
            expectSafe(ending, line)
            if (ending.text + ending.errorText).contains("pwn") { shown += 1 }
        }
        // The texts were there to be shown.
        #expect(shown >= 7)
    }

    @Test func `no error about an input prints control characters of it`() async throws {
        let shelf = try await Shelf()
        try shelf.put("a.mp4", seed: 1)
        let evil = #"\u001b]0;pwn\u0007\r\u009b\u202e"#
        let list = try shelf.me.home.write(
            """
            {"url":"\(shelf.url("a.mp4"))","key":"a","title":"\(evil)","course":"\(evil)","teacher":"\(evil)"}
            {"url":"http://\(evil)/","title":"x"}
            {"url":"\(shelf.url("b.mp4"))","\(evil)":1}
            {"url":"\(shelf.url("c.mp4"))","folder":"\(evil)"}
            {"url":"\(shelf.url("d.mp4"))","file":"\(evil)"}
            {"url":"\(shelf.url("e.mp4"))","headers":{"\(evil)":"\(evil)"}}
            """, to: "c.jsonl")
        for words in [
            ["precache", list, "-n"], ["precache", list, "--output-dir", shelf.me.home.file("out"), "--verbose"],
            ["precache", list, "--verbose"], ["show", "\u{1B}[31m"], ["\u{1B}[31m"], ["list", "--\u{9B}31m"],
            ["precache", "https://h/\u{1B}[2J\u{202E}"], ["precache", "/no\u{1B}[2J/list.txt"],
            ["list", "--config", "/no\u{1B}[2J"], ["licence", "verify", "/no\u{1B}[2J"], ["list"], ["why", "a"],
        ] {
            expectSafe(try await shelf.me.run(words), "\(words)")
        }
    }
}
