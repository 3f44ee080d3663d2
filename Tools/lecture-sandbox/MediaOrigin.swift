/// Answers for one lecture: validators, conditional requests, ranges and digests as in RFC 9110 and RFC 9530, and the
/// faults that break them.
struct MediaOrigin {
    private let request: Request
    private let media: Media
    private let faults: [Fault]
    private let digests: DigestHeaders
    private let sha256: @Sendable (Media) -> [UInt8]

    /// Prepares an answer.
    ///
    /// - Parameters:
    ///   - request: a GET or HEAD.
    ///   - media: the lecture in its first version.
    ///   - faults: those of this request.
    ///   - digests: the digest fields that are sent without a fault.
    ///   - sha256: returns the cached digest of a lecture.
    init(
        request: Request, media: Media, faults: [Fault], digests: DigestHeaders,
        sha256: @escaping @Sendable (Media) -> [UInt8]
    ) {
        self.request = request
        self.faults = faults
        self.sha256 = sha256
        var media = media
        var digests = digests
        for fault in faults {
            if case .changed(let bytes, _) = fault.kind { media = media.changed(toVersion: 1, changedCount: bytes) }
            if case .digest(let headers) = fault.kind { digests = headers }
        }
        self.media = media
        self.digests = digests
    }

    /// The answer, faults included.
    func reply() -> Reply {
        if let early = precondition() { return early }
        var reply = ranged() ?? whole()
        reply.fields += digestFields()
        reply.apply(faults)
        return reply
    }

    // MARK: Validators

    private var entityTag: String? {
        var tag = media.entityTag
        for fault in faults {
            switch fault.kind {
            case .changed(_, keepsValidator: true): tag = media.changed(toVersion: 0, changedCount: nil).entityTag
            case .weakETag: tag = "W/" + tag
            case .noETag, .noValidator: return nil
            default: break
            }
        }
        return tag
    }

    private var modifiedAt: Int64? {
        var seconds = media.modifiedAt
        for fault in faults {
            switch fault.kind {
            case .changed(_, keepsValidator: true): seconds = media.changed(toVersion: 0, changedCount: nil).modifiedAt
            case .noValidator: return nil
            default: break
            }
        }
        return seconds
    }

    private var validatorFields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let entityTag { fields.append(("ETag", entityTag)) }
        if let modifiedAt { fields.append(("Last-Modified", HTTPDate.text(modifiedAt))) }
        return fields
    }

    /// The answer that a precondition requires instead of the lecture (RFC 9110 section 13.2.2, in its order).
    private func precondition() -> Reply? {
        let fields = request.fields
        if let list = fields["if-match"] {
            guard matches(list, weakly: false) else { return Reply.text(412, "the lecture is another one\n") }
        } else if let limit = fields["if-unmodified-since"].flatMap(HTTPDate.seconds), let modifiedAt {
            guard modifiedAt <= limit else { return Reply.text(412, "the lecture is another one\n") }
        }
        if let list = fields["if-none-match"] {
            if matches(list, weakly: true) { return Reply(status: 304, fields: validatorFields) }
        } else if let limit = fields["if-modified-since"].flatMap(HTTPDate.seconds), let modifiedAt, modifiedAt <= limit
        {
            return Reply(status: 304, fields: validatorFields)
        }
        return nil
    }

    /// Compares a list of entity tags with ours (RFC 9110 section 8.8.3.2).
    private func matches(_ list: String, weakly: Bool) -> Bool {
        if list.allSatisfy({ $0 == "*" || $0 == " " }) { return true }
        guard let own = entityTag else { return false }
        return list.split(separator: ",").contains { item in
            let tag = item.drop { $0 == " " }
            if weakly { return Self.opaque(String(tag)) == Self.opaque(own) }
            return tag == own && !own.hasPrefix("W/")
        }
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Whether `If-Range` allows the range (RFC 9110 section 13.1.5): only an equal strong validator does.
    private var rangeIsCurrent: Bool {
        guard let condition = request.fields["if-range"] else { return true }
        if has(where: { if case .ignoreIfRange = $0 { true } else { false } }) { return true }
        if condition.hasPrefix("\"") { return condition == entityTag }
        guard let modifiedAt, let date = HTTPDate.seconds(condition) else { return false }
        return date == modifiedAt
    }

    private func has(where test: (Fault.Kind) -> Bool) -> Bool { faults.contains { test($0.kind) } }

    // MARK: Bodies

    private var acceptsRanges: Bool { !has { if case .noRange = $0 { true } else { false } } }

    private func commonFields() -> [(name: String, value: String)] {
        var fields = validatorFields
        fields.append(("Content-Type", "video/mp4"))
        if acceptsRanges { fields.append(("Accept-Ranges", "bytes")) }
        if has(where: { if case .gzip = $0 { true } else { false } }) { fields.append(("Content-Encoding", "gzip")) }
        return fields
    }

    private func whole() -> Reply {
        if has(where: { if case .gzip = $0 { true } else { false } }) {
            return Reply(status: 200, fields: commonFields(), body: .gzip(media))
        }
        return Reply(status: 200, fields: commonFields(), body: Body([.media(media, 0..<media.count)]))
    }

    /// The answer to a range, or `nil` when the whole lecture is sent.
    private func ranged() -> Reply? {
        guard request.allowsRange, acceptsRanges, rangeIsCurrent else { return nil }
        switch RangeField(request.fields["range"], count: media.count) {
        case .ignored: return nil
        case .unsatisfiable:
            var reply = Reply.text(416, "there are \(media.count) bytes\n")
            reply.fields.append(("Content-Range", "bytes */\(media.count)"))
            return reply
        case .ranges(let ranges):
            if has(where: { if case .multipart = $0 { true } else { false } }) { return multipart(ranges) }
            // More than one range is answered with the whole, which RFC 9110 section 14.2 allows.
            return ranges.count == 1 ? single(ranges[0]) : nil
        }
    }

    private func single(_ asked: Range<Int>) -> Reply {
        var named = asked
        var sent = asked
        var total = String(media.count)
        for fault in faults {
            switch fault.kind {
            case .wrongRange: named = (asked.lowerBound + 1)..<(asked.upperBound + 1)
            case .shift(let distance):
                let start = max(0, min(asked.lowerBound + distance, media.count - asked.count))
                sent = start..<(start + asked.count)
            case .short(let count):
                sent = asked.prefix(count)
                named = sent
            case .unknownTotal: total = "*"
            default: break
            }
        }
        var fields = commonFields()
        fields.append(("Content-Range", "bytes \(named.lowerBound)-\(named.upperBound - 1)/\(total)"))
        return Reply(status: 206, fields: fields, body: Body([.media(media, sent)]))
    }

    private func multipart(_ ranges: [Range<Int>]) -> Reply {
        let boundary = "lecture-sandbox-boundary"
        var pieces: [Body.Piece] = []
        for range in ranges {
            let named = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(media.count)"
            let head = "\r\n--\(boundary)\r\nContent-Type: video/mp4\r\nContent-Range: \(named)\r\n\r\n"
            pieces.append(.bytes(Array(head.utf8)))
            pieces.append(.media(media, range))
        }
        pieces.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
        var fields = commonFields().filter { $0.name != "Content-Type" }
        fields.append(("Content-Type", "multipart/byteranges; boundary=\(boundary)"))
        return Reply(status: 206, fields: fields, body: Body(pieces))
    }

    /// `Repr-Digest` and `Digest`, both over the whole lecture, also with a range.
    private func digestFields() -> [(name: String, value: String)] {
        guard digests != .none else { return [] }
        var digest = sha256(media)
        if has(where: { if case .wrongDigest = $0 { true } else { false } }) { digest[0] ^= 1 }
        let text = Text.base64(digest)
        var fields: [(name: String, value: String)] = []
        if digests != .old { fields.append(("Repr-Digest", "sha-256=:\(text):")) }
        if digests != .repr { fields.append(("Digest", "SHA-256=\(text)")) }
        return fields
    }
}
