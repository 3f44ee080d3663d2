extension HostileCase {
    /// The lecture behind an unusual status line.
    private static func version(_ name: String, _ line: String, _ summary: String) -> HostileCase {
        HostileCase("version-\(name)", .impostors, summary, due: .rightOrRefusal) { visit in
            .raw(
                Answer.raw(
                    [line, "Content-Type: video/mp4", "Content-Length: \(visit.media.bytes.count)"],
                    visit.media.bytes[...]))
        }.promising(.requests(atMost: 12))
    }

    static let otherVersions: [HostileCase] = [
        version("icy", "ICY 200 OK", "`ICY 200 OK`, as Shoutcast answers."),
        version("rtsp", "RTSP/1.0 200 OK", "`RTSP/1.0 200 OK`."),
        version("3.7", "HTTP/3.7 200 OK", "`HTTP/3.7 200 OK`, a version that does not exist."),
        version("2", "HTTP/2 200 OK", "`HTTP/2 200 OK` in the frames of HTTP/1."),
        version("1.2", "HTTP/1.2 200 OK", "`HTTP/1.2 200 OK`, a minor version of the future."),
        version("lower-case", "http/1.1 200 ok", "`http/1.1 200 ok` in small letters."),
        version("spaces", "HTTP/1.1  200  OK", "Two spaces in place of one."),
        version("tab", "HTTP/1.1\t200\tOK", "Tabs in place of spaces."),
        version("no-reason", "HTTP/1.1 200", "No reason, nor the space before it."),
        version("long-reason", "HTTP/1.1 200 " + String(repeating: "O", count: 50_000), "A reason of 50,000 bytes."),
        version("not-utf-8", "HTTP/1.1 200 \u{FFFD}\u{1}", "A reason with a control character."),
        HostileCase(
            "version-101", .impostors, "101 Switching Protocols, unasked, then WebSocket frames.", due: .refusal
        ) { _ in
            .raw(
                Answer.raw(
                    ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"],
                    [0x81, 0x02, 0x68, 0x69]))
        }.promising(.requests(atMost: 12)),
        HostileCase(
            "version-101-then-200", .impostors, "101 unasked, then the lecture with 200 as HTTP/1.1.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.honest().with { $0.interim = ["HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"] })
        },
    ]

    /// The lecture, with malformed lines in the head; `N` is replaced by its length.
    private static func head(
        _ name: String, _ lines: [String], _ summary: String, due: Due = .rightOrRefusal, lineEnd: String = "\r\n"
    ) -> HostileCase {
        HostileCase("field-\(name)", .impostors, summary, due: due) { visit in
            let count = String(visit.media.bytes.count)
            let filled = lines.map { $0.replacing("NUMBER", with: count) }
            return .raw(
                Answer.raw(
                    ["HTTP/1.1 200 OK", "Content-Type: video/mp4"] + filled, visit.media.bytes[...], lineEnd: lineEnd))
        }.promising(.requests(atMost: 12))
    }

    static let oddFields: [HostileCase] = [
        head("bare-lf", ["Content-Length: NUMBER"], "LF in place of CRLF in the head.", lineEnd: "\n"),
        head("bare-cr", ["X-Odd: a\rX-Other: b", "Content-Length: NUMBER"], "A bare CR in a value."),
        head("nul", ["X-Odd: a\0b", "Content-Length: NUMBER"], "A NUL in a value."),
        head("nul-in-name", ["X-O\0dd: a", "Content-Length: NUMBER"], "A NUL in a name."),
        head("no-colon", ["this is no field", "Content-Length: NUMBER"], "A line without a colon."),
        head("no-name", [": no name", "Content-Length: NUMBER"], "A field without a name."),
        head("space-in-name", ["X Odd: a", "Content-Length: NUMBER"], "A space in a name."),
        head("folded", ["X-Odd: a", "  b", "\tc", "Content-Length: NUMBER"], "A folded value, as before RFC 7230."),
        head("folded-first", [" folded", "Content-Length: NUMBER"], "A folded line behind the media type."),
        head("no-space", ["Content-Length:NUMBER"], "No space behind the colon, as is allowed.", due: .rightBytes),
        head("case", ["cONTENT-lENGTH: NUMBER"], "A name in odd letters, as is allowed.", due: .rightBytes),
        head(
            "latin-1", ["X-Teacher: M\u{FC}ller \u{80}", "Content-Length: NUMBER"],
            "Letters beyond ASCII in a value, as is allowed.", due: .rightBytes),
    ]

    static let contraryFields: [HostileCase] = [
        head("space-before-colon", ["Content-Length : NUMBER"], "A space before the colon of the length."),
        head(
            "space-before-colon-lies", ["Content-Length : 1000", "Content-Length: NUMBER"],
            "A false length with a space before its colon, and the right one."),
        head("folded-length", ["Content-Length: 3500", " 000"], "A folded length, of which some read 3,500."),
        head("hidden-length", ["X-Odd: a\0Content-Length: 1000", "Content-Length: NUMBER"], "A length behind a NUL."),
        head("hidden-by-cr", ["X-Odd: a\rContent-Length: 1000", "Content-Length: NUMBER"], "A length behind a CR."),
        head(
            "range-in-200", ["Content-Range: bytes 0-999/1000", "Content-Length: NUMBER"],
            "A Content-Range in a 200, where it means nothing (RFC 9110 section 14.4).", due: .rightBytes),
        head(
            "ranges-none", ["Accept-Ranges: none, bytes", "Content-Length: NUMBER"],
            "`Accept-Ranges: none, bytes`, which contradicts itself.", due: .rightBytes),
        head(
            "disposition",
            [
                "Content-Disposition: attachment; filename=\"../../../../tmp/hostile\"",
                "Content-Length: NUMBER",
            ],
            "A Content-Disposition that names a file in another directory.", due: .rightBytes),
        head(
            "location-in-200", ["Location: file:///etc/passwd", "Content-Length: NUMBER"],
            "A Location in a 200, where it means nothing.", due: .rightBytes),
        head(
            "keep-alive", ["Connection: keep-alive, close", "Keep-Alive: timeout=-1, max=0", "Content-Length: NUMBER"],
            "`Connection: keep-alive, close` and a Keep-Alive of -1 seconds.", due: .rightBytes),
    ]
}
