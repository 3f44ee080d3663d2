import LectureFormats
import LectureHTTP
import LectureModel

/// What a page is written with: the request, its language, and the token of its forms.
struct PageContext: Sendable {
    /// The request.
    let request: SiteRequest
    /// The language.
    let language: PageLanguage
    /// The time.
    let now: Timestamp

    /// Creates a value for a request.
    init(_ request: SiteRequest, now: Timestamp) {
        (self.request, self.now) = (request, now)
        language = PageLanguage(request.head)
    }

    /// Figures and times in the language.
    var format: PageFormat { PageFormat(language: language) }

    /// A text in the language.
    func text(_ text: PageText, _ values: String...) -> String { text.text(language, values) }

    /// A text in the language as HTML.
    func html(_ text: PageText, _ values: String...) -> HTML { HTML(text.text(language, values)) }

    /// The page with its query, for coming back to it.
    var address: String { request.head.address(without: ["note", "code"]) }

    /// A form with one button, which changes something.
    ///
    /// - Parameters:
    ///   - path: where it is sent.
    ///   - label: the button's text.
    ///   - subject: what it is about, for those who hear the button without what is around it.
    ///   - style: a class of the button.
    ///   - fields: further fields.
    /// - Returns: the form.
    func button(
        _ path: String, _ label: PageText, subject: String? = nil, style: String? = nil,
        fields: [(String, String)] = []
    ) -> HTML {
        let all = [("form_token", request.formToken ?? ""), ("back", address)] + fields
        let hidden = all.map { HTML("input", ["type": "hidden", "name": $0.0, "value": $0.1]) }
        let name = subject.map { "\(text(label)): \($0)" }
        let button = HTML("button", ["class": style, "aria-label": name], html(label))
        return HTML("form", ["method": "post", "action": path], hidden + [button])
    }

    /// A link.
    func link(_ path: String, _ text: HTML, style: String? = nil) -> HTML {
        HTML("a", ["href": path, "class": style], text)
    }

    /// The path of a lecture.
    static func path(of key: ContentKey) -> String { "/lectures/\(LectureSegment.text(key.text))" }

    /// A text as one segment of a path.
    static func segment(_ text: String) -> String { FormFields.encoded(text) }

    /// A path of this server that a form or a query names; nil for anything else.
    ///
    /// - Parameter text: what was sent.
    /// - Returns: the path, which is safe to redirect to.
    static func localPath(_ text: String?) -> String? {
        guard let text, text.utf8.count <= 2048, text.utf8.first == UInt8(ascii: "/") else { return nil }
        let second = text.utf8.dropFirst().first
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        return isPlain && second != UInt8(ascii: "/") ? text : nil
    }

    /// A section whose content the script replaces when it has changed.
    func part(_ name: String, _ title: PageText, _ children: HTML...) -> HTML {
        HTML(
            "section", ["id": name, "data-part": name, "aria-labelledby": "\(name)-title"],
            [HTML("h2", ["id": "\(name)-title"], html(title))] + children)
    }

    /// A list of names and values.
    func facts(_ facts: [(PageText, HTML)]) -> HTML {
        HTML(
            "dl", ["class": "facts"], facts.map { HTML("div", [:], HTML("dt", [:], html($0.0)), HTML("dd", [:], $0.1)) }
        )
    }

    /// A table. Narrow windows show each row as a block, with the heads beside the values.
    func table(_ heads: [PageText], _ rows: [[HTML]]) -> HTML {
        let head = HTML("tr", [:], heads.map { HTML("th", ["scope": "col"], html($0)) })
        let body = rows.map { row in
            HTML("tr", [:], zip(heads, row).map { HTML("td", ["data-head": text($0)], $1) })
        }
        return HTML("table", [:], HTML("thead", [:], head), HTML("tbody", [:], body))
    }

    /// A sentence of the store, which are English in every language of the page.
    func sentence(_ text: String) -> HTML {
        HTML("span", ["lang": language == .english ? nil : "en"], HTML(text))
    }
}
