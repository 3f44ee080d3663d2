extension HostileCase {
    /// A case whose lecture comes in hand-made chunks.
    private static func chunks(
        _ name: String, _ summary: String, due: Due, blind: Due? = nil, fields: [String] = [],
        ending: Answer.Ending = .closed, _ make: @escaping @Sendable (ArraySlice<UInt8>) -> [UInt8]
    ) -> HostileCase {
        HostileCase("chunk-\(name)", .length, summary, due: due, blind: blind) { visit in
            let head = ["HTTP/1.1 200 OK", "Content-Type: video/mp4", "Transfer-Encoding: chunked"] + fields
            return .raw(Answer.raw(head) + make(visit.media.bytes[...]), then: ending)
        }.promising(.requests(atMost: 12))
    }

    /// Anomalies before a chunk.
    static let chunkSizes: [HostileCase] = [
        chunks("leading-zeros", "Chunk sizes of 16 digits with leading zeros.", due: .rightBytes) { body in
            Chunked.coded(body) { _, count in
                let digits = String(count, radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }
        },
        chunks("extensions", "Every chunk has extensions, one with a quoted CRLF escape.", due: .rightBytes) { body in
            Chunked.coded(body) { number, count in "\(String(count, radix: 16));n=\(number);q=\"a\\\"b;c\"" }
        },
        chunks("huge-extension", "Every chunk has an extension of 64 KiB.", due: .rightOrRefusal) { body in
            let filler = String(repeating: "x", count: 65_536)
            return Chunked.coded(body, size: 262_144) { _, count in "\(String(count, radix: 16));n=\(filler)" }
        },
        chunks("space", "A space behind every chunk size.", due: .rightOrRefusal) { body in
            Chunked.coded(body) { _, count in String(count, radix: 16) + " " }
        },
        chunks("0x", "Chunk sizes with `0x` before them, of which some read 0.", due: .rightOrRefusal) { body in
            Chunked.coded(body) { _, count in "0x" + String(count, radix: 16) }
        },
        chunks("negative", "The third chunk has the size -1.", due: .refusal) { body in
            Chunked.coded(body) { number, count in number == 2 ? "-1" : String(count, radix: 16) }
        },
        chunks("overflow", "The third chunk has a size of 17 digits.", due: .rightOrRefusal) { body in
            Chunked.coded(body) { number, count in
                number == 2 ? "1" + String(repeating: "0", count: 11) + "10000" : String(count, radix: 16)
            }
        },
        chunks("largest", "The third chunk has the size 2^64 - 1, and the connection ends.", due: .refusal) { body in
            Chunked.coded(body[..<(body.startIndex + 200_000)], last: "") { number, count in
                number == 2 ? "ffffffffffffffff" : String(count, radix: 16)
            }
        },
    ]

    /// Anomalies around and behind chunks.
    static let chunkFrames: [HostileCase] = [
        chunks("says-more", "Every chunk is 5 bytes shorter than its size says.", due: .refusal) { body in
            Chunked.coded(body) { _, count in String(count + 5, radix: 16) }
        },
        chunks("says-less", "Every chunk is 5 bytes longer than its size says.", due: .refusal) { body in
            Chunked.coded(body) { _, count in String(max(1, count - 5), radix: 16) }
        },
        chunks("bare-lf", "Chunks with LF in place of CRLF.", due: .rightOrRefusal) { body in
            Chunked.coded(body, end: "\n", last: "0\n\n")
        },
        chunks("no-last", "All chunks, but FIN in place of the last one.", due: .rightOrRefusal) { body in
            Chunked.coded(body, last: "")
        },
        chunks("half", "Half of the chunks, then FIN, every time.", due: .refusal) { body in
            Chunked.coded(body.prefix(body.count / 2), last: "")
        },
        chunks("half-and-zero", "Half of the chunks, then a last one, every time.", due: .refusal, blind: .unknowable) {
            Chunked.coded($0.prefix($0.count / 2))
        },
        chunks("no-trailer-end", "The last chunk without the empty line behind it.", due: .rightOrRefusal) { body in
            Chunked.coded(body, last: "0\r\n")
        },
        chunks(
            "trailer-lies", "A trailer says another length, range and coding, which trailers cannot (RFC 9110 6.5.1).",
            due: .rightBytes, fields: ["Trailer: Content-Length"]
        ) { body in
            Chunked.coded(
                body, last: "0\r\nContent-Length: 5\r\nContent-Range: bytes 0-4/5\r\nContent-Encoding: gzip\r\n\r\n")
        },
        chunks("trailer-large", "A trailer of 1 MB.", due: .rightOrRefusal) { body in
            let line = "X-Filler: " + String(repeating: "x", count: 990) + "\r\n"
            return Chunked.coded(body, last: "0\r\n" + String(repeating: line, count: 1000) + "\r\n")
        },
        chunks("surplus", "Bytes behind the last chunk.", due: .rightBytes) { body in
            Chunked.coded(body) + Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad".utf8)
        },
    ]
}
