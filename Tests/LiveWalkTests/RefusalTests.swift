import LectureLive
import LectureLiveClient
import LectureLiveServer
import LectureModel
import Testing

/// What the client makes of each refusal of the server: the documented number, and the server's own word.
@Suite(.timeLimit(.minutes(1)))
struct RefusalTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: LiveFailure.Code
        var word: String
        var call: @Sendable (MemberClient, VideoRoom) async throws -> Void
    }

    private static let cases = [
        Case(testDescription: "a room that there is not", code: .roomGet, word: "VIDEO_ROOM_NOT_FOUND") { client, _ in
            _ = try await client.room(99)
        },
        Case(testDescription: "joining it", code: .roomJoin, word: "VIDEO_ROOM_NOT_FOUND") { client, _ in
            try await client.join(99)
        },
        Case(testDescription: "starting it", code: .roomStart, word: "VIDEO_ROOM_NOT_FOUND") { client, _ in
            try await client.start(99)
        },
        Case(testDescription: "ending it", code: .roomEnd, word: "VIDEO_ROOM_NOT_FOUND") { client, _ in
            try await client.end(99)
        },
        Case(
            testDescription: "starting without a feed", code: .roomStart, word: "STREAM_KEY_STATE_NOT_ACTIVE"
        ) { client, room in try await client.start(room.id) },
        Case(
            testDescription: "ending what has not begun", code: .roomEnd, word: "VIDEO_ROOM_STATE_NOT_LIVE_INACTIVE"
        ) { client, room in try await client.end(room.id) },
    ]

    @Test(arguments: cases)
    private func `a refusal has its number and the word of the server`(one: Case) async throws {
        let lecture = try await Lecture(hasMedia: false)
        let teacher = try await lecture.member("teacher")
        let room = try await teacher.createRoom(title: "", scheduledAt: Timestamp(milliseconds: 0))
        try await teacher.join(room.id)
        await #expect { try await one.call(teacher, room) } throws: { error in
            guard let failure = error as? LiveFailure else { return false }
            return failure.code == one.code && failure.serverCode == one.word
        }
        // Nothing has changed by it.
        #expect(try await teacher.room(room.id) == room)
        try await lecture.stop()
    }

    @Test func `a token that is wrong or has expired is refused by its number`() async throws {
        let lecture = try await Lecture(hasMedia: false)
        let unknown = try lecture.client("no-token-of-this-server")
        await #expect { _ = try await unknown.streamKey() } throws: { ($0 as? LiveFailure)?.code == .unauthorized }
        try await lecture.stop()
        let brief = try await Lecture(hasMedia: false) { $0.tokenLifetime = .zero }
        let late = try await brief.member("late")
        await #expect { _ = try await late.rooms() } throws: { ($0 as? LiveFailure)?.code == .unauthorized }
        try await brief.stop()
    }

    @Test func `a message that is too long is refused, and the channel goes on`() async throws {
        let lecture = try await Lecture(hasMedia: false)
        let teacher = try await lecture.member("teacher")
        let room = try await teacher.createRoom(title: "", scheduledAt: Timestamp(milliseconds: 0))
        try await teacher.join(room.id)
        for text in ["", "a\u{1}b", String(repeating: "a", count: 1 << 20)] {
            await #expect { try await teacher.send(text, channelID: room.channelID) } throws: { error in
                [.invalidMessage, .messageSend].contains((error as? LiveFailure)?.code)
            }
        }
        try await teacher.send("still here", channelID: room.channelID)
        #expect(try await teacher.newestMessage(channelID: room.channelID)?.text == "still here")
        try await lecture.stop()
    }

    @Test func `a member has one broadcast at a time, and not that of others`() async throws {
        let lecture = try await Lecture(hasMedia: false)
        let (teacher, other) = (try await lecture.member("teacher"), try await lecture.member("other"))
        let room = try await teacher.createRoom(title: "first", scheduledAt: Timestamp(milliseconds: 0))
        #expect(try await teacher.streamKey().room?.id == room.id)
        #expect(try await other.streamKey().room == nil)
        #expect(try await teacher.streamKey().key != other.streamKey().key)
        await #expect { try await other.end(room.id) } throws: { ($0 as? LiveFailure)?.code == .roomEnd }
        #expect(try await other.room(room.id).title == "first")
        #expect(try await teacher.rooms(state: .scheduled).rooms.map(\.id) == [room.id])
        #expect(try await teacher.rooms(state: .ended).rooms.isEmpty)
        #expect(try await other.rooms().rooms.isEmpty)
        try await lecture.stop()
    }
}
