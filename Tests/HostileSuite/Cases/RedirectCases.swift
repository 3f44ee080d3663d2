extension HostileCase {
    /// Redirects, and the credentials that go with them.
    static let redirects: [HostileCase] =
        plainRedirects + redirectChains + redirectForms + brokenLocations + foreignSchemes + otherOrigins
        + movingTargets

    /// The first URL redirects; every other path is the lecture.
    static func moved(_ visit: Visit, _ location: String?, status: Int = 302) -> Reply {
        guard visit.asked.target == "/lecture.mp4" else { return .answer(visit.honest()) }
        return .answer(Answer(status, text: "moved\n").with { $0.set("Location", location) })
    }

    private static func redirect(_ status: Int, _ summary: String) -> HostileCase {
        HostileCase("redirect-\(status)", .redirects, summary, due: .rightBytes) { visit in
            moved(visit, "/moved.mp4", status: status)
        }.promising(.requests(atMost: 8))
    }

    private static let plainRedirects: [HostileCase] = [
        redirect(301, "301 with an absolute path."),
        redirect(302, "302 with an absolute path."),
        redirect(303, "303 with an absolute path."),
        redirect(307, "307 with an absolute path."),
        redirect(308, "308 with an absolute path."),
        HostileCase("redirect-body", .redirects, "302 whose body has 1 GiB.", due: .rightBytes) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .answer(Answer(302, [("Location", "/moved.mp4")]).with { $0.body = .zeros(1 << 30) })
        }.promising(.sent(atMost: 64 << 20)),
        HostileCase(
            "redirect-endless-body", .redirects, "302 whose chunked body comes slowly and never ends.",
            due: .rightBytes
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .answer(
                Answer(302, [("Location", "/moved.mp4")]).with {
                    $0.body = .zeros(1 << 20)
                    $0.framing = .chunked
                    $0.trickle = (100, 100)
                })
        },
        HostileCase(
            "redirect-300", .redirects, "300 with a Location, which a client may follow.", due: .rightOrRefusal
        ) { moved($0, "/moved.mp4", status: 300) },
        HostileCase(
            "redirect-304", .redirects, "304 with a Location, although nothing was conditional.", due: .rightOrRefusal
        ) { moved($0, "/moved.mp4", status: 304) },
        HostileCase(
            "redirect-201", .redirects, "201 Created with a Location and a short text.", due: .rightOrRefusal
        ) { moved($0, "/moved.mp4", status: 201) },
    ]

    /// A chain of so many redirects.
    private static func chain(_ name: String, _ count: Int, _ summary: String, due: Due) -> HostileCase {
        HostileCase("redirect-\(name)", .redirects, summary, due: due) { visit in
            let hop = visit.asked.path.split(separator: "-").last.flatMap { Int($0) } ?? 0
            if hop >= count { return .answer(visit.honest()) }
            return .answer(Answer(302, [("Location", "/hop-\(hop + 1)")]))
        }
    }

    private static let redirectChains: [HostileCase] = [
        chain("five", 5, "Five redirects in a row.", due: .rightBytes),
        chain("ten", 10, "Ten redirects in a row.", due: .rightBytes),
        chain("thirty", 30, "Thirty redirects in a row, to the lecture.", due: .rightOrRefusal),
        chain("endless", .max, "Every redirect leads to another one, always a new URL.", due: .refusal),
        HostileCase("redirect-self", .redirects, "A redirect to the same URL.", due: .refusal) { visit in
            .answer(Answer(302, [("Location", visit.asked.target)]))
        },
        HostileCase("redirect-pair", .redirects, "Two URLs that lead to each other.", due: .refusal) { visit in
            .answer(Answer(302, [("Location", visit.asked.path == "/a" ? "/b" : "/a")]))
        },
        HostileCase(
            "redirect-growing", .redirects, "Every redirect makes the URL longer by 4,000 bytes.", due: .refusal
        ) { visit in .answer(Answer(302, [("Location", visit.asked.target + String(repeating: "x", count: 4000))])) },
        HostileCase(
            "redirect-cookie-wall", .redirects, "The same URL again until a cookie that is set comes back.",
            due: .rightOrRefusal
        ) { visit in
            if visit.asked.field("Cookie")?.contains("seen=1") == true { return .answer(visit.honest()) }
            return .answer(Answer(302, [("Location", visit.asked.target), ("Set-Cookie", "seen=1; Path=/")]))
        },
    ]

    /// A reference that leads to the lecture; `BASE` is replaced by the server.
    private static func form(
        _ name: String, _ location: String, _ summary: String, due: Due = .rightBytes
    ) -> HostileCase {
        HostileCase("location-\(name)", .redirects, summary, due: due) { visit in
            let place = visit.bases[0].dropFirst("http://".count)
            let port = place.drop { $0 != ":" }.dropFirst()
            let parts = location.replacing("BASE", with: visit.bases[0]).replacing("PLACE", with: place)
                .replacing("PORT", with: port)
            return moved(visit, parts)
        }
    }

    private static let redirectForms: [HostileCase] = [
        form("absolute", "BASE/moved.mp4", "An absolute URL."),
        form("relative", "moved.mp4", "A relative path."),
        form("dots", "../../a/./../moved.mp4", "A relative path with dot segments above the root."),
        form("query", "?moved=1", "A query alone."),
        form("no-scheme", "//PLACE/moved.mp4", "A reference that begins with `//`."),
        form("fragment", "/moved.mp4#t=10", "A fragment, which is not to be sent.").promising(
            Promise("no fragment") { evidence in
                evidence.journal.contains { $0.asked.target.contains("#") } ? "a fragment was sent" : nil
            }),
        form("upper-case", "HTTP://PLACE/moved.mp4", "The scheme in capitals."),
        form("space", "/a lecture.mp4", "A space in the path, not encoded.", due: .rightOrRefusal),
        form("utf-8", "/vörlesung-講義.mp4", "UTF-8 in the path, not encoded.", due: .rightOrRefusal),
        form("percent", "/a%2Fb%20c.mp4", "An encoded slash, which must stay encoded.").promising(
            Promise("encoding kept") { evidence in
                evidence.journal.dropFirst().contains { $0.asked.path != "/a%2Fb%20c.mp4" }
                    ? "the path was changed" : nil
            }),
        form("hexadecimal", "http://0x7f000001:PORT/moved.mp4", "127.0.0.1 as 0x7f000001.", due: .rightOrRefusal),
        form("decimal", "http://2130706433:PORT/moved.mp4", "127.0.0.1 as 2130706433.", due: .rightOrRefusal),
        form("short", "http://127.1:PORT/moved.mp4", "127.0.0.1 as 127.1.", due: .rightOrRefusal),
        form(
            "mapped", "http://[::ffff:127.0.0.1]:PORT/moved.mp4", "127.0.0.1 as an IPv6 address.",
            due: .rightOrRefusal),
        form(
            "backslashes", "http:\\\\PLACE\\moved.mp4", "Backslashes in place of slashes, as browsers take them.",
            due: .rightOrRefusal),
        form("one-slash", "http:/PLACE/moved.mp4", "One slash behind the scheme.", due: .rightOrRefusal),
        form("three-slashes", "http:///PLACE/moved.mp4", "Three slashes behind the scheme.", due: .rightOrRefusal),
        form("white-space", "\t  /moved.mp4 \t", "White space around the reference."),
        form("user", "http://user:word@PLACE/moved.mp4", "User information in the URL.", due: .rightOrRefusal),
    ]
}
