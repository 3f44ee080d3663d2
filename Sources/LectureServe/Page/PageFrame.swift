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
        let header = HTML("header", [:], brand("/"), isKnown ? navigation(place) : .none)
        return page(
            status, title, script: isKnown ? "/script.js" : nil, header, [note] + content,
            footer(isLive: isKnown, hasSession: isKnown, back: address))
    }

    /// A page of the classroom in its frame.
    ///
    /// - Parameters:
    ///   - status: the status of the answer.
    ///   - title: what the page is.
    ///   - hasScript: whether the script of the watch page belongs to it.
    ///   - back: the page that a choice of the language leads back to.
    ///   - content: what is in it.
    /// - Returns: the answer.
    func classroom(
        _ status: Int = 200, title: String, hasScript: Bool = false, back: String, _ content: [HTML]
    ) -> HTMLAnswer {
        let isList = title == text(.classroomList)
        var links = [
            HTML(
                "li", [:],
                HTML("a", ["href": "/classroom", "aria-current": isList ? "page" : nil], html(.classroomList)))
        ]
        if request.person?.role == .operator { links.append(HTML("li", [:], link("/", html(.overview)))) }
        let header = HTML(
            "header", [:], brand("/classroom"),
            HTML("nav", ["aria-label": text(.navigation)], HTML("ul", [:], links)))
        return page(
            status, title, script: hasScript ? "/classroom/watch.js" : nil, header, content,
            footer(isLive: false, hasSession: request.person != nil, back: back))
    }

    private func page(
        _ status: Int, _ title: String, script: String?, _ header: HTML, _ content: [HTML], _ footer: HTML
    ) -> HTMLAnswer {
        let head = HTML(
            "head", [:], HTML("meta", ["charset": "utf-8"]),
            HTML("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            HTML("meta", ["name": "color-scheme", "content": "light dark"]),
            HTML("title", [:], HTML("\(title) – LectureKit")),
            HTML("link", ["rel": "stylesheet", "href": "/style.css"]),
            script.map { HTML("script", ["src": $0, "defer": ""]) } ?? .none)
        let main = HTML("main", ["id": "content"], [HTML("h1", [:], HTML(title))] + content)
        let body = HTML(
            "body", [:], HTML("a", ["href": "#content", "class": "skip"], html(.skip)), header, main, footer)
        return HTMLAnswer(status, HTML.document(language.rawValue, head, body))
    }

    /// The answer of a page.
    typealias HTMLAnswer = HTTPAnswer

    private func brand(_ home: String) -> HTML { HTML("p", ["class": "brand"], link(home, HTML("LectureKit"))) }

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

    private func footer(isLive: Bool, hasSession: Bool, back: String) -> HTML {
        let options = PageLanguage.allCases.map { choice in
            HTML(
                "option",
                ["value": choice.rawValue, "lang": choice.rawValue, "selected": choice == language ? "" : nil],
                HTML(choice.name))
        }
        let choice = HTML(
            "form", ["method": "get", "action": "/language", "class": "language"],
            HTML("input", ["type": "hidden", "name": "back", "value": back]),
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
        return HTML("footer", [:], isLive ? state : .none, choice, hasSession ? out : .none)
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
    case paused, resumed, cancelled, renewing, noneToRenew, priority, removed, retried, failed

    /// The sentence.
    var text: PageText {
        switch self {
        case .paused: .resultPaused
        case .resumed: .resultResumed
        case .cancelled: .resultCancelled
        case .renewing: .resultRenewing
        case .noneToRenew: .resultNoneToRenew
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
