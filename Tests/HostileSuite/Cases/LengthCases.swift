extension HostileCase {
    /// Wrong lengths.
    static let lengths: [HostileCase] =
        lengthFields + lengthShapes + lengthLies + lengthsWithoutEnd + chunkSizes + chunkFrames

    private static let lengthFields: [HostileCase] = [
        HostileCase(
            "length-twice", .length, "Two equal Content-Length fields, which may be taken or refused.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.honest().with {
                    $0.fields.append(("Content-Length", "\($0.body.count)"))
                    $0.fields.append(("Content-Length", "\($0.body.count)"))
                })
        },
        HostileCase(
            "length-list", .length, "One Content-Length field with the same number twice, joined by a comma.",
            due: .rightOrRefusal
        ) { visit in
            .answer(visit.honest().with { $0.set("Content-Length", "\($0.body.count), \($0.body.count)") })
        },
        HostileCase(
            "length-shorter-second", .length,
            "Two Content-Length fields, the right one first and one of 1,000 behind it (RFC 9112 section 6.3).",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.fields.append(("Content-Length", "\($0.body.count)"))
                    $0.fields.append(("Content-Length", "1000"))
                    $0.ending = .closed
                })
        },
        HostileCase(
            "length-shorter-first", .length, "Two Content-Length fields, one of 1,000 and the right one behind it.",
            due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.fields.append(("Content-Length", "1000"))
                    $0.fields.append(("Content-Length", "\($0.body.count)"))
                    $0.ending = .closed
                })
        },
        HostileCase(
            "length-list-of-two", .length, "`Content-Length: 1000, 3500000` in one field.", due: .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Length", "1000, \($0.body.count)")
                    $0.ending = .closed
                })
        },
    ]

    /// A case whose length is written in a way that parsers read differently; `N` is replaced by the right number.
    private static func written(_ name: String, _ value: String, _ summary: String) -> HostileCase {
        HostileCase("length-\(name)", .length, summary, due: .rightOrRefusal) { visit in
            .answer(
                visit.plainWhole.with { answer in
                    let count = answer.body.count
                    let shown =
                        switch value {
                        case "0xN": "0x" + String(count, radix: 16)
                        case "0N": "0" + String(count, radix: 8)
                        case "split": "\(count / 1000) \(count % 1000)000"
                        default:
                            value.split(separator: "N", omittingEmptySubsequences: false).joined(separator: "\(count)")
                        }
                    answer.set("Content-Length", shown)
                    answer.ending = .closed
                })
        }
    }

    private static let lengthShapes: [HostileCase] = [
        written("negative", "-1", "`Content-Length: -1`; the body ends with the connection."),
        written("plus", "+N", "`Content-Length: +3500000`."),
        written("hexadecimal", "0xN", "`Content-Length: 0x3567e0`, of which some read 0."),
        // The announced 15 MB may be reserved.
        written("octal", "0N", "The length in octal digits behind a 0, of which most read more.").with {
            $0.diskBeyondTwice = 24 << 20
        },
        written("fraction", "N.0", "`Content-Length: 3500000.0`."),
        written("exponent", "35e5", "`Content-Length: 35e5`, of which some read 35."),
        written("unit", "N bytes", "`Content-Length: 3500000 bytes`."),
        written("split", "split", "`Content-Length: 3500 000`, of which some read 3,500."),
        written("empty", "", "A Content-Length without a value; the body ends with the connection."),
        written("comma", "N,", "A Content-Length with a comma and nothing behind it."),
        written("2-63", "9223372036854775808", "`Content-Length: 2^63`, which is negative for many."),
        written("2-64", "18446744073709551616", "`Content-Length: 2^64`, which is 0 for many."),
        written(
            "2-64-and-more", "18446744073713051616", "`Content-Length: 2^64 + 3500000`, right when cut to 64 bits."),
        written("2-32-and-more", "4298467296", "`Content-Length: 2^32 + 3500000`, right when cut to 32 bits."),
        written("thirty-digits", "1000000000000000000000000000000", "`Content-Length: 10^30`."),
    ]

    private static let lengthLies: [HostileCase] = [
        HostileCase(
            "length-too-much", .length,
            "Every 200 announces 500 bytes more than there are; ranges are honest and name the right length.",
            due: .rightOrRefusal
        ) { visit in
            var answer = visit.honest()
            if answer.status == 200 {
                answer.set("Content-Length", "\(answer.body.count + 500)")
                answer.ending = .closed
            }
            return .answer(answer)
        },
        HostileCase(
            "length-too-little", .length, "Every 200 announces 500 bytes fewer than it sends.",
            due: .refusal, blind: .unknowable
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Length", "\($0.body.count - 500)")
                    $0.ending = .closed
                })
        },
        HostileCase(
            "length-zero", .length, "`Content-Length: 0`, and then the lecture.", due: .refusal, blind: .unknowable
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.set("Content-Length", "0")
                    $0.ending = .closed
                })
        },
        HostileCase(
            "length-of-whole-in-206", .length,
            "The first answer is cut; each 206 has the right Content-Range and the length of the whole.",
            due: .rightOrRefusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            var answer = visit.honest()
            answer.set("Content-Length", "\(visit.media.bytes.count)")
            if answer.status == 206 { answer.ending = .closed }
            return .answer(answer)
        },
        HostileCase(
            "length-surplus-bytes", .length, "1,000 zero bytes behind the announced end, then FIN.",
            due: .rightBytes
        ) { visit in
            .answer(
                visit.honest().with {
                    $0.surplus = [UInt8](repeating: 0, count: 1000)
                    $0.ending = .closed
                })
        },
        HostileCase(
            "length-surplus-answer", .length,
            "A redirect whose body is followed by a forged answer to the next request (response splitting).",
            due: .rightBytes
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .answer(
                Answer(302, [("Location", "/next.mp4")], body: Array("moved".utf8)[...]).with {
                    $0.surplus = Answer.raw(
                        ["HTTP/1.1 200 OK", "Content-Type: video/mp4", "Content-Length: 6"], Array("forged".utf8)[...])
                })
        },
        HostileCase(
            "length-two-answers", .length, "A second answer, an error page, stands behind the whole first one.",
            due: .rightBytes
        ) { visit in
            .answer(
                visit.honest().with {
                    $0.surplus = Answer.raw(
                        ["HTTP/1.1 408 Request Timeout", "Content-Length: 7"], Array("timeout".utf8)[...])
                })
        },
    ]

    private static let lengthsWithoutEnd: [HostileCase] = [
        HostileCase(
            "length-8-tib", .length, "8 TiB are announced, and the connection is cut after 1 MB.", due: .refusal
        ) { _ in
            .answer(
                Answer(200, [("Content-Type", "video/mp4")]).with {
                    $0.body = .zeros(8 << 40)
                    $0.ending = .cut(after: 1_000_000)
                })
        }.promising(.requests(atMost: 20)),
        HostileCase(
            "length-8-tib-later", .length,
            "The first answer is cut; from then on the same object, by its ETag, has 8 TiB.", due: .refusal
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            var answer = visit.honest()
            let first = visit.asked.range?.first ?? 0
            answer.body = .zeros(8 << 40 - first)
            if answer.status == 206 {
                answer.set("Content-Range", "bytes \(first)-\(8 << 40 - 1)/\(8 << 40)")
            }
            answer.ending = .cut(after: 1_000_000)
            return .answer(answer)
        }.promising(.requests(atMost: 20)),
        endless("chunked", "Chunks of zeros without an end.", .chunked),
        endless("until-close", "Zeros without a length and without an end.", .untilClose),
        HostileCase(
            "length-without-and-cut", .length, "HTTP/1.0 without a length; every body is cut after 2 MB.",
            due: .refusal, blind: .unknowable
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.version = "HTTP/1.0"
                    $0.framing = .untilClose
                    $0.ending = .cut(after: 2_000_000)
                })
        },
        HostileCase(
            "length-without-and-reset", .length, "No length; every body ends with RST after 2 MB, which is no end.",
            due: .refusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.framing = .untilClose
                    $0.ending = .reset(after: 2_000_000)
                })
        }.promising(.requests(atMost: 24)),
    ]

    /// More than `--quota` allows: the program must report it before it has filled more than that.
    private static func endless(_ name: String, _ summary: String, _ framing: Answer.Framing) -> HostileCase {
        HostileCase("length-endless-\(name)", .length, summary, due: .refusal) { _ in
            .answer(
                Answer(200, [("Content-Type", "video/mp4")]).with {
                    $0.body = .zeros(1 << 40)
                    $0.framing = framing
                })
        }.with { $0.diskBeyondTwice = 128 << 20 }.promising(.sent(atMost: 400 << 20))
    }
}
