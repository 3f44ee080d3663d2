import LectureFormats
import LectureHTTP
import Testing

@testable import LectureKit
@testable import LectureServe

/// What a browser gets for the subtitles of a lecture.
struct SubtitleTests {
    private static let cue = "1\r\n00:00:01,500 --> 00:00:03,000\r\nHello, 안녕\r\n\r\n"
    private static let sami = """
        <SAMI><STYLE>.KRCC {Name:한국어; lang:ko-KR;} .ENCC {Name:English; lang:en-US;}</STYLE>
        <BODY><SYNC Start=500><P Class=KRCC>안녕<P Class=ENCC>Hello <b>you</b>
        <SYNC Start=900><P Class=KRCC>&nbsp;<P Class=ENCC>&nbsp;</BODY></SAMI>
        """

    private static let shown = ["안녕", "Hello you"].map { "WEBVTT\n\n00:00:00.500 --> 00:00:00.900\n\($0)\n\n" }

    private static func file(_ bytes: [UInt8], name: String = "", language: String = "") -> KeptSubtitle {
        KeptSubtitle(name: name, language: language, isMachineMade: false, bytes: bytes)
    }

    /// The texts of the tracks, or the refusal.
    private static func texts(_ bytes: [UInt8]) -> [String] {
        do { return try WebSubtitles.tracks(bytes).map { String(decoding: $0.text, as: UTF8.self) } } catch {
            return ["\(error)"]
        }
    }

    private static func utf16(_ text: String) -> [UInt8] {
        [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }

    @Test(arguments: [
        ("\u{FEFF}\(cue)", ["WEBVTT\n\n1\n00:00:01.500 --> 00:00:03.000\nHello, 안녕\n\n\n"]),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nA", ["WEBVTT\n\n00:01.000 --> 00:02.000\nA"]),
        ("\u{FEFF}WEBVTT\n", ["WEBVTT\n"]),
        (sami, shown), ("\r\n \(sami)", shown),
        // The times of SubRip in a remark are no reason to take it for SubRip.
        (
            "<!--\n00:00:01,000 --> 00:00:02,000\n--><SYNC Start=1><P>a<SYNC Start=2><P>",
            ["WEBVTT\n\n00:00:00.001 --> 00:00:00.002\na\n\n"]
        ),
        ("<i>\n00:00:01,000 --> 00:00:02,000\na", ["WEBVTT\n\n<i>\n00:00:01.000 --> 00:00:02.000\na\n"]),
        ("<SAMI><BODY></BODY></SAMI>", ["form"]), ("", ["form"]), ("<tt xmlns=\"x\"></tt>", ["form"]),
        ("[Script Info]\nTitle: a", ["form"]),
    ])
    func `subtitles become WebVTT where that is possible`(text: String, expected: [String]) {
        #expect(Self.texts(Array(text.utf8)) == expected)
        let unmarked = text.unicodeScalars.filter { $0 != "\u{FEFF}" }
        #expect(Self.texts(Self.utf16(String(unmarked))) == expected, "in UTF-16")
    }

    @Test func `Korean character sets are read, and others are refused`() {
        // "가" in CP949, and "뷁", which EUC-KR does not have.
        for (bytes, text) in [([0xB0, 0xA1], "가"), ([0x94, 0xEE], "뷁")] as [([UInt8], String)] {
            let subRip = Array("1\n00:00:01,000 --> 00:00:02,000\n".utf8) + bytes
            #expect(Self.texts(subRip) == ["WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n\(text)\n"])
            let sami = Array("<SYNC Start=1><P Class=KRCC>".utf8) + bytes + Array("<SYNC Start=2><P Class=KRCC>".utf8)
            #expect(Self.texts(sami) == ["WEBVTT\n\n00:00:00.001 --> 00:00:00.002\n\(text)\n\n"])
        }
        #expect(Self.texts(Array(Self.cue.utf8) + [0xB0]) == ["encoding"])
        #expect(Self.texts([0x1F, 0x8B, 0x08, 0x00]) == ["encoding"])
        #expect(Self.texts([0xFF, 0xFE, 0x00, 0xD8]) == ["encoding"])
    }

    @Test func `what is too long is refused before it is converted`() {
        let space = [UInt8](repeating: 0x20, count: SAMI.longest)
        #expect(Self.texts(Array("<SYNC Start=1>a".utf8) + space) == ["long"])
        #expect(Self.texts([0xB0, 0xA1] + space) == ["long"])
        #expect(Self.texts([0xFF, 0xFE] + space) == ["long"])
        // WebVTT is handed on as it is.
        #expect(Self.texts(Array("WEBVTT\n".utf8) + space).first?.utf8.count == SAMI.longest + 7)
    }

    @Test func `every track of every file has an address, a name and a language`() {
        let one = Array("<STYLE>.A{Name:One;lang:ja}</STYLE><SYNC Start=1><P Class=A>a".utf8)
        let files = [
            Self.file(Array("WEBVTT".utf8), name: "English", language: "en"),
            Self.file(Array(Self.sami.utf8), name: "all.smi", language: "ko"),
            Self.file([0xB0], name: "broken"),
            Self.file(one), Self.file(one, name: "b", language: "ko"),
            Self.file(Array("<SYNC Start=1><P Class=KRCC>a<P Class=ENCC>b".utf8), name: "c", language: "ko"),
            Self.file(Array("nothing".utf8)),
        ]
        let watched = WatchedSubtitles(files)
        let tracks = watched.tracks.map { "\($0.path) \($0.name) \($0.language)" }
        #expect(
            tracks == [
                "0 English en", "1 한국어 ko-KR", "1/1 English en-US", "3 One ja", "4 b ko", "5 KRCC ", "5/1 ENCC ",
            ])
        #expect(watched.refused.map { "\($0.name) \($0.reason)" } == ["broken encoding", " form"])
        #expect(WatchedSubtitles([]).tracks.isEmpty && WatchedSubtitles([]).refused.isEmpty)
    }

    @Test(arguments: WebSubtitles.Refusal.allCases, PageLanguage.allCases)
    func `a refusal is a sentence in each language`(refusal: WebSubtitles.Refusal, language: PageLanguage) throws {
        let answer = ClassroomRefusal.subtitles(refusal).answer(in: language)
        #expect(answer.status == 404 && answer.field("Content-Language") == language.rawValue)
        let sentence = refusal.pageText.text(language)
        #expect(!sentence.isEmpty && answer.text.contains(sentence) && answer.text.contains("\"subtitles\""))
    }

    @Test func `no text of a file is markup of the page or of the cue`() throws {
        let texts = [
            "</script><script>alert(1)</script>", "<c.x onload=y>", "&lt;img src=x&gt;", "a\n\n00:00 --> 00:01\nb",
        ]
        for text in texts {
            let sami = "<STYLE>.A{Name:\(text)}</STYLE><SYNC Start=1><P Class=A>x\(text)<SYNC Start=2><P Class=A>"
            let track = try #require(Self.texts(Array(sami.utf8)).first)
            #expect(!track.contains("<") && track.split(separator: "\n").count { $0.contains("-->") } == 1, "\(track)")
        }
    }
}
