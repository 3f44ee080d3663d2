import CCurl
import Glibc
import LectureFormats
package import LectureModel

/// A locale whose character set is UTF-8; nil where the system has none, and then only ASCII hosts are read.
///
/// `nonisolated(unsafe)`: made once, never changed, and `uselocale` only reads it.
nonisolated(unsafe) private let utf8Locale: locale_t? = unsafe newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

/// URLs as libcurl parses them: the parser that decides is the one that connects.
package enum CurlURL {
    /// The longest URL, bytes. RFC 9110 section 4.1 asks for at least 8,000.
    package static let maximumBytes = 8192

    /// Normalises an absolute URL: scheme and host in lower case, the host in ASCII (IDNA), no default port, no dot
    /// segments, `/` for an empty path, characters not allowed in a URL percent-encoded, no fragment.
    ///
    /// - Parameter text: what a person or a list supplied.
    /// - Returns: an absolute http or https URL.
    /// - Throws: `LectureError(.urlScheme)` for another or no scheme, `LectureError(.urlInvalid)` for what cannot be
    ///   read, `LectureError(.transfer(2))` without libcurl.
    package static func normalise(_ text: String) throws(LectureError) -> String {
        if NormalURL.isNormal(text) { return text }
        return try normaliseWithLibcurl(text)
    }

    /// As ``normalise(_:)``, always by libcurl.
    static func normaliseWithLibcurl(_ text: String) throws(LectureError) -> String {
        let parts = try Parts()
        try parts.set(CURLUPART_URL, text, flags: UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME))
        guard let scheme = parts.get(CURLUPART_SCHEME), scheme == "http" || scheme == "https" else {
            throw LectureError(.urlScheme)
        }
        return try parts.whole()
    }

    /// Resolves a reference (RFC 3986 section 5), for example the value of `Location`. Any scheme is allowed: the
    /// caller decides whether a redirect may lead there.
    ///
    /// - Parameters:
    ///   - reference: absolute or relative.
    ///   - base: an absolute URL.
    /// - Returns: an absolute URL in the form of ``normalise(_:)``.
    /// - Throws: `LectureError(.urlInvalid)` when one of the two cannot be read.
    package static func resolve(_ reference: String, against base: String) throws(LectureError) -> String {
        let parts = try Parts()
        let flags = UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME)
        try parts.set(CURLUPART_URL, base, flags: flags)
        // A fragment is never sent, and libcurl 7.88 takes a bare one for a path.
        let target = reference.prefix { $0 != "#" }
        if !target.isEmpty || reference.isEmpty { try parts.set(CURLUPART_URL, String(target), flags: flags) }
        return try parts.whole()
    }

    /// A parsed URL of libcurl.
    @safe private struct Parts: ~Copyable {
        private let curl: CurlURLFunctions
        private let pointer: OpaquePointer

        init() throws(LectureError) {
            let curl = try CurlLibrary.shared.get().url
            guard let pointer = unsafe curl.make() else { throw LectureError(.urlInvalid, cause: "out of memory") }
            self.curl = curl
            unsafe self.pointer = unsafe pointer
        }

        deinit { unsafe curl.cleanup(pointer) }

        /// Sets a part; a relative URL is resolved against what is there.
        func set(_ part: CURLUPart, _ text: String?, flags: UInt32) throws(LectureError) {
            if let text {
                // C strings end at NUL; a URL that holds one, or a line end, is an attack or an accident.
                guard text.utf8.count <= maximumBytes, !FieldText.hasControls(text) else {
                    throw LectureError(.urlInvalid)
                }
            }
            let code = unsafe curl.set(pointer, part, text, flags)
            switch code {
            case CURLUE_OK: return
            case CURLUE_UNSUPPORTED_SCHEME, CURLUE_BAD_SCHEME: throw LectureError(.urlScheme)
            default:
                let reason = unsafe curl.errorText(code).map { unsafe String(cString: $0) }
                throw LectureError(.urlInvalid, cause: reason ?? "")
            }
        }

        /// A part; nil when there is none.
        func get(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
            var text: UnsafeMutablePointer<CChar>?
            // libcurl 7.88 returns the host even when it cannot be converted to ASCII.
            defer { unsafe curl.free(text) }
            guard unsafe curl.get(pointer, part, &text, flags) == CURLUE_OK, let text = unsafe text else {
                return nil
            }
            return unsafe String(cString: text)
        }

        /// The host in ASCII. libidn2 reads it in the character set of the locale, which is ASCII in a program that has
        /// not set one; so this thread uses UTF-8 for a moment.
        private func asciiHost() -> String? {
            let before = unsafe utf8Locale.map { unsafe uselocale($0) }
            defer { if let before = unsafe before { unsafe uselocale(before) } }
            return get(CURLUPART_HOST, flags: UInt32(CURLU_PUNYCODE))
        }

        /// The URL in its normal form.
        func whole() throws(LectureError) -> String {
            try set(CURLUPART_FRAGMENT, nil, flags: 0)
            guard let host = asciiHost() else { throw LectureError(.urlInvalid) }
            try set(CURLUPART_HOST, FieldText.lowercased(host), flags: 0)
            // A host that becomes a number only when decoded or converted to ASCII (digits of other scripts) is an IPv4
            // address to the parser that connects, so it must be one here: the result is parsed once more.
            guard let made = get(CURLUPART_URL) else { throw LectureError(.urlInvalid) }
            try set(CURLUPART_URL, made, flags: UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME))
            guard let url = get(CURLUPART_URL, flags: UInt32(CURLU_NO_DEFAULT_PORT)), url.utf8.count <= maximumBytes
            else { throw LectureError(.urlInvalid) }
            return url
        }
    }
}
