public import LectureFormats

/// A room, as the member API describes it.
///
/// Only what is needed is kept; members of the description that are not known are ignored, as the service may add some.
public struct VideoRoom: Hashable, Sendable, Identifiable {
    /// Its number.
    public var id: UInt64
    /// Its other name, which no other server gives; empty when the server has none.
    public var uuid = ""
    /// Its state.
    public var state: VideoRoomState
    /// Its title.
    public var title: String
    /// What it is; `BROADCAST_RTMP` here.
    public var type = Self.broadcast
    /// Its channel, for messages and events.
    public var channelID: UInt64
    /// The number of the latest session; each feed that could be watched is one, from 1.
    public var session = 0
    /// Where it can be watched now; nil while it cannot. It changes with each session.
    public var playURL: String?
    /// Where it can be played over RTMP now, with a delay of a second or two; nil while it cannot.
    public var rtmpPlayURL: String?
    /// Where everything since it first could be watched is, for programs that keep it: it stays the same through
    /// interruptions (`eventHlsPlayUrl`, this project's own). Nil while there is nothing, and after the end.
    public var eventURL: String?
    /// When it first could be watched.
    public var liveStartedAt: Timestamp?
    /// When it ended.
    public var liveEndedAt: Timestamp?
    /// Its recording.
    public var archiveState = ArchiveState.none
    /// Where the recording can be downloaded, as a lecture.
    public var archiveURL: String?

    /// The media content key of a room's recording, and of reports about it while it is live.
    ///
    /// - Parameter uuid: the room's ``uuid``.
    /// - Returns: `live-` and the UUID.
    public static func contentKey(_ uuid: String) -> String { "live-\(uuid)" }

    /// The type of a room for a broadcast over RTMP.
    public static let broadcast = "BROADCAST_RTMP"

    /// Creates a room.
    ///
    /// - Parameters:
    ///   - id: its number.
    ///   - state: its state.
    ///   - title: its title.
    ///   - channelID: its channel.
    public init(id: UInt64, state: VideoRoomState, title: String, channelID: UInt64) {
        (self.id, self.state, self.title, self.channelID) = (id, state, title, channelID)
    }
}

extension VideoRoom {
    /// Reads a description; nil when a member is missing, or the state is not known.
    ///
    /// - Parameter value: an object with `id`, `videoRoomState` and `channel.id`.
    package init?(_ value: JSONValue) {
        guard let id = value["id"]?.unsigned, let state = value["videoRoomState"]?.string.flatMap(VideoRoomState.init),
            let channelID = value["channel"]?["id"]?.unsigned
        else { return nil }
        self.init(id: id, state: state, title: value["title"]?.string ?? "", channelID: channelID)
        uuid = value["uuid"]?.string ?? ""
        type = value["type"]?.string ?? Self.broadcast
        session = value["lastSessionNo"]?.integer.map { Int(clamping: $0) } ?? 0
        playURL = value["playUrl"]?.string
        rtmpPlayURL = value["rtmpPlayUrl"]?.string
        eventURL = value["eventHlsPlayUrl"]?.string
        liveStartedAt = value["liveStartedAt"]?.moment
        liveEndedAt = value["liveEndedAt"]?.moment
        archiveState = value["vodState"]?.string.flatMap(ArchiveState.init) ?? .none
        archiveURL = value["vodUrl"]?.string
    }

    /// Writes the description.
    ///
    /// - Parameter json: gets the members of an object.
    package func write(_ json: inout JSONWriter) {
        json.member("id", id)
        json.member("state", "ACTIVE")
        json.member("type", type)
        json.member("videoRoomState", state.rawValue)
        json.member("title", title)
        json.object("channel") { $0.member("id", channelID) }
        json.member("lastSessionNo", session)
        if let playURL { json.member("playUrl", playURL) }
        if let rtmpPlayURL { json.member("rtmpPlayUrl", rtmpPlayURL) }
        if let eventURL { json.member("eventHlsPlayUrl", eventURL) }
        if let liveStartedAt { json.member("liveStartedAt", MomentText.utc(liveStartedAt)) }
        if let liveEndedAt { json.member("liveEndedAt", MomentText.utc(liveEndedAt)) }
        json.member("vodState", archiveState.rawValue)
        if let archiveURL { json.member("vodUrl", archiveURL) }
    }
}

extension JSONValue {
    /// A number that is not negative, such as an id.
    package var unsigned: UInt64? { integer.flatMap { UInt64(exactly: $0) } }

    /// A moment of RFC 3339.
    package var moment: Timestamp? { string.flatMap { MomentText.moment($0) } }
}
