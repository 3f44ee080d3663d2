import LectureAdaptive
import LectureTestSupport

/// Playlists with everything that the reader knows.
enum PlaylistCorpus {
    static func read(_ name: String) throws -> Playlist {
        try PlaylistReader.playlist(Array((all[name] ?? "").utf8))
    }

    static func media(_ name: String) throws -> MediaPlaylist {
        guard case .media(let playlist) = try read(name) else {
            throw PlaylistError(.malformed, line: 0, "no media playlist")
        }
        return playlist
    }

    static let all = [
        "everything": """
        #EXTM3U
        #EXT-X-VERSION:8
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-START:TIME-OFFSET=-1.5,PRECISE=YES
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-DISCONTINUITY-SEQUENCE:3
        #EXT-X-PLAYLIST-TYPE:EVENT
        #EXT-X-DATERANGE:ID="splice-1",START-DATE="2026-11-26T20:00:00Z",DURATION=1.5,\
            X-COM-EXAMPLE="a, b=c",SCTE35-OUT=0xFC002F
        #EXT-X-PROGRAM-DATE-TIME:2026-11-26T20:00:00.000+09:00
        #EXTINF:6.006,First, with a comma
        #EXT-X-BYTERANGE:1000@0
        all.ts
        #EXT-X-BYTERANGE:500
        #EXTINF:5,
        all.ts
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=AES-128,URI="k1",IV=0x000102030405060708090A0B0C0D0E0F
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="600@0"
        #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://2",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1/2"
        #EXT-X-BITRATE:1200
        #EXTINF:6.0060060060060,
        b.m4s
        #EXT-X-GAP
        #EXTINF:3,
        c d ä.m4s
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=SAMPLE-AES-CTR,URI="k3"
        #EXT-X-KEY:METHOD=ISO-23001-7,URI="w",KEYFORMAT="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
        #EXT-X-MAP:URI="init.mp4"
        #EXTINF:2.9946606606606,
        c.m4s?x=1
        #EXT-X-KEY:METHOD=NONE
        #EXT-X-KEY:METHOD=AES-128,URI="k1",IV=0x000102030405060708090A0B0C0D0E0F
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="600@0"
        #EXT-X-KEY:METHOD=NONE
        #EXTINF:3,
        d.m4s
        #EXT-X-ENDLIST

        """,
        "multivariant": """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-DEFINE:NAME="token",VALUE="t=1"
        #EXT-X-SESSION-DATA:DATA-ID="com.example.title",VALUE="A lecture",LANGUAGE="en"
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="한국어",LANGUAGE="ko",DEFAULT=YES,AUTOSELECT=YES,URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="x",LANGUAGE="en",FORCED=YES,URI="sub.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC1",INSTREAM-ID="CC1"
        #EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="cam",NAME="Board"
        #EXT-X-MEDIA:TYPE=SMELL,GROUP-ID="cam",NAME="Board"
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,AVERAGE-BANDWIDTH=4500000,CODECS="avc1.640028,mp4a.40.2",\
        RESOLUTION=1920x1080,FRAME-RATE=29.970,VIDEO-RANGE=SDR,AUDIO="aac",SUBTITLES="subs",CLOSED-CAPTIONS=NONE,\
        PATHWAY-ID="A"
        hd.m3u8?{$token}
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="aac",CLOSED-CAPTIONS="cc"
        # A comment between the tag and its URI.

        sd.m3u8
        #EXT-X-STREAM-INF:PROGRAM-ID=1
        audio.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,URI="iframes.m3u8"

        """,
        "plain": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:9.5,\na.ts\n#EXTINF:9.5,\nb.ts\n#EXT-X-ENDLIST\n",
        "iframes": """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:4
        #EXT-X-I-FRAMES-ONLY
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXTINF:4.0,
        #EXT-X-BYTERANGE:9400@376
        v.ts
        #EXTINF:4.0,
        #EXT-X-BYTERANGE:7144@47000
        v.ts
        #EXT-X-ENDLIST

        """,
        "empty-live": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:100\n",
    ]

    /// A media playlist as a server might write it, with each tag by chance.
    static func generated(_ generator: inout SeededGenerator) -> String {
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
        var lines = ["#EXTM3U", "#EXT-X-VERSION:\(2 + number(10))", "#EXT-X-TARGETDURATION:\(1 + number(20))"]
        if chance(50) { lines.append("#EXT-X-MEDIA-SEQUENCE:\(number(1 << 40))") }
        if chance(20) { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(number(1000))") }
        if chance(30) { lines.append("#EXT-X-PLAYLIST-TYPE:\(chance(50) ? "VOD" : "EVENT")") }
        var end = -1
        var last = ""
        for place in 0..<number(40) {
            if chance(10) { lines.append("#EXT-X-DISCONTINUITY") }
            if chance(10) { lines.append("#EXT-X-KEY:METHOD=NONE") }
            for _ in 0..<(chance(20) ? 1 + number(3) : 0) {
                let vector = (0..<16).map { _ in ["0", "7", "a", "F"][number(4)] + "\(number(10))" }.joined()
                let format = chance(50) ? "" : ",KEYFORMAT=\"f\(number(2))\",KEYFORMATVERSIONS=\"\(1 + number(3))\""
                let method = ["AES-128", "SAMPLE-AES", "SAMPLE-AES-CTR"][number(3)]
                let attribute = chance(50) ? ",IV=0x\(vector)" : ""
                lines.append("#EXT-X-KEY:METHOD=\(method),URI=\"k\(number(3))\"\(attribute)\(format)")
            }
            if chance(15) {
                lines.append(
                    "#EXT-X-MAP:URI=\"i\(number(3))\""
                        + (chance(50) ? ",BYTERANGE=\"\(1 + number(99))@\(number(9))\"" : "")
                )
            }
            if chance(10) { lines.append("#EXT-X-PROGRAM-DATE-TIME:2026-11-26T20:\(10 + number(50)):00.000Z") }
            if chance(5) { lines.append("#EXT-X-GAP") }
            let uri = chance(50) && !last.isEmpty ? last : "s\(place).ts"
            if end >= 0, uri == last, chance(50) {
                let count = 1 + number(1 << 20)
                lines.append("#EXT-X-BYTERANGE:\(count)")
                end += count
            } else if chance(30) {
                let (count, start) = (1 + number(1 << 30), number(1 << 40))
                lines.append("#EXT-X-BYTERANGE:\(count)@\(start)")
                end = start + count
            } else {
                end = -1
            }
            lines.append("#EXTINF:\(number(20)).\(number(1_000_000)),\(chance(20) ? "Part \(place), \"é\"" : "")")
            lines.append(uri)
            last = uri
        }
        if chance(50) { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: chance(20) ? "\r\n" : "\n") + "\n"
    }
}
