import LectureFormats
import LectureModel
import Testing

@testable import LectureBundle

/// Whether an offer is used: the table of docs/peers.md.
@Suite struct JudgementTests {
    private static let digest = [UInt8](repeating: 1, count: 32)
    private static let otherDigest = [UInt8](repeating: 2, count: 32)

    /// How a ruling begins.
    private enum Kind { case askServer, fetch, other, withoutDigest }

    private static func offer(
        tag: String? = "\"v1\"", count: UInt64 = 1000, isDescribed: Bool = false
    ) throws -> PeerOffer {
        PeerOffer(
            key: try ContentKey("a"), count: count, sha256: digest, entityTag: tag, isDescribed: isDescribed,
            ticket: "t", header: [UInt8](repeating: 0, count: 40), recipient: .init(thumbprint: "k", key: "j"))
    }

    private static func word(
        _ status: Int = 206, tag: String? = "\"v1\"", total: String = "1000", type: String? = "video/mp4",
        coding: String? = nil
    ) -> ServersWord {
        var fields = HeaderFields()
        func add(_ name: String, _ value: String?) {
            if let value { fields.append(HeaderField(name: name, value: value)) }
        }
        add("ETag", tag)
        add("Content-Type", type)
        add("Content-Encoding", coding)
        add(status == 206 ? "Content-Range" : "Content-Length", status == 206 ? "bytes 0-0/\(total)" : total)
        return ServersWord(ResponseHead(status: status, fields: fields, receivedAt: Timestamp(milliseconds: 0)))
    }

    private static func kind(
        digest: [UInt8]? = nil, total: UInt64? = nil, isTrusted: Bool = false, range: RangeRequest? = nil,
        condition: String? = nil, _ word: ServersWord? = nil, offer: PeerOffer
    ) throws -> Kind {
        let subject = TransferSubject(key: try ContentKey("a"), sha256: digest, total: total)
        let judgement = PeerJudgement(offer, isTrusted: isTrusted, for: subject, range: range, condition: condition)
        return switch judgement.ruling(word) {
        case .askServer: .askServer
        case .fetch: .fetch
        case .other: .other
        case .withoutDigest: .withoutDigest
        }
    }

    @Test func `with a digest, the server is asked whether it is a file, unless the store is believed`() throws {
        let offer = try Self.offer()
        #expect(try Self.kind(digest: Self.digest, offer: offer) == .askServer)
        #expect(try Self.kind(digest: Self.digest, Self.word(tag: "\"other\""), offer: offer) == .fetch)
        #expect(try Self.kind(digest: Self.digest, Self.word(200), offer: offer) == .fetch)
        #expect(try Self.kind(digest: Self.digest, isTrusted: true, offer: offer) == .fetch)
        let described = try Self.offer(isDescribed: true)
        #expect(try Self.kind(digest: Self.digest, isTrusted: true, offer: described) == .askServer)
        #expect(try Self.kind(digest: Self.digest, isTrusted: true, Self.word(), offer: described) == .fetch)
    }

    @Test func `without a digest, the tag of the server decides for stores that are believed`() throws {
        let offer = try Self.offer()
        #expect(try Self.kind(isTrusted: true, offer: offer) == .askServer)
        #expect(try Self.kind(isTrusted: true, Self.word(), offer: offer) == .fetch)
        #expect(try Self.kind(isTrusted: true, Self.word(tag: "\"v2\""), offer: offer) == .other)
        #expect(try Self.kind(isTrusted: true, Self.word(tag: "W/\"v1\""), offer: offer) == .withoutDigest)
        #expect(try Self.kind(isTrusted: true, Self.word(tag: nil), offer: offer) == .withoutDigest)
        #expect(try Self.kind(isTrusted: true, Self.word(), offer: try Self.offer(tag: nil)) == .withoutDigest)
        #expect(try Self.kind(Self.word(), offer: offer) == .withoutDigest)
    }

    @Test func `another digest, another length and an answer that is no file are something else`() throws {
        let offer = try Self.offer()
        for isTrusted in [false, true] {
            #expect(try Self.kind(digest: Self.otherDigest, isTrusted: isTrusted, offer: offer) == .other)
            #expect(try Self.kind(digest: Self.digest, total: 999, isTrusted: isTrusted, offer: offer) == .other)
            let empty = try Self.offer(count: 0)
            #expect(try Self.kind(digest: Self.digest, isTrusted: isTrusted, offer: empty) == .other)
        }
        let words = [
            Self.word(total: "1001"), Self.word(total: "*"), Self.word(404), Self.word(302), Self.word(200, total: "9"),
            Self.word(type: "application/vnd.lecture+json"), Self.word(type: "application/vnd.apple.mpegurl"),
            Self.word(type: "application/dash+xml"), Self.word(coding: "gzip"), ServersWord(nil),
        ]
        for (number, word) in words.enumerated() {
            #expect(try Self.kind(digest: Self.digest, word, offer: offer) == .other, "\(number)")
        }
        #expect(try Self.kind(digest: Self.digest, Self.word(type: nil), offer: offer) == .fetch)
    }

    @Test func `a range needs the digest, or the tag that it is conditional on`() throws {
        let offer = try Self.offer()
        let range = RangeRequest.from(500)
        #expect(try Self.kind(digest: Self.digest, range: range, offer: offer) == .fetch)
        #expect(try Self.kind(digest: Self.digest, range: range, condition: "\"x\"", offer: offer) == .fetch)
        #expect(try Self.kind(isTrusted: true, range: range, condition: "\"v1\"", offer: offer) == .fetch)
        #expect(try Self.kind(isTrusted: true, range: range, condition: "\"v2\"", offer: offer) == .withoutDigest)
        #expect(try Self.kind(isTrusted: true, range: range, offer: offer) == .withoutDigest)
        #expect(try Self.kind(range: range, condition: "\"v1\"", offer: offer) == .withoutDigest)
        #expect(try Self.kind(digest: Self.digest, range: .from(1000), offer: offer) == .other)
    }

    @Test func `the head is that of the lecture's server, with the digest that is to be compared`() throws {
        let subject = TransferSubject(key: try ContentKey("a"), sha256: Self.digest, total: nil)
        func fields(_ range: RangeRequest?, _ condition: String?, _ word: ServersWord?) throws -> HeaderFields? {
            let judgement = PeerJudgement(
                try Self.offer(), isTrusted: false, for: subject, range: range, condition: condition)
            guard case .fetch(let fields) = judgement.ruling(word) else { return nil }
            return fields
        }
        let whole = try #require(try fields(nil, nil, Self.word()))
        #expect(whole.values(of: "ETag") == ["\"v1\""] && whole.values(of: "Content-Length") == ["1000"])
        #expect(whole["Content-Range"] == nil && whole["Content-Type"] == "video/mp4")
        #expect(DigestFields.sha256(in: whole) == Self.digest)
        let closed = RangeRequest.closed(try #require(ByteRange(start: 10, end: 20)))
        for (condition, name) in [("\"v9\"", "ETag"), ("Sat, 28 Nov 2026 08:00:00 GMT", "Last-Modified")] {
            let part = try #require(try fields(closed, condition, nil))
            #expect(part.values(of: "Content-Range") == ["bytes 10-19/1000"] && part[name] == condition)
            #expect(part.values(of: "Content-Length") == ["10"])
        }
        let rest = try #require(try fields(.from(990), nil, nil))
        #expect(rest.values(of: "Content-Range") == ["bytes 990-999/1000"] && rest["ETag"] == nil)
    }
}
