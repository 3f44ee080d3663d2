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

    // MARK: Windows

    private static let tags = "#EXT-X-DISCONTINUITY\n"

    @Test(arguments: [(1, 0), (10, 0), (11, 1), (25, 15)])
    func `viewers see the last fragments of a long list`(count: Int, left: Int) {
        let text = Self.playlist("2", [String](repeating: "2.000", count: count))
        let window = NginxPlaylist.window(text, count: 10)
        let names = window.split(separator: "\n").filter { $0.hasSuffix(".ts") }
        #expect(names == (left..<count).map { "\($0).ts" })
        #expect(window.contains("#EXT-X-MEDIA-SEQUENCE:\(left)\n") && window.hasPrefix("#EXTM3U\n"))
        #expect(window.hasSuffix(".ts\n") && window.split(separator: "\n").count == 4 + 2 * names.count)
    }

    @Test func `a window keeps what belongs to its fragments, and the end`() {
        let fragments = ["#EXTINF:1,\n7.ts\n", Self.tags + "#EXTINF:2,\n8.ts\n", Self.tags + "#EXTINF:3,\n9.ts\n"]
        let text = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n" + fragments.joined() + "#EXT-X-ENDLIST\n"
        let expected = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:8\n" + fragments[1] + fragments[2] + "#EXT-X-ENDLIST\n"
        #expect(NginxPlaylist.window(text, count: 2) == expected)
        #expect(NginxPlaylist.window(text, count: 3) == text)
    }

    @Test(arguments: ["", "\n", "#EXTM3U", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:x\n#EXTINF:1,\n0.ts\n#EXTINF:1,\n1.ts"])
    func `a window of any text is a text`(text: String) {
        #expect(NginxPlaylist.window(text, count: 10) == text)
        #expect(NginxPlaylist.window(text, count: 0).count <= text.count)
    }

    // MARK: Whole rooms

    private static func whole(_ target: Int, _ body: String, _ end: String = "") -> String {
        """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-PLAYLIST-TYPE:EVENT
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-TARGETDURATION:\(target)

        """ + body + end
    }

    @Test func `all sessions of a room are one playlist that grows`() {
        let first = Self.playlist("2", ["2.000", "1.500"])
        let before = NginxPlaylist.whole([(1, first)], fragment: .seconds(2), isOver: false)
        #expect(before == Self.whole(4, "#EXTINF:2.000,\n1-0.ts\n#EXTINF:1.500,\n1-1.ts\n"))
        let second = Self.playlist("2", ["2.000", Self.impossible], "#EXT-X-ENDLIST\n")
        let ended = NginxPlaylist.whole([(1, first), (2, second)], fragment: .seconds(2), isOver: true)
        #expect(ended.hasPrefix(before))
        let rest = Self.tags + "#EXTINF:2.000,\n2-0.ts\n#EXTINF:0.040,\n2-1.ts\n#EXT-X-ENDLIST\n"
        #expect(ended == before + rest)
    }

    @Test(arguments: [
        (2000, ["2.000"], 4), (500, ["0.500"], 1), (200, ["0.200"], 1), (2000, ["2.000", "7.400"], 7), (2000, [], 4),
    ])
    func `the target is twice a fragment, or what the longest one needs`(
        fragment: Int, durations: [String], target: Int
    ) {
        let sessions = [(1, Self.playlist("2", durations))]
        let text = NginxPlaylist.whole(sessions, fragment: .milliseconds(fragment), isOver: false)
        #expect(text.contains("#EXT-X-TARGETDURATION:\(target)\n"))
    }

    @Test func `sessions without fragments leave no trace`() {
        let empty = Self.playlist("2", [])
        let one = Self.playlist("2", ["1.000"])
        let text = NginxPlaylist.whole([(1, empty), (2, one), (3, ""), (4, one)], fragment: .seconds(1), isOver: false)
        let body = "#EXTINF:1.000,\n2-0.ts\n" + Self.tags + "#EXTINF:1.000,\n4-0.ts\n"
        #expect(text == Self.whole(2, body))
        #expect(NginxPlaylist.whole([], fragment: .seconds(1), isOver: true) == Self.whole(2, "#EXT-X-ENDLIST\n"))
    }

    // MARK: The cache

    @Test func `a playlist is made again when what it is made of has changed, and forgotten when it is not asked for`()
    {
        var cache = PlaylistCache()
        var made = 0
        func ask(_ name: String, _ stamp: [Int64]) -> String {
            cache.text(name, stamp: stamp) {
                made += 1
                return "\(name) \(stamp)"
            }
        }
        let steps: [(String, [Int64], Int)] = [
            ("a", [1], 1), ("a", [1], 1), ("b", [1], 2), ("a", [1, 0], 3), ("a", [1, 0], 3), ("b", [1], 3),
        ]
        for (name, stamp, count) in steps {
            let text = ask(name, stamp)
            #expect(text == "\(name) \(stamp)" && made == count)
        }
        // Asked for since the last time: kept; not: forgotten.
        cache.tidy()
        _ = ask("a", [1, 0])
        #expect(made == 3)
        cache.tidy()
        _ = ask("b", [1])
        #expect(made == 4)
        _ = ask("a", [1, 0])
        #expect(made == 4)
    }
}
