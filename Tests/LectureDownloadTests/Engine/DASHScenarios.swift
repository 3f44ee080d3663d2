import LectureDownload
import LectureFormats
import LectureModel
import LectureSQLite
import LectureSimulation
import LectureTestSupport
import Testing

@testable import LectureStore

/// DASH manifests in a world with virtual time, a real store and libxml2.
struct DASHScenarios {
    private static let home = "http://media.example/dash/"

    /// A manifest and its files on a scripted server.
    private final class Course {
        let scene: Scene
        private(set) var files: [String: [UInt8]] = [:]

        init(isSealed: Bool = false) throws { scene = try Scene(seals: isSealed) }

        func serve(_ name: String, _ bytes: [UInt8], type: String = "video/mp4") {
            files[name] = bytes
            var file = ServedFile(bytes)
            (file.type, file.etag) = (type, "\"\(name.count)-\(bytes.count)\"")
            scene.network.files[home + name] = file
        }

        /// Serves files with bytes of their own.
        func serve(_ names: [String], bytes: Int = 40_000) {
            for name in names { serve(name, Array("\(name) ".utf8) + lectureBytes(bytes)) }
        }

        func manifest(_ text: String, type: String = "application/dash+xml") {
            serve("m.mpd", Array(text.utf8), type: type)
        }

        /// Fetches the manifest's lecture to its end.
        func fetch(_ change: (inout StreamSelection) -> Void = { _ in }) throws -> Content {
            try scene.fetch(home + "m.mpd", change)
        }

        var requested: [String] { scene.network.requests.map { String($0.url.dropFirst(home.count)) } }

        /// The playlists that are kept, with the server's names in the place of local ones: files are known by their
        /// bytes.
        func playlists(_ content: Content) throws -> [String] {
            let item = try #require(try scene.index.contents.item(content.key))
            let version = try #require(try scene.index.versions.building(item.id)?.version ?? item.currentVersion)
            var texts = try scene.index.adaptive.playlists(version)
            for record in try scene.index.connection.resources(of: version) where record.role.isOfStream {
                let bytes = scene.disk.files[record.path]
                let name = files.first { $0.value == bytes }?.key ?? "missing"
                for index in texts.indices {
                    texts[index] = texts[index].replacing("\n\(record.name)\n", with: "\n\(name)\n")
                        .replacing("\n\(record.name)\n", with: "\n\(name)\n")
                        .replacing("\"\(record.name)\"", with: "\"\(name)\"")
                }
            }
            return texts
        }
    }

    private static func mpd(_ body: String, _ attributes: String = "mediaPresentationDuration='PT10S'") -> String {
        """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" type="static"
         \(attributes)>\(body)</MPD>
        """
    }

    /// One representation of video.
    private static func video(_ inside: String, _ attributes: String = "bandwidth='700000'") -> String {
        """
        <AdaptationSet mimeType="video/mp4" codecs="avc1.64001f" frameRate="30000/1001"><Representation id="v"
         width="640" height="360" \(attributes)>\(inside)</Representation></AdaptationSet>
        """
    }

    /// The lines of a media playlist between its head and its end.
    private static func body(_ text: String) -> String {
        text.split(separator: "\n").drop {
            $0.hasPrefix("#EXT-X-T") || !$0.hasPrefix("#EXT-X-M") && !$0.hasPrefix("#EXTINF")
        }
        .filter { !$0.hasPrefix("#EXT-X-MEDIA-SEQUENCE") && !$0.hasPrefix("#EXT-X-PLAYLIST-TYPE") }
        .prefix { $0 != "#EXT-X-ENDLIST" }.joined(separator: " ")
        .replacing("#EXT-X-", with: "").replacing("#EXTINF:", with: "").replacing(", ", with: ":")
    }

    private static let timeline = "<SegmentTimeline><S t='0' d='180180' r='1'/><S d='90000'/></SegmentTimeline>"

    // MARK: How segments are described

    @Test(arguments: [
        (
            "<SegmentTemplate media='$RepresentationID$-$Number%03d$.m4s' initialization='i' timescale='1000' "
                + "duration='4000' startNumber='7'/>",
            ["i", "v-007.m4s", "v-008.m4s", "v-009.m4s"],
            "MAP:URI=\"i\" 4:v-007.m4s 4:v-008.m4s 2:v-009.m4s"
        ),
        (
            "<SegmentTemplate media='$Time$.m4s' initialization='i' timescale='90000'>\(timeline)</SegmentTemplate>",
            ["i", "0.m4s", "180180.m4s", "360360.m4s"],
            "MAP:URI=\"i\" 2.002:0.m4s 2.002:180180.m4s 1:360360.m4s"
        ),
        (
            "<SegmentTemplate media='$Number$.m4s' initialization='i' timescale='3'><SegmentTimeline>"
                + "<S t='0' d='10' r='1'/></SegmentTimeline></SegmentTemplate>",
            ["i", "1.m4s", "2.m4s"], "MAP:URI=\"i\" 3.333333333:1.m4s 3.333333333:2.m4s"
        ),
        (
            "<BaseURL>one.mp4</BaseURL><SegmentList timescale='1' duration='6'><Initialization range='0-99'/>"
                + "<SegmentURL mediaRange='100-19999'/><SegmentURL mediaRange='20000-40007'/></SegmentList>",
            ["one.mp4"],
            "MAP:URI=\"one.mp4\",BYTERANGE=\"100@0\" BYTERANGE:19900@100 6:one.mp4 BYTERANGE:20008@20000 4:one.mp4"
        ),
        ("<BaseURL>one.mp4</BaseURL>", ["one.mp4"], "10:one.mp4"),
    ])
    func `segments become a playlist`(segments: String, names: [String], due: String) throws {
        let course = try Course()
        course.serve(names)
        course.manifest(Self.mpd("<Period>\(Self.video(segments))</Period>"))
        let content = try course.fetch()
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(content.type == .adaptiveDownload)
        #expect(course.requested.sorted() == (["m.mpd"] + names).sorted())
        let playlists = try course.playlists(content)
        #expect(Self.body(playlists[1]) == due)
        #expect(playlists[1].hasPrefix("#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:"))
        #expect(playlists[1].hasSuffix("#EXT-X-ENDLIST\n"))
        #expect(
            playlists[0] == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-STREAM-INF:BANDWIDTH=700000,CODECS="avc1.64001f",RESOLUTION=640x360,FRAME-RATE=29.970
                1.m3u8

                """)
    }

    @Test func `periods are joined, and tracks are fetched in the order of play`() throws {
        let course = try Course()
        func period(_ name: String, _ seconds: Int) -> String {
            let template = "<SegmentTemplate media='$RepresentationID$\(name)$Number$' initialization='\(name)"
            return """
                <Period duration='PT\(seconds)S'>
                \(Self.video("\(template)v' duration='2'/>"))
                <AdaptationSet mimeType="audio/mp4" lang="ko" codecs="mp4a.40.2"><Representation id="s"
                 bandwidth="96000">\(template)s' duration='2'/></Representation></AdaptationSet></Period>
                """
        }
        course.serve(["av", "as", "bv", "bs"])
        course.serve(["va1", "va2", "vb1", "vb2", "sa1", "sa2", "sb1", "sb2"])
        course.manifest(Self.mpd(period("a", 4) + period("b", 3), ""))
        let content = try course.fetch()
        #expect(content.state == .completed && content.duration == .seconds(7), "\(content.error?.message ?? "")")
        let playlists = try course.playlists(content)
        for (place, name) in [(1, "v"), (2, "s")] {
            #expect(
                Self.body(playlists[place]) == "MAP:URI=\"a\(name)\" 2:\(name)a1 2:\(name)a2 DISCONTINUITY "
                    + "MAP:URI=\"b\(name)\" 2:\(name)b1 1:\(name)b2")
        }
        #expect(
            playlists[0].contains(
                """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",LANGUAGE="ko",NAME="ko",DEFAULT=YES,AUTOSELECT=YES,URI="2.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=796000,CODECS="avc1.64001f,mp4a.40.2"
                """.dropLast(0)), "\(playlists[0])")
        #expect(course.requested.prefix(7).sorted() == ["m.mpd", "av", "va1", "as", "sa1", "va2", "sa2"].sorted())
    }

    @Test func `languages are renditions, and what HLS cannot have is left out`() throws {
        let course = try Course()
        func set(_ type: String, _ language: String, _ name: String, _ more: String = "") -> String {
            """
            <AdaptationSet mimeType="\(type)" lang="\(language)">\(more)<Representation id="\(name)" bandwidth="9">
            <BaseURL>\(name)</BaseURL></Representation></AdaptationSet>
            """
        }
        let role = "<Role schemeIdUri='urn:mpeg:dash:role:2011' value='commentary'/>"
        course.serve(["film.mp4", "ko.mp4", "en.mp4", "co.mp4"])
        course.serve("ko.vtt", Array("WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n".utf8), type: "text/vtt")
        course.serve(["ko.ttml"])
        course.manifest(
            Self.mpd(
                "<Period>" + Self.video("<BaseURL>film.mp4</BaseURL>") + set("audio/mp4", "ko", "ko.mp4")
                    + set("audio/mp4", "en", "en.mp4") + set("audio/mp4", "en", "co.mp4", role)
                    + set("text/vtt", "ko", "ko.vtt") + set("application/ttml+xml", "en", "ko.ttml") + "</Period>"))
        let content = try course.fetch {
            ($0.audioLanguages, $0.subtitleLanguages) = (["en", "ko"], ["all"])
        }
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        let lines = try course.playlists(content)[0].split(separator: "\n").dropFirst(2).map(String.init)
        func line(_ kind: String, _ language: String, _ name: String, _ place: Int, isDefault: String = "NO") -> String
        {
            "#EXT-X-MEDIA:TYPE=\(kind.uppercased()),GROUP-ID=\"\(kind)\",LANGUAGE=\"\(language)\",NAME=\"\(name)\","
                + "DEFAULT=\(isDefault),AUTOSELECT=YES,URI=\"\(place).m3u8\""
        }
        #expect(
            lines == [
                line("audio", "en", "en", 2, isDefault: "YES"), line("audio", "en", "en commentary", 3),
                line("audio", "ko", "ko", 4), line("subtitles", "ko", "ko", 5),
                "#EXT-X-STREAM-INF:BANDWIDTH=700009,RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO=\"audio\""
                    + ",SUBTITLES=\"subtitles\"", "1.m3u8",
            ])
        #expect(!course.requested.contains("ko.ttml"))
    }

    // MARK: Files with an index

    /// A `sidx` box (ISO/IEC 14496-12 section 8.16.3) of a timescale of 1,000.
    private static func sidx(_ entries: [(bytes: Int, milliseconds: Int)]) -> [UInt8] {
        func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let body = word(0) + word(1) + word(1_000) + word(0) + word(0) + word(entries.count)
        let rows = entries.flatMap { word($0.bytes) + word($0.milliseconds) + word(0x9000_0000) }
        return word(8 + body.count + rows.count) + Array("sidx".utf8) + body + rows
    }

    private static func indexed(_ file: String, _ range: String = "1000-1055") -> String {
        "<BaseURL>\(file)</BaseURL><SegmentBase indexRange='\(range)'><Initialization range='0-999'/></SegmentBase>"
    }

    private static let parts = [(bytes: 900_000, milliseconds: 6_006), (bytes: 1_400_000, milliseconds: 3_994)]

    @Test(arguments: [false, true])
    func `the index of a file becomes byte ranges`(isSealed: Bool) throws {
        let course = try Course(isSealed: isSealed)
        let index = Self.sidx(Self.parts)
        #expect(index.count == 56)
        course.serve("one.mp4", lectureBytes(1_000) + index + lectureBytes(2_300_000))
        course.manifest(Self.mpd("<Period>\(Self.video(Self.indexed("one.mp4")))</Period>"))
        // The program is killed when the manifest and the file have their final names, before the index is read.
        let key = try course.scene.want(Self.home + "m.mpd")
        try course.scene.run {
            try course.scene.index.connection.first("SELECT count(*) FROM resource WHERE state = 3") { $0.int(0) } == 2
        }
        #expect(try course.scene.content(key)?.state == .verifying || course.scene.content(key)?.state == .downloading)
        try course.scene.crash(powerCut: true)
        let content = try course.fetch()
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        // The name of a sealed file does not follow from its bytes.
        let playlist = try course.playlists(content)[1].replacing("missing", with: "one.mp4")
        #expect(
            Self.body(playlist) == "MAP:URI=\"one.mp4\",BYTERANGE=\"1000@0\" BYTERANGE:900000@1056 6.006:one.mp4 "
                + "BYTERANGE:1400000@901056 3.994:one.mp4")
        #expect(playlist.contains("#EXT-X-TARGETDURATION:6\n") && !playlist.contains("LECTURE-INDEX"))
        #expect(course.requested.count { $0 == "one.mp4" } <= 3 && course.scene.network.delivered < 2_500_000)
    }

    @Test(arguments: [
        ("1000-1055", [UInt8](repeating: 7, count: 56)), ("1000-1050", sidx(parts)), ("5000000-5000055", sidx(parts)),
        ("1000-1055", sidx([(900_000, 6_006), (1_400_001, 3_994)])),
        ("1000-1055", sidx([(1 << 31 | 900_000, 6_006), (1_400_000, 3_994)])),
        ("1000-3000000", sidx(parts)),
    ])
    func `a file without a usable index is one segment`(range: String, index: [UInt8]) throws {
        let course = try Course()
        course.serve("one.mp4", lectureBytes(1_000) + index + lectureBytes(2_300_000))
        course.manifest(Self.mpd("<Period>\(Self.video(Self.indexed("one.mp4", range)))</Period>"))
        let content = try course.fetch()
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(
            try Self.body(course.playlists(content)[1])
                == "MAP:URI=\"one.mp4\",BYTERANGE=\"1000@0\" 10:one.mp4")
    }

    // MARK: Refused before anything else is fetched

    private static let protection =
        "<ContentProtection schemeIdUri='urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED'/>"

    @Test(arguments: [
        (
            mpd("<Period>\(video(protection + "<BaseURL>a.mp4</BaseURL>"))</Period>"),
            LectureError.Code.streamProtected,
            "Widevine"
        ),
        (mpd("<Period/>").replacing("static", with: "dynamic"), .streamLive, "live"),
        (
            mpd("<Period>\(video("<BaseURL>a.webm</BaseURL>", "mimeType='video/webm'"))</Period>"),
            .playlistUnsupported,
            "WebM"
        ),
        (mpd("<Period xlink:href='http://x.example/p'/>"), .playlistUnsupported, "xlink"),
        (mpd("<Period/>"), .variantUnavailable, "neither video nor sound"),
        (
            mpd("<Period>\(video("<SegmentTemplate media='x'/>"))</Period>", "mediaPresentationDuration='1'"),
            .playlistDamaged, "duration"
        ),
        (mpd("<Period a=b/>"), .playlistDamaged, "line 3"),
        ("<!DOCTYPE MPD [<!ENTITY a 'b'>]>" + mpd("<Period/>"), .playlistDamaged, ""),
        (
            mpd(
                "<Period>" + video("<SegmentTemplate media='v$Number$' duration='5' presentationTimeOffset='10'/>")
                    + "<AdaptationSet mimeType='audio/mp4'><Representation><SegmentTemplate media='a$Number$' "
                    + "duration='5' presentationTimeOffset='11'/></Representation></AdaptationSet></Period>"),
            .playlistUnsupported, "different media times"
        ),
        (
            mpd(
                [0, 5].map { offset in
                    "<Period duration='PT5S'>"
                        + video(
                            "<BaseURL>a</BaseURL><SegmentBase indexRange='9-19' presentationTimeOffset='\(offset)'/>")
                        + "</Period>"
                }.joined()), .playlistUnsupported, "parts of one file"
        ),
    ])
    func `what cannot become whole is refused`(text: String, code: LectureError.Code, cause: String) throws {
        let course = try Course()
        course.manifest(text)
        let content = try course.fetch()
        #expect(content.state == .failed && content.error?.code == code, "\(content.error?.message ?? "")")
        #expect(content.error?.cause.contains(cause) == true, "\(content.error?.cause ?? "")")
        #expect(course.requested.allSatisfy { $0 == "m.mpd" } && course.requested.count <= 2)
    }

    @Test func `a choice that there is not is refused with what there is`() throws {
        let course = try Course()
        course.manifest(Self.mpd("<Period>\(Self.video("<BaseURL>a.mp4</BaseURL>"))</Period>"), type: "text/xml")
        for (change, cause): ((inout StreamSelection) -> Void, String) in [
            ({ $0.variant = .number(3) }, "no variant 3 of 1"), ({ $0.maxHeight = 100 }, "360"),
        ] {
            let content = try course.fetch(change)
            #expect(content.error?.code == .variantUnavailable, "\(content.error?.message ?? "")")
            #expect(content.error?.cause.contains(cause) == true, "\(content.error?.cause ?? "")")
        }
    }

    // MARK: Segments that do not come

    @Test(arguments: [
        // The duration of the period was rounded up by 40 ms; by 1.4 s; the segment is there; not the last one.
        ("PT8.04S", "5.m4s", LectureError.Code?.none), ("PT9.4S", "5.m4s", .segmentsMissing), ("PT8.04S", "", nil),
        ("PT8.04S", "4.m4s", .segmentsMissing),
    ])
    func `only a last segment that may not exist may be missing`(
        duration: String, missing: String, code: LectureError.Code?
    ) throws {
        let course = try Course()
        course.serve(["i", "1.m4s", "2.m4s", "3.m4s", "4.m4s", "5.m4s"])
        if !missing.isEmpty { course.scene.network.files[Self.home + missing] = nil }
        course.manifest(
            Self.mpd(
                "<Period>"
                    + Self.video("<SegmentTemplate media='$Number$.m4s' initialization='i' duration='2'/>")
                    + "</Period>", "mediaPresentationDuration='\(duration)'"))
        let content = try course.fetch()
        #expect(content.error?.code == code && content.state == (code == nil ? .completed : .failed))
        if let code, code == .segmentsMissing {
            #expect(content.error?.cause.hasPrefix("1 of 6: ") == true, "\(content.error?.cause ?? "")")
            return
        }
        let body = try Self.body(course.playlists(content)[1])
        let due = "MAP:URI=\"i\" 2:1.m4s 2:2.m4s 2:3.m4s 2:4.m4s"
        #expect(body == (missing.isEmpty ? due + " 0.04:5.m4s" : due))
    }

    @Test(arguments: [false, true])
    func `a token that dies is renewed by the manifest`(isIndexed: Bool) throws {
        let course = try Course()
        func manifest(_ token: Int) -> [UInt8] {
            let template =
                isIndexed
                ? Self.indexed("one.mp4?t=\(token)")
                : "<SegmentTemplate media='$Number$.m4s?t=\(token)' initialization='i?t=\(token)' duration='1'/>"
            return Array(Self.mpd("<Period>\(Self.video(template))</Period>").utf8)
        }
        for token in 0..<9 {
            course.serve((1...10).map { "\($0).m4s?t=\(token)" })
            course.serve("i?t=\(token)", lectureBytes(800))
            course.serve("one.mp4?t=\(token)", lectureBytes(1_000) + Self.sidx(Self.parts) + lectureBytes(2_300_000))
        }
        var (token, served) = (-1, 0)
        course.scene.network.script = { request, _, answer in
            let name = String(request.url.dropFirst(Self.home.count))
            if name == "m.mpd" {
                (token, served) = (min(token + 1, 8), 0)
                var file = ServedFile(manifest(token))
                file.type = "application/dash+xml"
                return file.answer(to: request)
            }
            guard name.hasSuffix("?t=\(token)"), served < 4, !isIndexed || token > 0 else { return Answer(403) }
            served += 1
            return answer
        }
        course.manifest(String(decoding: manifest(0), as: UTF8.self))
        let content = try course.fetch()
        #expect(content.state == .completed, "\(content.error?.message ?? "")")
        #expect(token >= 1 && token < 8)
        let body = try Self.body(course.playlists(content)[1])
        #expect(body.split(separator: " ").count { $0.contains(".m") } == (isIndexed ? 3 : 10), "\(body)")
        #expect(!body.contains("missing"))
    }

    @Test func `a damaged file of a complete lecture is repaired, and its playlist stays`() throws {
        let course = try Course()
        course.serve("one.mp4", lectureBytes(1_000) + Self.sidx(Self.parts) + lectureBytes(2_300_000))
        course.serve(["i", "1.m4s", "2.m4s", "3.m4s", "4.m4s"])
        let sound = """
            <AdaptationSet mimeType="audio/mp4"><Representation bandwidth="9"><SegmentTemplate media="$Number$.m4s"
             initialization="i" duration="2"/></Representation></AdaptationSet>
            """
        course.manifest(
            Self.mpd(
                "<Period>\(Self.video(Self.indexed("one.mp4")))\(sound)</Period>", "mediaPresentationDuration='PT8.1S'")
        )
        let first = try course.fetch()
        let before = try course.playlists(first)
        #expect(first.state == .completed && Self.body(before[1]).contains("BYTERANGE:1400000@901056"))
        #expect(!before[2].contains("0.1,") && before[2].contains("#LECTURE-OPTIONAL:"))
        let item = try #require(try course.scene.index.contents.item(first.key))
        let version = try #require(item.currentVersion)
        let file = try #require(
            try course.scene.index.connection.resources(of: version).first { $0.total ?? 0 > 2_000_000 })
        // As the verification leaves it.
        try course.scene.index.connection.execute("DELETE FROM chunk WHERE resource_id = ? AND idx = 1", file.id)
        try course.scene.index.connection.execute(
            "UPDATE resource SET proven_count = 2, proven_bytes = proven_bytes - 1048576 WHERE id = ?", file.id)
        _ = try course.scene.want(Self.home + "m.mpd")
        try course.scene.rest()
        #expect(try course.scene.content(first.key)?.state == .completed)
        #expect(try course.playlists(first) == before)
        #expect(try course.scene.contradictions() == [])
    }
}
