import LectureDownload
import LectureFormats
import LectureModel
import LectureSQLite
import LectureSimulation
import LectureTestSupport
import Testing

@testable import LectureStore

/// Adaptive lectures in a world with virtual time, a real store, and servers that misbehave.
struct AdaptiveScenarios {
    private static let home = "http://media.example/course/"
    private static let master = home + "master.m3u8"

    /// A lecture of two variants and separate sound, on a scripted server.
    private struct Course {
        let scene: Scene
        /// The bytes of each file below ``home``.
        var files: [String: [UInt8]] = [:]

        init(segments: Int = 40, bytes: Int = 300_000, seed: UInt64 = 1) throws {
            scene = try Scene(seed: seed)
            try addPlaylist("low", segments: segments, bytes: bytes / 4)
            try addPlaylist("high", segments: segments, bytes: bytes)
            try addPlaylist("ko", segments: segments, bytes: bytes / 10)
            serve(
                "master.m3u8",
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=YES,URI="ko.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=400000,RESOLUTION=640x360,AUDIO="a"
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1600000,RESOLUTION=1280x720,AUDIO="a"
                high.m3u8

                """)
        }

        mutating func addPlaylist(_ name: String, segments: Int, bytes: Int, token: String = "") throws {
            var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            text += "#EXT-X-MAP:URI=\"\(name)/init.mp4\(token)\"\n"
            serve("\(name)/init.mp4\(token)", lectureBytes(900), type: "video/mp4")
            for segment in 0..<segments {
                text += "#EXTINF:6,\n\(name)/\(segment).m4s\(token)\n"
                serve("\(name)/\(segment).m4s\(token)", Self.segment(name, segment, bytes))
            }
            serve("\(name).m3u8", text + "#EXT-X-ENDLIST\n")
        }

        static func segment(_ name: String, _ number: Int, _ bytes: Int) -> [UInt8] {
            Array("\(name) \(number) ".utf8) + lectureBytes(bytes + number)
        }

        mutating func serve(_ name: String, _ text: String) {
            serve(name, Array(text.utf8), type: "application/vnd.apple.mpegurl")
        }

        mutating func serve(_ name: String, _ bytes: [UInt8], type: String = "video/iso.segment") {
            files[name] = bytes
            var file = ServedFile(bytes)
            (file.type, file.etag) = (type, "\"\(name.count)-\(bytes.count)\"")
            scene.network.files[home + name] = file
        }

        /// Answers of a file are changed.
        func script(_ change: @escaping (_ name: String, _ request: TransferRequest, _ answer: Answer) -> Answer) {
            scene.network.script = { request, _, answer in
                change(String(request.url.dropFirst(home.count)), request, answer)
            }
        }

        /// The requested names, in their order.
        var requested: [String] { scene.network.requests.map { String($0.url.dropFirst(home.count)) } }

        /// What is kept of a lecture: its playlists, and the bytes of the files that they name.
        func kept(_ key: ContentKey) throws -> (playlists: [String], files: [String: [UInt8]]) {
            let item = try #require(try scene.index.contents.item(key))
            let version = try #require(try scene.index.versions.building(item.id)?.version ?? item.currentVersion)
            var files: [String: [UInt8]] = [:]
            for record in try scene.index.connection.resources(of: version) where record.role.isOfStream {
                guard record.state == .finalized else { continue }
                files[record.name] = scene.disk.files[record.path]
            }
            return (try scene.index.adaptive.playlists(version), files)
        }

        /// Whether the kept bytes are those of these files of the server, in the order of the playlist.
        func hasKept(_ key: ContentKey, _ name: String, playlist: Int) throws -> Bool {
            let (playlists, kept) = try kept(key)
            let named = playlists[playlist].split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
            let source = (0..<named.count).map { files["\(name)/\($0).m4s"] }
            return !named.isEmpty && zip(named, source).allSatisfy { kept[$0] == $1 && $1 != nil }
        }
    }

    private func select(_ change: (inout StreamSelection) -> Void) -> StreamSelection {
        var selection = StreamSelection()
        change(&selection)
        return selection
    }

    // MARK: What is kept

    @Test func `the chosen variant is kept with its sound, in the order of play`() throws {
        let course = try Course()
        let key = try course.scene.want(Self.master)
        try course.scene.rest()
        let content = try #require(try course.scene.content(key))
        #expect(content.state == .completed && content.type == .adaptiveDownload)
        #expect(content.duration == .seconds(240))
        #expect(try course.hasKept(key, "high", playlist: 1) && course.hasKept(key, "ko", playlist: 2))
        let names = course.requested
        #expect(names.prefix(3) == ["master.m3u8", "high.m3u8", "ko.m3u8"])
        #expect(!names.contains { $0.hasPrefix("low") } && Set(names).count == names.count)
        // What plays first comes first, as far as several files come at once.
        let place = try #require(names.firstIndex(of: "high/39.m4s"))
        #expect(place > 70 && names.prefix(12).contains("high/0.m4s") && names.prefix(12).contains("ko/0.m4s"))
        #expect(content.totalChunks == content.committedChunks && content.committedBytes == content.totalBytes)
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `limits and languages choose, and another choice makes another version`() throws {
        let course = try Course(segments: 5)
        let key = try course.scene.want(Self.master) { $0.selection = select { $0.maxHeight = 400 } }
        try course.scene.rest()
        #expect(try course.hasKept(key, "low", playlist: 1))
        #expect(try course.scene.want(Self.master) { $0.selection = select { $0.variant = .number(2) } } == key)
        try course.scene.rest()
        #expect(try course.hasKept(key, "high", playlist: 1))
        #expect(try course.scene.content(key)?.state == .completed)
        // Without a choice the last one holds.
        let before = course.scene.network.requests.count
        _ = try course.scene.want(Self.master)
        try course.scene.rest()
        #expect(course.scene.network.requests.count == before)
        _ = try course.scene.want(Self.master) { $0.selection = select { $0.maxHeight = 100 } }
        try course.scene.rest()
        let failed = try #require(try course.scene.content(key))
        #expect(failed.error?.code == .variantUnavailable && failed.error?.cause.contains("360, 720") == true)
        #expect(failed.isPlayable, "the older version stays")
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `a playlist under any type, behind a redirect, and a media playlist alone are followed`() throws {
        var course = try Course(segments: 3)
        course.serve("elsewhere/index.m3u8", course.files["high.m3u8"] ?? [], type: "text/plain")
        for name in ["init.mp4", "0.m4s", "1.m4s", "2.m4s"] {
            course.serve("elsewhere/high/\(name)", course.files["high/\(name)"] ?? [])
        }
        course.script { name, _, answer in
            guard name == "start" else { return answer }
            var moved = Answer(302)
            moved.redirectURL = Self.home + "elsewhere/index.m3u8"
            return moved
        }
        let key = try course.scene.want(Self.home + "start")
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(try course.hasKept(key, "high", playlist: 0))
        #expect(course.requested.dropFirst(2).allSatisfy { $0.hasPrefix("elsewhere/high/") })
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `ranges of one file are one file`() throws {
        var course = try Course(segments: 2)
        let bytes = lectureBytes(5_000_000)
        course.serve("all.mp4", bytes, type: "video/mp4")
        course.serve(
            "ranges.m3u8",
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="1000@0"
            #EXTINF:6,
            #EXT-X-BYTERANGE:2499000@1000
            all.mp4
            #EXTINF:6,
            #EXT-X-BYTERANGE:2500000
            all.mp4
            #EXT-X-ENDLIST

            """)
        let key = try course.scene.want(Self.home + "ranges.m3u8")
        try course.scene.rest()
        let (playlists, files) = try course.kept(key)
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(files.values.map { $0 } == [bytes])
        #expect(playlists[0].contains("#EXT-X-BYTERANGE:2500000@2500000\n#EXTINF:6,\n1.mp4\n"))
    }

    @Test func `keys are fetched once and sealed, and segments stay as the server encrypted them`() throws {
        var course = try Course(segments: 2)
        let secret = Array("0123456789abcdef".utf8)
        course.serve("k1", secret, type: "application/octet-stream")
        for number in 0..<2 {
            let clear = Course.segment("high", number, 300_000)
            let vector = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
            course.serve("high/\(number).m4s", try SegmentEncryption.encrypted(clear, key: secret, vector: vector))
        }
        func playlist(method: String) -> String {
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=\(method),URI="k1"
            #EXTINF:6,
            high/0.m4s
            #EXTINF:6,
            high/1.m4s
            #EXT-X-ENDLIST

            """
        }
        course.serve("aes.m3u8", playlist(method: "AES-128"))
        let key = try course.scene.want(Self.home + "aes.m3u8")
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(course.requested == ["aes.m3u8", "k1", "high/0.m4s", "high/1.m4s"])
        let (playlists, files) = try course.kept(key)
        #expect(playlists[0].contains("#EXT-X-KEY:METHOD=AES-128,URI=\"1.key\"\n"))
        #expect(files["2.m4s"] == course.files["high/0.m4s"])
        let sealed = try course.scene.index.connection.query("SELECT name FROM resource WHERE seal > 0") { $0.text(0) }
        #expect(sealed == ["1.key"], "by the real vault in the tests of the manager")
        // A key is refused by its length, a system by its name, before a segment is fetched.
        let before = course.scene.network.requests.count
        course.serve("k1", Array(secret.dropLast()), type: "application/octet-stream")
        course.serve("aes2.m3u8", playlist(method: "AES-128"))
        course.serve("sample.m3u8", playlist(method: "SAMPLE-AES"))
        let short = try course.scene.want(Self.home + "aes2.m3u8")
        let system = try course.scene.want(Self.home + "sample.m3u8")
        try course.scene.rest()
        #expect(try course.scene.content(short)?.error?.code == .streamKey)
        #expect(try course.scene.content(system)?.error == LectureError(.streamProtected, cause: "SAMPLE-AES"))
        #expect(course.requested.dropFirst(before).contains("sample.m3u8"))
    }

    // MARK: Refused before anything else is fetched

    @Test(arguments: [
        ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n", LectureError.Code.streamLive),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n", .playlistDamaged),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:-6,\na.ts\n#EXT-X-ENDLIST\n", .playlistDamaged),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n", .playlistDamaged),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8\n", .playlistDamaged),
        (
            "#EXTM3U\n#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES-CTR,URI=\"x\","
                + "KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\"\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n",
            .streamProtected
        ),
        ("<SmoothStreamingMedia MajorVersion=\"2\"/>", .playlistUnsupported),
    ])
    func `what cannot become whole is refused`(text: String, code: LectureError.Code) throws {
        var course = try Course(segments: 1)
        course.serve("index.m3u8", text)
        let key = try course.scene.want(Self.home + "index.m3u8")
        try course.scene.rest()
        let content = try #require(try course.scene.content(key))
        #expect(content.state == .failed && content.error?.code == code)
        #expect(course.requested.allSatisfy { $0 == "index.m3u8" } && course.requested.count <= 2)
        #expect(try course.scene.contradictions() == [])
    }

    // MARK: Segments that do not come

    @Test func `a lecture without one segment fails with its name, and gaps can be accepted`() throws {
        let course = try Course(segments: 30)
        var isGone = true
        course.script { name, _, answer in isGone && ["high/7.m4s", "ko/3.m4s"].contains(name) ? Answer(404) : answer }
        let key = try course.scene.want(Self.master)
        try course.scene.rest()
        let failed = try #require(try course.scene.content(key))
        #expect(failed.state == .failed && failed.error?.code == .segmentsMissing && !failed.isPlayable)
        #expect(failed.error?.cause.hasPrefix("2 of 62: ") == true, "\(failed.error?.cause ?? "")")
        #expect(try course.kept(key).files.count == 60, "all others are kept")
        #expect(course.requested.count { $0 == "master.m3u8" } == 2, "the playlists were read again once")
        // Accepted.
        let before = course.requested.count
        _ = try course.scene.want(Self.master) { $0.selection = select { $0.allowsGaps = true } }
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(!course.requested.dropFirst(before).contains { $0.hasSuffix("/0.m4s") }, "nothing came twice")
        #expect(try course.scene.contradictions() == [])
        // Without gaps, and with the segments there.
        isGone = false
        let other = try Course(segments: 30, seed: 2)
        other.script { name, _, answer in isGone && name == "high/7.m4s" ? Answer(404) : answer }
        isGone = true
        let second = try other.scene.want(Self.master)
        try other.scene.rest()
        isGone = false
        _ = try other.scene.want(Self.master)
        try other.scene.rest()
        #expect(try other.scene.content(second)?.state == .completed)
        #expect(try other.hasKept(second, "high", playlist: 1))
        #expect(other.requested.count { $0 == "high/8.m4s" } == 1)
    }

    @Test func `of files that are gone from the disk only those come again`() throws {
        let course = try Course(segments: 20)
        let key = try course.scene.want(Self.master)
        try course.scene.rest()
        let item = try #require(try course.scene.index.contents.item(key))
        let files = try course.scene.index.adaptive.kept(try #require(item.currentVersion))
        let gone = try files.filter { ["8.m4s", "21.m4s"].contains($0.name) }.map { file in
            try course.scene.disk.delete(path: file.path)
            return file.name
        }
        let error = LectureError(.mediaMissing)
        _ = try course.scene.index.versions.markMissing(item.id, error, isQueued: true, now: course.scene.world.now)
        let before = course.requested.count
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(gone.count == 2 && course.requested.count - before == 2, "\(course.requested.dropFirst(before))")
        #expect(try course.hasKept(key, "high", playlist: 1) && course.hasKept(key, "ko", playlist: 2))
        #expect(try course.scene.contradictions() == [])
    }

    @Test(arguments: ["a page", "a message", "a change"])
    func `a segment that is not one is not kept`(what: String) throws {
        let course = try Course(segments: 12)
        var changes = 0
        course.script { name, request, answer in
            guard name == "high/5.m4s" else { return answer }
            var other = answer
            switch what {
            case "a page": other.body = Array("<!DOCTYPE html><title>Sign in</title>".utf8)[...]
            case "a message":
                other = Answer(200, ["Content-Type": "application/json"])
                other.body = Array("{\"error\":\"no\"}".utf8)[...]
            default:
                // The first answer breaks, and the file is another one then.
                changes += 1
                if changes == 1 { other.breaksAfter = 200_000 } else { other.fields = ["ETag": "\"other\""] }
                if changes > 1 { other.status = 200 }
                if changes > 1 { other.body = course.files["high/5.m4s"]?.reversed()[...] ?? [] }
                return other
            }
            other.fields = HeaderFields(
                other.fields.elements.filter { $0.name != "Content-Length" }
                    + [HeaderField(name: "Content-Length", value: "\(other.body.count)")])
            return other
        }
        let key = try course.scene.want(Self.master)
        try course.scene.rest()
        let content = try #require(try course.scene.content(key))
        if what == "a change" {
            #expect(content.state == .completed)
            let (playlists, kept) = try course.kept(key)
            let names = playlists[1].split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
            #expect(kept[names[5]] == course.files["high/5.m4s"]?.reversed(), "all of it is the second one")
            #expect(course.requested.count { $0 == "high/6.m4s" } == 1)
        } else {
            #expect(content.error?.code == .segmentsMissing && content.error?.cause.hasPrefix("1 of 26") == true)
        }
        let contradictions = try course.scene.contradictions()
        #expect(contradictions == [])
    }

    @Test func `a token that dies each ten segments is renewed by the playlists`() throws {
        var course = try Course(segments: 2)
        for token in 0..<8 { try course.addPlaylist("t", segments: 50, bytes: 60_000, token: "?t=\(token)") }
        course.serve("m.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nt.m3u8\n")
        let texts = (0..<8).map { token in
            String(decoding: course.files["t.m3u8"] ?? [], as: UTF8.self).replacing("?t=7", with: "?t=\(token)")
        }
        var (token, served) = (-1, 0)
        course.script { name, request, answer in
            if name == "t.m3u8" {
                (token, served) = (min(token + 1, 7), 0)
                return ServedFile(Array(texts[token].utf8)).answer(to: request)
            }
            guard name.hasPrefix("t/") else { return answer }
            guard name.hasSuffix("?t=\(token)"), served < 10 else { return Answer(403) }
            served += 1
            return answer
        }
        let key = try course.scene.want(Self.home + "m.m3u8")
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        let (playlists, kept) = try course.kept(key)
        let names = playlists[1].split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        #expect(names.enumerated().allSatisfy { kept[$1] == Course.segment("t", $0, 60_000) } && names.count == 50)
        #expect(token >= 4 && token < 8)
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `a gateway's playlist is kept, and its gateway is asked for fresh links`() throws {
        var course = try Course(segments: 1)
        try course.addPlaylist("t", segments: 40, bytes: 60_000)
        let text = String(decoding: course.files["t.m3u8"] ?? [], as: UTF8.self)
        let gateway = "http://gate.example/s/week-1"
        var (signature, served) = (0, 0)
        course.scene.network.script = { request, _, answer in
            if request.url == gateway {
                (signature, served) = (signature + 1, 0)
                return .document(
                    """
                    {"version":1,"media_content_key":"week-1","title":"Week 1","downloadable":true,
                     "media":{"playlist":"\(Self.home)t.m3u8?t=\(signature)"}}
                    """, type: ContentDescriptor.mediaType)
            }
            let parts = request.url.split(separator: "?t=")
            guard parts.count == 2, parts[1] == "\(signature)", served < 15 else { return Answer(403) }
            if parts[0].hasSuffix(".m3u8") {
                let signed = text.replacing(".m4s", with: ".m4s?t=\(signature)")
                    .replacing("init.mp4", with: "init.mp4?t=\(signature)")
                return ServedFile(Array(signed.utf8)).answer(to: request)
            }
            served += 1
            let name = String(parts[0].dropFirst(Self.home.count))
            return course.scene.network.files[Self.home + name].map { $0.answer(to: request) } ?? Answer(404)
        }
        _ = try course.scene.want(gateway, isGateway: true)
        try course.scene.rest()
        let key = try ContentKey("week-1")
        let content = try #require(try course.scene.content(key))
        #expect(content.state == .completed && content.type == .adaptiveDownload && content.title == "Week 1")
        #expect(try course.hasKept(key, "t", playlist: 0))
        #expect(signature == 3, "15 files a signature, 41 in all")
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `a playlist that has changed between two readings begins another version`() throws {
        var course = try Course(segments: 30)
        var isOld = true
        course.script { name, _, answer in isOld && name == "high/9.m4s" ? Answer(403) : answer }
        let before = course.files["high.m3u8"] ?? []
        course.serve("high.m3u8", String(decoding: before, as: UTF8.self).replacing("EXTINF:6,", with: "EXTINF:5,"))
        let after = course.scene.network.files[Self.home + "high.m3u8"]
        course.serve("high.m3u8", String(decoding: before, as: UTF8.self))
        let script = course.scene.network.script
        course.scene.network.script = { request, id, answer in
            if request.url.hasSuffix("master.m3u8"), !course.scene.network.requests.isEmpty, isOld {
                isOld = course.requested.count { $0 == "master.m3u8" } < 2
                if !isOld { course.scene.network.files[Self.home + "high.m3u8"] = after }
            }
            return script(request, id, answer)
        }
        let key = try course.scene.want(Self.master)
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(try course.kept(key).playlists[1].contains("#EXTINF:5,"))
        #expect(try course.hasKept(key, "high", playlist: 1))
        #expect(try course.scene.contradictions() == [])
    }

    // MARK: Kills

    @Test(arguments: RunSize.seeds(3, soak: 200))
    func `twenty kills cost what was in flight`(seed: UInt64) throws {
        let course = try Course(segments: 60, bytes: 200_000, seed: seed)
        course.script { _, _, answer in
            var slow = answer
            slow.pace = 20_000
            return slow
        }
        let key = try course.scene.want(Self.master)
        for kill in 0..<20 {
            course.scene.work(for: .milliseconds(40 + 30 * Int64(kill % 5)))
            if try course.scene.content(key)?.state == .completed { break }
            try course.scene.crash(powerCut: kill % 3 == 0)
        }
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed)
        #expect(try course.hasKept(key, "high", playlist: 1) && course.hasKept(key, "ko", playlist: 2))
        let due = course.files.filter { !$0.key.hasPrefix("low") }.values.reduce(0) { $0 + $1.count }
        // Eight files at a time, each of at most 200,060 bytes, and the playlists at first.
        #expect(course.scene.network.delivered <= due + 20 * 8 * 201_000)
        #expect(try course.scene.contradictions() == [])
    }
}

extension Scene {
    /// Fetches an adaptive lecture to the end of the attempt.
    func fetch(_ url: String, _ change: (inout StreamSelection) -> Void) throws -> Content {
        let key = try want(url) { request in
            var selection = StreamSelection()
            change(&selection)
            request.selection = selection
        }
        try rest()
        #expect(try contradictions() == [])
        return try #require(try content(key))
    }
}
