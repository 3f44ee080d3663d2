package import LectureModel

/// What is done after an attempt that failed.
package enum RetryDecision: Hashable, Sendable, CaseIterable {
    /// Try again after a backoff.
    case retry
    /// Try again at once, over HTTP/1.1.
    case retryOverHTTP1
    /// Ask the resolver for a new URL; without a resolver this is final.
    case renewLease
    /// Wait as long as the server asks, or for a backoff when it names no time.
    case wait
    /// Use another mirror; without one this is final.
    case otherMirror
    /// Do not try again.
    case final
}

/// One row per failure: what is done about it, whether that is enabled, and why.
package enum RetryTable {
    /// A row.
    package struct Entry: Hashable, Sendable {
        /// What is done.
        package let decision: RetryDecision
        /// Whether the failure can occur with http and https at all; a row that cannot is kept as final.
        package let isEnabled: Bool
        /// The reason, as a sentence.
        package let reason: String
    }

    /// The row of a libcurl result.
    ///
    /// - Parameter curl: libcurl's result, 1…99.
    /// - Returns: the row; a number libcurl 7.88 does not know is final.
    package static func entry(transfer curl: Int) -> Entry {
        transferRows[curl] ?? unknownTransfer
    }

    /// The row of an HTTP status that carries no object.
    ///
    /// An unknown status counts as the first of its class (RFC 9110 section 15).
    ///
    /// - Parameter status: the status, 300…599.
    /// - Returns: the row.
    package static func entry(status: Int) -> Entry {
        if let row = statusRows[status] { return row }
        switch status {
        case 400...499: return Entry(.final, "The server refuses this request and would refuse it again.")
        case 500...599: return Entry(.retry, "The server failed; most such failures are temporary.")
        default: return Entry(.final, "This status carries no file and does not say where one is.")
        }
    }

    /// The row of an error of any kind.
    ///
    /// - Parameter code: why an attempt failed.
    /// - Returns: the row.
    package static func entry(code: LectureError.Code) -> Entry {
        switch -code.number {
        case 8001...8099: entry(transfer: -code.number - 8000)
        case 8300...8599: entry(status: -code.number - 8000)
        default: ownRows[code.number] ?? Entry(.final, "Trying again would give the same result.")
        }
    }

    /// Whether HTTP/2 may be the reason of a failure.
    ///
    /// libcurl 7.88 reports broken frames, impossible settings and refused streams like a broken network: with 18, 52,
    /// 55 or 56. A connection whose window is never widened goes silent (28).
    ///
    /// - Parameter curl: libcurl's result.
    /// - Returns: true even if it may as well be the network.
    package static func mayBeHTTP2(transfer curl: Int) -> Bool {
        [18, 28, 52, 55, 56].contains(curl) || entry(transfer: curl).decision == .retryOverHTTP1
    }

    /// Whether a failure is one of a TLS handshake: no connection could be agreed on, or the server's certificate was
    /// refused.
    ///
    /// - Parameter curl: libcurl's result.
    /// - Returns: whether it is.
    package static func isHandshake(transfer curl: Int) -> Bool { [35, 60, 90, 91].contains(curl) }

    private static let unknownTransfer = Entry(
        .final, "A result this version of libcurl cannot return.", isEnabled: false)

    private static let statusRows: [Int: Entry] = rows([
        ([401, 403], .renewLease, "Access is denied: a signed URL has expired, or credentials are missing."),
        ([404, 410], .renewLease, "The file is not on the server (any more)."),
        ([407], .final, "The proxy requires credentials."),
        ([408], .retry, "The server timed out waiting for the request."),
        ([421], .retry, "The connection led to a server that does not serve this host; a new one may reach another."),
        ([423], .retry, "The file is locked for the moment."),
        ([425], .retry, "The server does not accept early data; the next connection sends none."),
        ([429, 503], .wait, "The server is overloaded and asks to wait."),
        ([451], .final, "The file may not be served for legal reasons."),
        ([501, 505, 506, 510], .final, "The server does not support the request."),
        ([508], .final, "The server detected a loop."),
        ([511], .final, "The network requires a sign-in."),
    ])

    private static let ownRows: [Int: Entry] = Dictionary(
        uniqueKeysWithValues: [
            (.bodyCut, .retry, "The connection ended early."),
            (.bodyTooLong, .otherMirror, "The server sends more bytes than it announces."),
            (
                .rangeMismatch, .otherMirror,
                "The server returns other ranges than requested."
            ),
            (
                .multipartRefused, .otherMirror,
                "The server returns one range in several parts."
            ),
            (.codingRefused, .otherMirror, "The server encodes what was requested without encoding."),
            (.lengthConflict, .otherMirror, "A proxy on the way probably rewrites lengths."),
            (.badLength, .otherMirror, "An impossible length will not change by itself."),
            (.notMedia, .otherMirror, "A page came instead of media; another mirror may not be behind the portal."),
            (.mirrorDisagrees, .otherMirror, "The mirror serves other bytes."),
            (.unexpectedStatus, .otherMirror, "The status carries no file."),
            (.redirectLoop, .otherMirror, "The redirects of this URL form a loop."),
            (.redirectRefused, .otherMirror, "The redirects of this URL lead to a location that is not allowed."),
            (.noLocation, .otherMirror, "The redirect names no target."),
            (.headerTooLarge, .otherMirror, "A response header of this size is an error or an attack."),
            (.lengthChanged, .retry, "The file has another length now."),
            (.serverWait, .wait, "The server asks to wait."),
            (.storeBusy, .retry, "Another process is using the store."),
        ].map { (code: LectureError.Code, decision: RetryDecision, reason: String) in
            (code.number, Entry(decision, reason))
        })

    /// libcurl 7.88's results, after `curl/curl.h` and libcurl-errors(3).
    private static let transferRows: [Int: Entry] = rows([
        ([1], .final, "The URL's scheme, or an answer that is not HTTP, is not supported."),
        ([2, 4, 41, 48, 49, 93, 99], .final, "The transfer library was built or called incorrectly."),
        ([3], .final, "The URL is not well formed."),
        ([5, 97], .retry, "The proxy cannot be reached or fails."),
        ([6], .retry, "The host name cannot be resolved at the moment."),
        ([7], .retry, "The server refuses connections at the moment."),
        ([8], .otherMirror, "What answers is not an HTTP server."),
        (
            [16], .retryOverHTTP1,
            "HTTP/2 framing broke (libcurl 7.88 fails so on reused connections)."
        ),
        ([18], .retry, "The connection ended before the announced end."),
        ([22], .retry, "A status of 400 or more."),
        ([23], .final, "The body was refused; another error says more."),
        ([27], .retry, "There was no memory left."),
        ([28], .retry, "The server stopped responding."),
        ([33], .otherMirror, "The server does not serve ranges as HTTP requires."),
        ([35], .retry, "The TLS handshake failed, which can be an overloaded or restarting server."),
        ([42], .final, "The transfer was stopped."),
        ([45], .retry, "The network interface is gone."),
        ([47], .otherMirror, "The redirects of this URL form a loop."),
        ([52], .retry, "The server closed the connection without a response."),
        ([53, 54, 66], .final, "The TLS engine of this machine cannot be used."),
        ([55, 56], .retry, "The connection broke."),
        ([58, 77, 82, 83, 98], .final, "A certificate file of this machine cannot be used."),
        ([59], .otherMirror, "The server offers no acceptable cipher."),
        ([60, 90, 91], .otherMirror, "The server's certificate is not trusted."),
        ([61], .otherMirror, "The server uses a content encoding that was not requested."),
        ([63], .final, "The file is larger than allowed."),
        ([65], .retry, "A request could not be repeated over the same connection."),
        ([67, 94], .renewLease, "The credentials were refused."),
        ([80], .retry, "The TLS connection did not end cleanly."),
        ([81, 89], .retry, "The socket was not ready."),
        ([88], .final, "An internal callback failed."),
        (
            [43], .retryOverHTTP1,
            "The transfer library refused an option, as libcurl 7.88 does after sharing a connection."
        ),
        ([92], .retryOverHTTP1, "The HTTP/2 stream was reset."),
        ([95, 96], .retryOverHTTP1, "HTTP/3 failed."),
    ]).merging(
        rows(
            [
                (
                    [9, 10, 11, 12, 13, 14, 15, 17, 19, 21, 25, 26, 30, 31, 34, 36, 37, 38, 39, 64],
                    .final, "A result of uploads and of other protocols, which are switched off."
                ),
                (Array(68...74) + [78, 79] + Array(84...87), .final, "A result of protocols that are switched off."),
                ([20, 24, 29, 32, 40, 44, 46, 50, 51, 57, 62, 75, 76], .final, "A number libcurl no longer uses."),
            ], isEnabled: false),
        uniquingKeysWith: { first, _ in first })

    private static func rows(
        _ groups: [([Int], RetryDecision, String)], isEnabled: Bool = true
    ) -> [Int: Entry] {
        var rows: [Int: Entry] = [:]
        for (numbers, decision, reason) in groups {
            for number in numbers { rows[number] = Entry(decision, reason, isEnabled: isEnabled) }
        }
        return rows
    }
}

extension RetryTable.Entry {
    fileprivate init(_ decision: RetryDecision, _ reason: String, isEnabled: Bool = true) {
        self.init(decision: decision, isEnabled: isEnabled, reason: reason)
    }
}
