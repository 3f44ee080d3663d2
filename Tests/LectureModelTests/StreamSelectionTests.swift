import LectureModel
import Testing

/// Which streams are kept, as words and as stored.
@Suite struct StreamSelectionTests {
    private static func selection(_ change: (inout StreamSelection) -> Void) -> StreamSelection {
        var selection = StreamSelection()
        change(&selection)
        return selection
    }

    /// Selections and their texts. Each member differs from the defaults once at least.
    private static let stored: [(selection: StreamSelection, text: String)] = [
        (StreamSelection(), ""), (selection { $0.variant = .worst }, #"{"variant":"worst"}"#),
        (selection { $0.variant = .number(1) }, #"{"variant":"1"}"#),
        (selection { $0.variant = .number(.max) }, #"{"variant":"9223372036854775807"}"#),
        (selection { $0.maxHeight = 720 }, #"{"max_height":720}"#),
        (selection { $0.maxBandwidth = 0 }, #"{"max_bandwidth":0}"#),
        (selection { $0.audioLanguages = ["ko", "en-US"] }, #"{"audio":["ko","en-US"]}"#),
        (selection { $0.subtitleLanguages = ["all"] }, #"{"subtitles":["all"]}"#),
        (selection { $0.subtitleLanguages = ["한\"\\\n"] }, #"{"subtitles":["한\"\\\n"]}"#),
        (selection { $0.allowsGaps = true }, #"{"allow_gaps":true}"#),
        (
            selection {
                ($0.variant, $0.maxHeight, $0.maxBandwidth) = (.number(3), 1_080, 5_000_000)
                ($0.audioLanguages, $0.subtitleLanguages, $0.allowsGaps) = (["ko"], ["en"], true)
            },
            #"{"variant":"3","max_height":1080,"max_bandwidth":5000000,"audio":["ko"],"subtitles":["en"],"#
                + #""allow_gaps":true}"#
        ),
    ]

    @Test(arguments: stored.indices) func `every member is stored and read`(place: Int) throws {
        let (selection, text) = Self.stored[place]
        #expect(selection.text == text)
        #expect(try StreamSelection(stored: text) == selection)
        #expect(selection.isDefault == text.isEmpty)
        // All texts differ, and so do the streams, but for the gaps.
        for (other, (another, _)) in Self.stored.enumerated() {
            #expect((another == selection) == (other == place))
            var gaps = another
            gaps.allowsGaps.toggle()
            #expect(gaps.hasStreams(of: another) && another.hasStreams(of: gaps) && gaps != another)
        }
        #expect(Self.selection { $0.maxHeight = 1 }.hasStreams(of: selection) == false)
    }

    @Test(arguments: [
        ("{}", ""), (#"{"variant":"best"}"#, ""), (#"{"codec":"av1","variant":"worst"}"#, #"{"variant":"worst"}"#),
        (#"{"variant":"newest"}"#, ""), (#"{"variant":"0"}"#, ""), (#"{"variant":7}"#, ""), (#"{"variant":null}"#, ""),
        (#"{"max_height":"720"}"#, ""), (#"{"max_height":null}"#, ""), (#"{"audio":"ko"}"#, ""),
        (#"{"audio":["ko",7,null,"en"]}"#, #"{"audio":["ko","en"]}"#), (#"{"allow_gaps":false}"#, ""),
        (#"{"allow_gaps":1}"#, ""), ("[]", ""), ("7", ""), (#" { "max_height" : 9 } "#, #"{"max_height":9}"#),
    ])
    func `what a later version may have written is left out`(text: String, rest: String) throws {
        #expect(try StreamSelection(stored: text).text == rest)
    }

    @Test(arguments: ["{", "x", "{\"variant\":}", #"{"audio":["ko"}"#, "{}{}", "\u{0}", " "])
    func `damaged text is reported as damage of the store`(text: String) {
        let error = #expect(throws: LectureError.self) { try StreamSelection(stored: text) }
        #expect(error?.code == .storeDamaged)
    }

    @Test(
        arguments: [
            ("best", .best), ("worst", .worst), ("1", .number(1)), ("12", .number(12)), ("007", .number(7)),
            ("+2", .number(2)), ("0", nil), ("-1", nil), ("", nil), (" 1", nil), ("1 ", nil), ("1.0", nil),
            ("Best", nil), ("BEST", nil), ("best ", nil), ("all", nil), ("١", nil), ("0x1", nil),
            ("9223372036854775807", .number(.max)), ("9223372036854775808", nil),
        ] as [(String, StreamSelection.Variant?)])
    func `a variant is best, worst or a number from one`(text: String, due: StreamSelection.Variant?) {
        #expect(StreamSelection.variant(text) == due)
    }
}

/// How much of a lecture is there, in percent.
@Suite struct PercentTests {
    private struct Case {
        var type = ContentType.downloading
        var state = ItemState.downloading
        var bytes: (committed: Int64, total: Int64?) = (0, nil)
        var chunks: (committed: Int, total: Int) = (0, 0)
        /// Of the lecture.
        var stored: Int?
        /// Of its progress while it is downloaded.
        var shown = 0
    }

    private static let adaptive = ContentType.adaptiveDownload

    private static let cases: [Case] = [
        // Plain lectures count bytes alone.
        Case(stored: nil, shown: 0), Case(bytes: (0, 1_000), stored: 0, shown: 0),
        Case(bytes: (9, 1_000), stored: 0, shown: 0), Case(bytes: (10, 1_000), stored: 1, shown: 1),
        Case(bytes: (999, 1_000), stored: 99, shown: 99), Case(bytes: (1_000, 1_000), stored: 100, shown: 100),
        Case(bytes: (1_001, 1_000), stored: 100, shown: 100), Case(bytes: (-1, 1_000), stored: 0, shown: 0),
        Case(bytes: (.max, .max), stored: 100, shown: 100), Case(bytes: (.max / 2, .max), stored: 49, shown: 50),
        Case(bytes: (500, 1_000), chunks: (9, 10), stored: 50, shown: 50),
        Case(bytes: (500, nil), chunks: (0, 0), stored: nil, shown: 0),
        // Adaptive ones count chunks until their bytes are known.
        Case(type: adaptive, stored: nil, shown: 0), Case(type: adaptive, chunks: (0, 3), stored: 0, shown: 0),
        Case(type: adaptive, chunks: (1, 3), stored: 33, shown: 33),
        Case(type: adaptive, chunks: (2, 3), stored: 66, shown: 66),
        Case(type: adaptive, chunks: (3, 3), stored: 99, shown: 99),
        Case(type: adaptive, chunks: (4, 3), stored: 99, shown: 99),
        Case(type: adaptive, chunks: (-1, 3), stored: 0, shown: 0),
        Case(type: adaptive, state: .verifying, chunks: (3, 3), stored: 99, shown: 99),
        Case(type: adaptive, state: .stopped, bytes: (7_000, nil), chunks: (1, 200), stored: 0, shown: 0),
        Case(type: adaptive, bytes: (1_000, 4_000), chunks: (1, 2), stored: 25, shown: 25),
        // What is complete is complete.
        Case(state: .completed, bytes: (1_000, 1_000), stored: 100, shown: 100),
        Case(type: adaptive, state: .completed, bytes: (9, 9), chunks: (3, 3), stored: 100, shown: 100),
        Case(state: .completed, bytes: (0, 0), stored: 100, shown: 0),
        Case(bytes: (0, 0), stored: 100, shown: 0),
    ]

    @Test(arguments: cases.indices) func `the share is rounded down, and 100 only at the end`(place: Int) throws {
        let due = Self.cases[place]
        let key = try ContentKey("a")
        var content = Content(
            key: key, sourceURL: "http://127.0.0.1/a", title: "a", state: due.state, added: Timestamp(milliseconds: 0))
        content.type = due.type
        (content.committedBytes, content.totalBytes) = due.bytes
        (content.committedChunks, content.totalChunks) = due.chunks
        #expect(content.committedPercent == due.stored)
        var progress = DownloadProgress(key: key, title: "a", state: due.state)
        (progress.bytes, progress.total) = due.bytes
        (progress.committedChunks, progress.totalChunks) = due.chunks
        #expect(progress.percent == due.shown)
    }

    @Test func `the share of an adaptive lecture never falls while its chunks grow`() throws {
        var content = Content(
            key: try ContentKey("a"), sourceURL: "", title: "", state: .downloading, added: Timestamp(milliseconds: 0))
        (content.type, content.totalChunks) = (.adaptiveDownload, 257)
        var last = 0
        for chunk in 0...257 {
            content.committedChunks = chunk
            let percent = try #require(content.committedPercent)
            #expect(percent >= last && percent <= 99)
            last = percent
        }
        #expect(last == 99)
        content.state = .completed
        #expect(content.committedPercent == 100)
    }
}

/// The names of the playlists that other programs read.
@Suite struct StreamPlaylistPathTests {
    @Test func `a path leads to its version and nothing else does`() {
        for (version, position) in [(1, 0), (7, 12), (Int64.max, 3)] as [(Int64, Int)] {
            let path = StreamPlaylistPath.path(VersionID(version), position)
            #expect(StreamPlaylistPath.version(of: path) == VersionID(version), "\(path)")
        }
        #expect(StreamPlaylistPath.path(VersionID(7), 0) == "media/stream-7/main.m3u8")
        #expect(StreamPlaylistPath.path(VersionID(7), 2) == "media/stream-7/2.m3u8")
        let others = [
            "", "media/7-lecture.mp4", "media/stream-7", "media/stream-7/0.ts", "stream-7/main.m3u8",
            "media/stream-x/main.m3u8", "media/stream-/main.m3u8", "media/stream-7/a/main.m3u8",
            "other/stream-7/main.m3u8", "media/Stream-7/main.m3u8", "media/stream-7 /main.m3u8",
        ]
        for path in others { #expect(StreamPlaylistPath.version(of: path) == nil, "\(path)") }
    }
}
