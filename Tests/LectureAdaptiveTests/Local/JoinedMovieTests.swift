import LectureAdaptive
import LectureFormats
import Testing

/// Fragments of MP4 as one file that is seekable.
@Suite struct JoinedMovieTests {
    private static func box(_ type: String, _ body: [UInt8]...) -> [UInt8] {
        let body = body.flatMap(\.self)
        return UInt32(body.count + 8).bigEndianBytes + Array(type.utf8) + body
    }

    private static func words(_ words: UInt32...) -> [UInt8] { words.flatMap(\.bigEndianBytes) }

    /// A track; version 1 has times of 64 bits.
    private static func track(
        _ number: UInt32, scale: UInt32, version: UInt32 = 0, edits: [Int64]? = nil
    ) -> [UInt8] {
        let times = [UInt8](repeating: 0, count: version == 0 ? 8 : 16)
        let entries = (edits ?? []).flatMap { time in
            version == 0
                ? words(50, UInt32(truncatingIfNeeded: time), 0x10000)
                : words(0, 50) + time.bigEndianBytes + words(0x10000)
        }
        let list = box("edts", box("elst", words(version << 24, UInt32(edits?.count ?? 0)), entries))
        return box(
            "trak", box("tkhd", words(version << 24), times, words(number, 0)), edits == nil ? [] : list,
            box("mdia", box("mdhd", words(version << 24), times, words(scale, 0))))
    }

    private static func section(_ tracks: [UInt8]...) -> [UInt8] {
        box("ftyp", words(1, 2)) + box("free", [1, 2, 3])
            + box("moov", box("mvhd", words(0, 0, 0, 1000)), tracks.flatMap(\.self), box("mvex", words()))
            + box("sidx", words(0))
    }

    /// Pictures, and sound where two tracks are wanted.
    private static func header(_ count: Int = 1) throws -> MovieHeader {
        let tracks = [track(3, scale: 12_800), track(4, scale: 44_100)]
        return try #require(MovieHeader(section(tracks.prefix(count).flatMap(\.self))))
    }

    @Test func `the header has each track`() throws {
        let sound = Self.track(1, scale: 48_000, edits: [1024])
        let cases: [([UInt8], [String])] = [
            (Self.section(sound), ["1 48000 1024"]),
            (Self.section(sound, Self.track(2, scale: 90_000)), ["1 48000 1024", "2 90000 0"]),
            (
                Self.section(Self.track(7, scale: 600, version: 1, edits: [-1, 1200]), sound),
                ["7 600 1170", "1 48000 1024"]
            ),
            (Self.section(Self.track(4, scale: 100, edits: [-1])), ["4 100 -5"]),
        ]
        for (section, tracks) in cases {
            let header = try #require(MovieHeader(section))
            #expect(header.tracks.map { "\($0.number) \($0.timescale) \($0.mediaTime)" } == tracks)
            // Without the free space between them, and an index of its own.
            #expect(header.bytes.count == section.count - 11 - 12)
            #expect(MovieHeader(header.bytes) == header)
            for count in 0..<section.count - 12 { #expect(MovieHeader(Array(section.prefix(count))) == nil) }
        }
        #expect(MovieHeader(Self.section()) == nil)
        #expect(MovieHeader(Self.section(Self.track(1, scale: 0))) == nil)
        #expect(MovieHeader(Self.box("moov", sound)) == nil, "a file without fragments")
    }

    @Test func `a fragment starts with the composition of its first sample`() throws {
        func fragment(_ track: UInt32, _ time: [UInt8], _ run: [UInt8]) -> [UInt8] {
            Self.box("styp", Self.words(1))
                + Self.box(
                    "moof", Self.box("mfhd", Self.words(0, 1)),
                    Self.box("traf", Self.box("tfhd", Self.words(0x20000, 9)), Self.box("tfdt", Self.words(0, 5))),
                    Self.box("traf", Self.box("tfhd", Self.words(0x20000, track)), Self.box("tfdt", time), run))
        }
        let plain = Self.box("trun", Self.words(0x1, 1, 0))
        let cases: [([UInt8], Int64?)] = [
            (fragment(3, Self.words(0, 100), plain), 100),
            (fragment(3, Self.words(1 << 24, 1, 0), plain), 1 << 32), (fragment(3, Self.words(0, 0), []), 0),
            // Offset of the data, flags of the first sample; its duration, size and flags.
            (fragment(3, Self.words(0, 100), Self.box("trun", Self.words(0xF05, 1, 0, 0, 1, 2, 3, 40))), 140),
            (fragment(3, Self.words(0, 100), Self.box("trun", Self.words(0x0100_0801, 1, 0, UInt32.max))), 99),
            (fragment(3, Self.words(0, 100), Self.box("trun", Self.words(0x801, 1, 0))), 100),
            (fragment(3, Self.words(1 << 24, .max, .max), plain), nil), ([], nil),
            (fragment(9, Self.words(0, 100), plain), nil),
        ]
        let header = try Self.header()
        for (bytes, start) in cases {
            #expect(header.starts(of: bytes) == [start])
            for count in 0..<bytes.count { _ = header.starts(of: Array(bytes.prefix(count))) }
        }
        #expect(try Self.header(2).starts(of: fragment(4, Self.words(0, 7), plain)) == [nil, 7])
        let edited = try #require(MovieHeader(Self.section(Self.track(3, scale: 1, edits: [30]))))
        #expect(edited.starts(of: cases[0].0) == [70])
    }

    private static func segments(_ counts: [Int64], nanoseconds: Int64) -> [JoinedMovie.Segment] {
        counts.enumerated().map { number, count in
            let start = Int64(number * 7)
            return JoinedMovie.Segment(
                file: "\(number).m4s", range: start..<start + count, nanoseconds: nanoseconds)
        }
    }

    @Test(
        arguments: [
            (2_000_000_000, [0, nil]), (333_333_333, [1024, 44_100]), (333_366_667, [12_800 << 16, 0]), (0, [-5, -1]),
        ] as [(Int64, [Int64?])])
    func `the indexes lead to each segment`(nanoseconds: Int64, starts: [Int64?]) throws {
        let counts: [Int64] = [100, 1, 70_000, 8, (1 << 31) - 1]
        let header = try Self.header(2)
        let movie = try #require(
            JoinedMovie(header, Self.segments(counts, nanoseconds: nanoseconds), starts: starts))
        #expect(movie.head.starts(with: header.bytes) && movie.head.count == header.bytes.count + 2 * (40 + 5 * 12))
        for (number, scale) in [12_800, 44_100].enumerated() {
            let place = header.bytes.count + number * 100
            let index = try SegmentIndex(Array(movie.head[place...]), firstOffset: UInt64(place))
            #expect(index.timescale == UInt64(scale))
            #expect(index.earliestPresentationTime == UInt64(max(0, starts[number] ?? 0) + Int64(scale / 2)))
            #expect(index.entries.map { Int64($0.range.count) } == counts)
            #expect(index.entries.allSatisfy { $0.kind == .media && $0.startsWithAccessPoint })
            #expect(index.entries[0].range.start == UInt64(movie.head.count))
            #expect(index.entries[4].range.end == UInt64(movie.byteCount))
            // Each place is the nearest, however many are before it.
            var units: UInt64 = 0
            for (number, entry) in index.entries.enumerated() {
                units += entry.duration
                let exact = Double(nanoseconds) * Double(number + 1) * Double(scale) / 1e9
                #expect(abs(Double(units) - exact) <= 0.5)
            }
        }
        let earliest = starts.enumerated().compactMap { number, start in
            start.map { $0 * 1_000_000_000 / [12_800, 44_100][number] }
        }
        #expect(movie.start == earliest.min())
    }

    @Test func `what an index cannot have is refused`() throws {
        let (header, one) = (try Self.header(), Self.segments([10], nanoseconds: 1))
        let most = [JoinedMovie.Segment](repeating: one[0], count: JoinedMovie.mostSegments)
        #expect(JoinedMovie(header, most, starts: [nil]) != nil)
        #expect(JoinedMovie(header, most + one, starts: [0]) == nil && JoinedMovie(header, one, starts: []) == nil)
        let refused: [([JoinedMovie.Segment], Int64)] = [
            ([], 0), (Self.segments([0], nanoseconds: 1), 0), (Self.segments([1 << 31], nanoseconds: 1), 0),
            (Self.segments([1], nanoseconds: (1 << 32) * 78_125), 0),
            (Self.segments([1, 1], nanoseconds: .max), 0), (one, .max), (one, .min),
        ]
        for (segments, start) in refused { #expect(JoinedMovie(header, segments, starts: [start]) == nil) }
    }

    @Test func `every range is found`() throws {
        let counts: [Int64] = [3, 1, 5]
        let movie = try #require(JoinedMovie(Self.header(), Self.segments(counts, nanoseconds: 1), starts: [0]))
        let head = movie.head.count
        // Each byte by its place: −1 − place in the head, segment × 10 + place.
        var bytes = (0..<head).map { -1 - $0 }
        for (index, count) in counts.enumerated() { bytes += (0..<Int(count)).map { index * 10 + $0 } }
        #expect(movie.byteCount == Int64(bytes.count))
        for start in head - 2..<bytes.count + 2 {
            for end in start...bytes.count + 3 {
                let found = movie.sources(of: Int64(start)..<Int64(end)).flatMap { source in
                    switch source {
                    case .head(let range): range.map { -1 - $0 }
                    case .segment(let index, let range): range.map { index * 10 + Int($0) }
                    }
                }
                #expect(found == Array(bytes[min(start, bytes.count)..<min(end, bytes.count)]))
            }
        }
    }

    @Test func `what is before the first fragment comes behind the last`() throws {
        let media =
            Self.box("moof", [1, 2, 3]) + Self.box("mdat", [4, 5]) + Self.box("moof", []) + Self.box("mdat", [6])
        let long = Self.words(1) + Array("emsg".utf8) + Self.words(0, 2000) + [UInt8](repeating: 9, count: 1984)
        let cases: [([UInt8], Int)] = [
            (media, 0), (Self.box("styp", [7, 7]) + media, 10),
            (Self.box("styp", []) + Self.box("sidx", Self.words(1, 2, 3)) + media, 28), (long + media, 2000),
            (Self.box("styp", []) + long + Self.box("prft", [1]) + media, 2017), (Self.box("free", [1]), 0),
            ([0, 0, 0, 3] + media, 0), ([1], 0), (Self.words(1 << 31) + Array("mdat".utf8), 0),
            (Self.box("styp", []) + Self.words(0), 0),
        ]
        for (bytes, head) in cases {
            for step in [16, 40, 4096] {
                let segment = Self.search(bytes, step)
                #expect(segment.byteCount == Int64(bytes.count) && segment.headCount == Int64(head))
                guard step == 16 else { continue }
                let filler = head == 0 ? [] : Self.box("free", [UInt8](repeating: 0, count: head - 8))
                let joined = bytes.dropFirst(head) + filler
                for (start, end) in [(0, joined.count), (1, joined.count - 1), (joined.count - head, joined.count)]
                where start <= end {
                    let found = segment.sources(of: Int64(start)..<Int64(end)).flatMap { source in
                        switch source {
                        case .media(let range): Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
                        case .filler(let bytes): bytes
                        }
                    }
                    #expect(found == Array(joined.dropFirst(start).prefix(end - start)))
                }
            }
        }
    }

    private static func search(_ bytes: [UInt8], _ step: Int) -> JoinedSegment {
        var place = 0
        while true {
            let part = Array(bytes[place..<min(bytes.count, place + step)])
            switch JoinedSegment.search(part, at: Int64(place), byteCount: Int64(bytes.count)) {
            case .found(let segment): return segment
            case .wanted(let next): place = Int(next)
            }
        }
    }

    private static func playlist(_ lines: String...) -> String {
        "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:2\n" + lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }

    @Test func `one section and what is behind it can be joined`() throws {
        let (map, gap) = (#"#EXT-X-MAP:URI="1.mp4""#, "#EXT-X-GAP\n#EXTINF:1.5,\ngap.m4s")
        let (one, two) = ("#EXTINF:2,\n2.m4s", "#EXTINF:1.25,\n3.m4s")
        let found = try #require(try LocalPlaylist(Self.playlist(map, one, gap, gap, two)).joinable)
        #expect(found.section.file == "1.mp4" && found.segments.map(\.piece.file) == ["2.m4s", "3.m4s"])
        #expect(found.segments.map(\.nanoseconds) == [5_000_000_000, 1_250_000_000])
        #expect(try LocalPlaylist(Self.playlist(map, one, gap)).duration == .milliseconds(3500))
        let refused = [
            Self.playlist(one, two), Self.playlist(map, gap, one), Self.playlist(one, map, two),
            Self.playlist(map, one, #"#EXT-X-MAP:URI="4.mp4""#, two),
            Self.playlist(map, one, "#EXT-X-DISCONTINUITY", two),
            Self.playlist(
                #"#EXT-X-KEY:METHOD=AES-128,URI="1.key",IV=0x\#(String(repeating: "0", count: 32))"#, map, one),
            Self.playlist(),
        ]
        for text in refused { #expect(try LocalPlaylist(text).joinable == nil, "\(text)") }
    }

    @Test func `tracks are the variant and its renditions`() {
        func media(_ name: String, _ uri: Int?, _ more: String) -> String {
            #"#EXT-X-MEDIA:TYPE=\#(more),GROUP-ID="a",NAME="\#(name)""# + (uri.map { #",URI="\#($0).m3u8""# } ?? "")
        }
        func tracks(_ lines: String...) -> [String] {
            LocalTrack.all(
                in: "#EXTM3U\n" + lines.map { "\($0)\n" }.joined() + "#EXT-X-STREAM-INF:BANDWIDTH=1\n1.m3u8\n"
            )
            .map { "\($0.playlist) \($0.name) \($0.language)" }
        }
        let (korean, english) = (
            media("K", 2, #"AUDIO,LANGUAGE="ko""#), media("E", 3, #"AUDIO,DEFAULT=YES,LANGUAGE="en""#)
        )
        #expect(tracks() == ["1.m3u8  "] && LocalTrack.all(in: "").isEmpty)
        #expect(
            tracks(media("own", nil, "AUDIO"), korean, media("text", 4, "SUBTITLES"), english)
                == ["1.m3u8  ", "3.m3u8 E en", "2.m3u8 K ko"])
        // Sound alone: the variant is one of them.
        #expect(tracks(korean, media("first", 1, "AUDIO")) == ["2.m3u8 K ko", "1.m3u8 first "])
    }
}
