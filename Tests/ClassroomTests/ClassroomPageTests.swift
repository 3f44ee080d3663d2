import Foundation
import LectureFormats
import LectureHTTP
import LectureModel
import Testing

@testable import LectureKit
@testable import LectureServe

/// The pages as HTML, and what refusals say.
struct ClassroomPageTests {
    /// What a title may be, and must not do.
    private static let texts = [
        "Algebra", "<script>alert(1)</script>", "</title></h1><img src=x onerror=alert(1)>", "\" autofocus onfocus=\"x",
        "' onclick='x", "&lt;b&gt; & &amp;", "강의 <1>", "a\u{202E}b", "--><!--", "${x}{{y}}",
    ]

    private static func lecture(_ key: String = "film", title: String = "") throws -> ContentDetails {
        let content = Content(
            key: try ContentKey(key), sourceURL: "http://origin.example/film.mp4", title: title, state: .completed,
            added: Timestamp(milliseconds: 0))
        return ContentDetails(content: content, number: 1)
    }

    /// A page with everything that there is.
    private static func watched(_ text: String) throws -> ClassroomPage.Watched {
        var details = try lecture("a/<b>\"", title: text)
        (details.synopsis, details.snapshotPath, details.content.duration) = (text, "/store/1.jpg", .seconds(61.5))
        let mark = "{\"position\":3.9,\"value\":\(JSONText.literal(text))}"
        let later = "{\"position\":1e9,\"value\":\(JSONText.literal(text))}"
        let outline = ContentOutline(
            descriptor: """
                {"chapters":[{"language":"ko","items":[\(later),\(mark)]},{"language":"","items":[\(mark)]}],
                "bookmarks":[\(mark)]}
                """)
        let files = [("ko", text), ("", ""), ("en\" onload=\"x", "")].map { language, name in
            KeptSubtitle(name: name, language: language, isMachineMade: false, bytes: Array("WEBVTT".utf8))
        }
        let refused = KeptSubtitle(name: text, language: "", isMachineMade: false, bytes: [0xB0])
        let subtitles = WatchedSubtitles(files + [refused])
        return ClassroomPage.Watched(
            details: details, outline: outline, subtitles: subtitles, media: nil, at: 75, formToken: "\"><i>")
    }

    /// The pages of a person, in a language.
    private static func page(
        _ language: String = "en", query: [(String, String)] = [],
        person: SitePerson? = SitePerson(name: "kim", role: .viewer)
    ) -> ClassroomPage {
        let head = HTTPRequestHead(
            method: "GET", path: "/classroom", fields: [HTTPField(name: "Accept-Language", value: language)],
            query: query.map { HTTPField(name: $0.0, value: $0.1) })
        let request = SiteRequest(
            head: head, path: ["classroom"], body: [], peer: nil, person: person, formToken: "form-1")
        return ClassroomPage(context: PageContext(request, now: Timestamp(milliseconds: 0)))
    }

    /// A text as pages show it: what changes the direction of others is replaced.
    private static func shown(_ text: String) -> String { text.replacing("\u{202E}", with: "\u{FFFD}") }

    /// What is true of every page.
    private static func expectSound(_ answer: HTTPAnswer, title: String, language: String = "en") {
        let (html, page) = (answer.text, Markup(answer.text))
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(
            html.hasPrefix("<!DOCTYPE html>\n<html lang=\"\(language)\">") && page.unbalanced.isEmpty,
            "\(page.unbalanced)")
        let title = shown(title)
        #expect(page["title"].map { Markup.unescaped($0.text) } == ["\(title) – LectureKit"])
        #expect(page["h1"].map { Markup.unescaped($0.text) } == [title])
        // Nothing that the policy of the site would have to stop.
        let known: Set = [
            "html", "head", "meta", "title", "link", "script", "body", "header", "nav", "a", "main", "h1", "h2", "p",
            "ul", "ol", "li", "small", "form", "label", "input", "button", "video", "track", "span", "footer", "div",
            "select", "option",
        ]
        for tag in page.tags {
            #expect(known.contains(tag.name), "\(tag.name)")
            let names = tag.attributes.keys
            #expect(!names.contains { $0.hasPrefix("on") || $0 == "style" }, "\(tag)")
            #expect(!tag.attributes.values.contains { $0.lowercased().hasPrefix("javascript:") }, "\(tag)")
            for name in ["src", "href", "action", "poster"] {
                let value = tag.attributes[name]
                #expect(value?.hasPrefix("/") != false || value == "#content", "\(tag)")
            }
        }
        #expect(page["script"].allSatisfy { $0.attributes["src"] != nil && $0.text.isEmpty || $0.text == "\n" })
        #expect(page["style"].isEmpty && !html.contains("/store/"))
        // Everything has a name for those who do not see it.
        let labels = Set(page["label"].compactMap { $0.attributes["for"] })
        for input in page["input"] where input.attributes["type"] != "hidden" {
            #expect(labels.contains(input.attributes["id"] ?? ""), "\(input)")
        }
        for tag in page["a"] + page["button"] + page["option"] {
            #expect(!tag.text.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, "\(tag)")
        }
        for tag in page["nav"] + page["video"] { #expect(tag.attributes["aria-label"]?.isEmpty == false, "\(tag)") }
        let identifiers = page.tags.compactMap { $0.attributes["id"] }
        #expect(Set(identifiers).count == identifiers.count, "\(identifiers)")
        let levels = page.tags.compactMap { ["h1": 1, "h2": 2, "h3": 3][$0.name] }
        #expect(levels.first == 1 && zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(levels)")
    }

    // MARK: Pages

    @Test(arguments: texts)
    func `whatever a lecture is called, its watch page shows it as text`(text: String) throws {
        let answer = Self.page().watch(try Self.watched(text))
        let text = Self.shown(text)
        Self.expectSound(answer, title: text)
        let page = Markup(answer.text)
        let place = "/classroom/lectures/~YS88Yj4i"
        let video = try #require(page["video"].first?.attributes)
        #expect(video["aria-label"] == text && video["poster"] == "\(place)/poster" && video["src"] == nil)
        #expect(video["data-duration"] == "61.5" && video["controls"] != nil && video["autoplay"] == nil)
        #expect(page["track"].map { $0.attributes["src"] } == (0..<3).map { "\(place)/subtitles/\($0)" })
        #expect(page["track"].map { $0.attributes["srclang"] } == ["ko", "und", "en\" onload=\"x"])
        #expect(page["track"].map { $0.attributes["label"] } == [text, "Subtitles", "en\" onload=\"x"])
        #expect(page["track"].map { $0.attributes["default"] != nil } == [true, false, false])
        let small = page["small"].map { Markup.unescaped($0.text) }
        #expect(small.contains("\(text): \(PageText.subtitlesEncoding.text(.english))"), "\(small)")
        #expect(page["h2"].map(\.text) == ["Chapters", "Chapters", "Bookmarks"])
        #expect(page["ol"].map { $0.attributes["lang"] } == ["ko", nil, nil])
        let marks = page["a"].filter { $0.attributes["data-at"] != nil }
        #expect(marks.map { $0.attributes["data-at"] } == ["0", "3", "172800", "3", "3"])
        #expect(marks.map { $0.attributes["href"] } == ["0", "3", "172800", "3", "3"].map { "\(place)?at=\($0)" })
        let names = ["From the beginning", "0:03 \(text)", "48:00:00 \(text)", "0:03 \(text)", "0:03 \(text)"]
        #expect(marks.map { Markup.unescaped($0.text) } == names)
        #expect(page["input"].prefix(2).map { $0.attributes["value"] } == ["\"><i>", "75"])
        #expect(page["form"].first?.attributes["action"] == "\(place)/plays")
        #expect(page["form"].first?.attributes["method"] == "post" && page["button"].first?.text == "Play from 1:15")
        #expect(page["p"].contains { Markup.unescaped($0.text) == text }, "the synopsis")
        #expect(page["p"].first { $0.attributes["id"] == "notice" }?.attributes["role"] == "status")
    }

    @Test(arguments: [
        ("/classroom/plays/T", 0, "/classroom/plays/T"), ("/classroom/plays/T", 75, "/classroom/plays/T#t=75"),
        ("/classroom/plays/T/main.m3u8", 75, "/classroom/plays/T/main.m3u8"),
    ])
    func `a play that was opened without script is in the page`(media: String, at: Int64, source: String) throws {
        var watched = try Self.watched("Algebra")
        (watched.media, watched.at) = (media, at)
        let answer = Self.page().watch(watched)
        Self.expectSound(answer, title: "Algebra")
        let page = Markup(answer.text)
        #expect(page["video"].first?.attributes["src"] == source)
        #expect(page["video"].first?.attributes["autoplay"] != nil)
        #expect(page["button"].first?.text == (at == 0 ? "Play" : "Play from 1:15"))
        #expect(answer.text.contains("From the beginning") == (at > 0))
    }

    @Test func `a lecture of which nothing is known has a page`() throws {
        let watched = ClassroomPage.Watched(
            details: try Self.lecture("<key>"), outline: ContentOutline(), subtitles: WatchedSubtitles([]), media: nil,
            at: 0,
            formToken: "")
        let answer = Self.page().watch(watched)
        Self.expectSound(answer, title: "<key>")
        let page = Markup(answer.text)
        #expect(page["video"].first?.attributes["poster"] == nil && page["track"].isEmpty && page["h2"].isEmpty)
        #expect(page["video"].first?.attributes["data-duration"] == nil && page["ol"].isEmpty)
        #expect(page["button"].first?.text == "Play")
    }

    @Test(arguments: texts)
    func `the list shows what it knows as text`(text: String) throws {
        var lecture = try Self.lecture("a b", title: text)
        (lecture.content.course, lecture.content.teacher, lecture.content.duration) = (text, text, .seconds(3661))
        let page = Self.page(query: [("course", text), ("search", text)])
        let run = LectureRun(shown: [lecture.content], hasBefore: true, hasAfter: true)
        let answer = page.list(run, [:], ClassroomQuery(page.context.request.head))
        Self.expectSound(answer, title: "Classroom")
        let (markup, shown) = (Markup(answer.text), Self.shown(text))
        let links = markup["a"].filter { $0.attributes["href"]?.hasPrefix("/classroom") == true }.dropFirst(2)
        let names = ["Classroom", "Clear", shown, shown, "First page", "Previous", "Next"]
        #expect(links.map { Markup.unescaped($0.text) } == Array(names.dropFirst()))
        let fields = [("search", text), ("course", text)]
        let places = [
            "/classroom", "/classroom/lectures/a%20b", "/classroom?\(FormFields.text([("course", text)]))",
            "/classroom?\(FormFields.text(fields))", "/classroom?\(FormFields.text(fields + [("before", "a b")]))",
            "/classroom?\(FormFields.text(fields + [("after", "a b")]))",
        ]
        #expect(links.map { $0.attributes["href"] } == places.map(Self.shown))
        #expect(markup["input"].prefix(2).map { $0.attributes["value"] } == [shown, shown])
        #expect(markup["form"].first?.attributes["role"] == "search")
        #expect(answer.text.contains(" · 1:01:01</small>"))
    }

    @Test(arguments: [
        ("en", "There is no lecture that can be played."), ("ko", "재생할 수 있는 강의가 없습니다."), ("ja", "再生できる講義はありません。"),
    ])
    func `a list of nothing says so in each language`(language: String, text: String) throws {
        let page = Self.page(language)
        let run = LectureRun(shown: [], hasBefore: false, hasAfter: false)
        let answer = page.list(run, [:], ClassroomQuery(page.context.request.head))
        let title = PageText.classroomList.text(try #require(PageLanguage(rawValue: language)))
        Self.expectSound(answer, title: title, language: language)
        let markup = Markup(answer.text)
        #expect(markup["p"].map(\.text).contains(text))
        #expect(markup["nav"].count == 1 && markup["input"].first?.attributes["value"] == "")
    }

    @Test(arguments: [
        ([], "/classroom"), ([("search", "wave")], "/classroom?search=wave"),
        ([("search", "a&b"), ("course", "Physics II")], "/classroom?search=a%26b&course=Physics%20II"),
        ([("search", ""), ("course", "")], "/classroom"), ([("after", "k 1")], "/classroom"),
        ([("search", String(repeating: "x", count: 513))], "/classroom"), ([("page", "7")], "/classroom"),
    ])
    func `what the list is limited to is in its addresses`(query: [(String, String)], address: String) throws {
        let read = ClassroomQuery(Self.page(query: query).context.request.head)
        #expect(read.address(nil) == address && read.filter.states == [.completed])
        let joint = address.contains("?") ? "&" : "?"
        #expect(read.address(("after", try ContentKey("k 2"))) == "\(address)\(joint)after=k%202")
        #expect(read.after?.text == query.first { $0.0 == "after" }?.1 && read.before == nil)
    }

    @Test(arguments: [
        ("en", "Play from 1:15", "From the beginning", ["Chapters", "Chapters", "Bookmarks"], "Subtitles"),
        ("ko", "1:15부터 재생", "처음부터", ["챕터", "챕터", "북마크"], "자막"),
        ("ja", "1:15から再生", "最初から", ["チャプター", "チャプター", "ブックマーク"], "字幕"),
    ])
    func `a watch page is in the language of its viewer`(
        language: String, play: String, start: String, heads: [String], subtitles: String
    ) throws {
        let answer = Self.page(language).watch(try Self.watched("Algebra"))
        Self.expectSound(answer, title: "Algebra", language: language)
        let markup = Markup(answer.text)
        #expect(markup["button"].first?.text == play && markup["h2"].map(\.text) == heads)
        #expect(markup["a"].first { $0.attributes["data-at"] == "0" }?.text == start)
        #expect(markup["track"].map { $0.attributes["label"] } == ["Algebra", subtitles, "en\" onload=\"x"])
        let notice = markup["p"].first { $0.attributes["id"] == "notice" }?.attributes["data-code"]
        #expect(notice?.contains("{0}") == true && notice?.contains("{1}") == true)
        let back = markup["input"].first { $0.attributes["name"] == "back" }?.attributes["value"]
        #expect(back == "/classroom", "the choice of a language leads back")
    }

    // MARK: Refusals

    private static let own: [(ClassroomRefusal, Int, String)] = [
        (.unknownLecture, 404, "unknown_lecture"), (.unknownPlay, 404, "unknown_play"),
        (.manyPlays, 429, "many_plays"), (.manyReads, 429, "many_reads"), (.range, 416, "range"),
        (.progress, 400, "progress"), (.link, 403, "link"),
    ]

    @Test func `each refusal has its status, its name and a sentence, as JSON and as a page`() throws {
        for (refusal, status, name) in Self.own {
            let answer = refusal.answer([("X-More", "1")])
            #expect(answer.status == status && answer.field("Content-Type") == "application/json")
            #expect(answer.field("X-More") == "1")
            #expect(answer.text == #"{"event":"error","name":"\#(name)","message":"\#(refusal.sentence)"}"#)
            #expect(answer.field("Content-Language") == "en")
            for language in [PageLanguage.korean, .japanese] {
                let (text, own) = refusal.sentence(in: language)
                #expect(own == language && text != refusal.sentence && !text.isEmpty, "\(name)")
                let answer = refusal.answer(in: language)
                #expect(answer.text.contains(text) && answer.field("Content-Language") == language.rawValue)
            }
            #expect(refusal.sentence.hasSuffix(".") && refusal.code == nil)
            let page = Self.page().refusal(refusal)
            Self.expectSound(page, title: "Not possible")
            #expect(page.status == status)
            let alerts = Markup(page.text)["p"].filter { $0.attributes["role"] == "alert" }
            #expect(alerts.map { Markup.unescaped($0.text) } == [refusal.sentence])
        }
        let (names, sentences) = (Set(Self.own.map(\.2)), Set(Self.own.map(\.0.sentence)))
        #expect(names.count == Self.own.count && sentences.count == Self.own.count)
    }

    private static let ways: [(String, String?)] = [
        ("film", "film"), ("~YS9i", "~YS9i"), ("a b", "a%20b"), ("\"><i>", "%22%3E%3Ci%3E"), ("~!", nil),
    ]

    @Test(arguments: ways)
    func `a page that refuses leads back to its lecture`(segment: String, place: String?) {
        let page = Self.page().refusal(.manyPlays, back: segment)
        Self.expectSound(page, title: "Not possible")
        let links = Markup(page.text)["a"].map { $0.attributes["href"] }.filter { $0?.contains("/lectures/") == true }
        #expect(links == (place.map { ["/classroom/lectures/\($0)"] } ?? []))
    }

    @Test(arguments: LicenceReason.allCases)
    func `what a licence says is no error of the server`(reason: LicenceReason) {
        let refusal = ClassroomRefusal(LectureError(reason.code, detail: "film"))
        #expect(refusal.status == (reason == .mediaIncomplete ? 409 : 403), "\(reason.name)")
        #expect(refusal.code == reason.code.number && refusal.name == reason.code.name)
        let page = Self.page().refusal(refusal)
        #expect(page.text.contains("(code \(reason.code.number))</p>"))
        let korean = Self.page("ko").refusal(refusal)
        #expect(korean.text.contains("\(reason.pageText.text(.korean)) (코드 \(reason.code.number))</p>"))
    }

    private static let failures: [(LectureError.Code, Int)] = [
        (.playerNotPermitted, 403), (.playRefused, 403), (.licenceDeleted, 403),
        (.unknownContent, 404), (.notComplete, 409), (.parameter, 400), (.closing, 503), (.cancelled, 503),
        (.damaged, 500), (.readFile, 500), (.bug, 500), (.sealedElsewhere, 500), (.writeFile, 500),
    ]

    @Test(arguments: failures)
    func `errors of the store have their status, and no viewer learns where the store is`(
        code: LectureError.Code, status: Int
    ) {
        let refusal = ClassroomRefusal(LectureError(code, detail: "/srv/store/1/media", cause: "errno 13 of /srv"))
        #expect(refusal.status == status && refusal.code == code.number && refusal.name == code.name)
        #expect(refusal.sentence.contains(code.summary))
        // What the store says is English, and marked.
        let isOfLicence = LicenceReason.allCases.contains { $0.code == code }
        #expect((refusal.sentence(in: .japanese).language == .english) == !isOfLicence)
        #expect(isOfLicence || Self.page("ja").refusal(refusal).text.contains("role=\"alert\" lang=\"en\""))
        guard status >= 500 else { return }
        #expect(!refusal.sentence.contains("/srv") && !refusal.sentence.contains("errno"), "\(refusal.sentence)")
        #expect(!refusal.answer().text.contains("/srv") && !Self.page().refusal(refusal).text.contains("/srv"))
    }
}

/// Text as JSON.
private enum JSONText {
    static func literal(_ text: String) -> String {
        let array = JSONWriter.object { $0.member("t", text) }
        return String(array.dropFirst(5).dropLast())
    }
}
