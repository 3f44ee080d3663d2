import LectureAdaptive
import LectureFormats
import LectureTestSupport
import Testing

@Suite struct PlaylistWriterTests {
    private static func checkRoundTrip(_ text: String) throws {
        let playlist = try PlaylistReader.playlist(Array(text.utf8))
        let written = try PlaylistWriter.bytes(playlist)
        let again = try PlaylistReader.playlist(written)
        #expect(again == playlist, "\(String(decoding: written, as: UTF8.self))")
        #expect(try PlaylistWriter.bytes(again) == written)
    }

    @Test(arguments: PlaylistCorpus.all.keys.sorted())
    func `A playlist that is written reads as before`(name: String) throws {
        try Self.checkRoundTrip(PlaylistCorpus.all[name] ?? "")
    }

    @Test func `Generated playlists that are written read as before`() throws {
        var generator = SeededGenerator(seed: 20_261_126)
        var segments = 0
        for _ in 0..<500 {
            let text = PlaylistCorpus.generated(&generator)
            try Self.checkRoundTrip(text)
            guard case .media(let playlist) = try PlaylistReader.playlist(Array(text.utf8)) else { continue }
            segments += playlist.segments.count
            // A table of segments that are taken out and put in again is the same table.
            var copy = playlist
            copy.segments = SegmentTable()
            for segment in playlist.segments { copy.segments.append(segment) }
            #expect(copy == playlist)
            #expect(
                playlist.segments.indices.map(copy.discontinuitySequence(ofSegment:))
                    == playlist.segments.indices.map(playlist.discontinuitySequence(ofSegment:)))
        }
        #expect(segments > 5000)
    }

    @Test func `Two playlists that differ in one value are not equal`() throws {
        let base = try PlaylistCorpus.media("everything")
        let changes: [(inout PlaylistSegment) -> Void] = [
            { $0.uri += "x" }, { $0.nanoseconds += 1 }, { $0.title = "x" },
            { $0.byteRange = ByteRange(start: 0, end: 1) },
            { $0.map = 1 }, { $0.keySet = 2 }, { $0.isDiscontinuity.toggle() }, { $0.isGap.toggle() },
            { $0.programDateTime = "x" }, { $0.bitrate = 7 },
        ]
        for change in changes {
            var other = base
            other.segments = SegmentTable()
            for (index, segment) in base.segments.enumerated() {
                var segment = segment
                if index == 3 { change(&segment) }
                other.segments.append(segment)
            }
            #expect(other != base)
            #expect(try PlaylistReader.playlist(PlaylistWriter.bytes(.media(other))) == .media(other))
        }
    }

    @Test func `Names are changed where they are`() throws {
        func changed(_ name: String) throws -> (text: String, names: Set<PlaylistName>) {
            var names: Set<PlaylistName> = []
            let bytes = try PlaylistWriter.bytes(PlaylistCorpus.read(name)) { name, uri in
                names.insert(name)
                return "local/\(uri)"
            }
            return (String(decoding: bytes, as: UTF8.self), names)
        }
        let media = try changed("everything")
        let maps: [PlaylistName] = [
            .map(0), .map(1), .key(set: 0, 0), .key(set: 1, 1), .key(set: 2, 0), .key(set: 2, 2),
        ]
        #expect(media.names == Set((0..<6).map(PlaylistName.segment) + maps))
        for part in ["\nlocal/all.ts\n", "URI=\"local/init.mp4\"", "URI=\"local/k1\"", "\nlocal/c d ä.m4s\n"] {
            #expect(media.text.contains(part), "\(part)")
        }
        let multivariant = try changed("multivariant")
        #expect(
            multivariant.names == [
                .variant(0), .variant(1), .variant(2), .rendition(0), .rendition(2), .iFrameVariant(0), .sessionKey(0),
            ])
        #expect(multivariant.text.contains("\nlocal/hd.m3u8?t=1\n"))
    }

    @Test func `What would be read as something else is not written`() throws {
        let uris = ["", "#a", "a\nb", " a", "a\r", "a\0", "{$a}"]
        for uri in uris {
            #expect(
                refusal { try PlaylistWriter.bytes(PlaylistCorpus.read("plain")) { _, _ in uri } }?.kind == .unwritable)
        }
        for uri in ["a\"b", "a\nb", "x{$a}"] {
            let found = refusal {
                try PlaylistWriter.bytes(PlaylistCorpus.read("multivariant")) { name, old in
                    name == .rendition(0) ? uri : old
                }
            }
            #expect(found?.kind == .unwritable, "\(uri)")
        }
        func edited(_ change: (inout PlaylistSegment) -> Void) throws -> [UInt8] {
            var playlist = try PlaylistCorpus.media("everything")
            var segment = playlist.segments[5]
            change(&segment)
            playlist.segments.append(segment)
            return try PlaylistWriter.bytes(.media(playlist))
        }
        #expect(throws: Never.self) { try edited { $0.keySet = 0 } }
        let changes: [(inout PlaylistSegment) -> Void] = [
            { $0.map = nil }, { $0.map = 2 }, { $0.keySet = 3 }, { $0.nanoseconds = -1 }, { $0.title = "a\nb" },
            { $0.title = " a" }, { $0.programDateTime = "" }, { $0.programDateTime = "a\n#EXT-X-ENDLIST" },
        ]
        for change in changes { #expect(refusal { try edited(change) }?.kind == .unwritable) }
        var list = AttributeList()
        list["ID"] = .plain("a,b")
        var playlist = try PlaylistCorpus.media("plain")
        playlist.dateRanges = [list]
        #expect(refusal { try PlaylistWriter.bytes(.media(playlist)) }?.kind == .unwritable)
        list = AttributeList()
        list["I D"] = .plain("a")
        playlist.dateRanges = [list]
        #expect(refusal { try PlaylistWriter.bytes(.media(playlist)) }?.kind == .unwritable)
    }
}
