extension HostileCase {
    /// Several servers of one lecture.
    static let edgesOfMany: [HostileCase] = pools + mirrors
}

extension Visit {
    /// Whether this connection leads to the other edge behind the same address: every second one does.
    fileprivate var isOther: Bool { connection % 2 == 0 }

    /// The same bytes under another validator.
    fileprivate var renamed: Media {
        var media = media
        media.etag = "\"other-edge\""
        return media
    }
}

extension HostileCase {
    /// Parallel ranges served by two edges of one CDN behind one address; every second connection leads to the other
    /// one. The first connection alone would get everything.
    private static func pool(
        _ name: String, _ summary: String, _ due: Due, blind: Due? = nil,
        other: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase("edge-" + name, .edges, summary, due: due, blind: blind) { visit in
            visit.isOther ? other(visit) : .answer(visit.honest())
        }.with {
            $0.size = 9_000_000
            $0.connections = 4
        }
    }

    private static let pools: [HostileCase] = [
        pool("same", "Every second connection leads to another edge, which has the same bytes.", .rightBytes) {
            .answer($0.honest())
        }.promising(.requests(atMost: 12)),
        pool(
            "other-etag", "The other edge has the same bytes under another ETag (Apache's inode in the ETag).",
            .rightBytes
        ) { .answer($0.honest($0.renamed)) },
        pool("no-etag", "The other edge knows no ETag.", .rightBytes) { visit in
            var media = visit.media
            media.etag = nil
            return .answer(visit.honest(media))
        },
        pool("weak-etag", "The other edge makes the ETag weak, as nginx does when it compresses.", .rightBytes) {
            visit in
            .answer(visit.honest().with { $0.set("ETag", "W/\"v1\"") })
        },
        pool("other-version", "The other edge has a newer version with its own ETag.", .rightOrRefusal) { visit in
            .answer(visit.honest(visit.media.next))
        }.with { $0.versions = { [$0.next] } },
        pool(
            "stale-by-length", "The other edge has an older version that is shorter.", .rightOrRefusal
        ) { visit in .answer(visit.honest(Media(count: 8_500_000, seed: 3))) }
        .with { $0.versions = { _ in [Media(count: 8_500_000, seed: 3)] } },
        pool(
            "same-etag-other-bytes",
            "The other edge has other bytes under the same ETag, date and length: indistinguishable.",
            .rightOrRefusal, blind: .unknowable
        ) { visit in
            var media = visit.media.next
            (media.etag, media.lastModified) = (visit.media.etag, visit.media.lastModified)
            return .answer(visit.honest(media))
        },
        pool("no-ranges", "The other edge answers 200 with everything, whatever range is asked for.", .rightBytes) {
            .answer($0.plainWhole)
        },
        pool("range-shifted", "The other edge answers the range that lies one byte further.", .rightOrRefusal) {
            visit in
            var answer = visit.honest()
            guard answer.status == 206, let range = visit.asked.range?.bytes(of: visit.media.bytes.count) else {
                return .answer(answer)
            }
            let (first, last) = (range.lowerBound + 1, min(range.upperBound, visit.media.bytes.count - 1))
            answer.set("Content-Range", "bytes \(first)-\(last)/\(visit.media.bytes.count)")
            answer.body = .bytes(visit.media.bytes[first...last])
            return .answer(answer)
        },
        pool("truncates", "The other edge ends every body with FIN after 700 kB.", .rightBytes) { visit in
            .answer(visit.honest().with { $0.ending = .cut(after: 700_000) })
        },
        pool("stalls-once", "The other edge stops within its first body after 700 kB.", .rightBytes) { visit in
            .answer(visit.honest().with { if visit.isFirst("stall") { $0.ending = .stall(after: 700_000) } })
        },
        pool("slow", "The other edge gives 400 kB a second.", .rightBytes) { visit in
            .answer(visit.honest().with { $0.trickle = (40_000, 100) })
        },
        pool("not-found", "The other edge has not got the lecture yet: 404.", .rightBytes) { _ in .answer(Answer(404))
        },
        pool("forbidden", "The other edge refuses: 403.", .rightBytes) { _ in .answer(Answer(403)) },
        pool("overloaded", "The other edge is overloaded: 503 without Retry-After.", .rightBytes) { _ in
            .answer(Answer(503))
        },
        pool("bad-gateway", "The other edge cannot reach its origin: 502.", .rightBytes) { _ in .answer(Answer(502)) },
        pool("page", "The other edge answers 200 with an error page.", .rightOrRefusal) { _ in
            .answer(Answer(200, text: "<html><title>Oops</title></html>", type: "text/html"))
        },
        pool("resets", "The other edge resets every connection.", .rightBytes) { _ in
            .raw([], then: .reset(after: 0))
        },
        HostileCase("edge-one-connection", .edges, "Of parallel ranges all but the first get 429.", due: .rightBytes) {
            visit in
            guard visit.asked.isLaterPart, visit.count("later") <= 4 else { return .answer(visit.honest()) }
            return .answer(Answer(429))
        }.with {
            $0.size = 9_000_000
            $0.connections = 4
        },
    ]

    /// Two servers; the client is given the second one as a mirror. A program that takes no mirrors asks the first.
    private static func mirror(
        _ name: String, _ summary: String, _ due: Due, blind: Due? = nil, first: Edge = .plain, second: Edge = .plain,
        play: @escaping @Sendable (Visit, _ isMirror: Bool) -> Reply
    ) -> HostileCase {
        HostileCase("mirror-" + name, .edges, summary, due: due, blind: blind) { play($0, $0.edge == 1) }.with {
            $0.edges = [first, second]
            $0.mirrors = [1]
        }
    }

    private static let mirrors: [HostileCase] =
        [
            mirror("same", "The mirror has the same bytes.", .rightBytes) { visit, _ in .answer(visit.honest()) },
            mirror("other-bytes", "The mirror has other bytes of the same length under another ETag.", .rightBytes) {
                .answer($0.honest($1 ? $0.media.next : nil))
            }.parallel,
            mirror(
                "same-etag-other-bytes", "The mirror has other bytes under the same ETag, date and length.", .rightBytes
            ) { visit, isMirror in
                var media = isMirror ? visit.media.next : visit.media
                (media.etag, media.lastModified) = (visit.media.etag, visit.media.lastModified)
                return .answer(visit.honest(media))
            }.parallel,
            mirror("other-length", "The mirror has another file, which is shorter.", .rightBytes) { visit, isMirror in
                .answer(visit.honest(isMirror ? Media(count: 8_000_000, seed: 5) : nil))
            }.parallel,
            mirror("dead", "The mirror resets every connection.", .rightBytes) { visit, isMirror in
                isMirror ? .raw([], then: .reset(after: 0)) : .answer(visit.honest())
            }.parallel,
            mirror("silent", "The mirror never answers.", .rightBytes) { visit, isMirror in
                isMirror ? .raw([], then: .stall(after: 0)) : .answer(visit.honest())
            }.parallel,
            mirror("slow", "The mirror gives 400 kB a second.", .rightBytes) { visit, isMirror in
                .answer(visit.honest().with { if isMirror { $0.trickle = (40_000, 100) } })
            }.parallel,
            mirror("page", "The mirror answers 200 with an error page.", .rightBytes) { visit, isMirror in
                guard isMirror else { return .answer(visit.honest()) }
                return .answer(Answer(200, text: "<html><title>Oops</title></html>", type: "text/html"))
            }.parallel,
            mirror("redirects-back", "The mirror redirects to the first server.", .rightBytes) { visit, isMirror in
                guard isMirror else { return .answer(visit.honest()) }
                return .answer(Answer(302, [("Location", visit.bases[0] + visit.asked.target)]))
            }.parallel,
            mirror("waits", "The mirror answers 429 with Retry-After of an hour.", .rightBytes) { visit, isMirror in
                .answer(isMirror ? Answer(429, [("Retry-After", "3600")]) : visit.honest())
            }.parallel,
            mirror(
                "untrusted", "The mirror's certificate is by an untrusted authority.", .rightBytes,
                second: .secure(Security { $0.certificate = .unknownAuthority })
            ) { visit, _ in .answer(visit.honest()) }.parallel.promising(.untouched(1)),
            mirror(
                "over-http2", "The first server speaks HTTP/2, and the mirror HTTP/1.1 in clear.", .rightBytes,
                first: .http2()
            ) { visit, _ in .answer(visit.honest()) },
            mirror(
                "credentials", "The user's credentials are for the first server, and the mirror is another one.",
                .rightBytes
            ) { visit, _ in .answer(visit.honest()) }.parallel.with { $0.sendsCredentials = true }
                .promising(.credentialsStay),
            mirror("all-dead", "Both servers reset every connection.", .refusal) { _, _ in
                .raw([], then: .reset(after: 0))
            },
            mirror("all-gone", "Both servers answer 404.", .refusal) { _, _ in .answer(Answer(404)) },
        ] + lastHopes.map { hope in hope.with { $0.needsMirrors = true } }

    /// The first server fails, and only the mirror can help; expected of clients that take mirrors.
    private static let lastHopes: [HostileCase] = [
        mirror("first-dead", "The first server resets every connection; the mirror is well.", .rightBytes) {
            $1 ? .answer($0.honest()) : .raw([], then: .reset(after: 0))
        },
        mirror("first-gone", "The first server answers 404; the mirror is well.", .rightBytes) { visit, isMirror in
            .answer(isMirror ? visit.honest() : Answer(404))
        },
        mirror("first-page", "The first server answers with a page; the mirror is well.", .rightBytes) {
            .answer($1 ? $0.honest() : Answer(200, text: "<html></html>", type: "text/html"))
        },
        mirror(
            "first-waits", "The first server answers 503 and asks to wait an hour; the mirror is well.", .rightBytes
        ) {
            .answer($1 ? $0.honest() : Answer(503, [("Retry-After", "3600")]))
        },
        mirror(
            "first-untrusted", "The first server's certificate has expired; the mirror is well.", .rightBytes,
            first: .secure(Security { $0.certificate = .expired })
        ) { visit, _ in .answer(visit.honest()) }.promising(.untouched(0)),
        // Without a digest nothing shows that the mirror has the same file; received data is not discarded for a guess.
        mirror(
            "first-dies", "The first server is gone for good after 2 MB; the mirror is well.", .rightBytes,
            blind: .rightOrRefusal
        ) {
            visit, isMirror in
            if isMirror { return .answer(visit.honest()) }
            guard visit.isFirst("body") else { return .raw([], then: .reset(after: 0)) }
            return .answer(visit.honest().with { $0.ending = .cut(after: 2_000_000) })
        },
        mirror(
            "first-dies-other-bytes", "The first server is gone for good after 2 MB; the mirror has another version.",
            .refusal, blind: .rightOrRefusal
        ) { visit, isMirror in
            if isMirror { return .answer(visit.honest(visit.media.next)) }
            guard visit.isFirst("body") else { return .raw([], then: .reset(after: 0)) }
            return .answer(visit.honest().with { $0.ending = .cut(after: 2_000_000) })
        }.with { $0.versions = { [$0.next] } },
        mirror(
            "first-dies-same-etag",
            "The first server is gone for good after 2 MB; the mirror has other bytes under the same ETag.",
            .refusal, blind: .rightOrRefusal
        ) { visit, isMirror in
            guard !isMirror else {
                var media = visit.media.next
                (media.etag, media.lastModified) = (visit.media.etag, visit.media.lastModified)
                return .answer(visit.honest(media))
            }
            guard visit.isFirst("body") else { return .raw([], then: .reset(after: 0)) }
            return .answer(visit.honest().with { $0.ending = .cut(after: 2_000_000) })
        }.with { $0.versions = { [$0.next] } },
    ]

    /// Long enough for several connections, which the client is asked to use.
    private var parallel: HostileCase {
        with {
            $0.size = 9_000_000
            $0.connections = 4
        }
    }
}
