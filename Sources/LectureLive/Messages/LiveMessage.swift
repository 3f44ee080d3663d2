public import LectureFormats

/// A message of a channel: what a member wrote, who came or went, or what became of the room.
public struct LiveMessage: Hashable, Sendable, Identifiable {
    /// Who a message is from.
    public enum Origin: String, Hashable, Sendable, CaseIterable {
        /// The server of the application.
        case app = "APP"
        /// A member.
        case member = "MEMBER"
        /// The service.
        case system = "SYSTEM"
    }

    /// Its number within the channel, from 1, without a gap. Messages are ordered by it, and the same number is the
    /// same message.
    public var id: UInt64
    /// Its channel.
    public var channelID: UInt64
    /// When the server got it.
    public var sentAt: Timestamp
    /// Who it is from.
    public var origin: Origin
    /// The member, for one of a member and for `JOINED` and `LEAVED`.
    public var userID = ""
    /// The member's name.
    public var userName = ""
    /// What it is: `JOINED`, `LEAVED`, `CHANNEL_STAT_UPDATED`, `CHANGE_DATA_CAPTURE`, `MESSAGE_HIDDEN`, or a word of
    /// the application; empty for plain chat.
    public var customType = ""
    /// The text.
    public var text = ""
    /// How many members are in the channel, if it says so.
    public var participants: UInt64?
    /// The room after a change, for `CHANGE_DATA_CAPTURE`.
    public var change: RoomChange?
    /// The message that is hidden, for `MESSAGE_HIDDEN`.
    public var hiddenID: UInt64?

    /// A change of a room, as the events of the service describe it.
    public struct RoomChange: Hashable, Sendable {
        /// The room.
        public var roomID: UInt64
        /// Its state now.
        public var state: VideoRoomState
        /// Where it can be watched now.
        public var playURL: String?
        /// The state of the stream key, for its owner only.
        public var keyState: StreamKeyState?

        /// Creates a change.
        ///
        /// - Parameters:
        ///   - roomID: the room.
        ///   - state: its state now.
        ///   - playURL: where it can be watched now.
        ///   - keyState: the state of the stream key.
        public init(
            roomID: UInt64, state: VideoRoomState, playURL: String? = nil, keyState: StreamKeyState? = nil
        ) {
            (self.roomID, self.state, self.playURL, self.keyState) = (roomID, state, playURL, keyState)
        }
    }

    /// The words of the service.
    public enum Word {
        /// A member came.
        public static let joined = "JOINED"
        /// A member went; one table of the vendor's says `LEFTED`, which readers accept too.
        public static let left = "LEAVED"
        /// The number of members changed.
        public static let count = "CHANNEL_STAT_UPDATED"
        /// A room changed.
        public static let change = "CHANGE_DATA_CAPTURE"
        /// A message was hidden by a moderator.
        public static let hidden = "MESSAGE_HIDDEN"
    }

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - id: its number within the channel.
    ///   - channelID: its channel.
    ///   - sentAt: when the server got it.
    ///   - origin: who it is from.
    public init(id: UInt64, channelID: UInt64, sentAt: Timestamp, origin: Origin) {
        (self.id, self.channelID, self.sentAt, self.origin) = (id, channelID, sentAt, origin)
    }
}

extension LiveMessage {
    /// Reads the data of an event, or an element of a history; nil when a member is missing or not known.
    ///
    /// - Parameter value: an object with `messageId`, `channelId`, `sentAt` and `origin`.
    package init?(_ value: JSONValue) {
        guard let id = value["messageId"]?.unsigned, let channel = value["channelId"]?.unsigned,
            let sentAt = value["sentAt"]?.moment, let origin = value["origin"]?.string.flatMap(Origin.init)
        else { return nil }
        self.init(id: id, channelID: channel, sentAt: sentAt, origin: origin)
        userID = value["appUserId"]?.string ?? ""
        userName = value["appUsername"]?.string ?? ""
        customType = value["customType"]?.string ?? ""
        if customType == "LEFTED" { customType = Word.left }
        text = value["message"]?.string ?? ""
        participants = value["participantCount"]?.unsigned
        guard let data = value["customData"] else { return }
        hiddenID = data["messageId"]?.unsigned
        if data["type"]?.string == "VIDEO_ROOM", let room = data["videoRoomId"]?.unsigned,
            let state = data["videoRoomState"]?.string.flatMap(VideoRoomState.init)
        {
            change = RoomChange(
                roomID: room, state: state, playURL: data["playUrl"]?.string,
                keyState: data["streamKeyState"]?.string.flatMap(StreamKeyState.init))
        }
    }

    /// Writes the message.
    ///
    /// - Parameter json: gets the members of an object.
    package func write(_ json: inout JSONWriter) {
        json.member("messageId", id)
        json.member("channelId", channelID)
        json.member("sentAt", MomentText.utc(sentAt))
        json.member("origin", origin.rawValue)
        json.member("type", origin == .member ? "MESSAGE" : "SIGNAL")
        json.member("deliveryType", "BROADCAST")
        if !userID.isEmpty { json.member("appUserId", userID) }
        if !userName.isEmpty { json.member("appUsername", userName) }
        if !customType.isEmpty { json.member("customType", customType) }
        if origin != .system || !text.isEmpty { json.member("message", text) }
        if let participants { json.member("participantCount", participants) }
        if let hiddenID { json.object("customData") { $0.member("messageId", hiddenID) } }
        guard let change else { return }
        json.object("customData") { data in
            data.member("type", "VIDEO_ROOM")
            data.member("videoRoomId", change.roomID)
            data.member("videoRoomState", change.state.rawValue)
            if let url = change.playURL { data.member("playUrl", url) }
            if let state = change.keyState { data.member("streamKeyState", state.rawValue) }
        }
    }
}
