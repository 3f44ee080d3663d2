import Foundation
import KollusSDK
import LectureModel
import LectureTestSupport
import Testing

/// An adaptive content: playlists and segments in place of one file.
@Suite struct AdaptiveTests {
    /// Playlists with two variants on a server of their own.
    private struct Site {
        static let segments = 8
        let classroom: Classroom
        let root: TemporaryDirectory
        let origin: NginxOrigin

        var url: String { "\(origin.http)/main.m3u8" }

        init() async throws {
            (classroom, root) = (try await Classroom(), try TemporaryDirectory())
            try Self.playlist(
                """
                #EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=640x360
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=1280x720
                high.m3u8
                """
            ).write(toFile: root.file("main.m3u8"), atomically: true, encoding: .utf8)
            for name in ["low", "high"] {
                let lines = (0..<Self.segments).map { "#EXTINF:4,\n\(name)\($0).ts" }.joined(separator: "\n")
                try Self.playlist("#EXT-X-TARGETDURATION:4\n\(lines)\n#EXT-X-ENDLIST").write(
                    toFile: root.file("\(name).m3u8"), atomically: true, encoding: .utf8)
                for number in 0..<Self.segments {
                    try Self.segment(name, number).write(to: URL(filePath: root.file("\(name)\(number).ts")))
                }
            }
            var options = NginxOrigin.Options()
            options.directives = "types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }"
            origin = try await NginxOrigin.start(serving: root.path, options)
        }

        private static func playlist(_ lines: String) -> String { "#EXTM3U\n\(lines)\n" }

        /// Packets of MPEG-TS, of a length that differs between variants and segments.
        static func segment(_ name: String, _ number: Int) -> Data {
            let packet = [0x47] + [UInt8](repeating: UInt8(number), count: 187)
            let count = (name == "low" ? 50 : 200) + number
            return Data((0..<count).flatMap { _ in packet })
        }

        /// The bytes of a variant's segments.
        static func bytes(_ name: String) -> Int64 {
            (0..<segments).reduce(0) { $0 + Int64(segment(name, $1).count) }
        }

        /// The bytes of its playlists.
        func playlistBytes(_ name: String) throws -> Int64 {
            try ["main", name].reduce(0) {
                $0 + Int64(try Data(contentsOf: URL(filePath: root.file("\($1).m3u8"))).count)
            }
        }

        func storage(_ change: (inout StreamSelection) -> Void = { _ in }) throws -> KollusStorage {
            let storage = try classroom.storage()
            change(&storage.settings.streamSelection)
            try storage.start()
            return storage
        }

        /// The segments that were sent.
        func sent() async throws -> Set<String> {
            Set(try await origin.requests().map(\.target).filter { $0.hasSuffix(".ts") })
        }
    }

    @Test func `an adaptive content shows its progress, and 100 at its end alone`() async throws {
        let site = try await Site()
        let storage = try site.storage()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(site.url)
        let loaded = try #require(try storage.content(key))
        #expect(loaded.contentType == .adaptiveDownload)
        #expect(loaded.fileSize == 0, "the bytes of all segments are not known before they are there")
        #expect(loaded.downloadProgress == 0 && !loaded.downloaded && loaded.downloadSize == 0)
        try storage.downloadContent(key)
        let finals = await witness.finals(1)
        guard case .download(key, 100, true, let bytes, nil) = finals.first else {
            Issue.record("\(finals)")
            return
        }
        #expect(bytes == Site.bytes("high") + (try site.playlistBytes("high")))
        var (percent, received): (UInt, Int64) = (0, 0)
        for case .download(_, let now, let downloaded, let bytes, let code) in witness.reported {
            #expect(now >= percent && bytes >= received && code == nil, "\(witness.reported)")
            #expect((now == 100) == downloaded)
            (percent, received) = (now, bytes)
        }
        let done = try #require(try storage.content(key))
        #expect(done.contentType == .adaptiveDownload && done.downloaded && done.downloadProgress == 100)
        #expect(done.fileSize == bytes && done.downloadSize == bytes && done.downloadStopSize == 0)
        #expect(done.duration == 32 && done.naturalSize == CGSize(width: 1_280, height: 720))
        #expect(storage.storageSize == bytes)
        #expect(try await site.sent() == Set((0..<Site.segments).map { "/high\($0).ts" }))
        #expect(code { try storage.downloadContent(key) } == KollusError.Code.ERROR_ALREADY_DOWNLOADED.rawValue)
        try storage.removeContent(key)
        #expect(try storage.content(key) == nil && storage.storageSize == 0)
    }

    @Test func `the settings choose the variant`() async throws {
        let site = try await Site()
        let storage = try site.storage { $0.maxHeight = 480 }
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(site.url)
        try storage.downloadContent(key)
        guard case .download(key, 100, true, let bytes, nil) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(bytes == Site.bytes("low") + (try site.playlistBytes("low")))
        #expect(try #require(try storage.content(key)).naturalSize == CGSize(width: 640, height: 360))
        #expect(try await site.sent() == Set((0..<Site.segments).map { "/low\($0).ts" }))
    }

    @Test func `what no variant fits is refused with a number and keeps nothing`() async throws {
        let site = try await Site()
        let storage = try site.storage { $0.maxHeight = 100 }
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let key = try storage.loadContentURL(site.url)
        try storage.downloadContent(key)
        guard case .download(key, let percent, false, _, let code) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(percent < 100 && code == LectureError.Code.variantUnavailable.number)
        #expect(try await site.sent().isEmpty)
    }

    @Test func `a segment that is missing fails, and is all that is fetched afterwards`() async throws {
        let site = try await Site()
        let storage = try site.storage()
        defer { storage.close() }
        let witness = Witness()
        storage.delegate = witness
        let lost = site.root.file("high5.ts")
        try FileManager.default.moveItem(atPath: lost, toPath: lost + ".away")
        let key = try storage.loadContentURL(site.url)
        try storage.downloadContent(key)
        guard case .download(key, let percent, false, let bytes, let code) = await witness.finals(1).first else {
            Issue.record("\(witness.finals)")
            return
        }
        #expect(percent >= 80 && percent < 100 && code == LectureError.Code.segmentsMissing.number)
        let kept = Site.bytes("high") - Int64(Site.segment("high", 5).count)
        #expect(bytes >= kept, "what is there stays: \(bytes) of \(kept)")
        let stopped = try #require(try storage.content(key))
        #expect(stopped.downloadProgress >= 80 && stopped.downloadProgress < 100, "of its chunks, not of its bytes")
        #expect(stopped.fileSize == 0 && stopped.downloadStopSize >= kept && !stopped.downloaded)
        try FileManager.default.moveItem(atPath: lost + ".away", toPath: lost)
        let before = try await site.origin.requests().count
        try storage.downloadContent(key)
        guard case .download(key, 100, true, _, nil) = await witness.finals(2).last else {
            Issue.record("\(witness.finals)")
            return
        }
        let again = try await site.origin.requests().dropFirst(before).map(\.target).filter { $0.hasSuffix(".ts") }
        #expect(Set(again) == ["/high5.ts"])
    }
}
