package import LectureFormats
package import LectureLive
package import LectureModel

/// The member API (FlipFlop Cloud, `/v2/members/me/…`): what a broadcaster and a viewer call.
///
/// | call | | failure |
/// |---|---|---|
/// | ``streamKey()`` | `GET stream-key` | 80403 |
/// | ``createRoom(title:scheduledAt:)`` | `POST video-rooms` | 80404 |
/// | ``room(_:)`` | `GET video-rooms/{id}` | 80405 |
/// | ``rooms(state:page:size:)`` | `GET video-rooms` | 80405 |
/// | ``start(_:)``, ``end(_:)`` | `POST video-rooms/{id}/start`, `…/end` | 80407, 80409 |
/// | ``join(_:)``, ``leave(_:)`` | `POST video-rooms/{id}/channel/join`, `…/leave` | 80406, 80408 |
/// | ``send(_:customType:channelID:)`` | `POST channels/{id}/messages` | 80202 |
/// | ``messages(channelID:after:)``, `…(before:)`, ``newestMessage(channelID:)`` | `GET channels/…/messages` | 80410 |
///
/// A token that the server refuses is 80203 for each of them. The bodies of messages are this project's own choice, as
/// the vendor documents none.
package struct MemberClient: Sendable {
    /// A page of rooms.
    package struct RoomPage: Hashable, Sendable {
        /// The rooms.
        package var rooms: [VideoRoom]
        /// Whether there are more.
        package var isLast: Bool
    }

    /// An answer above this is not read.
    static let answerLimit = 8 << 20
    /// A call that takes longer has failed.
    static let callLimit = Duration.seconds(30)

    /// The server and the member.
    package let server: LiveServer
    let transport: any Transport

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - server: the server and the member.
    ///   - transport: makes the exchanges.
    package init(_ server: LiveServer, transport: any Transport) {
        (self.server, self.transport) = (server, transport)
    }

    // MARK: Rooms

    /// The member's stream key.
    ///
    /// - Returns: the key, with the room that uses it.
    /// - Throws: `LiveFailure`: 80403, or 80302 when the member has none.
    package func streamKey() async throws(LiveFailure) -> StreamKey {
        do throws(LiveFailure) {
            return try await read("stream-key", .streamKeyGet) { StreamKey($0) }
        } catch  where error.serverCode == "STREAM_KEY_NOT_FOUND" {
            throw LiveFailure(.noStreamKey, "the member has no stream key", serverCode: error.serverCode)
        }
    }

    /// Creates a room for a broadcast.
    ///
    /// - Parameters:
    ///   - title: its title.
    ///   - scheduledAt: when it is to begin.
    /// - Returns: the room.
    /// - Throws: `LiveFailure`: 80404.
    package func createRoom(title: String, scheduledAt: Timestamp) async throws(LiveFailure) -> VideoRoom {
        let body = JSONWriter.object { json in
            json.member("type", VideoRoom.broadcast)
            json.member("title", title)
            json.member("scheduledAt", MomentText.utc(scheduledAt))
        }
        return try await read("video-rooms", .roomCreate, body: body) { VideoRoom($0) }
    }

    /// A room.
    ///
    /// - Parameter id: its number.
    /// - Returns: the room.
    /// - Throws: `LiveFailure`: 80405.
    package func room(_ id: UInt64) async throws(LiveFailure) -> VideoRoom {
        try await read("video-rooms/\(id)", .roomGet) { VideoRoom($0) }
    }

    /// The member's rooms, the newest first.
    ///
    /// - Parameters:
    ///   - state: only those in this state; nil for all.
    ///   - page: from 0.
    ///   - size: so many at once.
    /// - Returns: the page.
    /// - Throws: `LiveFailure`: 80405.
    package func rooms(
        state: VideoRoomState? = nil, page: Int = 0, size: Int = 20
    ) async throws(LiveFailure) -> RoomPage {
        var query = "sortBy=CREATED_AT_DESC&page=\(page)&pageSize=\(size)"
        if let state { query += "&videoRoomState=\(state.rawValue)" }
        return try await read("video-rooms?\(query)", .roomGet) { answer in
            guard let elements = answer["content"]?.elements else { return nil }
            let rooms = elements.compactMap { VideoRoom($0) }
            return RoomPage(rooms: rooms, isLast: answer["last"]?.bool ?? (elements.count < size))
        }
    }

    /// Starts a room whose feed can be watched.
    ///
    /// - Parameter id: its number.
    /// - Throws: `LiveFailure`: 80407.
    package func start(_ id: UInt64) async throws(LiveFailure) {
        _ = try await call("video-rooms/\(id)/start", .roomStart, body: "{}")
    }

    /// Ends a room whose feed has stopped.
    ///
    /// - Parameter id: its number.
    /// - Throws: `LiveFailure`: 80409; see ``LiveFailure/isTooEarly``.
    package func end(_ id: UInt64) async throws(LiveFailure) {
        _ = try await call("video-rooms/\(id)/end", .roomEnd, body: "{}")
    }

    /// Joins the channel of a room.
    ///
    /// - Parameter id: the room's number.
    /// - Returns: whether the member was in it already (`wasJoined`, this project's own), for instance by another
    ///   program; leaving would end that as well.
    /// - Throws: `LiveFailure`: 80406.
    @discardableResult
    package func join(_ id: UInt64) async throws(LiveFailure) -> Bool {
        try await call("video-rooms/\(id)/channel/join", .roomJoin, body: "{}")?["wasJoined"]?.bool ?? false
    }

    /// Leaves the channel of a room.
    ///
    /// - Parameter id: the room's number.
    /// - Throws: `LiveFailure`: 80408.
    package func leave(_ id: UInt64) async throws(LiveFailure) {
        _ = try await call("video-rooms/\(id)/channel/leave", .roomLeave, body: "{}")
    }

    // MARK: Messages

    /// Sends a message. It comes back over the event stream as all others do.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - customType: a word of the application.
    ///   - channelID: the channel.
    /// - Throws: `LiveFailure`: 80202; 80201 when the server refuses the message itself.
    package func send(_ text: String, customType: String? = nil, channelID: UInt64) async throws(LiveFailure) {
        let body = JSONWriter.object { json in
            json.member("message", text)
            json.member("customType", customType)
        }
        do throws(LiveFailure) {
            _ = try await call("channels/\(channelID)/messages", .messageSend, body: body)
        } catch  where error.serverCode.contains("MESSAGE") && !error.isTooFast {
            throw LiveFailure(.invalidMessage, error.message, serverCode: error.serverCode)
        }
    }

    /// Earlier messages of a channel.
    ///
    /// - Parameters:
    ///   - channelID: the channel.
    ///   - after: only those with a higher number.
    /// - Returns: up to ``ChatFeed/page`` messages, the oldest first; those that cannot be read are left out.
    /// - Throws: `LiveFailure`: 80410.
    package func messages(channelID: UInt64, after: UInt64) async throws(LiveFailure) -> (
        page: [LiveMessage], isEnd: Bool
    ) {
        let query = "channelMessageId=\(after)&sortBy=GREATER_THAN&limit=\(ChatFeed.page)"
        return try await history(channelID, query, size: ChatFeed.page)
    }

    /// The newest message of a channel.
    ///
    /// - Parameter channelID: the channel.
    /// - Returns: the message; nil when there is none.
    /// - Throws: `LiveFailure`: 80410.
    package func newestMessage(channelID: UInt64) async throws(LiveFailure) -> LiveMessage? {
        try await history(channelID, "sortBy=CREATED_AT_DESC&limit=1", size: 1).page.last
    }

    /// Earlier messages of a channel, before one.
    ///
    /// - Parameters:
    ///   - channelID: the channel.
    ///   - before: only those with a lower number.
    /// - Returns: up to ``ChatFeed/page`` messages, the oldest first; those that cannot be read are left out.
    /// - Throws: `LiveFailure`: 80410.
    package func messages(channelID: UInt64, before: UInt64) async throws(LiveFailure) -> (
        page: [LiveMessage], isEnd: Bool
    ) {
        let query = "channelMessageId=\(before)&sortBy=LESS_THAN&limit=\(ChatFeed.page)"
        return try await history(channelID, query, size: ChatFeed.page)
    }

    private func history(
        _ channelID: UInt64, _ query: String, size: Int
    ) async throws(LiveFailure) -> (page: [LiveMessage], isEnd: Bool) {
        try await read("channels/\(channelID)/messages?\(query)", .messagesGet) { answer in
            guard let elements = answer.elements ?? answer["content"]?.elements ?? answer["messages"]?.elements else {
                return nil
            }
            let messages = elements.compactMap { LiveMessage($0) }.filter { $0.channelID == channelID }
            return (messages.sorted { $0.id < $1.id }, elements.count < size)
        }
    }

    // MARK: Calls

    private func read<Value>(
        _ path: String, _ code: LiveFailure.Code, body: String? = nil, _ value: (JSONValue) -> Value?
    ) async throws(LiveFailure) -> Value {
        let answer = try await call(path, code, body: body)
        guard let value = answer.flatMap(value) else {
            throw LiveFailure(code, "the server has answered with something else than was asked for")
        }
        return value
    }

    /// Makes a call.
    ///
    /// - Returns: the answer; nil when it has no body, or one that is no JSON.
    private func call(
        _ path: String, _ code: LiveFailure.Code, body: String? = nil
    ) async throws(LiveFailure) -> JSONValue? {
        try await server.call("/v2/members/me/\(path)", body: body, transport, code)
    }

    /// Makes a call whose answer has nothing to read.
    func order(_ method: String, _ path: String, body: String = "{}") async throws(LiveFailure) {
        let path = "/v2/members/me/\(path)"
        _ = try await server.call(path, body: body, method: method, transport, .serverUnexpected)
    }
}
