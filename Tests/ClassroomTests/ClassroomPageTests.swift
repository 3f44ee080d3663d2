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
        let subtitles = [("ko", text), ("", ""), ("en\" onload=\"x", "")].enumerated().map { number, subtitle in
            (number, KeptSubtitle(name: subtitle.1, language: subtitle.0, isMachineMade: false, bytes: []))
        }
        return ClassroomPage.Watched(
            details: details, outline: outline, subtitles: subtitles, media: nil, at: 75, formToken: "\"><i>")
    }

    /// What is true of every page.
    private static func expectSound(_ answer: HTTPAnswer, title: String) {
        let (html, page) = (answer.text, Markup(answer.text))
        #expect(answer.field("Content-Type") == "text/html; charset=utf-8")
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">") && page.unbalanced.isEmpty, "\(page.unbalanced)")
        #expect(page["title"].map { Markup.unescaped($0.text) } == [title])
        #expect(page["h1"].map { Markup.unescaped($0.text) } == [title])
        // Nothing that the policy of the site would have to stop.
        let known: Set = [
            "html", "head", "meta", "title", "link", "script", "body", "header", "nav", "a", "main", "h1", "h2", "p",
            "ul", "ol", "li", "small", "form", "label", "input", "button", "video", "track",
        ]
        for tag in page.tags {
            #expect(known.contains(tag.name), "\(tag.name)")
            let names = tag.attributes.keys
            #expect(!names.contains { $0.hasPrefix("on") || $0 == "style" }, "\(tag)")
            #expect(!tag.attributes.values.contains { $0.lowercased().hasPrefix("javascript:") }, "\(tag)")
            for name in ["src", "href", "action", "poster"] {
                #expect(tag.attributes[name]?.hasPrefix("/") != false, "\(tag)")
            }
        }
        #expect(page["script"].allSatisfy { $0.attributes["src"] != nil && $0.text.isEmpty || $0.text == "\n" })
        #expect(page["style"].isEmpty && !html.contains("/store/"))
        // Everything has a name for those who do not see it.
        let labels = Set(page["label"].compactMap { $0.attributes["for"] })
        for input in page["input"] where input.attributes["type"] != "hidden" {
            #expect(labels.contains(input.attributes["id"] ?? ""), "\(input)")
        }
        for tag in page["a"] + page["button"] + page["label"] {
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
        let answer = ClassroomPage.watch(try Self.watched(text))
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
        #expect(page["h2"].map(\.text) == ["Chapters", "Chapters", "Bookmarks"])
        #expect(page["ol"].map { $0.attributes["lang"] } == ["ko", nil, nil])
        let marks = page["a"].filter { $0.attributes["data-at"] != nil }
        #expect(marks.map { $0.attributes["data-at"] } == ["0", "3", "172800", "3", "3"])
        #expect(marks.map { $0.attributes["href"] } == ["0", "3", "172800", "3", "3"].map { "\(place)?at=\($0)" })
        let names = ["From the beginning", "0:03 \(text)", "48:00:00 \(text)", "0:03 \(text)", "0:03 \(text)"]
        #expect(marks.map { Markup.unescaped($0.text) } == names)
        #expect(page["input"].map { $0.attributes["value"] } == ["\"><i>", "75"])
        #expect(page["form"].map { $0.attributes["action"] } == ["\(place)/plays"])
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
        let answer = ClassroomPage.watch(watched)
        Self.expectSound(answer, title: "Algebra")
        let page = Markup(answer.text)
        #expect(page["video"].first?.attributes["src"] == source)
        #expect(page["video"].first?.attributes["autoplay"] != nil)
        #expect(page["button"].first?.text == (at == 0 ? "Play" : "Play from 1:15"))
        #expect(answer.text.contains("From the beginning") == (at > 0))
    }

    @Test func `a lecture of which nothing is known has a page`() throws {
        let watched = ClassroomPage.Watched(
            details: try Self.lecture("<key>"), outline: ContentOutline(), subtitles: [], media: nil, at: 0,
            formToken: "")
        let answer = ClassroomPage.watch(watched)
        Self.expectSound(answer, title: "<key>")
        let page = Markup(answer.text)
        #expect(page["video"].first?.attributes["poster"] == nil && page["track"].isEmpty && page["h2"].isEmpty)
        #expect(page["video"].first?.attributes["data-duration"] == nil && page["ol"].isEmpty)
        #expect(page["button"].map(\.text) == ["Play"])
    }

    @Test(arguments: texts)
    func `the list shows what it knows as text`(text: String) throws {
        var lecture = try Self.lecture("a b", title: text)
        (lecture.content.course, lecture.content.teacher, lecture.content.duration) = (text, text, .seconds(3661))
        let answer = ClassroomPage.list([lecture], course: text, previous: "page=1", next: "course=a%26b&page=3")
        Self.expectSound(answer, title: "Classroom")
        let page = Markup(answer.text)
        let links = page["a"].dropFirst()
        #expect(links.map { Markup.unescaped($0.text) } == [text, text, "Previous page", "Next page"])
        let course = FormFields.text([("course", text)])
        let places = ["/lectures/a%20b", "?\(course)", "?page=1", "?course=a%26b&page=3"]
        #expect(links.map { $0.attributes["href"] } == places.map { "/classroom\($0)" })
        #expect(page["input"].first?.attributes["value"] == text)
        #expect(page["form"].first?.attributes["role"] == "search")
        #expect(answer.text.contains(" · 1:01:01</small>"))
    }

    @Test func `a list of nothing says so`() {
        let answer = ClassroomPage.list([], course: nil, previous: nil, next: nil)
        Self.expectSound(answer, title: "Classroom")
        let page = Markup(answer.text)
        #expect(page["p"].map(\.text) == ["There is no lecture that can be played."])
        #expect(page["ul"].isEmpty && page["nav"].count == 1 && page["input"].first?.attributes["value"] == "")
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
            #expect(refusal.sentence.hasSuffix(".") && refusal.code == nil)
            let page = ClassroomPage.refusal(refusal)
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
        let page = ClassroomPage.refusal(.manyPlays, back: segment)
        Self.expectSound(page, title: "Not possible")
        let links = Markup(page.text)["a"].dropFirst().map { $0.attributes["href"] }
        #expect(links == (place.map { ["/classroom/lectures/\($0)"] } ?? []))
    }

    @Test(arguments: LicenceReason.allCases)
    func `what a licence says is no error of the server`(reason: LicenceReason) {
        let refusal = ClassroomRefusal(LectureError(reason.code, detail: "film"))
        #expect(refusal.status == (reason == .mediaIncomplete ? 409 : 403), "\(reason.name)")
        #expect(refusal.code == reason.code.number && refusal.name == reason.code.name)
        let page = ClassroomPage.refusal(refusal)
        #expect(page.text.contains("(code \(reason.code.number))</p>"))
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
        guard status >= 500 else { return }
        #expect(!refusal.sentence.contains("/srv") && !refusal.sentence.contains("errno"), "\(refusal.sentence)")
        #expect(!refusal.answer().text.contains("/srv") && !ClassroomPage.refusal(refusal).text.contains("/srv"))
    }
}

/// Text as JSON.
private enum JSONText {
    static func literal(_ text: String) -> String {
        let array = JSONWriter.object { $0.member("t", text) }
        return String(array.dropFirst(5).dropLast())
    }
}
