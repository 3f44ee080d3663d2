import LectureAdaptive
import LectureFormats
import LectureModel
import Testing

/// Playlists of the store: what of them is there, and the stream that they make.
@Suite struct LocalPlaylistTests {
    private static let head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:7\n"

    private static func text(_ body: String...) -> String {
        head + "#EXT-X-PLAYLIST-TYPE:VOD\n" + body.map { "\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private static let plain = text("#EXTINF:2,", "1.ts", "#EXTINF:2,", "2.ts", "#EXTINF:2,", "3.ts")

    /// The lines with a segment's name, each with a sign for a gap.
    private static func names(_ text: String) -> [String] {
        let lines = text.split(separator: "\n")
        return lines.indices.filter { !lines[$0].hasPrefix("#") }.map { place in
            (lines[..<place].suffix(2).contains("#EXT-X-GAP") ? "gap " : "") + lines[place]
        }
    }

    @Test(
        arguments: [
            (nil, [], ["1.ts", "2.ts", "3.ts"]), (3, [], ["1.ts", "2.ts"]), (1, [], []),
            (nil, ["2.ts"], ["1.ts", "gap 2.ts", "3.ts"]), (3, ["1.ts"], ["gap 1.ts", "2.ts"]),
        ] as [(Int?, [String], [String])])
    func `what is not there is a gap or still to come`(end: Int?, missing: [String], names: [String]) throws {
        var playlist = try LocalPlaylist(Self.plain)
        playlist.show(until: end, without: Set(missing))
        let text = try playlist.text()
        #expect(Self.names(text) == names && playlist.isEmpty == names.isEmpty)
        #expect(text.contains("#EXT-X-ENDLIST") == (end == nil))
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:EVENT") == (end != nil))
        #expect(text.contains("#EXT-X-START:TIME-OFFSET=0") == (end != nil))
        #expect(text.contains("#EXT-X-VERSION:8") == !missing.isEmpty && text.contains("SEQUENCE:7"))
    }

    @Test func `a segment waits for its key and its initialisation section`() throws {
        let text = Self.text(
            #"#EXT-X-MAP:URI="1.mp4""#, "#EXTINF:2,", "2.m4s", #"#EXT-X-KEY:METHOD=AES-128,URI="3.key""#,
            "#EXTINF:2,", "4.m4s")
        for (end, names) in [(1, []), (2, []), (3, ["2.m4s"]), (4, ["2.m4s"]), (5, ["2.m4s", "4.m4s"])] {
            var playlist = try LocalPlaylist(text)
            playlist.show(until: end, without: [])
            #expect(Self.names(try playlist.text()) == names, "\(end)")
        }
    }

    @Test func `pieces have their vectors, ranges and sections`() throws {
        let vector = "0x000102030405060708090A0B0C0D0E0F"
        let playlist = try LocalPlaylist(
            Self.text(
                #"#EXT-X-KEY:METHOD=AES-128,URI="1.key",IV=\#(vector)"#, #"#EXT-X-MAP:URI="2.mp4""#,
                #"#EXT-X-KEY:METHOD=AES-128,URI="1.key""#, "#EXTINF:2,", "3.m4s", "#EXT-X-GAP", "#EXTINF:2,", "gap.m4s",
                "#EXT-X-KEY:METHOD=NONE", "#EXT-X-DISCONTINUITY", #"#EXT-X-MAP:URI="4.mp4",BYTERANGE="10@5""#,
                "#EXT-X-BYTERANGE:100@15", "#EXTINF:2,", "4.mp4"))
        let pieces = playlist.pieces
        #expect(pieces.map(\.file) == ["2.mp4", "3.m4s", "4.mp4", "4.mp4"])
        #expect(pieces.map(\.isInitialisation) == [true, false, true, false])
        #expect(pieces.map { $0.cipher?.key } == ["1.key", "1.key", nil, nil])
        #expect(pieces[0].cipher?.vector == Array(0...15))
        // RFC 8216 section 5.2: the number of the segment.
        #expect(pieces[1].cipher?.vector == [UInt8](repeating: 0, count: 15) + [7])
        #expect(pieces.map(\.range) == [nil, nil, ByteRange(start: 5, end: 15), ByteRange(start: 15, end: 115)])
        #expect(playlist.isEncrypted)
    }

    @Test func `parts between discontinuities keep their numbers`() throws {
        let text = Self.text(
            "#EXTINF:2,", "1.ts", "#EXTINF:2,", "2.ts", "#EXT-X-DISCONTINUITY", "#EXTINF:2,", "3.ts",
            "#EXT-X-DISCONTINUITY", "#EXTINF:2,", "4.ts")
        let whole = try LocalPlaylist(text)
        #expect(whole.partCount == 3)
        #expect(try LocalPlaylist(Self.plain).partCount == 1)
        for (part, names, number) in [(0, ["1.ts", "2.ts"], 7), (1, ["3.ts"], 9), (2, ["4.ts"], 10), (3, [], 7)] {
            var playlist = whole
            playlist.keep(part: part)
            let text = try playlist.text()
            #expect(Self.names(text) == names && !text.contains("DISCONTINUITY"))
            #expect(text.contains("SEQUENCE:\(number)\n"), "\(text)")
        }
        let named = try LocalPlaylist.multivariant("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n1.m3u8\n") { "p1.\($0)" }
        #expect(named.contains("\np1.1.m3u8\n"))
    }

    @Test func `names of files are replaced, those of gaps are not`() throws {
        var playlist = try LocalPlaylist(
            Self.text(#"#EXT-X-MAP:URI="1.mp4""#, "#EXTINF:2,", "2.m4s", "#EXT-X-GAP", "#EXTINF:2,", "gap.m4s"))
        playlist.rename { "../0000/\($0)" }
        let text = try playlist.text()
        #expect(
            text.contains(#"URI="../0000/1.mp4""#) && text.contains("\n../0000/2.m4s\n") && text.contains("\ngap.m4s"))
        #expect(throws: LectureError.self) { try LocalPlaylist("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n1.m3u8\n") }
        #expect(throws: LectureError.self) { try LocalPlaylist("") }
    }
}

/// Segments of subtitles as one file.
@Suite struct JoinedSubtitlesTests {
    private static func joined(_ segments: String...) -> String {
        var joined = JoinedSubtitles()
        for segment in segments { joined.add(Array(segment.utf8)) }
        return String(decoding: joined.bytes, as: UTF8.self)
    }

    @Test func `cues of all segments are there once`() {
        let text = Self.joined(
            "WEBVTT\n\nSTYLE\n::cue{}\n\n1\n00:01.000 --> 00:05.000 align:start\nA\nB\n",
            "WEBVTT\r\n\r\nNOTE no\r\n\r\n1\r\n00:01.000 --> 00:05.000 align:start\r\nA\r\nB\r\n\r\n"
                + "01:00:06.000 --> 01:00:07.250\r\nC",
            "<html>", "WEBVTT\n\nnonsense\n\n00:aa.000 --> 00:02.000\nD\n")
        let cue = "1\n00:00:01.000 --> 00:00:05.000 align:start\nA\nB"
        #expect(text == "WEBVTT\n\nSTYLE\n::cue{}\n\n\(cue)\n\n01:00:06.000 --> 01:00:07.250\nC\n")
    }

    @Test(arguments: [
        ("MPEGTS:900000,LOCAL:00:00:00.000", "00:00:02.000"), ("LOCAL:00:00:00.000,MPEGTS:1080000", "00:00:04.000"),
        ("MPEGTS:900000,LOCAL:00:00:01.000", "00:00:01.000"), ("MPEGTS:8590754592,LOCAL:0:00.000", "00:00:02.000"),
    ])
    func `times are those of the first segment's clock`(map: String, start: String) {
        let first = map.contains("859") ? "MPEGTS:8590754592" : "MPEGTS:900000"
        let text = Self.joined(
            "WEBVTT\nX-TIMESTAMP-MAP=\(first),LOCAL:00:00:00.000\n\n00:00.000 --> 00:01.000\nA\n",
            "WEBVTT\nX-TIMESTAMP-MAP=\(map)\n\n00:02.000 --> 00:30.000\nB\n")
        #expect(text.contains("\n\(start) --> "), "\(text)")
    }

    @Test func `the counter of MPEG-TS may begin again`() {
        let text = Self.joined(
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:8589844592,LOCAL:00:00.000\n\n00:00.000 --> 00:01.000\nA\n",
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:90000,LOCAL:00:00.000\n\n00:00.000 --> 00:01.000\nB\n")
        #expect(text.contains("00:00:02.000 --> 00:00:03.000\nB"), "\(text)")
    }

    @Test func `renditions of subtitles are listed`() {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",URI="2.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="3.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a",SUBTITLES="s"
            1.m3u8

            """
        let found = SubtitleRendition.all(in: text)
        #expect(found.map(\.name) == ["English"] && found.map(\.language) == ["en"] && found[0].playlist == "3.m3u8")
        #expect(SubtitleRendition.all(in: "").isEmpty)
    }
}
