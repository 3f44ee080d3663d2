import LectureFormats
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureAdaptive

/// The playlists and files of a live stream that is captured.
@Suite struct StreamCaptureTests {
    private static let home = "https://media.example/live/"

    /// A stream that is captured, with the URLs of its files.
    private struct Captured {
        var capture: StreamCapture
        var urls: [StreamSource] = []
        private let limit: Duration?

        init(limit: Duration? = nil) { (capture, self.limit) = (StreamCapture(limit: limit), limit) }

        /// Takes lists; each is the text behind the head.
        @discardableResult
        mutating func take(_ texts: String..., loaded: Set<Int>? = nil) throws -> StreamCapture.Update {
            var tracks: [LiveStreams.Track] = []
            for text in texts {
                let all = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + text.replacing(" | ", with: "\n") + "\n"
                guard case .media(let list) = try PlaylistReader.playlist(Array(all.utf8)) else { continue }
                tracks.append(.init(playlist: list, url: try StreamURL(StreamCaptureTests.home + "v.m3u8")))
            }
            let live = LiveStreams(
                tracks: tracks, local: texts.count > 1 ? MultivariantPlaylist() : nil, resolution: nil)
            let update = try capture.take(live, loaded: loaded, firstPosition: urls.count + 1)
            urls += update.requests.map { StreamSource(name: $0.name, role: $0.role, url: $0.urls[0]) }
            return update
        }

        /// Goes on from what is stored.
        mutating func restart() throws {
            capture = try #require(
                try StreamCapture(stored: capture.texts(), sources: urls.suffix(16), limit: limit))
        }

        func text(_ place: Int = 0) throws -> String { try capture.texts()[place] }
        /// The lines with tags and names, without those that say nothing here.
        func body(_ place: Int = 0) throws -> [String] {
            let ignored = ["#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#LECTURE", "#EXT-X-START"]
            return try text(place).split(separator: "\n").map(String.init)
                .filter { line in !ignored.contains { line.hasPrefix($0) } }
        }
    }

    private static func list(_ number: Int, _ names: String...) -> String {
        let segments = names.map { name in
            let parts = name.split(separator: "?")
            return "#EXTINF:4, | \(parts[0]).ts" + (parts.count > 1 ? "?\(parts[1])" : "")
        }
        return "#EXT-X-MEDIA-SEQUENCE:\(number) | " + segments.joined(separator: " | ")
    }

    @Test func `a window that moves becomes one playlist, with an end when it has one`() throws {
        var stream = Captured()
        let first = try stream.take(Self.list(7, "a", "b"))
        #expect(first.requests.map(\.name) == ["1.ts", "2.ts"] && first.requests[1].urls == [Self.home + "b.ts"])
        #expect(first.facts.duration == .seconds(8) && first.changed == [0])
        let shown = try stream.text()
        #expect(shown.contains("TYPE:EVENT") && shown.contains("START:TIME-OFFSET=0") && !shown.contains("ENDLIST"))
        #expect(try stream.take(Self.list(7, "a", "b")).changed == [])
        let moved = try stream.take(Self.list(8, "b?t=2", "c?t=2"))
        #expect(moved.urls == ["2.ts": Self.home + "b.ts?t=2"], "a token has changed, and is no other segment")
        #expect(stream.urls.map(\.url) == ["a.ts", "b.ts", "c.ts?t=2"].map { Self.home + $0 })
        #expect(StreamCapture.isGoingOn(try stream.capture.texts()) && !stream.capture.isOver)
        try stream.take(Self.list(9, "c?t=3", "d") + " | #EXT-X-ENDLIST")
        let texts = try stream.capture.texts()
        #expect(stream.capture.isOver && !StreamCapture.isGoingOn(texts) && StreamCapture.isCapture(texts))
        #expect(
            try stream.body() == [
                "#EXT-X-MEDIA-SEQUENCE:7", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXTINF:4,", "1.ts", "#EXTINF:4,", "2.ts",
                "#EXTINF:4,", "3.ts", "#EXTINF:4,", "4.ts", "#EXT-X-ENDLIST",
            ])
    }

    @Test func `what was missed is a gap, and the numbers go on`() throws {
        var stream = Captured()
        try stream.take(Self.list(7, "a"))
        try stream.restart()
        try stream.take(Self.list(10, "d"))
        #expect(
            try stream.body().suffix(9).joined(separator: " ")
                == "1.ts #EXT-X-GAP #EXTINF:4, missed.ts #EXT-X-GAP #EXTINF:4, missed.ts #EXTINF:4, 2.ts")
        let local = try LocalPlaylist(try stream.text())
        #expect(CaptureGaps([try stream.text()], missing: []).text == "1 gap of 2 segments: 0:00:04–0:00:12")
        #expect(CaptureGaps([Self.list(0)], missing: []).isEmpty)
        #expect(local.gaps(without: []) == [StreamGap(start: .seconds(4), end: .seconds(12), segments: 2)])
        #expect(local.gaps(without: ["1.ts"]) == [StreamGap(start: .zero, end: .seconds(12), segments: 3)])
        #expect(try stream.text().contains("#EXT-X-VERSION:8"))
    }

    @Test func `a server that begins anew is behind a gap and a discontinuity, and its vectors become explicit`() throws
    {
        let key = #"#EXT-X-KEY:METHOD=AES-128,URI="k1""#
        var stream = Captured()
        try stream.take("#EXT-X-MEDIA-SEQUENCE:40 | \(key) | #EXTINF:4, | a.ts | #EXTINF:4, | b.ts")
        #expect(try stream.body().contains(#"#EXT-X-KEY:METHOD=AES-128,URI="1.key""#))
        try stream.take("#EXT-X-MEDIA-SEQUENCE:0 | \(key) | #EXTINF:4, | x.ts | #EXTINF:4, | y.ts")
        try stream.restart()
        try stream.take("#EXT-X-MEDIA-SEQUENCE:1 | \(key) | #EXTINF:4, | y.ts | #EXTINF:4, | z.ts")
        let pieces = try LocalPlaylist(try stream.text()).pieces
        func vector(_ number: UInt8) -> [UInt8] { [UInt8](repeating: 0, count: 15) + [number] }
        #expect(pieces.map(\.cipher?.vector) == [40, 41, 0, 1, 2].map(vector))
        #expect(pieces.map(\.file) == ["2.ts", "3.ts", "4.ts", "5.ts", "6.ts"])
        #expect(Set(pieces.map(\.cipher?.key)) == ["1.key"], "it is fetched once, also by a later program")
        let lines = try stream.body()
        let cut = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"))
        #expect(lines[cut - 1] == "missed.ts" && lines[cut...].contains("4.ts"))
    }

    @Test func `a gap keeps implicit vectors, and rotating keys are files in the order of play`() throws {
        func key(_ name: String, _ vector: String = "") -> String {
            #"#EXT-X-KEY:METHOD=AES-128,URI="\#(name)"\#(vector)"#
        }
        let explicit = ",IV=0x000102030405060708090A0B0C0D0E0F"
        var stream = Captured()
        try stream.take("#EXT-X-MEDIA-SEQUENCE:5 | \(key("k1")) | #EXTINF:4, | a.ts | \(key("k2")) | #EXTINF:4, | b.ts")
        try stream.take(
            "#EXT-X-MEDIA-SEQUENCE:9 | \(key("k3", explicit)) | #EXTINF:4, | e.ts | #EXT-X-KEY:METHOD=NONE | "
                + "#EXTINF:4, | f.ts | \(key("k2")) | #EXTINF:4, | g.ts")
        #expect(stream.urls.map(\.name) == ["1.key", "2.ts", "3.key", "4.ts", "5.key", "6.ts", "7.ts", "8.ts"])
        let pieces = try LocalPlaylist(try stream.text()).pieces
        #expect(pieces.map(\.cipher?.key) == ["1.key", "3.key", "5.key", nil, "3.key"])
        #expect(pieces.map { $0.cipher?.vector.last } == [5, 6, 15, nil, 11])
    }

    @Test func `sections, dates and discontinuities stay, and date ranges are put together`() throws {
        var stream = Captured()
        let map = #"#EXT-X-MAP:URI="init.mp4""#
        try stream.take(
            "#EXT-X-MEDIA-SEQUENCE:1 | #EXT-X-DISCONTINUITY-SEQUENCE:3 | "
                + #"#EXT-X-DATERANGE:ID="x",START-DATE="2026-11-27T00:00:00Z" | \#(map) | "#
                + "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T00:00:00Z | #EXTINF:4,one | a.m4s")
        try stream.take(
            "#EXT-X-MEDIA-SEQUENCE:2 | #EXT-X-DISCONTINUITY-SEQUENCE:3 | "
                + #"#EXT-X-DATERANGE:ID="x",START-DATE="2026-11-27T00:00:00Z",DURATION=9 | \#(map) | "#
                + #"#EXTINF:4, | b.m4s | #EXT-X-DISCONTINUITY | #EXT-X-MAP:URI="new.mp4" | #EXT-X-GAP | "#
                + "#EXTINF:2.5, | c.m4s | #EXTINF:4.6, | d.m4s")
        #expect(
            try stream.body() == [
                "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-DISCONTINUITY-SEQUENCE:3", "#EXT-X-PLAYLIST-TYPE:EVENT",
                #"#EXT-X-DATERANGE:ID="x",START-DATE="2026-11-27T00:00:00Z",DURATION=9"#,
                #"#EXT-X-MAP:URI="1.mp4""#, "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T00:00:00Z", "#EXTINF:4,one",
                "2.m4s", "#EXTINF:4,", "3.m4s", "#EXT-X-DISCONTINUITY", #"#EXT-X-MAP:URI="4.mp4""#, "#EXT-X-GAP",
                "#EXTINF:2.5,", "gap.m4s", "#EXTINF:4.6,", "5.m4s",
            ])
        #expect(try stream.text().contains("#EXT-X-TARGETDURATION:5\n"))
        let gaps = CaptureGaps([try stream.text()], missing: ["2.m4s"])
        #expect(gaps.text == "1 gap of 1 segment: 0:00:00–0:00:04", "the server has marked that gap itself")
    }

    @Test func `the time is over when what is kept plays so long, gaps included`() throws {
        var stream = Captured(limit: .seconds(14))
        try stream.take(Self.list(0, "a"))
        try stream.take(Self.list(2, "c", "d", "e"))
        #expect(stream.capture.isOver && stream.urls.map(\.name) == ["1.ts", "2.ts", "3.ts"])
        #expect(try LocalPlaylist(try stream.text()).duration == .seconds(16))
        // What is there already is enough for a shorter time.
        var other = Captured(limit: .seconds(60))
        try other.take(Self.list(0, "a", "b"))
        let shorter = try #require(
            try StreamCapture(stored: other.capture.texts(), sources: other.urls, limit: .seconds(8)))
        #expect(shorter.isOver)
        let closed = try #require(
            try StreamCapture(stored: other.capture.texts(), sources: other.urls, limit: .zero))
        #expect(try closed.texts()[0].contains("#EXT-X-ENDLIST") && closed.isOver)
    }

    @Test func `tracks are loaded by themselves, and their files come in the order of play`() throws {
        var stream = Captured()
        try stream.take(Self.list(0, "v0", "v1"), Self.list(0, "s0", "s1"))
        #expect(stream.urls.map { $0.url.dropFirst(Self.home.count) } == ["v0.ts", "s0.ts", "v1.ts", "s1.ts"])
        let update = try stream.take(Self.list(1, "v1", "v2"), Self.list(1, "s1", "s2"), loaded: [1])
        #expect(update.changed == [1] && update.requests.map(\.name) == ["5.ts"])
        #expect(update.playlists.count == 3 && update.urls["4.ts"] == Self.home + "s1.ts")
        try stream.take(Self.list(2, "v2") + " | #EXT-X-ENDLIST", Self.list(1, "s1", "s2"))
        #expect(stream.capture.isOver(0) && !stream.capture.isOver)
        try stream.restart()
        #expect(stream.capture.isOver(0) && !stream.capture.isOver(1) && stream.capture.count == 2)
        #expect(throws: LectureError.self, "other streams") { try stream.take(Self.list(2, "v2")) }
    }

    @Test(arguments: [
        (#"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k" | #EXTINF:4, | a.ts"#, LectureError.Code.streamProtected),
        ("#EXT-X-BYTERANGE:5@0 | #EXTINF:4, | a.ts", .playlistUnsupported),
        (#"#EXT-X-KEY:METHOD=AES-128,URI="k" | #EXT-X-MAP:URI="i" | #EXTINF:4, | a"#, .playlistDamaged),
        ("#EXTINF:4, | file:///etc/passwd", .playlistDamaged),
    ])
    func `what cannot be captured is refused, and what was captured stays`(text: String, code: LectureError.Code) throws
    {
        var stream = Captured()
        try stream.take(Self.list(0, "a"))
        let before = try stream.text()
        let error = #expect(throws: LectureError.self) { try stream.take("#EXT-X-MEDIA-SEQUENCE:1 | " + text) }
        #expect(error?.code == code)
        #expect(try stream.text() == before)
        try stream.take(Self.list(1, "b"))
        #expect(stream.urls.map(\.name) == ["1.ts", "2.ts"])
    }

    @Test func `the number of segments is limited`() throws {
        var stream = Captured()
        try stream.take(Self.list(0, "a"))
        for load in 1...20 where !stream.capture.isFull { try stream.take(Self.list(load * 4096, "s\(load)")) }
        let text = try stream.text()
        #expect(stream.capture.isFull && text.split(separator: "\n").count { $0 == "#EXTINF:4," } == 50_000)
    }

    /// A generated broadcast: its server begins anew, its window jumps, keys rotate, and copies are older.
    private struct Broadcast {
        /// What a segment was at its server.
        struct Segment { var name: String, number: Int64, epoch: Int, key: Int }
        var random: SeededGenerator
        var segments: [Segment] = []
        var start = 0
        private var epoch = 0
        private var number: Int64

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            number = Int64.random(in: 0...500, using: &random)
        }

        /// Goes on for some time.
        mutating func advance() {
            for _ in 0..<Int.random(in: 0...7, using: &random) {
                let key = segments.count / 5
                segments.append(
                    Segment(name: "e\(epoch)-\(number)", number: number, epoch: epoch, key: key))
                number += 1
            }
            guard Int.random(in: 0..<12, using: &random) == 0 else { return }
            (epoch, number, start) = (epoch + 1, Int64.random(in: 0...3, using: &random), segments.count)
        }

        /// The list of a window that ends some segments before the newest.
        mutating func list(isLast: Bool) -> String? {
            let delay = isLast ? 0 : max(0, Int.random(in: -6...2, using: &random))
            let end = max(start, segments.count - delay)
            let first = max(start, end - Int.random(in: 1...6, using: &random))
            guard first < end else { return nil }
            var text = "#EXT-X-MEDIA-SEQUENCE:\(segments[first].number)"
            for segment in segments[first..<end] {
                text += #" | #EXT-X-KEY:METHOD=AES-128,URI="k\#(segment.key)" | #EXTINF:4, | \#(segment.name).ts"#
            }
            return text + (isLast ? " | #EXT-X-ENDLIST" : "")
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `nothing is kept twice or lost in silence, and every vector is right`(seed: UInt64) throws {
        var (live, stream) = (Broadcast(seed: seed), Captured())
        for load in 0..<40 {
            live.advance()
            if let list = live.list(isLast: load == 39) { try stream.take(list) }
            if stream.capture.count > 0, !stream.capture.isOver, load % 6 == 5 { try stream.restart() }
        }
        let text = try stream.text()
        guard case .media(let playlist) = try PlaylistReader.playlist(Array(text.utf8)) else { return }
        let urls = Dictionary(uniqueKeysWithValues: stream.urls.map { ($0.name, $0.url) })
        let places = Dictionary(
            uniqueKeysWithValues: live.segments.enumerated().map { (Self.home + "\($1.name).ts", $0) })
        var (last, gaps, isCut): (Int?, Int, Bool) = (nil, 0, false)
        for (index, segment) in playlist.segments.enumerated() {
            isCut = isCut || segment.isDiscontinuity
            if segment.isGap {
                gaps += 1
                continue
            }
            let place = try #require(places[urls[segment.uri] ?? ""])
            let source = live.segments[place]
            let key = try #require(segment.keySet.map { playlist.keySets[$0][0] })
            let vector = key.initializationVector(forSegment: playlist.number(ofSegment: index))
            #expect(Array(vector.suffix(8)) == source.number.bigEndianBytes, "\(seed): \(source)")
            #expect(urls[key.uri ?? ""] == Self.home + "k\(source.key)")
            if let last {
                let before = live.segments[last]
                #expect(place > last, "\(seed): \(source) comes twice")
                if before.epoch == source.epoch, !isCut {
                    #expect(gaps == place - last - 1, "\(seed): before \(source)")
                } else {
                    #expect(gaps > 0 && isCut || source.number > before.number, "\(seed): \(before), \(source)")
                }
            }
            (last, gaps, isCut) = (place, 0, false)
        }
        #expect(last == live.segments.indices.last || live.segments.count == live.start, "\(seed): the end")
    }
}
