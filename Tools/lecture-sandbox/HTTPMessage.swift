/// A client's request, parsed once.
struct Request: Sendable {
    let method: String
    let target: Target
    /// Lower-case names; several fields of one name joined by commas (RFC 9110 section 5.3).
    let fields: [String: String]
    let body: [UInt8]
    /// `http` or `https`.
    let scheme: String

    /// The server's address as the client knows it, without a trailing slash.
    var base: String { "\(scheme)://\(fields["host"] ?? "127.0.0.1")" }

    /// Whether a `Range` field applies (RFC 9110 section 14.2).
    var allowsRange: Bool { method == "GET" }
}

/// The target of a request in origin form.
struct Target: Sendable {
    /// As the client wrote it.
    let raw: String
    /// Decoded, without the query.
    let path: String
    private let items: [(name: String, value: String)]

    init(_ raw: String) {
        self.raw = raw
        let parts = raw.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = Text.percentDecoded(parts.first ?? "")
        items = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Text.percentDecoded(pair[0]), Text.percentDecoded(pair.count > 1 ? pair[1] : ""))
        }
    }

    /// The first value of a name in the query.
    func query(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// The raw target with another value of one name, at the end of the query.
    func replacing(_ name: String, with number: Int) -> String {
        let parts = raw.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let kept = parts.dropFirst().flatMap { $0.split(separator: "&") }.filter { !$0.hasPrefix("\(name)=") }
        return parts[0] + "?" + (kept.map(String.init) + ["\(name)=\(number)"]).joined(separator: "&")
    }

    /// Every item whose name has this prefix, without the prefix.
    func queries(beginning prefix: String) -> [(name: String, value: String)] {
        items.filter { $0.name.hasPrefix(prefix) }.map { (String($0.name.dropFirst(prefix.count)), $0.value) }
    }
}

/// An answer, before any byte of it is sent.
struct Reply: Sendable {
    /// How a body ends.
    enum Ending: Sendable {
        case whole
        /// The connection is closed after this many bytes.
        case closed(after: Int)
        /// The connection is reset after this many bytes.
        case reset(after: Int)
        /// Nothing more is sent after this many bytes, and the connection stays open.
        case silent(after: Int)
        /// The connection is closed without an answer.
        case unanswered
    }

    var status: Int
    var fields: [(name: String, value: String)]
    var body: Body
    /// The value of `Content-Length`; `nil` for a body without one.
    var announcedLength: Int?
    var ending = Ending.whole
    var bytesPerSecond: Int?
    var delayMilliseconds = 0

    init(status: Int, fields: [(name: String, value: String)] = [], body: Body = .empty) {
        self.status = status
        self.fields = fields
        self.body = body
        announcedLength = body.count
    }

    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> Reply {
        Reply(status: status, fields: [("Content-Type", type)], body: Body(text: text))
    }

    static func json(_ status: Int, _ value: JSON) -> Reply {
        text(status, value.text + "\n", type: "application/json")
    }

    /// Applies the faults that do not depend on what is sent.
    ///
    /// - Parameter faults: those of this request.
    mutating func apply(_ faults: [Fault]) {
        for fault in faults {
            switch fault.kind {
            case .drop(let count): ending = .closed(after: count)
            case .reset(let count): ending = .reset(after: count)
            case .stall(let count): ending = .silent(after: count)
            case .slow(let rate): bytesPerSecond = rate
            case .delay(let milliseconds): delayMilliseconds = milliseconds
            case .noLength: announcedLength = nil
            case .length(let difference): announcedLength = announcedLength.map { max(0, $0 + difference) }
            default: break
            }
        }
    }

    /// The answer of a fault that replaces the whole answer, if there is one.
    ///
    /// - Parameters:
    ///   - faults: those of this request.
    ///   - request: the request.
    /// - Returns: the answer, or `nil` for the usual one.
    static func replacement(_ faults: [Fault], for request: Request) -> Reply? {
        for fault in faults {
            switch fault.kind {
            case .status(let refusal): return statusFault(refusal)
            case .html: return text(200, captivePortal, type: "text/html; charset=utf-8")
            case .redirectTo(let location): return Reply(status: 302, fields: [("Location", location)])
            case .redirect(let hops):
                let hop = request.target.query("hop").flatMap { Int($0) } ?? 0
                guard hop < hops else { continue }
                return Reply(status: 302, fields: [("Location", request.target.replacing("hop", with: hop + 1))])
            default: continue
            }
        }
        return nil
    }

    private static func statusFault(_ refusal: Refusal) -> Reply {
        let status = refusal.status
        var reply = status == 204 || status == 304 ? Reply(status: status) : text(status, "status \(status) as asked\n")
        reply.fields += refusal.fields
        return reply
    }

    private static let captivePortal = """
        <!DOCTYPE html>
        <html><head><title>Welcome</title></head>
        <body><h1>Welcome to the campus network</h1><p>Please sign in to go on.</p></body></html>

        """
}
