/// Why a request was refused.
public enum LoopbackRefusal: String, Sendable, Hashable, CaseIterable {
    /// The field `Host` names another server: a page has been given this machine's address under its own name.
    case foreignHost = "foreign_host"
    /// The request comes from the page of an origin that is not permitted.
    case foreignOrigin = "foreign_origin"
    /// It is neither GET nor HEAD.
    case method
    /// It has a body.
    case body
    /// No open play has this URL.
    case unknownPlay = "unknown_play"
    /// The program that asks belongs to another user of this machine.
    case otherUser = "other_user"
    /// Another program has the play.
    case otherProgram = "other_program"
    /// The program reads too much of it at once.
    case tooMany = "too_many"
    /// The range begins after the last byte.
    case range

    /// The HTTP status of the answer.
    public var status: Int {
        switch self {
        case .foreignHost: 421
        case .foreignOrigin, .otherUser, .otherProgram: 403
        case .method: 405
        case .body: 413
        case .unknownPlay: 404
        case .tooMany: 429
        case .range: 416
        }
    }

    /// What the answer says.
    public var sentence: String {
        switch self {
        case .foreignHost: "The field Host does not name this server."
        case .foreignOrigin: "Pages of this origin may not read lectures."
        case .method: "Only GET and HEAD are answered."
        case .body: "A request has no body here."
        case .unknownPlay: "There is no play with this URL, or it is over."
        case .otherUser: "The play belongs to another user."
        case .otherProgram: "Another program has this play; each play is for one."
        case .tooMany: "The program reads this play too often at once."
        case .range: "The range begins after the last byte."
        }
    }
}
