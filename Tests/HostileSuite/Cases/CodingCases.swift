extension HostileCase {
    /// Content codings and transfer codings that were not asked for.
    static let codings: [HostileCase] = codedBodies + codingLabels + transferCodings + transformers

    /// A case whose server codes the whole lecture and ignores ranges.
    private static func coded(
        _ coding: String, _ summary: String, _ pack: @escaping @Sendable (Media) -> [UInt8]
    ) -> HostileCase {
        HostileCase("coded-\(coding)", .coding, summary, due: .rightOrRefusal) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Encoding", coding)
                    $0.body = .bytes(pack(visit.media)[...])
                })
        }
    }

    private static let codedBodies: [HostileCase] = [
        coded("gzip", "The body is gzip, unasked, with the coded length.") { Packed.gzip($0) },
        coded("deflate", "The body is deflate (zlib), unasked, with the coded length.") { Packed.deflate($0) },
        coded("br", "The body is Brotli, unasked, with the coded length.") { Packed.brotli($0) },
        coded("zstd", "The body is Zstandard, unasked, with the coded length.") { Packed.zstandard($0) },
        HostileCase(
            "coded-twice", .coding, "Two proxies have each applied gzip: `Content-Encoding: gzip, gzip`.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Encoding", "gzip, gzip")
                    $0.body = .bytes(Packed.gzipTwice(visit.media)[...])
                })
        },
        HostileCase(
            "coded-ranges", .coding, "Ranges are cut out of the gzip form, as RFC 9110 section 14.2 wants it.",
            due: .rightOrRefusal
        ) { visit in
            var packed = visit.media
            packed.bytes = Packed.gzip(visit.media)
            return .answer(visit.honest(packed).with { $0.set("Content-Encoding", "gzip") })
        },
        HostileCase(
            "coded-each-range", .coding, "A proxy applies gzip to each 206 by itself, without changing Content-Range.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            var answer = visit.honest()
            answer.set("Content-Encoding", "gzip")
            answer.body = .bytes(Packed.gzip(Array(answer.body.piece(0..<answer.body.count)))[...])
            return .answer(answer)
        },
        HostileCase(
            "coded-on-resume", .coding, "Plain at first and cut; from then on only gzip of the whole is to be had.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            return .answer(
                visit.plainWhole.with {
                    $0.set("Content-Encoding", "gzip")
                    $0.body = .bytes(Packed.gzip(visit.media)[...])
                })
        },
        HostileCase(
            "coded-bomb", .coding, "1.7 MB of gzip, unasked, that unpack to 256 MiB of zeros.", due: .refusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Encoding", "gzip")
                    $0.body = .bytes(Packed.bomb[...])
                })
        },
        HostileCase(
            "coded-length-of-plain", .coding, "The body is gzip, and Content-Length is that of the decoded bytes.",
            due: .rightOrRefusal
        ) { visit in
            // Stored blocks make the coded form longer, so the announced length ends inside it.
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Encoding", "gzip")
                    $0.set("Content-Length", "\(visit.media.bytes.count)")
                    $0.body = .bytes(Packed.gzip(visit.media)[...])
                    $0.ending = .closed
                })
        },
    ]

    /// A case whose body is the plain lecture, whatever `Content-Encoding` says.
    private static func labelled(
        _ name: String, _ label: String, _ summary: String, due: Due = .rightOrRefusal
    ) -> HostileCase {
        HostileCase("label-\(name)", .coding, summary, due: due) { visit in
            .answer(visit.honest().with { $0.set("Content-Encoding", label) })
        }
    }

    private static let codingLabels: [HostileCase] = [
        labelled(
            "identity", "identity", "`Content-Encoding: identity`, which should not be sent and means nothing.",
            due: .rightBytes),
        labelled("empty", "", "`Content-Encoding` with an empty value.", due: .rightBytes),
        labelled("x-gzip", "x-gzip", "Plain bytes that AddEncoding of a web server calls `x-gzip`."),
        labelled("utf-8", "UTF-8", "Plain bytes; an object store was configured with the coding `UTF-8`."),
        labelled("aws-chunked", "aws-chunked", "Plain bytes; an object store kept `aws-chunked` of the upload."),
        HostileCase(
            "label-unknown", .coding, "An unknown coding; the bytes behind it are not the lecture's.",
            due: .refusal
        ) { visit in
            .answer(
                visit.honest().with {
                    $0.set("Content-Encoding", "x-scramble")
                    $0.body = .bytes($0.body.piece(0..<$0.body.count).reversed()[...])
                })
        },
    ]

    private static let transferCodings: [HostileCase] = [
        HostileCase(
            "te-gzip", .coding, "`Transfer-Encoding: gzip, chunked` without a TE field in the request.",
            due: .rightOrRefusal
        ) { visit in
            // The framing writes the chunks; the field that it would write is replaced by this one.
            let packed = Packed.gzip(visit.media)
            return .raw(
                Answer.raw(["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", "Content-Type: video/mp4"])
                    + Chunked.coded(packed[...]))
        },
        HostileCase(
            "te-twice", .coding, "`Transfer-Encoding: chunked, chunked`, and chunks within chunks.",
            due: .rightOrRefusal
        ) { visit in
            .raw(
                Answer.raw(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked, chunked", "Content-Type: video/mp4"])
                    + Chunked.coded(Chunked.coded(visit.media.bytes[...])[...]))
        },
        HostileCase(
            "te-two-fields", .coding, "Two fields `Transfer-Encoding: chunked`, and chunks once.",
            due: .rightOrRefusal
        ) { visit in
            .raw(
                Answer.raw([
                    "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked",
                    "Content-Type: video/mp4",
                ]) + Chunked.coded(visit.media.bytes[...]))
        },
        HostileCase(
            "te-identity", .coding, "`Transfer-Encoding: identity` beside a right length, as before RFC 7230.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Transfer-Encoding", "identity")
                    $0.ending = .closed
                })
        },
        HostileCase(
            "te-unknown", .coding, "`Transfer-Encoding: cow`; the plain body ends with the connection.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Transfer-Encoding", "cow")
                    $0.framing = .untilClose
                })
        },
        HostileCase(
            "te-hidden", .coding, "`Transfer-Encoding: chunked` behind a vertical tab, and a plain body.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Transfer-Encoding", "\u{0B}chunked")
                    $0.ending = .closed
                })
        },
        HostileCase(
            "te-and-length", .coding,
            "Chunked, with a Content-Length of 1,000 beside it, the shape of request smuggling.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Length", "1000")
                    $0.framing = .chunked
                })
        },
        HostileCase(
            "te-and-longer-length", .coding, "Chunked, with a Content-Length beside it that is 1,000 too much.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Length", "\(visit.media.bytes.count + 1000)")
                    $0.framing = .chunked
                })
        },
        HostileCase(
            "te-in-1.0", .coding, "HTTP/1.0 with chunks, which HTTP/1.0 does not have.", due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.version = "HTTP/1.0"
                    $0.framing = .chunked
                })
        },
    ]
}
