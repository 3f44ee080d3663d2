package import LectureModel

/// What is done after an attempt that failed.
package enum RetryDecision: Hashable, Sendable, CaseIterable {
    /// Try again after a backoff.
    case retry
    /// Try again at once, over HTTP/1.1.
    case retryOverHTTP1
    /// Ask the resolver for a new URL; without a resolver this is final.
    case renewLease
    /// Wait as long as the server asks, or a backoff when it does not say.
    case wait
    /// Use another mirror; without one this is final.
    case otherMirror
    /// Do not try again.
    case final
}

/// One row per failure: what is done about it, whether that is switched on, and why.
package enum RetryTable {
    /// A row.
    package struct Entry: Hashable, Sendable {
        /// What is done.
        package let decision: RetryDecision
        /// Whether the failure can occur with http and https at all; a row that cannot is kept as final.
        package let isEnabled: Bool
        /// Why, as a sentence.
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
        case 400...499: return Entry(.final, "The server refuses this request, and would refuse it again.")
        case 500...599: return Entry(.retry, "The server failed; most such failures pass.")
        default: return Entry(.final, "This status carries no file and names no way to one.")
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
        default: ownRows[code.number] ?? Entry(.final, "Trying again would end in the same way.")
        }
    }

    /// Whether HTTP/2 may be the reason of a failure.
    ///
    /// libcurl 7.88 tells of broken frames, of settings that cannot be and of refused streams as it tells of a network
    /// that broke: with 18, 52, 55 or 56. A connection whose window is never widened is silent (28).
    ///
    /// - Parameter curl: libcurl's result.
    /// - Returns: true also where it may as well be the network.
    package static func mayBeHTTP2(transfer curl: Int) -> Bool {
        [18, 28, 52, 55, 56].contains(curl) || entry(transfer: curl).decision == .retryOverHTTP1
    }

    private static let unknownTransfer = Entry(
        .final, "A result this version of libcurl cannot give.", isEnabled: false)

    private static let statusRows: [Int: Entry] = rows([
        ([401, 403], .renewLease, "A signed URL has run out, or was never good."),
        ([404, 410], .renewLease, "The file has moved; the resolver knows where to."),
        ([407], .final, "The proxy wants credentials, which only a person can give."),
        ([408], .retry, "The server did not wait for the request to arrive."),
        ([421], .retry, "The connection led to a server that does not serve this host; a new one may not."),
        ([423], .retry, "The file is locked, which passes."),
        ([425], .retry, "The server does not take early data; the next connection has none."),
        ([429, 503], .wait, "The server has too much to do and says when to come back."),
        ([451], .final, "The file may not be served for legal reasons."),
        ([501, 505, 506, 510], .final, "The server lacks what the request needs, and will lack it again."),
        ([508], .final, "The server found itself in a loop."),
        ([511], .final, "The network wants a sign-in before it lets anything through."),
    ])

    private static let ownRows: [Int: Entry] = Dictionary(
        uniqueKeysWithValues: [
            (.bodyCut, .retry, "The connection ended early; what came is kept."),
            (.bodyTooLong, .otherMirror, "A server that miscounts its bytes is not asked again."),
            (
                .rangeMismatch, .otherMirror,
                "A server that answers other ranges than asked is asked for no range again."
            ),
            (
                .multipartRefused, .otherMirror,
                "A server that answers one range in several parts is asked for no range again."
            ),
            (.codingRefused, .otherMirror, "A server that codes what was asked for uncoded is not asked again."),
            (.lengthConflict, .otherMirror, "Somebody between here and the server rewrites lengths."),
            (.badLength, .otherMirror, "A length that cannot be is no accident that passes."),
            (.notMedia, .otherMirror, "A page came instead of media; another mirror may not lie behind the portal."),
            (.mirrorDisagrees, .otherMirror, "The mirror serves other bytes."),
            (.unexpectedStatus, .otherMirror, "The status carries no file."),
            (.redirectLoop, .otherMirror, "The redirects of this URL lead nowhere."),
            (.redirectRefused, .otherMirror, "The redirects of this URL lead where nothing may be fetched."),
            (.noLocation, .otherMirror, "The redirect names no target."),
            (.headerTooLarge, .otherMirror, "A head of this size is an error or an attack."),
            (.lengthChanged, .retry, "The file has another length now; the new version is fetched."),
            (.serverWait, .wait, "The server says when to come back."),
            (.storeBusy, .retry, "Another process holds the store for a moment."),
        ].map { (code: LectureError.Code, decision: RetryDecision, reason: String) in
            (code.number, Entry(decision, reason))
        })

    /// libcurl 7.88's results, after `curl/curl.h` and libcurl-errors(3).
    private static let transferRows: [Int: Entry] = rows([
        ([1], .final, "The URL's scheme, or an answer that is not HTTP, is not supported."),
        ([2, 4, 41, 48, 49, 93, 99], .final, "The transfer library was built or called wrongly, and stays so."),
        ([3], .final, "The URL is not well formed."),
        ([5, 97], .retry, "The proxy cannot be reached or fails; networks come back."),
        ([6], .retry, "The name cannot be resolved now; name servers come back."),
        ([7], .retry, "Nobody answers at the address now; servers come back."),
        ([8], .otherMirror, "What answers is not an HTTP server."),
        (
            [16], .retryOverHTTP1,
            "The HTTP/2 framing broke; HTTP/1.1 has none (libcurl 7.88 fails so on reused connections)."
        ),
        ([18], .retry, "The connection ended before the announced end; what came is kept."),
        ([22], .retry, "A status of 400 or more, which is judged by its own row before it comes to this."),
        ([23], .final, "The body was refused by our own callback, whose error says more."),
        ([27], .retry, "There was no memory; other transfers end and free some."),
        ([28], .retry, "The server was silent for too long; what came is kept."),
        ([33], .otherMirror, "The server does not serve ranges as HTTP says."),
        ([35], .retry, "The TLS handshake broke, which overloaded servers and restarts also cause."),
        ([42], .final, "The transfer was stopped by us."),
        ([45], .retry, "The network interface is gone for now."),
        ([47], .otherMirror, "The redirects of this URL lead nowhere."),
        ([52], .retry, "The server closed the connection without an answer."),
        ([53, 54, 66], .final, "The TLS engine of this machine cannot be used."),
        ([55, 56], .retry, "The connection broke; what came is kept."),
        ([58, 77, 82, 83, 98], .final, "A certificate file of this machine cannot be used."),
        ([59], .otherMirror, "The server offers no acceptable cipher."),
        ([60, 90, 91], .otherMirror, "The server's certificate is not trusted; asking again does not make it so."),
        ([61], .otherMirror, "The server uses a content coding that was not asked for."),
        ([63], .final, "The file is larger than allowed."),
        ([65], .retry, "A request could not be sent twice over one connection; a new one sends it anew."),
        ([67, 94], .renewLease, "The credentials were refused."),
        ([80], .retry, "The TLS connection did not end cleanly; what came and is proven is kept."),
        ([81, 89], .retry, "The socket was not ready; a moment later it is."),
        ([88], .final, "A callback of ours failed."),
        (
            [43], .retryOverHTTP1,
            "A handle refused an option, as libcurl 7.88 does after sharing a connection; HTTP/1.1 shares none."
        ),
        ([92], .retryOverHTTP1, "The HTTP/2 stream was reset; a GET may be repeated, and HTTP/1.1 has no streams."),
        ([95, 96], .retryOverHTTP1, "HTTP/3 failed; HTTP/1.1 goes over TCP."),
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
