import LectureCommand
import LectureLive
import LectureLiveClient

/// `lecture-live rooms delete|ban|unban|hide|slow`: what the host of a room does about it and its chat.
enum ModerationCommands {
    static func delete(_ session: LiveSession) async throws -> ExitStatus {
        let result = try await session.withClient { client in
            await LiveSession.result { () throws(LiveFailure) in try await client.delete(session.room) }
        }
        if case .failure(let failure) = result {
            guard failure.serverCode == "VIDEO_ROOM_STATE_NOT_SCHEDULED" else { throw failure }
            var problem = LiveProblem(
                .serverUnexpected,
                "Room \(session.room) is not over: stop its broadcaster, and 'lecture-live rooms end \(session.room)'.",
                status: .tryAgain)
            problem.failure.serverCode = failure.serverCode
            throw problem
        }
        try session.write(LiveLine.moderation("delete", room: session.room))
        session.say("Room \(session.room) was deleted, with its chat and its recording.")
        return .done
    }

    static func ban(_ session: LiveSession, isBanned: Bool) async throws -> ExitStatus {
        let user = session.command.arguments.last ?? ""
        try await inChannel(session) { client, channel throws(LiveFailure) in
            try await client.setBan(user, channelID: channel, isBanned: isBanned)
        }
        try session.write(LiveLine.moderation(isBanned ? "ban" : "unban", room: session.room, user: user))
        session.say(
            isBanned
                ? "\(user) was banned from room \(session.room)." : "\(user) may watch room \(session.room) again.")
        return .done
    }

    static func hide(_ session: LiveSession) async throws -> ExitStatus {
        let message = session.command.arguments.last.flatMap { UInt64($0) } ?? 0
        try await inChannel(session) { client, channel throws(LiveFailure) in
            try await client.hide(message, channelID: channel)
        }
        try session.write(LiveLine.moderation("hide", room: session.room, message: message))
        session.say("Message \(message) of room \(session.room) is hidden.")
        return .done
    }

    static func slow(_ session: LiveSession) async throws -> ExitStatus {
        let seconds = session.command.arguments.last.flatMap { Int($0) } ?? 0
        try await inChannel(session) { client, channel throws(LiveFailure) in
            try await client.setSlowMode(seconds, channelID: channel)
        }
        try session.write(LiveLine.moderation("slow", room: session.room, seconds: seconds))
        session.say(
            seconds == 0
                ? "Members of room \(session.room) write as they like."
                : "Members of room \(session.room) wait \(seconds) s between two messages.")
        return .done
    }

    private static func inChannel(
        _ session: LiveSession, _ body: (MemberClient, UInt64) async throws(LiveFailure) -> Void
    ) async throws {
        try await session.withClient { client in
            try await body(client, try await client.room(session.room).channelID)
        }
    }
}
