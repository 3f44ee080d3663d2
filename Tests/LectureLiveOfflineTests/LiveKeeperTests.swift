import Foundation
import LectureFormats
import LectureKit
import LectureLive
import LectureModel
import LectureTestSupport
import Testing

@testable import LectureLiveOffline

/// Keeping a live lecture, from a server whose playlist a test changes.
@Suite(.timeLimit(.minutes(1)))
struct LiveKeeperNetTests {
    /// A server with a live playlist of the film's five segments, and a store.
    private struct Site {
        let directory: TemporaryDirectory
        let origin: NginxOrigin
        let manager: LectureManager

        init() async throws {
            directory = try TemporaryDirectory()
            let live = directory.file("live")
            try FileManager.default.createDirectory(atPath: live, withIntermediateDirectories: true)
            origin = try await NginxOrigin.start(serving: live)
            var configuration = LectureConfiguration(storeDirectory: directory.file("store"))
            configuration.reserveBytes = 1 << 20
            manager = try LectureManager(configuration)
        }

        /// Lists some segments, and has only them.
        func list(_ numbers: ClosedRange<Int>, isLast: Bool = false, isWhole: Bool = false) async throws {
            let film = try await TestStreams.shared.value.directory.file("ts")
            let live = directory.file("live")
            let kind = isWhole ? "#EXT-X-PLAYLIST-TYPE:EVENT\n" : ""
            var text =
                "#EXTM3U\n#EXT-X-VERSION:3\n\(kind)#EXT-X-TARGETDURATION:2\n"
                + "#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
            for number in numbers {
                let name = "main\(number).ts"
                if !FileManager.default.fileExists(atPath: "\(live)/\(name)") {
                    try FileManager.default.copyItem(atPath: "\(film)/\(name)", toPath: "\(live)/\(name)")
                }
                text += "#EXTINF:2,\n\(name)\n"
            }
            try Data((text + (isLast ? "#EXT-X-ENDLIST\n" : "")).utf8)
                .write(to: URL(filePath: "\(live)/index.m3u8"), options: .atomic)
        }

        /// The recording, as one file.
        func recording() async throws -> String {
            let film = try await TestStreams.shared.value.directory.file("film.mp4")
            let place = directory.file("live/recording.mp4")
            if !FileManager.default.fileExists(atPath: place) {
                try FileManager.default.copyItem(atPath: film, toPath: place)
            }
            return "\(origin.http)/recording.mp4"
        }

        func room(_ title: String = "Algebra", isOpen: Bool = true) -> VideoRoom {
            var room = VideoRoom(id: 7, state: isOpen ? .live : .ended, title: title, channelID: 42)
            (room.uuid, room.liveStartedAt) = ("0193-ab", Timestamp(milliseconds: 1_764_320_400_000))
            if isOpen { room.eventURL = "\(origin.http)/index.m3u8" }
            return room
        }

        func keeper() throws -> LiveKeeper { LiveKeeper(try LiveLecture(room()), in: manager) }

        /// Waits until so many segments were fetched.
        func fetched(_ count: Int) async throws {
            while try await origin.requests().count(where: { $0.target.hasSuffix(".ts") }) < count {}
        }

        func idle() async throws {
            #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(50)))
        }
    }

    @Test func `a lecture that is kept to its end is whole, and its recording is not fetched`() async throws {
        let site = try await Site()
        let keeper = try site.keeper()
        #expect(try await keeper.progress() == .nothing)
        try await site.list(0...1, isWhole: true)
        try await keeper.keep(site.room())
        try await site.fetched(2)
        #expect(try await keeper.progress() == .underWay)
        // Asked for once more, it is the same.
        try await keeper.keep(site.room())
        try await site.list(0...4, isLast: true, isWhole: true)
        try await site.idle()
        #expect(try await keeper.progress() == .whole)
        #expect(try await !keeper.complete(from: "\(site.origin.http)/none.mp4"))
        let content = try #require(try await site.manager.contents.find(keeper.lecture.key))
        #expect(content.title == "Algebra" && content.type == .adaptiveDownload)
        #expect(try await site.origin.requests().count { $0.target.hasSuffix(".ts") } == 5)
        try await site.manager.downloads.remove(keeper.lecture.key)
        #expect(try await keeper.progress() == .nothing)
        await site.manager.close()
    }

    @Test func `what was missed comes with the recording, under the same key`() async throws {
        let site = try await Site()
        let keeper = try site.keeper()
        try await site.list(0...1)
        try await keeper.keep(site.room())
        try await site.fetched(2)
        // The link was lost meanwhile: the second segment that left the list is missed.
        try await site.list(3...4, isLast: true)
        try await site.idle()
        guard case .incomplete(let error) = try await keeper.progress() else {
            Issue.record("\(try await keeper.progress())")
            return
        }
        #expect(error.code == .captureGaps)
        #expect(try await keeper.complete(from: site.recording()))
        try await site.idle()
        let now = try await keeper.progress()
        let why = try await site.manager.contents.why(keeper.lecture.key)
        #expect(now == .whole, "\(now) \(why)")
        let content = try #require(try await site.manager.contents.find(keeper.lecture.key))
        let recording = try Data(contentsOf: URL(filePath: site.directory.file("live/recording.mp4")))
        #expect(content.totalBytes == Int64(recording.count) && content.sourceURL.hasSuffix("recording.mp4"))
        let path = try await site.manager.contents.path(of: keeper.lecture.key)
        #expect(try Data(contentsOf: URL(filePath: path)) == recording)
        await site.manager.close()
    }

    @Test func `a program that ends goes on with the same lecture later`() async throws {
        let site = try await Site()
        try await site.list(0...1, isWhole: true)
        try await site.keeper().keep(site.room())
        try await site.fetched(2)
        await site.manager.close()
        try await site.list(0...4, isLast: true, isWhole: true)
        let manager = try LectureManager(LectureConfiguration(storeDirectory: site.directory.file("store")))
        let keeper = LiveKeeper(try LiveLecture(site.room()), in: manager)
        try await keeper.keep(site.room(""))
        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(50)))
        #expect(try await keeper.progress() == .whole)
        // Without a title of its own the lecture keeps the one that it had.
        #expect(try await manager.contents.find(keeper.lecture.key)?.title == "Algebra")
        // A segment that was on its way when the program ended may come twice.
        let segments = try await site.origin.requests().count { $0.target.hasSuffix(".ts") }
        #expect((5...7).contains(segments), "\(segments)")
        await manager.close()
    }

    @Test func `a room without an address, and a store that is closed, are refused`() async throws {
        let site = try await Site()
        let keeper = try site.keeper()
        do throws(LectureError) {
            try await keeper.keep(site.room(isOpen: false))
            Issue.record("a room that has ended was kept")
        } catch { #expect(error.code == .parameter && error.message.contains("room 7")) }
        #expect(try await keeper.progress() == .nothing)
        await site.manager.close()
        await #expect(throws: LectureError.self) { try await keeper.keep(site.room()) }
        await #expect(throws: LectureError.self) { try await keeper.complete(from: "http://127.0.0.1:1/x") }
    }

    @Test func `nothing is kept of an address that answers nothing, and the reason is the server's`() async throws {
        let site = try await Site()
        let keeper = try site.keeper()
        try await keeper.keep(site.room())
        try await site.idle()
        guard case .incomplete(let error) = try await keeper.progress() else {
            Issue.record("\(try await keeper.progress())")
            return
        }
        #expect(error.code.number == -8404 || error.message.contains("404"), "\(error.message)")
        await site.manager.close()
    }

    @Test func `a lecture that was cancelled is incomplete until it is kept again`() async throws {
        let site = try await Site()
        let keeper = try site.keeper()
        try await site.list(0...1, isWhole: true)
        try await keeper.keep(site.room())
        try await site.fetched(2)
        try await site.manager.downloads.pause(keeper.lecture.key)
        while try await keeper.progress() == .underWay {}
        guard case .incomplete = try await keeper.progress() else {
            Issue.record("\(try await keeper.progress())")
            return
        }
        try await site.list(0...4, isLast: true, isWhole: true)
        try await keeper.keep(site.room())
        try await site.idle()
        #expect(try await keeper.progress() == .whole)
        await site.manager.close()
    }
}
