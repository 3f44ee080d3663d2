extension HostileCase {
    /// The same and more over HTTP/2.
    static let http2s: [HostileCase] =
        soundHTTP2 + http2Answers + http2Resets + http2Farewells + http2Lengths + http2Settings + http2Frames
        + http2Fields + http2Floods

    /// A case on one listener that speaks HTTP/2, and HTTP/1.1 with a client that does not offer it.
    static func http2(
        _ name: String, _ summary: String, _ due: Due, blind: Due? = nil, _ manner: HTTP2Manner = HTTP2Manner(),
        play: @escaping @Sendable (Visit) -> Reply = { .answer($0.honest()) }
    ) -> HostileCase {
        HostileCase("h2-" + name, .http2, summary, due: due, blind: blind, play: play)
            .with { $0.edges = [.http2(manner)] }
    }

    /// A case that controls all streams frame by frame, or only the first one; over HTTP/1.1 the server is honest.
    static func http2(
        _ name: String, _ summary: String, _ due: Due, once: Bool,
        frames: @escaping @Sendable (HTTP2Stream, Answer) -> Void
    ) -> HostileCase {
        http2(name, summary, due) { visit in
            let answer = visit.honest()
            guard !once || visit.isFirst("stream") else { return .answer(answer) }
            return .frames(otherwise: answer) { frames($0, answer) }
        }
    }

    private static let soundHTTP2: [HostileCase] = [
        http2("plain", "An honest origin that offers HTTP/2.", .rightBytes)
            .promising(.requests(atMost: 6), .resumed(wasting: 0)),
        http2(
            "not-offered", "Only HTTP/1.1 is offered, although the client asks for HTTP/2 (RFC 7301).", .rightBytes,
            HTTP2Manner { $0.offers = ["http/1.1"] }),
        http2(
            "no-agreement", "ALPN is ignored, and HTTP/1.1 is spoken.", .rightBytes,
            HTTP2Manner { $0.offers = [] }),
        http2(
            "agreed-and-not-spoken", "HTTP/2 is agreed on, and HTTP/1.1 is spoken.", .rightOrRefusal,
            HTTP2Manner { $0.speaksHTTP1 = true }),
        http2("trailers", "Fields come behind the body (RFC 9113 section 8.1).", .rightBytes, once: false) {
            $0.begin($1)
            $0.send($1, 0..<$1.body.count)
            $0.headers([("server-timing", "all;dur=1"), ("x-checksum", "none")], ends: true)
        },
        http2("no-length", "The body has no content-length.", .rightBytes) { visit in
            .answer(visit.honest().with { $0.framing = .chunked })
        },
        http2("early-hints", "Three answers 103 come before each answer (RFC 8297).", .rightBytes) { visit in
            .answer(
                visit.honest().with {
                    $0.interim = Array(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n", count: 3)
                })
        },
        http2("padding", "Every DATA carries 200 bytes of padding (RFC 9113 section 6.1).", .rightBytes, once: false) {
            stream, answer in
            stream.begin(answer)
            for start in stride(from: 0, to: answer.body.count, by: 8000) {
                let end = min(start + 8000, answer.body.count)
                // The padding and its length count towards the window.
                guard stream.reserveAll(end - start + 201) else { return }
                let piece = [200] + answer.body.piece(start..<end) + [UInt8](repeating: 0, count: 200)
                stream.send(.data, flags: end == answer.body.count ? 9 : 8, piece)
            }
        },
        http2("priorities", "HEADERS and PRIORITY carry priorities of RFC 7540.", .rightBytes, once: false) {
            $0.send(.priority, [0, 0, 0, 0, 15])
            $0.send(.headers, flags: 36, [0, 0, 0, 0, 255] + HPACK.block($0.fields(of: $1)))
            $0.send($1, 0..<$1.body.count, ends: true)
        },
        http2(
            "unknown-frames", "Frames of unknown types stand between the known ones (RFC 9113 section 4.1).",
            .rightBytes, once: false
        ) { stream, answer in
            for type: UInt8 in [10, 12, 16, 33, 200, 255] {
                stream.link.send(HTTP2Frame(type: type, on: Int(type % 2) * stream.id, flags: 255, [1, 2, 3, 4]))
            }
            stream.give(answer)
        },
        http2("continuation", "The fields come in HEADERS and four CONTINUATION.", .rightBytes, once: false) {
            stream, answer in
            let block = HPACK.block(stream.fields(of: answer))
            let cuts = [0, 1, 2, 9, 60, block.count]
            let pieces = zip(cuts, cuts.dropFirst()).map { Array(block[$0..<$1]) }
            stream.link.send(
                pieces.enumerated().flatMap { index, piece in
                    HTTP2Frame(
                        index == 0 ? .headers : .continuation, on: stream.id, flags: index == 4 ? 4 : 0, piece
                    ).bytes
                })
            stream.send(answer, 0..<answer.body.count, ends: true)
        },
    ]

    /// What HTTP/1.1 can do as well.
    private static let http2Answers: [HostileCase] = [
        http2("cut-once", "FIN after 2 MB of the first body.", .rightBytes, play: cutOnce).promising(.resumed()),
        http2("stall-once", "No DATA after 2 MB of the first body.", .rightBytes) { visit in
            .answer(visit.honest().with { if visit.isFirst("body") { $0.ending = .stall(after: 2_000_000) } })
        }.promising(.resumed()),
        http2(
            "dead-connection", "Nothing comes on the first connection any more after 2 MB; later ones are well.",
            .rightBytes
        ) { visit in
            guard visit.asked.version == "HTTP/2", visit.connection == 1 else { return .answer(visit.honest()) }
            let sends = visit.isFirst("body") ? 2_000_000 : 0
            return .frames(otherwise: visit.honest()) { stream in
                guard sends > 0 else { return }
                stream.begin(visit.honest())
                stream.send(visit.honest(), 0..<sends)
            }
        }.promising(.resumed()),
        http2("range-shifted", "After a cut at 2 MB the 206 names another range than asked.", .rightOrRefusal) {
            visit in
            var answer = visit.honest()
            if visit.isFirst("body") { answer.ending = .cut(after: 2_000_000) }
            if answer.status == 206, let range = visit.asked.range?.bytes(of: visit.media.bytes.count) {
                let (first, last) = (range.lowerBound + 1, range.upperBound - 1)
                answer.set("Content-Range", "bytes \(first)-\(last)/\(visit.media.bytes.count)")
                answer.body = .bytes(visit.media.bytes[first...last])
            }
            return .answer(answer)
        },
        http2("200-to-range", "After a cut at 2 MB the whole comes, whatever range is asked for.", .rightBytes) {
            visit in
            .answer(visit.plainWhole.with { if visit.isFirst("body") { $0.ending = .cut(after: 2_000_000) } })
        },
        http2("changed", "After a cut at 2 MB the lecture is another version.", .rightBytes) { visit in
            if visit.isFirst("body") {
                return .answer(visit.honest(visit.media.next).with { $0.ending = .cut(after: 2_000_000) })
            }
            return .answer(visit.honest())
        },
        http2("429-once", "429 with Retry-After of a second comes first.", .rightBytes) { visit in
            .answer(visit.isFirst("body") ? Answer(429, [("Retry-After", "1")]) : visit.honest())
        }.promising(.waited(1000)),
        http2(
            "421-once", "421 comes first: this connection does not serve the host (RFC 9110 section 15.5.20).",
            .rightBytes
        ) {
            .answer($0.isFirst("body") ? Answer(421) : $0.honest())
        },
        http2("redirect", "307 leads to another path of the same origin.", .rightBytes) { visit in
            guard visit.asked.path != "/other.mp4" else { return .answer(visit.honest()) }
            return .answer(Answer(307, [("Location", "/other.mp4")]))
        },
        http2("page", "Every answer is a page.", .refusal) { _ in
            .answer(Answer(200, text: "<html><title>Sign in</title></html>", type: "text/html"))
        },
    ]

    private static let http2Resets: [HostileCase] = [
        reset("internal-error-once", "RST_STREAM INTERNAL_ERROR", 2, after: 2_000_000, once: true),
        reset("cancelled-once", "RST_STREAM CANCEL", 8, after: 2_000_000, once: true),
        reset("refused-once", "RST_STREAM REFUSED_STREAM", 7, after: nil, once: true),
        reset("refused-always", "RST_STREAM REFUSED_STREAM", 7, after: nil, once: false),
        reset("calm-once", "RST_STREAM ENHANCE_YOUR_CALM", 11, after: nil, once: true),
        reset("calm-always", "RST_STREAM ENHANCE_YOUR_CALM", 11, after: nil, once: false),
        reset("1.1-required", "RST_STREAM HTTP_1_1_REQUIRED", 13, after: nil, once: false),
        http2(
            "reset-behind-the-end", "RST_STREAM NO_ERROR comes behind each whole body (RFC 9113 section 8.1).",
            .rightBytes, once: false
        ) {
            $0.give($1)
            $0.reset(0)
        },
        http2(
            "reset-as-end", "RST_STREAM NO_ERROR stands for the end of each body of unknown length, at 2 MB.",
            .rightOrRefusal, once: false
        ) {
            $0.begin($1.with { $0.framing = .chunked })
            $0.send($1, 0..<2_000_000)
            $0.reset(0)
        },
        http2(
            "fin-as-end", "FIN stands for the end of each body of unknown length, at 2 MB, also over HTTP/1.1.",
            .refusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.framing = .untilClose
                    $0.ending = .cut(after: 2_000_000)
                })
        },
    ]

    private static func reset(
        _ name: String, _ words: String, _ code: Int, after: Int?, once: Bool
    ) -> HostileCase {
        let place = after.map { "after \($0 / 1_000_000) MB of" } ?? "instead of"
        let summary =
            "\(words) \(place) \(once ? "the first" : "every") answer"
            + (once ? "." : "; HTTP/1.1 is served.")
        let it = http2(name, summary, once || code == 13 ? .rightBytes : .rightOrRefusal, once: once) {
            stream, answer in
            if let after {
                stream.begin(answer)
                stream.send(answer, 0..<after)
            }
            stream.reset(code)
        }
        return after == nil ? it : it.promising(.resumed())
    }

    private static let http2Farewells: [HostileCase] = [
        http2(
            "goaway-before-once", "GOAWAY says that the first stream was not processed (RFC 9113 section 6.8).",
            .rightBytes, once: true
        ) { stream, _ in
            stream.link.goAway(last: 0)
            stream.link.endSending(inGoodOrder: true)
        },
        http2("goaway-within-once", "GOAWAY gives the first stream up after 2 MB of its body.", .rightBytes) { visit in
            .answer(visit.honest().with { if visit.isFirst("body") { $0.ending = .goAway(after: 2_000_000) } })
        }.promising(.resumed()),
        http2(
            "goaway-in-good-order", "GOAWAY after 2 MB of each body, which is sent to its end.", .rightBytes,
            once: false
        ) { stream, answer in
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            stream.link.goAway(last: stream.id)
            stream.send(answer, 2_000_000..<Int.max, ends: true)
        }.promising(.resumed(wasting: 0)),
        http2(
            "goaway-twice",
            "GOAWAY announces the end with the highest number, and then names it (RFC 9113 section 6.8).",
            .rightBytes, once: false
        ) { stream, answer in
            stream.link.goAway(last: 0x7FFF_FFFF)
            stream.begin(answer)
            stream.send(answer, 0..<2_000_000)
            stream.link.goAway(last: stream.id)
            stream.send(answer, 2_000_000..<Int.max, ends: true)
        }.promising(.resumed(wasting: 0)),
        http2("goaway-each", "GOAWAY gives each stream up after 1.2 MB of its body.", .rightBytes) { visit in
            .answer(visit.honest().with { $0.ending = .goAway(after: 1_200_000) })
        },
        http2("closed-after-settings-once", "The first connection ends behind SETTINGS.", .rightBytes, farewell(1)),
        http2(
            "closed-after-settings", "Every connection ends behind SETTINGS; HTTP/1.1 is served.", .rightOrRefusal,
            farewell(.max)),
        http2(
            "goaway-calm", "GOAWAY ENHANCE_YOUR_CALM is all that HTTP/2 gets; HTTP/1.1 is served.", .rightOrRefusal,
            HTTP2Manner {
                $0.opening = { link in
                    link.goAway(last: 0, 11)
                    link.endSending(inGoodOrder: true)
                    return false
                }
            }),
    ]

    private static func farewell(_ last: Int) -> HTTP2Manner {
        HTTP2Manner {
            $0.opening = { link in
                guard link.ordinal <= last else { return true }
                link.endSending(inGoodOrder: true)
                return false
            }
        }
    }

    private static let http2Lengths: [HostileCase] = [
        http2("end-stream-early-once", "END_STREAM after 2 MB of the announced body, once.", .rightBytes, once: true) {
            $0.begin($1)
            $0.send($1, 0..<2_000_000, ends: true)
        }.promising(.resumed()),
        http2(
            "end-stream-early", "END_STREAM after 2 MB of every announced body; over HTTP/1.1 FIN. Ranges are ignored.",
            .refusal
        ) { visit in
            let answer = visit.plainWhole.with { $0.ending = .cut(after: 2_000_000) }
            return .frames(otherwise: answer) { stream in
                stream.begin(answer)
                stream.send(answer, 0..<2_000_000, ends: true)
            }
        },
        http2(
            "length-too-small", "content-length is a million less than what comes.", .rightOrRefusal, once: false
        ) { stream, answer in
            stream.begin(answer.with { $0.set("Content-Length", "\(max(1, $0.body.count - 1_000_000))") })
            stream.send(answer, 0..<answer.body.count, ends: true)
        },
        http2("two-lengths", "There are two content-lengths that differ.", .rightOrRefusal, once: false) {
            stream, answer in
            stream.headers(stream.fields(of: answer) + [("content-length", "1000000")])
            stream.send(answer, 0..<answer.body.count, ends: true)
        },
        http2(
            "empty", "END_STREAM stands with the fields, which announce a body; HTTP/1.1 is served.", .rightOrRefusal,
            once: false
        ) {
            $0.begin($1, ends: true)
        },
    ]
}

extension HTTP2Stream {
    /// Waits for window until enough has been granted.
    func reserveAll(_ count: Int) -> Bool {
        var rest = count
        while rest > 0 {
            let some = link.reserve(rest, on: id)
            if some == 0 { return false }
            rest -= some
        }
        return true
    }
}
