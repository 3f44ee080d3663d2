extension HostileCase {
    /// The connection ends or stops in the middle.
    static let interruptions: [HostileCase] = cuts + beforeTheBody + silences + unframed

    private static func interrupted(
        _ name: String, _ summary: String, due: Due = .rightBytes, blind: Due? = nil,
        play: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase(name, .interruptions, summary, due: due, blind: blind, play: play)
    }

    /// The first body ends in a certain way.
    private static func once(_ name: String, _ summary: String, _ ending: Answer.Ending) -> HostileCase {
        let cut = interrupted(name, summary) { visit in
            visit.but { if visit.isFirst("body") { $0.ending = ending } }
        }.promising(.requests(atMost: 8))
        // RST discards what the client's system has received and the client has not read yet.
        if case .reset = ending { return cut }
        return cut.promising(.resumed())
    }

    /// Every body ends after some bytes.
    private static func always(_ name: String, _ summary: String, _ ending: Answer.Ending) -> HostileCase {
        interrupted(name, summary) { visit in visit.but { $0.ending = ending } }
    }

    /// The first requests get no whole head.
    private static func headless(_ name: String, _ summary: String, times: Int, _ reply: Reply) -> HostileCase {
        interrupted(name, summary) { visit in
            visit.count("request") <= times ? reply : .answer(visit.honest())
        }.promising(.requests(atMost: 10), .resumed())
    }

    // MARK: Cuts

    private static let cuts: [HostileCase] = [
        once("fin-once", "FIN after 2 MB of the first body.", .cut(after: 2_000_000)),
        once("rst-once", "RST after 2 MB of the first body.", .reset(after: 2_000_000)),
        once("fin-first-byte", "FIN after the first byte of the first body.", .cut(after: 1)),
        once("fin-last-byte", "FIN before the last byte of the first body.", .cut(after: 3_499_999)),
        once("rst-last-byte", "RST before the last byte of the first body.", .reset(after: 3_499_999)),
        once("fin-at-mebibyte", "FIN after 1 MiB of the first body, to the byte.", .cut(after: 1 << 20)),
        always(
            "fin-each-200k", "FIN after 200 kB of every body: a server that dies and is started again.",
            .cut(after: 200_000)
        ).promising(.requests(atMost: 30), .resumed()),
        interrupted("rst-thrice", "RST after 1 MiB of each of the first three bodies.") { visit in
            visit.but { if visit.count("body") <= 3 { $0.ending = .reset(after: 1 << 20) } }
        }.promising(.requests(atMost: 10)),
        interrupted("fin-shrinking", "FIN in every body, each time after half as many bytes.") { visit in
            let count = max(200_000, 2_000_000 >> visit.count("body"))
            return visit.but { $0.ending = .cut(after: count) }
        }.promising(.resumed()),
        interrupted("one-byte-each", "FIN after one byte of every body behind the first 1.5 MB.", due: .rightOrRefusal)
        {
            $0.firstCut() ?? $0.but { $0.ending = .cut(after: 1) }
        }.promising(.requests(atMost: 20)),
        interrupted("poison-offset", "FIN before byte 1,700,001 in every body that holds it.", due: .refusal) { visit in
            visit.but { answer in
                let first = answer.status == 206 ? visit.asked.range?.first ?? 0 : 0
                let last = first + answer.body.count
                if (first..<last).contains(1_700_000) { answer.ending = .cut(after: 1_700_000 - first) }
            }
        }.promising(.requests(atMost: 16), .resumed(wasting: 3_500_000)),
        interrupted("reused-fin", "A second request on a connection gets FIN and no answer (RFC 9112 9.5).") { visit in
            if visit.count("connection \(visit.connection)") > 1 { return .raw([], then: .cut(after: 0)) }
            return visit.but { sliced(&$0, visit, to: 800_000) }
        }.promising(.requests(atMost: 20), .resumed()),
        interrupted("reused-rst", "A second request on a connection gets RST and no answer (RFC 9112 9.5).") { visit in
            if visit.count("connection \(visit.connection)") > 1 { return .raw([], then: .reset(after: 0)) }
            return visit.but { sliced(&$0, visit, to: 800_000) }
        }.promising(.requests(atMost: 20), .resumed()),
    ]

    // MARK: Before the body

    private static let halfHead = Array("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Le".utf8)

    private static let beforeTheBody: [HostileCase] = [
        headless(
            "fin-no-answer", "FIN and no byte in answer to the first request.", times: 1, .raw([], then: .cut(after: 0))
        ),
        headless(
            "rst-no-answer", "RST and no byte in answer to the first request.", times: 1,
            .raw([], then: .reset(after: 0))),
        headless(
            "rst-three-times", "RST and no byte in answer to the first three requests, as a server that starts.",
            times: 3, .raw([], then: .reset(after: 0))),
        headless(
            "fin-in-status", "FIN in the status line of the first answer.", times: 1,
            .raw(Array("HTTP/1.1 2".utf8), then: .cut(after: 0))),
        headless("fin-in-head", "FIN in the head of the first answer.", times: 1, .raw(halfHead, then: .cut(after: 0))),
        headless(
            "fin-before-empty-line", "FIN before the empty line that ends the head of the first answer.", times: 1,
            .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 3500000\r\n".utf8), then: .cut(after: 0))),
        headless(
            "rst-in-head", "RST in the head of the first answer.", times: 1, .raw(halfHead, then: .reset(after: 0))),
        headless(
            "fin-after-interim", "103 and then FIN in answer to the first request.", times: 1,
            .raw(Array("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".utf8), then: .cut(after: 0))),
        once("fin-behind-head", "FIN behind the head of the first answer, before its body.", .cut(after: 0)),
        once("rst-behind-head", "RST behind the head of the first answer, before its body.", .reset(after: 0)),
        interrupted("never-an-answer", "FIN and no byte in answer to every request.", due: .refusal) { _ in
            .raw([], then: .cut(after: 0))
        }.promising(.requests(atMost: 14)),
        interrupted("never-a-body", "FIN behind every head.", due: .refusal) { visit in
            visit.but { $0.ending = .cut(after: 0) }
        }.promising(.requests(atMost: 14)),
    ]

    // MARK: Silence

    private static let silences: [HostileCase] = [
        headless(
            "silent-no-answer", "No byte in answer to the first request, on an open connection.", times: 1,
            .raw([], then: .stall(after: 0))),
        headless(
            "silent-in-head", "Silence in the head of the first answer.", times: 1,
            .raw(halfHead, then: .stall(after: 0))),
        once("silent-behind-head", "Silence behind the head of the first answer.", .stall(after: 0)),
        once("silent-in-body", "Silence after 2 MB of the first body.", .stall(after: 2_000_000)),
        once("silent-last-byte", "Silence before the last byte of the first body.", .stall(after: 3_499_999)),
        interrupted("slow-but-alive", "500 bytes in every half of a second: slow, and never silent.") { visit in
            visit.but { $0.trickle = (bytes: 500, milliseconds: 500) }
        }.with { $0.size = 4_000 }.promising(.requests(atMost: 3)),
        interrupted("slow-head", "A second before the head and a second before every 100 kB.") { visit in
            visit.but {
                $0.delayMilliseconds = 1_000
                $0.trickle = (bytes: 100_000, milliseconds: 1_000)
            }
        }.with { $0.size = 300_000 }.promising(.requests(atMost: 3)),
        interrupted("slow-then-dead", "40 bytes a second, then silence, in the first body only.") { visit in
            visit.but {
                if visit.isFirst("body") {
                    ($0.trickle, $0.ending) = ((bytes: 10, milliseconds: 250), .stall(after: 80))
                }
            }
        }.promising(.requests(atMost: 6), .resumed()),
    ]

    // MARK: Bodies without a length

    private static func cutChunks(_ name: String, _ summary: String, _ chunks: Int, and more: Int) -> HostileCase {
        interrupted(name, summary) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .raw(visit.whole().inChunks(chunks, and: more), then: .cut(after: 0))
        }.promising(.requests(atMost: 8))
    }

    private static let unframed: [HostileCase] = [
        cutChunks("chunked-cut-in-size", "FIN inside of a chunk's size, in the first body.", 20, and: 3),
        cutChunks("chunked-cut-behind-size", "FIN behind a chunk's size, in the first body.", 20, and: 7),
        cutChunks("chunked-cut-in-data", "FIN inside of a chunk, in the first body.", 20, and: 30_007),
        cutChunks("chunked-cut-at-chunk", "FIN between two chunks, in the first body.", 20, and: 0),
        interrupted(
            "chunked-no-last", "All data and no last chunk, each time (RFC 9112 8): the end is never signalled.",
            due: .rightOrRefusal
        ) { visit in
            .answer(visit.whole().with { ($0.framing, $0.ending) = (.chunked, .cut(after: $0.body.count)) })
        }.promising(.requests(atMost: 14)),
        interrupted("chunked-no-final-line", "The last chunk without the empty line behind it, in the first body.") {
            guard $0.isFirst("body") else { return .answer($0.honest()) }
            return .raw($0.whole().inChunks().dropLast(2), then: .cut(after: 0))
        }.promising(.requests(atMost: 8)),
        interrupted(
            "until-close-cut", "A first body without a length is cut, which looks like its end (RFC 9112 8).",
            blind: .unknowable
        ) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .answer(visit.whole().with { ($0.framing, $0.ending) = (.untilClose, .cut(after: 1_500_000)) })
        }.promising(.requests(atMost: 8)),
        interrupted("until-close-rst", "A first body without a length is ended by RST, which is no end.") { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .answer(visit.whole().with { ($0.framing, $0.ending) = (.untilClose, .reset(after: 1_500_000)) })
        }.promising(.requests(atMost: 8)),
        interrupted("part-without-length-cut", "206 without Content-Length, cut short of its Content-Range, twice.") {
            if let cut = $0.firstCut() { return cut }
            let cut = $0.count("part") <= 2
            return $0.but {
                $0.framing = .untilClose
                if cut, $0.status == 206 { $0.ending = .cut(after: 500_000) }
            }
        }.promising(.requests(atMost: 10), .resumed()),
    ]
}
