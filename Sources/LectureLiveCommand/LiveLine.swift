import FlipFlopLiteSDK
import LectureFormats
package import LectureLive
package import LectureLiveClient
import LectureModel

/// A message of a chat, from wherever it comes.
package struct ChatLine: Sendable, Hashable {
    var id: UInt64
    var sentAt: Timestamp
    var origin: LiveMessage.Origin
    var userID: String
    var userName: String
    var customType: String
    var text: String
    /// Where it is in a recording.
    var position: Duration?

    init(_ message: LiveMessage) {
        (id, sentAt, origin, userID) = (message.id, message.sentAt, message.origin, message.userID)
        (userName, customType, text) = (message.userName, message.customType, message.text)
    }

    init(_ message: FFLMessage) {
        (id, sentAt, userID) = (message.messageId, message.moment, message.appUserId)
        origin = LiveMessage.Origin(rawValue: message.origin.rawValue) ?? .system
        (userName, customType, text) = (message.appUsername, message.customType, message.message)
    }

    init(_ entry: ChatLog.Entry) {
        (id, sentAt, origin, userID) = (entry.id, entry.sentAt, entry.origin, entry.userID)
        (userName, customType, text) = (entry.userName, entry.customType, entry.text)
        position = entry.position
    }

    /// Whether a person or the application wrote it; the service's own messages are no chat.
    var isChat: Bool { origin != .system }

    /// Who wrote it, for people.
    var author: String {
        if !userName.isEmpty { return userName }
        return userID.isEmpty ? origin.rawValue : userID
    }
}

/// The lines of `--json`, described by docs/json/live. Each is one object with its line end; members without a value
/// are omitted. None has a token, a stream key or a secret.
package enum LiveLine {
    /// A part of a lecture that has a state.
    package enum Part: String, Sendable, CaseIterable {
        /// The broadcaster.
        case broadcaster
        /// The viewer.
        case viewer
        /// What viewers can see.
        case broadcast
        /// The chat, with the number of members.
        case channel
    }

    /// A member is logged in.
    ///
    /// - Parameters:
    ///   - login: the member.
    ///   - server: the address of the server.
    ///   - file: where the token is.
    /// - Returns: the line.
    package static func login(_ login: AppClient.Login, server: String, file: String) -> String {
        line("live_login") { json in
            json.member("user", login.userID)
            json.member("name", login.userName)
            json.member("server", server)
            json.member("token_file", file)
            json.member("expires", login.expiresAt.map { MomentText.utc($0) })
        }
    }

    /// A room.
    ///
    /// - Parameter room: the room.
    /// - Returns: the line.
    package static func room(_ room: VideoRoom) -> String {
        line("live_room") { json in
            json.member("room", room.id)
            json.member("state", room.state.rawValue)
            json.member("title", room.title)
            json.member("channel", room.channelID)
            json.member("session", room.session)
            json.member("started", room.liveStartedAt.map { MomentText.utc($0) })
            json.member("ended", room.liveEndedAt.map { MomentText.utc($0) })
            json.member("archive", room.archiveState.rawValue)
        }
    }

    /// A part of a lecture is in another state.
    ///
    /// - Parameters:
    ///   - part: which one.
    ///   - state: the state.
    ///   - room: the room, once it is known.
    ///   - viewers: how many members are in the channel.
    /// - Returns: the line.
    package static func state(_ part: Part, _ state: String, room: UInt64?, viewers: UInt64? = nil) -> String {
        line("live_state") { json in
            json.member("part", part.rawValue)
            json.member("state", state)
            json.member("room", room)
            json.member("viewers", viewers)
        }
    }

    /// The link has become better or worse.
    ///
    /// - Parameters:
    ///   - level: from 0, good, to 3.
    ///   - room: the room, once it is known.
    ///   - bitrate: of the video now, in bits a second.
    /// - Returns: the line.
    package static func alarm(_ level: Int, room: UInt64?, bitrate: Int?) -> String {
        line("live_alarm") { json in
            json.member("level", level)
            json.member("room", room)
            json.member("bitrate", bitrate)
        }
    }

    /// A message of the chat.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - room: the room; nil for a chat that was kept.
    /// - Returns: the line.
    package static func message(_ message: ChatLine, room: UInt64?) -> String {
        line("live_message") { json in
            json.member("room", room)
            json.member("message", message.id)
            json.member("sent", MomentText.utc(message.sentAt))
            json.member("origin", message.origin.rawValue)
            json.member("user", message.userID.isEmpty ? nil : message.userID)
            json.member("name", message.userName.isEmpty ? nil : message.userName)
            json.member("type", message.customType.isEmpty ? nil : message.customType)
            json.member("text", message.text)
            json.member("position_ms", message.position?.milliseconds)
        }
    }

    /// The recording of a room.
    ///
    /// - Parameter room: the room.
    /// - Returns: the line.
    package static func archive(_ room: VideoRoom) -> String {
        line("live_archive") { json in
            json.member("room", room.id)
            json.member("state", room.archiveState.rawValue)
            json.member("url", room.archiveURL)
        }
    }

    /// The host has done something about a room or its chat.
    ///
    /// - Parameters:
    ///   - action: what: `delete`, `ban`, `unban`, `hide` or `slow`.
    ///   - room: the room.
    ///   - user: the member that is banned or permitted again.
    ///   - message: the message that is hidden.
    ///   - seconds: between two messages of a member.
    /// - Returns: the line.
    package static func moderation(
        _ action: String, room: UInt64, user: String? = nil, message: UInt64? = nil, seconds: Int? = nil
    ) -> String {
        line("live_moderation") { json in
            json.member("action", action)
            json.member("room", room)
            json.member("user", user)
            json.member("message", message)
            json.member("seconds", seconds)
        }
    }

    /// Something went wrong.
    ///
    /// - Parameters:
    ///   - failure: what.
    ///   - sentence: the message on standard error.
    /// - Returns: the line.
    package static func error(_ failure: LiveFailure, _ sentence: String) -> String {
        line("error") { json in
            json.member("code", failure.code.rawValue)
            json.member("name", name(failure.code))
            json.member("server_code", failure.serverCode.isEmpty ? nil : failure.serverCode)
            json.member("message", sentence)
        }
    }

    /// The vendor's name of a number, in small letters.
    ///
    /// - Parameter code: the number.
    /// - Returns: for instance `channel_unauthorized`.
    package static func name(_ code: LiveFailure.Code) -> String {
        FFLErrorCode(rawValue: code.rawValue).map { "\($0)".lowercased() } ?? "unknown"
    }

    private static func line(_ event: String, _ body: (inout JSONWriter) -> Void) -> String {
        JSONWriter.object { json in
            json.member("event", event)
            body(&json)
        } + "\n"
    }
}
