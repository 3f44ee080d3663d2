import LectureHTTP
import LectureModel

/// Why the classroom refuses something: as a sentence for a page, and as an answer for a program.
struct ClassroomRefusal: Error, Sendable, Hashable {
    /// The HTTP status of the answer.
    let status: Int
    /// Stable, for programs: that of an error of the catalogue, or one of the classroom's own.
    let name: String
    /// The number of an error of the catalogue.
    var code: Int?
    /// For people.
    let sentence: String

    /// There is no such lecture, or none that plays.
    static let unknownLecture = Self(
        status: 404, name: "unknown_lecture", sentence: "The store has no lecture with this key.")
    /// No play of this person has the token, or it is over.
    static let unknownPlay = Self(
        status: 404, name: "unknown_play", sentence: "The play is over. Load the page again to play on.")
    /// As many plays are open as may be.
    static let manyPlays = Self(
        status: 429, name: "many_plays", sentence: "Too many lectures are being played at once. Try again later.")
    /// The player reads too much of a play at once.
    static let manyReads = Self(
        status: 429, name: "many_reads", sentence: "The player reads this play too often at once.")
    /// The range begins after the last byte.
    static let range = Self(status: 416, name: "range", sentence: "The range begins after the last byte.")
    /// A report of a viewer that cannot be.
    static let progress = Self(
        status: 400, name: "progress", sentence: "What was reported as watched cannot have been watched.")
    /// A link that was changed, or is of another server.
    static let link = Self(status: 403, name: "link", sentence: "The link is not valid, or has expired.")

    /// Creates a refusal of the classroom's own.
    init(status: Int, name: String, code: Int? = nil, sentence: String) {
        (self.status, self.name, self.code, self.sentence) = (status, name, code, sentence)
    }

    /// What the store, or the licence, says against a play. About what a failure of the server was, which may be a path
    /// of its store, no viewer learns anything.
    init(_ error: LectureError) {
        let isLicence = LicenceReason.allCases.contains { $0.code == error.code }
        let status =
            switch error.code {
            case .playerNotPermitted, .playRefused, .licenceDeleted: 403
            case .unknownContent: 404
            case .notComplete: 409
            case .parameter: 400
            case .closing, .cancelled: 503
            default: isLicence ? 403 : 500
            }
        let sentence = status < 500 ? error.message : LectureError(error.code).message
        self.init(status: status, name: error.code.name, code: error.code.number, sentence: sentence)
    }

    /// The answer for a program: as all refusals of this server.
    ///
    /// - Parameter fields: further fields.
    /// - Returns: the answer.
    func answer(_ fields: [(String, String)] = []) -> HTTPAnswer {
        var answer = HTTPAnswer.json(status) { json in
            json.member("event", "error")
            json.member("code", code)
            json.member("name", name)
            json.member("message", sentence)
        }
        answer.fields += fields.map { HTTPField(name: $0.0, value: $0.1) }
        return answer
    }
}
