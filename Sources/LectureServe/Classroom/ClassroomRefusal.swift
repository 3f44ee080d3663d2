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
    /// For people, in English.
    let sentence: String
    /// The same for pages in other languages; nil where there is English only.
    let text: PageText?

    /// There is no such lecture, or none that plays.
    static let unknownLecture = Self(
        status: 404, name: "unknown_lecture", .refusedLecture)
    /// No play of this person has the token, or it is over.
    static let unknownPlay = Self(
        status: 404, name: "unknown_play", .refusedPlay)
    /// As many plays are open as may be.
    static let manyPlays = Self(
        status: 429, name: "many_plays", .refusedPlays)
    /// The player reads too much of a play at once.
    static let manyReads = Self(
        status: 429, name: "many_reads", .refusedReads)
    /// The range begins after the last byte.
    static let range = Self(status: 416, name: "range", .refusedRange)
    /// A report of a viewer that cannot be.
    static let progress = Self(
        status: 400, name: "progress", .refusedProgress)
    /// A link that was changed, or is of another server.
    static let link = Self(status: 403, name: "link", .refusedLink)

    /// Subtitles that no browser can be given.
    static func subtitles(_ refusal: WebSubtitles.Refusal) -> Self {
        Self(status: 404, name: "subtitles", refusal.pageText)
    }

    /// Creates a refusal of the classroom's own.
    private init(status: Int, name: String, _ text: PageText) {
        (self.status, self.name, self.text, sentence) = (status, name, text, text.text(.english))
    }

    /// What the store, or the licence, says against a play. About what a failure of the server was, which may be a path
    /// of its store, no viewer learns anything.
    init(_ error: LectureError) {
        let reason = LicenceReason.allCases.first { $0.code == error.code }
        let status =
            switch error.code {
            case .playerNotPermitted, .playRefused, .licenceDeleted: 403
            case .unknownContent: 404
            case .notComplete: 409
            case .parameter: 400
            case .closing, .cancelled: 503
            default: reason == nil ? 500 : 403
            }
        (self.status, name, code, text) = (status, error.code.name, error.code.number, reason?.pageText)
        sentence = status < 500 ? error.message : LectureError(error.code).message
    }

    /// The sentence in a language.
    ///
    /// - Parameter language: that of the page.
    /// - Returns: the sentence, and the language that it is in: what the store says is English.
    func sentence(in language: PageLanguage) -> (text: String, language: PageLanguage) {
        guard language != .english, let text else { return (sentence, .english) }
        return (text.text(language), language)
    }

    /// The answer for a program: as all refusals of this server.
    ///
    /// - Parameters:
    ///   - fields: further fields.
    ///   - language: of its sentence, where there is one in it.
    /// - Returns: the answer.
    func answer(_ fields: [(String, String)] = [], in language: PageLanguage = .english) -> HTTPAnswer {
        let sentence = sentence(in: language)
        var answer = HTTPAnswer.json(status) { json in
            json.member("event", "error")
            json.member("code", code)
            json.member("name", name)
            json.member("message", sentence.text)
        }
        answer.fields.append(HTTPField(name: "Content-Language", value: sentence.language.rawValue))
        answer.fields += fields.map { HTTPField(name: $0.0, value: $0.1) }
        return answer
    }
}
