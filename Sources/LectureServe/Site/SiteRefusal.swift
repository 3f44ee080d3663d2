import LectureFormats
package import LectureHTTP

/// Why the site refuses a request, before any part sees it.
package enum SiteRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// The field `Host` names another server: a page has been given this machine's address under its own name.
    case foreignHost = "foreign_host"
    /// The request comes from a page of another site.
    case foreignOrigin = "foreign_origin"
    /// The path has segments that no path here has.
    case path
    /// No part of the site has this path.
    case unknownPath = "unknown_path"
    /// The path has other methods.
    case method
    /// It has no session and no token.
    case notSignedIn = "not_signed_in"
    /// Their role does not permit it.
    case notPermitted = "not_permitted"
    /// The form does not have the token of its session.
    case formToken = "form_token"
    /// Its address has sent many wrong tokens.
    case wrongTokens = "wrong_tokens"
    /// As many pages get the changes as may be.
    case manyPages = "many_pages"
    /// As many programs get the events as may be.
    case manyEvents = "many_events"

    /// The HTTP status of the answer.
    package var status: Int {
        switch self {
        case .foreignHost: 421
        case .foreignOrigin, .notPermitted, .formToken: 403
        case .path: 400
        case .unknownPath: 404
        case .method: 405
        case .notSignedIn: 401
        case .wrongTokens: 429
        case .manyPages, .manyEvents: 503
        }
    }

    /// What the answer says.
    package var sentence: String {
        switch self {
        case .foreignHost: "The field Host does not name this server; its names are set with --name."
        case .foreignOrigin: "Pages of other sites may not use this server."
        case .path: "The path cannot be used."
        case .unknownPath: "There is nothing under this path."
        case .method: "This path has no such method."
        case .notSignedIn: "Sign in, or send a token."
        case .notPermitted: "Your role does not permit this."
        case .formToken: "The form is too old, or does not come from this site. Load the page again."
        case .manyPages: "Too many pages are open. This one is not kept up to date by itself."
        case .manyEvents: "Too many programs get the events of this server. Try again later."
        case .wrongTokens: "Your address has sent many wrong tokens. Wait, and use another one."
        }
    }

    /// The answer: one JSON object, as all refusals of this server.
    ///
    /// - Parameter fields: further fields.
    /// - Returns: the answer.
    package func answer(_ fields: [(String, String)] = []) -> HTTPAnswer {
        var answer = HTTPAnswer.json(status) { json in
            json.member("event", "error")
            json.member("name", rawValue)
            json.member("message", sentence)
        }
        answer.fields += fields.map { HTTPField(name: $0.0, value: $0.1) }
        return answer
    }
}
