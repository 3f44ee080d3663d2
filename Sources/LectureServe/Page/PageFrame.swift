import LectureHTTP
import LectureModel

extension PageContext {
    /// A page in its frame.
    ///
    /// - Parameters:
    ///   - status: the status of the answer.
    ///   - title: what the page is.
    ///   - place: the entry of the navigation that is marked.
    ///   - content: what is in it.
    /// - Returns: the answer.
    func page(_ status: Int = 200, title: String, place: PageText? = nil, _ content: [HTML]) -> HTMLAnswer {
        let isKnown = request.person?.role.includes(.operator) == true
        let head = HTML(
            "head", [:], HTML("meta", ["charset": "utf-8"]),
            HTML("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            HTML("meta", ["name": "color-scheme", "content": "light dark"]),
            HTML("title", [:], HTML("\(title) – LectureKit")),
            HTML("link", ["rel": "stylesheet", "href": "/style.css"]),
            isKnown ? HTML("script", ["src": "/script.js", "defer": ""]) : .none)
        let main = HTML("main", ["id": "content"], [HTML("h1", [:], HTML(title)), note] + content)
        let body = HTML(
            "body", [:], HTML("a", ["href": "#content", "class": "skip"], html(.skip)),
            HTML("header", [:], brand, isKnown ? navigation(place) : .none),
            main, footer(isKnown))
        return HTMLAnswer(status, HTML.document(language.rawValue, head, body))
    }

    /// The answer of a page.
    typealias HTMLAnswer = HTTPAnswer

    private var brand: HTML { HTML("p", ["class": "brand"], link("/", HTML("LectureKit"))) }

    private func navigation(_ place: PageText?) -> HTML {
        let entries: [(PageText, String)] = [
            (.overview, "/"), (.lectures, "/lectures"), (.licences, "/licences"), (.reports, "/reports"),
        ]
        let links = entries.map { entry in
            let current: String? = entry.0 == place ? "page" : nil
            return HTML("li", [:], HTML("a", ["href": entry.1, "aria-current": current], html(entry.0)))
        }
        return HTML("nav", ["aria-label": text(.navigation)], HTML("ul", [:], links))
    }

    private func footer(_ isKnown: Bool) -> HTML {
        let options = PageLanguage.allCases.map { choice in
            HTML(
                "option",
                ["value": choice.rawValue, "lang": choice.rawValue, "selected": choice == language ? "" : nil],
                HTML(choice.name))
        }
        let choice = HTML(
            "form", ["method": "get", "action": "/language", "class": "language"],
            HTML("input", ["type": "hidden", "name": "back", "value": address]),
            HTML("label", [:], html(.language), HTML(" "), HTML("select", ["name": "language"], options)),
            HTML("button", [:], html(.choose)))
        let state = HTML(
            "p",
            [
                "id": "connection", "role": "status", "aria-live": "polite", "data-connected": text(.connected),
                "data-lost": text(.lost), "data-again": text(.foundAgain),
            ])
        let out = HTML(
            "form", ["method": "post", "action": "/sign-out"], HTML("button", [:], html(.signOut)))
        return HTML("footer", [:], isKnown ? state : .none, choice, isKnown ? out : .none)
    }

    /// What a form has done, by the code in the query.
    private var note: HTML {
        guard let name = request.head.parameter("note"), let note = PageNote(rawValue: name) else { return .none }
        var text = note.text.text(language)
        if note == .failed {
            let code = request.head.parameter("code").flatMap(Int.init).map(LectureError.Code.stored)
            text = note.text.text(language, [code.map { "\($0.summary) (\($0.number))" } ?? self.text(.unknown)])
        }
        return HTML("p", ["class": note == .failed ? "note bad" : "note", "role": "status"], HTML(text))
    }
}

/// What a form has done: a code in the query of the page that follows, never a text.
enum PageNote: String, Sendable, CaseIterable {
    case paused, resumed, cancelled, renewing, priority, removed, retried, failed

    /// The sentence.
    var text: PageText {
        switch self {
        case .paused: .resultPaused
        case .resumed: .resultResumed
        case .cancelled: .resultCancelled
        case .renewing: .resultRenewing
        case .priority: .resultPriority
        case .removed: .resultRemoved
        case .retried: .resultRetried
        case .failed: .resultFailed
        }
    }
}

extension HTTPAnswer {
    /// An answer with a page.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - page: its bytes.
    init(_ status: Int, _ page: [UInt8]) {
        self.init(
            status, [("Content-Type", "text/html; charset=utf-8"), ("Vary", "Accept-Language, Cookie")],
            body: .bytes(page))
    }
}
