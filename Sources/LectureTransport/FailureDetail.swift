import CCurl
import LectureFormats
import LectureModel

/// What may be reported about a failure. libcurl's own messages can hold parts of the request or the answer, and a
/// detail ends up in the attempt history and in logs; so only messages about connections, which name hosts and
/// certificates, are passed on, and for all others only the constant text of the result.
package enum FailureDetail {
    /// Results whose messages are about names, connections, TLS and framing only.
    private static let informative: [CURLcode] = [
        CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_HTTP2,
        CURLE_PARTIAL_FILE, CURLE_OPERATION_TIMEDOUT, CURLE_SSL_CONNECT_ERROR, CURLE_GOT_NOTHING,
        CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
        CURLE_SSL_INVALIDCERTSTATUS, CURLE_HTTP2_STREAM, CURLE_PROXY,
    ]

    /// The detail of a failed exchange: one line of printable ASCII, at most 200 bytes, without URL and header fields.
    ///
    /// - Parameters:
    ///   - result: libcurl's result.
    ///   - exchange: the one that failed.
    ///   - now: the wall clock, which may be the cause.
    /// - Returns: the detail.
    static func text(_ result: CURLcode, of exchange: Exchange, now: Timestamp) -> String {
        let constant = CurlLibrary.text(result)
        guard informative.contains(result) else { return constant }
        let words = exchange.easy.errorMessage
        return words.isEmpty ? constant : withClock(redacted(words, url: exchange.request.url), now: now)
    }

    /// An expired or not yet valid certificate is often a good one on a machine whose clock is wrong, so the clock is
    /// named.
    ///
    /// - Parameters:
    ///   - words: the message.
    ///   - now: the wall clock.
    /// - Returns: the message, with the clock's date where it matters.
    static func withClock(_ words: String, now: Timestamp) -> String {
        let isAboutTime = ["not yet valid", "has expired"].contains { words.utf8.firstRange(of: $0.utf8) != nil }
        return isAboutTime ? "\(words); this machine's clock says \(HTTPDate(now).headerValue)" : words
    }

    /// Removes what may be secret in a URL: the whole, and what follows the host.
    ///
    /// - Parameters:
    ///   - words: libcurl's message.
    ///   - url: the URL of the request.
    /// - Returns: one line of printable ASCII.
    package static func redacted(_ words: String, url: String) -> String {
        var bytes = words.utf8.map { (0x20..<0x7F).contains($0) ? $0 : 0x3F }
        for secret in secrets(of: url) { replace(secret, in: &bytes) }
        return String(decoding: bytes.prefix(200), as: UTF8.self)
    }

    private static func secrets(of url: String) -> [[UInt8]] {
        var secrets = [Array(url.utf8)]
        let bytes = Array(url.utf8)
        guard let scheme = bytes.firstRange(of: Array("://".utf8)) else {
            return secrets.filter { $0.count > 1 }
        }
        let rest = bytes[scheme.upperBound...]
        let place = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        secrets.append(Array(rest[place.endIndex...]))
        if let at = place.lastIndex(of: UInt8(ascii: "@")) { secrets.append(Array(place[..<at])) }
        return secrets.filter { $0.count > 1 }
    }

    private static func replace(_ secret: [UInt8], in bytes: inout [UInt8]) {
        var rest = bytes[...]
        var result: [UInt8] = []
        // The replacement is not scanned again: a user named ".." would never end.
        while let range = rest.firstRange(of: secret) {
            result += rest[..<range.lowerBound] + Array("...".utf8)
            rest = rest[range.upperBound...]
        }
        bytes = result + rest
    }
}
