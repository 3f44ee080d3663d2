extension HostileCase {
    /// What can happen to a body under TLS.
    static let securedBodies: [HostileCase] = [
        secure(
            "no-close-notify", "Every answer is whole by its length, and ends with FIN without close_notify.",
            .rightBytes
        ) { visit in .answer(visit.honest().with { $0.ending = .cut(after: $0.body.count) }) },
        secure("close-notify-early-once", "close_notify and FIN after 2 MB of the first body.", .rightBytes) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .script { talk in
                let answer = visit.honest()
                talk.begin(answer)
                talk.send(answer, 0..<2_000_000)
                talk.wire.finish()
            }
        }.promising(.resumed()),
        secure(
            "truncation", "No body has a length, and each is cut at 2 MB without close_notify (RFC 9112 section 9.8).",
            .refusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.framing = .untilClose
                    $0.ending = .cut(after: 2_000_000)
                })
        },
        secure(
            "truncation-once", "The first body has no length and is cut at 2 MB without close_notify.", .rightBytes
        ) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .answer(
                visit.honest().with {
                    $0.framing = .untilClose
                    $0.ending = .cut(after: 2_000_000)
                })
        },
        secure(
            "whole-but-unproven", "No body has a length; each is whole, and ends with FIN without close_notify.",
            .rightOrRefusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.framing = .untilClose
                    $0.ending = .cut(after: $0.body.count)
                })
        },
        secure("ends-with-close-notify", "No body has a length; each ends with close_notify.", .rightBytes) { visit in
            .answer(visit.plainWhole.with { $0.framing = .untilClose })
        },
        secure("tiny-records", "Each two bytes of the body are a record of their own.", .rightBytes) { visit in
            .answer(visit.honest().with { $0.trickle = (2, 0) })
        }.with { $0.size = 100_000 },
        tampered("clear-bytes-once", "Bytes in clear between the records of the first body, after 2 MB.") { wire in
            wire.sendBelow(Array("HTTP/1.1 200 OK\r\n\r\nnot a record".utf8))
        },
        tampered("forged-record-once", "A forged record in the first body, after 2 MB.") { wire in
            wire.sendBelow([23, 3, 3, 4, 0] + [UInt8](repeating: 42, count: 1024))
        },
        tampered("giant-record-once", "A record of 65,535 bytes in the first body, after 2 MB (RFC 8446 section 5.2).")
        {
            $0.sendBelow([23, 3, 3, 255, 255] + [UInt8](repeating: 42, count: 65_535))
        },
        tampered("alert-once", "The alert internal_error in the first body, after 2 MB.") { $0.alert(80) },
        tampered(
            "clear-alert-once", "A close_notify in clear, by an attacker on the path, in the first body after 2 MB."
        ) {
            $0.sendBelow([21, 3, 3, 0, 2, 1, 0])
        },
        rekeyed("key-update", "New keys after 2 MB of each body (RFC 8446 section 4.6.3).", "NORMAL", .rightBytes),
        rekeyed(
            "renegotiation",
            "The server asks for another handshake after 2 MB of each body (RFC 5246 section 7.4.1.1).",
            "NORMAL:-VERS-ALL:+VERS-TLS1.2", .rightOrRefusal),
    ]

    private static func tampered(
        _ name: String, _ summary: String, _ tamper: @escaping @Sendable (TLSWire) -> Void
    ) -> HostileCase {
        secure(name, summary, .rightBytes) { visit in
            guard visit.isFirst("body") else { return .answer(visit.honest()) }
            return .script { talk in
                let answer = visit.honest()
                talk.begin(answer)
                talk.send(answer, 0..<2_000_000)
                talk.tls.map(tamper)
                talk.send(answer, 2_000_000..<Int.max)
            }
        }.promising(.resumed())
    }

    private static func rekeyed(_ name: String, _ summary: String, _ priorities: String, _ due: Due) -> HostileCase {
        secure(name, summary, due, Security { $0.priorities = priorities }) { visit in
            .script { talk in
                let answer = visit.honest()
                talk.begin(answer)
                talk.send(answer, 0..<2_000_000)
                talk.tls?.renegotiate()
                talk.send(answer, 2_000_000..<Int.max)
                talk.wire.waitForEnd()
            }
        }
    }

    /// Redirects between http and https.
    static let crossings: [HostileCase] = [
        redirecting(
            "https-to-http", "The https origin redirects to http, where the lecture is.", [.secure(), .plain],
            .rightOrRefusal
        ).promising(.untouched(1)),
        redirecting(
            "http-to-https", "The http origin redirects to https, where the lecture is.", [.plain, .secure()],
            .rightBytes),
        redirecting(
            "http-to-https-to-http", "http redirects to https, and that to another http.",
            [.plain, .secure(), .plain], .rightOrRefusal
        ).promising(.untouched(2)),
        redirecting(
            "https-to-untrusted", "The https origin redirects to one whose authority is untrusted.",
            [.secure(), .secure(Security { $0.certificate = .unknownAuthority })], .refusal
        ).promising(.untouched(1)),
        redirecting(
            "https-to-https", "The https origin redirects to another one, which credentials are not for.",
            [.secure(), .secure()], .rightBytes
        ).with { $0.sendsCredentials = true }.promising(.credentialsStay),
    ]

    private static func redirecting(_ name: String, _ summary: String, _ edges: [Edge], _ due: Due) -> HostileCase {
        HostileCase(name, .security, summary, due: due) { visit in
            guard visit.edge + 1 < visit.bases.count else { return .answer(visit.honest()) }
            return .answer(Answer(302, [("Location", visit.bases[visit.edge + 1] + visit.asked.target)]))
        }.with { $0.edges = edges }
    }
}
