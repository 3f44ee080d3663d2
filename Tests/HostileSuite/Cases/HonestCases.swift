extension HostileCase {
    /// Allowed by HTTP, or so common that clients must accept it, and still a trap.
    static let honestButOdd: [HostileCase] = validators + fields + framings + sizes

    private static func honest(
        _ name: String, _ summary: String, play: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase(name, .honest, summary, due: .rightBytes, play: play)
    }

    /// The same fields on every answer; the first body is cut, so that validators and ranges matter.
    private static func dressed(
        _ name: String, _ summary: String, _ change: @escaping @Sendable (inout Answer) -> Void
    ) -> HostileCase {
        honest(name, summary) { visit in
            let cut = !visit.asked.isLaterPart && visit.isFirst("whole")
            return visit.but {
                change(&$0)
                if cut { $0.ending = .cut(after: 1_500_000) }
            }
        }.promising(.requests(atMost: 8))
    }

    // MARK: Validators

    private static let validators: [HostileCase] = [
        honest("plain", "An honest origin with ranges and strong validators.") { .answer($0.honest()) }
            .promising(.requests(atMost: 6), .resumed(wasting: 0)),
        dressed("no-validators", "Neither ETag nor Last-Modified; FIN in the first body.") {
            $0.set("ETag", nil)
            $0.set("Last-Modified", nil)
        },
        honest("weak-etag", "A weak ETag, which If-Range must not use (RFC 9110 13.1.5); FIN in the first body.") {
            let media = $0.media.with { $0.etag = "W/\"v1\"" }
            return $0.firstCut(of: media) ?? .answer($0.honest(media))
        },
        honest("date-only", "Last-Modified and no ETag; FIN in the first body.") {
            let media = $0.media.with { $0.etag = nil }
            return $0.firstCut(of: media) ?? $0.but(of: media) { $0.set("Date", "Tue, 05 Mar 2024 10:00:00 GMT") }
        }.promising(.resumed()),
        honest("etag-odd", "An ETag with commas, braces and a slash (RFC 9110 8.8.3); FIN in the first body.") {
            let media = $0.media.with { $0.etag = "\"a,b;{c}/W\\'%22--gzip:=\"" }
            return $0.firstCut(of: media) ?? .answer($0.honest(media))
        }.promising(.resumed()),
        honest("etag-spaces", "An ETag with spaces in it, against RFC 9110 8.8.3; FIN in the first body.") {
            let media = $0.media.with { $0.etag = "\"a lecture of Monday\"" }
            return $0.firstCut(of: media) ?? .answer($0.honest(media))
        },
        honest("etag-unquoted", "An ETag without quotes, against RFC 9110 8.8.3; FIN in the first body.") {
            let media = $0.media.with { $0.etag = "5f3a-1b2c" }
            return $0.firstCut(of: media) ?? .answer($0.honest(media))
        },
        dressed("date-long-ago", "A Date of 1994, older than Last-Modified; FIN in the first body.") {
            $0.set("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        },
        dressed("date-far-ahead", "A Date of 2099; FIN in the first body.") {
            $0.set("Date", "Fri, 06 Nov 2099 08:49:37 GMT")
        },
        dressed("date-no-date", "A Date and a Last-Modified that are no dates; FIN in the first body.") {
            $0.set("Date", "yesterday")
            $0.set("Last-Modified", "0")
        },
        dressed("digest-unknown", "Repr-Digest in an unknown algorithm (RFC 9530 3).") {
            $0.set("Repr-Digest", "tiger-192=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:")
        },
    ]

    // MARK: Fields

    private static let fields: [HostileCase] = [
        dressed("no-type", "No Content-Type (RFC 9110 8.3); FIN in the first body.") { $0.set("Content-Type", nil) },
        dressed("type-text", "The lecture as text/plain, the default of old servers; FIN in the first body.") {
            $0.set("Content-Type", "text/plain; charset=iso-8859-1")
        },
        dressed("type-bytes", "The lecture as application/octet-stream; FIN in the first body.") {
            $0.set("Content-Type", "application/octet-stream")
        },
        dressed("type-nonsense", "A Content-Type that is no media type; FIN in the first body.") {
            $0.set("Content-Type", "mp4;;=\"")
        },
        dressed("names-odd-case", "Field names in odd case (RFC 9110 5.1); FIN in the first body.") { answer in
            answer.fields = answer.fields.map { (name: $0.name.alternating, value: $0.value) }
            answer.fields.append((name: "cONTENT-lENGTH", value: "\(answer.body.count)"))
        }.promising(.resumed()),
        dressed("values-padded", "White space around the values (RFC 9110 5.5); FIN in the first body.") { answer in
            answer.fields = answer.fields.map { (name: $0.name, value: " \t \($0.value)\t  ") }
        }.promising(.resumed()),
        dressed("values-folded", "A value folded over three lines (RFC 9112 5.2); FIN in the first body.") {
            $0.set("X-Note", "one\r\n two\r\n\tthree")
        }.promising(.resumed()),
        dressed("head-large", "A head of 24 kB; FIN in the first body.") { answer in
            for number in 1...24 { answer.set("X-Trace-\(number)", String(repeating: "t", count: 1_000)) }
        },
        dressed("disposition-escape", "Content-Disposition names a file outside of the directory (RFC 6266 4.3).") {
            $0.set("Content-Disposition", "attachment; filename=\"../../../lecture.mp4\"")
        },
        dressed("content-location", "Content-Location names another file (RFC 9110 8.7).") {
            $0.set("Content-Location", "/other/lecture-360p.mp4")
        },
        dressed("cache-clutter", "The fields of three caches, with Vary: * and a past Expires.") {
            $0.set("Age", "86400")
            $0.set("Vary", "*")
            $0.set("Cache-Control", "no-store, no-cache, must-revalidate, max-age=0")
            $0.set("Expires", "0")
            $0.set("Pragma", "no-cache")
            $0.set("Warning", "110 anderson/1.3.37 \"Response is stale\"")
            $0.set("Via", "1.0 fred, 1.1 p.example.net")
            $0.set("X-Cache", "HIT from edge, MISS from shield")
        },
        honest("query-odd", "404 unless the signed query arrives as it was given, letter by letter.") { visit in
            guard visit.asked.target == oddPath else { return .answer(Answer(404, text: "no such signature")) }
            return .answer(visit.honest())
        }.with { $0.path = oddPath },
        honest("head-405", "405 to HEAD, as signed URLs for GET alone answer.") { visit in
            visit.asked.method == "GET" ? .answer(visit.honest()) : .answer(Answer(405, [("Allow", "GET")]))
        },
        honest("head-closed", "The connection closes without an answer to HEAD.") { visit in
            visit.asked.method == "GET" ? .answer(visit.honest()) : .raw([])
        },
        dressed("ranges-unannounced", "Ranges work although no Accept-Ranges says so; FIN in the first body.") {
            $0.set("Accept-Ranges", nil)
        }.promising(.resumed()),
        honest("ranges-denied", "Accept-Ranges: none and 200 to every request; FIN in the first body.") { visit in
            let cut = visit.isFirst("body")
            return .answer(
                visit.whole().with {
                    $0.set("Accept-Ranges", "none")
                    if cut { $0.ending = .cut(after: 1_500_000) }
                })
        }.promising(.requests(atMost: 6)),
    ]

    private static let oddPath = "/lecture.mp4?sig=a%2Bb/c==&p=/../x//y&r=~%7E;,:@!$'()*&q=?&&empty="
}

extension String {
    /// The same letters, every second one in lower case.
    fileprivate var alternating: String {
        String(enumerated().map { $0.offset.isMultiple(of: 2) ? Character($0.element.lowercased()) : $0.element })
    }
}
