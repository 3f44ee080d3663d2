import LectureAdaptive
import LectureFormats
import LectureModel
import LectureXML
import Testing

/// From playlists to the files that are kept and the playlists that play them.
struct StreamReaderTests {
    static let base = "https://h.example/c/m.m3u8?sig=1"

    /// A media playlist with these lines.
    static func media(_ lines: String..., target: Int = 10, end: Bool = true) -> String {
        "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(target)\n" + lines.map { "\($0)\n" }.joined()
            + (end ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Segments of one length.
    static func segments(_ names: [String], _ seconds: Int = 4) -> String {
        names.map { "#EXTINF:\(seconds),\n\($0)" }.joined(separator: "\n")
    }

    static func document(_ text: String, _ url: String = base) -> StreamDocument {
        StreamDocument(text: .playlist(Array(text.utf8)), url: url)
    }

    static func reader(
        _ source: String, _ others: [StreamDocument] = [], url: String = base,
        selecting change: (inout StreamSelection) -> Void = { _ in }
    ) -> StreamReader {
        var selection = StreamSelection()
        change(&selection)
        return StreamReader(source: document(source, url), others: others, selection)
    }

    static func plan(_ reader: StreamReader, firstPosition: Int = 0) throws -> StreamPlan {
        guard case .plan(let plan) = try reader.reading(firstPosition: firstPosition) else {
            throw LectureError(.bug, detail: "playlists are needed")
        }
        return plan
    }

    static func needs(_ reader: StreamReader) throws -> [ResourceRequest] {
        guard case .needs(let requests) = try reader.reading(firstPosition: 0) else {
            throw LectureError(.bug, detail: "nothing is needed")
        }
        return requests
    }

    /// Files as lines: name, role, the end of the URL.
    static func files(_ plan: StreamPlan) -> [String] {
        plan.requests.map { request in
            let url = request.urls.joined(separator: " ").replacing("https://h.example/c/", with: "")
            return "\(request.name) \(request.role.name) \(url)" + (request.expectedBytes.map { " \($0)" } ?? "")
        }
    }

    /// The addresses in a playlist, in its order.
    static func names(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("#") else { return String(line) }
            guard let start = line.firstRange(of: "URI=\"")?.upperBound else { return nil }
            return String(line[start...].prefix { $0 != "\"" })
        }
    }

    static func refusal(_ source: String, _ others: [StreamDocument] = [], url: String = base) -> LectureError? {
        do { _ = try reader(source, others, url: url).reading(firstPosition: 0) } catch { return error }
        return nil
    }

    // MARK: One playlist

    @Test func `keys and maps come once, before what needs them, and keys rotate`() throws {
        let text = Self.media(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\",IV=0x00000000000000000000000000000001", "#EXT-X-MAP:URI=\"i.mp4\"",
            Self.segments(["a.m4s", "b.m4s"]), "#EXT-X-KEY:METHOD=AES-128,URI=\"k2?x=1\"", Self.segments(["c.m4s"]),
            "#EXT-X-KEY:METHOD=NONE", Self.segments(["d.m4s"]), "#EXT-X-DISCONTINUITY",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\"", Self.segments(["e.m4s"], 2))
        let plan = try Self.plan(Self.reader(text), firstPosition: 7)
        #expect(
            Self.files(plan) == [
                "7.key key k1 16", "8.mp4 initialisation i.mp4", "9.m4s segment a.m4s", "10.m4s segment b.m4s",
                "11.key key k2?x=1 16", "12.m4s segment c.m4s", "13.m4s segment d.m4s", "14.m4s segment e.m4s",
            ])
        #expect(plan.playlists.count == 1 && plan.facts.duration == .seconds(18))
        #expect(plan.facts.type == .adaptiveDownload && plan.facts.width == nil && plan.facts.height == nil)
        #expect(
            Self.names(plan.playlists[0]) == [
                "7.key", "8.mp4", "9.m4s", "10.m4s", "11.key", "12.m4s", "13.m4s", "7.key", "14.m4s",
            ])
        #expect(plan.playlists[0].contains("METHOD=NONE"))
        // What the store has can be read again, and names the same files.
        let again = try Self.plan(Self.reader(plan.playlists[0]))
        #expect(again.requests.map(\.role) == plan.requests.map(\.role))
        #expect(plan.matches(plan.playlists) && !plan.matches([]) && !plan.matches(plan.playlists + ["x"]))
        #expect(!plan.matches(["#EXTM3U\n"]) && plan.matches(["#EXTM3U\n#LECTURE-CLOSED\n"]))
    }

    @Test func `ranges of a file are one file, and a whole file is one each time`() throws {
        let text = Self.media(
            "#EXT-X-MAP:URI=\"v.mp4\",BYTERANGE=\"100@0\"", "#EXTINF:4,\n#EXT-X-BYTERANGE:50@100\nv.mp4",
            "#EXTINF:4,\n#EXT-X-BYTERANGE:50\nv.mp4", "#EXTINF:4,\n#EXT-X-BYTERANGE:9@0\nw.mp4",
            Self.segments(["x.mp4", "x.mp4"]), "#EXTINF:4,\n#EXT-X-BYTERANGE:8@9\n./../c/w.mp4")
        let plan = try Self.plan(Self.reader(text))
        #expect(
            Self.files(plan) == [
                "0.mp4 initialisation v.mp4", "1.mp4 segment w.mp4", "2.mp4 segment x.mp4", "3.mp4 segment x.mp4",
            ])
        #expect(
            Self.names(plan.playlists[0]) == ["0.mp4", "0.mp4", "0.mp4", "1.mp4", "2.mp4", "3.mp4", "1.mp4"])
        #expect(plan.playlists[0].contains("#EXT-X-BYTERANGE:50@100"))
        let local = try LocalPlaylist(plan.playlists[0])
        #expect(!local.isEmpty)
    }

    @Test func `a gap is no file, and keeps its time`() throws {
        let text = Self.media(
            Self.segments(["a.ts"]), "#EXT-X-GAP", Self.segments(["missing.ts"], 6), Self.segments(["c.ts"]))
        let plan = try Self.plan(Self.reader(text))
        #expect(Self.files(plan) == ["0.ts segment a.ts", "1.ts segment c.ts"])
        #expect(Self.names(plan.playlists[0]) == ["0.ts", "gap.ts", "1.ts"])
        #expect(plan.playlists[0].contains("#EXT-X-GAP") && plan.facts.duration == .seconds(14))
    }

    @Test(arguments: [
        ("a.TS?x=.mp4", "ts"), ("a.mp4/../b", "ts"), (".m4s/../../x", "ts"), ("x/.m4s", "m4s"), ("a.m4s#.exe", "m4s"),
        ("a", "ts"), ("a.", "ts"), ("a.php", "ts"), ("a.ts.sh", "ts"), ("a.sh.ts", "ts"), ("a.M4A", "m4a"),
        ("a.aac", "aac"), ("a.vtt?q", "vtt"), ("?file=a.mp4", "m3u8"), ("a.ts%00.mp4", "mp4"), ("a.mp4%2F..%2Fx", "ts"),
        ("a.ts/", "ts"), ("한.ts", "ts"), ("a.\u{202E}4pm", "ts"), ("a.mp4;b=1", "ts"), ("a.key", "ts"),
        ("//other.example/a.webvtt", "webvtt"), ("/a.cmfv", "cmfv"), ("a.m3u8", "ts"), ("a.html", "ts"),
    ])
    func `a name is a number and a suffix that is known`(uri: String, suffix: String) throws {
        let due = suffix == "m3u8" ? "ts" : suffix
        let plan = try Self.plan(Self.reader(Self.media(Self.segments([uri]))), firstPosition: 41)
        #expect(plan.requests.map(\.name) == ["41.\(due)"])
        #expect(Self.names(plan.playlists[0]) == ["41.\(due)"])
        // Behind a map, segments are parts of MPEG-4.
        let mapped = try Self.plan(Self.reader(Self.media("#EXT-X-MAP:URI=\"i\"", Self.segments([uri]))))
        #expect(mapped.requests.map(\.name) == ["0.mp4", "1.\(due == "ts" && !Self.isTS(uri) ? "m4s" : due)"])
    }

    /// Whether the suffix of the last part of the path says so.
    private static func isTS(_ uri: String) -> Bool {
        ["a.TS?x=.mp4", "a.sh.ts", "a.ts/", "한.ts"].contains(uri)
    }

    @Test func `hostile keys have the names of keys`() throws {
        for uri in ["../../../etc/passwd", "a.mp4", "k.key/..", "?k"] {
            let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\""
            let plan = try Self.plan(Self.reader(Self.media(key, Self.segments(["a.ts"]))))
            #expect(plan.requests.map(\.name) == ["0.key", "1.ts"], "\(uri)")
            #expect(plan.requests[0].urls[0].hasPrefix("https://h.example/"))
        }
    }

    // MARK: What is refused

    private static let good = segments(["a.ts"])
    private static let key = "#EXT-X-KEY:METHOD="

    /// Playlists, with the code and a word of the cause.
    private static let refused: [(text: String, code: LectureError.Code, cause: String)] = [
        ("", .playlistDamaged, ""), ("#EXTM3U\n", .playlistDamaged, ""), ("<html>", .playlistDamaged, ""),
        (media(), .playlistDamaged, "no segments"), (media(good, end: false), .streamLive, ""),
        (media(segments(["http://h.example/a.ts"])), .playlistDamaged, "leaves https"),
        (media("#EXT-X-MAP:URI=\"http://h.example/i\"", good), .playlistDamaged, "leaves https"),
        (media("\(key)AES-128,URI=\"http://h.example/k\"", good), .playlistDamaged, "leaves https"),
        (media(segments(["file:///etc/passwd"])), .playlistDamaged, "not an http"),
        (media(segments(["ftp://h.example/a.ts"])), .playlistDamaged, "not an http"),
        (media(segments(["data:video/mp2t;base64,AAAA"])), .playlistDamaged, "not an http"),
        (media("\(key)AES-128,URI=\"data:;base64,AAAA\"", good), .playlistDamaged, "not an http"),
        (media("\(key)AES-128,URI=\"javascript:1\"", good), .playlistDamaged, "not an http"),
        (
            media("\(key)AES-128,URI=\"k\"", "#EXT-X-MAP:URI=\"i\"", good), .playlistDamaged,
            "initialisation section has no IV"
        ),
        (media("\(key)SAMPLE-AES,URI=\"k\"", good), .streamProtected, "SAMPLE-AES"),
        (media("\(key)SAMPLE-AES-CTR,URI=\"k\"", good), .streamProtected, "SAMPLE-AES-CTR"),
        (media("\(key)X,URI=\"k\"", good), .streamProtected, "not known"),
        (
            media("\(key)SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", good),
            .streamProtected, "FairPlay"
        ),
        (
            media("\(key)AES-128,URI=\"k\",KEYFORMAT=\"URN:UUID:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED\"", good),
            .streamProtected, "Widevine"
        ),
        (
            media("\(key)AES-128,URI=\"k\",KEYFORMAT=\"com.microsoft.playready\"", good), .streamProtected,
            "PlayReady"
        ),
        (media("\(key)AES-128,URI=\"k\",KEYFORMAT=\"other\"", good), .streamProtected, "not known"),
    ]

    @Test(arguments: refused.indices) func `a playlist that is not kept says why`(place: Int) {
        let due = Self.refused[place]
        let error = Self.refusal(due.text)
        #expect(error?.code == due.code && error?.cause.contains(due.cause) == true, "\(error as Any)")
        // The same as a variant's playlist.
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let other = Self.refusal(master, [Self.document(due.text, "https://h.example/c/v.m3u8")])
        #expect(other?.code == due.code && other?.cause.contains(due.cause) == true, "\(other as Any)")
    }

    @Test func `references follow the URL that answered, and may come to https`() throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://cdn.example/v.m3u8\n"
        let plain = "http://h.example/m.m3u8"
        #expect(try Self.needs(Self.reader(master, url: plain)).map(\.urls) == [["https://cdn.example/v.m3u8"]])
        let elsewhere = Self.document(Self.media(Self.good), "http://eu.example/x/y/v.m3u8?t=1")
        let plan = try Self.plan(Self.reader(master, [elsewhere], url: plain))
        #expect(plan.requests.map(\.urls) == [["http://eu.example/x/y/a.ts"]])
        #expect(Self.refusal("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://h.example/v\n")?.code == .playlistDamaged)
        #expect(Self.refusal(master, url: "m.m3u8") != nil && Self.refusal(master, url: "") != nil)
    }

    @Test func `playlists name no playlists of playlists and no manifests`() throws {
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
        let error = Self.refusal(master, [Self.document(master)])
        #expect(error?.code == .playlistDamaged && error?.cause.contains("names variants again") == true)
        let manifest = try StreamText(Array(DASHSupport.single("").utf8), xml: LibXMLReader())
        let xml = Self.refusal(master, [StreamDocument(text: manifest, url: Self.base)])
        #expect(xml?.code == .playlistDamaged && xml?.cause.contains("XML") == true)
        let session = "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.widevine\"\n"
        let keys = Self.refusal(master + session)
        #expect(keys?.code == .streamProtected && keys?.cause == "Widevine", "\(keys as Any)")
    }

    // MARK: Several playlists

    private static let master = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=YES,URI="ko.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="French",LANGUAGE="fr",URI="fr.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s-en.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Korean",LANGUAGE="ko",URI="s-ko.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
        low.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,AVERAGE-BANDWIDTH=4000000,RESOLUTION=1920x1080,AUDIO="a",SUBTITLES="s"
        high.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720
        middle.m3u8

        """

    @Test func `the chosen playlists are asked for, each once`() throws {
        let cases: [(change: (inout StreamSelection) -> Void, uris: [String])] = [
            ({ _ in }, ["high", "ko"]), ({ $0.variant = .worst }, ["low", "ko"]), ({ $0.maxHeight = 720 }, ["middle"]),
            ({ $0.maxBandwidth = 1_000_000 }, ["low", "ko"]), ({ $0.variant = .number(3) }, ["middle"]),
            ({ $0.audioLanguages = ["all"] }, ["high", "ko", "en"]), ({ $0.audioLanguages = ["en"] }, ["high", "en"]),
            ({ $0.subtitleLanguages = ["ko", "en"] }, ["high", "ko", "s-ko", "s-en"]),
            ({ $0.subtitleLanguages = ["xx"] }, ["high", "ko"]),
        ]
        for (number, (change, uris)) in cases.enumerated() {
            let requests = try Self.needs(Self.reader(Self.master, selecting: change))
            #expect(requests.map(\.urls) == uris.map { ["https://h.example/c/\($0).m3u8"] }, "case \(number)")
            #expect(requests.map(\.name) == uris.indices.map { StreamPlaylistPath.name($0 + 1) }, "case \(number)")
            #expect(requests.allSatisfy { $0.role == .playlist })
        }
        let refused: [(change: (inout StreamSelection) -> Void, cause: String)] = [
            ({ $0.maxHeight = 100 }, "360, 720, 1080 lines"), ({ $0.variant = .number(4) }, "no variant 4 of 3"),
        ]
        for (change, cause) in refused {
            let error = #expect(throws: LectureError.self) {
                try Self.needs(Self.reader(Self.master, selecting: change))
            }
            #expect(error?.code == .variantUnavailable && error?.cause.contains(cause) == true, "\(error as Any)")
        }
        // Sound that is in the variant's own playlist is not asked for twice.
        let own = Self.master.replacing("URI=\"ko.m3u8\"", with: "URI=\"high.m3u8\"")
        #expect(try Self.needs(Self.reader(own)).map(\.urls) == [["https://h.example/c/high.m3u8"]])
        let plan = try Self.plan(
            Self.reader(own, [Self.document(Self.media(Self.good), "https://h.example/c/high.m3u8")]))
        #expect(plan.playlists.count == 2 && Self.names(plan.playlists[0]).allSatisfy { $0 == "1.m3u8" })
    }

    @Test func `tracks lie in the order of their time`() throws {
        func tracks(_ pictures: String, _ sound: String) -> [StreamDocument] {
            [
                Self.document(pictures, "https://h.example/c/v/high.m3u8"),
                Self.document(sound, "https://h.example/c/a/ko.m3u8"),
            ]
        }
        let map = "#EXT-X-MAP:URI=\"../i.mp4\""
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"../k\",IV=0x0123456789abcdef0123456789abcdef"
        let pictures = Self.media(key, map, Self.segments(["0.m4s", "1.m4s", "2.m4s"]))
        let sound = Self.media(key, map, Self.segments(["0.aac", "1.aac"], 6))
        let plan = try Self.plan(Self.reader(Self.master, tracks(pictures, sound)))
        #expect(
            Self.files(plan) == [
                "0.key key k 16", "1.mp4 initialisation i.mp4", "2.m4s segment v/0.m4s", "3.aac segment a/0.aac",
                "4.m4s segment v/1.m4s", "5.aac segment a/1.aac", "6.m4s segment v/2.m4s",
            ])
        #expect(plan.playlists.count == 3 && plan.facts.duration == .seconds(12))
        #expect(plan.facts.width == 1_920 && plan.facts.height == 1_080)
        #expect(Self.names(plan.playlists[0]) == ["2.m3u8", "1.m3u8"])
        #expect(Self.names(plan.playlists[1]) == ["0.key", "1.mp4", "2.m4s", "4.m4s", "6.m4s"])
        #expect(Self.names(plan.playlists[2]) == ["0.key", "1.mp4", "3.aac", "5.aac"])
        // However long each is, no track is more than a segment ahead, and each keeps its own order.
        for (count, seconds) in [(30, 1), (1, 30), (7, 3), (100, 2)] {
            let long = Self.media(Self.segments((0..<count).map { "\($0).ts" }, seconds), target: 30)
            let short = Self.media(Self.segments((0..<12).map { "\($0).aac" }, 5))
            let files = try Self.plan(Self.reader(Self.master, tracks(long, short))).requests
            var (ends, numbers) = ([0, 0], [0, 0])
            for file in files {
                let (track, step) = file.name.hasSuffix("ts") ? (0, seconds) : (1, 5)
                let isOver = track == 0 ? numbers[1] == 12 : numbers[0] == count
                #expect(isOver || ends[track] <= ends[1 - track])
                #expect(file.urls[0].hasSuffix("/\(numbers[track]).\(track == 0 ? "ts" : "aac")"))
                ends[track] += step
                numbers[track] += 1
            }
            #expect(numbers == [count, 12])
        }
    }

    @Test func `the local playlist names what is kept alone`() throws {
        let others = ["high", "en", "s-ko"].map {
            Self.document(
                Self.media(Self.segments(["0.\($0.hasPrefix("s") ? "vtt" : "ts")"])), "https://h.example/\($0)")
        }
        let reader = Self.reader(Self.master, others) {
            ($0.audioLanguages, $0.subtitleLanguages) = (["en"], ["ko"])
        }
        let plan = try Self.plan(reader)
        let text = plan.playlists[0]
        #expect(
            !text.contains("French") && !text.contains("h.example") && !text.contains("LANGUAGE=\"fr\"")
                && !text.contains("low.m3u8"))
        guard case .multivariant(let local) = try PlaylistReader.playlist(Array(text.utf8)) else {
            Issue.record("no multivariant playlist")
            return
        }
        #expect(local.variants.map(\.uri) == ["1.m3u8"])
        #expect(local.renditions.map(\.language) == ["en", "ko"])
        #expect(local.renditions.map(\.uri) == ["2.m3u8", "3.m3u8"])
        // Without sound and subtitles the variant names no groups.
        let bare = try Self.plan(
            Self.reader(Self.master.replacing("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\"", with: "#X"), [others[0]]))
        #expect(!bare.playlists[0].contains("AUDIO=") && !bare.playlists[0].contains("SUBTITLES="))
    }

    @Test func `ten thousand variants are read`() throws {
        var text = "#EXTM3U\n"
        for number in 0..<10_000 {
            text += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\(number)\",NAME=\"n\",LANGUAGE=\"ko\",URI=\"a\(number)\"\n"
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(number + 1),RESOLUTION=2x2,AUDIO=\"g\(number)\"\nv\(number)\n"
        }
        let requests = try Self.needs(Self.reader(text))
        #expect(requests.map(\.urls) == [["https://h.example/c/v9999"], ["https://h.example/c/a9999"]])
    }

    // MARK: Outlines

    @Test func `an outline says what there is and what would be kept`() throws {
        let others = ["high", "ko"].map {
            Self.document(Self.media(Self.segments((0..<3).map { "\($0).ts" })), "https://h.example/\($0)/m.m3u8")
        }
        let reader = Self.reader(Self.master, others)
        let outline = try reader.outline(Self.plan(reader))
        #expect(outline.variants.map(\.number) == [1, 2, 3])
        #expect(outline.variants.map(\.bandwidth) == [800_000, 5_000_000, 2_000_000])
        #expect(outline.variants.map(\.height) == [360, 1_080, 720])
        #expect(outline.variants.map(\.width) == [640, 1_920, 1_280])
        #expect(outline.chosen == 2 && outline.segments == 6 && outline.files == 6)
        #expect(outline.audioLanguages == ["ko", "en"] && outline.subtitleLanguages == ["en", "ko"])
        #expect(outline.duration == .seconds(12) && outline.estimatedBytes == 6_000_000)
        let alone = Self.reader(Self.media("#EXT-X-MAP:URI=\"i\"", Self.good))
        let bare = try alone.outline(Self.plan(alone))
        #expect(bare.variants.isEmpty && bare.chosen == nil && bare.estimatedBytes == nil)
        #expect(bare.files == 2 && bare.segments == 1 && bare.duration == .seconds(4))
    }

    private static let manifest = DASHSupport.text(
        DASHSupport.attributes,
        """
        <Period><AdaptationSet mimeType='video/mp4'>
        <SegmentTemplate media='$RepresentationID$-$Number$.m4s' initialization='$RepresentationID$.mp4' duration='2'/>
        <Representation id='a' bandwidth='500000' width='640' height='360'/>
        <Representation id='b' bandwidth='2500000' width='1280' height='720'/>
        <Representation id='c' bandwidth='2400000' width='1280' height='720'/></AdaptationSet>
        <AdaptationSet mimeType='audio/mp4' lang='ko'>
        <SegmentTemplate media='s-$Number$.m4s' initialization='s.mp4' duration='5'/>
        <Representation id='s' bandwidth='200000'/></AdaptationSet>
        <AdaptationSet mimeType='audio/mp4' lang='en'>
        <SegmentTemplate media='e-$Number$.m4s' initialization='e.mp4' duration='5'/>
        <Representation id='e' bandwidth='100000'/></AdaptationSet></Period>
        """)

    @Test func `a manifest has an outline and a plan of the same form`() throws {
        let text = try StreamText(Array(Self.manifest.utf8), xml: LibXMLReader())
        let cases: [(change: (inout StreamSelection) -> Void, chosen: Int, first: String, bytes: Int64)] = [
            ({ _ in }, 2, "b", 3_375_000), ({ $0.variant = .number(3) }, 3, "c", 3_250_000),
            ({ $0.maxHeight = 400 }, 1, "a", 875_000), ({ $0.variant = .number(1) }, 1, "a", 875_000),
            ({ $0.maxBandwidth = 2_650_000 }, 3, "c", 3_250_000),
        ]
        for (number, (change, chosen, first, bytes)) in cases.enumerated() {
            var selection = StreamSelection()
            change(&selection)
            let source = StreamDocument(text: text, url: "https://h.example/c/m.mpd")
            let reader = StreamReader(source: source, others: [], selection)
            let plan = try Self.plan(reader)
            let outline = try reader.outline(plan)
            #expect(outline.variants.map(\.height) == [360, 720, 720], "case \(number)")
            #expect(outline.variants.map(\.bandwidth) == [500_000, 2_500_000, 2_400_000])
            #expect(outline.chosen == chosen, "case \(number)")
            #expect(outline.audioLanguages == ["ko", "en"] && outline.subtitleLanguages.isEmpty)
            #expect(outline.files == 9 && outline.segments == 7 && outline.duration == .seconds(10))
            #expect(outline.estimatedBytes == bytes, "case \(number)")
            #expect(plan.requests.first?.urls == ["https://h.example/c/\(first).mp4"], "case \(number)")
            #expect(
                plan.requests.map(\.role) == [
                    .initialisation, .segment, .initialisation, .segment, .segment, .segment, .segment, .segment,
                    .segment,
                ])
            #expect(plan.playlists.count == 3)
        }
    }

    // MARK: Live streams

    @Test func `a live stream is captured where that is asked for, and read as one that may have ended`() throws {
        let text = Self.media(Self.segments(["a.ts", "b.ts"]), end: false)
        for capture in [StreamSelection.Capture.untilEnd, .duration(.seconds(4))] {
            let reader = Self.reader(text) { $0.capture = capture }
            guard case .live(let streams) = try reader.reading(firstPosition: 0) else {
                Issue.record("it is live")
                continue
            }
            let outline = try reader.outline(streams)
            let count = capture.limit == nil ? 2 : 1
            #expect(outline.isLive && outline.segments == count && outline.files == count)
            #expect(outline.duration == .seconds(4 * count))
        }
        let ended = Self.reader(Self.media(Self.segments(["a.ts"]))) { $0.capture = .untilEnd }
        #expect(try Self.plan(ended).requests.count == 1, "a recorded lecture is no capture")
        guard case .live = try ended.reading(firstPosition: 0, isCapturing: true) else {
            Issue.record("the last list of a capture")
            return
        }
    }

    @Test func `a live manifest is refused by what can be captured`() throws {
        let text = "<MPD xmlns='urn:mpeg:dash:schema:mpd:2011' type='dynamic'/>"
        let document = StreamDocument(text: try StreamText(Array(text.utf8), xml: LibXMLReader()), url: Self.base)
        for capture in [nil, StreamSelection.Capture.untilEnd] {
            var selection = StreamSelection()
            selection.capture = capture
            let error = #expect(throws: LectureError.self) {
                try StreamReader(source: document, others: [], selection).reading(firstPosition: 0)
            }
            #expect(error?.code == .streamLive)
            #expect(error?.cause.contains("only HLS streams can be captured") == (capture != nil))
        }
    }
}
