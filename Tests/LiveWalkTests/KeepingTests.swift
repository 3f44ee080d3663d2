import LectureKit
import LectureLive
import LectureLiveClient
import LectureLiveMedia
import LectureLiveOffline
import LectureModel
import LectureTestSupport
import Testing

/// Live lectures that are kept while they go on.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct KeepingTests {
    @Test func `a learner who comes late keeps everything, also through an interruption`() async throws {
        let lecture = try await Lecture(hasMedia: true)
        let (teacher, learner) = (try await lecture.member("teacher"), try await lecture.member("learner"))
        let key = try await teacher.streamKey()
        let room = try await teacher.createRoom(title: "수학 1", scheduledAt: Timestamp(milliseconds: 0))
        for member in [teacher, learner] { try await member.join(room.id) }
        let events = Reading(room.channelID, teacher)
        let broadcast = try TestBroadcast.start()
        try await broadcast.connect(to: key.publishURL)
        try await events.key(.active)
        try await teacher.start(room.id)
        try await events.room(.live)
        // More fragments of half a second than the ten that viewers see.
        await TestBroadcast.sent(100, by: broadcast)

        let directory = try TemporaryDirectory()
        let manager = try LectureManager(LectureConfiguration(storeDirectory: directory.file("store")))
        let live = try await learner.room(room.id)
        let keeper = LiveKeeper(try LiveLecture(live), in: manager)
        #expect(try await keeper.progress() == .nothing)
        try await keeper.keep(live)
        await TestBroadcast.sent(20, by: broadcast)
        await broadcast.disconnect()
        try await events.room(.inactive)
        #expect(try await keeper.progress() == .underWay)
        // The link is the same in the pause, and in the next session.
        #expect(try await learner.room(room.id).eventURL == live.eventURL)
        try await broadcast.connect(to: key.publishURL)
        try await events.room(.live)
        #expect(try await learner.room(room.id).eventURL == live.eventURL)
        await TestBroadcast.sent(30, by: broadcast)
        await broadcast.disconnect()
        let sent = broadcast.statistics.framesSent
        broadcast.close()
        try await events.room(.inactive)
        try await teacher.end(room.id)
        try await events.room(.ended)

        #expect(try await manager.downloads.waitUntilIdle(deadline: .seconds(60)))
        #expect(try await keeper.progress() == .whole)
        #expect(try await !keeper.complete(from: "http://127.0.0.1:1/"))
        let content = try #require(try await manager.contents.find(keeper.lecture.key))
        #expect(content.title == "수학 1" && content.key.text == "live-\(live.uuid)")
        let path = try await manager.contents.path(of: keeper.lecture.key)
        let counters = try FrameCounterReader(path).read().counters
        // In order, and complete but for the start of each session: a group of pictures that began before the relay.
        #expect(counters == counters.sorted() && Set(counters).count == counters.count)
        let breaks = zip(counters, counters.dropFirst()).filter { $1 != $0 + 1 }
        #expect(breaks.count <= 1, "\(breaks)")
        #expect(counters.count >= sent - 2 * TestBroadcast.group - 2, "\(counters.count) of \(sent)")
        events.close()
        await manager.close()
        try await lecture.stop()
    }
}
