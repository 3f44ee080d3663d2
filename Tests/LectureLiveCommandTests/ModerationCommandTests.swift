import Foundation
import LectureFormats
import LectureLive
import LectureLiveClient
import LectureLiveCommand
import LectureLiveServer
import LectureModel
import Testing

/// What the host of a room does about it and its chat, against the program's own server.
@Suite(.timeLimit(.minutes(1)))
struct ModerationCommandTests {
    /// A server with two members and a room of the first one, in which the second has written two messages.
    private func stage() async throws -> (stage: CommandStage, room: VideoRoom) {
        let stage = try await CommandStage()
        for user in ["kim", "lee"] { try await stage.login(user) }
        let room = try await stage.client("kim") {
            try await $0.createRoom(title: "Algebra", scheduledAt: Timestamp(milliseconds: 0))
        }
        try await stage.client("lee") { client in
            try await client.join(room.id)
            for text in ["rude", "polite"] { try await client.send(text, channelID: room.channelID) }
        }
        return (stage, room)
    }

    private func texts(_ user: String, _ room: VideoRoom, _ stage: CommandStage) async throws -> [String] {
        try await stage.client(user) { client in
            try await client.join(room.id)
            return try await client.messages(channelID: room.channelID, after: 0).page
                .filter { $0.origin == .member }.map(\.text)
        }
    }

    @Test func `a message is hidden by its number`() async throws {
        let (stage, room) = try await stage()
        let number = try await stage.client("lee") { client in
            try await client.messages(channelID: room.channelID, after: 0).page.first { $0.text == "rude" }?.id
        }
        let id = "\(try #require(number))"
        let end = try await stage.run("kim", "rooms", "hide", "\(room.id)", id, "--json")
        #expect(end.code == 0, "\(end.diagnostics)")
        #expect(
            end.output
                == "{\"event\":\"live_moderation\",\"action\":\"hide\",\"room\":\(room.id),\"message\":\(id)}\n")
        #expect(end.diagnostics == "lecture-live: Message \(id) of room \(room.id) is hidden.\n")
        #expect(try await !texts("lee", room, stage).contains("rude"))
        #expect(try await stage.run("kim", "rooms", "hide", "\(room.id)", id).code == 0, "again is the same as once")
        let none = try await stage.run("kim", "rooms", "hide", "\(room.id)", "9999", "--json")
        #expect(none.code == 1 && none.output.contains(#""server_code":"CHANNEL_MESSAGE_NOT_FOUND""#))
        #expect(none.diagnostics.contains("'lecture-live chat --json' prints the numbers of messages."))
        await stage.server.stop()
    }

    @Test func `a member is banned, and permitted again`() async throws {
        let (stage, room) = try await stage()
        let ban = try await stage.run("kim", "rooms", "ban", "\(room.id)", "lee", "--json")
        #expect(ban.code == 0 && ban.output.contains(#""action":"ban","room":\#(room.id),"user":"lee"}"#))
        await #expect(throws: LiveFailure.self) { try await texts("lee", room, stage) }
        let unban = try await stage.run("kim", "rooms", "unban", "\(room.id)", "lee", "--json")
        #expect(unban.code == 0 && unban.output.contains(#""action":"unban""#), "\(unban.diagnostics)")
        #expect(try await texts("lee", room, stage) == ["rude", "polite"])
        let text = try await stage.run("kim", "rooms", "unban", "\(room.id)", "lee")
        #expect(text.output.isEmpty && text.diagnostics == "lecture-live: lee may watch room \(room.id) again.\n")
        for (user, code, part) in [
            ("mia", 1, "A member is there once it has logged in"), ("kim", 65, "cannot be banned"),
        ] {
            let end = try await stage.run("kim", "rooms", "ban", "\(room.id)", user)
            #expect(end.code == code && end.diagnostics.contains(part), "\(end.diagnostics)")
        }
        // A name that would be another path is one that there is not.
        let odd = try await stage.run("kim", "rooms", "unban", "\(room.id)", "../bans?x=1#y")
        #expect(odd.code == 1 || odd.code == 65, "\(odd.diagnostics)")
        await stage.server.stop()
    }

    @Test func `members wait between two messages, until they need not any more`() async throws {
        let (stage, room) = try await stage()
        let slow = try await stage.run("kim", "rooms", "slow", "\(room.id)", "3600", "--json")
        #expect(slow.code == 0 && slow.output.contains(#""action":"slow","room":\#(room.id),"seconds":3600}"#))
        await #expect(throws: LiveFailure.self) {
            try await stage.client("lee") { try await $0.send("too soon", channelID: room.channelID) }
        }
        let end = try await stage.run("kim", "rooms", "slow", "\(room.id)", "0")
        #expect(end.code == 0 && end.diagnostics == "lecture-live: Members of room \(room.id) write as they like.\n")
        try await stage.client("lee") { try await $0.send("now", channelID: room.channelID) }
        await stage.server.stop()
    }

    @Test func `a room is deleted with its chat, and only by its host`() async throws {
        let (stage, room) = try await stage()
        for words in [["delete"], ["ban", "kim"], ["unban", "kim"], ["hide", "1"], ["slow", "1"]] {
            let line = ["rooms", words[0], "\(room.id)"] + words.dropFirst()
            let end = try await stage.start("lee", line).end()
            #expect(end.code == (words[0] == "delete" ? 1 : 65), "\(words) \(end.diagnostics)")
            #expect(words[0] == "delete" || end.diagnostics.contains("Only the member that has made the room"))
        }
        let end = try await stage.run("kim", "rooms", "delete", "\(room.id)", "--json")
        #expect(end.output == "{\"event\":\"live_moderation\",\"action\":\"delete\",\"room\":\(room.id)}\n")
        #expect(end.code == 0 && end.diagnostics.contains("was deleted, with its chat and its recording."))
        #expect(try await stage.run("kim", "rooms").output.isEmpty)
        for words in [["delete"], ["ban", "lee"], ["hide", "1"]] {
            let again = try await stage.start("kim", ["rooms", words[0], "\(room.id)"] + words.dropFirst()).end()
            #expect(again.code == 1 && again.diagnostics.contains("'lecture-live rooms' lists the member's rooms."))
        }
        await stage.server.stop()
        #expect(try await stage.run("kim", "rooms", "delete", "1").code == 69)
    }

    private static let refusals: [(words: [String], part: String)] = [
        (["delete"], "ROOM is missing."), (["ban", "1"], "USER is missing."), (["unban", "1"], "USER is missing."),
        (["hide", "1"], "MESSAGE is missing."), (["hide", "1", "x"], "must be a whole number of at least 1"),
        (["slow", "1"], "SECONDS is missing."), (["slow", "1", "3601"], "must be a whole number from 0 to 3600"),
    ]

    @Test(arguments: refusals) func `a command line that cannot be used is refused`(
        words: [String], part: String
    ) async throws {
        let effects = LiveEffects(media: .standard([:]))
        let end = try await RunningCommand(
            ["rooms"] + words, environment: ["HOME": "/nowhere"], effects, secrets: []
        ).end()
        #expect(end.code == 64 && end.diagnostics.contains(part), "\(end.diagnostics)")
    }
}
