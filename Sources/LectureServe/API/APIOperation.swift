import LectureFormats
import LectureHTTP
import LectureModel

/// A request of an operation, whose values were checked.
struct APICall: Sendable {
    /// The values by the names of their parameters.
    let values: [String: String]
    let request: SiteRequest
    let exchange: HTTPExchange

    /// A value as it was sent; nil without one.
    subscript(name: String) -> String? { values[name] }

    /// A whole number.
    func integer(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// The lecture that a member of the query names.
    func key(_ name: String) throws(LectureError) -> ContentKey? {
        guard let text = values[name] else { return nil }
        guard let key = try? ContentKey(text) else { throw LectureError(.unknownContent, detail: text) }
        return key
    }

    /// The lecture in the path.
    func lecture() throws(LectureError) -> ContentKey {
        let text = values["key"] ?? ""
        guard let key = LectureSegment.key(text).flatMap({ try? ContentKey($0) }) else {
            throw LectureError(.unknownContent, detail: text)
        }
        return key
    }
}

/// What an operation answers with when it succeeds.
enum APIResult: Sendable {
    /// One object, which this schema describes.
    case record(String)
    /// An object with an array of such objects, and with places in the list.
    case list(String, of: String, places: [APIParameter])
    /// Server-sent events.
    case events
    /// The document of the API.
    case document
}

/// An operation of the API: the same value routes it, checks what it takes, and writes its part of the document.
struct APIOperation: Sendable {
    /// In capitals.
    let method: String
    /// The path below `/api/v1`, for instance `lectures/{key}`.
    let path: String
    /// The name for generated clients.
    let name: String
    /// One sentence.
    let summary: String
    /// What else is to be known: above all, what a second request does.
    var details = ""
    /// In the query.
    var query: [APIParameter] = []
    /// In the body, a JSON object; empty for no body.
    var body: [APIParameter] = []
    /// The status of success.
    var success = 200
    /// What it answers with.
    let result: APIResult
    /// Which errors it has, beside those of all operations.
    var errors: [Int] = []
    /// Answers; nil where the answer is given through the exchange.
    let answer: @Sendable (APICall) async throws -> HTTPAnswer?

    /// The segments of the path.
    var segments: [String] { path.split(separator: "/").map(String.init) }

    /// What the path takes.
    var place: [APIParameter] {
        Self.places.filter { segments.contains("{\($0.name)}") }
    }

    private static let places = [
        APIParameter(
            name: "key", kind: .segment,
            help: "The key of a lecture; one with a slash or a backslash, and one that begins with a tilde, is a tilde "
                + "and the base64url of the key.", isRequired: true),
        APIParameter(name: "day", kind: .day, help: "A day in UTC.", isRequired: true),
    ]

    /// The values of a path.
    ///
    /// - Parameter path: its segments below `/api/v1`.
    /// - Returns: nil for another path.
    func match(_ path: [String]) -> [String: String]? {
        let segments = segments
        guard path.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            if segment.hasPrefix("{") {
                guard !text.isEmpty else { return nil }
                values[String(segment.dropFirst().dropLast())] = text
            } else if segment != text {
                return nil
            }
        }
        return values
    }
}

extension HTTPAnswer {
    /// An answer of one line of `--json`.
    ///
    /// - Parameters:
    ///   - line: the line.
    ///   - status: the status.
    /// - Returns: the answer.
    static func record(_ line: String, status: Int = 200) -> Self {
        HTTPAnswer(status, [("Content-Type", "application/json")], body: .bytes(Array(line.utf8)))
    }

    /// An answer of many lines of `--json`, as an array of their objects.
    ///
    /// - Parameters:
    ///   - name: of the array.
    ///   - lines: the lines.
    ///   - places: further members; those without a value are left out.
    /// - Returns: the answer.
    static func list(_ name: String, _ lines: [String], _ places: KeyValuePairs<String, String?> = [:]) -> Self {
        var text = "{\"\(name)\":[\(lines.map { $0.dropLast() }.joined(separator: ","))]"
        for case (let name, let value?) in places { text += ",\"\(name)\":\(JSONValue.string(value).text)" }
        return record("\(text)}\n")
    }
}
