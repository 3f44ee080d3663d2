import Foundation
import LectureFormats
import LectureKit
import LectureLive
import LectureLiveClient
import LectureLiveMedia
import LectureLiveOffline
import LectureModel
import LectureTestSupport
import Testing

/// From a live lecture to a licensed one in the store of a learner: the server, its process that joins, and LectureKit.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ArchiveWalkTests {
    /// The store of a learner, with the secret that the operator of the server has handed out.
    private func manager(_ lecture: Lecture, _ name: String) throws -> LectureManager {
        var configuration = LectureConfiguration(storeDirectory: lecture.directory.file(name))
        (configuration.reserveBytes, configuration.proxy) = (1 << 20, "")
        configuration.deviceDirectory = lecture.directory.file("\(name)-device")
        configuration.rights.keys = [
            .init(id: "live", place: .secret(lecture.directory.file("state/licence.key")), algorithm: "HS256")
        ]
        return try LectureManager(configuration)
    }

    private func fetch(_ url: String, _ manager: LectureManager) async throws -> Content? {
        let key = try await manager.downloads.enqueue(DownloadRequest(url: url))
        _ = try await manager.downloads.waitUntilIdle(deadline: .seconds(60))
        return try await manager.contents.find(key)
    }

    /// The numbers of each session's pictures: they rise by one, but for a gap between two sessions.
    private func runs(_ counters: [Int]) -> [ClosedRange<Int>] {
        var runs: [ClosedRange<Int>] = []
        for counter in counters {
            if let last = runs.last, counter == last.upperBound + 1 {
                runs[runs.count - 1] = last.lowerBound...counter
            } else {
                runs.append(counter...counter)
            }
        }
        return runs
    }

    /// Two sessions of a broadcast with what is said in them.
    ///
    /// - Returns: for each session, the numbers of the pictures that a viewer's playlist had.
    private func teach(_ room: VideoRoom, _ teacher: MemberClient, _ learner: MemberClient) async throws -> [[Int]] {
        let key = try await teacher.streamKey()
        let events = Reading(room.channelID, teacher)
        let broadcast = try TestBroadcast.start()
        var seen: [[Int]] = []
        for session in 1...2 {
            try await broadcast.connect(to: key.publishURL)
            if session == 1 {
                try await events.key(.active)
                try await teacher.start(room.id)
            }
            try await events.room(.live)
            let link = try #require(try await learner.room(room.id).playURL)
            await TestBroadcast.sent(15, by: broadcast)
            try await learner.send("a question in session \(session)", channelID: room.channelID)
            await TestBroadcast.sent(15, by: broadcast)
            await broadcast.disconnect()
            try await events.room(.inactive)
            seen.append(try await Decoded.counters(link))
            if session == 1 { try await teacher.send("a moment, please", channelID: room.channelID) }
        }
        TestBroadcast.expectWhole(broadcast, sessions: 2)
        broadcast.close()
        try await teacher.end(room.id)
        events.close()
        return seen
    }

    @Test func `a live lecture is downloaded with its chat, decoded without a loss, renewed, refused and deleted`()
        async throws
    {
        let lecture = try await Lecture(hasMedia: true)
        let token = try await lecture.token("teacher")
        let (teacher, learner) = (try lecture.client(token), try await lecture.member("learner"))
        let room = try await teacher.createRoom(title: "수학 1", scheduledAt: Timestamp(milliseconds: 0))
        for member in [teacher, learner] { try await member.join(room.id) }
        let seen = try await teach(room, teacher, learner)
        try await lecture.archive()
        let ended = try await learner.room(room.id)
        #expect(ended.archiveState == .archived)
        let link = try #require(ended.archiveURL)

        let manager = try manager(lecture, "store")
        let content = try #require(try await fetch(link, manager))
        let why = try await manager.contents.why(content.key)
        #expect(content.state == .completed, "\(why)")
        #expect(content.title == "수학 1" && content.teacher == "teacher")
        #expect("\(content.key)".hasPrefix("live-"))
        try await check(content, manager, seen)
        try await precache(link, lecture)
        try await follow(content, manager, lecture, token, room)
        await manager.close()
        try await lecture.stop()
    }

    /// The same by the command, as the manual says.
    private func precache(_ link: String, _ lecture: Lecture) async throws {
        let key = #"{"id":"live","secret_file":"state/licence.key","algorithm":"HS256"}"#
        let configuration = try lecture.directory.write(#"{"drm":{"keys":[\#(key)]}}"#, to: "config.json")
        let words = ["--config", configuration, "--store", lecture.directory.file("command")]
        let environment = ["LECTURE_DEVICE": lecture.directory.file("command-device")]
        let program = Places.builtProduct("lecturectl")
        let download = try await ChildProcess.run(program, ["precache", link] + words, environment: environment)
        #expect(download.status == 0, "\(download.text) \(download.errorText)")
        let list = try await ChildProcess.run(program, ["licence", "list"] + words, environment: environment)
        #expect(list.status == 0 && list.text.contains("live-"), "\(list.text) \(list.errorText)")
    }

    /// What is on the learner's disk: the pictures, and the chat.
    private func check(_ content: Content, _ manager: LectureManager, _ seen: [[Int]]) async throws {
        let bytes = Guarded(Data())
        try await manager.contents.read(content.key) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
        // Decoded from a place of this test's own; the stores have it sealed only.
        let place = try TemporaryDirectory.inMemory()
        let path = place.file("lecture.mp4")
        try bytes.withLock(\.self).write(to: URL(filePath: path))
        let frames = try await Decoded.frames(path)
        let counters = frames.compactMap(\.counter)
        #expect(counters.count == frames.count)
        let runs = runs(counters)
        try #require(runs.count == 2, "one gap, and no other: \(runs)")
        for (run, watched) in zip(runs, seen) {
            #expect(Set(watched).isSubset(of: run) && watched.last == run.upperBound, "\(run) \(watched)")
        }
        let border = try #require(frames.first { $0.counter == runs[1].lowerBound }).time
        let subtitles = try await manager.contents.subtitles(of: content.key)
        #expect(subtitles.map(\.name) == ["Chat"])
        let chat = try ChatLog(webVTT: String(decoding: try #require(subtitles.first).bytes, as: UTF8.self)).entries
        #expect(chat.map(\.text) == ["a question in session 1", "a moment, please", "a question in session 2"])
        #expect(chat.map(\.userID) == ["learner", "teacher", "learner"])
        // What an application reads is the same.
        #expect(try await manager.contents.chat(of: content.key)?.entries == chat)
        let positions = chat.map(\.position)
        #expect(positions[0] > .zero && positions[0] < border && positions[2] > border, "\(positions) \(border)")
        // What was said in the pause is where the next session begins, as near as sound and picture end together.
        let distance = abs((positions[1] - border).milliseconds)
        #expect(distance < 300, "\(distance)")
    }

    /// Renewal, a ban, and the end of the room.
    private func follow(
        _ content: Content, _ manager: LectureManager, _ lecture: Lecture, _ token: String, _ room: VideoRoom
    ) async throws {
        let first = try #require(try await manager.licences.status(of: content.key))
        #expect(first.isPlayable && first.deadline != nil)
        let renewed = try await manager.licences.renew(.all)
        #expect(renewed.renewed == 1, "\(renewed)")
        let link = try #require(try await lecture.member("learner").room(room.id).archiveURL)
        let bans = "/v2/members/me/channels/\(room.id)/bans"
        try await lecture.call("POST", bans, #"{"appUserId":"learner"}"#, token: token)
        let refused = try await manager.licences.renew(.all)
        #expect(refused.renewed == 0 && refused.failed == 1, "\(refused)")
        #expect(try await manager.licences.status(of: content.key)?.isPlayable == true, "it stays as it was")
        let other = try self.manager(lecture, "other")
        let none = try await fetch(link, other)
        #expect(none?.state != .completed)
        await other.close()
        try await lecture.call("DELETE", "\(bans)/learner", token: token)
        #expect(try await manager.licences.renew(.all).renewed == 1)
        try await lecture.call("DELETE", "/v2/members/me/video-rooms/\(room.id)", token: token)
        _ = try await manager.licences.renew(.all)
        let left = try await manager.contents.find(content.key)
        #expect(left == nil || left?.state != .completed, "\(String(describing: left))")
    }
}
