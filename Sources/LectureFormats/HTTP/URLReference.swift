/// References to other resources, as they are written in playlists and manifests (RFC 3986 section 5).
extension URLParts {
    /// The whole URL, its fragment included (RFC 3986 section 5.3).
    package var text: String {
        var text = "\(scheme)://\(authority)\(path)"
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// The URL that a reference leads to when it is written in the resource of this URL (RFC 3986 section 5.2).
    ///
    /// Strict, as section 5.2.2 has it: `http:g` is no relative reference. Two things that the grammar forbids are read
    /// as browsers read them (WHATWG URL section 4.4), because playlists in use have them: a space stands for `%20`,
    /// and a name such as `10:30.ts`, which begins like no scheme, is a path.
    ///
    /// - Parameter reference: an absolute URL, or one relative to this URL: with a scheme, with an authority, with an
    ///   absolute or a relative path, only a query, only a fragment, or empty.
    /// - Returns: an http or https URL without dot segments in its path.
    /// - Throws: `FormatError(.urlScheme)` for another scheme than http and https; `FormatError(.url)` when the
    ///   reference, or the URL that it makes, is longer than 8,192 bytes, holds a control character or a backslash, or
    ///   has a scheme without `//`.
    package func resolving(_ reference: String) throws(FormatError) -> URLParts {
        let written = try Self.withoutSpaces(reference)
        let target: URLParts
        if let found = Self.scheme(of: written) {
            try Self.check(scheme: found)
            target = try URLParts(parsing: written)
        } else {
            try Self.check(scheme: scheme)
            target = try relative(written)
        }
        let result = URLParts(
            scheme: target.scheme, authority: target.authority, path: Self.removingDotSegments(target.path),
            query: target.query, fragment: target.fragment)
        guard result.text.utf8.count <= Self.limit else { throw FormatError(.url, "a URL above 8192 bytes") }
        return result
    }

    private func relative(_ written: String) throws(FormatError) -> URLParts {
        if written.utf8.starts(with: "//".utf8) { return try URLParts(parsing: "\(scheme):\(written)") }
        // An authority of no meaning, so that the same code splits path, query and fragment.
        let isPathless = written.utf8.first.map { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? true
        let rooted = written.utf8.first == UInt8(ascii: "/")
        let split = try URLParts(parsing: "\(scheme)://_\(isPathless || rooted ? "" : "/")\(written)")
        if isPathless {
            return URLParts(
                scheme: scheme, authority: authority, path: path, query: split.query ?? query, fragment: split.fragment)
        }
        var merged = split.path
        if !rooted, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            merged = String(path[..<slash]) + split.path
        }
        return URLParts(
            scheme: scheme, authority: authority, path: merged, query: split.query, fragment: split.fragment)
    }

    private static func withoutSpaces(_ reference: String) throws(FormatError) -> String {
        guard reference.utf8.count <= limit else { throw FormatError(.url, "a URL above 8192 bytes") }
        let trimmed = FieldText.trimmed(reference)
        guard trimmed.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw FormatError(.url, "a reference with a control character or a backslash")
        }
        guard trimmed.utf8.contains(0x20) else { return String(trimmed) }
        var bytes: [UInt8] = []
        for byte in trimmed.utf8 {
            if byte == 0x20 { bytes += "%20".utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The scheme of an absolute reference, nil for a relative one.
    private static func scheme(of reference: String) -> String? {
        let end = reference.utf8.firstIndex { $0 == UInt8(ascii: ":") || !isSchemeByte($0) }
        guard let end, reference.utf8[end] == UInt8(ascii: ":"), let first = reference.utf8.first,
            (first | 0x20) >= 0x61, (first | 0x20) <= 0x7A
        else { return nil }
        return FieldText.lowercased(reference[..<end])
    }

    private static func check(scheme: String) throws(FormatError) {
        guard scheme == "http" || scheme == "https" else {
            throw FormatError(.urlScheme, "scheme '\(scheme.prefix(32))'")
        }
    }

    /// RFC 3986 section 5.2.4, for a path that is empty or begins with a slash.
    private static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring.UTF8View] = []
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for segment in segments {
            if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
            } else if !segment.elementsEqual(".".utf8) {
                kept.append(segment)
            }
        }
        guard !path.isEmpty else { return "" }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(path.utf8.count + 1)
        for segment in kept {
            bytes.append(UInt8(ascii: "/"))
            bytes += segment
        }
        // What a trailing dot segment names is a directory.
        let last = segments.last ?? ""[...].utf8
        if kept.isEmpty || last.elementsEqual("..".utf8) || last.elementsEqual(".".utf8) {
            bytes.append(UInt8(ascii: "/"))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
