import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import Testing

@testable import LectureServe

@Suite
struct HTMLTests {
    @Test(arguments: [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"), ("\"x\" 'y'", "&quot;x&quot; &#39;y&#39;"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"), ("&amp;", "&amp;amp;"),
        ("a\u{0}b\u{1B}c\u{7F}", "a\u{FFFD}b\u{FFFD}c\u{FFFD}"), ("a\u{202E}b\u{2066}", "a\u{FFFD}b\u{FFFD}"),
        ("한국어 日本語 🎓", "한국어 日本語 🎓"), ("line\nbreak", "line\nbreak"), ("", ""),
    ])
    func `text becomes markup in one place`(text: String, markup: String) {
        #expect(HTML(text).markup == markup)
        #expect(HTML("p", [:], HTML(text)).markup == "<p>\(markup)</p>")
        let attribute = text.isEmpty ? "title" : "title=\"\(markup)\""
        #expect(HTML("p", ["title": text]).markup == "<p \(attribute)></p>")
    }

    @Test func `elements are well-formed`() {
        #expect(HTML("br", [:]).markup == "<br>")
        #expect(HTML("input", ["required": "", "value": "", "name": nil]).markup == "<input required value=\"\">")
        #expect(HTML("ul", [:], HTML("li", [:]), HTML([HTML("a"), HTML("b")])).markup == "<ul><li></li>ab</ul>")
        let document = HTML.document("ko", HTML("head", [:]), HTML("body", [:]))
        #expect(
            String(decoding: document, as: UTF8.self)
                == "<!DOCTYPE html>\n<html lang=\"ko\"><head></head><body></body></html>\n")
    }

    @Test(arguments: [
        ("/lectures?state=failed", true), ("/", true), ("//evil.example", false), ("https://evil.example/", false),
        ("/\\evil.example", false), ("", false), ("lectures", false), ("/a b", false), ("/a\nb", false), ("/é", false),
        ("javascript:alert(1)", false),
    ])
    func `only a path of this server is led back to`(path: String, isLocal: Bool) {
        #expect((PageContext.localPath(path) != nil) == isLocal)
        #expect(PageContext.localPath("/" + String(repeating: "a", count: 2048)) == nil)
        #expect(PageContext.localPath(nil) == nil)
    }
}

@Suite
struct PageTextTests {
    @Test(arguments: PageText.allCases)
    func `every text has all languages, with the same places`(text: PageText) throws {
        let texts = PageLanguage.allCases.map { text.text($0) }
        for text in texts {
            #expect(!text.isEmpty)
            for place in ["{0}", "{1}", "{2}"] { #expect(text.contains(place) == texts[0].contains(place), "\(text)") }
        }
        let isAlike: Set<PageText> = [.digest, .endsOn]
        if !isAlike.contains(text) { #expect(Set(texts).count == 3, "\(texts)") }
    }

    @Test func `values stand where they belong, and are not read themselves`() {
        #expect(PageText.spaceOf.text(.english, ["1 GB", "2 GB"]) == "1 GB of 2 GB")
        #expect(PageText.spaceOf.text(.korean, ["1 GB", "2 GB"]) == "2 GB 중 1 GB")
        #expect(PageText.spaceOf.text(.english, ["{1}", "{0}"]) == "{1} of {0}")
        #expect(PageText.speed.text(.english) == "{0}/s")
    }

    @Test(arguments: [
        ("ko", "", PageLanguage.korean), ("ja-JP,en;q=0.5", "", .japanese), ("de,ko;q=0.4,en;q=0.3", "", .korean),
        ("en;q=0.2,ja;q=0.9", "", .japanese), ("de", "", .english), ("", "", .english), ("ko;q=0", "", .english),
        ("ko", "language=ja", .japanese), ("ko", "a=b; language=en", .english), ("ko", "language=xx", .korean),
        (";;,,q=", "language", .english),
    ])
    func `a choice comes before what the browser prefers`(accepted: String, cookie: String, language: PageLanguage) {
        let fields = [HTTPField(name: "Accept-Language", value: accepted), HTTPField(name: "Cookie", value: cookie)]
        #expect(PageLanguage(HTTPRequestHead(method: "GET", path: "/", fields: fields)) == language)
    }

    @Test func `figures and times are written as each language does`() {
        let formats = PageLanguage.allCases.map { PageFormat(language: $0) }
        let time = Timestamp(milliseconds: 1_795_842_367_000)
        #expect(formats.map { $0.day(time) } == ["28 Nov 2026", "2026년 11월 28일", "2026年11月28日"])
        #expect(
            formats[0].moment(time).markup
                == "<time datetime=\"2026-11-28T05:06:07.000Z\">28 Nov 2026, 05:06 UTC</time>")
        #expect(formats.map { $0.duration(.seconds(7500)) } == ["2 h 5 min", "2시간 5분", "2時間 5分"])
        #expect(formats[0].duration(.zero) == "0 s" && formats[0].duration(.seconds(90_000)) == "1 d 1 h")
        let sizes: [(Int64, String)] = [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_549_999, "1.5 MB"), (999_949, "1.0 MB"),
            (123_456_789, "123 MB"), (5_000_000_000, "5.0 GB"), (.max, "9223 PB"), (-1, "0 B"),
        ]
        for (bytes, text) in sizes { #expect(formats[0].size(bytes) == text.replacing(" ", with: "\u{A0}")) }
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (100_000, "100,000"), (-1234, "-1,234")] {
            #expect(formats[0].number(number) == text)
        }
    }
}
