extension HostileCase {
    /// Responses to a range request that differ from the request. The first body is cut, so that ranges are needed.
    static let ranges: [HostileCase] = shapes + wrongRanges + otherStatuses

    /// The first body is cut; then a request for a later part gets a changed honest 206.
    private static func parts(
        _ name: String, _ summary: String, due: Due = .rightOrRefusal, blind: Due? = nil,
        _ change: @escaping @Sendable (Visit, inout Answer) -> Void
    ) -> HostileCase {
        HostileCase(name, .ranges, summary, due: due, blind: blind) { visit in
            if let cut = visit.firstCut() { return cut }
            return visit.but { if $0.status == 206, visit.asked.isLaterPart { change(visit, &$0) } }
        }.promising(.requests(atMost: 14))
    }

    /// The first body is cut; then parts have a `Content-Range` made from first, last and length.
    private static func ranged(
        _ name: String, _ summary: String, due: Due = .rightOrRefusal,
        _ text: @escaping @Sendable (_ first: Int, _ last: Int, _ total: Int) -> String?
    ) -> HostileCase {
        parts(name, summary, due: due) { visit, answer in
            let first = visit.asked.range?.first ?? 0
            answer.set("Content-Range", text(first, first + answer.body.count - 1, visit.media.bytes.count))
        }
    }

    /// The first body is cut; then a request for a later part gets something else.
    private static func instead(
        _ name: String, _ summary: String, due: Due = .rightOrRefusal,
        _ reply: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase(name, .ranges, summary, due: due) { visit in
            if let cut = visit.firstCut() { return cut }
            return visit.asked.isLaterPart ? reply(visit) : .answer(visit.honest())
        }.promising(.requests(atMost: 14))
    }

    // MARK: Allowed shapes

    private static let shapes: [HostileCase] = [
        instead("whole-to-range", "200 with everything to a range (RFC 9110 14.2).", due: .rightBytes) {
            .answer($0.whole())
        },
        HostileCase(
            "whole-to-range-cut", .ranges, "200 with everything to every range, cut later each time.", due: .rightBytes
        ) { visit in
            let count = visit.count("body") * 1_200_000
            return .answer(visit.whole().with { if count < 3_500_000 { $0.ending = .cut(after: count) } })
        }.promising(.requests(atMost: 8)),
        parts("part-shorter", "206 with 300 kB at most, whatever was asked for (RFC 9110 15.3.7).", due: .rightBytes) {
            sliced(&$1, $0, to: 300_000)
        }.promising(.resumed()),
        HostileCase(
            "part-tiny", .ranges, "206 with 100 bytes at most, whatever was asked for (RFC 9110 15.3.7).",
            due: .rightOrRefusal
        ) { visit in visit.firstCut() ?? visit.but { sliced(&$0, visit, to: 100) } },
        ranged("part-total-unknown", "206 whose Content-Range has * for the length (RFC 9110 14.4).", due: .rightBytes)
        {
            first, last, _ in "bytes \(first)-\(last)/*"
        }.promising(.resumed()),
        ranged(
            "unit-in-capitals", "206 with the unit BYTES (RFC 9110 14.1: names of units have no case).",
            due: .rightBytes
        ) {
            "BYTES \($0)-\($1)/\($2)"
        },
        parts("part-without-validators", "206 without ETag and Last-Modified (RFC 9110 15.3.7).", due: .rightBytes) {
            $1.set("ETag", nil)
            $1.set("Last-Modified", nil)
        }.promising(.resumed()),
        parts("part-chunked", "206 in chunks, without a length of its own.", due: .rightBytes) { $1.framing = .chunked }
            .promising(.resumed()),
        instead(
            "ranges-run-out", "Two ranges are served, cut after 600 kB; later ones get 200 with everything.",
            due: .rightBytes
        ) { visit in
            guard visit.count("part") <= 2 else { return .answer(visit.whole()) }
            return visit.but { $0.ending = .cut(after: 600_000) }
        },
        HostileCase(
            "whole-as-206", .ranges, "206 with a Content-Range over everything, to requests without a range too.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.whole().with {
                    $0.status = 206
                    $0.set("Content-Range", "bytes 0-\(visit.media.bytes.count - 1)/\(visit.media.bytes.count)")
                })
        },
        HostileCase(
            "unasked-part", .ranges, "206 with the first 1 MB to a request without a range, complete in itself.",
            due: .rightOrRefusal
        ) { visit in
            if visit.asked.range != nil { return .answer(visit.honest()) }
            return .answer(
                visit.whole().with {
                    $0.status = 206
                    $0.set("Content-Range", "bytes 0-999999/\(visit.media.bytes.count)")
                    $0.body = .bytes($0.body.piece(0..<1_000_000))
                })
        },
    ]

    // MARK: Wrong ranges

    private static let wrongRanges: [HostileCase] = [
        parts("shifted", "206 that begins 1,000 bytes later than asked, and says so.") { visit, answer in
            let first = (visit.asked.range?.first ?? 0) + 1_000
            guard answer.body.count > 1_000 else { return }
            answer.body = .bytes(answer.body.piece(1_000..<Int.max))
            answer.set("Content-Range", "bytes \(first)-\(first + answer.body.count - 1)/\(visit.media.bytes.count)")
        },
        parts("aligned-down", "206 that begins at the last 64 KiB before what was asked, and says so.") {
            visit, answer in
            let first = (visit.asked.range?.first ?? 0) & ~0xFFFF
            let last = (visit.asked.range?.first ?? 0) + answer.body.count
            answer.body = .bytes(visit.media.bytes[first..<last])
            answer.set("Content-Range", "bytes \(first)-\(last - 1)/\(visit.media.bytes.count)")
        },
        parts("part-longer", "206 that runs to the end of the file, whatever was asked, and says so.") {
            visit, answer in
            let (first, total) = (visit.asked.range?.first ?? 0, visit.media.bytes.count)
            answer.body = .bytes(visit.media.bytes[first..<total])
            answer.set("Content-Range", "bytes \(first)-\(total - 1)/\(total)")
        }.with { $0.connections = 3 },
        parts(
            "offset-ignored", "206 with the Content-Range that was asked for, and the file's first bytes.",
            blind: .unknowable
        ) { visit, answer in
            answer.body = .bytes(visit.media.bytes[0..<answer.body.count])
        },
        parts(
            "offset-by-one", "206 with the Content-Range that was asked for, and bytes from one later.",
            blind: .unknowable
        ) { visit, answer in
            let first = (visit.asked.range?.first ?? 0) + 1
            answer.body = .bytes(visit.media.bytes[first..<first + answer.body.count - 1] + [0])
        },
        parts("end-exclusive", "206 whose Content-Range ends one byte behind the body: its end is exclusive.") {
            let first = $0.asked.range?.first ?? 0
            $1.set("Content-Range", "bytes \(first)-\(first + $1.body.count)/\($0.media.bytes.count)")
        },
        parts("end-byte-missing", "206 without the last byte of what it names, and a length that agrees with the body.")
        {
            $1.body = .bytes($1.body.piece(0..<$1.body.count - 1))
        },
        parts("length-of-the-whole", "206 with the length of the whole in Content-Length.") {
            $1.set("Content-Length", "\($0.media.bytes.count)")
            $1.ending = .closed
        },
        instead("whole-labelled-206", "206 with everything and a Content-Range over everything, whatever was asked.") {
            visit in
            .answer(
                visit.whole().with {
                    $0.status = 206
                    $0.set("Content-Range", "bytes 0-\(visit.media.bytes.count - 1)/\(visit.media.bytes.count)")
                })
        },
        ranged("range-missing", "206 without a Content-Range.") { _, _, _ in nil },
        parts("range-twice", "206 with two different fields Content-Range.") {
            $1.fields.append((name: "Content-Range", value: "bytes 0-9/\($0.media.bytes.count)"))
        },
        ranged("range-garbage", "206 with a Content-Range that is none.") { _, _, _ in "from here to eternity" },
        ranged("range-equals", "206 with 'bytes=' in Content-Range, as some servers write it.") {
            "bytes=\($0)-\($1)/\($2)"
        },
        ranged("range-other-unit", "206 with Content-Range in the unit 'items'.") { "items \($0)-\($1)/\($2)" },
        ranged("range-reversed", "206 whose Content-Range has its last byte before the first.") {
            "bytes \($1)-\($0)/\($2)"
        },
        ranged("range-negative", "206 whose Content-Range begins at a negative number.") { "bytes -\($0)-\($1)/\($2)" },
        ranged("range-2-64", "206 whose Content-Range begins 2^64 later than asked.") { first, last, total in
            "bytes \((UInt128(1) << 64) + UInt128(first))-\(last)/\(total)"
        },
        ranged("range-10-30", "206 whose Content-Range ends at 10^30 of 10^31.") { first, _, _ in
            "bytes \(first)-1\(String(repeating: "0", count: 30))/1\(String(repeating: "0", count: 31))"
        },
        ranged("total-grows", "206 of a file that is a byte longer than before, with the same ETag.") {
            "bytes \($0)-\($1)/\($2 + 1)"
        },
        ranged("total-too-small", "206 that ends behind the length it names.") { first, last, _ in
            "bytes \(first)-\(last)/\(last)"
        },
    ]

    // MARK: Other answers

    private static func multipart(_ visit: Visit, _ ranges: [Range<Int>]) -> Answer {
        let total = visit.media.bytes.count
        var bytes: [UInt8] = []
        for range in ranges {
            let head =
                "Content-Type: video/mp4\r\nContent-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
            bytes += Array("\r\n--THIS\r\n\(head)\r\n\r\n".utf8) + visit.media.bytes[range]
        }
        bytes += Array("\r\n--THIS--\r\n".utf8)
        return visit.honest().with {
            $0.body = .bytes(bytes[...])
            $0.set("Content-Type", "multipart/byteranges; boundary=THIS")
            $0.set("Content-Range", nil)
        }
    }

    private static let otherStatuses: [HostileCase] = [
        instead(
            "multipart-one", "206 as multipart/byteranges with the one part that was asked for (RFC 9110 15.3.7.2)."
        ) {
            .answer(multipart($0, [($0.asked.range?.bytes(of: $0.media.bytes.count) ?? 0..<1)]))
        },
        instead("multipart-two", "206 as multipart/byteranges with two halves of what was asked for.") { visit in
            let range = visit.asked.range?.bytes(of: visit.media.bytes.count) ?? 0..<2
            let middle = (range.lowerBound + range.upperBound) / 2
            return .answer(multipart(visit, [range.lowerBound..<middle, middle..<range.upperBound]))
        },
        parts("answer-too-many", "206 with 500 kB at most, each followed by an answer to nothing (RFC 9112 9.2).") {
            sliced(&$1, $0, to: 500_000)
            $1.surplus = Array("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 5\r\n\r\nhello".utf8)
        },
        instead("416-always", "416 with the right length to every range that exists (RFC 9110 15.5.17).") { visit in
            .answer(Answer(416, [("Content-Range", "bytes */\(visit.media.bytes.count)")]))
        },
        instead("416-without-length", "416 without Content-Range to every range.") { _ in
            .answer(Answer(416, text: "no ranges today"))
        },
        instead("416-wrong-length", "416 with a length of 1,000 bytes to every range.") { _ in
            .answer(Answer(416, [("Content-Range", "bytes */1000")]))
        },
        instead("416-once", "416 with the right length to the first range, then ranges as they should be.") { visit in
            guard visit.isFirst("range") else { return .answer(visit.honest()) }
            return .answer(Answer(416, [("Content-Range", "bytes */\(visit.media.bytes.count)")]))
        },
        instead("412-once", "412 to the first range, as if If-Range were If-Match.") { visit in
            visit.isFirst("range") ? .answer(Answer(412)) : .answer(visit.honest())
        },
        instead("412-always", "412 to every range with If-Range, as if it were If-Match.") { visit in
            visit.asked.field("If-Range") == nil ? .answer(visit.honest()) : .answer(Answer(412))
        },
        instead("304-unasked", "304 to every range, although nothing asked for it.") { visit in
            .answer(Answer(304, [("ETag", visit.media.etag ?? "")]))
        },
        instead("204-to-range", "204 to every range.") { _ in .answer(Answer(204)) },
        instead("400-to-range", "400 to every range.") { _ in .answer(Answer(400, text: "no ranges")) },
        instead("500-to-range", "500 to every range, as a broken cache does; the whole is served.") { _ in
            .answer(Answer(500, text: "no ranges"))
        },
    ]
}
