import LectureAdaptive
import LectureFormats
import Testing

/// Reads a playlist of lines after `#EXTM3U`.
func read(
    _ text: String, imports: [PlaylistDefinition] = [], query: String? = nil,
    limits: PlaylistLimits = PlaylistLimits()
) throws -> Playlist {
    try PlaylistReader.playlist(Array("#EXTM3U\n\(text)".utf8), limits: limits, imports: imports, query: query)
}

/// Reads a media playlist of lines after `#EXTM3U` and a target duration.
func media(_ text: String, imports: [PlaylistDefinition] = [], query: String? = nil) throws -> MediaPlaylist {
    guard case .media(let playlist) = try read("#EXT-X-TARGETDURATION:10\n\(text)", imports: imports, query: query)
    else { throw PlaylistError(.malformed, line: 0, "no media playlist") }
    return playlist
}

/// Reads a multivariant playlist of lines after `#EXTM3U`.
func multivariant(_ text: String, query: String? = nil) throws -> MultivariantPlaylist {
    guard case .multivariant(let playlist) = try read(text, query: query) else {
        throw PlaylistError(.malformed, line: 0, "no multivariant playlist")
    }
    return playlist
}

@Suite struct PlaylistReaderTests {
    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\""

    /// Lines from the third on, the line of the mistake, and a part of the reason.
    @Test(
        "What would lose or corrupt media is refused by line and reason",
        arguments: [
            ("a.ts", 3, "no EXTINF"), ("#EXTINF:1,\na.ts\nb.ts", 5, "no EXTINF"),
            ("#EXTINF:1,", 3, "no URI"), ("#EXTINF:1,\n#EXTINF:1,\na", 4, "no URI"),
            ("#EXTINF:-1,\na", 3, "duration"), ("#EXTINF:x,\na", 3, "duration"), ("#EXTINF:,\na", 3, "duration"),
            ("#EXTINF:.,\na", 3, "duration"), ("#EXTINF:1e3,\na", 3, "duration"), ("#EXTINF:nan,\na", 3, "duration"),
            ("#EXTINF:9223372037,\na", 3, "duration"), ("#EXTINF:99999999999999999999,\na", 3, "duration"),
            ("#EXTINF:1.-5,\na", 3, "duration"), ("#EXTINF:1 2,\na", 3, "duration"),
            ("#EXT-X-BYTERANGE:5\n#EXTINF:1,\na", 5, "no offset"),
            ("#EXT-X-BYTERANGE:5@0\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:5\n#EXTINF:1,\nb", 8, "no offset"),
            ("#EXT-X-BYTERANGE:5@0\n#EXTINF:1,\na\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:5\n#EXTINF:1,\na", 10, "no offset"),
            ("#EXT-X-BYTERANGE:x@0\n#EXTINF:1,\na", 5, "malformed"),
            ("#EXT-X-BYTERANGE:5@\n#EXTINF:1,\na", 5, "malformed"),
            ("#EXT-X-BYTERANGE:5@-1\n#EXTINF:1,\na", 5, "malformed"),
            ("#EXT-X-BYTERANGE:0@5\n#EXTINF:1,\na", 5, "malformed"),
            ("#EXT-X-BYTERANGE:5@1@2\n#EXTINF:1,\na", 5, "malformed"),
            ("#EXT-X-BYTERANGE:9223372036854775807@1\n#EXTINF:1,\na", 5, "too large"),
            ("#EXT-X-BYTERANGE:9223372036854775808@0\n#EXTINF:1,\na", 5, "too large"),
            ("#EXT-X-KEY:METHOD=AES-128", 3, "no URI"), ("#EXT-X-KEY:METHOD=AES-128,URI=\"\"", 3, "no URI"),
            ("#EXT-X-KEY:URI=\"k\"", 3, "no METHOD"), ("#EXT-X-KEY:METHOD=NEW", 3, "no URI"),
            ("\(key),IV=0x00", 3, "32 hexadecimal"),
            ("\(key),IV=00112233445566778899AABBCCDDEEFF", 3, "32 hexadecimal"),
            ("\(key),IV=0x00112233445566778899AABBCCDDEEFF00", 3, "32 hexadecimal"),
            ("\(key),IV=0xx0112233445566778899AABBCCDDEEFF", 3, "32 hexadecimal"),
            ("\(key),URI=\"l\"", 3, "twice"), ("\(key),X", 3, "no value"), ("\(key)x", 3, "after a quoted"),
            ("#EXT-X-KEY:METHOD=AES-128,URI=\"k", 3, "no end"), ("#EXT-X-KEY:=AES-128", 3, "usable name"),
            ("#EXT-X-MAP:BYTERANGE=\"5@0\"", 3, "no URI"), ("#EXT-X-MAP:URI=\"\"", 3, "no URI"),
            ("#EXT-X-MAP:URI=\"m\",BYTERANGE=\"0@0\"", 3, "EXT-X-MAP"),
            ("#EXT-X-MAP:URI=\"m\",BYTERANGE=\"5@x\"", 3, "EXT-X-MAP"),
            ("#EXT-X-MEDIA-SEQUENCE:-1", 3, "number"), ("#EXT-X-MEDIA-SEQUENCE:9223372036854775808", 3, "number"),
            ("#EXT-X-MEDIA-SEQUENCE:9223372036854775807\n#EXTINF:1,\na", 5, "exceed"),
            ("#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:2", 4, "two values"),
            ("#EXTINF:1,\na\n#EXT-X-MEDIA-SEQUENCE:2", 5, "behind a segment"),
            ("#EXTINF:1,\na\n#EXT-X-DISCONTINUITY-SEQUENCE:2", 5, "behind a segment"),
            ("#EXT-X-TARGETDURATION:x", 3, "TARGETDURATION"), ("#EXT-X-TARGETDURATION:11", 3, "two values"),
            ("#EXT-X-SKIP:SKIPPED-SEGMENTS=3", 3, "update"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\na", 3, "mixed"), ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\"", 3, "mixed"),
            ("#EXTINF:1,\na\0b", 4, "unusable"), ("#EXTINF:1,t\0\na", 3, "control"),
            ("#EXTINF:1,\na\u{7F}", 4, "unusable"),
            ("#EXTINF:1,\n{$x}", 4, "not defined"), ("#EXT-X-KEY:METHOD=AES-128,URI=\"{$x}\"", 3, "not defined"),
            ("#EXT-X-DEFINE:VALUE=\"x\"", 3, "needs one"), ("#EXT-X-DEFINE:NAME=\"x\"", 3, "no value"),
            ("#EXT-X-DEFINE:NAME=\"x\",IMPORT=\"x\",VALUE=\"\"", 3, "needs one"),
            ("#EXT-X-DEFINE:NAME=\"x y\",VALUE=\"\"", 3, "usable name"),
            ("#EXT-X-DEFINE:NAME=\"x\",VALUE=\"\"\n#EXT-X-DEFINE:NAME=\"x\",VALUE=\"\"", 4, "defined twice"),
            ("#EXT-X-DEFINE:IMPORT=\"x\"", 3, "multivariant"), ("#EXT-X-DEFINE:QUERYPARAM=\"x\"", 3, "query"),
            ("#EXT-X-DEFINE:NAME=\"x\",VALUE=\"{$x}\"", 3, "not defined"),
            ("#EXT-X-DEFINE:NAME=\"o\",VALUE=\"{\"\n#EXTINF:1,\n{$o}$o}", 5, "make a reference"),
            ("#EXT-X-DEFINE:NAME=\"o\",VALUE=\"#\"\n#EXTINF:1,\n{$o}", 5, "unusable"),
            ("#EXT-X-DEFINE:NAME=\"o\",VALUE=\"1,A=2\"\n#EXT-X-KEY:METHOD={$o}", 4, "more than one value"),
        ] as [(String, Int, String)])
    func refuses(text: String, line: Int, reason: String) {
        let found = refusal { try media(text) }
        #expect(found?.line == line && found?.kind == .malformed, "\(found.map(String.init(describing:)) ?? "read")")
        #expect(found?.reason.contains(reason) == true, "\(found?.reason ?? "")")
    }

    @Test(
        "Mistakes of multivariant playlists",
        arguments: [
            ("#EXT-X-STREAM-INF:BANDWIDTH=1", 2, "no URI"), ("a.m3u8", 2, "no EXTINF"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXT-X-STREAM-INF:BANDWIDTH=2\na", 3, "no URI"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\na\nb", 4, "no EXT-X-STREAM-INF"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=x\na", 2, "BANDWIDTH"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=9223372036854775808\na", 2, "BANDWIDTH"),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXTINF:1,\nb", 4, "mixed"),
            ("#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1", 2, "no URI"), ("#EXT-X-MEDIA:TYPE=AUDIO", 2, "GROUP-ID"),
            ("#EXT-X-MEDIA:GROUP-ID=\"a\"", 2, "TYPE"), ("#EXT-X-SESSION-KEY:METHOD=NONE", 2, "NONE"),
            ("#EXT-X-SESSION-KEY:METHOD=AES-128", 2, "no URI"), ("", 1, "neither"), ("#EXT-X-VERSION:3", 2, "neither"),
            ("#EXT-X-ENDLIST", 2, "neither"),
        ] as [(String, Int, String)])
    func multivariantMistakes(text: String, line: Int, reason: String) {
        let found = refusal { try read(text) }
        #expect(found?.line == line && found?.reason.contains(reason) == true, "\(String(describing: found))")
    }

    @Test(
        "What is no playlist",
        arguments: [
            "", "\n", "<!DOCTYPE html>\n<html>", "\n#EXTM3U", "#EXTM3U8\n", "#extm3u\n", "{}", "\u{FEFF}",
            "#EXTINF:1,\na",
            "\0#EXTM3U", " x #EXTM3U",
        ])
    func others(text: String) {
        #expect(refusal { try PlaylistReader.playlist(Array(text.utf8)) }?.kind == .notAPlaylist)
    }

    @Test func `Bytes that are not UTF-8 are refused in URIs and replaced in titles`() throws {
        func bytes(_ title: [UInt8], _ uri: [UInt8]) -> [UInt8] {
            Array("#EXTM3U\n#EXTINF:1,".utf8) + title + [0x0A] + uri
        }
        #expect(refusal { try PlaylistReader.playlist(bytes([], [0x61, 0xFF])) }?.line == 3)
        guard case .media(let playlist) = try PlaylistReader.playlist(bytes([0xE9], [0x61])) else { return }
        #expect(playlist.segments.first?.title == "\u{FFFD}")
    }

    @Test(
        "What players tolerate reads as if it were written correctly",
        arguments: [
            ("#EXTINF:1.5,t\na", "\u{FEFF}#EXTM3U\r\n#EXT-X-TARGETDURATION:10\r\n#EXTINF:1.5,t\r\na\r\n"),
            ("#EXTINF:1,\na", "#EXTM3U url-tvg=\"x\"\n\n#EXT-X-TARGETDURATION:10.0\n#EXTINF: 1\n  a \t"),
            (
                "#EXTINF:1,\na\n#EXT-X-ENDLIST",
                "#EXTM3U\n#EXT-X-ENDLIST\n#EXT-X-TARGETDURATION:10\n#EXTINF:1.,\na\n#EXT-X-ENDLIST"
            ),
            (
                "#EXTINF:0.5,\na",
                "#EXTM3U\n# comment \0\n#EXT-X-TARGETDURATION:10\n#EXTINF:.5,\n#EXT-X-NEW:x=\n#EXTX\na"
            ),
            ("#EXTINF:10,\na", "#EXTM3U\n#EXTINF:10,\na"), ("#EXTINF:9.5,\na", "#EXTM3U\n#EXTINF:9.5,\na"),
            (
                "#EXTINF:1,\na",
                "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-BITRATE:x\n#EXT-X-DATERANGE:ID=\"\n#EXTINF:1,\na"
            ),
            (
                "#EXTINF:1,\na",
                "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-START:PRECISE=YES\n#EXT-X-PLAYLIST-TYPE:X\n#EXTINF:1,\na"
            ),
            (
                "\(key)\n#EXTINF:1,\na",
                "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-KEY: METHOD = AES-128 , URI = \"k\" ,\n#EXTINF:1,\na"
            ),
            ("#EXT-X-KEY:METHOD=NONE\n#EXTINF:1,\na", "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:1,\na"),
        ])
    func tolerates(correct: String, text: String) throws {
        #expect(try PlaylistReader.playlist(Array(text.utf8)) == .media(media(correct)))
    }

    @Test func `The pieces in which the bytes arrive do not matter`() throws {
        for text in PlaylistCorpus.all.values {
            let bytes = Array(text.utf8)
            let whole = try PlaylistReader.playlist(bytes)
            for size in [1, 2, 3, 7, 64] {
                var reader = PlaylistReader()
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try reader.read(bytes[start..<min(start + size, bytes.count)])
                }
                #expect(try reader.finish() == whole)
            }
        }
    }

    @Test func `Variables come from names, from the multivariant playlist and from the query`() throws {
        let text = """
            #EXT-X-DEFINE:NAME="a",VALUE="v/"
            #EXT-X-DEFINE:NAME="b",VALUE="{$a}w"
            #EXT-X-DEFINE:IMPORT="c"
            #EXT-X-DEFINE:QUERYPARAM="d"
            #EXT-X-KEY:METHOD=AES-128,URI="{$a}k?{$d}",IV=0x{$c}
            #EXTINF:1,{$title}
            {$b}/{$a}{$ a}{$d}{$}.ts
            """
        let playlist = try media(
            text, imports: [.init(name: "c", value: String(repeating: "0F", count: 16))], query: "x=1&d=%C3%A4%2&d=2")
        #expect(playlist.segments[0].uri == "v/w/v/{$ a}ä%2{$}.ts")
        #expect(playlist.segments[0].title == "{$title}")
        #expect(playlist.keySets[0][0].uri == "v/k?ä%2")
        #expect(playlist.keySets[0][0].initializationVector == [UInt8](repeating: 15, count: 16))
        for query in ["d=%22", "d=%0A", "d=%FF", "d={$a}"] {
            #expect(refusal { try media("#EXT-X-DEFINE:QUERYPARAM=\"d\"", query: query) }?.line == 3, "\(query)")
        }
    }

    @Test func `Limits of the caller, and texts that grow by variables`() throws {
        var limits = PlaylistLimits()
        (limits.bytes, limits.lines, limits.lineBytes, limits.entries) = (4096, 20, 100, 3)
        let doubling = (1...18).map { number in
            let value = number == 1 ? "12345678" : "{$v\(number - 1)}{$v\(number - 1)}"
            return "#EXT-X-DEFINE:NAME=\"v\(number)\",VALUE=\"\(value)\""
        }
        let keys = (1...4).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"\n#EXTINF:1,\na" }
        let many: [(String, Int)] = [
            (String(repeating: "#" + String(repeating: "x", count: 98) + "\n", count: 60), 1),
            (String(repeating: "\n", count: 30), 21), ("#" + String(repeating: "x", count: 101), 2),
            ("#" + String(repeating: "x", count: 101) + "\n", 2), (doubling.joined(separator: "\n"), 5),
            (keys.joined(separator: "\n"), 13),
            ((1...4).map { "#EXT-X-MAP:URI=\"\($0)\"\n#EXTINF:1,\na" }.joined(separator: "\n"), 13),
            ((1...4).map { "#EXT-X-DATERANGE:ID=\"\($0)\"" }.joined(separator: "\n"), 5),
            ((1...4).map { "#EXT-X-DEFINE:NAME=\"\($0)\",VALUE=\"\"" }.joined(separator: "\n"), 5),
            ((1...4).map { "#EXT-X-STREAM-INF:A=1\n\($0)" }.joined(separator: "\n"), 8),
        ]
        for (text, line) in many {
            let found = refusal { try read(text, limits: limits) }
            #expect(found?.kind == .limit && found?.line == line, "\(text.prefix(60)): \(String(describing: found))")
        }
        let formats = (0...64).map { "#EXT-X-KEY:METHOD=X,URI=\"k\",KEYFORMAT=\"\($0)\"" }
        #expect(refusal { try media(formats.joined(separator: "\n")) }?.kind == .limit)
        // A megabyte in one line, with the standard limits and with greater ones.
        let long = "#EXTINF:1,\n" + String(repeating: "x", count: 1 << 20)
        #expect(refusal { try read(long) }?.kind == .limit)
        limits = PlaylistLimits()
        limits.lineBytes = 2 << 20
        guard case .media(let playlist) = try read(long, limits: limits) else { return }
        #expect(playlist.segments.first?.uri.utf8.count == 1 << 20)
    }
}
