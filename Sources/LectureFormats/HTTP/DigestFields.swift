/// Digests of the whole object in header fields.
package enum DigestFields {
    /// The SHA-256 of the whole selected representation.
    ///
    /// `Repr-Digest` (RFC 9530 section 3) is preferred over the older `Digest` (RFC 3230 section 4.3.2, still sent by
    /// many object stores). `Content-Digest` is not used: in a 206 it covers the part only. Unknown algorithms are
    /// ignored, and so is a malformed digest: checking it is optional for a client.
    ///
    /// - Parameter fields: the fields of a 200 or 206.
    /// - Returns: 32 bytes, or nil.
    package static func sha256(in fields: HeaderFields) -> [UInt8]? {
        reprDigest(fields.list(of: "Repr-Digest")) ?? digest(fields.list(of: "Digest"))
    }

    /// Reads a structured-field dictionary of byte sequences, `sha-256=:BASE64:` (RFC 9651 sections 3.2 and 3.3.5).
    ///
    /// Of two members with the same key the last one counts (section 4.2.2).
    private static func reprDigest(_ members: [Substring]) -> [UInt8]? {
        var found: [UInt8]?
        for member in members {
            guard let value = value(of: "sha-256", in: member, ignoringCase: false) else { continue }
            // Parameters may follow the byte sequence; they are ignored.
            let item = FieldText.split(String(value), at: UInt8(ascii: ";")).first ?? ""
            guard item.utf8.count >= 2, item.first == ":", item.last == ":" else { return nil }
            found = sized(Base64.bytes(item.dropFirst().dropLast()))
        }
        return found
    }

    /// Reads `SHA-256=BASE64`, algorithm names without regard to case.
    private static func digest(_ members: [Substring]) -> [UInt8]? {
        for member in members {
            guard let value = value(of: "sha-256", in: member, ignoringCase: true) else { continue }
            return sized(Base64.bytes(value))
        }
        return nil
    }

    private static func value(of key: String, in member: Substring, ignoringCase: Bool) -> Substring? {
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = member[..<equals]
        guard ignoringCase ? FieldText.equal(name, key) : name == key else { return nil }
        return member[member.utf8.index(after: equals)...]
    }

    private static func sized(_ bytes: [UInt8]?) -> [UInt8]? { bytes?.count == 32 ? bytes : nil }
}
