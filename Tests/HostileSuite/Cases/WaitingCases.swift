import LectureModel

extension HostileCase {
    static let informational: [HostileCase] = [
        HostileCase(
            "1xx-many", .status, "Fifty 102 and one 103 with a foreign Content-Length, then the lecture.",
            due: .rightBytes
        ) { visit in
            .answer(
                visit.honest().with {
                    $0.interim = [String](repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 50)
                    $0.interim.append("HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n")
                })
        },
        HostileCase("1xx-endless", .status, "100 Continue again and again, as fast as it goes.", due: .refusal) { _ in
            .answer(Answer(200).with { $0.flood = (Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), 0) })
        },
        HostileCase(
            "1xx-slow", .status, "102 Processing every 500 ms, and never an answer.", due: .refusal
        ) { _ in .answer(Answer(200).with { $0.flood = (Array("HTTP/1.1 102 Processing\r\n\r\n".utf8), 500) }) },
        HostileCase(
            "1xx-silence", .status, "100 Continue and then nothing, once.", due: .rightBytes
        ) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .raw(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), then: .stall(after: 0))
        },
        HostileCase(
            "1xx-unfinished", .status, "A 103 whose fields end in the lecture's head without an empty line.",
            due: .rightOrRefusal
        ) { visit in
            .raw(
                Answer.raw(
                    [
                        "HTTP/1.1 103 Early Hints", "Link: </style.css>", "HTTP/1.1 200 OK",
                        "Content-Length: \(visit.media.bytes.count)",
                    ], visit.media.bytes[...]))
        },
    ]

    /// A status with a Retry-After for the first two requests.
    private static func wait(
        _ status: Int, _ name: String, _ value: String?, _ summary: String, due: Due = .rightBytes
    ) -> HostileCase {
        HostileCase("wait-\(status)-\(name)", .status, summary, due: due) { visit in
            guard visit.count("wait") <= 2 else { return .answer(visit.honest()) }
            return .answer(Answer(status, text: "later\n").with { $0.set("Retry-After", value) })
        }
    }

    /// A Retry-After that is too long to wait for, for every request.
    private static func never(_ name: String, _ value: String, _ summary: String) -> HostileCase {
        HostileCase("wait-\(name)", .status, summary, due: .refusal) { _ in
            .answer(Answer(503, text: "later\n").with { $0.set("Retry-After", value) })
        }.promising(.requests(atMost: 2), .ends(withinSeconds: 10))
    }

    static let waits: [HostileCase] = [
        wait(429, "seconds", "1", "429 with `Retry-After: 1`, twice.").promising(.waited(1000)),
        wait(503, "seconds", "2", "503 with `Retry-After: 2`, twice.").promising(.waited(2000)),
        HostileCase(
            "wait-503-date", .status, "503 with Retry-After as a date three seconds ahead, once.", due: .rightBytes
        ) { visit in
            guard visit.isFirst("wait") else { return .answer(visit.honest()) }
            return .answer(
                Answer(503, text: "later\n").with { $0.set("Retry-After", date(secondsAhead: 3)) })
        }.promising(.waited(2000)),
        HostileCase(
            "wait-503-clock", .status,
            "503 with Retry-After as a date two seconds behind the answer's Date, which is a day ahead, once.",
            due: .rightOrRefusal
        ) { visit in
            guard visit.isFirst("wait") else { return .answer(visit.honest()) }
            return .answer(
                Answer(503, text: "later\n").with {
                    $0.set("Date", date(secondsAhead: 86_400))
                    $0.set("Retry-After", date(secondsAhead: 86_402))
                })
        }.promising(.waited(1000)),
        wait(503, "missing", nil, "503 without Retry-After, twice."),
        wait(503, "nonsense", "soon, I hope", "503 with a Retry-After that is no time, twice."),
        wait(503, "empty", "", "503 with an empty Retry-After, twice."),
        wait(503, "negative", "-5", "503 with `Retry-After: -5`, twice."),
        wait(503, "fraction", "0.5", "503 with `Retry-After: 0.5`, twice."),
        wait(503, "past", "Thu, 01 Jan 1970 00:00:00 GMT", "503 with a Retry-After that has passed, twice."),
        wait(503, "zero", "0", "503 with `Retry-After: 0`, twice."),
        HostileCase(
            "wait-zero-endless", .status, "503 with `Retry-After: 0` for ever.", due: .refusal
        ) { _ in .answer(Answer(503, text: "later\n").with { $0.set("Retry-After", "0") }) }
        .promising(.requests(atMost: 20)),
        never("year", "31536000", "503 with a Retry-After of a year."),
        never("huge", "1000000000000000000000000000000", "503 with a Retry-After of 10^30 seconds."),
        never("2-63", "9223372036854775807", "503 with a Retry-After of 2^63 - 1 seconds."),
        never("year-9999", "Fri, 31 Dec 9999 23:59:59 GMT", "503 with a Retry-After at the end of the calendar."),
        HostileCase(
            "wait-on-resume", .status, "The first body is cut; behind it 503 with `Retry-After: 1`, twice.",
            due: .rightBytes
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            guard visit.count("wait") <= 2 else { return .answer(visit.honest()) }
            return .answer(Answer(503, text: "later\n").with { $0.set("Retry-After", "1") })
        }.promising(.waited(1000), .resumed()),
        HostileCase(
            "wait-two-fields", .status, "429 with two Retry-After fields, 1 and 2, once.", due: .rightBytes
        ) { visit in
            guard visit.isFirst("wait") else { return .answer(visit.honest()) }
            return .answer(Answer(429, [("Retry-After", "1"), ("Retry-After", "2")]))
        }.promising(.waited(1000)),
    ]

    static let crowded: [HostileCase] = [
        HostileCase(
            "crowd-ranges", .status, "429 with `Retry-After: 1` for the first three requests inside the file.",
            due: .rightBytes
        ) { visit in
            guard visit.asked.isLaterPart, visit.count("later") <= 3 else { return .answer(visit.honest()) }
            return .answer(Answer(429, text: "one at a time\n").with { $0.set("Retry-After", "1") })
        }.with {
            $0.connections = 4
            $0.size = 8_000_000
        },
        HostileCase(
            "crowd-connections", .status, "503 without Retry-After on the third to the sixth connection.",
            due: .rightBytes
        ) { visit in
            .answer((3...6).contains(visit.connection) ? Answer(503, text: "too many\n") : visit.honest())
        }.with {
            $0.connections = 4
            $0.size = 8_000_000
        },
        HostileCase(
            "crowd-403", .status, "403 for every request inside the file; the whole is served.", due: .rightOrRefusal
        ) { visit in .answer(visit.asked.isLaterPart ? Answer(403, text: "no ranges\n") : visit.honest()) }
        .with {
            $0.connections = 4
            $0.size = 8_000_000
        },
    ]

    /// A date of HTTP.
    ///
    /// - Parameter seconds: from now.
    /// - Returns: IMF-fixdate.
    private static func date(secondsAhead seconds: Int) -> String {
        HTTPDate(Timestamp(milliseconds: Int64(Journal.wallClock() + seconds) * 1000)).headerValue
    }
}
