import LectureAdaptive
import LectureTestSupport
import Testing

@Suite struct VariantChoiceTests {
    private static let text = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="One",LANGUAGE="ko-KR",AUTOSELECT=YES,URI="ko"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Two",LANGUAGE="en-GB",DEFAULT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Three",LANGUAGE="en",URI="en"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Four",LANGUAGE="de",URI="de"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Five",LANGUAGE="fr",AUTOSELECT=YES,URI="fr"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="c",NAME="Six",URI="six"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Seven",LANGUAGE="en",URI="s-en"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Eight",LANGUAGE="KO",URI="s-ko"
        #EXT-X-STREAM-INF:BANDWIDTH=800,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        v0
        #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s",FRAME-RATE=30
        v1
        #EXT-X-STREAM-INF:BANDWIDTH=5000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s",FRAME-RATE=60
        v2
        #EXT-X-STREAM-INF:BANDWIDTH=9000,RESOLUTION=1280x720,AUDIO="b"
        v3
        #EXT-X-STREAM-INF:BANDWIDTH=64,AUDIO="c"
        v4
        #EXT-X-STREAM-INF:RESOLUTION=1920x1080
        v5
        """

    private static func choose(
        _ text: String = text, _ change: (inout AdaptiveLimits) -> Void = { _ in }
    ) throws -> VariantChoice {
        var limits = AdaptiveLimits()
        change(&limits)
        return try VariantChoice(from: multivariant(text), limits: limits)
    }

    private static func failure(_ text: String = text, _ change: (inout AdaptiveLimits) -> Void) -> VariantChoice
        .Failure?
    {
        do { _ = try choose(text, change) } catch { return error as? VariantChoice.Failure }
        return nil
    }

    /// Limits, and the index, audio, subtitles and missing languages that are chosen.
    private static let table: [(change: @Sendable (inout AdaptiveLimits) -> Void, index: Int, renditions: String)] = [
        ({ _ in }, 2, "Two||"), ({ $0.variant = .worst }, 0, "Two||"), ({ $0.variant = .index(4) }, 4, "Six||"),
        ({ $0.maxHeight = 720 }, 3, "Five||"), ({ $0.maxHeight = 719 }, 0, "Two||"),
        ({ $0.maxHeight = 359 }, 4, "Six||"),
        ({ $0.maxBandwidth = 4999 }, 5, "||"), ({ ($0.maxBandwidth, $0.maxHeight) = (800, 700) }, 0, "Two||"),
        (
            {
                ($0.maxBandwidth, $0.maxHeight) = (1, 1)
                $0.variant = .index(1)
            }, 1, "Two||"
        ),
        ({ $0.audio = .all }, 2, "One,Two,Three||"), ({ $0.subtitles = .all }, 2, "Two|Seven,Eight|"),
        ({ $0.audio = .ranges(["en"]) }, 2, "Two,Three||"), ({ $0.audio = .ranges(["EN-gb"]) }, 2, "Two||"),
        ({ $0.audio = .ranges(["en", "ko"]) }, 2, "Two,Three,One||"),
        ({ $0.audio = .ranges(["*"]) }, 2, "One,Two,Three||"),
        ({ $0.audio = .ranges(["de"]) }, 3, "Four||"), ({ $0.audio = .ranges(["de", "en"]) }, 2, "Two,Three||de"),
        ({ $0.audio = .ranges([]) }, 2, "||"), ({ $0.audio = .ranges(["xx"]) }, 5, "||xx"),
        ({ $0.subtitles = .ranges(["ko", "ja"]) }, 2, "Two|Eight|ja"), ({ $0.subtitles = .ranges([]) }, 2, "Two||"),
        ({ ($0.subtitles, $0.maxHeight) = (.ranges(["ko"]), 720) }, 3, "Five||ko"),
    ]

    @Test(arguments: table.indices)
    func `Limits choose a variant and its renditions`(row: Int) throws {
        let (change, index, renditions) = Self.table[row]
        let choice = try Self.choose(Self.text, change)
        #expect(choice.index == index && choice.variant.uri == "v\(index)")
        func names(_ list: [PlaylistRendition]) -> String { list.map(\.name).joined(separator: ",") }
        let missing = (choice.missingAudio + choice.missingSubtitles).joined(separator: ",")
        #expect("\(names(choice.audio))|\(names(choice.subtitles))|\(missing)" == renditions)
    }

    @Test func `What the limits do not allow is refused with what there is`() {
        let small =
            "#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=1x720\nb\n#EXT-X-STREAM-INF:BANDWIDTH=5,RESOLUTION=1x360\na"
        #expect(Self.failure(small) { $0.maxHeight = 100 } == .beyondLimits(heights: [360, 720], bandwidths: [5, 9]))
        #expect(Self.failure(small) { $0.maxBandwidth = 4 } == .beyondLimits(heights: [360, 720], bandwidths: [5, 9]))
        #expect(Self.failure(small) { ($0.maxBandwidth, $0.maxHeight) = (5, 100) } != nil)
        #expect(Self.failure(small) { $0.variant = .index(2) } == .noSuchVariant(2, count: 2))
        #expect(Self.failure(small) { $0.variant = .index(-1) } == .noSuchVariant(-1, count: 2))
        #expect(Self.failure("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\"") { _ in } == .noVariants)
        #expect(
            Self.failure { ($0.audio, $0.variant) = (.ranges(["ja"]), .index(0)) }
                == .noAudio(languages: ["ko-KR", "en-GB", "en"]))
        #expect(
            Self.failure { ($0.audio, $0.maxHeight, $0.maxBandwidth) = (.ranges(["ja", "e"]), 720, 9000) }
                == .noAudio(languages: ["ko-KR", "en-GB", "en", "de", "fr", "und"]))
    }

    @Test(
        "Variants of other servers are alternatives",
        arguments: [
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"x\"\na\n#EXT-X-STREAM-INF:CODECS=\"x\",BANDWIDTH=1\nb", [1]),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\na", []),
            ("#EXT-X-STREAM-INF:BANDWIDTH=2\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb", []),
            ("#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\na\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"b\"\nb", []),
            (
                "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\",PATHWAY-ID=\"A\"\na\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"b\",PATHWAY-ID=\"B\"\nb\n"
                    + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"c\",PATHWAY-ID=\"A\"\nc", [1]
            ),
        ])
    func alternatives(text: String, others: [Int]) throws {
        let choice = try Self.choose(text)
        #expect(choice.index == 0)
        #expect(choice.alternatives == others)
    }

    @Test func `The order of variants and renditions does not change what is chosen`() throws {
        var generator = SeededGenerator(seed: 7)
        let playlist = try multivariant(Self.text)
        for (change, index, _) in Self.table {
            var limits = AdaptiveLimits()
            change(&limits)
            if case .index = limits.variant { continue }
            var shuffled = playlist
            shuffled.variants.shuffle(using: &generator)
            #expect(try VariantChoice(from: shuffled, limits: limits).variant == playlist.variants[index])
        }
    }

    @Test func `Ten thousand variants with ten thousand renditions`() throws {
        let lines = (0..<10_000).map { number in
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g\(number)",NAME="n",LANGUAGE="\(number == 4321 ? "ko" : "en")",URI="a"
            #EXT-X-STREAM-INF:BANDWIDTH=\(number % 5000 + 1),RESOLUTION=16x\(number % 100),AUDIO="g\(number)"
            v\(number)
            """
        }
        let playlist = try multivariant(lines.joined(separator: "\n"))
        #expect(playlist.variants.count == 10_000 && playlist.renditions.count == 10_000)
        var limits = AdaptiveLimits()
        #expect(try VariantChoice(from: playlist, limits: limits).index == 4999)
        limits.audio = .ranges(["ko"])
        #expect(try VariantChoice(from: playlist, limits: limits).index == 4321)
    }
}
