/// An entity tag (RFC 9110 section 8.8.3); the associated text is the opaque part without its quotes.
package enum EntityTag: Hashable, Sendable {
    /// Changes with every change of the bytes.
    case strong(String)
    /// May stay when the bytes change in a way the server considers unimportant: no proof for a download.
    case weak(String)

    /// Reads a field value; a tag without quotes is not a tag.
    ///
    /// - Parameter value: the field value, for example `"abc"` or `W/"abc"`.
    package init?(_ value: String) {
        let isWeak = value.utf8.starts(with: "W/".utf8)
        let quoted = isWeak ? value.utf8.dropFirst(2) : value.utf8[...]
        guard quoted.count >= 2, quoted.first == 0x22, quoted.last == 0x22 else { return nil }
        let opaque = quoted.dropFirst().dropLast()
        guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        let text = String(Substring(opaque))
        self = isWeak ? .weak(text) : .strong(text)
    }

    /// The tag as written in a header field.
    package var headerValue: String {
        switch self {
        case .strong(let opaque): "\"\(opaque)\""
        case .weak(let opaque): "W/\"\(opaque)\""
        }
    }

    /// The opaque part, without quotes.
    package var opaque: String {
        switch self {
        case .strong(let opaque), .weak(let opaque): opaque
        }
    }

    /// Whether the tag is a strong one.
    package var isStrong: Bool {
        if case .strong = self { true } else { false }
    }
}
