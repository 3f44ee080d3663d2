import LectureFormats
import Testing

/// SAMI as people write it, and what becomes of it.
@Suite struct SAMITests {
    /// A text as a list of its tracks: `[class lang] start-end text; …`, lines joined by `|`.
    private static func shown(_ text: String) -> String {
        do {
            return try SAMI(Array(text.utf8)).tracks.map { track in
                let cues = track.cues.map { cue in
                    let text = String(decoding: cue.text, as: UTF8.self).replacing("\n", with: "|")
                    return "\(cue.start)-\(cue.end) \(text)"
                }
                let name = [track.name, track.language].filter { !$0.isEmpty }.joined(separator: " ")
                return "[\(name)] \(cues.joined(separator: "; "))"
            }.joined(separator: " ")
        } catch { return "\(error)" }
    }

    /// As most files in Korea are.
    private static let usual = """
        <SAMI>
        <HEAD>
        <TITLE>강의 1</TITLE>
        <STYLE TYPE="text/css">
        <!--
        P { margin-left:8pt; font-size:20pt; text-align:center; color:white; }
        .KRCC { Name:한국어; lang:ko-KR; SAMIType:CC; }
        .ENCC { Name:English; lang:en-US; SAMIType:CC; }
        #STDPrn { Name:Standard; }
        -->
        </STYLE>
        </HEAD>
        <BODY>
        <SYNC Start=1000><P Class=KRCC>
        안녕하세요<br>
        <font color="#FF0000">여러분</font>
        <SYNC Start=1000><P Class=ENCC>Hello
        <SYNC Start=3000><P Class=KRCC>&nbsp;
        <SYNC Start=4000><P Class=ENCC>&nbsp;
        <SYNC Start=5000><P Class=KRCC>끝
        <SYNC Start=7000><P Class=KRCC>&nbsp;
        </BODY>
        </SAMI>
        """

    @Test func `each class is a track with the name and the language of the style`() throws {
        let expected = "[한국어 ko-KR] 1000-3000 안녕하세요|여러분; 5000-7000 끝 [English en-US] 1000-4000 Hello"
        #expect(Self.shown(Self.usual) == expected)
        #expect(Self.shown(Self.usual.replacing("\n", with: "\r\n")) == expected)
        #expect(Self.shown("\u{FEFF}" + Self.usual) == expected)
    }

    @Test func `a track is written as WebVTT`() throws {
        let text = """
            <SYNC Start=0><P>a & b<br>c &lt;i&gt; --> d
            <SYNC Start=3723004><P>e
            <SYNC Start=359999999><P>f
            """
        let track = try #require(try SAMI(Array(text.utf8)).tracks.first)
        #expect(
            String(decoding: track.webVTT, as: UTF8.self) == """
                WEBVTT

                00:00:00.000 --> 01:02:03.004
                a &amp; b
                c &lt;i&gt; --&gt; d

                01:02:03.004 --> 99:59:59.999
                e

                99:59:59.999 --> 100:00:09.999
                f


                """)
    }

    @Test(arguments: [
        // The end of a text: the next one of its class, its own, ten seconds at last.
        ("<SYNC Start=1><P>a<SYNC Start=5><P>b", "[] 1-5 a; 5-10005 b"),
        ("<SYNC Start=1><P>a<SYNC Start=5><P>&nbsp;<SYNC Start=9><P>b", "[] 1-5 a; 9-10009 b"),
        ("<SYNC Start=1 End=4><P>a<SYNC Start=9><P>b", "[] 1-4 a; 9-10009 b"),
        ("<SYNC Start=1 End=12><P>a<SYNC Start=9><P>b", "[] 1-9 a; 9-10009 b"),
        ("<SYNC Start=5 End=5><P>a<SYNC Start=9 End=2><P>b", "[] 5-9 a; 9-10009 b"),
        (
            "<SYNC Start=1><P Class=A>a<SYNC Start=2><P Class=B>b<SYNC Start=3><P Class=A>c<SYNC Start=8><P Class=B>",
            "[A] 1-3 a; 3-10003 c [B] 2-8 b"
        ),
        ("<SYNC Start=1><P>a<SYNC Start=5></SYNC>", "[] 1-5 a"),
        ("<SYNC Start=1><P>a<SYNC Start=5>&nbsp;", "[] 1-5 a"),
        ("<SYNC Start=1><P>a</P></SYNC><SYNC Start=5><P></P></SYNC>", "[] 1-5 a"),
        // Any order, and the same time twice.
        ("<SYNC Start=9><P>c<SYNC Start=1><P>a<SYNC Start=5><P>b", "[] 1-5 a; 5-9 b; 9-10009 c"),
        ("<SYNC Start=1><P>a<SYNC Start=1><P>b<SYNC Start=2><P>", "[] 1-2 a|b"),
        ("<SYNC Start=1><P>&nbsp;<SYNC Start=1><P>b<SYNC Start=2><P>", "[] 1-2 b"),
        ("<SYNC Start=1><P Class=A ID=Source>Kim<P Class=A>a<SYNC Start=2><P Class=A>", "[A] 1-2 Kim|a"),
    ])
    func `a text is shown until the next one of its class`(text: String, expected: String) {
        #expect(Self.shown(text) == expected)
    }

    @Test(arguments: [
        "<SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC>&nbsp;",
        "<sync start=7><p class=krcc>a<sync start=9><p class=KRCC>&nbsp;",
        "<Sync Start=\"7\"><P Class='KRCC'>a<Sync Start='9'><P Class=\"krcc\">&nbsp;",
        "<SYNC  Start = 7 ><P  Class = KRCC >a<SYNC\nStart\t=\r\n9><P\nClass=KRCC>&nbsp;",
        "<SYNC Start=7ms><P Class=KRCC>a<SYNC Start=9.5><P Class=KRCC>&nbsp;",
        "<SYNC Start=0007><P Class=KRCC >a</P ></SYNC ><SYNC Start=9/><P Class=KRCC/>&nbsp;",
        "<SYNC x Start=7 y=z Start=8><P id=\"p\" align=left Class=KRCC lang=\"x\">a<SYNC Start=9><P Class=KRCC>",
        "<SYNC Start=7 <P Class=KRCC>a<SYNC Start=9><P Class=KRCC",
        "<SYNC Start=\"7><P Class=\"KRCC>a<SYNC Start='9><P Class='KRCC>&nbsp",
        "junk <P Class=X>head</P> <SYNC><P Class=X>x<SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC>",
        "<SYNC Start=-5><P Class=X>before<SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC>",
        "<SYNC Start=360000000><P Class=X>never<SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC>",
        "<SYNC Start=99999999999999999999><P Class=X>never<SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC>",
        "<SYNC Start=x><P Class=X>never</SYNC><SYNC Start=7><P Class=KRCC>a</SYNC>b<SYNC Start=9><P Class=KRCC>",
        "<!-- <SYNC Start=1><P Class=X>x --><SYNC Start=7><P Class=KRCC><!-- c -->a<SYNC Start=9><P Class=KRCC>",
        "<?xml?><!DOCTYPE sami><SYNC Start=7><P Class=KRCC>a<SYNC Start=9><P Class=KRCC><!-- no end",
        "<SYNC Start=7><P Class=KRCC><!-- no end>a<SYNC Start=9><P Class=KRCC>",
    ])
    func `tags are read however they are written`(text: String) {
        #expect(Self.shown(text).uppercased() == "[KRCC] 7-9 A")
    }

    @Test(arguments: [
        ("a  b\n\tc", "a b c"), ("  a <br> b  ", "a|b"), ("a<br/><BR /><br>b", "a|b"), ("<br>a<br>", "a"),
        ("<b>a</b><I>b</I><font color=red>c</font><span>d</span>", "abcd"), ("a<div>b</div>", "ab"),
        ("a&nbsp;&nbsp;b", "a b"), ("a&nbspb", "a b"), ("&NBSP;a", "a"), ("a\u{A0}\u{A0}b\u{A0}", "a b"),
        ("&amp;&lt;&gt;&quot;&apos;", "&amp;&lt;&gt;\"'"), ("&AMP;&amp", "&amp;&amp;"),
        ("&#44032;&#xAC00;&#XAC00", "가가가"), ("&#65;&#x41;&#65", "AAA"), ("&hellip;&mdash;&ldquo;&rdquo;", "…—“”"),
        ("&#60;script&#62;", "&lt;script&gt;"), ("&lt;b&gt;", "&lt;b&gt;"), ("&amp;lt;", "&amp;lt;"),
        ("&#0;&#xD800;&#x110000;", "\u{FFFD}\u{FFFD}\u{FFFD}"), ("a&#10;b&#32;c&#160;d", "a b c d"),
        ("a&#x85;b&#7;c\u{7}\u{85}\u{7F}d", "abcd"),
        ("&unknown; & &; &# &#x;", "&amp;unknown; &amp; &amp;; &amp;# &amp;#x;"),
        ("&#99999999999999;", "&amp;#99999999999999;"), ("3 < 4 > 2", "3 &lt; 4 &gt; 2"), ("<3", "&lt;3"),
        ("<안녕>", "&lt;안녕&gt;"), ("a --> b", "a --&gt; b"),
        ("00:00:01.000 --> 00:00:02.000", "00:00:01.000 --&gt; 00:00:02.000"),
        ("NOTE a", "NOTE a"), ("<script>x</script>", "x"), ("<img src=x onerror=y>a", "a"), ("a<", "a&lt;"),
        ("é\u{1F600}<br>\u{200B}", "é\u{1F600}|\u{200B}"), ("\u{3000}a", "\u{3000}a"),
    ])
    func `what is shown is text, and nothing else`(inside: String, expected: String) {
        #expect(Self.shown("<SYNC Start=1><P>\(inside)<SYNC Start=2><P>") == "[] 1-2 \(expected)")
    }

    @Test(arguments: [
        // Without a class: of the first class that has texts.
        (".A{Name:One}.B{Name:Two}", "<P Class=B>b<SYNC Start=2><P>c<SYNC Start=3><P Class=B>", "[Two] 1-2 b; 2-3 c"),
        (".A{Name:One}.B{Name:Two}", "<P>a", "[One] 1-10001 a"),
        (".A{Name:One;lang:en}", "plain", "[One en] 1-10001 plain"),
        ("", "plain", "[] 1-10001 plain"), ("", "<P>a", "[] 1-10001 a"), ("", "<P Class=X>a", "[X] 1-10001 a"),
        // What a rule says.
        (".A { name : \"One\" ; LANG : 'ko-KR' ; }", "<P Class=a>a", "[One ko-KR] 1-10001 a"),
        (".A{lang:ko}", "<P Class=A>a", "[A ko] 1-10001 a"), (".A{Name:}", "<P Class=A>a", "[A] 1-10001 a"),
        (".A{lang:ko}\n.A{lang:en;Name:x}", "<P Class=A>a", "[x en] 1-10001 a"),
        ("P.A, .B{lang:ko}", "<P Class=A>a<P Class=B>b", "[A ko] 1-10001 a [B ko] 1-10001 b"),
        ("/* v1.0 */\n.A{lang:ko}", "<P Class=A>a", "[A ko] 1-10001 a"),
        ("<!-- .A{lang:ko}", "<P Class=A>a", "[A ko] 1-10001 a"),
        (".A{lang:ko", "<P Class=A>a", "[A ko] 1-10001 a"), ("}}{{.A{lang:ko}", "<P Class=A>a", "[A] 1-10001 a"),
        (".A{lang:\"><script>}", "<P Class=A>a", "[A] 1-10001 a"), (".A{lang:k}", "<P Class=A>a", "[A] 1-10001 a"),
        (".A{lang:한국}", "<P Class=A>a", "[A] 1-10001 a"), (".{lang:ko}", "<P Class=A>a", "[A] 1-10001 a"),
        (".A{Name:a\u{7}b\u{85}c}", "<P Class=A>a", "[abc] 1-10001 a"),
    ])
    func `styles name classes`(style: String, body: String, expected: String) {
        #expect(Self.shown("<STYLE>\(style)</STYLE><SYNC Start=1>\(body)") == expected)
        // A style whose end was forgotten ends with the body, or with the first text.
        #expect(Self.shown("<style>\(style)<BODY><SYNC Start=1>\(body)") == expected)
        #expect(Self.shown("<style>\(style)<SYNC Start=1>\(body)") == expected)
    }

    @Test(arguments: [
        "", "text", "<SAMI></SAMI>", "<SAMI><BODY></BODY></SAMI>", "<SYNC Start=1>", "<SYNC Start=1><P>&nbsp;",
        "<SYNC><P>a", "<P>a", "<STYLE>.A{Name:x}", "<", "<!--", "<SYNC Start=1", "&", "{\"json\":true}",
    ])
    func `what shows nothing is none`(text: String) { #expect(Self.shown(text) == "noCues") }

    // MARK: Limits

    @Test func `a long file is refused, and the longest is not`() {
        let start = Array("<SYNC Start=1><P>a".utf8)
        let space = [UInt8](repeating: 0x20, count: SAMI.longest - start.count)
        #expect(throws: Never.self) { try SAMI(start + space) }
        #expect(throws: SAMI.Refusal.tooLong) { try SAMI(start + space + [0x20]) }
    }

    @Test func `too many paragraphs are refused`() {
        let one = Array("<SYNC Start=1>".utf8)
        var text = Array("<SYNC Start=1>a".utf8)
        for _ in 1..<SAMI.mostParagraphs { text += one }
        #expect(throws: Never.self) { try SAMI(text) }
        #expect(throws: SAMI.Refusal.tooLong) { try SAMI(text + one) }
    }

    @Test func `of many classes the first are tracks`() throws {
        let text = (0..<100).map { "<SYNC Start=1><P Class=C\($0)>a\($0)" }.joined()
        let tracks = try SAMI(Array(text.utf8)).tracks
        #expect(tracks.map(\.name) == (0..<SAMI.mostClasses).map { "C\($0)" })
        #expect(tracks.allSatisfy { $0.cues.count == 1 })
    }

    /// 150,000 bytes of each: with a time that grows with the square of it this test would last for hours.
    @Test(arguments: [
        "<!--", "<!-- ", "<", "<a", "<a ", "&", "&#", "&amp", "<P ", "<P Class=\"", "<SYNC Start=1", "<STYLE>",
        "<STYLE>.A{",
        "{", "}", ".", "\"", "'", "=", "<br>", "<P Class=A>", "a ", "a<br>", "</", "<!", "\u{A0}", "<STYLE>.A.", ",.A",
        "<STYLE", "-->", "--",
        "<SYNC Start=1><P Class=",
    ])
    func `time grows with the length only`(piece: String) throws {
        let text = String(repeating: piece, count: 150_000 / piece.utf8.count)
        for start in ["", "<SYNC Start=1><P>a", "<STYLE>", "<SYNC Start=1><P "] {
            guard let read = try? SAMI(Array((start + text).utf8)) else { continue }
            for track in read.tracks { #expect(!track.webVTT.isEmpty && !track.cues.isEmpty) }
        }
    }

    @Test func `long values and names are cut`() throws {
        let long = String(repeating: "가", count: 5000)
        let text = "<STYLE>.A{Name:\(long);lang:\(long)}</STYLE><SYNC Start=1><P Class=A>a<P Class=\(long)>b"
        let tracks = try SAMI(Array(text.utf8)).tracks
        #expect(tracks.map(\.name.utf8.count) == [126, 126] && tracks[0].language.isEmpty)
    }
}
