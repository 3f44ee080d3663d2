extension HostileCase {
    /// Proxies that change the body in transit.
    static let transformers: [HostileCase] = [
        HostileCase(
            "proxy-recodes", .coding,
            "A proxy recodes the bytes as if they were Latin-1, and adjusts the length; the ETag stays.",
            due: .refusal, blind: .unknowable
        ) { visit in
            .answer(visit.honest(visit.media.changed { _ in Packed.recoded(visit.media) }))
        },
        HostileCase(
            "proxy-injects", .coding, "A proxy puts a script before the body and adjusts the length; the ETag stays.",
            due: .refusal, blind: .unknowable
        ) { visit in
            .answer(visit.honest(visit.media.changed { Array("<script src=\"//ads\"></script>".utf8) + $0 }))
        },
        HostileCase(
            "proxy-forgets-digest", .coding,
            "A proxy changes one byte and forgets the origin's Repr-Digest, which says otherwise (RFC 9530).",
            due: .refusal
        ) { visit in
            .answer(
                visit.honest(visit.media.changed { $0[..<1000] + [$0[1000] ^ 1] + $0[1001...] }).with {
                    $0.set("Repr-Digest", "sha-256=:\(visit.media.sha256Base64):")
                })
        },
        HostileCase(
            "proxy-confesses", .coding,
            "A proxy sends a smaller film with 203 Non-Authoritative Information (RFC 9110 section 15.3.4).",
            due: .refusal
        ) { visit in
            .answer(
                visit.plainWhole.with {
                    $0.status = 203
                    $0.reason = "Non-Authoritative Information"
                    $0.fields.append(("Warning", "214 proxy \"Transformation Applied\""))
                    $0.body = .bytes(visit.media.next.bytes[..<1_000_000])
                })
        },
        HostileCase(
            "proxy-203", .coding, "The right bytes with 203 Non-Authoritative Information.", due: .rightOrRefusal
        ) { visit in .answer(visit.plainWhole.with { $0.status = 203 }) },
        HostileCase(
            "proxy-shrinks-resume", .coding,
            "The first answer is cut; a proxy answers what follows out of a film that it has made smaller.",
            due: .refusal, blind: .unknowable
        ) { visit in
            if let reply = visit.cutOnce() { return reply }
            var small = visit.media.next
            small.bytes.removeLast(1_000_000)
            small.etag = "W/\"small\""
            small.lastModified = nil
            return .answer(visit.honest(small))
        },
    ]
}

extension Media {
    /// The same lecture with other bytes and the same validators.
    ///
    /// - Parameter change: makes the bytes.
    /// - Returns: the changed lecture.
    func changed(_ change: ([UInt8]) -> [UInt8]) -> Media {
        var media = self
        media.bytes = change(bytes)
        return media
    }

    /// SHA-256 in the base64 alphabet of RFC 4648 section 4.
    var sha256Base64: String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let digits = sha256.compactMap(\.hexDigitValue)
        // Three hexadecimal digits are two characters; 64 digits leave one over, which is 4 bits.
        let groups = stride(from: 0, to: 63, by: 3).map { digits[$0] << 8 | digits[$0 + 1] << 4 | digits[$0 + 2] }
        return groups.map { "\(alphabet[$0 >> 6])\(alphabet[$0 & 63])" }.joined() + "\(alphabet[digits[63] << 2])="
    }
}
