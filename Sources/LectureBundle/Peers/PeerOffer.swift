package import LectureCrypto
import LectureFormats
package import LectureModel

/// What a store offers another one of a lecture: its media, sealed for one device under a key that only this offer has.
/// docs/peers.md describes it.
package struct PeerOffer: Sendable, Hashable {
    /// The version of the format.
    package static let version = 1
    /// A longer offer is refused, in bytes.
    package static let longest = 1 << 16
    /// The media type of an offer.
    package static let mediaType = "application/jose"

    /// The lecture.
    package let key: ContentKey
    /// The length of the media in bytes, unsealed.
    package let count: UInt64
    /// The SHA-256 of the media, 32 bytes.
    package let sha256: [UInt8]
    /// The strong entity tag under which its server has sent it; nil without one.
    package let entityTag: String?
    /// Whether a gateway has described the lecture: then its address is not that of the media.
    package let isDescribed: Bool
    /// Names the sealed file at the store that offers it.
    package let ticket: String
    /// The header of the sealed file.
    package let header: [UInt8]
    /// The device that can open it, and the key for it.
    package let recipient: BundleManifest.Recipient

    /// Describes an offer.
    package init(
        key: ContentKey, count: UInt64, sha256: [UInt8], entityTag: String?, isDescribed: Bool, ticket: String,
        header: [UInt8], recipient: BundleManifest.Recipient
    ) {
        (self.key, self.count, self.sha256, self.entityTag) = (key, count, sha256, entityTag)
        (self.isDescribed, self.ticket, self.header, self.recipient) = (isDescribed, ticket, header, recipient)
    }

    /// How the media is sealed; nil for a length that no sealed file has.
    package var layout: SealedLayout? { Int(exactly: count).flatMap { SealedLayout(plaintextLength: $0) } }

    /// The path of the sealed file at the store that offers it.
    package var path: String { "/peer/files/\(ticket)" }

    // MARK: The token

    /// Signs the offer.
    ///
    /// - Parameter signer: the store's device.
    /// - Returns: the compact token in ASCII.
    /// - Throws: ``LectureError`` with `cryptography`.
    package func token(signedBy signer: BundleSigner) throws(LectureError) -> [UInt8] {
        var members = [
            JSONMember("bytes", .integer(Int64(clamping: count))),
            JSONMember(
                "for",
                .object([
                    JSONMember("key", .string(recipient.key)), JSONMember("kid", .string(recipient.thumbprint)),
                ])),
            JSONMember("header", .string(Base64URL.text(header))), JSONMember("key", .string(key.text)),
            JSONMember("offer", .integer(Int64(Self.version))),
            JSONMember("sha256", .string(Hexadecimal.text(sha256))),
            JSONMember("signer", BundleManifest.required(signer.publicKey)), JSONMember("ticket", .string(ticket)),
        ]
        if let entityTag { members.append(JSONMember("etag", .string(entityTag))) }
        if isDescribed { members.append(JSONMember("described", .bool(true))) }
        return try signer.sign(CanonicalJSON.bytes(.object(members)), type: BundleSigner.offerType)
    }

    /// Reads an offer whose signature is right. Whether the signer is trusted is another question.
    ///
    /// - Parameter token: the compact token.
    /// - Returns: the offer, and the thumbprint of the signer's key (RFC 7638).
    /// - Throws: ``LectureError``: `bundleRefused` for what is no offer, `bundleNewer`, `bundleSignature`,
    ///   `cryptography`.
    package static func verified(_ token: [UInt8]) throws(LectureError) -> (offer: PeerOffer, signer: String) {
        guard token.count <= longest, let claimed = BundleSigner.unverifiedPayload(of: token) else {
            throw .refusedBundle("the offer is no signed token")
        }
        let named = try CanonicalJSON.object(claimed, what)["signer"] ?? .null
        let key: VerificationKey
        do throws(KeyRefusal) { key = try JWK.bundleKey(named) } catch {
            throw .refusedBundle("the signer's key: \(error.sentence)")
        }
        let payload = try BundleSigner.payload(of: token, signedWith: key, type: BundleSigner.offerType)
        guard let payload else { throw LectureError(.bundleSignature) }
        return (try PeerOffer(payload: payload), try key.thumbprint())
    }

    private static let what = "the offer"

    private init(payload: [UInt8]) throws(LectureError) {
        let value = try CanonicalJSON.object(payload, Self.what)
        if let version = value["offer"]?.integer, version > Self.version {
            throw LectureError(.bundleNewer, cause: "version \(version) of an offer")
        }
        var reader = try MemberReading(value, Self.what)
        _ = try reader.integer("offer", in: 1...Int64(Self.version))
        _ = try reader.object("signer")
        count = UInt64(try reader.integer("bytes", in: 0...(1 << 50)))
        let name = try reader.require(try reader.text("key", atMost: 512), "key")
        do throws(LectureError) { key = try ContentKey(name) } catch { throw reader.fault("key") }
        sha256 = try reader.require(try reader.digest("sha256"), "sha256")
        entityTag = try reader.text("etag", atMost: 4096)
        isDescribed = try reader.bool("described")
        ticket = try reader.require(try reader.text("ticket", atMost: 64), "ticket")
        guard ticket.utf8.allSatisfy(Self.isTicketByte) else { throw reader.fault("ticket") }
        let header = try reader.require(try reader.text("header", atMost: 64), "header")
        guard let bytes = Base64URL.bytes(header), bytes.count == SealedFormat.headerBytes else {
            throw reader.fault("header")
        }
        self.header = bytes
        var device = try MemberReading(try reader.object("for"), "the device of the offer")
        let thumbprint = try device.require(try device.text("kid", atMost: 64), "kid")
        recipient = BundleManifest.Recipient(
            thumbprint: thumbprint, key: try device.require(try device.text("key", atMost: 4096), "key"))
        try device.finish()
        try reader.finish()
        guard layout != nil else { throw reader.fault("bytes") }
    }

    /// Letters, digits, `-` and `_`: a ticket leads to no other path.
    private static func isTicketByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// What a store asks another one for.
package struct PeerQuestion: Sendable, Hashable {
    /// The lecture.
    package let key: ContentKey
    /// The public key of the device that asks.
    package let device: JSONValue

    /// Describes a question.
    ///
    /// - Parameters:
    ///   - key: the lecture.
    ///   - device: the public key of the device that asks, a JWK.
    package init(key: ContentKey, device: JSONValue) { (self.key, self.device) = (key, device) }

    /// The body of the request.
    package var bytes: [UInt8] {
        CanonicalJSON.bytes(.object([JSONMember("device", device), JSONMember("key", .string(key.text))]))
    }

    /// Reads a body.
    ///
    /// - Parameter bytes: the body.
    /// - Throws: ``LectureError`` with `bundleRefused` for what is no question.
    package init(_ bytes: [UInt8]) throws(LectureError) {
        let what = "the question"
        guard bytes.count <= PeerOffer.longest else { throw .refusedBundle("\(what) is too long") }
        var reader = try MemberReading(try CanonicalJSON.object(bytes, what), what)
        let name = try reader.require(try reader.text("key", atMost: 512), "key")
        do throws(LectureError) { key = try ContentKey(name) } catch { throw reader.fault("key") }
        device = try reader.object("device")
        try reader.finish()
    }
}

/// A part of a sealed file that is fetched at once: whole segments.
package struct PeerWindow: Sendable, Hashable {
    /// How many segments at most: 8 MiB.
    package static let mostSegments = 8
    /// The segments.
    package let segments: Range<Int>
    /// Their place in the sealed file, the header included.
    package let range: ByteRange

    /// The window in which a byte is, from the segment with the first byte on; nil where there is none.
    ///
    /// - Parameters:
    ///   - wanted: the bytes of the media that are wanted, at least one.
    ///   - layout: of the sealed file.
    package init?(_ wanted: Range<UInt64>, of layout: SealedLayout) {
        guard let start = Int(exactly: wanted.lowerBound), let end = Int(exactly: wanted.upperBound) else { return nil }
        let covering = layout.segments(covering: start..<end)
        guard !covering.isEmpty else { return nil }
        segments = covering.prefix(Self.mostSegments)
        let first = Self.place(of: segments.lowerBound, layout)
        let last = Self.place(of: segments.upperBound - 1, layout)
        guard let range = ByteRange(start: UInt64(first.lowerBound), end: UInt64(last.upperBound)) else { return nil }
        self.range = range
    }

    /// Where a segment is in the sealed file; the header is before the first one, and belongs to it here.
    ///
    /// - Parameters:
    ///   - segment: its index.
    ///   - layout: of the sealed file.
    /// - Returns: offsets in the sealed file.
    package static func place(of segment: Int, _ layout: SealedLayout) -> Range<Int> {
        let range = layout.ciphertextRange(ofSegment: segment)
        return segment == 0 ? 0..<range.upperBound : range
    }
}
