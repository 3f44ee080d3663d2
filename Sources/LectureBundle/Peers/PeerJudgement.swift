import LectureFormats
import LectureModel

/// What a file's own server says of it.
struct ServersWord: Sendable, Hashable {
    /// The fields of its answer, for a whole file; nil where the answer is no file.
    let fields: HeaderFields?
    /// The length that it names.
    let total: UInt64?

    /// Reads the answer to a request for the first byte.
    ///
    /// - Parameter head: nil when the server was not reached.
    init(_ head: ResponseHead?) {
        guard let head, [200, 206].contains(head.status), Self.isFile(head.fields) else {
            (fields, total) = (nil, nil)
            return
        }
        fields = HeaderFields(head.fields.elements.filter { !Self.framing($0.name) })
        if head.status == 206 {
            let values = head.fields.values(of: "Content-Range")
            if values.count == 1, case .part(let range, let total) = try? ContentRange(values[0]), range.start == 0 {
                self.total = total
            } else {
                total = nil
            }
        } else {
            let values = head.fields.values(of: "Content-Length")
            total = head.fields["Transfer-Encoding"] == nil && values.count == 1 ? UInt64(values[0]) : nil
        }
    }

    /// The strong entity tag.
    var entityTag: String? { fields?["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil } }

    /// A gateway's answer, a playlist and a manifest are no media.
    private static func isFile(_ fields: HeaderFields) -> Bool {
        let coding = fields["Content-Encoding"]
        let type = (fields["Content-Type"] ?? "").lowercased()
        return coding == nil && !["json", "xml", "mpegurl", "multipart/"].contains { type.contains($0) }
    }

    /// Fields that belong to one answer and not to the file.
    private static func framing(_ name: String) -> Bool {
        let names = [
            "content-range", "content-length", "transfer-encoding", "connection", "keep-alive", "repr-digest",
            "digest", "content-digest", "accept-ranges", "age", "date",
        ]
        return names.contains(name.lowercased())
    }
}

/// Whether an offer is used, from values alone: docs/peers.md has the table.
struct PeerJudgement: Sendable {
    /// What follows.
    enum Ruling: Sendable, Hashable {
        /// The file's server has to say first what it has.
        case askServer
        /// It is used; the fields are those of the answer.
        case fetch(HeaderFields)
        /// It is another version, or something else.
        case other
        /// Nothing proves it.
        case withoutDigest
    }

    private let offer: PeerOffer
    private let isTrusted: Bool
    private let subject: TransferSubject
    private let range: RangeRequest?
    private let condition: String?

    /// Describes the case.
    ///
    /// - Parameters:
    ///   - offer: whose signature was verified.
    ///   - isTrusted: whether its signer is believed.
    ///   - subject: what is wanted.
    ///   - range: which bytes of it; nil for all.
    ///   - condition: the value of `If-Range`; nil for none.
    init(
        _ offer: PeerOffer, isTrusted: Bool, for subject: TransferSubject, range: RangeRequest?, condition: String?
    ) {
        (self.offer, self.isTrusted, self.subject) = (offer, isTrusted, subject)
        (self.range, self.condition) = (range, condition)
    }

    /// Decides.
    ///
    /// - Parameter word: what the file's server says; nil before it was asked.
    /// - Returns: what follows.
    func ruling(_ word: ServersWord?) -> Ruling {
        guard subject.sha256 == nil || subject.sha256 == offer.sha256, offer.count > 0,
            subject.total == nil || subject.total == offer.count
        else { return .other }
        if let range { return ruling(range) }
        if isTrusted, subject.sha256 != nil, !offer.isDescribed { return .fetch(fields(offer.entityTag)) }
        guard subject.sha256 != nil || isTrusted else { return .withoutDigest }
        guard let word else { return .askServer }
        guard let fields = word.fields, word.total == offer.count else { return .other }
        let isSameTag = word.entityTag != nil && word.entityTag == offer.entityTag
        let isProven = subject.sha256 != nil || (isTrusted && isSameTag)
        guard isProven else {
            // With a tag that differs it is another version, whatever the store says.
            return isTrusted && offer.entityTag != nil && word.entityTag != nil ? .other : .withoutDigest
        }
        return .fetch(whole(fields))
    }

    /// A range belongs to a file of which something is known already.
    private func ruling(_ range: RangeRequest) -> Ruling {
        guard range.first < offer.count else { return .other }
        let isTagged = condition?.hasPrefix("\"") == true
        let isProven = subject.sha256 != nil || (isTrusted && isTagged && condition == offer.entityTag)
        guard isProven else { return .withoutDigest }
        let end = min(range.end ?? offer.count, offer.count)
        var fields = common
        fields.append(HeaderField(name: "Content-Length", value: "\(end - range.first)"))
        let place = "bytes \(range.first)-\(end - 1)/\(offer.count)"
        fields.append(HeaderField(name: "Content-Range", value: place))
        if let condition {
            fields.append(HeaderField(name: isTagged ? "ETag" : "Last-Modified", value: condition))
        }
        return .fetch(fields)
    }

    private func fields(_ entityTag: String?) -> HeaderFields {
        whole(HeaderFields(entityTag.map { [HeaderField(name: "ETag", value: $0)] } ?? []))
    }

    private func whole(_ fields: HeaderFields) -> HeaderFields {
        HeaderFields(
            fields.elements + common.elements + [HeaderField(name: "Content-Length", value: "\(offer.count)")])
    }

    /// The digest makes the engine compare the whole file with it, and fetch a wrong one again from its server.
    private var common: HeaderFields {
        [
            "Accept-Ranges": "bytes",
            "Repr-Digest": "sha-256=:\(Base64.text(offer.sha256)):",
        ]
    }
}
