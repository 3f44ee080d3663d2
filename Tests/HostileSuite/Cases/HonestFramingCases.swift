extension HostileCase {
    private static func honest(
        _ name: String, _ summary: String, play: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase(name, .honest, summary, due: .rightBytes, play: play)
    }

    // MARK: Framing

    /// How the body is framed.
    static let framings: [HostileCase] = [
        honest("http10", "HTTP/1.0 with a length, without ranges, one request a connection.") { visit in
            .answer(visit.whole().with(asHTTP10))
        },
        honest("http10-until-close", "HTTP/1.0 without a length: the end of the connection ends the body.") { visit in
            .answer(
                visit.whole().with {
                    asHTTP10(&$0)
                    $0.framing = .untilClose
                })
        },
        honest("chunked", "A chunked body, so that no length is known before its end.") { visit in
            .answer(visit.whole().with { $0.framing = .chunked })
        },
        honest("chunked-trailers", "Chunk extensions, and trailers with another length (RFC 9112 7.1.1, 7.1.2).") {
            let trailers = "X-Checksum: 0\r\nContent-Length: 5\r\nETag: \"other\"\r\n"
            return .raw(
                $0.whole().inChunks(extensions: ";name=\"va;lue\";x", trailers: trailers), then: .closed)
        },
        honest("chunk-sizes-padded", "Chunk sizes with leading zeros, in capitals and followed by spaces.") { visit in
            let body = visit.whole().body
            var bytes = Array(visit.whole().with { $0.framing = .chunked }.head.utf8)
            for position in stride(from: 0, to: body.count, by: 0xABCD) {
                let piece = body.piece(position..<min(body.count, position + 0xABCD))
                bytes += Array("0000\(String(piece.count, radix: 16, uppercase: true))  \r\n".utf8) + piece + [13, 10]
            }
            return .raw(bytes + Array("000\r\n\r\n".utf8))
        },
        honest("interim", "100, 102 and several 103 before the answer (RFC 9110 15.2).") { visit in
            visit.but {
                $0.interim = ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n"]
                $0.interim += (1...5).map { "HTTP/1.1 103 Early Hints\r\nLink: </\($0).css>; rel=preload\r\n\r\n" }
            }
        },
        honest("interim-misleading", "103 with the length, the range and the ETag of something else (RFC 8297).") {
            $0.but {
                let other = "Content-Length: 5\r\nContent-Range: bytes 0-4/5\r\nETag: \"no\"\r\n"
                $0.interim = ["HTTP/1.1 103 Early Hints\r\n\(other)\r\n"]
            }
        },
        honest("reason-empty", "A status line without a reason (RFC 9112 4).") { $0.but { $0.reason = "" } },
        honest("reason-missing", "A status line that ends behind the status, without the space it must have.") {
            let answer = $0.whole()
            let head = answer.head.replacing("HTTP/1.1 200 OK\r\n", with: "HTTP/1.1 200\r\n")
            return .raw(Array(head.utf8) + answer.body.piece(0..<answer.body.count))
        },
        honest("line-feeds", "Lines of the head that end with LF alone (RFC 9112 2.2).") {
            let answer = $0.whole()
            let head = answer.head.replacing("\r\n", with: "\n")
            return .raw(Array(head.utf8) + answer.body.piece(0..<answer.body.count))
        },
        honest("close-each", "Connection: close on every answer, each of 500 kB at most (RFC 9110 15.3.7).") { visit in
            visit.but {
                sliced(&$0, visit, to: 500_000)
                $0.set("Connection", "close")
                $0.ending = $0.ending == .whole ? .closed : $0.ending
            }
        }.promising(.requests(atMost: 20), .resumed()),
        honest("close-unsaid", "The connection is closed behind every answer although none says so.") { visit in
            visit.but {
                sliced(&$0, visit, to: 500_000)
                $0.ending = $0.ending == .whole ? .closed : $0.ending
            }
        }.promising(.requests(atMost: 20), .resumed()),
        honest("small-segments", "Segments of 700 bytes.") { visit in
            visit.but { $0.trickle = (bytes: 700, milliseconds: 0) }
        },
        honest("head-byte-by-byte", "A head that comes byte by byte.") { visit in
            visit.but { $0.splitsHead = true }
        }.promising(.requests(atMost: 6)),
    ]

    private static func asHTTP10(_ answer: inout Answer) {
        answer.version = "HTTP/1.0"
        answer.set("Accept-Ranges", nil)
        answer.set("ETag", nil)
    }

    /// Makes a 206 shorter than asked for, and cuts the first whole answer.
    static func sliced(_ answer: inout Answer, _ visit: Visit, to count: Int) {
        guard answer.status == 206 else {
            if visit.isFirst("whole") { answer.ending = .cut(after: count) }
            return
        }
        let first = visit.asked.range?.bytes(of: visit.media.bytes.count)?.lowerBound ?? 0
        answer.body = .bytes(answer.body.piece(0..<min(answer.body.count, count)))
        answer.set("Content-Range", "bytes \(first)-\(first + answer.body.count - 1)/\(visit.media.bytes.count)")
    }

    // MARK: Sizes

    /// Lengths at boundaries.
    static let sizes: [HostileCase] = [
        honest("empty", "An object of no bytes, with its length.") { .answer($0.honest()) }.with {
            ($0.size, $0.dueBlind) = (0, .refusal)
        },
        honest("empty-chunked", "An object of no bytes, chunked.") { visit in
            visit.but { $0.framing = .chunked }
        }.with { ($0.size, $0.dueBlind) = (0, .refusal) },
        honest("empty-until-close", "An object of no bytes, ended by the end of the connection.") { visit in
            visit.but { $0.framing = .untilClose }
        }.with { ($0.size, $0.dueBlind) = (0, .refusal) },
        honest("one-byte", "An object of one byte, as `video/mp4`.") { .answer($0.honest()) }
            .with { ($0.size, $0.dueBlind) = (1, .refusal) },
        honest("one-chunk", "An object of 1 MiB exactly.") { .answer($0.honest()) }.with { $0.size = 1 << 20 },
        honest("one-chunk-and-byte", "An object of 1 MiB and one byte; FIN before the last byte.") {
            $0.firstCut(after: 1 << 20) ?? .answer($0.honest())
        }.with { $0.size = 1 << 20 | 1 }.promising(.resumed(wasting: 1)),
        honest("one-chunk-less-byte", "An object of 1 MiB less one byte, chunked.") { visit in
            .answer(visit.whole().with { $0.framing = .chunked })
        }.with { $0.size = 1 << 20 - 1 },
    ]
}
