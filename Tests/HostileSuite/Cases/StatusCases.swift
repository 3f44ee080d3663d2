import LectureModel

extension HostileCase {
    /// Statuses that carry no file, and waiting.
    static let statuses: [HostileCase] =
        refusedForGood + refusedOnResume + passing + otherSuccesses + strangeStatuses + informational + waits
        + crowded

    /// A status for every request.
    private static func always(_ status: Int, _ summary: String, atMost requests: Int = 3) -> HostileCase {
        HostileCase("status-\(status)", .status, summary, due: .refusal) { _ in
            .answer(Answer(status, text: "no\n"))
        }.promising(.requests(atMost: requests))
    }

    private static let refusedForGood: [HostileCase] = [
        always(300, "300 Multiple Choices without a Location."),
        always(305, "305 Use Proxy, which clients ignore since RFC 2616."),
        always(400, "400 Bad Request."),
        HostileCase("status-401", .status, "401 with a Basic challenge.", due: .refusal) { _ in
            .answer(Answer(401, text: "no\n").with { $0.set("WWW-Authenticate", "Basic realm=\"lectures\"") })
        }.promising(.requests(atMost: 3)),
        always(403, "403 Forbidden."),
        always(404, "404 Not Found."),
        always(409, "409 Conflict."),
        always(410, "410 Gone."),
        always(418, "418, which is not in use."),
        always(451, "451 Unavailable For Legal Reasons."),
        always(499, "499, unknown to every registry: it counts as 400 (RFC 9110 section 15)."),
        always(501, "501 Not Implemented."),
        always(505, "505 HTTP Version Not Supported."),
        always(511, "511 Network Authentication Required (RFC 6585), the honest captive portal."),
        always(500, "500 for ever.", atMost: 12),
    ]

    private static func onResume(_ status: Int, _ summary: String) -> HostileCase {
        HostileCase("resume-\(status)", .status, summary, due: .refusal) { visit in
            visit.cutOnce() ?? .answer(Answer(status, text: "no\n"))
        }.promising(.requests(atMost: 12))
    }

    private static let refusedOnResume: [HostileCase] = [
        onResume(401, "The first body is cut; after it the session is over, and all is 401."),
        onResume(403, "The first body is cut; after it the signed URL has run out, and all is 403."),
        onResume(404, "The first body is cut; after it the file is gone, and all is 404."),
        HostileCase(
            "resume-404-once", .status, "The first body is cut; one node answers 404, later ones have the file.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            return .answer(visit.isFirst("404") ? Answer(404, text: "no\n") : visit.honest())
        },
        HostileCase(
            "resume-304", .status, "The first body is cut; what follows is 304, although nothing was conditional.",
            due: .refusal
        ) { visit in visit.cutOnce() ?? .answer(Answer(304, [("ETag", visit.media.etag ?? "")])) },
        HostileCase(
            "resume-412", .status, "The first body is cut; every If-Range is answered with 412, others honestly.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            return .answer(visit.asked.field("If-Range") == nil ? visit.honest() : Answer(412, text: "no\n"))
        },
    ]

    private static func once(_ status: Int, _ summary: String) -> HostileCase {
        HostileCase("once-\(status)", .status, summary, due: .rightBytes) { visit in
            .answer(visit.isFirst("status") ? Answer(status, text: "later\n") : visit.honest())
        }
    }

    private static let passing: [HostileCase] = [
        once(408, "408 Request Timeout once."),
        HostileCase(
            "once-408-closed", .status, "408 with `Connection: close` once, as proxies say it of idle connections.",
            due: .rightBytes
        ) { visit in
            guard visit.isFirst("status") else { return .answer(visit.honest()) }
            return .answer(
                Answer(408, text: "idle\n").with {
                    $0.set("Connection", "close")
                    $0.ending = .closed
                })
        },
        HostileCase(
            "once-421", .status, "421 Misdirected Request once: another connection would do.", due: .rightOrRefusal
        ) { visit in .answer(visit.isFirst("status") ? Answer(421, text: "elsewhere\n") : visit.honest()) },
        once(425, "425 Too Early once."),
        once(500, "500 once."),
        once(502, "502 once."),
        once(504, "504 once."),
        HostileCase(
            "once-500-with-length", .status, "500 once whose head has the lecture's fields and whose body is cut.",
            due: .rightBytes
        ) { visit in
            guard visit.isFirst("status") else { return .answer(visit.honest()) }
            return .answer(
                visit.plainWhole.with {
                    $0.status = 500
                    $0.ending = .cut(after: 1_000_000)
                })
        },
        HostileCase(
            "resume-502-thrice", .status, "Each body is cut after 1 MB, and behind each cut comes one 502.",
            due: .rightBytes
        ) { visit in
            if visit.count("request") % 2 == 0 { return .answer(Answer(502, text: "later\n")) }
            return .answer(visit.honest().with { $0.ending = .cut(after: 1_100_000) })
        }.promising(.resumed()),
    ]

    /// The lecture's own bytes under a status that is not 200.
    private static func labelled(_ status: Int, _ summary: String) -> HostileCase {
        HostileCase("label-\(status)", .status, summary, due: .rightOrRefusal) { visit in
            .answer(visit.plainWhole.with { $0.status = status })
        }
    }

    private static let otherSuccesses: [HostileCase] = [
        HostileCase("status-204", .status, "204 No Content.", due: .refusal) { _ in .answer(Answer(204)) },
        HostileCase(
            "status-204-with-body", .status, "204 with a Content-Length and a body, which 204 cannot have.",
            due: .refusal
        ) { _ in
            .raw(Answer.raw(["HTTP/1.1 204 No Content", "Content-Length: 7"], Array("nothing".utf8)[...]))
        },
        HostileCase("status-205", .status, "205 Reset Content.", due: .refusal) { _ in .answer(Answer(205)) },
        labelled(201, "The right bytes with 201 Created."),
        labelled(202, "The right bytes with 202 Accepted, which promises them for later."),
        labelled(207, "The right bytes with 207 Multi-Status."),
        labelled(226, "The right bytes with 226 IM Used (RFC 3229)."),
        labelled(299, "The right bytes with 299, which counts as 200."),
        HostileCase(
            "status-202-waiting", .status, "202 with `Retry-After: 1` while the file is being made; then the file.",
            due: .rightOrRefusal
        ) { visit in
            guard visit.count("202") <= 2 else { return .answer(visit.honest()) }
            return .answer(Answer(202, text: "in the making\n").with { $0.set("Retry-After", "1") })
        },
        HostileCase(
            "status-206-unasked", .status, "The first MB as 206 with a true Content-Range, asked or not.",
            due: .rightOrRefusal
        ) { visit in
            let first = visit.asked.range?.first ?? 0
            let end = min(first + 1_000_000, visit.media.bytes.count)
            guard first < end else { return .answer(visit.honest()) }
            var answer = visit.plainWhole
            answer.status = 206
            answer.set("Content-Range", "bytes \(first)-\(end - 1)/\(visit.media.bytes.count)")
            answer.body = .bytes(visit.media.bytes[first..<end])
            return .answer(answer)
        },
        HostileCase(
            "status-206-bare", .status, "The whole lecture as 206 without a Content-Range.", due: .rightOrRefusal
        ) { visit in .answer(visit.plainWhole.with { $0.status = 206 }) },
    ]

    /// A status line of any form, with a text behind it that is not the lecture.
    private static func line(_ name: String, _ line: String, _ summary: String) -> HostileCase {
        HostileCase("line-\(name)", .status, summary, due: .refusal) { _ in
            .raw(Answer.raw([line, "Content-Type: video/mp4", "Content-Length: 7"], Array("denied\n".utf8)[...]))
        }.promising(.requests(atMost: 12))
    }

    private static let strangeStatuses: [HostileCase] = [
        line("600", "HTTP/1.1 600 Beyond", "Status 600, beyond the classes."),
        line("999", "HTTP/1.1 999 Request Denied", "Status 999, as a well-known site sends it to robots."),
        line("099", "HTTP/1.1 099 Below", "Status 099."),
        line("000", "HTTP/1.1 000 None", "Status 000."),
        line("letters", "HTTP/1.1 2OO OK", "A status with two letters O."),
        line("two-digits", "HTTP/1.1 20 OK", "A status of two digits."),
        line("four-digits", "HTTP/1.1 4040 Not Found", "A status of four digits."),
        line("negative", "HTTP/1.1 -200 OK", "A negative status."),
        line("no-status", "HTTP/1.1", "A status line without a status."),
    ]
}
