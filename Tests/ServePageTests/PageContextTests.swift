import Foundation
import LectureFormats
import LectureHTTP
import LectureKit
import LectureModel
import Testing

@testable import LectureServe

/// What pages are made of: addresses, forms, parts, tables, and what the query of the list says.
struct PageContextTests {
    private static let now = Timestamp(milliseconds: 1_795_842_367_000)

    static func context(
        _ path: String = "/lectures", query: [(String, String)] = [], fields: [(String, String)] = [],
        person: SitePerson? = SitePerson(name: "ada", role: .operator), formToken: String? = "form-1"
    ) -> PageContext {
        let head = HTTPRequestHead(
            method: "GET", path: path, fields: fields.map { HTTPField(name: $0.0, value: $0.1) },
            query: query.map { HTTPField(name: $0.0, value: $0.1) })
        let request = SiteRequest(
            head: head, path: path.split(separator: "/").map(String.init), body: [], peer: nil, person: person,
            formToken: formToken)
        return PageContext(request, now: now)
    }

    @Test(arguments: [
        ("/", [], "/"), ("/lectures", [], "/lectures"), ("/lectures/a b", [], "/lectures/a%20b"),
        ("/lectures/강의", [], "/lectures/%EA%B0%95%EC%9D%98"), ("/lectures/a?b", [], "/lectures/a%3Fb"),
        ("/lectures", [("state", "failed")], "/lectures?state=failed"),
        ("/lectures", [("search", "a&b=c"), ("sort", "size")], "/lectures?search=a%26b%3Dc&sort=size"),
        ("/lectures", [("note", "paused"), ("code", "-1"), ("after", "x")], "/lectures?after=x"),
        ("/lectures", [("note", "paused")], "/lectures"),
    ])
    func `a page knows its address, without what was said on it`(
        path: String, query: [(String, String)], address: String
    ) {
        #expect(Self.context(path, query: query).address == address)
        #expect(PageContext.localPath(address) == address)
    }

    @Test func `a form has its token, and where it leads back to`() {
        let markup = Self.context(query: [("state", "failed")]).button("/lectures/a/pause", .pause).markup
        #expect(
            markup == #"<form method="post" action="/lectures/a/pause">"#
                + #"<input type="hidden" name="form_token" value="form-1">"#
                + #"<input type="hidden" name="back" value="/lectures?state=failed"><button>Pause</button></form>"#)
    }

    @Test func `a button says what it is about, and has further fields`() {
        let markup = Self.context().button(
            "/x", .remove, subject: "A \"title\" <b>", style: "bad", fields: [("confirmed", "yes")]
        ).markup
        #expect(markup.contains(#"<button class="bad" aria-label="Remove: A &quot;title&quot; &lt;b&gt;">Remove"#))
        #expect(markup.contains(#"<input type="hidden" name="confirmed" value="yes">"#))
        #expect(Self.context(formToken: nil).button("/x", .pause).markup.contains(#"name="form_token" value="""#))
    }

    @Test func `a part can be found by the script and by readers`() {
        let markup = Self.context().part("disk", .disk, HTML("p", [:], HTML("1"))).markup
        #expect(
            markup == #"<section id="disk" data-part="disk" aria-labelledby="disk-title">"#
                + #"<h2 id="disk-title">Disk</h2><p>1</p></section>"#)
    }

    @Test func `facts and tables name their values`() {
        let context = Self.context(fields: [("Accept-Language", "ko")])
        #expect(
            context.facts([(.size, HTML("1")), (.title, HTML("<"))]).markup
                == "<dl class=\"facts\"><div><dt>크기</dt><dd>1</dd></div><div><dt>제목</dt><dd>&lt;</dd></div></dl>")
        #expect(
            context.table([.size, .title], [[HTML("1"), HTML("2")]]).markup
                == "<table><thead><tr><th scope=\"col\">크기</th><th scope=\"col\">제목</th></tr></thead>"
                + "<tbody><tr><td data-head=\"크기\">1</td><td data-head=\"제목\">2</td></tr></tbody></table>")
        #expect(context.table([.size], []).markup.hasSuffix("<tbody></tbody></table>"))
    }

    @Test func `sentences of the store are marked as English elsewhere`() {
        #expect(Self.context().sentence("why & how").markup == "<span>why &amp; how</span>")
        for language in ["ko", "ja"] {
            let context = Self.context(fields: [("Accept-Language", language)])
            #expect(context.sentence("why").markup == "<span lang=\"en\">why</span>")
        }
    }

    @Test func `only an operator gets navigation, script and sign-out`() {
        let cases: [(SitePerson?, Bool)] = [
            (SitePerson(name: "ada", role: .operator), true), (SitePerson(name: "bo", role: .viewer), false),
            (SitePerson(name: "hq", role: .peer), false), (nil, false),
        ]
        for (person, isKnown) in cases {
            let text = Self.text(Self.context(person: person).page(title: "T", [HTML("p", [:])]))
            for piece in ["/script.js", "aria-label=\"Pages\"", "/sign-out", "id=\"connection\""] {
                #expect(text.contains(piece) == isKnown, "\(piece)")
            }
            #expect(text.contains("<link rel=\"stylesheet\" href=\"/style.css\">"))
            #expect(text.contains("<a href=\"#content\" class=\"skip\">Skip to content</a>"))
        }
    }

    @Test(arguments: [
        (PageText.overview, "/"), (.lectures, "/lectures"), (.licences, "/licences"), (.reports, "/reports"),
    ])
    func `the navigation marks the page`(place: PageText, path: String) {
        let text = Self.text(Self.context().page(title: "T", place: place, []))
        #expect(text.components(separatedBy: "aria-current").count == 2)
        #expect(text.contains("<a href=\"\(path)\" aria-current=\"page\">"))
    }

    @Test(arguments: [
        ("paused", "", "<p class=\"note\" role=\"status\">The download is paused.</p>"),
        ("removed", "5", "<p class=\"note\" role=\"status\">The lecture is being removed.</p>"),
        ("failed", "x", "<p class=\"note bad\" role=\"status\">That was not possible: Unknown</p>"),
        ("<script>", "", "<h1>T</h1></main>"), ("", "", "<h1>T</h1></main>"),
    ])
    func `what a form did is shown by its code, and no text is taken from the address`(
        note: String, code: String, markup: String
    ) {
        let text = Self.text(Self.context(query: [("note", note), ("code", code)]).page(title: "T", []))
        #expect(text.contains(markup), "\(text)")
    }

    @Test func `a failure is shown with its sentence and its number`() {
        let code = LectureError.Code.unknownContent
        let query = [("note", "failed"), ("code", "\(code.number)")]
        let text = Self.text(Self.context(query: query).page(title: "T", []))
        #expect(text.contains("That was not possible: ") && text.contains("(\(code.number))"))
    }

    private static func text(_ answer: HTTPAnswer) -> String {
        guard case .bytes(let bytes) = answer.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The list's query

    @Test(arguments: [
        ([], "/lectures"), ([("state", "failed")], "/lectures?state=failed"), ([("state", "broken")], "/lectures"),
        ([("type", "sample")], "/lectures?type=sample"), ([("type", "film")], "/lectures"),
        ([("course", "Algebra I")], "/lectures?course=Algebra%20I"), ([("course", "")], "/lectures"),
        ([("sort", "size")], "/lectures?sort=size"), ([("sort", "added")], "/lectures"),
        ([("sort", "random")], "/lectures"), ([("expiring", "7")], "/lectures?expiring=7"),
        ([("expiring", "8")], "/lectures"), ([("expiring", "-7")], "/lectures"), ([("expiring", "x")], "/lectures"),
        ([("search", "선형")], "/lectures?search=%EC%84%A0%ED%98%95&sort=title"),
        ([("search", "x"), ("sort", "size")], "/lectures?search=x&sort=title"),
        ([("unknown", "1")], "/lectures"), ([("state", "failed"), ("state", "queued")], "/lectures?state=failed"),
        (
            [("search", "a"), ("course", "c"), ("state", "stopped"), ("type", "downloading"), ("expiring", "30")],
            "/lectures?search=a&course=c&state=stopped&type=downloading&expiring=30&sort=title"
        ),
    ])
    func `the list keeps what can be used of its query`(query: [(String, String)], address: String) {
        #expect(LecturesPage.Query(Self.context(query: query)).address() == address)
    }

    @Test func `texts that are too long are left out`() {
        let (long, longest) = (String(repeating: "a", count: 513), String(repeating: "a", count: 512))
        #expect(LecturesPage.Query(Self.context(query: [("search", long)])).filter.search == nil)
        #expect(LecturesPage.Query(Self.context(query: [("search", longest)])).filter.search == longest)
        #expect(LecturesPage.Query(Self.context(query: [("after", long)])).after == nil)
    }

    @Test func `a page beside a lecture keeps the filter`() throws {
        let query = LecturesPage.Query(Self.context(query: [("state", "failed"), ("after", "k 1")]))
        #expect(query.after?.text == "k 1" && query.before == nil)
        let key = try ContentKey("k&2")
        #expect(query.address(("after", key)) == "/lectures?state=failed&after=k%262")
        #expect(query.address(("before", key)) == "/lectures?state=failed&before=k%262")
    }

    @Test(arguments: [1, 7, 30, 60])
    func `licences that end within some days are those before their end`(days: Int) {
        let query = LecturesPage.Query(Self.context(query: [("expiring", "\(days)")]))
        #expect(query.filter.expiresBefore == Self.now + .seconds(Int64(days) * 86_400))
        #expect(query.days == days)
    }

    // MARK: Live

    @Test(arguments: [
        (Set<String>(), "event: change\ndata: {\"changed\":[],\"progress\":[]}\n\n"),
        (
            ["status", "disk"] as Set<String>,
            "event: change\ndata: {\"changed\":[\"disk\",\"status\"],\"progress\":[]}\n\n"
        ),
    ])
    func `a message names the parts that have changed, in order`(parts: Set<String>, text: String) {
        var changes = PageLive.Changes()
        #expect(changes.isEmpty)
        changes.parts = parts
        #expect(changes.isEmpty == parts.isEmpty)
        #expect(String(decoding: PageLive.message(changes, .english), as: UTF8.self) == text)
    }

    @Test func `a full disk concerns the disk, and other failures do not`() {
        let full = PageLive.parts(.trouble(LectureError(.storageFull)))
        let other = PageLive.parts(.trouble(LectureError(.readFile)))
        #expect(full.contains("disk") && full.contains("attention"))
        #expect(!other.contains("disk") && other.contains("attention"))
    }

    @Test func `redirects add what was done to any address`() {
        let cases: [(String, PageNote, LectureError?, String)] = [
            ("/lectures", .paused, nil, "/lectures?note=paused"),
            ("/lectures?state=failed", .resumed, nil, "/lectures?state=failed&note=resumed"),
            (
                "/reports", .failed, LectureError(.parameter),
                "/reports?note=failed&code=\(LectureError.Code.parameter.number)"
            ),
        ]
        for (path, note, error, location) in cases {
            let answer = PageActions.redirect(path, note, error)
            #expect(answer.status == 303)
            #expect(answer.fields == [HTTPField(name: "Location", value: location)])
        }
    }
}
