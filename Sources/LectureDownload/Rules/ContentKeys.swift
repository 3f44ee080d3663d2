package import LectureFormats
package import LectureModel

/// Keys for lectures that have none of their own.
package enum ContentKeys {
    /// The longest slug in bytes.
    private static let slugLimit = 40

    /// Derives a key from a URL: `<slug>-<16 hexadecimal digits>`.
    ///
    /// Query and fragment are left out, because signed URLs of one file differ there; so the same file under a new URL
    /// is the same lecture. A gateway link names its lecture in the query, which is therefore included for those.
    ///
    /// - Parameters:
    ///   - url: an absolute http or https URL.
    ///   - digest: SHA-256.
    /// - Returns: the key: the last part of the path for people, eight bytes of the digest for identity.
    /// - Throws: `LectureError(.urlScheme)` or `LectureError(.urlInvalid)`.
    package static func derivedKey(fromURL url: String, digest: ([UInt8]) -> [UInt8]) throws(LectureError) -> String {
        let parts = try URLParts(url)
        return derivedKey(of: parts, digest(try identityBytes(of: parts, isGateway: isGatewayLink(parts))))
    }

    private static func derivedKey(of parts: URLParts, _ digest: [UInt8]) -> String {
        "\(slug(parts.lastPathPart))-\(Hexadecimal.text(digest.prefix(8)))"
    }

    /// What identifies the lecture of a URL.
    package struct Identity: Hashable, Sendable {
        /// The key it gets when it has no key of its own.
        package let key: ContentKey
        /// The digest of the URL's identity: of fixed size, and without the tokens that a gateway link carries.
        package let bytes: [UInt8]
        /// Whether the URL is a gateway link.
        package let isGateway: Bool
    }

    /// Returns everything that identifies the lecture of a URL.
    ///
    /// - Parameters:
    ///   - url: an absolute http or https URL.
    ///   - digest: SHA-256.
    /// - Returns: its derived key, its identity and its kind.
    /// - Throws: `LectureError(.urlScheme)` or `LectureError(.urlInvalid)`, and the errors of `digest`.
    package static func identity(ofURL url: String, digest: ([UInt8]) throws -> [UInt8]) throws -> Identity {
        let parts = try URLParts(url)
        let isGateway = isGatewayLink(parts)
        let bytes = try digest(identityBytes(of: parts, isGateway: isGateway))
        // The key's hexadecimal part is a prefix of the same digest.
        return Identity(key: try ContentKey(derivedKey(of: parts, bytes)), bytes: bytes, isGateway: isGateway)
    }

    /// What a URL's identity is made of: normalised origin, path, and for gateway links the query.
    ///
    /// - Parameter url: an absolute http or https URL.
    /// - Returns: the bytes to be digested.
    /// - Throws: `LectureError(.urlScheme)` or `LectureError(.urlInvalid)`.
    package static func identityBytes(ofURL url: String) throws(LectureError) -> [UInt8] {
        let parts = try URLParts(url)
        return try identityBytes(of: parts, isGateway: isGatewayLink(parts))
    }

    private static func identityBytes(of parts: URLParts, isGateway: Bool) throws(LectureError) -> [UInt8] {
        let origin = try Origin(parts)
        var text = origin.text + (parts.path.isEmpty ? "/" : parts.path)
        if isGateway, let query = parts.query { text += "?\(query)" }
        return Array(text.utf8)
    }

    /// Whether a URL is a link of a gateway: its path ends in `/s` or `/si`, or in `/i/KEY`.
    ///
    /// - Parameter parts: the parts of the URL.
    /// - Returns: true for a gateway link.
    package static func isGatewayLink(_ parts: URLParts) -> Bool {
        let last = parts.lastPathPart
        if last == "s" || last == "si" { return true }
        return !last.isEmpty && parts.path.utf8.dropLast(last.utf8.count).suffix(3).elementsEqual("/i/".utf8)
    }

    /// ASCII letters and digits, everything else a single hyphen, none at the ends.
    private static func slug(_ part: Substring) -> String {
        let decoded = (try? PercentCoding.decoded(part)) ?? String(part)
        var slug: [UInt8] = []
        for byte in decoded.utf8 where slug.count < slugLimit {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: slug.append(byte)
            default: if slug.last != UInt8(ascii: "-"), !slug.isEmpty { slug.append(UInt8(ascii: "-")) }
            }
        }
        if slug.last == UInt8(ascii: "-") { slug.removeLast() }
        return slug.isEmpty ? "lecture" : String(decoding: slug, as: UTF8.self)
    }
}

/// Percent-encoding (RFC 3986 section 2.1).
enum PercentCoding {
    /// Decodes strictly: every `%` is followed by two digits, and the outcome is UTF-8.
    ///
    /// A `+` is taken literally: this is not a form.
    static func decoded(_ text: Substring) throws(LectureError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Hexadecimal.digit),
                let low = rest.popFirst().flatMap(Hexadecimal.digit)
            else { throw LectureError(.urlInvalid, detail: "a '%' without two digits") }
            bytes.append(high << 4 | low)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw LectureError(.urlInvalid, detail: "a percent-encoding that is not UTF-8")
        }
        return decoded
    }
}
