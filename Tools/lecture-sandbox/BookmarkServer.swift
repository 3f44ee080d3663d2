/// A bookmark server: it keeps the bookmarks of each lecture and learner, and takes changes in their order.
///
/// docs/sandbox.md describes its requests.
final class BookmarkServer: Sendable {
    static let path = "/bookmarks"

    private struct Book: Hashable, Sendable {
        let content: String
        let user: String
    }

    private struct Place: Hashable, Sendable {
        let kind: Int64
        let position: String
    }

    private struct State: Sendable {
        var books: [Book: [Place: [(String, JSON)]]] = [:]
        /// How many changes were applied.
        var changes: Int64 = 0
        /// Answered in place of 0 while it is set.
        var error: Int64 = 0
    }

    private let state = Locked(State())

    /// Forgets everything.
    func reset() { state.withLock { $0 = State() } }

    /// Answers `GET` with the bookmarks of a lecture and a learner, and applies the changes of a `POST`.
    ///
    /// - Parameter request: for ``path``.
    /// - Returns: the answer.
    /// - Throws: ``Problem`` that names the deviation.
    func reply(to request: Request) throws -> Reply {
        if request.method == "GET" {
            let book = Book(
                content: request.target.query("media_content_key") ?? "",
                user: request.target.query("client_user_id") ?? "")
            return state.withLock { state in
                guard state.error == 0 else { return Self.answer(error: state.error) }
                let places = (state.books[book] ?? [:]).sorted {
                    (Double($0.key.position) ?? 0, $0.key.kind) < (Double($1.key.position) ?? 0, $1.key.kind)
                }
                let result = JSON.object([("bookmark_positions", .array(places.map { .object($0.value) }))])
                return .json(200, .object([("error", .integer(0)), ("result", result)]))
            }
        }
        guard request.method == "POST" else { return .text(405, "GET and POST only\n") }
        var fields: [String: String] = [:]
        for (name, value) in try Text.form(request.body) { fields[name] = String(decoding: value, as: UTF8.self) }
        guard let content = fields["media_content_key"], let user = fields["client_user_id"],
            let changes = try StrictJSON.value(of: Array((fields["bookmarks"] ?? "").utf8)).elements, !changes.isEmpty
        else { throw Problem.input("expected media_content_key, client_user_id and a list of bookmarks") }
        let book = Book(content: content, user: user)
        let places = try changes.map { ($0["action"]?.string, try Self.place($0, kind: 0), $0) }
        return try state.withLock { state in
            guard state.error == 0 else { return Self.answer(error: state.error) }
            for (action, place, change) in places {
                switch action {
                case "add": state.books[book, default: [:]][place] = Self.kept(change, 0)
                case "remove": state.books[book]?[place] = nil
                default: throw Problem.input("action is neither add nor remove")
                }
                state.changes += 1
            }
            return Self.answer(error: 0)
        }
    }

    /// `POST /_bookmarks` replaces the bookmarks of a lecture and a learner, or sets the error; `GET /_bookmarks`
    /// counts the changes.
    func control(_ request: Request) throws -> Reply? {
        guard request.target.path == "/_bookmarks" else { return nil }
        if request.method == "GET" {
            return .json(200, .object([("changes", .integer(state.withLock { $0.changes }))]))
        }
        let order = try StrictJSON.value(of: request.body)
        if let error = order["error"]?.integer {
            state.withLock { $0.error = error }
            return Reply(status: 204)
        }
        guard let content = order["media_content_key"]?.string, let user = order["client_user_id"]?.string,
            let bookmarks = order["bookmarks"]?.elements
        else { throw Problem.input("expected media_content_key, client_user_id and bookmarks, or error") }
        var places: [Place: [(String, JSON)]] = [:]
        for bookmark in bookmarks {
            let kind = bookmark["kind"]?.integer ?? 0
            places[try Self.place(bookmark, kind: kind)] = Self.kept(bookmark, kind)
        }
        let kept = places
        state.withLock { $0.books[Book(content: content, user: user)] = kept }
        return Reply(status: 204)
    }

    private static func answer(error: Int64) -> Reply {
        .json(200, .object([("error", .integer(error)), ("result", .object([]))]))
    }

    private static func place(_ bookmark: JSON, kind: Int64) throws -> Place {
        switch bookmark["position"] {
        case .integer(let seconds): return Place(kind: kind, position: "\(seconds)")
        case .number(let text): return Place(kind: kind, position: text)
        default: throw Problem.input("position is not a number")
        }
    }

    /// What is kept of a bookmark.
    private static func kept(_ bookmark: JSON, _ kind: Int64) -> [(String, JSON)] {
        [
            ("position", bookmark["position"] ?? .null), ("value", bookmark["value"] ?? .string("")),
            ("kind", .integer(kind)), ("label", bookmark["label"] ?? .string("")),
            ("localtime", bookmark["localtime"] ?? .null),
        ]
    }
}
