import Testing

@testable import LectureLiveServer

/// Playlists of nginx: left as they are, but for durations that cannot be.
struct NginxPlaylistTests {
    private static func playlist(_ target: String, _ durations: [String], _ end: String = "") -> String {
        let head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-TARGETDURATION:\(target)\n"
        let fragments = durations.enumerated().map { "#EXTINF:\($1),\n\($0).ts\n" }
        return head + fragments.joined() + end
    }

    private static let impossible = "204963823041217.219"

    @Test(arguments: [["2.000"], ["0.501", "2.000", "1.999"], [], ["3600.000"]])
    func `what can be is left alone`(durations: [String]) {
        let text = Self.playlist(durations == ["3600.000"] ? "3600" : "2", durations)
        #expect(NginxPlaylist.corrected(text, isOver: false) == text)
        let ended = text + "#EXT-X-ENDLIST\n"
        #expect(NginxPlaylist.corrected(text, isOver: true) == ended)
        #expect(NginxPlaylist.corrected(ended, isOver: true) == ended)
    }

    @Test(arguments: [
        (["0.501", impossible], ["0.501", "0.040"], "1"), ([impossible], ["0.040"], "1"),
        (["1.9", "-0.033", "2.6"], ["1.9", "0.040", "2.6"], "3"),
        (["nan", "x", ""], ["0.040", "0.040", "0.040"], "1"),
    ])
    func `an impossible duration becomes one picture, and the target fits`(
        written: [String], corrected: [String], target: String
    ) {
        for named in ["204963823041217", "0", "x"] {
            let text = NginxPlaylist.corrected(Self.playlist(named, written), isOver: true)
            #expect(text == Self.playlist(target, corrected, "#EXT-X-ENDLIST\n"))
        }
    }
}
