import LectureModel
import Testing

@testable import LectureServe

/// Texts with figures in them, markup, and segments of addresses, as tables.
struct PagePhraseTests {
    @Test(arguments: [
        (PageText.lecturesCount, ["100,000"], "100,000 lectures", "강의 100,000개", "100,000件の講義"),
        (.oneLecture, [], "1 lecture", "강의 1개", "1件の講義"), (.oneDay, [], "1 day", "1일 이내", "1日以内"),
        (.days, ["30"], "30 days", "30일 이내", "30日以内"),
        (.spaceOf, ["1 GB", "2 GB"], "1 GB of 2 GB", "2 GB 중 1 GB", "2 GB のうち 1 GB"),
        (.progressOf, ["Waves", "40"], "Waves: 40 % received", "Waves: 40% 수신", "Waves: 40% 受信済み"),
        (.speed, ["1.2 MB"], "1.2 MB/s", "초당 1.2 MB", "毎秒 1.2 MB"),
        (.timeLeft, ["5 min"], "5 min left", "5 min 남음", "残り 5 min"),
        (.endsOn, ["Waves", "1 Dec"], "Waves: 1 Dec", "Waves: 1 Dec", "Waves: 1 Dec"),
        (.resultFailed, ["x"], "That was not possible: x", "처리할 수 없습니다: x", "実行できませんでした: x"),
        (.failed, ["x"], "The store cannot be read: x", "저장소를 읽을 수 없습니다: x", "ストアを読み取れません: x"),
        (.next, [], "Next", "다음", "次へ"), (.previous, [], "Previous", "이전", "前へ"),
        (.signIn, [], "Sign in", "로그인", "サインイン"), (.remove, [], "Remove", "삭제", "削除"),
        (.pause, [], "Pause", "일시 중지", "一時停止"), (.resume, [], "Resume", "다시 시작", "再開"),
        (.retry, [], "Try again", "다시 시도", "再試行"), (.cancel, [], "Cancel", "취소", "キャンセル"),
        (.renew, [], "Renew licence", "라이선스 갱신", "ライセンスを更新"),
    ])
    func `figures stand where each language has them`(
        text: PageText, values: [String], english: String, korean: String, japanese: String
    ) {
        #expect(PageLanguage.allCases.map { text.text($0, values) } == [english, korean, japanese])
        // Values that are missing leave their places, and further ones are not used.
        #expect(PageLanguage.allCases.map { text.text($0, values + ["more"]) } == [english, korean, japanese])
        if let last = values.indices.last {
            let fewer = text.text(.english, Array(values.dropLast()))
            #expect(fewer.contains("{\(last)}"))
        }
    }

    @Test func `values with braces are not read again`() {
        let rows = [
            (["{0}", "{1}"], "{0} of {1}"), (["{1}", "x"], "{1} of x"), (["}{", "{}"], "}{ of {}"), (["", ""], " of "),
            (["{", "}"], "{ of }"), (["a{0}b", "c"], "a{0}b of c"),
        ]
        for (values, text) in rows { #expect(PageText.spaceOf.text(.english, values) == text) }
    }

    @Test func `markup is made of elements, attributes and text`() {
        let rows: [(HTML, String)] = [
            (HTML("p", [:]), "<p></p>"), (HTML("p", [:], HTML("a<b")), "<p>a&lt;b</p>"),
            (HTML("p", ["class": "x"], HTML("a"), HTML("b")), "<p class=\"x\">ab</p>"),
            (HTML("a", ["href": "/x?a=1&b=2"], HTML("x")), "<a href=\"/x?a=1&amp;b=2\">x</a>"),
            (
                HTML("input", ["type": "hidden", "value": "\"'<>&"]),
                "<input type=\"hidden\" value=\"&quot;&#39;&lt;&gt;&amp;\">"
            ),
            (HTML("option", ["value": "", "selected": ""], HTML("x")), "<option value=\"\" selected>x</option>"),
            (HTML("option", ["value": "a", "selected": nil], HTML("x")), "<option value=\"a\">x</option>"),
            (HTML("img", ["alt": "", "src": "/x"]), "<img alt src=\"/x\">"), (HTML("hr", [:]), "<hr>"),
            (HTML([]), ""), (HTML.none, ""), (HTML([HTML("a"), .none, HTML("b")]), "ab"),
            (HTML("ul", [:], [1, 2].map { HTML("li", [:], HTML("\($0)")) }), "<ul><li>1</li><li>2</li></ul>"),
            (HTML("p", ["title": "a\nb\tc"]), "<p title=\"a\nb\tc\"></p>"),
            (HTML("\u{80}\u{9F}\u{A0}"), "\u{FFFD}\u{FFFD}\u{A0}"), (HTML("\u{200E}\u{200F}"), "\u{200E}\u{200F}"),
            (HTML("\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}"), String(repeating: "\u{FFFD}", count: 5)),
            (HTML("\u{2066}\u{2067}\u{2068}\u{2069}"), String(repeating: "\u{FFFD}", count: 4)),
            (HTML("\r\u{0}\u{8}\u{B}\u{C}"), String(repeating: "\u{FFFD}", count: 5)),
        ]
        for (html, markup) in rows { #expect(html.markup == markup) }
    }

    @Test(arguments: [
        ("a", "a"), ("a b", "a%20b"), ("a/b", "a%2Fb"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("a%b", "a%25b"),
        ("a&b=c", "a%26b%3Dc"), ("강", "%EA%B0%95"), ("🎓", "%F0%9F%8E%93"), ("", ""), ("a-b_c.d", "a-b_c.d"),
        ("\"<>'", "%22%3C%3E%27"), ("a+b", "a%2Bb"), ("\\", "%5C"), ("\n", "%0A"),
    ])
    func `a text is one segment of an address`(text: String, segment: String) {
        #expect(PageContext.segment(text) == segment)
        #expect(PageContext.localPath("/\(segment)") == "/\(segment)")
    }

    @Test(arguments: [
        ("/", true), ("/lectures", true), ("/lectures?a=b&c=%20#x", true), ("/a//b", true), ("//", false),
        ("///a", false), ("/\\", false), ("/a\\b", false), ("\\/a", false), ("http:/a", false), ("/a\u{7F}", false),
        ("/\u{0}", false), ("/\t/a", false), (" /a", false), ("/a ", false), ("/강", false), ("?a", false),
        ("#a", false),
        ("/@evil.example", true), ("/.", true), ("/..", true),
    ])
    func `only a plain path is led back to`(text: String, isLocal: Bool) {
        #expect(PageContext.localPath(text) == (isLocal ? text : nil))
    }

    @Test func `paths of lectures are those that the server reads`() throws {
        for key in ["algebra-01", "a/b", "..", "~x", "강의 1", "a?b", "a%2Fb"] {
            let path = PageContext.path(of: try ContentKey(key))
            #expect(path == "/lectures/\(LectureSegment.text(key))")
            #expect(path.split(separator: "/").count == 2 && PageContext.localPath(path) == path)
        }
    }
}
