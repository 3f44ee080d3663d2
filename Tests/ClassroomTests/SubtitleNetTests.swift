import Foundation
import LectureKit
import LectureProgramSupport
import LectureTestSupport
import Testing

@testable import LectureServe

/// Subtitles from a real server, through the store, to real clients.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct SubtitleNetTests {
    private static let sami = """
        <SAMI><HEAD><STYLE TYPE="text/css"><!--
        .KRCC { Name:한국어; lang:ko-KR; SAMIType:CC; }
        .ENCC { Name:"English <b>"; lang:en-US; SAMIType:CC; }
        --></STYLE></HEAD><BODY>
        <SYNC Start=0><P Class=KRCC>안녕하세요<br><font color=red>여러분</font><P Class=ENCC>1 < 2 &lt;b&gt;
        <SYNC Start=60000><P Class=KRCC>&nbsp;<P Class=ENCC>&nbsp;
        </BODY></SAMI>
        """

    /// Keeps a lecture with subtitle files.
    ///
    /// - Parameters:
    ///   - school: where.
    ///   - files: names and bytes; the names are those in the description, too.
    /// - Throws: what the library throws.
    private static func keep(_ school: School, _ files: [(name: String, bytes: [UInt8])]) async throws {
        let entries = try files.map { file in
            let place = "captions-\(UUID().uuidString).\(file.name.split(separator: ".").last ?? "")"
            _ = try school.streams.directory.write(file.bytes, to: place)
            return #"{"name":"\#(file.name)","language":"ko","url":"\#(school.origin.http)/\#(place)"}"#
        }
        _ = try await school.keep("film.mp4", as: "film", #","subtitles":[\#(entries.joined(separator: ","))]"#)
    }

    /// A text as another program writes it in a character set.
    private static func encoded(_ text: String, _ set: String) async throws -> [UInt8] {
        let program = "import sys; sys.stdout.buffer.write(sys.argv[1].encode(sys.argv[2]))"
        return Array(try await ChildProcess.run(try Places.command("python3"), ["-c", program, text, set]).output)
    }

    @Test(arguments: ["utf-8", "utf-8-sig", "utf-16", "cp949"])
    func `each language of a SAMI file is a track, in any character set`(set: String) async throws {
        let school = try await School(seal: .always)
        try await Self.keep(school, [("all.smi", try await Self.encoded(Self.sami, set))])
        let page = Markup(try await school.get("/classroom/lectures/film", as: "kim").text)
        let tracks = page["track"].map(\.attributes)
        #expect(tracks.map { $0["srclang"] } == ["ko-KR", "en-US"])
        #expect(tracks.map { $0["label"] } == ["한국어", "English <b>"])
        let place = "/classroom/lectures/film/subtitles/0"
        #expect(tracks.map { $0["src"] } == [place, "\(place)/1"])
        let texts = ["안녕하세요\n여러분", "1 &lt; 2 &lt;b&gt;"]
        for (track, text) in zip(tracks, texts) {
            let answer = try await school.get(try #require(track["src"]), as: "kim")
            #expect(answer.status == 200 && answer.head["content-type"] == "text/vtt; charset=utf-8")
            #expect(answer.text == "WEBVTT\n\n00:00:00.000 --> 00:01:00.000\n\(text)\n\n")
            #expect(try await school.get(try #require(track["src"]), as: nil).status == 401)
            #expect(try await school.get(try #require(track["src"]), as: "branch").status == 403)
        }
        for number in ["0/2", "0/-1", "0/x", "0/", "1", "0/0/0", "0/99999999999999999999"] {
            let answer = try await school.get("/classroom/lectures/film/subtitles/\(number)", as: "kim")
            #expect(answer.status == 404, "\(number)")
        }
        #expect(try await school.get("\(place)/0", as: "kim").text.hasPrefix("WEBVTT"))
        await school.end()
    }

    @Test func `SubRip, WebVTT and SAMI stand beside each other, and what cannot be shown says why`() async throws {
        let school = try await School()
        let subRip = "1\n00:00:01,000 --> 00:00:02,000\n자막\n"
        try await Self.keep(
            school,
            [
                ("a.srt", try await Self.encoded(subRip, "cp949")), ("b.vtt", Array("WEBVTT\n\n".utf8)),
                ("c.smi", Array(Self.sami.utf8)), ("d.smi", [0x3C, 0x53, 0x80, 0xFF]),
                ("e.ass", Array("[Script]".utf8)),
            ])
        let answer = try await school.get("/classroom/lectures/film", as: "kim", "-H", "Accept-Language: en")
        let page = Markup(answer.text)
        #expect(page["track"].map { $0.attributes["label"] } == ["a.srt", "b.vtt", "한국어", "English <b>"])
        #expect(page["small"].map(\.text).contains { $0.hasPrefix("d.smi: ") && $0.contains("CP949") })
        #expect(page["small"].map(\.text).contains { $0.hasPrefix("e.ass: ") && $0.contains("SAMI") })
        let place = "/classroom/lectures/film/subtitles"
        #expect(try await school.get("\(place)/0", as: "kim").text.contains("자막"))
        for (number, word) in [("3", "UTF-16"), ("4", "SubRip"), ("3/1", "UTF-16")] {
            let refused = try await school.get("\(place)/\(number)", as: "kim")
            #expect(refused.status == 404, "\(number)")
            #expect(try refused.member("name") == "subtitles" && refused.text.contains(word), "\(refused.text)")
        }
        await school.end()
    }

    /// Start, and text on one line, of the cues of a file as ffmpeg reads them.
    private static func cues(_ path: String) async throws -> [String] {
        let words = ["-v", "error", "-i", path, "-f", "srt", "-"]
        let made = try await ChildProcess.run(try Places.command("ffmpeg"), words)
        try #require(made.status == 0, "\(made.errorText)")
        return made.text.replacing("\r", with: "").split(separator: "\n\n").compactMap { block in
            let lines = block.split(separator: "\n")
            guard lines.count > 2, let start = lines[1].split(separator: " ").first else { return nil }
            let text = lines.dropFirst(2).joined(separator: "|").trimmingCharacters(in: .whitespaces)
            return text.isEmpty ? nil : "\(start) \(text)"
        }
    }

    @Test(arguments: [
        "<SYNC Start=1000><P Class=KRCC>a<SYNC Start=2000><P Class=KRCC>&nbsp;<SYNC Start=3500><P Class=KRCC>b<br>c",
        "<SYNC Start=0><P Class=KRCC>안녕<SYNC Start=3723004><P Class=KRCC>여러분<SYNC Start=3725000><P Class=KRCC>&nbsp;",
        "<sync start=1000><p class=krcc>one  two\n three<sync start=2000><p class=krcc>&nbsp;",
    ])
    func `ffmpeg reads the same texts at the same times in SAMI and in its WebVTT`(body: String) async throws {
        let directory = try TemporaryDirectory()
        let source = Array("<SAMI>\n<BODY>\n\(body)\n</BODY>\n</SAMI>\n".utf8)
        let sami = try directory.write(source, to: "a.smi")
        let track = try #require(try WebSubtitles.tracks(source).first)
        let theirs = try await Self.cues(sami)
        let ours = try await Self.cues(try directory.write(track.text, to: "a.vtt"))
        #expect(!ours.isEmpty && ours == theirs)
    }

    @Test func `a browser shows the text of SAMI as text`() async throws {
        let school = try await School()
        try await Self.keep(school, [("all.smi", try await Self.encoded(Self.sami, "cp949"))])
        let browser = try await Browser.start()
        try await browser.open("\(school.server.url)\(try await school.link("film", user: "gast"))")
        #expect(try await browser.count("track") == 2)
        try await browser.click("form.play button")
        let texts = #"["안녕하세요\n여러분", "1 &lt; 2 &lt;b&gt;"]"#
        try await browser.wait(
            for: """
                (() => {
                    const tracks = [...document.querySelector("video").textTracks];
                    for (const track of tracks) { if (track.mode === "disabled") track.mode = "hidden"; }
                    const texts = tracks.map((track) => [...(track.cues || [])].map((cue) => cue.text).join());
                    return JSON.stringify(texts) === JSON.stringify(\(texts));
                })()
                """)
        // What is written in pointed brackets is no element of the cue.
        try await browser.wait(
            for: """
                [...document.querySelector("video").textTracks].every((track) =>
                    [...track.cues].every((cue) => cue.getCueAsHTML().querySelector("*:not(br)") === null))
                """)
        await browser.stop()
        await school.end()
    }
}
