import LectureAdaptive
import LectureFormats
import Testing

struct OpenPlaylistsTests {
    private static let head = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:"
    private static let middle = "\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-PLAYLIST-TYPE:VOD\n"

    /// Two files with an index each, in two periods.
    private static let files =
        head + "30" + middle
            + """
            #EXT-X-MAP:URI="1.mp4",BYTERANGE="100@0"
            #EXTINF:30,
            1.mp4
            #EXT-X-DISCONTINUITY
            #EXT-X-MAP:URI="2.mp4",BYTERANGE="100@0"
            #EXTINF:5.5,
            2.mp4
            #EXT-X-ENDLIST
            #LECTURE-INDEX:1.mp4,100-168
            #LECTURE-INDEX:2.mp4,100-156

            """

    private static func sidx(_ entries: [(bytes: UInt32, ticks: UInt32)], timescale: UInt32 = 90_000) -> [UInt8] {
        let words: [UInt32] = [0, 1, timescale, 0, 0, UInt32(entries.count)]
        let all = words + entries.flatMap { [$0.bytes, $0.ticks, 0x9000_0000] }
        let body = all.flatMap { (word: UInt32) -> [UInt8] in word.bigEndianBytes }
        return UInt32(body.count + 8).bigEndianBytes + Array("sidx".utf8) + body
    }

    private static let first = OpenPlaylists.IndexBytes(
        bytes: sidx([(1_000, 180_180), (500, 180_180), (7, 3)]), total: 1_675)
    private static let second = OpenPlaylists.IndexBytes(bytes: sidx([(10, 30), (20, 40)], timescale: 10), total: 186)

    @Test func `what an index says takes the place of the file, and what is not known stays open`() throws {
        let open = OpenPlaylists(["#EXTM3U\n", Self.files])
        #expect(
            open.indexes.map { "\($0.file) \($0.range.start)+\($0.range.count)" } == ["1.mp4 100+68", "2.mp4 100+56"])
        #expect(open.closed([:], missing: ["1.mp4"]) == ["#EXTM3U\n", Self.files], "nothing is optional")
        let half = open.closed(["1.mp4": Self.first], missing: [])
        #expect(
            half[1] == Self.head + "6" + Self.middle
                + """
                #EXT-X-MAP:URI="1.mp4",BYTERANGE="100@0"
                #EXT-X-BYTERANGE:1000@168
                #EXTINF:2.002,
                1.mp4
                #EXT-X-BYTERANGE:500@1168
                #EXTINF:2.002,
                1.mp4
                #EXT-X-BYTERANGE:7@1668
                #EXTINF:0.000033333,
                1.mp4
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="2.mp4",BYTERANGE="100@0"
                #EXTINF:5.5,
                2.mp4
                #EXT-X-ENDLIST
                #LECTURE-CLOSED
                #LECTURE-INDEX:2.mp4,100-156

                """)
        let rest = OpenPlaylists(half)
        #expect(rest.indexes.map(\.file) == ["2.mp4"])
        let whole = rest.closed(["1.mp4": Self.first, "2.mp4": Self.second], missing: [])
        #expect(whole[1].contains("#EXT-X-BYTERANGE:20@166\n#EXTINF:4,\n2.mp4\n#EXT-X-ENDLIST\n#LECTURE-CLOSED\n"))
        #expect(whole == open.closed(["1.mp4": Self.first, "2.mp4": Self.second], missing: []))
        #expect(OpenPlaylists(whole).closed([:], missing: ["1.mp4"]) == whole)
        // Other players see the same with and without the notes.
        let plain = whole[1].replacing("#LECTURE-CLOSED\n", with: "")
        #expect(try PlaylistReader.playlist(Array(whole[1].utf8)) == PlaylistReader.playlist(Array(plain.utf8)))
    }

    @Test(arguments: [
        OpenPlaylists.IndexBytes(bytes: [], total: 1_675), .init(bytes: first.bytes, total: 1_674),
        .init(bytes: Array(first.bytes.dropLast()), total: 1_675), .init(bytes: sidx([(1 << 31 | 9, 9)]), total: 1_675),
    ])
    func `a damaged index changes nothing`(index: OpenPlaylists.IndexBytes) {
        #expect(OpenPlaylists([Self.files]).closed(["1.mp4": index], missing: []) == [Self.files])
    }

    @Test func `a segment that may not exist is taken out, and no other`() {
        let text =
            Self.head + "2" + Self.middle + "#EXTINF:2,\n1.m4s\n#EXTINF:2,\n2.m4s\n#EXTINF:0.1,\n3.m4s\n"
        let note = "#EXT-X-ENDLIST\n#LECTURE-OPTIONAL:3.m4s\n"
        let open = OpenPlaylists([text + note])
        #expect(open.optional == ["3.m4s"] && open.indexes.isEmpty)
        #expect(open.closed([:], missing: ["2.m4s"]) == [text + note])
        let due = [
            text.replacing("#EXTINF:0.1,\n3.m4s\n", with: "") + "#EXT-X-ENDLIST\n#LECTURE-CLOSED\n"
                + "#LECTURE-OPTIONAL:3.m4s\n"
        ]
        #expect(open.closed([:], missing: ["2.m4s", "3.m4s"]) == due)
        let again = OpenPlaylists(due)
        #expect(again.optional == ["3.m4s"] && again.closed([:], missing: ["3.m4s"]) == due)
    }

    @Test(arguments: [
        "#LECTURE-INDEX:1.mp4", "#LECTURE-INDEX:1.mp4,5-5", "#LECTURE-INDEX:1.mp4,a-9", "#LECTURE-INDEX:1.mp4,1-2-3",
        "#LECTURE-OTHER:1.mp4", "# 1.mp4", "1.mp4", "#LECTURE-INDEX:1.mp4,0-1048577",
    ])
    func `other lines are no notes`(line: String) {
        let open = OpenPlaylists(["#EXTM3U\n#EXT-X-ENDLIST\n\(line)\n"])
        #expect(open.indexes.isEmpty && open.optional.isEmpty)
    }
}
