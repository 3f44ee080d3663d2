import Foundation

extension HostileCase {
    /// The object changes from some request on.
    static let changes: [HostileCase] = replaced + unnoticeable + flapping + gone + announced

    private static func change(
        _ name: String, _ summary: String, due: Due, blind: Due? = nil,
        play: @escaping @Sendable (Visit) -> Reply
    ) -> HostileCase {
        HostileCase(name, .change, summary, due: due, blind: blind, play: play).promising(.requests(atMost: 14))
    }

    /// The first body is cut; from then on another version is served. The old one is no longer available, so with its
    /// digest a refusal is due; without one, the new version as a whole is right, and a mixture is not.
    private static func replaced(
        _ name: String, _ summary: String, blind: Due = .rightOrRefusal,
        hasETag: Bool = true, _ version: @escaping @Sendable (Media) -> Media
    ) -> HostileCase {
        change(name, summary, due: .refusal, blind: blind) { visit in
            let old = visit.media.with { if !hasETag { $0.etag = nil } }
            return visit.firstCut(of: old) ?? .answer(visit.honest(version(visit.media)))
        }.with { $0.versions = { [version($0)] } }
    }

    // MARK: Replaced, and a validator or the length shows it

    private static let replaced: [HostileCase] = [
        replaced("new-version", "Another version with another ETag, from the second request on.") { $0.next },
        replaced(
            "new-version-by-date", "Another version with another Last-Modified; no ETag before and after.",
            hasETag: false
        ) { media in
            media.next.with { $0.etag = nil }
        },
        replaced("new-version-grown", "A version that is 1,000 bytes longer, with another ETag.") {
            $0.grown
        },
        replaced("new-version-shrunk", "A version of a million bytes, with another ETag.") { media in
            media.short
        },
        replaced("grown-unmarked", "A version that is 1,000 bytes longer, under the same ETag and date.") { media in
            media.grown.with { ($0.etag, $0.lastModified) = (media.etag, media.lastModified) }
        },
        replaced("shrunk-unmarked", "A version that is half a megabyte shorter, under the same ETag and date.") {
            media in
            media.with { $0.bytes = Array($0.bytes.prefix(3_000_000)) }
        },
        replaced("truncated-to-nothing", "A version of no bytes, with another ETag.") { media in
            media.next.with { $0.bytes = [] }
        },
        change(
            "shrunk-below", "A version of a million bytes and no validators at all: what is asked for is gone (416).",
            due: .refusal, blind: .rightOrRefusal
        ) { visit in
            let mute: (inout Media) -> Void = { ($0.etag, $0.lastModified) = (nil, nil) }
            return visit.firstCut(of: visit.media.with(mute)) ?? .answer(visit.honest(visit.media.short.with(mute)))
        }.with { $0.versions = { [$0.short] } },
        change(
            "new-version-206", "Another version with another ETag, sent as 206 although If-Range forbids it.",
            due: .refusal, blind: .rightOrRefusal
        ) { visit in
            visit.firstCut() ?? .answer(visit.ignoringIfRange.honest(visit.media.next))
        }.with { $0.versions = { [$0.next] } },
        change(
            "new-version-while-parallel", "Another version with another ETag, from the third request on.",
            due: .rightOrRefusal
        ) { visit in
            if visit.count("request") > 2 { return .answer(visit.honest(visit.media.next)) }
            return visit.but { $0.trickle = (bytes: 65_536, milliseconds: 10) }
        }.with { ($0.connections, $0.versions) = (3, { [$0.next] }) },
        change(
            "changed-and-back", "Another version in the second answer only, which is cut like the first.",
            due: .rightOrRefusal
        ) { visit in
            if let cut = visit.firstCut() { return cut }
            guard visit.isFirst("second") else { return .answer(visit.honest()) }
            return visit.but(of: visit.media.next) { $0.ending = .cut(after: min(900_000, $0.body.count / 2)) }
        }.with { $0.versions = { [$0.next] } },
    ]

    // MARK: Replaced, and nothing shows it

    private static let unnoticeable: [HostileCase] = [
        replaced("same-etag", "Two bytes are others, under the same ETag, date and length.", blind: .unknowable) {
            media in
            media.with {
                $0.bytes[1_000] ^= 1
                $0.bytes[3_000_000] ^= 1
            }
        },
        replaced(
            "same-date", "Other bytes of the same length under the same Last-Modified, and no ETag.",
            blind: .unknowable, hasETag: false
        ) { media in
            media.next.with { ($0.etag, $0.lastModified) = (nil, media.lastModified) }
        },
        change(
            "no-validators-changed", "Other bytes of the same length, without ETag and Last-Modified.",
            due: .refusal, blind: .rightOrRefusal
        ) { visit in
            let mute: (inout Media) -> Void = { ($0.etag, $0.lastModified) = (nil, nil) }
            return visit.firstCut(of: visit.media.with(mute)) ?? .answer(visit.honest(visit.media.next.with(mute)))
        }.with { $0.versions = { [$0.next] } },
        change(
            "weak-etag-changed", "Other bytes of the same length under the same weak ETag (RFC 9110 8.8.1).",
            due: .refusal, blind: .unknowable
        ) { visit in
            let weak: (inout Media) -> Void = { ($0.etag, $0.lastModified) = ("W/\"v1\"", nil) }
            return visit.firstCut(of: visit.media.with(weak)) ?? .answer(visit.honest(visit.media.next.with(weak)))
        },
        change(
            "two-versions-alike", "Two servers with two versions under one ETag and date answer by turns, each cut.",
            due: .rightOrRefusal, blind: .unknowable
        ) { visit in
            let other = visit.media.next.with {
                ($0.etag, $0.lastModified) = (visit.media.etag, visit.media.lastModified)
            }
            let media = visit.count("turn").isMultiple(of: 2) ? other : visit.media
            return visit.but(of: media) { $0.ending = .cut(after: 1_500_000) }
        },
        change(
            "flipped-bit", "One bit of the first body is wrong under honest fields, as bad memory makes it.",
            due: .rightOrRefusal, blind: .unknowable
        ) { visit in
            let isFirst = visit.isFirst("body")
            return .answer(visit.honest(isFirst ? visit.media.with { $0.bytes[1_000_000] ^= 4 } : visit.media))
        },
    ]

    // MARK: By turns

    private static let flapping: [HostileCase] = [
        change(
            "never-stable", "Another version with another ETag in every answer, and every body is cut after 1.5 MB.",
            due: .refusal
        ) { visit in
            let number = visit.count("version")
            let media = visit.media.with {
                $0.etag = "\"\(number)\""
                $0.bytes[10] = UInt8(truncatingIfNeeded: number) ^ $0.bytes[10] ^ 0x80
            }
            return visit.but(of: media) { $0.ending = .cut(after: 1_500_000) }
        },
        change(
            "etag-by-inode", "Two servers with the same bytes make ETags of their inodes, and answer by turns.",
            due: .rightBytes, blind: .rightOrRefusal
        ) { visit in
            let media = visit.media.with { $0.etag = visit.count("turn").isMultiple(of: 2) ? "\"2c1-9\"" : "\"7f0-9\"" }
            return visit.but(of: media) { $0.ending = .cut(after: 1_500_000) }
        },
        change(
            "etag-by-inode-once", "A cut body; then another server with the same bytes and an ETag of its own inode.",
            due: .rightBytes
        ) { visit in
            visit.firstCut() ?? .answer(visit.honest(visit.media.with { $0.etag = "\"2c1-9\"" }))
        },
        change(
            "etag-gone", "No ETag any more from the second request on; the bytes are the same.", due: .rightBytes
        ) { visit in
            visit.firstCut() ?? .answer(visit.honest(visit.media.with { $0.etag = nil }))
        },
        change(
            "etag-turned-weak",
            "The ETag is weak from the second request on, as a CDN makes it; the bytes are the same.",
            due: .rightBytes
        ) { visit in
            visit.firstCut() ?? .answer(visit.honest(visit.media.with { $0.etag = "W/\"v1\"" }))
        },
        change(
            "two-versions", "Two servers with two versions and their own ETags answer by turns, each cut.",
            due: .rightOrRefusal
        ) { visit in
            let media = visit.count("turn").isMultiple(of: 2) ? visit.media.next : visit.media
            return visit.but(of: media) { $0.ending = .cut(after: 1_500_000) }
        }.with { $0.versions = { [$0.next] } },
    ]

    // MARK: Gone

    private static func gone(
        _ name: String, _ summary: String, due: Due, isBack: Bool = false,
        _ reply: @escaping @Sendable (Visit) -> Answer
    ) -> HostileCase {
        change(name, summary, due: due) { visit in
            if let cut = visit.firstCut() { return cut }
            if isBack, !visit.isFirst("gone") { return .answer(visit.honest()) }
            return .answer(reply(visit))
        }
    }

    private static let page = "<!DOCTYPE html><title>Moved</title><p>The lecture has moved."

    private static let gone: [HostileCase] = [
        gone("gone-404", "404 from the second request on.", due: .refusal) { _ in
            Answer(404, text: page, type: "text/html")
        },
        gone(
            "gone-404-once", "404 to the second request only, as a cache that is being filled.", due: .rightOrRefusal,
            isBack: true
        ) { _ in Answer(404, text: "not here") },
        gone("gone-page", "A page with status 200 from the second request on.", due: .refusal) { _ in
            Answer(200, text: page, type: "text/html")
        },
        gone("gone-page-206", "A page, padded to the length of the asked range and labelled as it.", due: .refusal) {
            visit in
            visit.honest().with {
                let text = Array(page.utf8)
                $0.set("Content-Type", "text/html")
                $0.body = .bytes((text + [UInt8](repeating: 32, count: max(0, $0.body.count - text.count)))[...])
            }
        },
        gone("gone-page-once", "A page with status 503 to the second request only.", due: .rightBytes, isBack: true) {
            _ in
            Answer(503, text: page, type: "text/html")
        },
    ]

    // MARK: The server's own digest

    private static let announced: [HostileCase] = [
        change(
            "digest-disagrees", "Repr-Digest of other bytes in every answer (RFC 9530 3).", due: .rightOrRefusal
        ) { visit in
            visit.but { $0.set("Repr-Digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:") }
        },
        change(
            "digest-shows", "One bit of the first body is wrong, and Repr-Digest shows it (RFC 9530 3).",
            due: .rightBytes
        ) { visit in
            let isFirst = visit.isFirst("body")
            let media = isFirst ? visit.media.with { $0.bytes[1_000_000] ^= 4 } : visit.media
            return visit.but(of: media) { $0.set("Repr-Digest", "sha-256=:\(visit.media.sha256.base64OfHex):") }
        },
        change(
            "digest-shows-always", "One bit of every body is wrong, and Repr-Digest shows it (RFC 9530 3).",
            due: .refusal
        ) { visit in
            visit.but(of: visit.media.with { $0.bytes[1_000_000] ^= 4 }) {
                $0.set("Repr-Digest", "sha-256=:\(visit.media.sha256.base64OfHex):")
            }
        },
    ]
}

extension Media {
    /// The next version, a million bytes long.
    fileprivate var short: Media { next.with { $0.bytes = Array($0.bytes.prefix(1_000_000)) } }
    /// The next version, 1,000 bytes longer.
    fileprivate var grown: Media { next.with { $0.bytes += [UInt8](repeating: 7, count: 1_000) } }
}

extension Visit {
    /// The request as seen by a server that does not know `If-Range`.
    fileprivate var ignoringIfRange: Visit { without("If-Range") }
}

extension String {
    /// Bytes in digits, in base 64.
    fileprivate var base64OfHex: String {
        let digits = compactMap(\.hexDigitValue)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return Data(bytes).base64EncodedString()
    }
}
