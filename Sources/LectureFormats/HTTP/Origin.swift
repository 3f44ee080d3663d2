/// The parts of an absolute URL (RFC 3986 appendix B), split and not decoded.
package struct URLParts: Hashable, Sendable {
    /// The scheme, lower-cased.
    package let scheme: String
    /// User information, host and port, as written.
    package let authority: String
    /// The path, empty or starting with `/`.
    package let path: String
    /// The query without its `?`, nil when there is none.
    package let query: String?
    /// The fragment without its `#`, nil when there is none.
    package let fragment: String?

    /// The longest URL in bytes.
    package static let limit = 8192

    /// Splits a URL.
    ///
    /// - Parameter url: an absolute URL with an authority.
    /// - Throws: `FormatError(.url)` when it is longer than 8,192 bytes, holds white space, a control character
    ///   or a backslash (which browsers read as a slash), or has no `scheme://`.
    package init(parsing url: String) throws(FormatError) {
        guard url.utf8.count <= Self.limit else { throw FormatError(.url, "a URL above 8192 bytes") }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw FormatError(.url, "a URL with white space, a control character or a backslash")
        }
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].utf8.starts(with: "://".utf8),
            let first = url.utf8.first, (first | 0x20) >= 0x61, (first | 0x20) <= 0x7A,
            url[..<colon].utf8.allSatisfy(Self.isSchemeByte)
        else { throw FormatError(.url, "no 'scheme://'") }
        scheme = FieldText.lowercased(url[..<colon])
        var rest = url[url.utf8.index(colon, offsetBy: 3)...]
        fragment = Self.cut(&rest, at: UInt8(ascii: "#"))
        query = Self.cut(&rest, at: UInt8(ascii: "?"))
        let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        authority = String(rest[..<slash])
        path = String(rest[slash...])
    }

    /// Parts that have been checked; for references, which are put together from two URLs.
    init(scheme: String, authority: String, path: String, query: String?, fragment: String?) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// The last part of the path, undecoded and possibly empty.
    package var lastPathPart: Substring {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? ""
    }

    /// Whether it names an HLS playlist or a DASH manifest, whatever media type its server gives it.
    package var namesPlaylist: Bool {
        let name = FieldText.lowercased(lastPathPart)
        return name.hasSuffix(".m3u8") || name.hasSuffix(".mpd")
    }

    private static func cut(_ rest: inout Substring, at separator: UInt8) -> String? {
        guard let index = rest.utf8.firstIndex(of: separator) else { return nil }
        defer { rest = rest[..<index] }
        return String(rest[rest.utf8.index(after: index)...])
    }

    static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}

/// Scheme, host and port of a URL (RFC 6454 section 4): the scope of limits, waits and credentials.
package struct Origin: Hashable, Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in lower case; an IPv6 address without its brackets.
    package let host: String
    /// The port, the scheme's default filled in.
    package let port: UInt16
    /// Whether its servers prove who they are.
    package var isSecure: Bool { scheme == "https" }

    /// Reads the origin of an http or https URL, ignoring user information.
    ///
    /// - Parameter url: an absolute URL, at most 8,192 bytes.
    /// - Throws: `FormatError(.urlScheme)` for another scheme, `FormatError(.url)` for anything else.
    package init(parsing url: String) throws(FormatError) {
        try self.init(of: URLParts(parsing: url))
    }

    /// Reads the origin of a URL that has already been split.
    ///
    /// - Parameter parts: the parts of an absolute URL.
    /// - Throws: as ``init(parsing:)``.
    package init(of parts: URLParts) throws(FormatError) {
        let standard: UInt16
        switch parts.scheme {
        case "http": standard = 80
        case "https": standard = 443
        default: throw FormatError(.urlScheme, "scheme '\(parts.scheme.prefix(32))'")
        }
        var place = parts.authority[...]
        if let at = place.utf8.lastIndex(of: UInt8(ascii: "@")) { place = place[place.utf8.index(after: at)...] }
        let (name, digits) = try Self.split(place)
        scheme = parts.scheme
        host = try Self.host(name)
        port = try Self.port(digits, standard: standard)
    }

    /// The origin as text, the default port left out: `https://host`, `http://[::1]:8080`.
    package var text: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let isStandard = port == (scheme == "https" ? 443 : 80)
        return isStandard ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
    }

    private static func split(_ place: Substring) throws(FormatError) -> (host: Substring, port: Substring?) {
        let hostEnd: Substring.Index
        if place.utf8.first == UInt8(ascii: "[") {
            guard let bracket = place.utf8.firstIndex(of: UInt8(ascii: "]")) else {
                throw FormatError(.url, "an address without ']'")
            }
            hostEnd = place.utf8.index(after: bracket)
        } else {
            hostEnd = place.utf8.firstIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        }
        let rest = place[hostEnd...]
        guard rest.isEmpty || rest.utf8.first == UInt8(ascii: ":") else {
            throw FormatError(.url, "text after the host")
        }
        // By bytes: a combining mark would form one character with the colon or the bracket before it.
        return (place[..<hostEnd], rest.isEmpty ? nil : Substring(rest.utf8.dropFirst()))
    }

    private static func host(_ name: Substring) throws(FormatError) -> String {
        if name.utf8.first == UInt8(ascii: "[") {
            let address = Substring(name.utf8.dropFirst().dropLast())
            let isAddress = address.utf8.allSatisfy {
                Hexadecimal.digit($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
            guard isAddress, address.utf8.contains(UInt8(ascii: ":")) else {
                throw FormatError(.url, "no IPv6 address between the brackets")
            }
            return FieldText.lowercased(address)
        }
        // Letters of other scripts are left to libcurl's IDN; percent signs in a host only serve to hide it.
        let isName = name.utf8.allSatisfy { byte in
            byte >= 0x80 || isNameByte(byte)
        }
        guard !name.isEmpty, name.utf8.count <= 255, isName else {
            throw FormatError(.url, "no usable host")
        }
        return FieldText.lowercased(name)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func port(_ digits: Substring?, standard: UInt16) throws(FormatError) -> UInt16 {
        guard let digits, !digits.isEmpty else { return standard }
        guard case .value(let value) = FieldText.decimal(digits), let port = UInt16(exactly: value), port > 0 else {
            throw FormatError(.url, "no usable port")
        }
        return port
    }
}

extension Origin: CustomStringConvertible {
    /// The same as ``text``.
    package var description: String { text }
}
