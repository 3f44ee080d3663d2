extension HostileCase {
    /// Two listeners, which are two origins; the client's credentials are for the first one.
    private static func guarded(_ hostileCase: HostileCase) -> HostileCase {
        hostileCase.with {
            $0.edges = [.plain, .plain]
            $0.sendsCredentials = true
        }.promising(.credentialsStay)
    }

    static let otherOrigins: [HostileCase] = [
        guarded(
            HostileCase(
                "origin-other", .redirects, "A redirect to another origin, to which no credentials may go.",
                due: .rightBytes
            ) { visit in
                visit.edge == 1
                    ? .answer(visit.honest()) : .answer(Answer(302, [("Location", "\(visit.bases[1])/moved.mp4")]))
            }),
        guarded(
            HostileCase(
                "origin-later", .redirects, "The first body is cut; the resumed request is sent to another origin.",
                due: .rightBytes
            ) { visit in
                if visit.edge == 1 { return .answer(visit.honest()) }
                return visit.cutOnce() ?? .answer(Answer(307, [("Location", "\(visit.bases[1])/moved.mp4")]))
            }
        ).promising(.resumed()),
        guarded(
            HostileCase(
                "origin-back", .redirects, "To another origin and back, where the credentials are asked for.",
                due: .rightOrRefusal
            ) { visit in
                if visit.edge == 1 { return .answer(Answer(302, [("Location", "\(visit.bases[0])/moved.mp4")])) }
                if visit.asked.path == "/lecture.mp4" {
                    return .answer(Answer(302, [("Location", "\(visit.bases[1])/hop")]))
                }
                return .answer(visit.asked.hasCredentials ? visit.honest() : Answer(401, text: "who?\n"))
            }),
        guarded(
            HostileCase(
                "origin-confusing", .redirects, "A URL of which some parsers take the first host, others the second.",
                due: .rightOrRefusal
            ) { visit in
                if visit.edge == 1 || visit.asked.path != "/lecture.mp4" { return .answer(visit.honest()) }
                let second = visit.bases[1].dropFirst("http://".count)
                return .answer(Answer(302, [("Location", "\(visit.bases[0])\\@\(second)/moved.mp4")]))
            }),
        guarded(
            HostileCase(
                "origin-challenge", .redirects, "Another origin that answers with a Basic challenge.", due: .refusal
            ) { visit in
                if visit.edge == 0 { return .answer(Answer(302, [("Location", "\(visit.bases[1])/moved.mp4")])) }
                return .answer(Answer(401, text: "who?\n").with { $0.set("WWW-Authenticate", "Basic realm=\"x\"") })
            }),
        guarded(
            HostileCase(
                "origin-user", .redirects, "A redirect to another origin with user information of its own.",
                due: .rightOrRefusal
            ) { visit in
                if visit.edge == 1 { return .answer(visit.honest()) }
                let place = visit.bases[1].dropFirst("http://".count)
                return .answer(Answer(302, [("Location", "http://admin:admin@\(place)/moved.mp4")]))
            }
        ).with { $0.promises = [] },
    ]

    static let movingTargets: [HostileCase] = [
        HostileCase(
            "target-tokens", .redirects, "Each request is led to a URL that is good for one answer; bodies are cut.",
            due: .rightBytes
        ) { visit in
            if visit.asked.path == "/lecture.mp4" {
                return .answer(Answer(302, [("Location", "/token-\(visit.number)")]))
            }
            guard visit.isFirst(visit.asked.path) else { return .answer(Answer(403, text: "used\n")) }
            return .answer(visit.honest().with { if visit.isFirst("body") { $0.ending = .cut(after: 2_000_000) } })
        }.promising(.resumed()),
        HostileCase(
            "target-expires", .redirects,
            "The redirect's target is cut and answers 403 from then on; the first URL leads to a new one.",
            due: .rightBytes
        ) { visit in
            if visit.asked.path == "/lecture.mp4" {
                let number = visit.count("lead")
                return .answer(Answer(302, [("Location", "/signed-\(number)")]))
            }
            guard visit.asked.path == "/signed-1" else { return .answer(visit.honest()) }
            return visit.cutOnce() ?? .answer(Answer(403, text: "expired\n"))
        }.promising(.resumed()),
        HostileCase(
            "target-dead", .redirects, "Every second redirect leads to a node that answers 403.",
            due: .rightOrRefusal
        ) { visit in
            if visit.asked.path == "/lecture.mp4" {
                return .answer(Answer(302, [("Location", visit.count("lead") % 2 == 1 ? "/dead" : "/alive")]))
            }
            return .answer(visit.asked.path == "/dead" ? Answer(403, text: "no\n") : visit.honest())
        },
        HostileCase(
            "target-stale", .redirects,
            "The first body is cut; the resumed request is led to a mirror with another version, later ones are not.",
            due: .rightOrRefusal
        ) { visit in
            if visit.asked.path == "/stale" { return .answer(visit.honest(visit.media.next)) }
            if let reply = visit.cutOnce() { return reply }
            return visit.isFirst("lead") ? .answer(Answer(302, [("Location", "/stale")])) : .answer(visit.honest())
        },
        HostileCase(
            "target-permanent", .redirects, "301 once to a URL that is gone later; the first URL is good again.",
            due: .rightBytes
        ) { visit in
            if visit.asked.path == "/moved.mp4" { return visit.cutOnce() ?? .answer(Answer(404, text: "gone\n")) }
            return visit.isFirst("lead")
                ? .answer(Answer(301, [("Location", "/moved.mp4")])) : .answer(visit.honest())
        }.promising(.resumed()),
        HostileCase(
            "target-refresh", .redirects, "200 with a Refresh field and a page that leads on by script.",
            due: .refusal
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            let page =
                "<html><meta http-equiv=refresh content='0;url=/moved.mp4'><script>location='/moved.mp4'</script>"
            return .answer(
                Answer(200, text: page, type: "text/html").with { $0.set("Refresh", "0; url=/moved.mp4") })
        },
    ]
}
