import LectureTestSupport

extension HostileCase {
    /// Not the object, or not even HTTP.
    static let impostors: [HostileCase] =
        portals + texts + laterPortals + wrongObjects + largeHeads + notHTTP + otherVersions + oddFields
        + contraryFields

    /// The same page for every request.
    private static func portal(
        _ name: String, _ summary: String, type: String?, blind: Due = .refusal, page: String = Answer.page
    ) -> HostileCase {
        HostileCase("portal-\(name)", .impostors, summary, due: .refusal, blind: blind) { _ in
            .answer(Answer(200, text: page).with { $0.set("Content-Type", type) })
        }.promising(.requests(atMost: 3))
    }

    private static let portals: [HostileCase] = [
        portal("page", "A sign-in page with 200 for every URL.", type: "text/html; charset=utf-8"),
        portal("xhtml", "A sign-in page in XHTML.", type: "application/xhtml+xml"),
        portal("untyped", "A sign-in page without a Content-Type.", type: nil),
        portal("as-video", "A sign-in page that calls itself `video/mp4`.", type: "video/mp4"),
        portal("as-text", "A sign-in page that calls itself `text/plain`.", type: "text/plain"),
        portal(
            "after-space", "A sign-in page behind a byte order mark and empty lines, as `application/octet-stream`.",
            type: "application/octet-stream", page: "\u{FEFF}\r\n\r\n\t <HTML>\n<BODY>sign in</BODY></HTML>\n"),
        HostileCase(
            "portal-of-right-length", .impostors, "A sign-in page that is as long as the lecture.", due: .refusal
        ) { visit in
            let page = Array(Answer.page.utf8)
            let filler = [UInt8](repeating: 0x20, count: visit.media.bytes.count - page.count)
            return .answer(Answer(200, [("Content-Type", "text/html")], body: (page + filler)[...]))
        }.promising(.requests(atMost: 5)),
        HostileCase("portal-redirect", .impostors, "302 to a sign-in page on another server.", due: .refusal) { visit in
            visit.edge == 1
                ? .answer(Answer(200, text: Answer.page, type: "text/html"))
                : .answer(Answer(302, [("Location", "\(visit.bases[1])/login")]))
        }.with {
            $0.edges = [.plain, .plain]
            $0.sendsCredentials = true
        }.promising(.credentialsStay),
        HostileCase(
            "portal-json", .impostors, "200 and `application/json` with an error.", due: .refusal
        ) { _ in
            .answer(Answer(200, text: "{\"error\":\"session expired\"}", type: "application/json"))
        },
        HostileCase(
            "portal-xml", .impostors, "200 and `application/xml` with an error, as object stores write it.",
            due: .refusal
        ) { _ in
            .answer(
                Answer(
                    200, text: "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>",
                    type: "application/xml"))
        },
    ]

    private static let texts: [HostileCase] = [
        portal(
            "text-as-video", "A sentence that calls itself `video/mp4`.", type: "video/mp4",
            page: "Please sign in to the campus network.\n"),
        portal(
            "json-as-video", "JSON that calls itself `video/mp4`.", type: "video/mp4",
            page: "{\"error\":\"session expired\"}"),
        portal(
            "json-as-bytes", "JSON that calls itself `application/octet-stream`.", type: "application/octet-stream",
            page: "{\"error\":\"session expired\"}"),
        portal(
            "playlist-as-bytes", "An HLS playlist that calls itself `application/octet-stream`.",
            type: "application/octet-stream", page: "#EXTM3U\n#EXTINF:9,\npart1.ts\n"),
        portal(
            "playlist-as-ts", "An HLS playlist that calls itself `video/mp2t`.", type: "video/mp2t",
            page: "#EXTM3U\n#EXTINF:9,\npart1.ts\n"),
        portal(
            "manifest-untyped", "A DASH manifest without a Content-Type.", type: nil,
            page: "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n"),
        portal(
            "archive-as-video", "The beginning of an archive that calls itself `video/mp4`.", type: "video/mp4",
            page: "PK\u{3}\u{4}\u{14}\0\0\0\u{8}\0"),
    ]

    private static let laterPortals: [HostileCase] = [
        HostileCase(
            "portal-once", .impostors, "A sign-in page for the first request, the lecture for all others.",
            due: .rightOrRefusal
        ) { visit in
            .answer(visit.isFirst("page") ? Answer(200, text: Answer.page, type: "text/html") : visit.honest())
        },
        HostileCase(
            "portal-on-resume", .impostors, "The first body is cut; behind it all is a sign-in page with 200.",
            due: .refusal
        ) { visit in visit.cutOnce() ?? .answer(Answer(200, text: Answer.page, type: "text/html")) },
        HostileCase(
            "portal-in-between", .impostors, "The first body is cut; one sign-in page as `video/mp4`, then the rest.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            return .answer(visit.isFirst("page") ? Answer(200, text: Answer.page, type: "video/mp4") : visit.honest())
        },
        HostileCase(
            "portal-as-206", .impostors, "The first body is cut; a 206 with the right range holds a page and zeros.",
            due: .refusal, blind: .unknowable
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            var answer = visit.honest()
            let page = Array(Answer.page.utf8)
            let count = answer.body.count
            answer.body = .bytes((page + [UInt8](repeating: 0, count: max(0, count - page.count))).prefix(count))
            return .answer(answer)
        },
    ]

    private static let wrongObjects: [HostileCase] = [
        HostileCase(
            "empty-object", .impostors, "An empty object, with all signs of an honest one.", due: .refusal
        ) { visit in .answer(visit.honest(visit.media.changed { _ in [] })) },
        HostileCase(
            "empty-on-resume", .impostors, "The first body is cut; one empty 200 follows, then the rest.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            return .answer(visit.isFirst("empty") ? Answer(200, [("Content-Type", "video/mp4")]) : visit.honest())
        },
        HostileCase(
            "other-object", .impostors, "Another lecture of the same length, by mistake of a cache.",
            due: .refusal, blind: .unknowable
        ) { visit in .answer(visit.honest(visit.media.next)) },
        HostileCase("playlist", .impostors, "An HLS playlist in place of the lecture.", due: .refusal) { _ in
            .answer(
                Answer(200, text: "#EXTM3U\n#EXTINF:9,\npart1.ts\n", type: "application/vnd.apple.mpegurl"))
        },
    ]

    private static let largeHeads: [HostileCase] = [
        HostileCase(
            "head-10000-fields", .impostors, "10,000 fields, then the lecture.", due: .rightOrRefusal
        ) { visit in
            .answer(visit.honest().with { for number in 0..<10_000 { $0.fields.append(("X-\(number)", "filler")) } })
        }.promising(.requests(atMost: 12)),
        HostileCase("head-10-mib-field", .impostors, "One field of 10 MiB.", due: .rightOrRefusal) { visit in
            .answer(
                visit.honest().with { $0.fields.append(("X-Filler", String(repeating: "x", count: 10 << 20))) })
        }.promising(.requests(atMost: 12)),
        HostileCase("head-endless", .impostors, "Fields without an end, as fast as it goes.", due: .refusal) { _ in
            .answer(
                Answer(200).with {
                    $0.interim = ["HTTP/1.1 200 OK\r\n"]
                    $0.flood = (Array("X-Filler: and on and on and on\r\n".utf8), 0)
                })
        }.promising(.requests(atMost: 12)),
        HostileCase("head-endless-line", .impostors, "A status line without an end.", due: .refusal) { _ in
            .answer(
                Answer(200).with {
                    $0.interim = ["HTTP/1.1 200 "]
                    $0.flood = ([UInt8](repeating: 0x4F, count: 4096), 0)
                })
        }.promising(.requests(atMost: 12)),
        HostileCase("head-cut", .impostors, "A status line and a field, then FIN, every time.", due: .refusal) { _ in
            .raw(Array("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n".utf8))
        }.promising(.requests(atMost: 12)),
        HostileCase("head-cut-once", .impostors, "A status line, then FIN, once.", due: .rightBytes) { visit in
            visit.isFirst("head") ? .raw(Array("HTTP/1.1 200 OK\r\n".utf8)) : .answer(visit.honest())
        },
    ]

    /// Bytes that are not HTTP, for every request.
    private static func bytes(_ name: String, _ bytes: [UInt8], _ summary: String) -> HostileCase {
        HostileCase("not-http-\(name)", .impostors, summary, due: .refusal) { _ in .raw(bytes) }
            .promising(.requests(atMost: 12))
    }

    private static let notHTTP: [HostileCase] = [
        bytes("ssh", Array("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n".utf8), "An SSH server."),
        bytes("smtp", Array("220 mail.example.net ESMTP\r\n".utf8), "A mail server."),
        bytes("ftp", Array("220 (vsFTPd 3.0.3)\r\n".utf8), "An FTP server."),
        bytes("tls-alert", [0x15, 0x03, 0x03, 0, 2, 2, 70], "A TLS server, which answers a TLS alert."),
        bytes("random", Media(count: 5000, seed: 77).bytes, "5,000 random bytes."),
        bytes("newlines", [UInt8](repeating: 0x0A, count: 1000), "1,000 line ends."),
        bytes("nothing", [], "Nothing but FIN."),
        bytes("http2-settings", [0, 0, 0, 4, 0, 0, 0, 0, 0], "An HTTP/2 server with prior knowledge."),
        HostileCase(
            "not-http-0.9", .impostors, "The bare lecture without a head, as HTTP/0.9.", due: .rightOrRefusal
        ) { visit in .raw(visit.media.bytes) },
        HostileCase(
            "not-http-reset", .impostors, "RST in place of an answer, once.", due: .rightBytes
        ) { visit in visit.isFirst("reset") ? .raw([], then: .reset(after: 0)) : .answer(visit.honest()) },
    ]
}
