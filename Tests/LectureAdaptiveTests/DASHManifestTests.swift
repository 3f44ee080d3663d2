import LectureAdaptive
import LectureFormats
import Testing

struct DASHManifestTests {
    private typealias Support = DASHSupport

    // MARK: What writers write

    @Test func `ffmpeg: a timeline, a list of files, and a list of ranges`() throws {
        let timeline = """
            <Period id="0" start="PT0.0S"><AdaptationSet id="0" contentType="video" lang="und">
            <Representation id="0" mimeType="video/mp4" codecs="avc1.42c00c" bandwidth="656395" width="320"
             height="180">
            <SegmentTemplate timescale="12800" initialization="init-stream$RepresentationID$.m4s"
             media="chunk-stream$RepresentationID$-$Number%05d$.m4s" startNumber="1"><SegmentTimeline>
            <S t="0" d="25600" r="3" /><S d="12800" /></SegmentTimeline></SegmentTemplate></Representation>
            </AdaptationSet>
            <AdaptationSet id="1" contentType="audio"><Representation id="2" mimeType="audio/mp4" codecs="mp4a.40.2"
             bandwidth="69309" audioSamplingRate="44100"><BaseURL>m-stream1.mp4</BaseURL>
            <SegmentList timescale="1000000" duration="2000000" startNumber="1"><Initialization range="0-764" />
            <SegmentURL mediaRange="765-18869" indexRange="765-816" /><SegmentURL mediaRange="18870-36818" />
            </SegmentList></Representation></AdaptationSet></Period>
            """
        let manifest = try Support.read(Support.text("type='static' mediaPresentationDuration='PT9.0S'", timeline))
        let tracks = manifest.periods[0].tracks
        #expect(tracks.map(\.kind) == [.video, .audio] && tracks.map(\.language) == ["und", nil])
        let video = tracks[0].representations[0]
        #expect(video.format.height == 180 && video.bandwidth == 656_395 && video.container == .mp4)
        let segments = try #require(Support.segments(video))
        #expect(segments.count == 5 && segments.microseconds == 9_000_000 && !segments.isCountComputed)
        #expect(Support.line(segments.initialization) == "init-stream0.m4s")
        #expect(try Support.line(segments.segment(at: 4).resource) == "chunk-stream0-00005.m4s")
        #expect(try segments.all().map(\.time) == [0, 25600, 51200, 76800, 102_400])
        let list = try #require(Support.segments(tracks[1].representations[0]))
        #expect(Support.line(list.initialization) == "m-stream1.mp4[0-764]")
        #expect(
            try list.all().map { Support.line($0.resource) } == [
                "m-stream1.mp4[765-18869]", "m-stream1.mp4[18870-36818]",
            ])
        #expect(tracks[1].representations[0].format.samplingRate == 44_100)
    }

    @Test func `Shaka Packager: files with an index, $Time$, and protection`() throws {
        let body = """
            <Period id="0"><AdaptationSet id="0" contentType="video" width="320" height="180">
            <ContentProtection value="cbcs" schemeIdUri="urn:mpeg:dash:mp4protection:2011"
             xmlns:cenc="urn:mpeg:cenc:2013"
             cenc:default_KID="00000000-0000-0000-0000-000000000001"/>
            <ContentProtection value="MSPR 2.0" schemeIdUri="urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95"/>
            <ContentProtection schemeIdUri="urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED"/>
            <Representation id="0" bandwidth="705580" codecs="avc1.42c00c" mimeType="video/mp4"><BaseURL>v.mp4</BaseURL>
            <SegmentBase indexRange="833-924" timescale="12800"><Initialization range="0-832"/></SegmentBase>
            </Representation></AdaptationSet><AdaptationSet contentType="audio">
            <Representation id="1" mimeType="audio/mp4">
            <SegmentTemplate timescale="44100" initialization="a/init.mp4" media="a/$Time$.m4s"><SegmentTimeline>
            <S t="0" d="89088"/><S t="89088" d="88064" r="2"/><S t="353280" d="43620"/></SegmentTimeline>
            </SegmentTemplate>
            </Representation></AdaptationSet></Period>
            """
        let tracks = try Support.read(Support.text("mediaPresentationDuration='PT9S'", body)).periods[0].tracks
        let video = tracks[0].representations[0]
        #expect(video.protections.map(\.name) == ["MPEG Common Encryption (cbcs)", "PlayReady", "Widevine"])
        #expect(video.format.width == 320)
        guard case .indexed(let file) = video.media else {
            Issue.record("no index")
            return
        }
        #expect(Support.line(file.index) == "v.mp4[833-924]" && Support.line(file.initialization) == "v.mp4[0-832]")
        #expect(file.url == "https://h.example/d/v.mp4" && file.timescale == 12_800)
        let audio = try #require(Support.segments(tracks[1].representations[0]))
        #expect(
            try audio.all().map { Support.line($0.resource) }
                == [0, 89088, 177_152, 265_216, 353_280].map { "a/\($0).m4s" })
        #expect(tracks[1].representations[0].protections.isEmpty)
    }

    @Test func `Bento4 and GPAC: templates of the set with a duration, roles, subtitles`() throws {
        let body = """
            <Period id="P0"><AdaptationSet mimeType="video/mp4" segmentAlignment="true" maxHeight="720">
            <SegmentTemplate timescale="1000" duration="2000" initialization="$RepresentationID$/init.mp4"
             media="$RepresentationID$/seg-$Number$.m4s" startNumber="1"/>
            <Representation id="video/avc1/1" codecs="avc1.64001F" width="1280" height="720" bandwidth="900000"/>
            <Representation id="video/avc1/2" codecs="avc1.640015" width="640" height="360" bandwidth="300000">
            <SegmentTemplate media="low_$Bandwidth%08d$_$Number%03d$.m4s" startNumber="0"/></Representation>
            </AdaptationSet><AdaptationSet contentType="text" lang=" ko " mimeType="application/mp4" codecs="stpp">
            <Role schemeIdUri="urn:mpeg:dash:role:2011" value="subtitle"/><Role schemeIdUri="urn:x" value="main"/>
            <Representation id="s"><BaseURL>s.mp4</BaseURL></Representation></AdaptationSet>
            <AdaptationSet mimeType="text/vtt; charset=utf-8" lang="en"><Representation id="t"><BaseURL>t.vtt</BaseURL>
            </Representation></AdaptationSet><AdaptationSet mimeType="image/jpeg" contentType="image"><SegmentTemplate
             media="thumbs_$Number$.jpg" duration="5"/><Representation id="i"/></AdaptationSet></Period>
            """
        let period = try Support.read(Support.text("mediaPresentationDuration='PT0H0M5.005S'", body)).periods[0]
        #expect(period.tracks.map(\.kind) == [.video, .subtitles, .subtitles, .other])
        #expect(period.tracks.map(\.language) == [nil, "ko", "en", nil] && period.tracks[1].roles == ["subtitle"])
        let first = try #require(Support.segments(period.tracks[0].representations[0]))
        #expect(
            first.count == 3 && first.isCountComputed && Support.line(first.initialization) == "video/avc1/1/init.mp4")
        #expect(try Support.line(first.segment(at: 2).resource) == "video/avc1/1/seg-3.m4s")
        let second = try #require(Support.segments(period.tracks[0].representations[1]))
        #expect(try Support.line(second.segment(at: 0).resource) == "low_00300000_000.m4s" && second.timescale == 1000)
        #expect(Support.line(second.initialization) == "video/avc1/2/init.mp4")
        let text = try #require(Support.segments(period.tracks[2].representations[0]))
        #expect(try text.all().map { Support.line($0.resource) } == ["t.vtt"] && text.microseconds == 5_005_000)
        #expect(period.tracks[2].representations[0].container == .webVTT)
    }

    // MARK: Segments

    @Test func `Segments are found as the standard counts them`() throws {
        let cases: [(inside: String, lines: [String])] = [
            // A template with a duration: the number of segments is that of the period, rounded up.
            ("<SegmentTemplate media='$Number$' duration='4'/>", ["1 0+4", "2 4+4", "3 8+4"]),
            ("<SegmentTemplate media='$Number%d$$$' duration='5' startNumber='7'/>", ["7$ 0+5", "8$ 5+5"]),
            ("<SegmentTemplate media='$Number$' duration='5' presentationTimeOffset='9'/>", ["1 9+5", "2 14+5"]),
            ("<SegmentTemplate media='$Number$' duration='3' endNumber='2'/>", ["1 0+3", "2 3+3"]),
            ("<SegmentTemplate media='$Number$' duration='99'/>", ["1 0+99"]),
            ("<SegmentTemplate media='x' timescale='3'/>", ["x 0+30"]),
            // Timelines: gaps, small overlaps, repeats until the next entry and until the end of the period, numbers.
            (
                "<SegmentTemplate media='$Time$'><SegmentTimeline><S t='5' d='2'/><S t='10' d='1' r='1'/><S d='3'/>"
                    + "</SegmentTimeline></SegmentTemplate>", ["5 5+2", "10 10+1", "11 11+1", "12 12+3"]
            ),
            (
                "<SegmentTemplate media='$Time$'><SegmentTimeline><S d='4' r='-1'/></SegmentTimeline>"
                    + "</SegmentTemplate>",
                ["0 0+4", "4 4+4", "8 8+4"]
            ),
            (
                "<SegmentTemplate media='$Time%04d$' presentationTimeOffset='3'>"
                    + "<SegmentTimeline><S t='3' d='5' r='-1'/>"
                    + "</SegmentTimeline></SegmentTemplate>", ["0003 3+5", "0008 8+5"]
            ),
            (
                "<SegmentTemplate media='$Number$'><SegmentTimeline><S t='0' d='2' r='-1'/><S t='4' d='6' n='9'/>"
                    + "</SegmentTimeline></SegmentTemplate>", ["1 0+2", "2 2+2", "9 4+6"]
            ),
            (
                "<SegmentTemplate media='$Number$'><SegmentTimeline><S d='10' r='1'/><S t='15' d='1'/>"
                    + "</SegmentTimeline>"
                    + "</SegmentTemplate>", ["1 0+10", "2 10+10", "3 15+1"]
            ),
            // Lists.
            (
                "<SegmentList duration='2'><SegmentURL media='a?x=1'/><SegmentURL mediaRange='0-0'/></SegmentList>",
                ["a?x=1 0+2", "m.mpd[0-0] 2+2"]
            ),
            ("<SegmentList><SegmentURL media='../c'/></SegmentList>", ["https://h.example/c 0+10"]),
            (
                "<SegmentList><SegmentTimeline><S d='3'/><S d='4'/></SegmentTimeline><SegmentURL media='a'/>"
                    + "<SegmentURL media='b'/></SegmentList>", ["a 0+3", "b 3+4"]
            ),
            ("<SegmentList><SegmentURL media='a'/><SegmentURL media='b'/></SegmentList>", ["a 0+0", "b 0+0"]),
            // The whole file.
            ("<BaseURL>f.mp4</BaseURL>", ["f.mp4 0+10000000"]),
            ("<BaseURL>f.mp4</BaseURL><SegmentBase><Initialization range='0-9'/></SegmentBase>", ["f.mp4 0+10000000"]),
        ]
        for (inside, lines) in cases { #expect(try Support.lines(Support.single(inside)) == lines, "\(inside)") }
    }

    @Test func `Members come from the innermost element that has them`() throws {
        let text = Support.single(
            "<SegmentTemplate media='$Number$.$RepresentationID$'/>",
            set: "<SegmentTemplate timescale='10' startNumber='4' duration='77'/>",
            period:
                "<SegmentTemplate timescale='3' duration='8' presentationTimeOffset='6' initialization='i$Bandwidth$'/>"
        )
        #expect(try Support.lines(text) == ["4.r1 6+77", "5.r1 83+77"])
        #expect(Support.line(Support.segments(try Support.representation(text))?.initialization) == "i700")
        // The kind is that of the innermost one.
        let list = "<SegmentList duration='9'><SegmentURL media='l'/></SegmentList>"
        #expect(try Support.lines(Support.single(list, set: "<SegmentTemplate media='x' duration='1'/>")) == ["l 0+9"])
        let outer = "<SegmentList duration='8'><Initialization sourceURL='o'/><SegmentURL media='p'/></SegmentList>"
        #expect(try Support.lines(Support.single("", set: "<SegmentList timescale='2'/>", period: outer)) == ["p 0+8"])
        let base = Support.single(
            "<SegmentBase/>", set: "<SegmentBase indexRange='5-6' timescale='7'/>",
            period: "<SegmentBase presentationTimeOffset='9'><RepresentationIndex sourceURL='x.idx'/></SegmentBase>")
        guard case .indexed(let file) = try Support.representation(base)?.media else {
            Issue.record("no index")
            return
        }
        #expect(Support.line(file.index) == "x.idx" && file.timescale == 7 && file.presentationTimeOffset == 9)
        #expect(file.initialization == nil)
    }

    @Test func `Timelines and lists are inherited by their own set and period only`() throws {
        func set(_ duration: Int, _ inside: String = "") -> String {
            """
            <AdaptationSet><SegmentTemplate media="$Time$"><SegmentTimeline><S d="\(duration)" r="1"/></SegmentTimeline>
            </SegmentTemplate><Representation id="a">\(inside)</Representation><Representation id="b"/></AdaptationSet>
            """
        }
        let own = "<SegmentTemplate><SegmentTimeline><S d='9'/></SegmentTimeline></SegmentTemplate>"
        let bare = "<AdaptationSet><Representation/></AdaptationSet>"
        func list(_ name: String) -> String {
            "<SegmentList duration='2'><SegmentURL media='\(name)'/></SegmentList>"
        }
        let body =
            "<Period duration='PT5S'>\(list("x"))\(set(3, own))\(set(4))\(bare)\(bare)</Period>"
            + "<Period>\(list("y"))\(bare)</Period>"
        let found = try Support.read(Support.text("", body)).periods.flatMap(\.tracks).flatMap(\.representations).map {
            try Support.segments($0)?.all().map { Support.line($0.resource) } ?? []
        }
        #expect(found == [["0"], ["0", "3"], ["0", "4"], ["0", "4"], ["x"], ["x"], ["y"]])
    }

    @Test func `Base addresses are resolved from level to level, alternatives are kept`() throws {
        let text = Support.text(
            "mediaPresentationDuration='PT1S'",
            """
            <BaseURL> a/ </BaseURL><BaseURL>https://cdn.example/b/</BaseURL><Period><BaseURL>c/</BaseURL><AdaptationSet>
            <BaseURL>/d/</BaseURL><BaseURL>e/</BaseURL><Representation><BaseURL>f?g</BaseURL></Representation>
            </AdaptationSet></Period>
            """)
        let representation = try #require(try Support.representation(text))
        #expect(
            representation.bases == [
                "https://h.example/d/f?g", "https://h.example/d/a/c/e/f?g", "https://cdn.example/d/f?g",
                "https://cdn.example/b/c/e/f?g",
            ])
        let segments = try #require(Support.segments(representation))
        #expect(try segments.baseCount == 4 && segments.segment(at: 0, base: 3).resource.url == representation.bases[3])
        let many = (0..<40).map { "<BaseURL>b\($0)/</BaseURL>" }.joined()
        #expect(try Support.representation(Support.single(many, set: many))?.bases.count == 16)
        let absolute = Support.single(
            "<BaseURL>HTTP://x.example</BaseURL><SegmentTemplate media='$Number$' duration='10'/>")
        #expect(try Support.lines(absolute) == ["http://x.example/1 0+10"])
    }

    // MARK: Periods

    @Test func `Starts and durations of periods come from each other`() throws {
        func periods(_ attributes: String, _ list: [String]) throws -> [String] {
            let body = list.map {
                "<Period \($0)><AdaptationSet><Representation>"
                    + "<BaseURL>x</BaseURL></Representation></AdaptationSet></Period>"
            }
            return try Support.read(Support.text(attributes, body.joined())).periods.map {
                "\($0.start / 1_000_000)+\($0.duration.map { "\($0 / 1_000_000)" } ?? "?")"
            }
        }
        let total = "mediaPresentationDuration='PT1M'"
        let cases: [(String, [String], [String])] = [
            ("", [""], ["0+?"]), (total, [""], ["0+60"]), (total, ["duration='PT9S'"], ["0+9"]),
            (total, ["duration='PT9S'", "duration='PT11S'", ""], ["0+9", "9+11", "20+40"]),
            (total, ["", "start='PT15S'", "start='PT30S'"], ["0+15", "15+15", "30+30"]),
            (total, ["start='PT5S' duration='PT5S'", "start='PT20S'"], ["5+5", "20+40"]),
            (total, ["duration='PT0S'", "id='b'"], ["0+60"]), ("", ["duration='PT3S'", ""], ["0+3", "3+?"]),
        ]
        for (attributes, list, expected) in cases { #expect(try periods(attributes, list) == expected, "\(list)") }
        for list in [["", ""], ["start='PT9S'", "start='PT8S'"], ["start='PT2M'"], ["duration='PT0S'"], []] {
            #expect(Support.refusal { try periods(total, list) }?.kind == .invalid, "\(list)")
        }
    }

    @Test func `Durations are read as XML Schema writes them`() throws {
        let read: [(String, UInt64)] = [
            ("PT1.5S", 1_500_000), ("P0Y0M0DT0H3M30.000S", 210_000_000), ("P1DT1H", 90_000_000_000), ("PT0S", 0),
            ("PT0.0000019S", 1), (" PT2M ", 120_000_000), ("P36500D", 3_153_600_000_000_000),
        ]
        for (text, expected) in read {
            let manifest = try Support.read(
                Support.single("<BaseURL>x</BaseURL>", "mediaPresentationDuration='\(text)'").replacing(
                    "<Period>", with: "<Period duration='PT1S'>"))
            #expect(manifest.duration == expected, "\(text)")
        }
        let refused = [
            "", "P", "PT", "1S", "PT1", "PTS", "-PT1S", "P1Y", "P2M", "PT1S1M", "PT1.S", "PT.5S", "PT1.5M",
            "P36501D", "PT9999999999999999999S", "PT1e3S", "PT1M1M", "P1S", "PT1D", "PTT1S", "P1W",
        ]
        for text in refused {
            let manifest = Support.single("<BaseURL>x</BaseURL>", "mediaPresentationDuration='\(text)'")
            #expect(Support.refusal { try Support.read(manifest) }?.kind == .invalid, "\(text)")
        }
    }
}
