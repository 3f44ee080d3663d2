/// What was observed when a client met a case.
package struct Evidence: Sendable {
    /// The requests.
    package var journal: [Journal.Entry]
    /// How the client did.
    package var verdict: Verdict
    /// The exit status.
    package var status: Int32
    /// Standard error.
    package var words: String
    /// Standard output.
    package var output: String
    /// Peak disk usage in its directory, sampled every 50 milliseconds and at the end.
    package var peakDiskBytes: Int
    /// From start to end.
    package var milliseconds: Int
    /// The lecture's length.
    package var size: Int
    /// How the connections under TLS began.
    package var handshakes: [Journal.Handshake] = []
}

/// Something a client must keep in a case besides the right bytes.
package struct Promise: Sendable {
    /// The promise, as a few words for a table.
    package let words: String
    /// How it was broken, as a sentence; `nil` when it was kept.
    package let breach: @Sendable (Evidence) -> String?

    /// A promise.
    ///
    /// - Parameters:
    ///   - words: a few words for a table.
    ///   - breach: describes how it was broken, or `nil`.
    package init(_ words: String, breach: @escaping @Sendable (Evidence) -> String?) {
        (self.words, self.breach) = (words, breach)
    }

    /// A bound on the number of requests.
    ///
    /// - Parameter limit: the most.
    /// - Returns: the promise.
    package static func requests(atMost limit: Int) -> Promise {
        Promise("≤ \(limit) requests") { evidence in
            evidence.journal.count <= limit ? nil : "\(evidence.journal.count) requests; at most \(limit) are due"
        }
    }

    /// A bound on disk usage.
    ///
    /// - Parameter limit: bytes beyond twice the lecture's length: a part file and a finished copy.
    /// - Returns: the promise.
    package static func disk(beyondTwice limit: Int) -> Promise {
        Promise("bounded disk") { evidence in
            let most = 2 * evidence.size + limit
            return evidence.peakDiskBytes <= most
                ? nil : "\(evidence.peakDiskBytes) bytes on the disk; at most \(most) are due"
        }
    }

    /// Later requests continue where the earlier ones ended: little is sent twice.
    ///
    /// - Parameter waste: bytes that may be sent again.
    /// - Returns: the promise.
    package static func resumed(wasting waste: Int = 1_600_000) -> Promise {
        Promise("resumed") { evidence in
            let sent = evidence.journal.reduce(0) { $0 + $1.bytes }
            return sent <= evidence.size + waste
                ? nil : "\(sent) bytes were sent for \(evidence.size); at most \(waste) may be sent again"
        }
    }

    /// After a response with such a status nothing is requested from that listener for a time.
    ///
    /// - Parameters:
    ///   - milliseconds: the shortest wait; a little less is tolerated, since clocks are rounded.
    ///   - statuses: of the responses that ask for it.
    /// - Returns: the promise.
    package static func waited(_ milliseconds: Int, after statuses: Set<Int> = [429, 503]) -> Promise {
        Promise("Retry-After kept") { evidence in
            for (index, entry) in evidence.journal.enumerated() where statuses.contains(entry.status) {
                let later = evidence.journal[(index + 1)...].first { $0.edge == entry.edge }
                guard let later, later.milliseconds - entry.milliseconds < milliseconds - 50 else { continue }
                return "asked again after \(later.milliseconds - entry.milliseconds) of \(milliseconds) ms"
            }
            return nil
        }
    }

    /// Credentials go to the first listener only.
    package static let credentialsStay = Promise("credentials stay") { evidence in
        evidence.journal.first { $0.edge > 0 && $0.asked.hasCredentials }
            .map { "credentials went to listener \($0.edge)" }
    }

    /// Some listeners never get a request.
    ///
    /// - Parameter edges: their numbers.
    /// - Returns: the promise.
    package static func untouched(_ edges: Int...) -> Promise {
        Promise("never asked") { evidence in
            evidence.journal.first { edges.contains($0.edge) }
                .map { "listener \($0.edge) was asked for \($0.asked.target)" }
        }
    }

    /// A bound on the number of handshakes, also of those that fail.
    ///
    /// - Parameter limit: the most.
    /// - Returns: the promise.
    package static func handshakes(atMost limit: Int) -> Promise {
        Promise("≤ \(limit) handshakes") { evidence in
            let count = evidence.handshakes.count
            return count <= limit ? nil : "\(count) handshakes; at most \(limit) are due"
        }
    }
}

extension Evidence {
    /// The requests as lines, for diagnosis.
    package var story: String {
        journal.map { entry in
            let range = entry.asked.field("Range").map { " \($0)" } ?? ""
            let condition = entry.asked.field("If-Range").map { " if \($0)" } ?? ""
            return "\(entry.milliseconds) ms: \(entry.edge)/\(entry.connection) \(entry.asked.method) "
                + "\(entry.asked.target)\(range)\(condition) → \(entry.status), \(entry.bytes) bytes"
                + (entry.isOver ? "" : ", not over")
        }.joined(separator: "\n")
            + handshakes.map { shake in
                "\nTLS \(shake.edge)/\(shake.connection): \(shake.failure ?? (shake.isResumed ? "resumed" : "good"))"
            }.joined()
    }
}
