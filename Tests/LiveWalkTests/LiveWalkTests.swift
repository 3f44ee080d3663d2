import LectureLive
import LectureLiveClient
import LectureLiveMedia
import LectureModel
import LectureTestSupport
import Testing

/// Live lectures from one end to the other: the encoder, the server with nginx, the client, and a decoder.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct LiveWalkTests {
    @Test func `what a teacher sends is what a learner sees, picture by picture, also after an interruption`()
        async throws
    {
        let lecture = try await Lecture(hasMedia: true)
        let (teacher, learner) = (try await lecture.member("teacher"), try await lecture.member("learner"))
        let key = try await teacher.streamKey()
        #expect(key.room == nil && key.state == .inactive)
        let room = try await teacher.createRoom(title: "수학 1", scheduledAt: Timestamp(milliseconds: 0))
        #expect(room.state == .scheduled && room.playURL == nil)
        for member in [teacher, learner] { try await member.join(room.id) }
        #expect(try await teacher.streamKey().room?.id == room.id)

        let events = Reading(room.channelID, teacher)
        let broadcast = try TestBroadcast.start()
        var links: [String] = []
        for session in 1...2 {
            try await broadcast.connect(to: key.publishURL)
            if session == 1 {
                try await events.key(.active)
                #expect(try await teacher.room(room.id).state == .scheduled)
                try await teacher.start(room.id)
            }
            try await events.room(.live)
            let link = try #require(try await learner.room(room.id).playURL)
            #expect(!link.contains(key.key))
            links.append(link)
            // The relay begins inside a group of pictures, which no decoder shows: further groups follow it.
            await TestBroadcast.sent(30, by: broadcast)
            await broadcast.disconnect()
            try await events.room(.inactive)
            #expect(try await learner.room(room.id).playURL == nil)
            let counters = try await Decoded.counters(link)
            let first = try #require(counters.first)
            #expect(counters == Array(first..<first + counters.count) && counters.count >= 15, "\(counters)")
        }
        #expect(Set(links).count == 2, "each session has an address of its own")
        TestBroadcast.expectWhole(broadcast, sessions: 2)
        broadcast.close()

        try await teacher.end(room.id)
        try await events.room(.ended)
        events.close()
        try await teacher.leave(room.id)
        let ended = try await learner.room(room.id)
        #expect(ended.state == .ended && ended.session == 2 && ended.liveEndedAt != nil)
        #expect(try await teacher.streamKey().room == nil)
        try await lecture.stop()
    }

    @Test func `a key is known or refused, and never in the error`() async throws {
        let lecture = try await Lecture(hasMedia: true)
        let teacher = try await lecture.member("teacher")
        let key = try await teacher.streamKey()
        let wrong = "\(key.ingestURL)/another-key?mode=CMAF"
        let broadcast = try TestBroadcast.start()
        var refusal: BroadcastError?
        do throws(BroadcastError) {
            try await broadcast.connect(to: wrong)
            for await event in broadcast.events {
                guard case .connectionEnded(let error) = event else { continue }
                refusal = error
                break
            }
        } catch { refusal = error }
        #expect(refusal == .refused)
        #expect(!"\(String(describing: refusal))".contains("another-key"))
        // The same encoder, with its own key.
        try await broadcast.connect(to: key.publishURL)
        await broadcast.disconnect()
        broadcast.close()
        try await lecture.stop()
    }

    @Test func `learners read the same messages in the same order, and know how many they are`() async throws {
        let lecture = try await Lecture(hasMedia: false)
        let teacher = try await lecture.member("teacher")
        let room = try await teacher.createRoom(title: "Chat", scheduledAt: Timestamp(milliseconds: 0))
        try await teacher.join(room.id)
        var learners: [MemberClient] = []
        for number in 1...5 {
            let learner = try await lecture.member("learner-\(number)")
            try await learner.join(room.id)
            learners.append(learner)
        }
        let readings = learners.map { Reading(room.channelID, $0) }
        // Each says twenty things, all at once; a text is one that markup and line feeds are part of.
        await withTaskGroup(of: Bool.self) { group in
            for (number, learner) in learners.enumerated() {
                group.addTask {
                    for place in 0..<20 {
                        let text = "<b>\(number)</b>\n\t수학 \(place)"
                        do { try await learner.send(text, channelID: room.channelID) } catch { return false }
                    }
                    return true
                }
            }
            for await isSent in group { #expect(isSent) }
        }
        try await teacher.send("that is all", customType: "end", channelID: room.channelID)
        var read: [[LiveMessage]] = []
        for reading in readings {
            let last = try await reading.next { $0.customType == "end" }
            #expect(last.text == "that is all" && last.userID == "teacher" && last.origin == .member)
            read.append(reading.messages)
            reading.close()
        }
        let first = try #require(read.first)
        #expect(read.allSatisfy { $0 == first })
        #expect(first.map(\.id) == Array(1...UInt64(first.count)))
        let chat = first.filter { $0.origin == .member }
        #expect(chat.count == 101)
        for number in 0..<5 {
            let own = chat.filter { $0.userID == "learner-\(number + 1)" }.map(\.text)
            #expect(own == (0..<20).map { "<b>\(number)</b>\n\t수학 \($0)" })
        }
        let joined = first.filter { $0.customType == LiveMessage.Word.joined }
        #expect(Set(joined.map(\.userID)) == Set(["teacher"] + (1...5).map { "learner-\($0)" }))
        #expect(first.compactMap(\.participants).max() == 6)
        // One that comes later has the same history.
        let late = try await lecture.member("late")
        try await late.join(room.id)
        let (page, isEnd) = try await late.messages(channelID: room.channelID, after: 0)
        #expect(page.count == 100 && !isEnd && page == Array(first.prefix(100)))
        try await lecture.stop()
    }

    @Test func `a member of two rooms reads each of them`() async throws {
        let lecture = try await Lecture(hasMedia: false)
        let learner = try await lecture.member("learner")
        var rooms: [(host: MemberClient, room: VideoRoom)] = []
        for name in ["algebra", "geometry"] {
            let host = try await lecture.member(name)
            let room = try await host.createRoom(title: name, scheduledAt: Timestamp(milliseconds: 0))
            for member in [host, learner] { try await member.join(room.id) }
            rooms.append((host, room))
        }
        let readings = rooms.map { Reading($0.room.channelID, learner) }
        for (host, room) in rooms {
            for _ in 0..<3 { try await host.send(room.title, channelID: room.channelID) }
            try await host.send(room.title, customType: "end", channelID: room.channelID)
        }
        for (reading, (_, room)) in zip(readings, rooms) {
            _ = try await reading.next { $0.customType == "end" }
            reading.close()
            #expect(reading.messages.map(\.id) == Array(1...UInt64(reading.messages.count)))
            let texts = reading.messages.filter { $0.origin == .member }.map(\.text)
            #expect(texts == [String](repeating: room.title, count: 4))
        }
        try await lecture.stop()
    }
}
