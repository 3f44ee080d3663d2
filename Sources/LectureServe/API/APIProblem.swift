import LectureFormats
import LectureHTTP
import LectureModel

/// What goes wrong in the API: an object of RFC 9457 with the members of the event `error` of `--json`.
struct APIProblem: Sendable, Hashable {
    /// The HTTP status.
    let status: Int
    /// The frozen name.
    let name: String
    /// What happened.
    let sentence: String
    /// What to do; empty where there is nothing to do.
    var remedy = ""
    /// The frozen number; nil for what the server refuses before it asks the store.
    var code: Int?
    /// When what may be tried again (503) is to be tried again, in seconds.
    var patience = 1

    /// Creates a value.
    init(_ status: Int, _ name: String, _ sentence: String) {
        (self.status, self.name, self.sentence) = (status, name, sentence)
    }

    /// What the store says.
    ///
    /// - Parameter error: its error.
    init(_ error: LectureError) {
        status = HTTPAnswer.status(of: error.code)
        (name, code) = (error.code.name, error.code.number)
        let (whole, remedy) = (error.message, error.code.remedy)
        sentence = remedy.isEmpty ? whole : String(whole.dropLast(remedy.count + 1))
        // The command's own points to its help.
        self.remedy = error.code == .parameter ? "See /api/v1/openapi.json." : remedy
    }

    /// What the site refuses.
    ///
    /// - Parameter refusal: why.
    init(_ refusal: SiteRefusal) { self.init(refusal.status, refusal.rawValue, refusal.sentence) }

    /// The answer.
    ///
    /// - Parameter fields: further fields.
    /// - Returns: the answer, as `application/problem+json`.
    func answer(_ fields: [(String, String)] = []) -> HTTPAnswer {
        var json = JSONWriter()
        json.object { json in
            json.member("type", "about:blank")
            json.member("title", Self.titles[status] ?? "Error")
            json.member("status", status)
            json.member("detail", sentence)
            json.member("event", "error")
            json.member("code", code)
            json.member("name", name)
            json.member("message", remedy.isEmpty ? sentence : "\(sentence) \(remedy)")
            json.member("remedy", remedy.isEmpty ? nil : remedy)
        }
        let again = status == 503 ? [("Retry-After", "\(patience)")] : []
        return HTTPAnswer(status, [("Content-Type", Self.type)] + again + fields, body: .bytes(json.bytes))
    }

    /// The media type.
    static let type = "application/problem+json"
    /// The titles of the statuses (RFC 9110, section 15).
    static let titles = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        409: "Conflict", 413: "Content Too Large", 415: "Unsupported Media Type", 421: "Misdirected Request",
        429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]

    /// A body that is too long.
    static let tooLong = Self(413, "body_too_long", "The body of the request is too long.")
}

extension HTTPRequestHead {
    /// Whether a program asks the API, whose errors are problems.
    var isForAPI: Bool { path.hasPrefix("/api/") }
}
