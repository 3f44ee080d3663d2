import LectureModel

/// One request of a client, with everything a case needs to answer it.
package struct Visit: Sendable {
    /// The request itself.
    package let asked: Asked
    /// The request's number in this case, from 1.
    package let number: Int
    /// The number of its connection, from 1.
    package let connection: Int
    /// The number of the listener it came to, from 0.
    package let edge: Int
    /// The lecture.
    package let media: Media
    /// The base URL of every listener: `http://127.0.0.1:PORT` or `https://localhost:PORT`.
    package let bases: [String]
    let counts: Guarded<[String: Int]>

    /// Counts something over the whole case.
    ///
    /// - Parameter name: of what is counted.
    /// - Returns: 1 the first time.
    package func count(_ name: String) -> Int {
        counts.withLock { counts in
            counts[name, default: 0] += 1
            return counts[name] ?? 1
        }
    }

    /// Whether something happens for the first time in this case.
    ///
    /// - Parameter name: of what happens.
    /// - Returns: true once.
    package func isFirst(_ name: String) -> Bool { count(name) == 1 }

    /// The response of an honest origin (RFC 9110): honours ranges, `If-Range` and `If-None-Match`, with a correct 416.
    ///
    /// - Parameter other: another version than the usual one.
    /// - Returns: 200, 206, 304, 412 or 416 with all fields.
    package func honest(_ other: Media? = nil) -> Answer {
        let media = other ?? media
        var answer = Answer(200, body: media.bytes[...])
        answer.reason = "OK"
        answer.set("Content-Type", media.type)
        answer.set("ETag", media.etag)
        answer.set("Last-Modified", media.lastModified)
        answer.set("Accept-Ranges", "bytes")
        if asked.method == "GET", let range = asked.range, holdsIfRange(media) {
            guard let bytes = range.bytes(of: media.bytes.count) else {
                answer.status = 416
                answer.reason = "Range Not Satisfiable"
                answer.set("Content-Range", "bytes */\(media.bytes.count)")
                answer.body = .bytes([])
                return answer
            }
            answer.status = 206
            answer.reason = "Partial Content"
            answer.set("Content-Range", "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(media.bytes.count)")
            answer.body = .bytes(media.bytes[bytes])
        }
        return answer
    }

    /// `If-Range` by strong comparison (RFC 9110 section 13.1.5); absent means yes.
    private func holdsIfRange(_ media: Media) -> Bool {
        guard let condition = asked.field("If-Range") else { return true }
        if condition.hasPrefix("W/") { return false }
        return condition == media.etag || condition == media.lastModified
    }
}

/// The head of a request.
package struct Asked: Sendable {
    /// The bytes between two offsets, or to the end, or the last ones.
    package enum Range: Sendable, Equatable {
        /// Both offsets, the last one included.
        case closed(Int, Int)
        /// To the end.
        case from(Int)
        /// So many at the end.
        case last(Int)

        /// The bytes of an object of a length.
        ///
        /// - Parameter count: the object's length.
        /// - Returns: never empty; `nil` when the range has no byte of the object.
        package func bytes(of count: Int) -> Swift.Range<Int>? {
            switch self {
            case .closed(let first, let last): first <= last && first < count ? first..<min(last + 1, count) : nil
            case .from(let first): first < count ? first..<count : nil
            case .last(let wanted): wanted > 0 && count > 0 ? max(0, count - wanted)..<count : nil
            }
        }

        /// The first offset; 0 for the last bytes.
        package var first: Int {
            switch self {
            case .closed(let first, _), .from(let first): first
            case .last: 0
            }
        }
    }

    /// `GET`, `HEAD` …
    package var method: String
    /// As the client wrote it.
    package var target: String
    /// In their order.
    package var fields: [(name: String, value: String)]
    /// `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    package var version: String

    /// The first value of a field.
    ///
    /// - Parameter name: in any case.
    /// - Returns: its value, or `nil`.
    package func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// The target without the query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The only requested range; `nil` for none, for several, and for a malformed one.
    package var range: Range? {
        guard let text = field("Range"), text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, let last?): return .closed(first, last)
        case (let first?, nil) where ends[1].isEmpty: return .from(first)
        case (nil, let count?) where ends[0].isEmpty: return .last(count)
        default: return nil
        }
    }

    /// Whether the client asks for a part that does not start at 0: it resumes, or fetches in parallel.
    package var isLaterPart: Bool { (range?.first ?? 0) > 0 }

    /// Whether the request has credentials that only one origin may see.
    package var hasCredentials: Bool { field("Authorization") != nil || field("Cookie") != nil }

    /// Reads a head of HTTP/1.
    ///
    /// - Parameter head: everything to the empty line; `nil` is returned when it is not a request.
    package init?(_ head: String) {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        (method, target, version) = (String(words[0]), String(words[1]), String(words[2]))
        fields = lines.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), String(parts[1].drop { $0 == " " })) : nil
        }
    }

    /// A request that was read elsewhere.
    ///
    /// - Parameters:
    ///   - method: `GET` …
    ///   - target: as the client wrote it.
    ///   - fields: in their order.
    ///   - version: of HTTP.
    package init(method: String, target: String, fields: [(name: String, value: String)], version: String) {
        (self.method, self.target, self.fields, self.version) = (method, target, fields, version)
    }
}
