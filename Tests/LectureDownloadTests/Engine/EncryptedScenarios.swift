import LectureDownload
import LectureFormats
import LectureModel
import LectureSimulation
import LectureTestSupport
import Testing

@testable import LectureStore

/// Lectures encrypted with AES-128, in a world with virtual time and a real store. The `openssl` program encrypts.
struct EncryptedScenarios {
    private static let home = "http://media.example/course/"
    private static let key = Array("0123456789abcdef".utf8)
    private static let other = Array("another key here".utf8)

    /// Six segments under one key, on a scripted server.
    private final class Course {
        static let segments = 6
        let scene: Scene
        var answers: [String: [UInt8]] = [:]

        init(seed: UInt64 = 1, seals: Bool = false, accepting: Bool = false) throws {
            var settings = DownloadSettings()
            settings.acceptsAny = accepting
            scene = try Scene(seed: seed, settings: settings, seals: seals)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
            for number in 0..<Self.segments {
                text += "#EXTINF:6,\n\(number).ts\n"
                serve("\(number).ts", try Self.right.get()[number])
            }
            serve("k", key)
            serve("main.m3u8", text + "#EXT-X-ENDLIST\n")
        }

        /// All of them, made once.
        private static let right = Result { try (0..<segments).map { try segment($0) } }

        /// A segment as its server has it, under the vector of its number.
        static func segment(_ number: Int, bytes: Int = 50_000, _ secret: [UInt8] = key) throws -> [UInt8] {
            try SegmentEncryption.encrypted(
                lectureBytes(bytes + number), key: secret,
                vector: [UInt8](repeating: 0, count: 15) + [UInt8(number)])
        }

        func serve(_ name: String, _ text: String) {
            serve(name, Array(text.utf8), type: "application/vnd.apple.mpegurl")
        }

        func serve(_ name: String, _ bytes: [UInt8], type: String = "video/mp2t") {
            answers[name] = bytes
            var file = ServedFile(bytes)
            (file.type, file.etag) = (type, "\"\(name)-\(bytes.count)-\(bytes.last ?? 0)\"")
            scene.network.files[home + name] = file
        }

        /// Fetches the lecture to the end of the attempt.
        @discardableResult func fetch(_ change: (inout StreamSelection) -> Void = { _ in }) throws -> Content {
            try scene.fetch(home + "main.m3u8", change)
        }

        var requested: [String] { scene.network.requests.map { String($0.url.dropFirst(home.count)) } }

        /// The kept files, by their names.
        func kept() throws -> [String: [UInt8]] {
            let item = try #require(try scene.index.contents.item(try ContentKey(home + "main.m3u8")))
            let version = try #require(try scene.index.versions.building(item.id)?.version ?? item.currentVersion)
            var files: [String: [UInt8]] = [:]
            for file in try scene.index.adaptive.kept(version) { files[file.name] = scene.disk.files[file.path] }
            return files
        }

        /// Whether all that is kept is what the server has.
        func hasKeptAll() throws -> Bool {
            let names = (0..<Self.segments).map { ("\($0 + 2).ts", "\($0).ts") } + [("1.key", "k")]
            return try kept() == Dictionary(uniqueKeysWithValues: names.map { ($0, answers[$1] ?? []) })
        }
    }

    // MARK: Segments

    /// What the server has in place of the third segment, and what is wrong with it.
    private static let replaced: [(String, @Sendable ([UInt8]) throws -> [UInt8], String)] = [
        ("another key", { _ in try Course.segment(2, other) }, "its key does not decrypt its end"),
        ("cut between blocks", { $0.dropLast(160) }, "its key does not decrypt its end"),
        ("cut inside a block", { $0.dropLast(7) }, "its length is no multiple of 16 bytes"),
        ("shorter than a block", { Array($0.prefix(9)) }, "its length is no multiple of 16 bytes"),
        ("in clear", { _ in lectureBytes(50_000) }, "its key does not decrypt its end"),
        ("only padding", { _ in try Course.segment(2, bytes: -2) }, "nothing is encrypted in it"),
    ]

    @Test(arguments: replaced.indices, [false, true])
    func `a segment that its key does not decrypt is missing`(place: Int, isSealed: Bool) throws {
        let (name, change, reason) = Self.replaced[place]
        let course = try Course(seals: isSealed)
        let right = try #require(course.answers["2.ts"])
        course.serve("2.ts", try change(right))
        let failed = try course.fetch()
        #expect(failed.state == .failed && failed.error?.code == .segmentsMissing && !failed.isPlayable, "\(name)")
        #expect(failed.error?.cause == "1 of 7: 4.ts (\(reason))", "\(name): \(failed.error?.cause ?? "")")
        #expect(try course.kept().count == 6 && course.requested.count { $0 == "2.ts" } == 1)
        let wrong = try change(right)
        #expect(!course.scene.disk.files.values.contains(wrong), "it has no name")
        let attempts = try SQLiteContentQueries(opening: course.scene.location).attempts(failed.key, limit: 50)
        #expect(attempts.contains { $0.detail == reason && $0.decision == "failed" })
        // With gaps, and when the server has the right one.
        let gaps = try course.fetch { $0.allowsGaps = true }
        #expect(gaps.state == .completed)
        let mended = try Course(seals: isSealed)
        mended.serve("2.ts", wrong)
        try mended.fetch()
        mended.serve("2.ts", right)
        let before = mended.requested.count
        #expect(try mended.fetch().state == .completed)
        #expect(try mended.hasKeptAll() && mended.requested.dropFirst(before) == ["2.ts"])
    }

    @Test func `what --accept-any accepts is not inspected`() throws {
        let course = try Course(accepting: true)
        course.serve("2.ts", try Course.segment(2, Self.other))
        #expect(try course.fetch().state == .completed)
        #expect(try course.hasKeptAll())
    }

    @Test func `nothing but padding is a segment of subtitles`() throws {
        for (name, code) in [("0.vtt", LectureError.Code?.none), ("0.ts", .segmentsMissing)] {
            let course = try Course()
            course.serve(name, try SegmentEncryption.encrypted([], key: Self.key))
            course.serve(
                "main.m3u8",
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:6,\n\(name)\n"
                    + "#EXT-X-ENDLIST\n")
            #expect(try course.fetch().error?.code == code, "\(name)")
        }
    }

    @Test(arguments: [false, true])
    func `ranges of one file, and an encrypted initialisation section, are inspected each`(isDamaged: Bool) throws {
        let course = try Course()
        let vector = (0..<16).map { UInt8($0) }
        let section = try SegmentEncryption.encrypted(lectureBytes(700), key: Self.key, vector: vector)
        let parts = try [1_500_000, 900_001, 64].enumerated().map { number, bytes in
            try SegmentEncryption.encrypted(
                lectureBytes(bytes), key: number == 1 && isDamaged ? Self.other : Self.key,
                vector: [UInt8](repeating: 0, count: 15) + [UInt8(number)])
        }
        course.serve("init.mp4", section)
        course.serve("all.mp4", parts.flatMap { $0 })
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x"
        text += "000102030405060708090a0b0c0d0e0f\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
        var start = 0
        for part in parts {
            text += "#EXTINF:6,\n#EXT-X-BYTERANGE:\(part.count)@\(start)\nall.mp4\n"
            start += part.count
        }
        course.serve("main.m3u8", text + "#EXT-X-ENDLIST\n")
        let content = try course.fetch()
        #expect(content.error?.code == (isDamaged ? .segmentsMissing : nil))
        #expect(content.error?.cause == (isDamaged ? "1 of 3: 3.mp4 (its key does not decrypt its end)" : nil))
        #expect(try course.kept()["2.mp4"] == section)
        // The section itself.
        course.serve("init.mp4", section.dropLast(16))
        if isDamaged { #expect(try course.fetch().error?.cause.hasPrefix("1 of 3: 3.mp4") == true) }
    }

    // MARK: Keys

    @Test func `a key of other bytes is fetched again with its segments`() throws {
        let course = try Course()
        course.serve("k", Self.other)
        let failed = try course.fetch()
        #expect(failed.error?.cause.hasPrefix("6 of 7: 2.ts (its key does not decrypt its end), 3.ts (") == true)
        #expect(try course.kept().keys.sorted() == ["1.key"])
        course.serve("k", Self.key)
        #expect(try course.fetch().state == .completed)
        #expect(try course.hasKeptAll() && course.requested.count { $0 == "k" } == 2)
    }

    @Test func `a segment waits for a key that comes later`() throws {
        let course = try Course()
        course.scene.network.script = { request, _, answer in
            var slow = answer
            if request.url.hasSuffix("/k") { slow.latency = .seconds(20) }
            return slow
        }
        let key = try course.scene.want(Self.home + "main.m3u8")
        course.scene.work(for: .seconds(15))
        #expect(course.requested.count == 8, "everything is requested")
        let early = try course.kept()
        #expect(early.isEmpty)
        #expect(try course.scene.content(key)?.state == .downloading)
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed && course.hasKeptAll())
        #expect(course.requested.count == 8)
        #expect(try course.scene.contradictions() == [])
    }

    @Test func `a key that is gone from the disk is fetched again`() throws {
        let course = try Course()
        var isSlow = true
        course.scene.network.script = { request, _, answer in
            var slow = answer
            if isSlow, request.url.hasSuffix("/5.ts") { slow.latency = .seconds(20) }
            return slow
        }
        let key = try course.scene.want(Self.home + "main.m3u8")
        course.scene.work(for: .seconds(10))
        let names = try course.kept().keys.sorted()
        #expect(names == ["1.key", "2.ts", "3.ts", "4.ts", "5.ts", "6.ts"])
        let item = try #require(try course.scene.index.contents.item(key))
        let version = try #require(try course.scene.index.versions.building(item.id)).version
        let file = try #require(try course.scene.index.adaptive.file(version, named: "1.key"))
        try course.scene.disk.delete(path: file.path)
        isSlow = false
        try course.scene.rest()
        #expect(try course.scene.content(key)?.state == .completed && course.hasKeptAll())
        #expect(course.requested.count { $0 == "k" } == 2 && course.requested.count { $0 == "0.ts" } == 1)
        #expect(try course.scene.contradictions() == [])
    }

    // MARK: Kills

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `kills leave no segment under its final name that was not inspected`(seed: UInt64) throws {
        let course = try Course(seed: seed, seals: seed % 2 == 0)
        course.serve("3.ts", try Course.segment(3, Self.other))
        course.scene.network.script = { _, _, answer in
            var slow = answer
            slow.pace = 4_000
            return slow
        }
        let wrong = try #require(course.answers["3.ts"])
        let key = try course.scene.want(Self.home + "main.m3u8")
        for kill in 0..<15 {
            course.scene.work(for: .milliseconds(30 + 37 * Int64(kill % 7)))
            #expect(!course.scene.disk.files.contains { $0.value == wrong && !$0.key.hasSuffix(".part") })
            if try course.scene.content(key)?.state == .failed { break }
            try course.scene.crash(powerCut: kill % 3 == 0)
        }
        try course.scene.rest()
        #expect(try course.scene.content(key)?.error?.cause.hasPrefix("1 of 7: 5.ts (its key") == true)
        course.serve("3.ts", try Course.segment(3))
        #expect(try course.fetch().state == .completed)
        #expect(try course.hasKeptAll())
    }
}
